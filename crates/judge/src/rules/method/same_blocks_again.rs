//! G10: the same few blocks again and again.

use candor_plan::Bytes;
use candor_plan::units::Direction;
use candor_record::facts::{FileFacts, PathKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, REPEATED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G10",
        title: "same blocks read repeatedly",
        explanation: "A small range read many times fits into every cache below Linux: the drive's \
            own memory, a controller's cache, the memory of a virtual machine's host. No kernel \
            counter shows such a cache. candor divides the size of the range by the bytes read, \
            and reports a value below a fifth. File extents shared between the files (reflinks) \
            count once. Read from a range that no cache below can hold.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    // Where the device did not do the work, there is a cache to name above it.
    if !coverage::of_reads(observed).is_full() {
        return Outcome::Nothing;
    }
    let found = observed.ran.iter().filter_map(|ran| of_job(observed, ran));
    found.collect::<Vec<_>>().into()
}

fn of_job(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let read = ran.measured.of(Direction::Read).bytes as f64;
    let range = range(observed, ran)?;
    let few = read >= BYTES_MIN.value && range < REPEATED.value * read;
    (few && ran.does(Direction::Read)).then(|| finding(ran, read, range))
}

/// Bytes that the job may have read from: of its files or devices, or of the part it was given.
fn range(observed: &Observed, ran: &Ran) -> Option<f64> {
    let mut sum = 0.0;
    for name in &ran.job.targets {
        let target = observed.facts.targets.iter().find(|target| target.target == *name)?;
        let device = observed.facts.device(&target.device.as_ref()?.value);
        let length = ran.blocks.range.length;
        let part = |size: u64| length.map_or(size, |part| part.of(Bytes(size)).0.min(size)) as f64;
        sum += match target.kind {
            PathKind::Device => part(device?.size_bytes),
            _ => {
                let each: f64 = target.files.iter().map(|file| part(stored(file))).sum();
                // Nobody knows which parts are shared.
                let shared = value(&target.shared_bytes).filter(|_| length.is_none());
                (each - shared.map_or(0.0, |bytes| *bytes as f64)) * target.files_each()
            }
        };
    }
    (sum > 0.0).then_some(sum)
}

/// Bytes of a file that lie in places of their own.
fn stored(file: &FileFacts) -> u64 {
    let repeated = value(&file.extents).map_or(0, |extents| extents.repeated_bytes);
    file.size_bytes.saturating_sub(repeated)
}

fn finding(ran: &Ran, read: f64, range: f64) -> Finding {
    let sentence = format!(
        "{} were read from {}, {} times over: caches below Linux may have answered some reads.",
        fmt::size(read),
        fmt::size(range),
        fmt::number(ratio(read, range))
    );
    FindingBuilder::new("G10", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Possible)
        .evidence("bytes read", Quantity::bytes(read), "candor")
        .evidence("bytes to read from", Quantity::bytes(range), "size of the targets")
        .advice("Read from a range that no cache below can hold.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase};

    #[test]
    fn a_small_file_read_many_times_is_reported() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.file().size_bytes = 256 * MIB;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "2.29 GiB were read from 256 MiB, 9.16 times over: caches below Linux may have \
             answered some reads."
        );
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn a_range_of_a_large_file_is_what_counts() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.file().size_bytes = 100 << 30;
        assert_eq!(case.found(&RULE), []);
        case.blocks().range.length = Some(candor_plan::units::Extent::Bytes(Bytes(64 * MIB)));
        assert_eq!(case.found(&RULE).len(), 1);
    }

    #[test]
    fn parts_of_a_file_that_share_a_place_are_read_again_and_again() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.file().size_bytes = 4096 * MIB;
        assert_eq!(case.found(&RULE), []);
        case.file().extents.as_mut().unwrap().value.repeated_bytes = 4032 * MIB;
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.starts_with("2.29 GiB were read from 64 MiB"), "{sentence}");
    }

    #[test]
    fn files_that_share_their_blocks_are_as_few_as_these() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.file().size_bytes = 64 * MIB;
        let target = &mut case.host.facts.targets[0];
        target.files = vec![target.files[0].clone(); 32];
        target.files_in_all = Some(32);
        assert_eq!(case.found(&RULE), []);
        let shared = candor_record::facts::Fact::new(31 * 64 * MIB, "FIEMAP of 32 files");
        case.host.facts.targets[0].shared_bytes = Some(shared);
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.starts_with("2.29 GiB were read from 64 MiB"), "{sentence}");
    }

    #[test]
    fn files_that_were_looked_at_stand_for_all_of_a_set() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.file().size_bytes = MIB;
        let target = &mut case.host.facts.targets[0];
        target.files = vec![target.files[0].clone(); 32];
        assert_eq!(case.found(&RULE).len(), 1);
        case.host.facts.targets[0].files_in_all = Some(2000);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn cached_reads_have_a_cache_of_their_own() {
        let mut case = TestCase::buffered_read();
        case.file().size_bytes = 64 * MIB;
        assert_eq!(case.found(&RULE), []);
    }
}
