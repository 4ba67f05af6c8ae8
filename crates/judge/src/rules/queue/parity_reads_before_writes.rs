//! C7: parity that has to be read before it is written.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::array::degraded;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, PARITY_READS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C7",
        title: "parity needs reads before writes",
        explanation: "RAID 4, 5 and 6 keep parity for each stripe, a chunk of every data disk. For \
            a write of less than a stripe, the new parity depends on old data, so the array first \
            reads old data or old parity: one small write is two reads and two writes. candor \
            detects this if the members read during a phase that reads nothing. Write whole \
            stripes (chunk times data disks, aligned), or enlarge the stripe cache. A rebuild \
            reads, too; rule E3 reports a rebuild.",
    },
    stage: Stage::Device,
    limit: Some(LimitClass::Array),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.does(Direction::Read) || observed.app(Direction::Write).bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let mut found = Vec::new();
    for array in observed.devices() {
        let Some(parity) = parity(array).filter(|_| !degraded::rebuilds(observed, &array.name))
        else {
            continue;
        };
        let Some(flows) = observed.flows_below(array) else {
            return Outcome::lacks(format!("the counters of the members of {}", array.name));
        };
        let per_write = |op: Direction| {
            let requests: f64 = flows.iter().map(|flow| flow.side(op).requests).sum();
            ratio(requests, observed.app(Direction::Write).ops)
        };
        let (read, written) = (per_write(Direction::Read), per_write(Direction::Write));
        if read >= PARITY_READS.value {
            found.push(finding(observed, array, parity, read, written));
        }
    }
    found.into()
}

/// Disks' worth of parity.
fn parity(device: &DeviceFacts) -> Option<u64> {
    match device.array_level()? {
        "raid4" | "raid5" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

/// Bytes of data in a stripe.
fn stripe(array: &DeviceFacts, parity: u64) -> Option<u64> {
    let members = value(&array.array.as_ref()?.members)?;
    value(&array.queue.chunk_bytes)?.checked_mul(members.checked_sub(parity)?)
}

fn finding(
    observed: &Observed,
    array: &DeviceFacts,
    parity: u64,
    read: f64,
    written: f64,
) -> Finding {
    let app = observed.app(Direction::Write);
    let name = &array.name;
    let stripe = stripe(array, parity);
    let of = stripe.map_or(String::new(), |bytes| format!(" of {}", fmt::size(bytes as f64)));
    let sentence = format!(
        "Each {} write to {name} ({}) became about {} and {} of its members: parity needs old data \
         first if a stripe{of} is not written whole.",
        fmt::size(ratio(app.bytes, app.ops)),
        array.array_level().unwrap_or_default(),
        fmt::plural(read.round(), "read", "reads"),
        fmt::plural(written.round(), "write", "writes")
    );
    let command = observed
        .main_job()
        .and_then(|job| Some(Command::of(observed.plan, &job.planned)?.bs(stripe?)));
    let stat = "/sys/class/block/*/stat";
    FindingBuilder::new("C7", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .limits(Limit::ParityReads { array: name.to_owned() })
        .evidence("reads of members per write", Quantity::ratio(read), stat)
        .evidence("writes of members per write", Quantity::ratio(written), stat)
        .advice("Write whole stripes, or enlarge the array's stripe cache.", command)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload, proposes};
    use candor_record::ArrayState;

    /// 4 KiB at random on an array of three, with so many reads of its members per write.
    fn writing(level: &str, reads: f64) -> TestCase {
        let workload =
            Workload { op: Direction::Write, depth: 8, ops_per_s: 600.0, ..Workload::default() };
        let mut case = workload.case().on_array(level, &[0.34, 0.33, 0.33]);
        case.host.facts.devices[0].queue.chunk_bytes = crate::testcase::fact(65_536);
        for (name, counters) in &mut case.host.after.devices {
            if name.starts_with("sd") {
                counters.reads = (counters.writes as f64 * reads) as u64;
                counters.writes *= 2;
            }
        }
        case
    }

    #[test]
    fn small_writes_on_raid5() {
        // In the lab 6162 writes of 4 KiB to three members were 6052 reads and 12,326 writes.
        let case = writing("raid5", 0.98);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Each 4 KiB write to md0 (raid5) became about 1 read and 2 writes of its members: \
             parity needs old data first if a stripe of 128 KiB is not written whole."
        );
        assert!(proposes(&found[0], "blocks.size=128k"));
        assert_eq!(case.judge().limit().as_deref(), Some("reads before each write to md0"));
        assert!(case.judge().finding("E2").is_none());
    }

    #[test]
    fn whole_stripes_mirrors_rebuilds_and_mixed_work_are_silent() {
        assert_eq!(writing("raid5", 0.01).found(&RULE), []);
        assert_eq!(writing("raid10", 0.98).found(&RULE), []);
        let mut rebuilding = writing("raid5", 0.98);
        rebuilding.host.after.state.arrays = vec![ArrayState {
            device: "md0".into(),
            action: Some("resync".into()),
            ..ArrayState::default()
        }];
        assert_eq!(rebuilding.found(&RULE), []);
        assert_eq!(
            TestCase::direct(4096, 8, 1, 10_000.0).on_array("raid5", &[0.3; 3]).found(&RULE),
            []
        );
    }
}
