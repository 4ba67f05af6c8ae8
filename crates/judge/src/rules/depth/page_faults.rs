//! B14: buffers were faulted in while the clock ran.

use candor_plan::Engine;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, FAULTED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B14",
        title: "page faults while measuring",
        explanation: "The first access to a page of memory is a page fault: the kernel finds and \
            clears a page. A fault takes about a microsecond per 4 KiB, which can halve the rate \
            of cached or very fast reads. candor touches its own buffers before the clock starts. \
            Faults for half of the bytes moved therefore come from the setup of engine or memory. \
            Mapped files are exempt, because their reads are faults. Keep buffers, touch buffers \
            first, or use huge pages.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let page_bytes = match observed.facts.host.page_bytes {
        0 => return Outcome::lacks("the size of a page"),
        bytes => bytes as f64,
    };
    let found = observed.ran.iter().filter_map(|ran| of_job(ran, page_bytes));
    found.collect::<Vec<_>>().into()
}

fn of_job(ran: &Ran, page_bytes: f64) -> Option<Finding> {
    let workers = &ran.measured.per_worker;
    let faults: f64 = workers.iter().map(|worker| worker.faults_minor as f64).sum();
    let moved: f64 = ran.measured.directions().map(|(_, stats)| stats.bytes as f64).sum();
    let faulted = faults * page_bytes;
    let many =
        moved >= BYTES_MIN.value && faulted >= BYTES_MIN.value && faulted >= FAULTED.value * moved;
    (many && !ran.blocks.engine.is_kind_of(Engine::MMAP))
        .then(|| finding(ran, faults, ratio(faulted, moved)))
}

fn finding(ran: &Ran, faults: f64, share: f64) -> Finding {
    let sentence = format!(
        "{} page faults occurred while the clock ran, for {} of the bytes moved: the run touched \
         memory for the first time.",
        fmt::count(faults),
        fmt::percent(share)
    );
    FindingBuilder::new("B14", Severity::Caution, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("page faults without I/O", Quantity::count(faults), "getrusage ru_minflt")
        .advice("Reuse buffers that were touched before, or use huge pages.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{MIB, TestCase};

    /// The figures of cached reads into fresh pages: 16384 faults for 64 MiB.
    fn faulting(engine: Engine) -> TestCase {
        let mut case = TestCase::buffered_read();
        case.blocks().engine = engine;
        let measured = case.measured();
        measured.of_mut(Direction::Read).bytes = 64 * MIB;
        measured.per_worker[0].faults_minor = 16_384;
        case
    }

    #[test]
    fn fresh_pages_are_remarked() {
        let found = faulting(Engine::Psync).found(&RULE);
        assert!(found[0].sentence.starts_with("16.4k page faults occurred while the clock ran"));
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn mapped_files_and_a_few_faults_are_not() {
        assert_eq!(faulting(Engine::MMAP).found(&RULE), []);
        let mut case = faulting(Engine::Psync);
        case.measured().per_worker[0].faults_minor = 300;
        assert_eq!(case.found(&RULE), []);
    }
}
