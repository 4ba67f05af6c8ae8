//! G12: busy is not full.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, HostRecord, PhaseRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::in_flight;
use crate::stage::Stage;
use crate::thresholds::{BUSY_AND_MORE, NEVER_IDLE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G12",
        title: "busy was not full",
        explanation: "The busy time of a device (%util of iostat) is the time with at least one \
            request in flight. A device that works on many requests at once is busy all the time \
            with one of them. 100 % therefore means only that the device was never idle; the \
            remaining capacity is unknown. An earlier phase of the run may keep the device busy \
            all the time and a later phase, with more in flight, may do much more. candor then \
            shows both. The device was then not full in the earlier phase. Judge by rates at \
            several depths, never by busy time.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let tops = observed.tops();
    let ([ran], [top]) = (observed.ran.as_slice(), tops.as_slice()) else {
        return Outcome::Nothing;
    };
    let busy_now = busy(observed.record, observed.host, &top.name)
        .is_some_and(|busy| busy >= NEVER_IDLE.value);
    if !busy_now || !observed.all_direct() || observed.paced() {
        return Outcome::Nothing;
    }
    let less = observed
        .judged_before()
        .filter_map(|report| Some((report, with_less(observed, report, ran)?)));
    let mut full = less.filter(|(report, _)| {
        busy(report, report.host(), &top.name).is_some_and(|busy| busy >= NEVER_IDLE.value)
    });
    let found = full.find(|(_, (times, _))| *times >= BUSY_AND_MORE.value);
    found.map_or(Outcome::Nothing, |(report, (times, depth))| {
        Outcome::one(finding(report, &top.name, times, depth, ran.concurrency()))
    })
}

/// Share of a phase in which a device had something to do.
fn busy(report: &PhaseRecord, host: &HostRecord, device: &str) -> Option<f64> {
    let did = host.before.device_delta(&host.after, device)?;
    let window_ns = host.after.at_ns.checked_sub(host.before.at_ns)? as f64;
    // Snapshots lie some milliseconds outside of the measured time.
    let measured = report.measurements.iter().map(|m| m.elapsed_ns).max()? as f64;
    Some(ratio(did.busy_ms as f64 * 1e6, window_ns.min(measured)))
}

/// How many times as much as an earlier phase of the same work with less in flight this one did,
/// and how much that one had in flight.
fn with_less<'a>(
    observed: &Observed<'a>,
    report: &'a PhaseRecord,
    ran: &Ran,
) -> Option<(f64, f64)> {
    let job = observed.only_job_of(report)?;
    let (blocks, ours) = (job.blocks()?, ran.blocks);
    let same = job.targets == ran.job.targets
        && blocks.mix == ours.mix
        && blocks.size == ours.size
        && blocks.access == ours.access
        && blocks.direct == ours.direct
        && blocks.durability == ours.durability
        && blocks.pace == ours.pace;
    let in_flight = in_flight(job, blocks);
    let [measured] = report.measurements.as_slice() else { return None };
    let rate = |m: &candor_record::Measurement| ratio(m.ops_done() as f64, m.elapsed_ns as f64);
    let times = ratio(rate(ran.measured), rate(measured));
    (same && in_flight < ran.concurrency()).then_some((times, in_flight))
}

fn finding(report: &PhaseRecord, device: &str, times: f64, depth: f64, now: f64) -> Finding {
    let sentence = format!(
        "{device} was busy all the time in {} already, with {} in flight, and did {} times as much \
         with {}: busy means never idle, not full.",
        report.name,
        fmt::count(depth),
        fmt::number(times),
        fmt::count(now)
    );
    FindingBuilder::new("G12", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("rate over the rate of the earlier phase", Quantity::ratio(times), "candor")
        .evidence("busy in both", "99 % or more", format!("/sys/class/block/{device}/stat"))
        .advice("Judge by rates at several depths, not by busy time.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    /// Depth 32 after depth 1, both busy for such a share of 10 s.
    fn deep(times: f64, busy_ms: u64) -> TestCase {
        let busy = |mut case: TestCase| {
            case.after_top().busy_ms = busy_ms;
            case
        };
        let mut case = busy(TestCase::direct(4096, 32, 1, 10_000.0 * times));
        let first = busy(TestCase::direct(4096, 1, 1, 10_000.0));
        case.plan.phases.insert(0, first.plan.phases[0].clone());
        case.record.phase = 1;
        case.earlier = vec![PhaseRecord { name: "one".into(), ..first.recorded() }];
        case
    }

    #[test]
    fn eight_times_as_much_from_a_busy_device() {
        assert_eq!(
            deep(8.0, 9990).found(&RULE)[0].sentence,
            "vda was busy all the time in one already, with 1 in flight, and did 8 times as much \
             with 32: busy means never idle, not full."
        );
    }

    #[test]
    fn a_device_that_was_idle_or_full_and_a_single_phase_are_silent() {
        assert_eq!(deep(8.0, 6000).found(&RULE), []);
        assert_eq!(deep(1.1, 9990).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 10_000.0).found(&RULE), []);
    }
}
