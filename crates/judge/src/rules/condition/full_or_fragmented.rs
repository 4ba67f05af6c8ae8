//! F8: a filesystem that is full, a file that is in pieces.

use candor_plan::units::Direction;
use candor_record::facts::{FileFacts, Filesystem, TargetFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::block_allocation;
use crate::stage::Stage;
use crate::thresholds::{FULL_FS, MAPPED, PIECES, PIECES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F8",
        title: "filesystem full or file fragmented",
        explanation: "A nearly full filesystem searches longer for blocks and finds small extents, \
            and a file in thousands of extents makes sequential work random. candor checks the \
            free space if a run's writes allocate new blocks. Writes to allocated blocks keep \
            these blocks, except on filesystems that never overwrite blocks. candor also checks \
            the extents per GiB of files accessed in order; ext4 needs 8 for a contiguous file. \
            Free space, and lay the file out again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mut found: Vec<Finding> = Vec::new();
    let written = observed.targets_of(|job| job.does(Direction::Write)).into_iter();
    let on = written.filter(|target| takes_blocks(target)).filter_map(|t| t.filesystem.as_ref());
    found.extend(on.filter_map(full).take(1));
    let read = observed.targets_of(|job| !job.blocks.access.is_random()).into_iter();
    // Extents of what may be compressed are its units, wherever they lie.
    let in_place = |target: &&TargetFacts| !target.holding().is_some_and(Filesystem::may_compress);
    let files = observed.files(&read.filter(in_place).collect::<Vec<_>>());
    let worst = files.into_iter().filter_map(|file| Some((pieces(file)?, file)));
    let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0));
    found.extend(worst.map(|(each, file)| in_pieces(file, each)));
    found.into()
}

/// Writing needs blocks that the files do not have yet.
fn takes_blocks(target: &TargetFacts) -> bool {
    // Nothing is written where it stood before.
    const COPIES: [&str; 5] = ["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];
    let copies = target.filesystem.as_ref().is_some_and(|on| COPIES.contains(&on.kind.as_str()));
    let lacks =
        |file: &FileFacts| block_allocation::mapped(file).is_none_or(|share| share < MAPPED.value);
    copies || target.files.is_empty() || target.files.iter().any(lacks)
}

fn full(on: &Filesystem) -> Option<Finding> {
    let used = 1.0 - ratio(on.available_bytes as f64, on.size_bytes as f64);
    let known = on.size_bytes > 0 && !on.remote && !on.in_memory;
    (known && used > FULL_FS.value).then(|| {
        let sentence = format!(
            "{} at {} is {} full: new writes get small extents.",
            on.kind,
            on.mount_point,
            fmt::percent(used)
        );
        FindingBuilder::new("F8", Severity::Explains, sentence)
            .confidence(Confidence::Possible)
            .evidence("free", Quantity::bytes(on.available_bytes as f64), "statvfs")
            .advice("Free space, and lay the files out again.", None)
            .done()
    })
}

/// Extents per GiB of a file that is in many pieces.
fn pieces(file: &FileFacts) -> Option<f64> {
    let extents = value(&file.extents)?;
    // Compressed extents are small by nature.
    let each = ratio(extents.count as f64, file.size_bytes as f64) * (1u64 << 30) as f64;
    let many = extents.count as f64 >= PIECES_MIN.value && extents.encoded_bytes == 0;
    (many && each > PIECES.value).then_some(each)
}

fn in_pieces(file: &FileFacts, each: f64) -> Finding {
    let count = value(&file.extents).map_or(0, |extents| extents.count);
    let sentence = format!(
        "{} has {} extents ({} per GiB): sequential access is not sequential on the device.",
        file.path,
        fmt::count(count as f64),
        fmt::count(each)
    );
    FindingBuilder::new("F8", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("extents", Quantity::count(count as f64), "FIEMAP")
        .advice("Lay the file out again on a filesystem with free space.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;
    use candor_plan::blocks::Access;

    #[test]
    fn a_file_in_pieces_is_not_in_order() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.file().extents.as_mut().unwrap().value.count = 12_400;
        assert_eq!(case.found(&RULE), [], "random reads do not mind");
        case.blocks().access = Access::Sequential;
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "/data/file has 12.4k extents (12.4k per GiB): sequential access is not sequential on \
             the device."
        );
        let on = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        on.kind = "erofs".into();
        assert_eq!(case.found(&RULE), [], "clusters of compressed data");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "ext4".into();
        case.file().extents.as_mut().unwrap().value.count = 8;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn a_full_filesystem_matters_to_writes() {
        let mut case = TestCase::direct_write();
        let on = case.host.facts.targets[0].filesystem.as_mut().unwrap();
        (on.size_bytes, on.available_bytes) = (100 << 30, 4 << 30);
        assert_eq!(case.found(&RULE), [], "what is overwritten keeps its blocks");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "btrfs".into();
        assert!(case.found(&RULE)[0].sentence.contains("is 96 % full"));
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "ext4".into();
        case.file().extents.as_mut().unwrap().value.mapped_bytes /= 2;
        assert!(case.found(&RULE)[0].sentence.contains("is 96 % full"));
        case.host.facts.targets[0].filesystem.as_mut().unwrap().available_bytes = 50 << 30;
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
