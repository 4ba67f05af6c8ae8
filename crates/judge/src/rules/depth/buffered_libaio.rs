//! B2: libaio without direct I/O is synchronous.

use candor_plan::blocks::Engine;
use candor_record::fmt::ratio;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::{Observed, Ran, busiest};
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::{Planned, SetupFacts};
use crate::stage::Stage;
use crate::thresholds::{SUBMIT_QUEUE, SUBMIT_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B2",
        title: "buffered libaio blocks",
        explanation: "The kernel's aio is asynchronous only with direct I/O. With buffered I/O, \
            each submission completes the whole operation before it returns. The other operations \
            of the queue wait in user space, and their latency is the sum of the latencies before \
            them. The time spent submitting and the queue of the device prove this after a run. \
            Use direct I/O, or io_uring.",
    },
    stage: Stage::Submission,
    limit: Some(LimitClass::Load),
    before: Some(before),
    after,
};

fn blocks(job: &Planned) -> bool {
    job.blocks.engine.is_kind_of(Engine::LIBAIO) && !job.blocks.direct && job.blocks.depth > 1
}

fn before(setup: &SetupFacts) -> Outcome {
    let found = setup.jobs.iter().filter(|job| blocks(job)).map(|job| {
        let sentence = format!(
            "Buffered libaio submits block; {} of {} requests will wait in user space.",
            job.blocks.depth - 1,
            job.blocks.depth
        );
        draft(setup, job, sentence, Confidence::Certain).done()
    });
    found.collect::<Vec<_>>().into()
}

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter(|ran| blocks(ran)).map(|ran| finding(observed, ran));
    found.collect::<Vec<_>>().into()
}

fn finding(observed: &Observed, ran: &Ran) -> Finding {
    let depth = ran.blocks.depth;
    let sentence = format!(
        "Buffered libaio submits block; {} of {depth} requests waited in user space.",
        depth - 1
    );
    let (_, stats) = busiest(ran.measured);
    let submitting = stats.submission.as_ref().zip(stats.latency.as_ref());
    let share = submitting.map(|(submit, total)| ratio(submit.mean_ns, total.mean_ns));
    let queue = observed.queue().map(|(queue, _)| queue);
    let shallow = queue.is_some_and(|q| q < SUBMIT_QUEUE.value * observed.requested());
    let proven = shallow || share.is_some_and(|share| share > SUBMIT_SHARE.value);
    let confidence = if proven { Confidence::Certain } else { Confidence::Likely };
    draft(&observed.setup, ran, sentence, confidence)
        .limits(Limit::BlockingSubmission)
        .evidence_if(share.map(|share| {
            (
                "share of the latency spent submitting".into(),
                Quantity::share(share),
                "candor".into(),
            )
        }))
        .evidence_if(queue.map(|queue| {
            let from = "/sys/class/block/*/stat: weighted time ÷ time";
            ("mean queue of the device".into(), Quantity::ratio(queue), from.into())
        }))
        .done()
}

fn draft(
    setup: &SetupFacts,
    job: &Planned,
    sentence: String,
    confidence: Confidence,
) -> FindingBuilder {
    let command = Command::of(setup.plan, job);
    FindingBuilder::new("B2", Severity::Caution, sentence)
        .job(&job.job.name)
        .confidence(confidence)
        .evidence("depth requested", Quantity::count(job.blocks.depth as f64), "plan")
        .advice(
            "Use direct I/O, or io_uring, which does not wait in the submission.",
            command.map(|command| command.deep(setup, job.blocks.depth)),
        )
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{Workload, latency};

    fn libaio(direct: bool) -> crate::testcase::TestCase {
        let workload =
            Workload { engine: Engine::LIBAIO, direct, depth: 32, ..Workload::default() };
        let mut case = workload.case();
        if !direct {
            case.after_top().weighted_ms = 5800;
            case.measured().of_mut(Direction::Read).submission = Some(latency(1000, 3.1e6));
        }
        case
    }

    #[test]
    fn buffered_libaio_is_proven_by_queue_and_submission() {
        let found = libaio(false).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Buffered libaio submits block; 31 of 32 requests waited in user space."
        );
        assert_eq!(
            (found[0].confidence, found[0].severity),
            (Confidence::Certain, Severity::Caution)
        );
        assert_eq!(found[0].evidence[2].text(), "0.58");
        assert!(libaio(false).preflight().iter().any(|finding| finding.rule == "B2"));
    }

    #[test]
    fn direct_libaio_and_buffered_uring_are_fine() {
        assert_eq!(libaio(true).found(&RULE), []);
        let uring = Workload { direct: false, depth: 32, ..Workload::default() };
        assert_eq!(uring.case().found(&RULE), []);
    }
}
