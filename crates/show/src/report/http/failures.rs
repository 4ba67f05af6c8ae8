//! Failed attempts in words.

use candor_record::fmt::exact;
use candor_record::http::{AttemptFailure, FailureClass, HttpStats};

/// Failed attempts by operation, class and code, the most frequent first.
pub(super) fn all(http: &HttpStats) -> Vec<String> {
    grouped(http).iter().map(|failure| sentence(http, failure)).collect()
}

/// The most frequent failure, and the number of others.
pub(super) fn brief(http: &HttpStats) -> Option<String> {
    let all = grouped(http);
    let (first, others) = all.split_first()?;
    let others: u64 = others.iter().map(|failure| failure.attempts).sum();
    let others = if others > 0 { format!("; {} others", exact(others)) } else { String::new() };
    Some(format!("{}{others}", sentence(http, first)))
}

fn grouped(http: &HttpStats) -> Vec<AttemptFailure> {
    let mut all: Vec<AttemptFailure> = Vec::new();
    for failure in &http.failures {
        // Failures of several prefixes differ in nothing that a reader needs here.
        AttemptFailure { prefix: String::new(), ..failure.clone() }.add_to(&mut all);
    }
    all.sort_by_key(|failure| std::cmp::Reverse(failure.attempts));
    all
}

/// `93 of 120 put: 503 SlowDown, Retry-After 1 s, 90 repeated`.
fn sentence(http: &HttpStats, failure: &AttemptFailure) -> String {
    let op = http.operations.iter().find(|op| op.name == failure.op);
    let of = op.map_or(failure.attempts, |op| op.attempts);
    let repeated = failure.attempts.saturating_sub(failure.final_attempts);
    let after = failure.retry_after_s.map(|s| format!("Retry-After {s} s"));
    let repeated = (repeated > 0).then(|| format!("{} repeated", exact(repeated)));
    let permitted = failure.permitted;
    let permitted = (permitted > 0).then(|| format!("{} permitted", exact(permitted)));
    let more = [Some(reason(failure)), after, repeated, permitted];
    let more: Vec<String> = more.into_iter().flatten().collect();
    let (failed, of) = (exact(failure.attempts), exact(of));
    format!("{failed} of {of} {} failed: {}", failure.op, more.join(", "))
}

/// Status and code, or the class if there is none.
fn reason(failure: &AttemptFailure) -> String {
    let class = label(failure.class);
    match (failure.status, failure.code.as_str()) {
        (None, "") => class.to_owned(),
        (None, code) => format!("{class}, {code}"),
        (Some(status), "") => format!("{status} ({class})"),
        (Some(status), code) => format!("{status} {code}"),
    }
}

/// A class in words.
fn label(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Throttled => "throttled",
        FailureClass::Server => "server error",
        FailureClass::Missing => "not found",
        FailureClass::Denied => "access denied",
        FailureClass::Clock => "clock difference",
        FailureClass::Redirect => "redirect",
        FailureClass::Condition => "condition not met",
        FailureClass::Request => "invalid request",
        FailureClass::InsideSuccess => "error document in a successful answer",
        FailureClass::Lookup => "name lookup failed",
        FailureClass::Connect => "connection failed",
        FailureClass::Tls => "TLS handshake failed",
        FailureClass::Timeout => "timeout",
        FailureClass::Reset => "connection closed",
        FailureClass::ShortBody => "body too short",
        FailureClass::Malformed => "malformed answer",
        FailureClass::Checksum => "wrong checksum",
    }
}
