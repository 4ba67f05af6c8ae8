//! F10: others used the device.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind};
use candor_record::fmt::{self, ratio};
use candor_record::requests::{Issuer, Requests, share_of};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FOREIGN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F10",
        title: "others used the device meanwhile",
        explanation: "The device's counters hold everyone's traffic, the process's only its own. \
            candor looks at the device in an idle moment before the phase, and compares what the \
            device read with what this process caused; in a phase that only reads, all writes are \
            somebody else's. Where single requests were seen, no more is called foreign than was \
            seen of others. More than 5 % foreign traffic makes the result noisier and lower. \
            Stop it and run again.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

/// Traffic of others as one method saw it.
struct Foreign<'a> {
    bytes: f64,
    /// Bytes that passed these devices during the phase.
    all: f64,
    devices: Vec<&'a DeviceFacts>,
    how: &'static str,
    from: &'static str,
}

impl Foreign<'_> {
    /// A share of what passed the device; of what was asked, where that is more, so that a cached
    /// run does not make a few kilobytes of metadata look like a crowd.
    fn share(&self, app: f64) -> f64 {
        ratio(self.bytes, self.all.max(app)).min(1.0)
    }
}

fn after(observed: &Observed) -> Outcome {
    let app = observed.app_all().bytes;
    if app < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    if observed.top.is_none() {
        return Outcome::lacks("the counters of the device");
    }
    let idle = in_idle_moment(observed);
    let beside = beside_ours(observed);
    if idle.is_none() && beside.is_none() {
        return Outcome::lacks("an idle moment before the phase, or /proc/self/io");
    }
    let all = idle.into_iter().flatten().chain(beside);
    let most = all.max_by(|a, b| a.share(app).total_cmp(&b.share(app)));
    let much = |f: &Foreign| f.share(app) > FOREIGN.value && f.bytes >= BYTES_MIN.value;
    let foreign = most.filter(much);
    foreign.map_or(Outcome::Nothing, |foreign| Outcome::one(finding(observed, &foreign, app)))
}

/// The bytes of others that passed the devices on top, and those at the bottom, in the idle moment,
/// extended to the length of the phase; no more than they moved beyond ours, so that one burst in a
/// short moment is not taken for a stream, and no more than was seen of others where requests were
/// seen.
fn in_idle_moment<'a>(observed: &Observed<'a>) -> Option<Vec<Foreign<'a>>> {
    let idle = observed.host.idle.as_ref()?;
    let seconds = idle.after.at_ns.checked_sub(idle.before.at_ns)? as f64 / 1e9;
    let app = observed.app_all().bytes;
    let (tops, leaves) = (observed.tops(), observed.leaves());
    let levels = match tops == leaves {
        true => vec![(tops, observed.top)],
        false => vec![(tops, observed.top), (leaves, observed.leaf)],
    };
    let of_level = levels.into_iter().enumerate().filter_map(|(level, (devices, during))| {
        let moved = Flow::between(&devices, &idle.before, &idle.after)?.bytes();
        let all = during?.bytes();
        let went_on = (ratio(moved, seconds) * observed.window_s()).min((all - app).max(0.0));
        // What the kernel's threads do on lower devices they do for the upper ones.
        let seen = seen_of_others(observed, &devices, level == 0);
        let bytes = seen.map_or(went_on, |share| went_on.min(share * all));
        let how = "judged by the idle moment before";
        Some(Foreign { bytes, all, devices, how, from: "the same in the idle moment before" })
    });
    Some(of_level.collect())
}

/// Where requests to some devices are seen: those to a partition at its disk.
fn seen_at<'a>(devices: &[&'a DeviceFacts]) -> Vec<&'a str> {
    let names = devices.iter().map(|device| match device.kind {
        DeviceKind::Partition => device.below.first().unwrap_or(&device.name).as_str(),
        _ => device.name.as_str(),
    });
    names.collect()
}

/// The share of the bytes that others moved on some devices, where single requests were seen.
fn seen_of_others(observed: &Observed, devices: &[&DeviceFacts], kernel_too: bool) -> Option<f64> {
    let trace = observed.host.requests.as_ref()?;
    let places = seen_at(devices);
    let here = |of: &&Requests| places.contains(&of.device.as_str());
    let requests: Vec<&Requests> = trace.requests.iter().filter(here).collect();
    let all: u64 = requests.iter().map(|of| of.bytes).sum();
    let issuers = requests.iter().flat_map(|of| &of.issuers);
    let other = |who: &&Issuer| who.pid != trace.own_pid && (kernel_too || !who.is_kernel());
    let others: u64 = issuers.filter(other).map(|who| who.bytes).sum();
    (all > 0).then(|| share_of(others, all))
}

