//! B1: a synchronous engine ignores depth.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::{Planned, SetupFacts};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B1",
        title: "one operation per thread",
        explanation: "pread, pwrite and memory mappings return when the operation is done, so one \
            thread never has two operations in flight, whatever depth was requested. A run with \
            psync and depth 32 is a run with depth 1. Request more workers, or use io_uring or \
            libaio with direct I/O.",
    },
    stage: Stage::Engine,
    limit: Some(LimitClass::Load),
    before: Some(before),
    after,
};

fn ignores(job: &&Planned) -> bool {
    !job.blocks.engine.takes_many() && job.blocks.depth > 1
}

fn before(setup: &SetupFacts) -> Outcome {
    let found = setup.jobs.iter().filter(ignores).map(|job| {
        let sentence = format!(
            "{} keeps one I/O per thread; depth {} will be ignored.",
            job.blocks.engine.name(),
            job.blocks.depth
        );
        draft(setup, job, sentence).done()
    });
    found.collect::<Vec<_>>().into()
}

fn after(observed: &Observed) -> Outcome {
    let alone = observed.jobs.len() == 1 && observed.all_direct();
    let queue = observed.queue().map(|(queue, _)| queue).filter(|_| alone);
    let found = observed.jobs.iter().filter(ignores).map(|job| finding(observed, job, queue));
    found.collect::<Vec<_>>().into()
}

fn finding(observed: &Observed, job: &Planned, queue: Option<f64>) -> Finding {
    let seen = queue.map_or(String::new(), |q| format!(" (queue {})", fmt::number(q)));
    let sentence = format!(
        "{} keeps one I/O per thread; depth {} was ignored{seen}.",
        job.blocks.engine.name(),
        job.blocks.depth
    );
    let seen = queue.map(|queue| {
        let from = "/sys/class/block/*/stat: weighted time ÷ time";
        ("mean queue of the device".into(), Quantity::ratio(queue), from.into())
    });
    let limits = Limit::SynchronousEngine { workers: u64::from(job.job.workers) };
    draft(&observed.setup, job, sentence).limits(limits).evidence_if(seen).done()
}

fn draft(setup: &SetupFacts, job: &Planned, sentence: String) -> FindingBuilder {
    let depth = job.blocks.depth;
    let command = Command::of(setup.plan, job).map(|command| command.deep(setup, depth));
    FindingBuilder::new("B1", Severity::Caution, sentence)
        .job(&job.job.name)
        .confidence(Confidence::Certain)
        .evidence("depth requested", Quantity::count(depth as f64), "plan")
        .evidence("workers", Quantity::count(job.job.workers as f64), "plan")
        .advice(
            format!("Request {depth} workers, or use an asynchronous engine with direct I/O."),
            command,
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{Workload, proposes};
    use candor_plan::blocks::Engine;

    #[test]
    fn psync_with_depth_32_has_one_in_flight() {
        let workload = Workload { engine: Engine::Psync, depth: 32, ..Workload::default() };
        let mut case = workload.case();
        case.after_top().weighted_ms = 6800;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "psync keeps one I/O per thread; depth 32 was ignored (queue 0.68)."
        );
        assert!(proposes(&found[0], "blocks.engine=io_uring"));
        assert!(case.preflight()[0].sentence.contains("will be ignored"));
        assert_eq!(case.judge().limit().as_deref(), Some("one request at a time"));
    }

    #[test]
    fn asynchronous_engines_and_depth_one_are_fine() {
        for engine in [Engine::LIBAIO, Engine::IO_URING] {
            assert_eq!(
                Workload { engine, depth: 32, ..Workload::default() }.case().found(&RULE),
                []
            );
        }
        let one = Workload { engine: Engine::Psync, ..Workload::default() };
        assert_eq!(one.case().found(&RULE), []);
    }
}
