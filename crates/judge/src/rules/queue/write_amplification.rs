//! C11: the device wrote more than was written.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{AMPLIFIED, BYTES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C11",
        title: "device wrote more than asked",
        explanation: "Journals, copies, checksums and metadata are written beside the data: ext4 \
            with data=journal writes every byte twice, a small write that is made durable brings \
            its journal blocks along. candor compares what the device wrote, the final flush \
            included, with what the application wrote; from 1.2 on it says so. The rate of the \
            application stands, the device did more. Another file system or the raw device shows \
            the difference.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let app = observed.app(Direction::Write).bytes;
    if app < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let end = observed.host.after_flush.as_ref().unwrap_or(&observed.host.after);
    let Some(flow) = Flow::between(&observed.tops(), &observed.host.before, end) else {
        return Outcome::lacks("what the device wrote");
    };
    // What was in flight when counting began is the device's, not the application's.
    let written = flow.write.bytes - observed.slack_bytes(Direction::Write);
    let factor = ratio(written, app);
    match factor > AMPLIFIED.value {
        true => Outcome::one(finding(observed, flow.write.bytes, app)),
        false => Outcome::Nothing,
    }
}

fn finding(observed: &Observed, written: f64, app: f64) -> Finding {
    let sentence = format!(
        "{} wrote {} bytes for each byte of ours.",
        observed.device_names(),
        fmt::number(ratio(written, app))
    );
    let targets = observed.targets();
    let options = targets.iter().find_map(|target| target.filesystem.as_ref());
    let options = options.map(|fs| (format!("options of {}", fs.kind), fs.options.clone()));
    let options = options.filter(|(_, options)| !options.is_empty());
    FindingBuilder::new("C11", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("written by the application", Quantity::bytes(app), "candor")
        .evidence("written by the device", Quantity::bytes(written), stat_of(observed))
        .evidence_if(options.map(|(what, value)| (what, value, "/proc/self/mountinfo".into())))
        .advice("Compare with the raw device, or with another journal mode.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, moved};

    #[test]
    fn a_journal_of_data_writes_everything_twice() {
        let mut case = TestCase::direct_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 200_000, 2 * bytes));
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "vda wrote 2 bytes for each byte of ours.");
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn the_final_flush_counts() {
        let mut case = TestCase::direct_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        let mut flushed = case.host.after.clone();
        flushed.devices[0].1 = moved(Direction::Write, 200_000, 2 * bytes);
        case.host.after_flush = Some(flushed);
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn metadata_and_absorbed_writes_are_silent() {
        let mut case = TestCase::direct_write();
        case.after_top().write_sectors += 10 * MIB / 512;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::buffered_write().found(&RULE), []);
    }
}
