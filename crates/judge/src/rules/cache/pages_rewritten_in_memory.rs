//! A4: the same pages are overwritten in memory.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::cache::writes_stayed_in_memory::journals_data;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, OVERWRITTEN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A4",
        title: "pages overwritten in memory",
        explanation: "Writing again to a dirty page costs almost nothing: random writes to a small \
            file overwrite pages several times before the kernel writes them out once. The kernel \
            charges a page to the process when the page becomes dirty. Bytes written beyond this \
            charge were overwritten in memory. From a factor of 1.2 on, the rate shows the effect. \
            Use a larger file, write directly, or flush every few writes.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let app = observed.app(Direction::Write);
    let buffered = |ran: &crate::observed::Ran| ran.does(Direction::Write) && !ran.blocks.direct;
    let Some(ran) = observed.ran.iter().find(|ran| buffered(ran)) else { return Outcome::Nothing };
    // A journal of data keeps pages dirty, which are charged once.
    if app.bytes < BYTES_MIN.value
        || journals_data(observed)
        || !observed.ran.iter().all(|ran| !ran.does(Direction::Write) || buffered(ran))
    {
        return Outcome::Nothing;
    }
    // Filesystems without a device, FUSE for one, charge in ways of their own.
    let charged = observed
        .process(Direction::Write)
        .filter(|_| observed.targets().iter().all(|t| t.device.is_some()));
    let Some(charged) = charged else {
        return Outcome::lacks("the bytes that the kernel charged to this process (/proc/self/io)");
    };
    // A page is charged whole, so that small writes are charged more than they wrote.
    let times = ratio(app.bytes, charged + observed.slack_bytes(Direction::Write));
    if charged >= BYTES_MIN.value && times > OVERWRITTEN.value {
        return Outcome::one(finding(observed, ran, app.bytes, charged));
    }
    Outcome::Nothing
}

fn finding(observed: &Observed, ran: &crate::observed::Ran, written: f64, charged: f64) -> Finding {
    let sentence = format!(
        "Each page was written {}× in memory for each time it was written to storage.",
        fmt::number(ratio(written, charged))
    );
    let command = Command::of(observed.plan, &ran.planned);
    FindingBuilder::new("A4", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("bytes written", Quantity::bytes(written), "candor")
        .evidence(
            "bytes charged for storage",
            Quantity::bytes(charged),
            "/proc/self/io write_bytes",
        )
        .advice(
            "Use a larger file, write directly, or flush every few writes.",
            command.map(|command| command.direct(observed)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload, proposes};
    use candor_plan::blocks::Engine;

    fn buffered(charged: f64) -> TestCase {
        let workload = Workload {
            op: Direction::Write,
            engine: Engine::Psync,
            direct: false,
            ops_per_s: 20_000.0,
            ..Workload::default()
        };
        let mut case = workload.case();
        let io = case.host.after.process_io.as_mut().unwrap();
        io.write_bytes = (io.write_bytes as f64 * charged) as u64;
        case
    }

    #[test]
    fn what_was_charged_once_was_written_three_times() {
        let found = buffered(1.0 / 3.1).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Each page was written 3.1× in memory for each time it was written to storage."
        );
        assert!(proposes(&found[0], "direct=true"));
    }

    #[test]
    fn writes_that_stayed_in_memory_take_it_along() {
        let mut case = TestCase::buffered_write();
        case.host.after.process_io.as_mut().unwrap().write_bytes /= 3;
        assert!(!case.judge().rules().contains(&"A4"));
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn writes_that_are_all_charged_and_direct_ones_are_silent() {
        assert_eq!(buffered(1.0).found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
        let mut case = buffered(1.0);
        case.host.after.process_io = None;
        assert!(case.lacked(&RULE).is_some());
        // Seen on Linux 6.18: 105 MB written once, 29 MB charged.
        let mut journal = buffered(1.0 / 3.7);
        let on = journal.host.facts.targets[0].filesystem.as_mut().unwrap();
        on.options = "rw,data=journal".into();
        assert_eq!(journal.found(&RULE), []);
    }
}
