//! G1: too short.

use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Confidence, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::entry_jobs;
use crate::object_jobs;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BUFFERED_WRITE_S, BYTES_MIN, SHORT_S, USABLE_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G1",
        title: "too short to mean much",
        explanation: "Short runs measure a start: caches fill, queues build up, dirty pages \
            are not yet flushed, credits are not spent. The ramp does not count. Below 1 s the \
            result has a caution, and also work on names or objects that ended sooner, unless the \
            plan wants the cache; below 8 s the rule only explains. Buffered writes need three of \
            the kernel's flush intervals of 5 s, unless the measured time includes a flush. Run \
            for 30 s, or use more files or objects.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    fn done(m: &candor_record::Measurement) -> bool {
        m.of(Direction::Read).ops > 0
            || m.of(Direction::Write).ops > 0
            || m.of(Direction::Trim).ops > 0
    }
    let seconds = observed.elapsed_s();
    if !observed.record.measurements.iter().any(done) {
        return few_names(observed, seconds);
    }
    let writes_late = observed.ran.iter().any(writes_behind);
    let (severity, sentence) = match seconds {
        s if s < SHORT_S.value => {
            (Severity::Caution, format!("{} is too short to mean much.", fmt::time(s * 1e9)))
        }
        s if writes_late && s < BUFFERED_WRITE_S.value => (
            Severity::Explains,
            format!(
                "{} of buffered writing is less than three of the kernel's 5 s flush intervals.",
                fmt::time(s * 1e9)
            ),
        ),
        s if s < USABLE_S.value => (
            Severity::Explains,
            format!("{} is short; the number is only a first estimate.", fmt::time(s * 1e9)),
        ),
        _ => return Outcome::Nothing,
    };
    let command = observed.main_job().and_then(|job| Command::of(observed.plan, &job.planned));
    Outcome::one(
        FindingBuilder::new("G1", severity, sentence)
            .confidence(Confidence::Certain)
            .evidence("length without the ramp", Quantity::ns(seconds * 1e9), "candor")
            .advice("Run for 30 s or more.", command.map(|command| command.seconds(30)))
            .done(),
    )
}

/// Operations on names and objects, which their number ends and no time.
fn few_names(observed: &Observed, seconds: f64) -> Outcome {
    let of_names = entry_jobs::ran(observed).iter().any(|ran| !ran.job.wants_cache);
    let of_objects = object_jobs::ran(observed).iter().any(|ran| !ran.job.wants_cache);
    if !(of_names || of_objects) || seconds >= SHORT_S.value {
        return Outcome::Nothing;
    }
    let sentence = format!("{} is too short to mean much.", fmt::time(seconds * 1e9));
    Outcome::one(
        FindingBuilder::new("G1", Severity::Caution, sentence)
            .confidence(Confidence::Certain)
            .evidence("length without the ramp", Quantity::ns(seconds * 1e9), "candor")
            .advice(if of_names { "Use more files." } else { "Use more objects." }, None)
            .done(),
    )
}

/// The job's writes are done when they are in memory, and no flush is counted.
fn writes_behind(ran: &Ran) -> bool {
    !ran.blocks.direct
        && !ran.durable()
        && !ran.blocks.durability.fsync_at_end
        && ran.measured.of(Direction::Write).bytes as f64 >= BYTES_MIN.value
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_plan::objects::ObjectOp;

    use super::*;
    use crate::testcase::{TestCase, Workload};

    fn severity(seconds: u64, ramp_s: u64) -> Option<Severity> {
        let case = Workload { seconds, ramp_s, ..Workload::default() }.case();
        case.found(&RULE).first().map(|finding| finding.severity)
    }

    #[test]
    fn less_than_a_second_is_remarked_five_are_mentioned() {
        let mut case = Workload { seconds: 1, ..Workload::default() }.case();
        case.measured().elapsed_ns = 900_000_000;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Caution);
        assert_eq!(severity(1, 0), Some(Severity::Explains));
        assert_eq!(severity(5, 0), Some(Severity::Explains));
    }

    #[test]
    fn a_moment_of_names_is_short_unless_memory_is_meant() {
        let mut case = TestCase::on_names(Step::Create, 5000, 100_000.0);
        case.measured().elapsed_ns = 50_000_000;
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "50 ms is too short to mean much.");
        assert_eq!(found[0].severity, Severity::Caution);
        case.measured().elapsed_ns = 1_100_000_000;
        assert_eq!(case.found(&RULE), []);
        case.measured().elapsed_ns = 50_000_000;
        assert_eq!(case.wanting_cache().found(&RULE), []);
    }

    #[test]
    fn a_moment_of_requests_is_short() {
        let mut case = TestCase::on_objects(ObjectOp::Get, 4096, 8, 4000.0);
        assert_eq!(case.found(&RULE), []);
        case.measured().elapsed_ns = 250_000_000;
        assert_eq!(case.found(&RULE)[0].advice, "Use more objects.");
    }

    #[test]
    fn eight_seconds_pass() {
        assert_eq!(severity(8, 0), None);
        assert_eq!(severity(7, 2), Some(Severity::Explains), "a ramp makes it no longer");
        assert_eq!(severity(30, 0), None);
    }

    #[test]
    fn buffered_writes_need_three_flush_intervals() {
        let mut case = TestCase::buffered_write();
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
        case.measured().elapsed_ns = 16_000_000_000;
        assert_eq!(case.found(&RULE), []);
        let mut case = TestCase::buffered_write();
        case.blocks().durability.fsync_at_end = true;
        assert_eq!(case.found(&RULE), []);
    }
}
