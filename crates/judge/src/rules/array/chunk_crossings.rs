//! E2: operations and the chunk of an array.

use candor_plan::units::Direction;
use candor_record::facts::DeviceFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, SPLIT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E2",
        title: "operations cross array chunks",
        explanation: "A striped array splits operations at its chunks. An operation larger than a \
            chunk becomes several requests to several members. An operation smaller than a chunk \
            uses one member; with one operation in flight, all other members are idle. candor \
            compares the operation size with the chunk size and with the members' requests. The \
            number is correct. Use multiples of the chunk, a larger chunk, or more depth.",
    },
    stage: Stage::Member,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let app = observed.app(observed.main_op());
    if app.bytes < BYTES_MIN.value || observed.working_top().is_none() {
        return Outcome::Nothing;
    }
    let striped = observed.devices().into_iter().filter(|device| observed.is_striped(device));
    let size = ratio(app.bytes, app.ops);
    let found = striped.filter_map(|array| {
        let chunk = observed.chunk(array)?.value as f64;
        if size > chunk {
            cut(observed, array, size, chunk)
        } else {
            alone(observed, array, size, chunk)
        }
    });
    found.collect::<Vec<_>>().into()
}

/// An operation becomes several requests to the members.
fn cut(observed: &Observed, array: &DeviceFacts, size: f64, chunk: f64) -> Option<Finding> {
    let op = observed.main_op();
    let members = observed.flows_below(array)?;
    let requests: f64 = members.iter().map(|flow| flow.side(op).requests).sum();
    let busy = members.iter().filter(|flow| flow.bytes() > 0.0).count();
    let pieces = ratio(requests, observed.app(op).ops);
    if pieces < SPLIT.value {
        return None;
    }
    let sentence = format!(
        "Each {} {} became {} requests over {busy} of {} members of {} (chunk {}).",
        fmt::size(size),
        op.name(),
        fmt::number(pieces),
        array.below.len(),
        array.name,
        fmt::size(chunk)
    );
    Some(
        draft(observed, array, sentence, size)
            .evidence("requests", Quantity::count(requests), "stat")
            .done(),
    )
}

/// One operation at a time keeps one member busy. Writes with parity touch several.
fn alone(observed: &Observed, array: &DeviceFacts, size: f64, chunk: f64) -> Option<Finding> {
    let single = observed.requested() <= 1.0
        && observed.all_direct()
        && observed.main_op() == Direction::Read;
    let sentence = format!(
        "One {} read at a time keeps one of the {} members of {} busy (chunk {}); the other \
         members are idle.",
        fmt::size(size),
        array.below.len(),
        array.name,
        fmt::size(chunk)
    );
    single.then(|| draft(observed, array, sentence, size).done())
}

fn draft(observed: &Observed, array: &DeviceFacts, sentence: String, size: f64) -> FindingBuilder {
    let chunk = observed.chunk(array);
    FindingBuilder::new("E2", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("size of an operation", Quantity::bytes(size), "candor")
        .evidence_if(
            chunk.map(|c| ("chunk".into(), Quantity::bytes(c.value as f64), c.from.clone())),
        )
        .advice("Use multiples of the chunk, a larger chunk, or more depth.", None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn a_mebibyte_over_two_members() {
        let mut case = TestCase::direct(MIB, 8, 1, 200.0).on_array("raid0", &[0.5, 0.5]);
        for (_, counters) in &mut case.host.after.devices {
            counters.reads *= 16;
        }
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Each 1 MiB read became 16 requests over 2 of 2 members of md0 (chunk 64 KiB)."
        );
        assert!(case.judge().finding("C1").is_none(), "the split itself is folded into it");
    }

    #[test]
    fn a_striped_volume_names_its_chunk_otherwise() {
        let mut case = TestCase::direct(MIB, 8, 1, 200.0).on_array("linear", &[0.5, 0.5]);
        let volume = &mut case.host.facts.devices[0];
        (volume.kind, volume.array) = (candor_record::facts::DeviceKind::Dm, None);
        volume.queue.chunk_bytes = None;
        volume.queue.minimum_io_bytes = fact(65_536);
        volume.queue.optimal_io_bytes = fact(131_072);
        for (_, counters) in &mut case.host.after.devices {
            counters.reads *= 16;
        }
        assert!(case.found(&RULE)[0].sentence.ends_with("members of md0 (chunk 64 KiB)."));
        case.host.facts.devices[0].queue.optimal_io_bytes = fact(65_536);
        assert_eq!(case.found(&RULE), [], "no stripes, such as a cache and its block");
    }

    #[test]
    fn one_small_read_at_a_time_uses_one_member() {
        let case = TestCase::direct(4096, 1, 1, 10_000.0).on_array("raid0", &[0.25; 4]);
        assert!(case.found(&RULE)[0].sentence.contains("keeps one of the 4 members of md0 busy"));
    }

    #[test]
    fn depth_mirrors_and_single_disks_are_silent() {
        let deep = TestCase::direct(4096, 32, 1, 10_000.0).on_array("raid0", &[0.25; 4]);
        assert_eq!(deep.found(&RULE), []);
        let mirror = TestCase::direct(4096, 1, 1, 10_000.0).on_array("raid1", &[0.5; 2]);
        assert_eq!(mirror.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
