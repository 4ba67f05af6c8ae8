//! B7: one thread is the limit.

use candor_record::fmt::{self, ratio};
use candor_record::{
    Change, Confidence, Finding, Limit, LimitClass, Quantity, Severity, WorkerStats,
};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::follow_ups::{self, Beside};
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::THREAD_BUSY;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B7",
        title: "thread CPU is the limit",
        explanation: "One thread can issue a limited number of operations per second. If the \
            busiest worker uses 90 % or more of a CPU, the CPU limits the rate, and the device may \
            have more to give. The same holds, whatever the threads' CPU time, if a short \
            follow-up with twice the threads and the same number in flight did half as much again. \
            Workers that poll for completions are busy by design and exempt. More workers, larger \
            operations, or batches help; if the rate follows, the device was not the limit.",
    },
    stage: Stage::Cpu,
    limit: Some(LimitClass::Cpu),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mut found = Vec::new();
    for ran in observed.ran.iter().filter(|ran| !ran.polls()) {
        let busy: Vec<f64> = ran.measured.per_worker.iter().map(share).collect();
        let busiest = busy.iter().copied().fold(0.0, f64::max);
        if busiest >= THREAD_BUSY.value {
            let count = busy.iter().filter(|share| **share >= THREAD_BUSY.value).count();
            found.push(finding(observed, ran, busiest, count));
        }
    }
    found.extend(by_threads(observed).filter(|_| found.is_empty()));
    let unknown = |ran: &Ran| ran.measured.per_worker.is_empty();
    if found.is_empty() && !observed.ran.is_empty() && observed.ran.iter().all(unknown) {
        return Outcome::lacks("CPU time of the workers");
    }
    found.into()
}

/// CPU time over wall time.
fn share(worker: &WorkerStats) -> f64 {
    ratio(worker.cpu_user_ns as f64 + worker.cpu_system_ns as f64, worker.elapsed_ns as f64)
}

fn finding(observed: &Observed, ran: &Ran, busiest: f64, count: usize) -> Finding {
    let of = fmt::plural(ran.measured.per_worker.len() as f64, "worker", "workers");
    let sentence = if count == 1 {
        format!(
            "A single core was busy {} generating the load; the CPU limits the rate.",
            fmt::percent(busiest.min(1.0))
        )
    } else {
        format!(
            "{count} of {of} kept a core busy, up to {}; the CPU limits the rate.",
            fmt::percent(busiest.min(1.0))
        )
    };
    let command = Command::of(observed.plan, &ran.planned);
    let workers = ran.job.workers.saturating_mul(2);
    FindingBuilder::new("B7", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .limits(Limit::ThreadCpu { threads: count as u64 })
        .evidence("CPU time over time, busiest worker", Quantity::share(busiest), "getrusage")
        .evidence("workers", Quantity::count(ran.measured.per_worker.len() as f64), "plan")
        .advice(
            "Try twice the workers: if the rate follows, the device has more to give.",
            command.map(|command| command.workers(workers)),
        )
        .done()
}

/// Twice the threads did more with no more in flight.
fn by_threads(observed: &Observed) -> Option<Finding> {
    let ran = observed.main_job()?;
    let beside = follow_ups::beside(observed, Change::TwiceTheThreads).filter(Beside::pays)?;
    let (workers, times) = (f64::from(ran.job.workers), fmt::number(beside.times));
    let sentence = format!(
        "{} could not keep the device busy: twice as many did {times} times as much with the same \
         number in flight.",
        if workers == 1.0 {
            "One thread".into()
        } else {
            format!("{} threads", fmt::count(workers))
        }
    );
    let limits = Limit::Threads { workers: workers as u64 };
    let command = Command::of(observed.plan, &ran.planned)
        .map(|command| command.workers(beside.follow_up.workers).depth(beside.follow_up.depth));
    let draft = FindingBuilder::new("B7", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .limits(limits);
    let draft = follow_ups::evidence(draft, &beside);
    Some(draft.advice("Use more threads, each with fewer operations in flight.", command).done())
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    fn busy(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 300_000.0);
        case.measured().per_worker[0].cpu_system_ns = (share * 1e10) as u64 - 1_000_000_000;
        case
    }

    #[test]
    fn a_busy_thread_is_the_limit() {
        let found = busy(0.98).found(&RULE);
        assert!(found[0].sentence.starts_with("A single core was busy 98 %"));
        assert!(proposes(&found[0], "workers=2"));
        assert_eq!(busy(0.98).judge().limit().as_deref(), Some("one CPU thread"));
    }

    #[test]
    fn an_idle_thread_and_a_polling_one_are_not() {
        assert_eq!(busy(0.5).found(&RULE), []);
        let mut polling = busy(0.98);
        polling.uring().iopoll = true;
        assert_eq!(polling.found(&RULE), []);
    }

    #[test]
    fn twice_the_threads_tell_what_cpu_time_does_not() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.after_top().weighted_ms = 19_000;
        case.follow_up(Change::TwiceTheThreads, 2, 16, 110_000.0);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "One thread could not keep the device busy: twice as many did 1.83 times as much with \
             the same number in flight."
        );
        assert!(proposes(&found[0], "workers=2"));
        assert!(proposes(&found[0], "blocks.depth=16"));
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("one thread"));
        assert!(judgement.finding("B4").is_none(), "it follows");
        case.record.follow_ups[0].measurement.of_mut(Direction::Read).ops = 40_000;
        assert_eq!(case.found(&RULE), [], "not half as much again");
        assert!(case.judge().limit().unwrap().starts_with("the path to the device"));
    }

    #[test]
    fn without_figures_it_says_so() {
        let mut case = busy(0.5);
        case.measured().per_worker.clear();
        assert!(case.lacked(&RULE).is_some());
    }
}
