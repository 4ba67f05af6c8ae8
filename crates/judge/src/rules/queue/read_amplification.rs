//! C14: the device read more than was read.

use candor_plan::units::Direction;
use candor_record::facts::{Filesystem, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{AMPLIFIED, BYTES_MIN, FETCHED_MORE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C14",
        title: "device read more than requested",
        explanation: "A read through the page cache fetches more than it returns: whole pages, \
            neighbours by readahead, and whole blocks of a filesystem that compresses. A squashfs \
            with blocks of 1 MiB read 148 bytes for each byte of random 4 KiB reads. candor \
            compares the bytes that the kernel charged to this process (/proc/self/io read_bytes) \
            with the bytes read; from 1.2 on candor reports the factor, for phases that only read. \
            The rate of the application is correct; the device did more. Read in the size of these \
            blocks, or advise random access.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let read = observed.moved(Direction::Read).bytes;
    // A write of a part of a block reads the block first.
    let only_reads = observed.moved(Direction::Write).bytes == 0.0;
    if read < BYTES_MIN.value || !only_reads {
        return Outcome::Nothing;
    }
    let (Some(charged), Some(top)) = (observed.process(Direction::Read), observed.top) else {
        return Outcome::lacks("/proc/self/io and the counters of the device");
    };
    // Pages of programs are charged too, and lie on other devices.
    let fetched = charged.min(top.read.bytes);
    let more = fetched - read - ahead(observed);
    let factor = ratio(fetched, read);
    if factor > AMPLIFIED.value && more >= FETCHED_MORE.value {
        Outcome::one(finding(observed, fetched, read))
    } else {
        Outcome::Nothing
    }
}

/// Bytes that readahead may have fetched behind the end of each stream.
fn ahead(observed: &Observed) -> f64 {
    let tops = observed.tops();
    let windows = tops.iter().filter_map(|device| value(&device.queue.read_ahead_bytes));
    2.0 * windows.max().map_or(0.0, |bytes| *bytes as f64) * observed.concurrency().max(1.0)
}

fn finding(observed: &Observed, fetched: f64, read: f64) -> Finding {
    let packed = packed(observed);
    let blocks = packed.map_or(String::new(), |on| {
        format!(" ({} reads whole blocks of {})", on.kind, fmt::size(on.block_bytes as f64))
    });
    let sentence = format!(
        "{} read {} bytes for each requested byte{blocks}.",
        observed.device_names(),
        fmt::number(ratio(fetched, read))
    );
    let job = observed.main_job().filter(|ran| ran.blocks.access.is_random() && packed.is_none());
    let command = job.and_then(|job| Command::of(observed.plan, &job.planned));
    let advice = match packed {
        Some(_) => {
            "Read in the size of these blocks, or create the filesystem with smaller blocks."
        }
        None => "Advise random access, or read more at a time.",
    };
    FindingBuilder::new("C14", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("bytes read", Quantity::bytes(read), "candor")
        .evidence("bytes fetched", Quantity::bytes(fetched), "/proc/self/io read_bytes")
        .evidence_if(coverage::device_evidence(observed, Direction::Read))
        .advice(advice, command.map(Command::advise_random))
        .done()
}

/// The filesystem whose blocks are larger than operations and are read as a whole.
fn packed<'a>(observed: &Observed<'a>) -> Option<&'a Filesystem> {
    let reads = observed.app(Direction::Read);
    let operation = ratio(reads.bytes, reads.ops);
    let mut on = observed.targets().into_iter().filter_map(|target| target.holding());
    on.find(|on| on.may_compress() && on.block_bytes as f64 > operation)
}

#[cfg(test)]
mod tests {
    use candor_plan::Engine;

    use super::*;
    use crate::testcase::{MIB, TestCase, fact, proposes};

    fn fetched(reads: u64, bytes: u64) -> TestCase {
        TestCase::fetched(reads, bytes / MIB, bytes)
    }

    #[test]
    fn whole_blocks_of_squashfs_are_named() {
        let mut case = fetched(600, 365_000_000);
        let on = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        (on.kind, on.block_bytes) = ("squashfs".into(), MIB);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "vda read 149 bytes for each requested byte (squashfs reads whole blocks of 1 MiB)."
        );
        assert_eq!((found[0].severity, found[0].changes.len()), (Severity::Explains, 0));
    }

    #[test]
    fn readahead_of_a_mapping_is_seen() {
        let mut case = fetched(12_000, 268_400_000);
        case.blocks().engine = Engine::MMAP;
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("vda read 5.46 bytes for each"), "{found:?}");
        assert!(proposes(&found[0], "hints.advice=random"));
    }

    #[test]
    fn cold_passes_others_and_the_end_of_readahead_are_silent() {
        assert_eq!(fetched(65_536, 65_536 << 12).found(&RULE), []);
        // Another process reads on that disk.
        let mut others = fetched(65_536, 65_536 << 12);
        others.after_top().read_sectors *= 3;
        assert_eq!(others.found(&RULE), []);
        // Programs came from another disk.
        let mut pages = fetched(65_536, 65_536 << 12);
        pages.process_read(65_536 << 13);
        assert_eq!(pages.found(&RULE), []);
        let mut ahead = fetched(2560, 26 * MIB);
        assert_eq!(ahead.found(&RULE).len(), 1);
        ahead.disk().queue.read_ahead_bytes = fact(8 * MIB);
        assert_eq!(ahead.found(&RULE), []);
        let mut direct = TestCase::direct(4096, 1, 1, 10_000.0);
        assert_eq!(direct.found(&RULE), []);
        direct.host.after.process_io = None;
        assert!(direct.lacked(&RULE).is_some());
    }

    #[test]
    fn pages_that_writes_need_first_are_no_amplification() {
        let mut case = TestCase::direct_write();
        case.process_read(1 << 30);
        case.after_top().read_sectors = (1 << 30) / 512;
        assert_eq!(case.found(&RULE), []);
    }
}
