//! C7: parity that has to be read before it is written.

use candor_plan::units::Op;
use candor_record::facts::{DeviceFacts, value};
use candor_record::{Confidence, Finding, Weight};

use crate::command::Command;
use crate::draft::Draft;
use crate::flow::Flow;
use crate::fmt::{self, ratio};
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::e3;
use crate::thresholds::{BYTES_MIN, READ_FIRST};
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C7",
        title: "an array with parity reads before it writes",
        explanation: "RAID 4, 5 and 6 keep parity for each stripe, a chunk of every data disk. A \
            write of less than a stripe leaves old data that the new parity depends on, so the \
            array reads old data or old parity first: one small write is two reads and two \
            writes. candor sees it where the members read during a phase that reads nothing, \
            more than 5 % of what they wrote. Write whole stripes (chunk times data disks, \
            aligned), or enlarge the stripe cache. A rebuild reads, too, and is told by E3.",
    },
    before: None,
    after,
};

fn after(view: &View) -> Outcome {
    if view.does(Op::Read) || view.app(Op::Write).bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let mut found = Vec::new();
    for array in view.devices() {
        let Some(parity) = parity(array).filter(|_| !e3::rebuilds(view, &array.name)) else {
            continue;
        };
        let flow = |name: &String| Flow::of_device(name, &view.report.before, &view.report.after);
        let Some(flows) = array.below.iter().map(flow).collect::<Option<Vec<Flow>>>() else {
            return Outcome::lacks(format!("the counters of the members of {}", array.name));
        };
        let (read, written) = flows.iter().fold((0.0, 0.0), |(read, written), flow| {
            (read + flow.read.bytes, written + flow.write.bytes)
        });
        if read > READ_FIRST.value * written && read >= BYTES_MIN.value {
            found.push(finding(view, array, parity, read));
        }
    }
    found.into()
}

/// Disks' worth of parity.
fn parity(device: &DeviceFacts) -> Option<u64> {
    match value(&device.array.as_ref()?.level)?.as_str() {
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

fn finding(view: &View, array: &DeviceFacts, parity: u64, read: f64) -> Finding {
    let app = view.app(Op::Write);
    let (name, level) = (&array.name, array.array.as_ref().and_then(|a| value(&a.level)));
    let level = level.map_or("", String::as_str);
    let stripe = stripe(array, parity);
    let than = stripe.map_or(String::new(), |bytes| format!(" of {}", fmt::size(bytes as f64)));
    let sentence = format!(
        "{name} ({level}) read {} bytes for each byte written: writes of {} are smaller than its \
         stripe{than}, or do not begin on one, so old data and parity are read first.",
        fmt::number(ratio(read, app.bytes)),
        fmt::size(ratio(app.bytes, app.ops))
    );
    let command = view
        .main_job()
        .and_then(|job| Some(Command::of(view.plan, &job.planned)?.bs(stripe?).text()));
    Draft::new("C7", Weight::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(format!("reading before writing on {name} ({level})"))
        .evidence("read by the members", fmt::size(read), "/sys/class/block/*/stat")
        .evidence("written by the application", fmt::size(app.bytes), "candor")
        .advice("Write whole stripes, or enlarge the array's stripe cache.", command)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{Setup, TestCase};
    use candor_record::ArrayState;

    /// 64 KiB at random on an array of four, whose members read so much per byte of ours.
    fn writing(level: &str, read: f64) -> TestCase {
        let setup =
            Setup { op: Op::Write, bs: 65_536, depth: 8, ops_per_s: 500.0, ..Setup::default() };
        let mut case = setup.case().on_array(level, &[0.25; 4]);
        case.facts.devices[0].queue.chunk_bytes = crate::testcase::fact(131_072);
        let bytes = case.measured().ops.write.bytes as f64;
        for (name, counters) in &mut case.report.after.devices {
            if name.starts_with("sd") {
                (counters.reads, counters.read_sectors) =
                    (100, (read * bytes / 4.0 / 512.0) as u64);
                counters.write_sectors *= 2;
            }
        }
        case
    }

    #[test]
    fn small_writes_on_raid5() {
        let case = writing("raid5", 1.9);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "md0 (raid5) read 1.9 bytes for each byte written: writes of 64 KiB are smaller than \
             its stripe of 384 KiB, or do not begin on one, so old data and parity are read first."
        );
        assert!(found[0].next.as_ref().unwrap().contains("--bs 384k"));
        assert_eq!(
            case.judge().limited_by.as_deref(),
            Some("reading before writing on md0 (raid5)")
        );
    }

    #[test]
    fn whole_stripes_mirrors_rebuilds_and_mixed_work_are_silent() {
        assert_eq!(writing("raid5", 0.01).found(&RULE), []);
        assert_eq!(writing("raid10", 1.9).found(&RULE), []);
        let mut rebuilding = writing("raid5", 1.9);
        rebuilding.report.after.state.arrays = vec![ArrayState {
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
