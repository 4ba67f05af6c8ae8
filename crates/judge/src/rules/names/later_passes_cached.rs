//! H5: later passes over the same data came from memory.

use candor_plan::blocks::Access;
use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{
    Confidence, Finding, Limit, LimitClass, MeasuredInstead, PhaseRecord, Quantity, Severity,
};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage::{self, Cover};
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::series::{self, Second};
use crate::stage::Stage;
use crate::thresholds::{
    BYTES_MIN, CACHED_AT_START, COVERAGE_FULL, COVERAGE_MEMORY, PASSES, READ_ONCE,
};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H5",
        title: "later passes came from memory",
        explanation: "A pass over data leaves the data in the page cache, and the next pass reads \
            it from the cache. The epochs of a training job after the first then measure memory, \
            unless the data is several times larger than memory. candor compares the bytes read \
            with the size of the files and with the bytes that this process fetched. If storage \
            supplied each byte once, however often it was read, all but the first pass came from \
            memory. Between phases and repeats candor compares their fetched bytes. Use data of \
            five times the memory, limit the memory (a control group), or evict the files before \
            each pass.",
    },
    stage: Stage::KnownCache,
    limit: Some(LimitClass::Memory),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let reads = observed.does(Direction::Read) && !observed.does(Direction::Write);
    if !reads || observed.ran.iter().any(|ran| ran.blocks.direct) {
        return Outcome::Nothing;
    }
    // Where nobody knows, A1 says what is lacking.
    let Cover::Known { share, bytes, .. } = coverage::of_reads(observed) else {
        return Outcome::Nothing;
    };
    let within = within(observed, bytes).map(|passes| within_phase(observed, &passes));
    within
        .or_else(|| before(observed, share).map(|first| after_phase(observed, first)))
        .map_or(Outcome::Nothing, Outcome::one)
}

/// Several passes of which storage gave one.
struct Passes {
    /// Bytes of the files.
    size: f64,
    /// How often they were read.
    count: f64,
    /// Bytes that storage gave.
    fetched: f64,
}

/// Passes within the phase: the files were not cached at its start, and what was fetched is about
/// their size and still cached at its end, although they were read more often. Skewed accesses make
/// no passes, and what left the cache meanwhile (in a small control group) was fetched more often.
fn within(observed: &Observed, fetched: f64) -> Option<Passes> {
    let cache = observed.host.before.cache?;
    let (size, cached) = (cache.size_bytes as f64, cache.resident_bytes as f64);
    let whole = observed.ran.iter().all(|ran| ran.blocks.range == Default::default());
    let count = ratio(observed.app(Direction::Read).bytes, size);
    let cold = cached <= CACHED_AT_START.value * size;
    let once = fetched >= READ_ONCE.value * size && fetched <= size / COVERAGE_FULL.value;
    let enough = size >= BYTES_MIN.value && count >= PASSES.value;
    let kept =
        observed.host.after.cache.is_none_or(|cache| {
            cache.resident_bytes as f64 >= COVERAGE_FULL.value * fetched.min(size)
        });
    let even = observed.ran.iter().all(|ran| is_even(&ran.blocks.access));
    (whole && cold && once && enough && kept && even).then_some(Passes { size, count, fetched })
}

/// Each block is read about as often as any other.
fn is_even(access: &Access) -> bool {
    use Access::*;
    !matches!(access, Zipf { .. } | Pareto { .. } | Normal { .. } | Zoned { .. } | HotBand { .. })
}

/// An earlier phase over the same data that fetched what it read, where this one did not.
fn before<'a>(observed: &Observed<'a>, share: f64) -> Option<&'a PhaseRecord> {
    fn from_storage(report: &&PhaseRecord) -> bool {
        let of = |at: &candor_record::Snapshot| at.process_io.map(|io| io.read_bytes);
        let read: u64 = report.measurements.iter().map(|m| m.of(Direction::Read).bytes).sum();
        let fetched = of(&report.host().after).zip(of(&report.host().before));
        let fetched = fetched.and_then(|(after, before)| after.checked_sub(before));
        read as f64 >= BYTES_MIN.value
            && fetched.is_some_and(|bytes| bytes as f64 >= COVERAGE_FULL.value * read as f64)
    }
    if share >= COVERAGE_MEMORY.value {
        return None;
    }
    observed.judged_before().filter(|report| reads_alike(observed, report)).find(from_storage)
}

