//! G13: reading that writes.

use candor_plan::units::Direction;
use candor_record::facts::Filesystem;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::entry_jobs;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{ATIME, BYTES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G13",
        title: "access times were written",
        explanation: "A filesystem mounted with strictatime records the time of every access, so \
            reads make the device write. relatime, the usual choice, writes once a day, noatime \
            never. candor reports the finding if a phase only reads, the filesystem has neither \
            option, and more than 1 % of the traffic was written. Mount with noatime.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let (Some(top), true) = (observed.top, only_reads(observed)) else {
        return Outcome::Nothing;
    };
    let targets = observed.targets();
    let strict =
        targets.iter().filter_map(|target| target.filesystem.as_ref()).find(|fs| notes(fs));
    let share = ratio(top.write.bytes, top.bytes());
    let much = share > ATIME.value && top.bytes() >= BYTES_MIN.value;
    match strict {
        Some(fs) if much => Outcome::one(finding(observed, fs, share)),
        _ => Outcome::Nothing,
    }
}

/// Jobs read data or look at names, and none writes or changes anything.
fn only_reads(observed: &Observed) -> bool {
    let on_names = entry_jobs::ran(observed);
    let changes = on_names.iter().any(|names| names.entries.changes());
    let reads = !observed.ran.is_empty() || !on_names.is_empty();
    reads && !changes && !observed.does(Direction::Write)
}

/// The filesystem notes every access.
fn notes(fs: &Filesystem) -> bool {
    let has = |name: &str| fs.options.split(',').any(|option| option == name);
    has("rw") && !has("noatime") && !has("relatime") && !fs.in_memory && !fs.remote
}

fn finding(observed: &Observed, fs: &Filesystem, share: f64) -> Finding {
    let sentence = format!(
        "{} of the traffic on {} was written in a phase that only reads; {} records every access.",
        fmt::percent(share),
        observed.device_names(),
        fs.mount_point
    );
    FindingBuilder::new("G13", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("written", Quantity::share(share), stat_of(observed))
        .evidence("mount options", fs.options.clone(), "/proc/self/mountinfo")
        .advice("Mount with noatime.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn reading(options: &str, written: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let fs = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        (fs.options, fs.mount_point) = (options.into(), "/data".into());
        case.after_top().write_sectors = written / 512;
        case
    }

    #[test]
    fn strict_times_of_access_are_reported() {
        let found = reading("rw,errors=remount-ro", 12 * MIB).found(&RULE);
        assert!(found[0].sentence.starts_with("3 % of the traffic on vda was written in a phase"));
    }

    #[test]
    fn times_of_access_of_listed_directories_are_written_too() {
        let on_names = |step| {
            let mut case = TestCase::on_names(step, 5000, 900.0);
            case.host.facts.targets[0].filesystem.as_mut().unwrap().options = "rw".into();
            case.after_top().write_sectors = 4 * MIB / 512;
            case.found(&RULE).len()
        };
        use candor_plan::entries::Step;
        assert_eq!((on_names(Step::Open), on_names(Step::Create)), (1, 0));
    }

    #[test]
    fn other_mounts_and_a_little_are_silent() {
        assert_eq!(reading("rw,relatime", 12 * MIB).found(&RULE), []);
        assert_eq!(reading("rw,noatime", 12 * MIB).found(&RULE), []);
        assert_eq!(reading("rw", MIB).found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }
}
