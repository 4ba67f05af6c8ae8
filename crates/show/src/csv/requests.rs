//! Single requests of devices, as they were traced.

use candor_record::Report;
use candor_record::requests::{LatencyStep, Requests, latency_percentile};

use super::table::{Column, columns};

/// Requests of one device in one direction.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    phase: &'a str,
    repeat: u32,
    host: &'a str,
    issuer: &'static str,
    requests: &'a Requests,
}

/// A step of a distribution.
pub struct Step<'a> {
    of: Row<'a>,
    distribution: &'static str,
    value: u64,
    count: u64,
}

impl Row<'_> {
    fn percentile(&self, share: f64) -> Option<u64> {
        latency_percentile(&self.requests.latency_ns, share).map(LatencyStep::middle_ns)
    }
}

/// The columns of requests.
pub fn columns<'a>() -> Vec<Column<Row<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase;
        "repeat" "Number of its repeat, from 1" = row.repeat;
        "host" "Name of the host" = row.host;
        "device" "Name of the device" = row.requests.device.as_str();
        "direction" "`read`, `write`, `discard` or `flush`" = row.requests.direction.name();
        "issuer" "`all`, or `own` for the requests of this run" = row.issuer;
        "requests" "Requests traced" = row.requests.count;
        "bytes" "Bytes moved by these requests" = row.requests.bytes;
        "counted" "Requests counted by the kernel; higher than `requests` if only a sample was \
            traced"
            = row.requests.counted;
        "size_bytes_mean" "Mean size" = row.requests.size_mean_bytes();
        "splits" "Number of times that I/O was split before it became requests"
            = row.requests.splits;
        "merged" "Number of times that I/O was merged into a waiting request" = row.requests.merged;
        "length_off_4k" "Requests with a length that is not a multiple of 4 KiB"
            = row.requests.length_off_4k;
        "off_physical_sector" "Requests that start off a physical sector boundary"
            = row.requests.off_physical_sector;
        "off_optimal" "Requests that start off a multiple of the device's optimal size"
            = row.requests.off_optimal;
        "placed" "Requests with a known distance to earlier requests" = row.requests.placed;
        "sequential" "Sequential requests of these: each starts at the end of one of the last eight"
            = row.requests.sequential;
        "latency_ns_mean" "Mean time from the creation of a request to its end"
            = row.requests.latency_ns_mean();
        "latency_ns_p50" "Median of this time, from steps of four to each power of two"
            = row.percentile(0.5);
        "latency_ns_p99" "99th percentile of this time, from the same steps" = row.percentile(0.99);
    }
}

/// Requests of all devices.
pub fn rows(report: &Report) -> impl Iterator<Item = Row<'_>> {
    let of_hosts = super::phases(report)
        .flat_map(|(phase, repeat)| phase.hosts.iter().map(move |host| (phase, repeat, host)));
    of_hosts.flat_map(|(phase, repeat, host)| {
        let traced = host.requests.iter().flat_map(|stats| &stats.requests);
        traced.flat_map(move |all| {
            let own = all.own().map(|own| ("own", own));
            std::iter::once(("all", all)).chain(own).map(move |(issuer, requests)| Row {
                phase: &phase.name,
                repeat,
                host: &host.host,
                issuer,
                requests,
            })
        })
    })
}

/// The columns of distributions.
pub fn bucket_columns<'a>() -> Vec<Column<Step<'a>>> {
    columns! { row:
        "phase" "Name of the phase" = row.of.phase;
        "repeat" "Number of its repeat, from 1" = row.of.repeat;
        "host" "Name of the host" = row.of.host;
        "device" "Name of the device" = row.of.requests.device.as_str();
        "direction" "`read`, `write`, `discard` or `flush`" = row.of.requests.direction.name();
        "issuer" "`all`, or `own` for the requests of this run" = row.of.issuer;
        "distribution" "One of `size_bytes` (powers of two), `start_in_4k_bytes` (bytes after a \
            multiple of 4 KiB), `seek_bytes` (distance from the previous request, powers of two), \
            `latency_ns` and `device_latency_ns` (from the driver's start)"
            = row.distribution;
        "value" "Lower bound of the step, in the unit at the end of the distribution's name"
            = row.value;
        "requests" "Requests in the step" = row.count;
    }
}

/// Steps of all distributions.
pub fn bucket_rows(report: &Report) -> impl Iterator<Item = Step<'_>> {
    rows(report).flat_map(|of| {
        let distributions = [
            ("size_bytes", &of.requests.sizes_log2),
            ("start_in_4k_bytes", &of.requests.starts_in_4k),
            ("seek_bytes", &of.requests.seeks),
            ("latency_ns", &of.requests.latency_ns),
            ("device_latency_ns", &of.requests.device_latency_ns),
        ];
        distributions.into_iter().flat_map(move |(distribution, steps)| {
            steps.iter().map(move |(value, count)| Step {
                of,
                distribution,
                value: *value,
                count: *count,
            })
        })
    })
}
