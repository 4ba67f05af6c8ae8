//! Hosts of a phase beside each other.

use candor_derive::{HostRow, host_rows};
use candor_record::{PhaseRecord, Report};

use super::table::{Column, columns};

/// Rows of the table.
pub const ABOUT: &str = "One row for each host of a phase on several hosts.";

/// A host of a phase.
pub struct Row<'a> {
    phase: &'a PhaseRecord,
    host: HostRow,
}

/// The columns.
pub fn columns<'a>() -> Vec<Column<Row<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase.name.as_str();
        "repeat" "Number of its repeat, from 1" = row.phase.repeat + 1;
        "host" "Name of the host" = row.host.host.as_str();
        "workers" "Workers on it" = row.host.workers;
        "ops_per_s" "Operations per second of all its jobs" = row.host.rates.ops_per_s();
        "bytes_per_s" "Bytes per second" = row.host.rates.bytes_per_s;
        "latency_ns_p50" "Median latency of the operation with the highest count"
            = row.host.latency_ns_p50;
        "latency_ns_p99" "99th percentile of that operation" = row.host.latency_ns_p99;
        "cpu_busy" "Busy share of its CPUs over the phase, from 0 to 1" = row.host.cpu_busy;
        "link" "Interface to the server with the most traffic"
            = row.host.link.as_ref().map_or("", |(name, _)| name.as_str());
        "link_used" "Share of the speed of that interface, from 0 to 1"
            = row.host.link.as_ref().map(|(_, share)| *share);
        "late_ns" "Start after the first host's start" = row.host.late_ns;
        "lost" "Reason of the loss"
            = row.host.lost.as_ref().map_or("", |lost| lost.why.as_str());
        "kernel_of" "Host with the same kernel, if any"
            = row.host.kernel_of.as_deref().unwrap_or("");
        "verdict" "Verdict on the host's share of the result"
            = row.host.verdict.map_or("", |verdict| verdict.name());
    }
}

/// All hosts of all results that have several.
pub fn rows(report: &Report) -> impl Iterator<Item = Row<'_>> {
    report.judged().flat_map(|(phase, judged)| {
        let rows = host_rows(phase, Some(judged)).into_iter();
        rows.map(move |host| Row { phase, host })
    })
}