/// The other job read the same targets through the page cache and wrote nothing.
fn reads_alike(observed: &Observed, report: &PhaseRecord) -> bool {
    let Some(phase) = observed.phase_of(report) else { return false };
    let blocks = || phase.jobs.iter().filter_map(|job| job.blocks());
    let reads = blocks().all(|b| b.mix.write == 0 && !b.direct) && blocks().count() > 0;
    let same = |ran: &Ran| {
        ran.job.targets.iter().all(|name| phase.jobs.iter().any(|job| job.targets.contains(name)))
    };
    reads && observed.ran.iter().all(same)
}

fn within_phase(observed: &Observed, passes: &Passes) -> Finding {
    let size = fmt::size(passes.size);
    let rates = rates(observed, passes.size).map_or(String::new(), |(first, later)| {
        format!(": {} before, {} after", fmt::rate(first), fmt::rate(later))
    });
    let sentence = format!(
        "The {size} of data were read {} times over, and storage supplied {}: all but the first \
         pass came from memory{rates}.",
        fmt::number(passes.count),
        fmt::size(passes.fetched)
    );
    let in_order = observed.ran.iter().all(|ran| !ran.blocks.access.is_random());
    let command = command(observed);
    let (advice, command) = if in_order {
        ("drop the pages before each pass", command.map(Command::invalidate))
    } else {
        ("read directly", command.map(|command| command.direct(observed)))
    };
    draft(sentence)
        .advice(format!("{LARGE}, or {advice}."), command)
        .evidence("bytes read", Quantity::bytes(observed.app(Direction::Read).bytes), "candor")
        .evidence(
            "bytes fetched from storage",
            Quantity::bytes(passes.fetched),
            "/proc/self/io read_bytes",
        )
        .evidence("size of the files", size, "stat")
        .done()
}

/// Bytes per second in the full intervals of the first pass and in those after it, where passes
/// follow each other.
fn rates(observed: &Observed, size: f64) -> Option<(f64, f64)> {
    let [ran] = observed.ran.as_slice() else { return None };
    let seconds = series::seconds(ran.measured, |op| op == Direction::Read);
    let (first, rest): (Vec<Second>, Vec<Second>) =
        seconds.into_iter().partition(|second| second.bytes_so_far < size);
    // The interval in which the first pass ended belongs to both.
    let (first, later) = (mean(&first)?, mean(rest.get(1..)?)?);
    (!ran.blocks.access.is_random()).then_some((first, later))
}

fn mean(seconds: &[Second]) -> Option<f64> {
    let rates: Vec<f64> = seconds.iter().map(|second| second.bytes_per_s).collect();
    (!rates.is_empty()).then(|| candor_stats::mean(&rates))
}

fn after_phase(observed: &Observed, first: &PhaseRecord) -> Finding {
    let rate = |report: &PhaseRecord| {
        fn of(m: &candor_record::Measurement) -> f64 {
            ratio(m.of(Direction::Read).bytes as f64, m.elapsed_ns as f64)
        }
        report.measurements.iter().map(of).sum::<f64>() * 1e9
    };
    let now = fmt::rate(observed.bytes_per_s(Direction::Read));
    let sentence = format!(
        "Phase {} read the same data from storage, at {}; this pass read it from memory: {now} is \
         not the speed of {}.",
        first.name,
        fmt::rate(rate(first)),
        observed.device_names()
    );
    draft(sentence)
        .advice(
            format!("{LARGE}, or evict the files before each pass."),
            command(observed).map(Command::evict),
        )
        .evidence("first pass", Quantity::bytes_per_s(rate(first)), "candor")
        .evidence("this pass", now, "candor")
        .done()
}

