//! C11: the device wrote more than was written.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::flow::Flow;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{AMPLIFIED, BYTES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C11",
        title: "device wrote more than requested",
        explanation: "Journals, copies, checksums and metadata are written in addition to the \
            data: ext4 with data=journal writes every byte twice, and a small durable write also \
            writes its journal blocks. candor compares the bytes written by the device, the final \
            flush included, with the application's bytes. From 1.2 on candor reports the factor, \
            unless other processes write to this device or may do so, as to the root filesystem. \
            The rate of the application is correct; the device did more. Compare with another \
            filesystem or the raw device.",
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
        return Outcome::lacks("the bytes written by the device");
    };
    // What was in flight when counting began is the device's, not the application's.
    let written = flow.write.bytes - observed.slack_bytes(Direction::Write);
    let is_amplified = ratio(written, app) > AMPLIFIED.value;
    if is_amplified && !foreign::may_write(observed) {
        Outcome::one(finding(observed, flow.write.bytes, app))
    } else {
        Outcome::Nothing
    }
}

fn finding(observed: &Observed, written: f64, app: f64) -> Finding {
    let sentence = format!(
        "{} wrote {} bytes for each byte of this run.",
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
    use candor_record::IdleWindow;
    use candor_record::requests::{Issuer, RequestOp, RequestStats, Requests};

    use super::*;
    use crate::testcase::{MIB, TestCase, moved};

    #[test]
    fn a_journal_of_data_writes_everything_twice() {
        let mut case = TestCase::direct_write();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 200_000, 2 * bytes));
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "vda wrote 2 bytes for each byte of this run.");
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

    /// Loops of other sessions lie on the same root filesystem, and the kernel writes for them.
    #[test]
    fn what_others_may_have_written_is_not_ours() {
        fn twice() -> TestCase {
            let mut case = TestCase::direct_write();
            let bytes = case.record.measurements[0].of(Direction::Write).bytes;
            case.after_disk(moved(Direction::Write, 200_000, 2 * bytes));
            case
        }
        let mut root = twice();
        root.host.facts.targets[0].filesystem.as_mut().unwrap().mount_point = "/".into();
        assert_eq!(root.found(&RULE), []);
        let mut traced = twice();
        let by = |pid, command: &str| Issuer { pid, command: command.into(), count: 9, bytes: 900 };
        let mut see = |issuers| {
            let direction = RequestOp::Write;
            let device = "vda".to_owned();
            let seen = Requests { device, direction, bytes: 1800, issuers, ..Requests::default() };
            let requests = vec![seen];
            traced.host.requests =
                Some(RequestStats { own_pid: 7, requests, ..Default::default() });
            traced.found(&RULE).len()
        };
        assert_eq!(see(vec![by(7, "candor"), by(9, "rsync")]), 0);
        assert_eq!(see(vec![by(7, "candor"), by(90, "jbd2/vda-8")]), 1);
        let mut idle = twice();
        let before = idle.host.before.clone();
        let mut after = before.clone();
        after.at_ns += 500_000_000;
        after.devices[0].1 = moved(Direction::Write, 100, 40 * MIB);
        idle.host.idle = Some(IdleWindow { before, after });
        assert_eq!(idle.found(&RULE), []);
    }

    #[test]
    fn metadata_and_absorbed_writes_are_silent() {
        let mut case = TestCase::direct_write();
        case.after_top().write_sectors += 10 * MIB / 512;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::buffered_write().found(&RULE), []);
    }
}
