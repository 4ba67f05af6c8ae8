//! C2: readahead shapes buffered reads.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::{Confidence, Finding, Weight};

use crate::command::Command;
use crate::coverage::{self, stat_of};
use crate::draft::Draft;
use crate::fmt::{self, ratio};
use crate::rule::{Outcome, Rule, RuleText};
use crate::thresholds::SPLIT;
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C2",
        title: "readahead, not the block size, shapes the requests",
        explanation: "A buffered read that looks sequential makes the kernel read ahead, in \
            pieces of its own choice (read_ahead_kb): the device sees these, whatever size the \
            application asked for, and changing the block size changes nothing. candor compares \
            the mean request of the device with the mean operation. Read directly to measure the \
            device at a size, or set readahead with the test.",
    },
    before: None,
    after,
};

fn after(view: &View) -> Outcome {
    let buffered = !view.ran.is_empty() && view.ran.iter().all(|ran| !ran.blocks.direct);
    if !buffered || !coverage::of_reads(view).is_full() {
        return Outcome::Nothing;
    }
    let Some(top) = view.working_top() else { return Outcome::Nothing };
    let app = view.app(Direction::Read);
    let operation = ratio(app.bytes, app.ops);
    let piece = ratio(top.read.bytes, top.read.requests);
    let factor = ratio(piece, operation);
    let differs = factor >= SPLIT.value || factor <= 1.0 / SPLIT.value;
    match piece > 0.0 && differs {
        true => Outcome::one(finding(view, operation, piece)),
        false => Outcome::Nothing,
    }
}

fn finding(view: &View, operation: f64, piece: f64) -> Finding {
    let tops = view.tops();
    let ahead = tops.iter().find_map(|device| device.queue.read_ahead_bytes.as_ref());
    let window = tops.iter().find_map(|device| value(&device.queue.read_ahead_bytes));
    let window = window.map_or(String::new(), |bytes| format!(" ({})", fmt::size(*bytes as f64)));
    let sentence = format!(
        "Reads of {} became requests of {} on {}: readahead{window} shapes them, not the block \
         size.",
        fmt::size(operation),
        fmt::size(piece),
        view.device_names()
    );
    let ahead =
        ahead.map(|fact| ("readahead".to_owned(), fmt::size(fact.value as f64), fact.from.clone()));
    let command = view.main_job().and_then(|job| Command::of(view.plan, &job.planned));
    Draft::new("C2", Weight::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("size of an operation", fmt::size(operation), "candor")
        .evidence("mean size of a request", fmt::size(piece), stat_of(view))
        .evidence_if(ahead)
        .advice(
            "Read directly to measure the device at this size.",
            command.map(|command| command.direct().text()),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, Setup, TestCase, fact};
    use candor_plan::Engine;

    /// Cold buffered reads of 1 MiB, of which the disk made requests of so many bytes.
    fn cold(piece: u64) -> TestCase {
        let setup = Setup {
            bs: MIB,
            ops_per_s: 500.0,
            engine: Engine::Psync,
            direct: false,
            ..Setup::default()
        };
        let mut case = setup.case();
        case.disk().queue.read_ahead_bytes = fact(8 * MIB);
        let top = case.after_top();
        top.reads = top.read_sectors * 512 / piece;
        case
    }

    #[test]
    fn pieces_of_readahead_are_told() {
        let found = cold(27 * MIB / 10).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Reads of 1 MiB became requests of 2.7 MiB on vda: readahead (8 MiB) shapes them, \
             not the block size."
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
    fn a_split_by_the_device_is_told_once() {
        let mut case = cold(MIB / 4);
        case.disk().queue.max_request_bytes = fact(MIB / 4);
        let judgement = case.judge();
        assert!(judgement.finding("C1").is_some() && judgement.finding("C2").is_none());
    }
}
