//! A18: reads through a mapping are page faults.

use candor_plan::blocks::Engine;
use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::BYTES_MIN;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A18",
        title: "mapped reads are page faults",
        explanation: "I/O on a mapped file makes no read calls: the processor hits a missing page, \
            and the kernel loads the page with its neighbours. A major fault waited for storage, a \
            minor fault found the page in memory, and most accesses cause no fault. candor reports \
            the shares. The bytes charged to the process still show the bytes from storage. Advise \
            the kernel of random access, or use an engine that reads.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mapped = observed.ran.iter().filter(|ran| ran.blocks.engine.is_kind_of(Engine::MMAP));
    mapped.filter_map(of).collect::<Vec<_>>().into()
}

fn of(ran: &Ran) -> Option<Finding> {
    let reads = ran.measured.of(Direction::Read);
    let major: f64 = ran.measured.per_worker.iter().map(|w| w.faults_major as f64).sum();
    let minor: f64 = ran.measured.per_worker.iter().map(|w| w.faults_minor as f64).sum();
    let counted =
        ran.does(Direction::Read) && reads.bytes as f64 >= BYTES_MIN.value && major + minor > 0.0;
    counted.then(|| {
        let sentence = format!(
            "Reads happened through page faults: {} for {} reads, {} of them major.",
            fmt::count(major + minor),
            fmt::count(reads.ops as f64),
            fmt::percent(ratio(major, major + minor))
        );
        FindingBuilder::new("A18", Severity::Explains, sentence)
            .job(&ran.job.name)
            .confidence(Confidence::Certain)
            .evidence("faults that waited for storage", Quantity::count(major), "getrusage")
            .evidence("faults served from memory", Quantity::count(minor), "getrusage")
            .advice("Advise random access, or use an engine that reads.", None)
            .done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload};

    #[test]
    fn faults_are_reported_by_kind() {
        let workload = Workload { engine: Engine::MMAP, direct: false, ..Workload::default() };
        let mut case = workload.case();
        assert_eq!(case.found(&RULE), [], "no fault, nothing to tell");
        let worker = &mut case.measured().per_worker[0];
        (worker.faults_major, worker.faults_minor) = (12_000, 88_000);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "Reads happened through page faults: 100k for 100k reads, 12 % of them major."
        );
    }

    #[test]
    fn other_engines_are_silent() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.measured().per_worker[0].faults_minor = 5000;
        assert_eq!(case.found(&RULE), []);
    }
}
