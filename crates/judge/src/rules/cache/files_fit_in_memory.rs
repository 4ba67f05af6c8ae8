//! A7: a working set that memory can hold.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::{self, Cover};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::TIMES_MEMORY;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A7",
        title: "the files fit into memory",
        explanation: "Buffered reads of files that fit into memory become faster with each cached \
            page. The result depends on earlier reads and on the run time. Use files of at least \
            twice the memory available for the cache; MLPerf requires five times. candor compares \
            the files with the available memory and with the limit of the control group. candor \
            reports the finding if some bytes did not come from the device. Use a larger set, or \
            run inside a control group with little memory.",
    },
    stage: Stage::CacheState,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let buffered = |job: &crate::setup::Planned| job.does(Direction::Read) && !job.blocks.direct;
    if !observed.jobs.iter().any(buffered) {
        return Outcome::Nothing;
    }
    let cover = coverage::of_reads(observed);
    if cover == Cover::Small || cover.is_full() {
        return Outcome::Nothing;
    }
    let targets = observed.targets_of(buffered);
    let size: f64 = targets.iter().map(|target| target.files_bytes()).sum();
    let Some((memory, from)) = memory(observed) else {
        return Outcome::lacks("the memory available to cache the files");
    };
    let fits = size > 0.0 && size < TIMES_MEMORY.value * memory;
    if fits { Outcome::one(finding(size, memory, &from)) } else { Outcome::Nothing }
}

/// Memory that may cache files, and who says so.
fn memory(observed: &Observed) -> Option<(f64, String)> {
    let host = &observed.facts.host;
    // The kernel does not count what the run occupies as available; the group's limit holds it too.
    let occupied = host.memory_occupied.map_or(0, |memory| memory.bytes);
    let known = [(&host.memory_available_bytes, 0), (&host.cgroup.memory_max_bytes, occupied)];
    let known = known.into_iter().filter_map(|(fact, occupied)| {
        let bytes = value(fact)?.saturating_sub(occupied);
        Some((bytes as f64, fact.as_ref()?.from.clone()))
    });
    known.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn finding(size: f64, memory: f64, from: &str) -> Finding {
    let how = match ratio(memory, size) {
        times if times >= 1.0 => format!("fit {}× into", fmt::number(times)),
        _ => "are less than twice".into(),
    };
    let sentence = format!(
        "The {} of files {how} the {} of memory available to cache them; results depend on the \
         cached share.",
        fmt::size(size),
        fmt::size(memory)
    );
    FindingBuilder::new("A7", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("files together", Quantity::bytes(size), "stat")
        .evidence("memory available for the cache", Quantity::bytes(memory), from)
        .advice(
            "Use files of at least twice the memory, or a control group with little memory.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, Workload, fact};
    use candor_plan::blocks::Engine;

    fn half_cached(available_mib: u64) -> TestCase {
        let mut case =
            Workload { engine: Engine::Psync, direct: false, ..Workload::default() }.case();
        case.host.facts.host.memory_available_bytes = fact(available_mib * MIB);
        case.process_read(200 * MIB);
        case
    }

    #[test]
    fn files_that_fit_explain_a_mixed_result() {
        let found = half_cached(4096).found(&RULE);
        assert!(
            found[0].sentence.starts_with("The 1 GiB of files fit 4× into the 4 GiB of memory"),
            "{}",
            found[0].sentence
        );
        assert!(!half_cached(4096).judge().rules().contains(&"A7"), "A1 takes it along");
        assert!(half_cached(700).found(&RULE)[0].sentence.contains("are less than twice the"));
    }

    #[test]
    fn large_files_cold_ones_and_direct_reads_are_silent() {
        assert_eq!(half_cached(400).found(&RULE), []);
        let mut small = half_cached(4096);
        small.host.facts.host.cgroup.memory_max_bytes = fact(96 * MIB);
        assert_eq!(small.found(&RULE), [], "the control group keeps it cold");
        let mut cold = half_cached(4096);
        cold.process_read(1 << 40);
        assert_eq!(cold.found(&RULE), []);
        let mut direct = half_cached(4096);
        direct.blocks().direct = true;
        assert_eq!(direct.found(&RULE), []);
        let mut unknown = half_cached(4096);
        unknown.host.facts.host.memory_available_bytes = None;
        assert!(unknown.lacked(&RULE).is_some());
    }
}
