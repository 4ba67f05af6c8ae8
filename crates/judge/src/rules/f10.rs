//! F10: others used the device.

use candor_plan::units::Op;
use candor_record::{Confidence, Finding, Weight};

use crate::coverage;
use crate::draft::Draft;
use crate::flow::Flow;
use crate::fmt::{self, ratio};
use crate::rule::{Outcome, Rule, RuleText};
use crate::thresholds::{BYTES_MIN, FOREIGN};
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F10",
        title: "others used the device meanwhile",
        explanation: "The device's counters hold everyone's traffic, the process's only its own. \
            candor looks at the device in an idle moment before the phase, and compares what the \
            device read with what this process caused; in a phase that only reads, all writes are \
            somebody else's. More than 5 % foreign traffic makes the result noisier and lower. \
            Stop it and run again.",
    },
    before: None,
    after,
};

/// Traffic of others as one method saw it.
struct Foreign {
    bytes: f64,
    how: &'static str,
    from: String,
}

fn after(view: &View) -> Outcome {
    let app = view.app_all().bytes;
    if app < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let Some(top) = view.top else { return Outcome::lacks("the counters of the device") };
    let idle = in_idle_moment(view);
    let beside = beside_ours(view);
    if idle.is_none() && beside.is_none() {
        return Outcome::lacks("an idle moment before the phase, or /proc/self/io");
    }
    // A share of what passed the device; of what was asked, where that is more, so that a cached
    // run does not make a few kilobytes of metadata look like a crowd.
    let all = top.bytes().max(app);
    let most = [idle, beside].into_iter().flatten().max_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let foreign = most.filter(|f| f.bytes > FOREIGN.value * all && f.bytes >= BYTES_MIN.value);
    foreign.map_or(Outcome::Nothing, |foreign| Outcome::one(finding(view, &foreign, all)))
}

/// What passed the devices in the idle moment, extended to the length of the phase; no more than
/// they moved beyond ours, so that one burst in a short moment is not taken for a stream.
fn in_idle_moment(view: &View) -> Option<Foreign> {
    let idle = view.report.idle.as_ref()?;
    let seconds = idle.after.at_ns.checked_sub(idle.before.at_ns)? as f64 / 1e9;
    let app = view.app_all().bytes;
    let levels = [(view.tops(), view.top), (view.leaves(), view.leaf)];
    let bytes = levels.into_iter().filter_map(|(devices, during)| {
        let moved = Flow::between(&devices, &idle.before, &idle.after)?.bytes();
        let beyond = (during?.bytes() - app).max(0.0);
        Some((ratio(moved, seconds) * view.window_s()).min(beyond))
    });
    let bytes = bytes.max_by(f64::total_cmp)?;
    Some(Foreign { bytes, how: "in the idle moment before", from: coverage::stat_of(view) })
}

/// What the device moved beyond what this process caused: reads always, writes only where this
/// process made none, because journals and write-back of earlier phases would look foreign.
fn beside_ours(view: &View) -> Option<Foreign> {
    let top = view.top?;
    let reads = (top.read.bytes - view.process(Op::Read)?.max(direct_reads(view))).max(0.0);
    let writes = match (view.does(Op::Write), view.process(Op::Write)?) {
        (false, ours) => (top.write.bytes - ours).max(0.0),
        (true, _) => 0.0,
    };
    let slack = view.slack_bytes(Op::Read);
    Some(Foreign {
        bytes: (reads - slack).max(0.0) + writes,
        how: "beside ours",
        from: format!("{} less /proc/self/io", coverage::stat_of(view)),
    })
}

/// Bytes that this process read directly, which are its own whatever it was charged for.
fn direct_reads(view: &View) -> f64 {
    if view.all_direct() { view.app(Op::Read).bytes } else { 0.0 }
}

fn finding(view: &View, foreign: &Foreign, all: f64) -> Finding {
    let share = ratio(foreign.bytes, all).min(1.0);
    let seen = view.report.requests.as_ref();
    let devices: Vec<&str> = view.devices().iter().map(|device| device.name.as_str()).collect();
    let most = seen.and_then(|seen| seen.largest_other(&devices));
    let most = most.map_or(String::new(), |who| {
        format!("; most seen by process: {} ({})", who.command, who.pid)
    });
    let sentence = format!(
        "{} of the traffic on {} was not ours ({} {}{most}).",
        fmt::percent(share),
        view.device_names(),
        fmt::rate(ratio(foreign.bytes, view.window_s())),
        foreign.how
    );
    Draft::new("F10", Weight::Remark, sentence)
        .confidence(Confidence::Likely)
        .evidence("bytes of others", fmt::size(foreign.bytes), foreign.from.clone())
        .evidence("bytes of all", fmt::size(all), coverage::stat_of(view))
        .advice("Find who it is (iotop, pidstat -d), stop it, and run again.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, moved};
    use candor_record::IdleWindow;
    use candor_record::requests::{Issuer, Requests, Trace};

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
        assert_eq!(found[0].weight, Weight::Remark);
    }

    #[test]
    fn who_it_is_is_named_where_requests_were_seen() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().read_sectors += 84_000_000 / 512;
        let who = Issuer { pid: 99, command: "rsync".into(), count: 9, bytes: 84_000_000 };
        let seen = Requests { device: "vda".into(), issuers: vec![who], ..Requests::default() };
        case.report.requests = Some(Trace { requests: vec![seen], ..Trace::default() });
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
            IdleWindow { before: case.report.before.clone(), after: case.report.before.clone() };
        idle.after.at_ns += 1_000_000_000;
        case.report.idle = Some(idle.clone());
        assert_eq!(case.found(&RULE), []);
        idle.after.devices[0].1 = moved(Op::Write, 100, 8 * MIB);
        case.report.idle = Some(idle);
        assert_eq!(case.found(&RULE), [], "a burst that did not go on");
        case.after_top().write_sectors += 80 * MIB / 512;
        assert!(case.found(&RULE)[0].sentence.contains("in the idle moment before"));
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
