//! A8: reading holes.

use candor_record::facts::{FileFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::cache::unread_ranges::{self, Verdict};
use crate::setup::SetupFacts;
use crate::stage::Stage;
use crate::thresholds::{HOLES_MOST, MAPPED, UNREAD_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A8",
        title: "reads of holes",
        explanation: "A sparse file has a length, but no blocks in ranges that were never written. \
            A read of such a hole returns zeros at the speed of memory, also with O_DIRECT. candor \
            reads the mapped ranges of the files from the filesystem (FIEMAP, else st_blocks); \
            with less than 99 % mapped, the test may read holes. If the bytes really fetched cover \
            the reads, the test read no holes and candor reports nothing. Write the file once, \
            with data that does not compress.",
    },
    stage: Stage::Content,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

/// Bytes of holes and of everything, and whether the extents say so.
fn holes(files: &[&FileFacts]) -> (f64, f64, bool) {
    let mut exact = true;
    let mut sums = (0.0, 0.0);
    for file in files {
        let mapped = match value(&file.extents) {
            Some(extents) => extents.mapped_bytes,
            None => {
                exact = false;
                file.allocated_bytes
            }
        };
        sums.0 += file.size_bytes.saturating_sub(mapped) as f64;
        sums.1 += file.size_bytes as f64;
    }
    (sums.0, sums.1, exact)
}

fn share(setup: &SetupFacts) -> Option<(f64, f64, bool)> {
    let (holes, size, exact) = holes(&unread_ranges::read_files(setup));
    let share = ratio(holes, size);
    (share > 1.0 - MAPPED.value).then_some((share, holes, exact))
}

fn before(setup: &SetupFacts) -> Outcome {
    let Some((share, holes, exact)) = share(setup).filter(|_| setup.written_by().is_none()) else {
        return Outcome::Nothing;
    };
    let heavy = exact && share >= UNREAD_SHARE.value;
    let severity = if heavy { Severity::Wrong } else { Severity::Caution };
    let sentence =
        format!("{} of the data set are holes; reads of holes need no disk.", fmt::percent(share));
    Outcome::one(finding(severity, sentence, share, holes, exact))
}

fn after(observed: &Observed) -> Outcome {
    let at_start = share(&observed.setup);
    // Another process may have punched holes meanwhile.
    let later = observed.host.later_facts.last();
    let at_end = later.and_then(|later| share(&observed.setup.with(&later.facts)));
    let size = |of: &Option<(f64, f64, bool)>| of.map_or(0.0, |(share, ..)| share);
    let is_punched = size(&at_end) > size(&at_start);
    let found = if is_punched { at_end } else { at_start };
    let Some((share, holes, exact)) = found else { return Outcome::Nothing };
    let severity = match unread_ranges::verdict(observed, share, exact) {
        Verdict::Untouched => return Outcome::Nothing,
        Verdict::Caution => Severity::Caution,
        Verdict::Decides => Severity::Wrong,
    };
    let mixed = if share < HOLES_MOST.value { "a mix of memory and" } else { "not the speed of" };
    let are = if is_punched {
        "were holes at the end, made by another process during the phase"
    } else {
        "are holes"
    };
    let sentence = format!(
        "{} of the data set {are}; reads of holes need no disk, so {} is {mixed} {}.",
        fmt::percent(share),
        fmt::rate(observed.bytes_per_s(candor_plan::units::Direction::Read)),
        observed.device_names()
    );
    Outcome::one(finding(severity, sentence, share, holes, exact))
}

fn finding(severity: Severity, sentence: String, share: f64, holes: f64, exact: bool) -> Finding {
    let (confidence, from) = if exact {
        (Confidence::Certain, "FIEMAP")
    } else {
        (Confidence::Possible, "stat: st_blocks")
    };
    let draft = FindingBuilder::new("A8", severity, sentence)
        .confidence(confidence)
        .evidence("bytes without blocks", Quantity::bytes(holes), from)
        .advice("Write the file once with random data: layout = \"write\".", None);
    match severity {
        Severity::Wrong if share < HOLES_MOST.value => {
            draft.measures(MeasuredInstead::MemoryAndDevice)
        }
        Severity::Wrong => draft.measures(MeasuredInstead::Holes).limits(Limit::Holes),
        _ => draft,
    }
    .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;
    use candor_plan::blocks::{SegmentDeal, Share, Verify};
    use candor_plan::units::Direction;
    use candor_record::{LaterFacts, VerifyStats};

    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn sparse(percent: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 1_400_000.0);
        let mapped = 1024 * MIB / 100 * (100 - percent);
        case.file().extents.as_mut().unwrap().value.mapped_bytes = mapped;
        case.process_read(0);
        case
    }

    #[test]
    fn direct_reads_of_holes_are_not_the_disk() {
        let found = sparse(61).found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.starts_with("61 % of the data set are holes"));
        assert!(sparse(61).preflight().iter().any(|finding| finding.rule == "A8"));
    }

    #[test]
    fn holes_that_another_process_made_meanwhile_are_holes() {
        let mut case = sparse(0);
        let mut facts = sparse(80).host.facts;
        facts.targets[0].files[0].path = case.file().path.clone();
        assert_eq!(case.found(&RULE), []);
        let later = LaterFacts { unchanged_at_ns: 0, at_ns: 10_000_000_000, facts };
        case.host.later_facts.push(later);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong);
        assert!(found[0].sentence.starts_with("80 % of the data set were holes at the end"));
        case.process_read(case.record.measurements[0].of(Direction::Read).bytes);
        assert_eq!(case.found(&RULE), [], "all bytes came from the device");
    }

    #[test]
    fn a_tenth_of_holes_is_a_mix() {
        let found = sparse(10).found(&RULE);
        assert_eq!(found[0].measures, Some(MeasuredInstead::MemoryAndDevice));
        assert!(found[0].sentence.ends_with("is a mix of memory and vda."), "{found:?}");
        assert_eq!(sparse(90).found(&RULE)[0].measures, Some(MeasuredInstead::Holes));
    }

    #[test]
    fn holes_that_were_not_read_and_full_files_are_silent() {
        let mut case = sparse(61);
        case.process_read(1 << 50);
        assert_eq!(case.found(&RULE), []);
        assert_eq!(sparse(0).found(&RULE), []);
    }

    #[test]
    fn holes_that_cannot_have_been_read_are_silent() {
        let mut checked = sparse(61);
        checked.blocks().verify = Some(Verify::default());
        checked.measured().verify = Some(VerifyStats { blocks: 1 << 50, ..VerifyStats::default() });
        assert_eq!(checked.found(&RULE), []);
        checked.measured().verify = Some(VerifyStats { blocks: 1, ..VerifyStats::default() });
        assert_eq!(checked.found(&RULE).len(), 1, "others were not checked");
        let mut counted = sparse(61);
        let deal = SegmentDeal::ByRank;
        counted.blocks().share = Share::Segments { block: Bytes(1 << 20), count: 4, deal };
        assert_eq!(counted.found(&RULE).len(), 1);
        counted.plan.phases[0].stop.ops = Some(100);
        assert_eq!(counted.found(&RULE), [], "it ends where the writes did");
    }

    #[test]
    fn blocks_alone_are_weak_evidence() {
        let mut case = sparse(61);
        case.file().extents = None;
        case.file().allocated_bytes = 0;
        case.host.after.process_io = None;
        case.host.facts.targets[0].device = None;
        let found = case.found(&RULE);
        assert_eq!(
            (found[0].severity, found[0].confidence),
            (Severity::Caution, Confidence::Possible)
        );
    }
}