const LARGE: &str = "Read data of five times the memory";

fn command<'a>(observed: &Observed<'a>) -> Option<Command<'a>> {
    observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned))
}

fn draft(sentence: String) -> FindingBuilder {
    FindingBuilder::new("H5", Severity::Wrong, sentence)
        .confidence(Confidence::Certain)
        .measures(MeasuredInstead::LaterPasses)
        .limits(Limit::LaterPasses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, Workload, proposes};
    use candor_plan::blocks::Engine;

    /// Sequential buffered reads of a file of 1 GiB, so many bytes of them from storage.
    fn reading(gib: u64, fetched_mib: u64) -> TestCase {
        let workload = Workload {
            engine: Engine::Psync,
            direct: false,
            bs: MIB,
            ops_per_s: gib as f64 * 102.4,
            ..Workload::default()
        };
        let mut case = workload.case();
        case.blocks().access = Access::Sequential;
        case.process_read(fetched_mib * MIB);
        case.host.after.cache.as_mut().unwrap().resident_bytes = fetched_mib * MIB;
        case
    }

    #[test]
    fn four_passes_of_which_one_came_from_storage() {
        let mut case = reading(4, 1024);
        // The first 3 s at 300 MiB/s, the rest of it and three passes in the seven after.
        for (i, sample) in case.measured().samples.iter_mut().enumerate() {
            sample.of_mut(Direction::Read).bytes = if i < 3 { 300 * MIB } else { 450 * MIB };
        }
        let judgement = case.judge();
        assert_eq!(judgement.rules()[0], "H5");
        assert!(judgement.finding("A1").is_none(), "it follows from it");
        let found = &judgement.findings[0];
        assert_eq!(
            found.sentence,
            "The 1 GiB of data were read 4 times over, and storage supplied 1 GiB: all but the \
             first pass came from memory: 315 MB/s (300 MiB/s) before, 472 MB/s (450 MiB/s) after."
        );
        assert_eq!(judgement.limited_by, found.limits);
        assert!(proposes(found, "hints.invalidate=true"), "the files were cold before: {found:?}");
        case.blocks().access = Access::Random;
        assert!(proposes(&case.found(&RULE)[0], "blocks.direct=true"), "no pass begins");
    }

    #[test]
    fn hot_blocks_are_no_passes_nor_is_what_did_not_stay_in_the_cache() {
        let mut zipf = reading(4, 1024);
        zipf.blocks().access = Access::Zipf { theta: 1.2, center_percent: None };
        assert_eq!(zipf.found(&RULE), []);
        let mut small = reading(2, 1000);
        small.blocks().access = Access::Random;
        assert_eq!(small.found(&RULE).len(), 1);
        small.host.after.cache.as_mut().unwrap().resident_bytes = 500 * MIB;
        assert_eq!(small.found(&RULE), [], "half of it was fetched twice");
    }

    #[test]
    fn a_repeat_that_found_everything_in_memory() {
        let mut case = reading(1, 0);
        case.earlier = vec![reading(1, 1024).recorded()];
        case.earlier[0].name = "epoch".into();
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.starts_with("Phase epoch read the same data from storage"), "{sentence}");
        assert!(proposes(&case.found(&RULE)[0], "hints.evict=true"));
        case.earlier = vec![reading(1, 10).recorded()];
        assert_eq!(case.found(&RULE), [], "the one before was memory, too");
    }

    #[test]
    fn one_pass_passes_from_storage_and_what_was_cached_before_are_silent() {
        assert_eq!(reading(1, 1024).found(&RULE), []);
        assert_eq!(reading(4, 4096).found(&RULE), []);
        let mut warm = reading(4, 0);
        warm.host.before.cache.as_mut().unwrap().resident_bytes = 1024 * MIB;
        assert_eq!(warm.found(&RULE), [], "that is A1's");
        assert_eq!(TestCase::direct(MIB, 1, 1, 1000.0).found(&RULE), []);
    }
}
