//! B3: io_uring handed operations to threads of the kernel.

use candor_plan::Engine;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B3",
        title: "io_uring used a thread pool",
        explanation: "What io_uring cannot start without waiting it hands to threads that the \
            kernel makes for it (iou-wrk-…): flushes, buffered writes that meet a full cache, \
            writes that need new blocks, anything on a filesystem or array that cannot say that \
            it would block. That costs CPU and order, and on one file the threads queue up behind \
            each other. candor looks for such threads among its own while a phase runs. Use \
            direct I/O on a file that is laid out.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !observed.ran.iter().any(|ran| ran.blocks.engine.is_kind_of(Engine::IO_URING)) {
        return Outcome::Nothing;
    }
    let snapshots = observed.host.during.iter().chain([&observed.host.after]);
    let counts: Vec<u32> = snapshots.filter_map(|snapshot| snapshot.uring_workers).collect();
    match counts.iter().max() {
        None => Outcome::lacks("the names of candor's threads (/proc/self/task/*/comm)"),
        Some(0) => Outcome::Nothing,
        Some(most) => Outcome::one(finding(*most)),
    }
}

fn finding(most: u32) -> Finding {
    let threads = fmt::plural(f64::from(most), "thread", "threads");
    let sentence = format!(
        "io_uring handed operations to {threads} of the kernel: that part ran as a thread pool."
    );
    FindingBuilder::new("B3", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence(
            "threads named iou-wrk",
            Quantity::count(f64::from(most)),
            "/proc/self/task/*/comm",
        )
        .advice("Use direct I/O on a file that is laid out and written.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn with_workers(count: Option<u32>) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 10_000.0);
        case.host.after.uring_workers = count;
        case
    }

    #[test]
    fn threads_of_the_kernel_are_reported() {
        let found = with_workers(Some(4)).found(&RULE);
        assert!(found[0].sentence.starts_with("io_uring handed operations to 4 threads"));
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn none_and_other_engines_are_silent() {
        assert_eq!(with_workers(Some(0)).found(&RULE), []);
        let mut other = with_workers(Some(4));
        other.blocks().engine = Engine::LIBAIO;
        assert_eq!(other.found(&RULE), []);
        assert!(with_workers(None).lacked(&RULE).is_some());
    }
}
