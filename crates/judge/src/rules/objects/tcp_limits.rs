//! S19: a window, a buffer or loss limits the connections.

use candor_record::fmt::{self, ratio};
use candor_record::http::TcpStats;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity, TcpLimit};

use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::objects::{RESENT, RESENT_LIMIT, TCP_WINDOW_LIMITED, TCP_WINDOW_NEAR};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "S19",
        title: "TCP limits the connections",
        explanation: "A connection sends no more than one window per round trip: the receive \
            window of the server, or the send buffer of this host. Linux counts the time in which \
            each of them stopped the sender (TCP_INFO). The share of time alone proves nothing, so \
            the window over the least round-trip time must also be near the rate. Lost packets \
            are sent again, after 200 ms or more in the worst case. Raise the buffers (tcp_wmem, \
            the server's tcp_rmem), use more connections, or repair the path.",
    },
    stage: Stage::LinkFull,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    object_jobs::find(observed, of)
}

fn of(_: &Observed, job: &ObjectJob) -> Option<Finding> {
    let tcp = job.http.tcp.as_ref()?;
    by_window(job, tcp).or_else(|| by_loss(job, tcp))
}

/// A window that stopped the sender.
struct Window {
    by: TcpLimit,
    name: &'static str,
    limited_us: u64,
    bytes: f64,
    advice: &'static str,
}

fn by_window(job: &ObjectJob, tcp: &TcpStats) -> Option<Finding> {
    let windows = [
        Window {
            by: TcpLimit::ReceiveWindow,
            name: "receive window of the server",
            limited_us: tcp.receive_window_limited_us,
            bytes: tcp.send_window_bytes,
            advice: "Raise tcp_rmem at the server, or use more connections.",
        },
        Window {
            by: TcpLimit::SendBuffer,
            name: "send buffer of this host",
            limited_us: tcp.send_buffer_limited_us,
            bytes: tcp.send_buffer_bytes,
            advice: "Raise tcp_wmem, leave `send_buffer` unset, or use more connections.",
        },
    ];
    // Per connection that has something to send.
    let rate = ratio(tcp.bytes_acked as f64, tcp.busy_us as f64 / 1e6);
    let window = windows.into_iter().find(|window| {
        let share = ratio(window.limited_us as f64, tcp.busy_us as f64);
        let most = ratio(window.bytes, tcp.rtt_min_us / 1e6);
        let is_near = most > 0.0 && most <= TCP_WINDOW_NEAR.value * rate;
        share >= TCP_WINDOW_LIMITED.value && is_near
    })?;
    let share = ratio(window.limited_us as f64, tcp.busy_us as f64);
    let sentence = format!(
        "The {} ({}) stopped connections for {} of their busy time.",
        window.name,
        fmt::size(window.bytes),
        fmt::percent(share.min(1.0))
    );
    let draft = job
        .draft("S19", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::Tcp { by: window.by })
        .evidence("share of the busy time", Quantity::share(share), "TCP_INFO")
        .evidence("window", Quantity::bytes(window.bytes), "TCP_INFO")
        .evidence("least round-trip time", Quantity::ns(tcp.rtt_min_us * 1e3), "TCP_INFO")
        .evidence("rate of a busy connection", Quantity::bytes_per_s(rate), "TCP_INFO")
        .advice(window.advice, None);
    Some(draft.done())
}

fn by_loss(job: &ObjectJob, tcp: &TcpStats) -> Option<Finding> {
    let share = ratio(tcp.bytes_retransmitted as f64, tcp.bytes_sent as f64);
    if share < RESENT.value {
        return None;
    }
    let sentence = format!("{} of the bytes were sent again after loss.", fmt::percent(share));
    let draft = job
        .draft("S19", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("bytes sent again", Quantity::share(share), "TCP_INFO")
        .evidence("round-trip time", Quantity::ns(tcp.rtt_us * 1e3), "TCP_INFO")
        .advice("Check cables, switch buffers and the own queue (tc -s qdisc).", None);
    let limit = Limit::Tcp { by: TcpLimit::Loss };
    Some(if share >= RESENT_LIMIT.value { draft.limits(limit).done() } else { draft.done() })
}

#[cfg(test)]
mod tests {
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::TestCase;

    /// Eight connections that sent 1.6 MB/s each for 10 s.
    fn uploads() -> TestCase {
        let mut case = TestCase::on_objects(ObjectOp::Put, 1 << 20, 8, 12.5);
        let tcp = case.http().tcp.as_mut().unwrap();
        (tcp.busy_us, tcp.rtt_min_us) = (80_000_000, 10_000.0);
        (tcp.send_window_bytes, tcp.send_buffer_bytes) = (16_384.0, 4e6);
        case
    }

    /// Recorded: a receive buffer of 16 KiB limited 99.6 % of the busy time.
    #[test]
    fn a_small_window_limits() {
        let mut case = uploads();
        assert_eq!(case.found(&RULE), [], "no time was limited");
        case.http().tcp.as_mut().unwrap().receive_window_limited_us = 79_680_000;
        assert!(
            case.found(&RULE)[0].sentence.starts_with(
                "The receive window of the server (16 KiB) stopped connections for 99.6 %"
            ),
            "{:?}",
            case.found(&RULE)
        );
        let limit = case.judge().limit();
        assert_eq!(limit.as_deref(), Some("the server's TCP receive window"));
    }

    /// Recorded: a full 100 Mbit/s link shows 49 % with a buffer that is large enough.
    #[test]
    fn a_share_of_time_alone_proves_nothing() {
        let mut case = uploads();
        case.http().tcp.as_mut().unwrap().send_buffer_limited_us = 39_000_000;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn loss_is_a_caution_and_much_of_it_a_limit() {
        let mut case = uploads();
        let sent = case.http().tcp.as_ref().unwrap().bytes_sent;
        case.http().tcp.as_mut().unwrap().bytes_retransmitted = sent / 500;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
        case.http().tcp.as_mut().unwrap().bytes_retransmitted = sent / 50;
        let limit = case.judge().limit();
        assert_eq!(limit.as_deref(), Some("lost packets on the network"));
    }
}
