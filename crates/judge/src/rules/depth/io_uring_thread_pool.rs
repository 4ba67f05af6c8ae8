//! B3: io_uring handed operations to threads of the kernel.

use candor_plan::Engine;
use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::PUNTED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B3",
        title: "io_uring used a thread pool",
        explanation: "io_uring passes operations that it cannot start without blocking to kernel \
            threads (iou-wrk-…). Such operations are flushes, buffered writes to a full cache, and \
            writes that need new blocks. On a filesystem or array without support for non-blocking \
            I/O, all operations go to threads. The threads cost CPU and order, and on one file \
            they wait for each other. candor searches its own threads for such threads during a \
            phase. candor reports the finding if they moved 5 % of the bytes, or flushes are 5 % \
            of the operations. Use direct I/O on a file that is laid out.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let uring = |ran: &&Ran| ran.blocks.engine.is_kind_of(Engine::IO_URING);
    if !observed.ran.iter().any(|ran| uring(&ran)) {
        return Outcome::Nothing;
    }
    let snapshots = || observed.host.during.iter().chain([&observed.host.after]);
    let counts: Vec<u32> = snapshots().filter_map(|snapshot| snapshot.uring_workers).collect();
    let Some(most) = counts.into_iter().max() else {
        return Outcome::lacks("the names of candor's threads (/proc/self/task/*/comm)");
    };
    if most == 0 {
        return Outcome::Nothing;
    }
    let Some(share) = moved_by_threads(observed) else {
        return Outcome::lacks("the bytes that io_uring's threads moved (/proc/self/task/*/io)");
    };
    let flushes = flushes(observed);
    if share.max(flushes) >= PUNTED.value {
        Outcome::one(finding(most, share, flushes))
    } else {
        Outcome::Nothing
    }
}

/// Share of the bytes that io_uring's threads moved.
pub fn moved_by_threads(observed: &Observed) -> Option<f64> {
    let snapshots = observed.host.during.iter().chain([&observed.host.after]);
    // Threads end when they have nothing to do, and take their counts with them.
    let bytes = snapshots.filter_map(|snapshot| snapshot.uring_worker_bytes).max()?;
    let before = observed.host.before.uring_worker_bytes.unwrap_or(0);
    Some(ratio(bytes.saturating_sub(before) as f64, observed.app_all().bytes).min(1.0))
}

/// Flushes among all operations: io_uring hands each to a thread.
fn flushes(observed: &Observed) -> f64 {
    let uring = observed.ran.iter().filter(|ran| ran.blocks.engine.is_kind_of(Engine::IO_URING));
    let counts = uring.map(|ran| {
        let flushes = ran.measured.figure(Figure::Flush).ops as f64;
        (flushes, flushes + ran.measured.ops_done() as f64)
    });
    let (flushes, all) = counts.fold((0.0, 0.0), |(f, a), (of, all)| (f + of, a + all));
    ratio(flushes, all)
}

fn finding(most: u32, share: f64, flushes: f64) -> Finding {
    let threads = fmt::plural(f64::from(most), "thread", "threads");
    let what = if share >= PUNTED.value {
        format!("{} of the bytes", fmt::percent(share))
    } else {
        format!("the flushes, {} of the operations,", fmt::percent(flushes))
    };
    let sentence = format!(
        "io_uring passed {what} to {threads} of the kernel: this work ran as a thread pool."
    );
    // A flush moves no bytes, and the kernel charges those of a buffered write to its writer.
    let evidence = if share >= PUNTED.value {
        ("share of bytes moved by threads", share, "/proc/self/task/*/io")
    } else {
        ("share of flushes in all operations", flushes, "candor")
    };
    let (quantity, part, from) = evidence;
    FindingBuilder::new("B3", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence(
            "threads named iou-wrk",
            Quantity::count(f64::from(most)),
            "/proc/self/task/*/comm",
        )
        .evidence(quantity, Quantity::share(part), from)
        .advice("Use direct I/O on a file that is laid out and written.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    /// So many threads, and such a share of the bytes.
    fn with_workers(count: Option<u32>, share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 10_000.0);
        case.host.after.uring_workers = count;
        let bytes = case.observed().app_all().bytes;
        case.host.after.uring_worker_bytes = Some((share * bytes) as u64);
        case
    }

    #[test]
    fn threads_of_the_kernel_are_reported_with_their_share() {
        let found = with_workers(Some(4), 0.64).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "io_uring passed 64 % of the bytes to 4 threads of the kernel: this work ran as a \
             thread pool."
        );
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn a_few_operations_and_other_engines_are_silent() {
        assert_eq!(with_workers(Some(0), 0.0).found(&RULE), []);
        assert_eq!(with_workers(Some(2), 0.004).found(&RULE), []);
        let mut other = with_workers(Some(4), 0.64);
        other.blocks().engine = Engine::LIBAIO;
        assert_eq!(other.found(&RULE), []);
        assert!(with_workers(None, 0.0).lacked(&RULE).is_some());
        let mut unknown = with_workers(Some(4), 0.64);
        unknown.host.after.uring_worker_bytes = None;
        assert!(unknown.lacked(&RULE).is_some());
    }

    #[test]
    fn flushes_move_no_bytes_and_count() {
        let mut case = with_workers(Some(1), 0.0);
        let ops = case.measured().ops_done();
        let fsync = candor_plan::work::BlocksOp::Fsync.operation();
        case.measured().operation_mut(fsync).ops = ops;
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("the flushes, 50 % of the operations,"), "{found:?}");
        assert_eq!(found[0].evidence[1].quantity, "share of flushes in all operations");
    }
}