/// The bytes that the device moved beyond what this process caused: reads always, writes only where
/// this process made none, because journals and write-back of earlier phases would look foreign.
fn beside_ours<'a>(observed: &Observed<'a>) -> Option<Foreign<'a>> {
    let top = observed.top?;
    let reads =
        (top.read.bytes - observed.process(Direction::Read)?.max(direct_reads(observed))).max(0.0);
    let writes = match (observed.does(Direction::Write), observed.process(Direction::Write)?) {
        (false, ours) => (top.write.bytes - ours).max(0.0),
        (true, _) => 0.0,
    };
    let slack = observed.slack_bytes(Direction::Read);
    Some(Foreign {
        bytes: (reads - slack).max(0.0) + writes,
        all: top.bytes(),
        devices: observed.tops(),
        how: "beside ours",
        from: "less /proc/self/io",
    })
}

/// Bytes that this process read directly, which are its own whatever it was charged for.
fn direct_reads(observed: &Observed) -> f64 {
    if observed.all_direct() { observed.app(Direction::Read).bytes } else { 0.0 }
}

fn finding(observed: &Observed, foreign: &Foreign, app: f64) -> Finding {
    let seen = observed.host.requests.as_ref();
    let names: Vec<&str> = foreign.devices.iter().map(|device| device.name.as_str()).collect();
    let most = seen.and_then(|seen| seen.largest_other(&seen_at(&foreign.devices)));
    let most = most.map_or(String::new(), |who| {
        format!("; most seen by process: {} ({})", who.command, who.pid)
    });
    let sentence = format!(
        "{} of the traffic on {} was not ours ({} {}{most}).",
        fmt::percent(foreign.share(app)),
        names.join(", "),
        fmt::rate(ratio(foreign.bytes, observed.window_s())),
        foreign.how
    );
    let stat = format!("/sys/class/block/{}/stat", names.join(","));
    FindingBuilder::new("F10", Severity::Remark, sentence)
        .confidence(Confidence::Likely)
        .evidence(
            "bytes of others",
            Quantity::bytes(foreign.bytes),
            format!("{stat}, {}", foreign.from),
        )
        .evidence("bytes of all", Quantity::bytes(foreign.all), stat)
        .advice("Find who it is (iotop, pidstat -d), stop it, and run again.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, moved};
    use candor_record::IdleWindow;
    use candor_record::requests::{Issuer, RequestStats, Requests};

    #[test]
    fn reads_of_others_are_seen_beside_ours() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with("16 % of the traffic on vda was not ours"),
            "{}",
            found[0].sentence
        );
        assert_eq!(found[0].severity, Severity::Remark);
    }

    #[test]
    fn who_it_is_is_named_where_requests_were_seen() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        let who = Issuer { pid: 99, command: "rsync".into(), count: 9, bytes: 84_000_000 };
        let seen = Requests { device: "vda".into(), issuers: vec![who], ..Requests::default() };
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.ends_with("most seen by process: rsync (99))."), "{sentence}");
    }

    #[test]
    fn writes_in_a_phase_that_only_reads_are_foreign() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().write_sectors += 100 * MIB / 512;
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn the_idle_moment_tells_for_writes() {
        let mut case = TestCase::direct_write();
        let mut idle =
            IdleWindow { before: case.host.before.clone(), after: case.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        case.host.idle = Some(idle.clone());
        assert_eq!(case.found(&RULE), []);
        idle.after.devices[0].1 = moved(Direction::Write, 100, 8 * MIB);
        case.host.idle = Some(idle);
        assert_eq!(case.found(&RULE), [], "a burst that did not go on");
        case.after_top().write_sectors += 80 * MIB / 512;
        let sentence = case.found(&RULE)[0].sentence.clone();
        assert!(sentence.contains("judged by the idle moment before"), "{sentence}");
        // The tracer knows who wrote: candor alone.
        let trace = |own_pid| {
            let who = Issuer { pid: 7, command: "candor".into(), count: 9, bytes: 9 * MIB };
            let seen = Requests {
                device: "vda".into(),
                bytes: 9 * MIB,
                issuers: vec![who],
                ..Requests::default()
            };
            Some(RequestStats { own_pid, requests: vec![seen], ..RequestStats::default() })
        };
        case.host.requests = trace(7);
        assert_eq!(case.found(&RULE), []);
        case.host.requests = trace(8);
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn below_a_loop_the_disk_is_named() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        let mut idle =
            IdleWindow { before: case.host.before.clone(), after: case.host.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        idle.after.devices[1].1 = moved(Direction::Read, 100, 8 * MIB);
        case.host.idle = Some(idle);
        case.host.after.devices[1].1.read_sectors += 80 * MIB / 512;
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.starts_with("17 % of the traffic on vda was not ours"), "{sentence}");
    }

    #[test]
    fn a_cached_run_and_an_honest_one_are_alone() {
        let mut case = TestCase::buffered_read();
        case.after_top().read_sectors = 20 * MIB / 512;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 60_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }
}
