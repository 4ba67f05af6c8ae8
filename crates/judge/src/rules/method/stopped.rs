//! G19: the process was stopped while it measured.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Measurement, Quantity, Severity, Stopped, StoppedBy};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::STOPPED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G19",
        title: "stopped during the measurement",
        explanation: "Ctrl-Z, SIGSTOP, a frozen control group, a debugger or a suspended machine \
            stop all threads at once. During a stop no operation is sent, devices and caches idle, \
            and the latency of operations in flight includes the stop. candor detects a stop by a \
            thread that wakes late although it neither ran nor waited for a CPU. candor subtracts \
            the stop from the clock: rates and intervals leave the stop out, and a phase of a \
            fixed time runs longer by the stop. Percentiles that contain the stop, mean and \
            maximum are left out. From 1 % of the time on, the result is wrong. Run again without \
            a stop.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let all = observed.record.measurements.iter();
    let stopped = all.filter_map(|measured| Some((measured, measured.stopped?)));
    // A stop is of the whole process: the job that saw the most tells it.
    let longest = stopped.max_by_key(|(_, stopped)| stopped.ns);
    let found = longest.map(|(measured, stopped)| finding(measured, stopped));
    found.into_iter().collect::<Vec<_>>().into()
}

fn finding(measured: &Measurement, stopped: Stopped) -> Finding {
    let wall_ns = measured.elapsed_ns.saturating_add(stopped.ns);
    let share = ratio(stopped.ns as f64, wall_ns as f64);
    let severity = if share >= STOPPED.value { Severity::Wrong } else { Severity::Caution };
    let cause = match stopped.by {
        StoppedBy::Signal => "a signal (Ctrl-Z or SIGSTOP)",
        StoppedBy::Suspend => "a suspended machine",
        StoppedBy::Other => "a frozen control group, a debugger or the hypervisor",
    };
    let times = match stopped.times {
        1 => String::new(),
        times => format!(" in {times} stops"),
    };
    let sentence = format!(
        "The process was stopped for {}{times} by {cause}: rates leave this time out; percentiles \
         that contain it, mean and maximum are not reported.",
        fmt::time(stopped.ns as f64)
    );
    FindingBuilder::new("G19", severity, sentence)
        .confidence(Confidence::Certain)
        .evidence("stopped", Quantity::ns(stopped.ns as f64), "candor")
        .evidence("longest stop", Quantity::ns(stopped.longest_ns as f64), "candor")
        // Rates leave the stop out.
        .lost_at_most(0.0)
        .advice("Run again without a stop.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::TestCase;

    fn stopped(ns: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let of_job =
            Stopped { ns, times: 1, longest_ns: ns, shortest_ns: ns, by: StoppedBy::Signal };
        let measured = case.measured();
        measured.stopped = Some(of_job);
        measured.of_mut(Direction::Read).latency.as_mut().unwrap().max_ns = ns;
        case
    }

    #[test]
    fn a_stop_makes_a_result_unbelievable_and_is_no_latency() {
        let judgement = stopped(4_000_000_000).judge();
        let found = judgement.finding("G19").expect("found");
        assert_eq!(found.severity, Severity::Wrong);
        assert_eq!(
            found.sentence,
            "The process was stopped for 4 s by a signal (Ctrl-Z or SIGSTOP): rates leave this \
             time out; percentiles that contain it, mean and maximum are not reported."
        );
        assert!(judgement.finding("G4").is_none(), "nothing was due while it was stopped");
    }

    #[test]
    fn a_short_stop_is_a_remark_and_none_is_silent() {
        assert_eq!(stopped(60_000_000).found(&RULE)[0].severity, Severity::Caution);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
