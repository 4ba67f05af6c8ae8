//! B17: polling on a device that has nothing to poll.

use candor_record::facts::value;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B17",
        title: "the device does not poll",
        explanation: "Polled I/O (iopoll of io_uring, hipri of pvsync) needs driver queues \
            reserved for polling; nvme has none unless loaded with poll_queues. Without poll \
            queues the kernel refuses such operations or completes them by interrupt, and the \
            result does not measure polling. candor reads queue/io_poll of the devices. Load the \
            driver with poll queues, or run without polling.",
    },
    stage: Stage::Apart,
    limit: None,
    before: Some(before),
    after,
};

fn before(setup: &SetupFacts) -> Outcome {
    let jobs: Vec<_> = setup.jobs.iter().filter(|job| job.polls()).collect();
    let Some(job) = jobs.first() else { return Outcome::Nothing };
    let leaves = setup.leaves();
    let polls: Vec<_> =
        leaves.iter().filter_map(|device| value(&device.queue.io_poll)).copied().collect();
    match (polls.is_empty(), polls.contains(&false)) {
        (true, _) => Outcome::lacks("the polling support of the device (queue/io_poll)"),
        (false, false) => Outcome::Nothing,
        (false, true) => Outcome::one(finding(setup, &job.job.name)),
    }
}

fn after(observed: &Observed) -> Outcome {
    before(&observed.setup)
}

fn finding(setup: &SetupFacts, job: &str) -> Finding {
    let leaves = setup.leaves();
    let mute = leaves.iter().filter(|device| value(&device.queue.io_poll) == Some(&false));
    let names: Vec<_> = mute.map(|device| device.name.as_str()).collect();
    let names = names.join(", ");
    let sentence = format!("Polling was requested, but {names} has no poll queues.");
    FindingBuilder::new("B17", Severity::Caution, sentence)
        .job(job)
        .confidence(Confidence::Certain)
        .evidence("can poll", "no", format!("/sys/class/block/{names}/queue/io_poll"))
        .advice(
            "Load the driver with poll queues (nvme.poll_queues), or run without polling.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn polling(can: Option<bool>) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.uring().iopoll = true;
        case.disk().queue.io_poll = can.and_then(fact);
        case
    }

    #[test]
    fn a_device_without_poll_queues_is_remarked_before_and_after() {
        let case = polling(Some(false));
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "Polling was requested, but vda has no poll queues.");
        assert_eq!(case.preflight().len(), 1);
    }

    #[test]
    fn devices_that_poll_and_jobs_that_do_not_are_silent() {
        assert_eq!(polling(Some(true)).found(&RULE), []);
        assert!(polling(None).lacked(&RULE).is_some());
        let mut case = polling(Some(false));
        case.uring().iopoll = false;
        assert_eq!(case.found(&RULE), []);
    }
}
