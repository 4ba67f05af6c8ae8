//! C2: readahead shapes buffered reads.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage::{self, stat_of};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::SPLIT;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C2",
        title: "readahead shapes the requests",
        explanation: "For a sequential buffered read the kernel reads ahead, with its own request \
            size (read_ahead_kb). The device sees these requests, whatever size the application \
            requested, and a change of the block size changes nothing. candor compares the mean \
            request of the device with the mean operation. Read directly to measure the device at \
            a size, or set readahead with the test.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let buffered = !observed.ran.is_empty() && observed.ran.iter().all(|ran| !ran.blocks.direct);
    if !buffered || !coverage::of_reads(observed).is_full() {
        return Outcome::Nothing;
    }
    let Some(top) = observed.working_top() else { return Outcome::Nothing };
    let app = observed.app(Direction::Read);
    let operation = ratio(app.bytes, app.ops);
    let piece = ratio(top.read.bytes, top.read.requests);
    let factor = ratio(piece, operation);
    let differs = factor >= SPLIT.value || factor <= 1.0 / SPLIT.value;
    if piece > 0.0 && differs {
        Outcome::one(finding(observed, operation, piece))
    } else {
        Outcome::Nothing
    }
}

fn finding(observed: &Observed, operation: f64, piece: f64) -> Finding {
    let tops = observed.tops();
    let ahead = tops.iter().find_map(|device| device.queue.read_ahead_bytes.as_ref());
    let window = tops.iter().find_map(|device| value(&device.queue.read_ahead_bytes));
    let window = window.map_or(String::new(), |bytes| format!(" ({})", fmt::size(*bytes as f64)));
    let sentence = format!(
        "Reads of {} became requests of {} on {}: readahead{window} determines the size, not the \
         block size.",
        fmt::size(operation),
        fmt::size(piece),
        observed.device_names()
    );
    let ahead = ahead.map(|fact| {
        ("readahead".to_owned(), Quantity::bytes(fact.value as f64), fact.from.clone())
    });
    let command = observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned));
    FindingBuilder::new("C2", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("size of an operation", Quantity::bytes(operation), "candor")
        .evidence("mean size of a request", Quantity::bytes(piece), stat_of(observed))
        .evidence_if(ahead)
        .advice(
            "Read directly to measure the device at this size.",
            command.map(|command| command.direct(observed)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, Workload, fact};
    use candor_plan::Engine;
    use candor_plan::blocks::Access;

    /// Cold buffered reads of 1 MiB, of which the disk made requests of so many bytes.
    fn cold(piece: u64) -> TestCase {
        let workload = Workload {
            bs: MIB,
            ops_per_s: 500.0,
            engine: Engine::Psync,
            direct: false,
            ..Workload::default()
        };
        let mut case = workload.case();
        case.blocks().access = Access::Sequential;
        case.disk().queue.read_ahead_bytes = fact(8 * MIB);
        let top = case.after_top();
        top.reads = top.read_sectors * 512 / piece;
        case
    }

    #[test]
    fn pieces_of_readahead_are_reported() {
        let found = cold(27 * MIB / 10).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Reads of 1 MiB became requests of 2.7 MiB on vda: readahead (8 MiB) determines the \
             size, not the block size."
        );
        assert_eq!(cold(MIB / 8).found(&RULE).len(), 1);
    }

    #[test]
    fn the_same_size_direct_reads_and_cached_ones_are_silent() {
        assert_eq!(cold(MIB).found(&RULE), []);
        let mut direct = cold(4 * MIB);
        direct.blocks().direct = true;
        assert_eq!(direct.found(&RULE), []);
        assert_eq!(TestCase::buffered_read().found(&RULE), []);
    }

    #[test]
    fn a_split_by_the_device_is_reported_once() {
        let mut case = cold(MIB / 4);
        case.disk().queue.max_request_bytes = fact(MIB / 4);
        let judgement = case.judge();
        assert!(judgement.finding("C1").is_some() && judgement.finding("C2").is_none());
    }
}
