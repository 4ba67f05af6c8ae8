//! C3: operations are merged on the way to the device.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::flow::Side;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, MERGED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C3",
        title: "operations are merged",
        explanation: "The kernel merges adjacent waiting operations before they reach the device. \
            The device then sees fewer and larger requests than the application issued. Merges \
            increase the rate, but mislead if the test should measure the device at one size. \
            candor reads the kernel's count of merges, for direct operations. candor instead \
            compares the sizes of its requests from the block tracer in three cases: other \
            processes use the device, writes are made durable (the journal writes, too), or one \
            operation is in flight. From a fifth on candor reports the merges. Use random offsets, \
            one operation in flight, or queue/nomerges for the test.",
    },
    stage: Stage::Artefact,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.ran.is_empty()
        || !observed.all_direct()
        || observed.app_all().bytes < BYTES_MIN.value
    {
        return Outcome::Nothing;
    }
    let ops = [Direction::Read, Direction::Write].into_iter();
    if foreign::matters(observed) || !counts_ours(observed) {
        let merged = ops.filter_map(|op| Some((op, own(observed, op)?)));
        let merged = merged.filter(|(op, side)| is_merged(observed, *op, *side));
        let from = "requests that candor issued, by the block tracer";
        let found = merged.map(|(op, side)| finding(observed, op, side, from));
        return found.collect::<Vec<_>>().into();
    }
    let Some(top) = observed.top else {
        return Outcome::lacks("the number of requests of the device");
    };
    let merged = ops.filter(|op| is_merged(observed, *op, top.side(*op)));
    let found = merged.map(|op| finding(observed, op, top.side(op), &stat_of(observed)));
    found.collect::<Vec<_>>().into()
}

/// The kernel's count of merges is one of our operations: several are in flight, so that two can
/// meet, and no journal writes for them.
fn counts_ours(observed: &Observed) -> bool {
    let durable = observed.ran.iter().any(|ran| ran.does(Direction::Write) && ran.durable());
    observed.concurrency() > 1.0 && !durable
}

fn is_merged(observed: &Observed, op: Direction, side: Side) -> bool {
    let ours = observed.app(op).bytes >= BYTES_MIN.value;
    ours && ratio(side.merges, side.merges + side.requests) > MERGED.value
}

/// Our own requests to the only device on top, and how many operations they are fewer than.
fn own(observed: &Observed, op: Direction) -> Option<Side> {
    let [device] = observed.tops()[..] else { return None };
    let side = foreign::own_requests(observed, &device.name, op)?;
    let app = observed.app(op);
    let operations = ratio(side.bytes * app.ops, app.bytes);
    Some(Side { merges: (operations - side.requests).max(0.0), ..side })
}

fn finding(observed: &Observed, op: Direction, side: Side, from: &str) -> Finding {
    let app = observed.app(op);
    let operation = fmt::size(ratio(app.bytes, app.ops));
    let request = fmt::size(ratio(side.bytes, side.requests));
    let sentence = format!(
        "{operation} {}s were merged into requests of {request} on {}.",
        op.name(),
        observed.device_names()
    );
    FindingBuilder::new("C3", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("merged", Quantity::count(side.merges), from)
        .evidence("requests", Quantity::count(side.requests), from)
        .advice("To measure the device at this size, use random offsets or queue/nomerges.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{Issuer, RequestStats, Requests};

    use super::*;
    use crate::testcase::{TestCase, Workload};

    fn merging(merges: u64) -> TestCase {
        let mut case = Workload { op: Direction::Write, depth: 32, ..Workload::default() }.case();
        let top = case.after_top();
        (top.writes, top.write_merges) = (top.writes - merges, merges);
        case
    }

    #[test]
    fn merged_writes_are_reported_with_both_sizes() {
        let found = merging(82_600).found(&RULE);
        assert_eq!(found[0].sentence, "4 KiB writes were merged into requests of 23 KiB on vda.");
        assert_eq!(found[0].severity, Severity::Explains);
    }

    /// Random writes of 4 KiB, each with a flush: blocks of the journal were merged, ours were not.
    #[test]
    fn merges_of_a_journal_are_none_of_ours() {
        let mut case = merging(82_600);
        case.blocks().durability.fsync_every = 1;
        assert_eq!(case.found(&RULE), []);
        let own = Issuer { pid: 7, command: String::new(), count: 100_000, bytes: 100_000 << 12 };
        let seen = Requests {
            device: "vda".into(),
            direction: candor_record::requests::RequestOp::Write,
            issuers: vec![own],
            ..Requests::default()
        };
        let stats = RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() };
        case.host.requests = Some(stats);
        assert_eq!(case.found(&RULE), [], "each of ours is one request");
        case.host.requests.as_mut().unwrap().requests[0].issuers[0].count = 20_000;
        assert_eq!(case.found(&RULE).len(), 1);
        let mut alone = merging(82_600);
        alone.blocks().depth = 1;
        assert_eq!(alone.found(&RULE), [], "one operation meets no other");
    }

    #[test]
    fn a_few_merges_and_buffered_writes_are_normal() {
        assert_eq!(merging(5000).found(&RULE), []);
        let mut buffered = merging(82_600);
        buffered.blocks().direct = false;
        assert_eq!(buffered.found(&RULE), []);
    }

    #[test]
    fn merges_beside_much_traffic_of_others_are_anybodys() {
        let mut case = TestCase::direct(4096, 32, 1, 10_000.0);
        let top = case.after_top();
        (top.read_merges, top.read_sectors) = (90_000, top.read_sectors * 2);
        assert_eq!(case.found(&RULE), []);
        let issuer = |pid, count, bytes| Issuer { pid, command: String::new(), count, bytes };
        let of = |own: Issuer| {
            let issuers = vec![own, issuer(9, 90_000, 90_000 << 12)];
            let seen = Requests { device: "vda".into(), issuers, ..Requests::default() };
            RequestStats { own_pid: 7, requests: vec![seen], ..RequestStats::default() }
        };
        case.host.requests = Some(of(issuer(7, 100_000, 100_000 << 12)));
        assert_eq!(case.found(&RULE), [], "each of ours is one request");
        case.host.requests = Some(of(issuer(7, 50_000, 100_000 << 12)));
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "4 KiB reads were merged into requests of 8 KiB on vda.");
        case.host.requests = None;
        case.host.after.process_io = None;
        assert_eq!(case.found(&RULE).len(), 1, "nobody knows of others");
    }
}
