//! G11: tracing requests slowed them down.

use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::requests::RequestStats;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{OBSERVED, OBSERVED_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G11",
        title: "tracing cost time",
        explanation: "The programs that trace single requests run at submission and at completion \
            of a request, half a microsecond each time; a thread attaches and detaches them. \
            candor adds up both costs and divides by the workers' time: the length of the phase \
            for each worker, or for each CPU if the host has fewer CPUs. The result is the minimum \
            by which operations became longer. CPU time is not the base: for workers that wait for \
            a device or a CPU, tracing costs almost no time. From 2 % on, the severity is caution \
            for phases of half a second or more. --block-trace auto stays within a quarter of a \
            percent of a CPU, --block-trace off traces nothing.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let Some(trace) = &observed.host.requests else { return Outcome::Nothing };
    let took_ns = trace.cost.events_ns as f64 + trace.cost.thread_ns as f64;
    let share = ratio(took_ns, workers_ns(observed));
    if share < OBSERVED.value || observed.elapsed_s() < OBSERVED_S.value {
        Outcome::Nothing
    } else {
        Outcome::one(finding(observed, trace, share))
    }
}

/// The time that the workers had, on CPUs of which there are only so many.
fn workers_ns(observed: &Observed) -> f64 {
    let workers: f64 = observed.ran.iter().map(|ran| f64::from(ran.job.workers)).sum();
    let cpus = value(&observed.facts.host.cpus).map_or(workers, |cpus| f64::from(*cpus));
    workers.min(cpus) * observed.elapsed_s() * 1e9
}

fn finding(observed: &Observed, trace: &RequestStats, share: f64) -> Finding {
    let cost = trace.cost;
    let sentence = format!(
        "Tracing {} requests took {} of the workers' time: the rate is higher without tracing.",
        fmt::count(trace.requests.iter().map(|of| of.count as f64).sum()),
        fmt::percent(share)
    );
    let each = format!(
        "an estimate, {} each",
        fmt::time(ratio(cost.events_ns as f64, cost.events as f64))
    );
    let thread = Quantity::ns(cost.thread_ns as f64);
    let command = observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned));
    FindingBuilder::new("G11", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("events traced", Quantity::count(cost.events as f64), trace.method.clone())
        .evidence("time spent tracing", Quantity::ns(cost.events_ns as f64), each)
        .evidence("CPU time of the tracer's thread", thread, "its own clock")
        .advice(
            "Trace only some of the requests (--block-trace auto), or none (--block-trace off).",
            command.map(Command::block_trace_auto),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{Requests, TracerCost};

    use super::*;
    use crate::testcase::{TestCase, Workload, proposes};

    /// 4 KiB reads of zram by so many workers on two CPUs, with so many events each second.
    fn traced(workers: u32, events_per_s: u64) -> TestCase {
        let mut case =
            Workload { workers, ops_per_s: 292_271.0, ..Workload::default() }.case().on_zram();
        let events = events_per_s * 10;
        let cost = TracerCost { events, events_ns: events * 500, thread_ns: 10_000_000 };
        let requests = vec![Requests { count: events / 2, ..Requests::default() }];
        let method = "BPF on raw tracepoints".into();
        case.host.requests =
            Some(RequestStats { method, cost, requests, ..RequestStats::default() });
        case
    }

    #[test]
    fn every_request_of_a_fast_device_is_dear() {
        let case = traced(1, 584_542);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Tracing 2.92M requests took 29 % of the workers' time: the rate is higher without \
             tracing."
        );
        assert_eq!(found[0].evidence[1].source, "an estimate, 500 ns each");
        assert!(proposes(&found[0], "--block-trace=auto"));
        assert!(case.judge().finding("G11").is_some(), "whatever the device is");
    }

    #[test]
    fn the_time_of_workers_is_what_they_had_of_it() {
        let sentence = |case: TestCase| case.found(&RULE)[0].sentence.clone();
        let two = sentence(traced(2, 584_542));
        assert!(two.contains("took 15 %"), "{two}");
        assert_eq!(two, sentence(traced(8, 584_542)), "there are two CPUs");
    }

    #[test]
    fn few_requests_a_budget_and_no_look_cost_nothing() {
        assert_eq!(traced(1, 30_000).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 300_000.0).found(&RULE), []);
        assert_eq!(traced(0, 0).found(&RULE), []);
        let mut burst = traced(1, 30_000);
        burst.measured().elapsed_ns = 100_000_000;
        assert_eq!(burst.found(&RULE), []);
    }
}
