//! The hosts of a phase in a table.

use candor_record::facts::value;
use candor_record::fmt::ratio;
use candor_record::{
    FleetMember, HostRecord, HostSample, InterfaceBytes, Latency, Limit, LostHost, Measurement,
    PhaseJudgement, PhaseRecord, Snapshot, Verdict,
};

use crate::Rates;

/// One of several hosts in a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostRow {
    /// Name, different from the names of the other hosts.
    pub host: String,
    /// Workers.
    pub workers: u32,
    /// Rates of all its jobs.
    pub rates: Rates,
    /// Median latency of the operation with the most completions.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile of that operation.
    pub latency_ns_p99: Option<u64>,
    /// Busy share of its CPUs over the phase.
    pub cpu_busy: Option<f64>,
    /// The interface to the server with the highest use, and the share of its speed.
    pub link: Option<(String, f64)>,
    /// Start after the start of the first host, in ns.
    pub late_ns: Option<u64>,
    /// Loss of this host during the phase.
    pub lost: Option<LostHost>,
    /// The host that runs on the same kernel, if it is another host.
    pub kernel_of: Option<String>,
    /// Verdict on the part of this host; absent if it was not judged.
    pub verdict: Option<Verdict>,
    /// Limit of this host.
    pub limited_by: Option<Limit>,
}

/// A row for each host of a phase on several hosts; empty for one host.
pub fn host_rows(record: &PhaseRecord, judged: Option<&PhaseJudgement>) -> Vec<HostRow> {
    if record.hosts.len() < 2 {
        return Vec::new();
    }
    let names = record.host_names();
    let first = record.hosts.iter().filter_map(late_ns).min();
    let mut rows = Vec::new();
    for (at, host) in record.hosts.iter().enumerate() {
        let of = judged.and_then(|judged| judged.hosts.iter().find(|of| of.host == names[at]));
        let kernel = host.member.as_ref().map(|member| member.kernel_of as usize);
        rows.push(HostRow {
            host: names[at].clone(),
            late_ns: late_ns(host).zip(first).map(|(late, first)| late.abs_diff(first)),
            kernel_of: kernel.filter(|of| *of != at).and_then(|of| names.get(of).cloned()),
            verdict: of.map(|of| of.verdict),
            limited_by: of.and_then(|of| of.limited_by.clone()),
            ..row(host)
        });
    }
    rows
}

/// Start of a host after the agreed moment; absent if unknown.
fn late_ns(host: &HostRecord) -> Option<i64> {
    host.member.as_ref()?.started_late_ns
}

fn row(host: &HostRecord) -> HostRow {
    let latency = most_done(&host.measurements);
    HostRow {
        workers: host.measurements.iter().map(|measured| measured.workers).sum(),
        rates: Rates::of_results(&host.measurements),
        latency_ns_p50: latency.and_then(|latency| latency.percentile_ns(50.0)),
        latency_ns_p99: latency.and_then(|latency| latency.percentile_ns(99.0)),
        cpu_busy: HostSample::between(&host.host, &host.before, &host.after).cpu_busy,
        link: link(host),
        lost: host.member.as_ref().and_then(|FleetMember { lost, .. }| lost.clone()),
        ..HostRow::default()
    }
}

/// Latencies of the operation with the most completions.
fn most_done(measurements: &[Measurement]) -> Option<&Latency> {
    let all = measurements.iter().flat_map(Measurement::work_operations);
    all.max_by_key(|op| op.ops)?.latency.as_ref()
}

/// The interface to a server with the highest use, among interfaces with a known speed.
fn link(host: &HostRecord) -> Option<(String, f64)> {
    let passed_s = host.after.at_ns.checked_sub(host.before.at_ns)? as f64 / 1e9;
    let remotes = host.facts.targets.iter().filter_map(|target| target.remote.as_ref());
    let used = remotes.filter_map(|remote| {
        let (name, link) = (value(&remote.interface)?, remote.link.as_ref()?);
        let [before, after] = [&host.before, &host.after].map(|of| traffic(of, name));
        let (before, after) = (before?, after?);
        let received = after.received_bytes.saturating_sub(before.received_bytes);
        let sent = after.sent_bytes.saturating_sub(before.sent_bytes);
        let rate = ratio(received.max(sent) as f64, passed_s);
        Some((name.clone(), ratio(rate, link.ceiling_bytes_per_s as f64)))
    });
    used.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn traffic<'a>(snapshot: &'a Snapshot, interface: &str) -> Option<&'a InterfaceBytes> {
    snapshot.state.interfaces.iter().find(|of| of.interface == interface)
}

#[cfg(test)]
mod tests {
    use candor_record::HostJudgement;
    use candor_record::facts::{Fact, Link, Remote, TargetFacts};

    use super::*;

    /// A host that received bytes for ten seconds over a link of 1 GB/s.
    fn host(name: &str, received_bytes: u64, late_ns: i64) -> HostRecord {
        let mut host = HostRecord { host: name.into(), ..HostRecord::default() };
        host.facts.targets = vec![TargetFacts {
            remote: Some(Remote {
                interface: Some(Fact::new("eth1".into(), "/proc/net/route")),
                link: Some(Link { ceiling_bytes_per_s: 1_000_000_000, ..Link::default() }),
                ..Remote::default()
            }),
            ..TargetFacts::default()
        }];
        host.before = snapshot(1_000_000_000, 50);
        host.after = snapshot(11_000_000_000, 50 + received_bytes);
        let member = FleetMember { started_late_ns: Some(late_ns), ..FleetMember::default() };
        host.member = Some(member);
        host.measurements = vec![Measurement { workers: 4, ..Measurement::default() }];
        host
    }

    fn snapshot(at_ns: u64, received_bytes: u64) -> Snapshot {
        let mut snapshot = Snapshot { at_ns, ..Snapshot::default() };
        let interface = "eth1".into();
        snapshot.state.interfaces =
            vec![InterfaceBytes { interface, received_bytes, sent_bytes: 7 }];
        snapshot
    }

    #[test]
    fn each_of_two_hosts_has_a_row() {
        let hosts = vec![host("a", 5_000_000_000, -20), host("b", 9_000_000_000, 400)];
        let record = PhaseRecord { hosts, ..PhaseRecord::default() };
        let verdict = Verdict::Caution;
        let of = HostJudgement { host: "b".into(), verdict, limited_by: None };
        let judged = PhaseJudgement { hosts: vec![of], ..PhaseJudgement::default() };
        let rows = host_rows(&record, Some(&judged));
        let [a, b] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((a.workers, a.late_ns, b.late_ns), (4, Some(0), Some(420)));
        assert_eq!((&a.link, &b.link), (&Some(("eth1".into(), 0.5)), &Some(("eth1".into(), 0.9))));
        assert_eq!((a.verdict, b.verdict), (None, Some(Verdict::Caution)));
        assert_eq!((&a.kernel_of, b.kernel_of.as_deref()), (&None, Some("a")));
    }

    #[test]
    fn one_host_has_no_row_of_its_own() {
        let record = PhaseRecord { hosts: vec![host("a", 1, 0)], ..PhaseRecord::default() };
        assert_eq!(host_rows(&record, None), []);
    }
}
