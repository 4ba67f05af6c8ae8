//! B1: a synchronous engine ignores depth.

use candor_record::{Confidence, Finding, Weight};

use crate::command::Command;
use crate::draft::Draft;
use crate::fmt;
use crate::ground::{Ground, Planned};
use crate::rule::{Outcome, Rule, RuleText};
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B1",
        title: "the engine keeps one operation per thread",
        explanation: "pread, pwrite and memory mappings return when the operation is done, so one \
            thread never has two in flight, whatever depth was asked for. A run with psync and \
            depth 32 is a run with depth 1. Ask for more workers, or use io_uring or libaio with \
            direct I/O.",
    },
    before: Some(before),
    after,
};

fn ignores(job: &&Planned) -> bool {
    !job.blocks.engine.takes_many() && job.blocks.depth > 1
}

fn before(ground: &Ground) -> Outcome {
    let found = ground.jobs.iter().filter(ignores).map(|job| {
        let sentence = format!(
            "{} keeps one I/O per thread; depth {} will be ignored.",
            job.blocks.engine.name(),
            job.blocks.depth
        );
        draft(ground, job, sentence).done()
    });
    found.collect::<Vec<_>>().into()
}

fn after(view: &View) -> Outcome {
    let alone = view.jobs.len() == 1 && view.all_direct();
    let queue = view.queue().map(|(queue, _)| queue).filter(|_| alone);
    let found = view.jobs.iter().filter(ignores).map(|job| finding(view, job, queue));
    found.collect::<Vec<_>>().into()
}

fn finding(view: &View, job: &Planned, queue: Option<f64>) -> Finding {
    let seen = queue.map_or(String::new(), |q| format!(" (queue {})", fmt::number(q)));
    let sentence = format!(
        "{} keeps one I/O per thread; depth {} was ignored{seen}.",
        job.blocks.engine.name(),
        job.blocks.depth
    );
    let seen = queue.map(|queue| {
        let from = "/sys/class/block/*/stat: weighted time ÷ time";
        ("mean queue of the device".into(), fmt::number(queue), from.into())
    });
    let limits = match job.job.workers {
        0 | 1 => "one request at a time".into(),
        workers => format!("one request at a time in each of {workers} threads"),
    };
    draft(&view.ground, job, sentence).limits(limits).evidence_if(seen).done()
}

fn draft(ground: &Ground, job: &Planned, sentence: String) -> Draft {
    let depth = job.blocks.depth;
    let command = Command::of(ground.plan, job).map(|command| command.deep(depth).text());
    Draft::new("B1", Weight::Remark, sentence)
        .job(&job.job.name)
        .confidence(Confidence::Certain)
        .evidence("depth asked for", depth.to_string(), "plan")
        .evidence("workers", job.job.workers.to_string(), "plan")
        .advice(
            format!("Ask for {depth} workers, or use an asynchronous engine with direct I/O."),
            command,
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::Setup;
    use candor_plan::blocks::Engine;

    #[test]
    fn psync_with_depth_32_has_one_in_flight() {
        let setup = Setup { engine: Engine::Psync, depth: 32, ..Setup::default() };
        let mut case = setup.case();
        case.after_top().weighted_ms = 6800;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "psync keeps one I/O per thread; depth 32 was ignored (queue 0.68)."
        );
        assert!(found[0].next.as_ref().unwrap().contains("--depth 32"));
        assert!(case.ahead()[0].sentence.contains("will be ignored"));
        assert_eq!(case.judge().limited_by.as_deref(), Some("one request at a time"));
    }

    #[test]
    fn asynchronous_engines_and_depth_one_are_fine() {
        for engine in [Engine::LIBAIO, Engine::IO_URING] {
            assert_eq!(Setup { engine, depth: 32, ..Setup::default() }.case().found(&RULE), []);
        }
        let one = Setup { engine: Engine::Psync, ..Setup::default() };
        assert_eq!(one.case().found(&RULE), []);
    }
}
