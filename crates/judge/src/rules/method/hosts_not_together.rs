//! G14: hosts did not work at the same time.

use candor_record::fmt;
use candor_record::{Ended, Finding, HostRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{ENDS_APART, STARTS_APART, STRAGGLE_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G14",
        title: "hosts not working together",
        explanation: "A rate of several hosts is valid for the time in which all hosts worked. All \
            hosts start at one moment, and each host waits for this moment on its own clock. \
            candor measures the difference between the clocks by messages in both directions, and \
            the delay of each host. candor reports starts more than 1 % of the time apart, beyond \
            the clock error. candor also reports ends, if hosts had a fixed amount of work and one \
            ended long before another: from then on fewer hosts worked. Use a time instead of an \
            amount, and synchronise hosts that stall.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let record = observed.record;
    if record.hosts.len() < 2 {
        return Outcome::Nothing;
    }
    let names = record.host_names();
    let moments: Vec<Moment> =
        record.hosts.iter().zip(&names).filter_map(|(host, name)| Moment::of(host, name)).collect();
    let found: Vec<Finding> =
        [starts(observed, &moments), ends(observed, &moments)].into_iter().flatten().collect();
    let doubt = moments.iter().map(|moment| moment.error_ns).fold(0.0, f64::max);
    if found.is_empty() && 2.0 * doubt > STARTS_APART.value * observed.elapsed_s() * 1e9 {
        Outcome::lacks("the hosts' clocks to within 1 % of the time of the phase")
    } else {
        found.into()
    }
}

/// Start and end of a host, by its own clock.
struct Moment<'a> {
    name: &'a str,
    /// Start after the agreed moment.
    late_ns: f64,
    /// End after the agreed moment, where all of its jobs did all they had to.
    end_ns: Option<f64>,
    error_ns: f64,
}

impl<'a> Moment<'a> {
    /// Absent for a host that did not start.
    fn of(host: &HostRecord, name: &'a str) -> Option<Moment<'a>> {
        let member = host.member.as_ref()?;
        let late_ns = member.started_late_ns? as f64;
        let done = !host.measurements.is_empty()
            && host.measurements.iter().all(|measured| measured.ended == Ended::Done);
        let last = host.measurements.iter().map(|measured| measured.last_done.at_ns).max();
        let end_ns = last.filter(|ns| done && *ns > 0).map(|ns| late_ns + ns as f64);
        Some(Moment { name, late_ns, end_ns, error_ns: member.clock_error_ns as f64 })
    }
}

/// The earliest and the latest by that moment, and the time between them that no error of the
/// clocks explains.
fn apart<'a, 'm>(
    moments: &'m [Moment<'a>],
    at: impl Fn(&Moment) -> Option<f64>,
) -> Option<(&'m Moment<'a>, &'m Moment<'a>, f64)> {
    let known = || moments.iter().filter_map(|moment| Some((moment, at(moment)?)));
    let first = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let last = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let beyond_ns = last.1 - first.1 - first.0.error_ns - last.0.error_ns;
    Some((first.0, last.0, beyond_ns))
}

fn starts(observed: &Observed, moments: &[Moment]) -> Option<Finding> {
    let (first, last, beyond_ns) = apart(moments, |moment| Some(moment.late_ns))?;
    let whole_ns = observed.elapsed_s() * 1e9;
    if beyond_ns <= STARTS_APART.value * whole_ns {
        return None;
    }
    let late_ns = last.late_ns - first.late_ns;
    let sentence = format!(
        "{} started {} late, {} of the time of the phase after {}.",
        last.name,
        fmt::time(late_ns),
        fmt::percent(fmt::ratio(late_ns, whole_ns)),
        first.name
    );
    let error_ns = first.error_ns + last.error_ns;
    Some(finding(
        sentence,
        ClockTime { name: "late", ns: late_ns },
        ClockTime { name: "error of both clocks", ns: error_ns },
    ))
}

fn ends(observed: &Observed, moments: &[Moment]) -> Option<Finding> {
    let (first, last, beyond_ns) = apart(moments, |moment| moment.end_ns)?;
    let whole_ns = observed.elapsed_s() * 1e9;
    if beyond_ns <= ENDS_APART.value * whole_ns || whole_ns < STRAGGLE_S.value * 1e9 {
        return None;
    }
    let [first_ns, last_ns] = [first.end_ns?, last.end_ns?];
    let sentence = format!(
        "{} had finished its work after {}, {} after {}: in between fewer hosts worked.",
        first.name,
        fmt::time(first_ns),
        last.name,
        fmt::time(last_ns)
    );
    Some(finding(
        sentence,
        ClockTime { name: "first host done", ns: first_ns },
        ClockTime { name: "last host done", ns: last_ns },
    ))
}

/// A time that the hosts' clocks show.
#[derive(Clone, Copy)]
struct ClockTime {
    name: &'static str,
    ns: f64,
}

fn finding(sentence: String, first: ClockTime, second: ClockTime) -> Finding {
    FindingBuilder::new("G14", Severity::Caution, sentence)
        .evidence(first.name, Quantity::ns(first.ns), "the hosts' clocks")
        .evidence(second.name, Quantity::ns(second.ns), "the hosts' clocks")
        .advice(
            "Give hosts a time instead of an amount, and a start that all hosts can keep.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, together};
    use candor_record::Progress;

    fn two() -> TestCase {
        together(&[TestCase::direct(4096, 8, 1, 1e4), TestCase::direct(4096, 8, 1, 1e4)])
    }

    #[test]
    fn a_late_start_is_told_beyond_the_error_of_the_clocks() {
        let mut case = two();
        case.member(1).started_late_ns = Some(1_200_000_000);
        let found = case.found(&RULE);
        let sentence = "node-b started 1.2 s late, 12 % of the time of the phase after node-a.";
        assert_eq!(found[0].sentence, sentence);
        case.member(1).clock_error_ns = 1_150_000_000;
        assert_eq!(case.found(&RULE), []);
        assert!(case.lacked(&RULE).unwrap().contains("clocks"));
        assert_eq!(two().found(&RULE), []);
        assert_eq!(two().lacked(&RULE), None);
    }

    #[test]
    fn a_host_that_was_done_long_before_another_is_told() {
        let ended = |seconds: [u64; 2], how| {
            let mut case = two();
            for (host, s) in case.record.hosts.iter_mut().zip(seconds) {
                let measured = &mut host.measurements[0];
                measured.ended = how;
                measured.last_done = Progress { at_ns: s * 1_000_000_000, ops: 9, bytes: 9 };
            }
            case.found(&RULE)
        };
        let found = ended([6, 10], Ended::Done);
        let sentence = "node-a had finished its work after 6 s, node-b after 10 s: in between \
            fewer hosts worked.";
        assert_eq!(found[0].sentence, sentence);
        assert_eq!(ended([10, 10], Ended::Done), []);
        assert_eq!(ended([6, 10], Ended::Time), [], "whoever works for a time is never done");
        assert_eq!(TestCase::direct(4096, 8, 1, 1e4).found(&RULE), []);
    }
}
