//! HTTP requests of jobs on objects: by operation, by server, and failed ones.

use candor_record::http::{AttemptFailure, HttpOp, HttpStats, Peer};
use candor_record::{Latency, Report};

use super::table::{Column, columns};

/// Rows of the table of requests.
pub const REQUESTS: &str =
    "One row for each operation of a job on objects, with its HTTP requests.";
/// Rows of the table of servers.
pub const SERVERS: &str = "One row for each address to which a job on objects had connections.";
/// Rows of the table of failures.
pub const FAILURES: &str =
    "One row for each operation, class, status and error code of failed HTTP requests.";

/// A row about a part of a job's requests.
pub struct Row<'a, T> {
    phase: &'a str,
    repeat: u32,
    job: &'a str,
    of: &'a T,
}

/// Rows of one part of the requests of all jobs.
fn rows<'a, T: 'a>(
    report: &'a Report,
    part: fn(&'a HttpStats) -> &'a [T],
) -> impl Iterator<Item = Row<'a, T>> {
    super::phases(report).flat_map(move |(phase, repeat)| {
        phase.measurements.iter().flat_map(move |job| {
            let parts = job.http.as_deref().map_or(&[][..], part);
            parts.iter().map(move |of| Row { phase: &phase.name, repeat, job: &job.job, of })
        })
    })
}

fn percentile(latency: &Option<Latency>, percentile: f64) -> Option<u64> {
    latency.as_ref()?.percentile_ns(percentile)
}

/// The columns of requests.
pub fn request_columns<'a>() -> Vec<Column<Row<'a, HttpOp>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase;
        "repeat" "Number of its repeat, from 1" = row.repeat;
        "job" "Name of the job" = row.job;
        "operation" "Name of the operation, such as `get` or `put_part`" = row.of.name.as_str();
        "attempts" "HTTP requests, including failed and repeated ones" = row.of.attempts;
        "retries" "HTTP requests that repeat a failed one" = row.of.retries;
        "good_bytes" "Bytes in bodies of successful operations" = row.of.good_bytes;
        "sent_bytes" "Bytes sent, including heads and failed requests" = row.of.sent_bytes;
        "received_bytes" "Bytes received, including heads and failed requests"
            = row.of.received_bytes;
        "wait_ns_p50" "Median wait for a connection" = percentile(&row.of.wait, 50.0);
        "wait_ns_p99" "Its 99th percentile" = percentile(&row.of.wait, 99.0);
        "send_ns_p50" "Median time to send the request" = percentile(&row.of.send, 50.0);
        "send_ns_p99" "Its 99th percentile" = percentile(&row.of.send, 99.0);
        "first_byte_ns_p50" "Median time from the last byte of the request to the first byte of \
            the answer"
            = percentile(&row.of.first_byte, 50.0);
        "first_byte_ns_p99" "Its 99th percentile" = percentile(&row.of.first_byte, 99.0);
        "transfer_ns_p50" "Median time from the first to the last byte of the answer"
            = percentile(&row.of.transfer, 50.0);
        "transfer_ns_p99" "Its 99th percentile" = percentile(&row.of.transfer, 99.0);
        "attempt_ns_p50" "Median time of a whole request" = percentile(&row.of.attempt, 50.0);
        "attempt_ns_p99" "Its 99th percentile" = percentile(&row.of.attempt, 99.0);
    }
}

/// Requests of each operation.
pub fn request_rows(report: &Report) -> impl Iterator<Item = Row<'_, HttpOp>> {
    rows(report, |http| &http.operations)
}

/// The columns of servers.
pub fn server_columns<'a>() -> Vec<Column<Row<'a, Peer>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase;
        "repeat" "Number of its repeat, from 1" = row.repeat;
        "job" "Name of the job" = row.job;
        "address" "Address and port of the server" = row.of.address.as_str();
        "endpoint" "Endpoint of the plan" = row.of.endpoint.as_str();
        "connections" "Connections to it" = row.of.connections;
        "attempts" "HTTP requests" = row.of.attempts;
        "failed" "HTTP requests that failed" = row.of.failed;
        "bytes" "Bytes sent and received" = row.of.bytes;
        "first_byte_ns_p50" "Median time to the first byte of the answer"
            = percentile(&row.of.first_byte, 50.0);
        "first_byte_ns_p99" "Its 99th percentile" = percentile(&row.of.first_byte, 99.0);
    }
}

/// Servers of each job.
pub fn server_rows(report: &Report) -> impl Iterator<Item = Row<'_, Peer>> {
    rows(report, |http| &http.peers)
}

/// The columns of failures.
pub fn failure_columns<'a>() -> Vec<Column<Row<'a, AttemptFailure>>> {
    columns! { row:
        "phase" "Name of the phase" = row.phase;
        "repeat" "Number of its repeat, from 1" = row.repeat;
        "job" "Name of the job" = row.job;
        "operation" "Name of the operation" = row.of.op.as_str();
        "class" "Class of the failure, such as `throttled` or `reset`" = row.of.class.name();
        "status" "Status of the answer; empty without an answer"
            = row.of.status.map(u32::from);
        "code" "Code of the error document, such as `SlowDown`" = row.of.code.as_str();
        "prefix" "First part of the key" = row.of.prefix.as_str();
        "attempts" "HTTP requests that failed" = row.of.attempts;
        "final_attempts" "Failures that were not repeated" = row.of.final_attempts;
        "permitted" "Failures that the plan permits" = row.of.permitted;
        "retry_after_s" "Longest Retry-After" = row.of.retry_after_s;
        "message" "Message of the first failure" = row.of.message.as_str();
    }
}

/// Failures of each job.
pub fn failure_rows(report: &Report) -> impl Iterator<Item = Row<'_, AttemptFailure>> {
    rows(report, |http| &http.failures)
}
