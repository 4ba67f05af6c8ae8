//! Results and score of an IO500-shaped run: bandwidth of four phases, rates of names of eight
//! phases, and the geometric means of both.
//!
//! Phases are identified by their names, in plans with the name [`PLAN_NAME`].

use candor_plan::Nanos;
use candor_plan::work::Figure;

use candor_record::fmt::ratio;
use candor_record::{
    MeasuredInstead, Measurement, PhaseJudgement, PhaseRecord, Report, Severity, Verdict,
};
use candor_stats::geometric_mean;

/// Name of the plan.
pub const PLAN_NAME: &str = "io500-shaped";
/// Least time of each phase that writes. In shorter phases, caches absorb a large part.
pub const WRITE_TIME_MIN: Nanos = Nanos(300_000_000_000);

/// Unit of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 2^30 bytes per second.
    GibPerS,
    /// Thousand names per second.
    KiloPerS,
}

impl Unit {
    /// The unit as IO500 prints it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::GibPerS => "GiB/s",
            Unit::KiloPerS => "kIOPS",
        }
    }
}

/// Kind of a phase.
struct Kind {
    name: &'static str,
    unit: Unit,
    /// The phase writes for a time.
    writes: bool,
    /// The score includes the phase.
    scored: bool,
}

impl Kind {
    const fn bandwidth(name: &'static str, writes: bool) -> Kind {
        Kind { name, unit: Unit::GibPerS, writes, scored: true }
    }

    const fn names(name: &'static str, writes: bool) -> Kind {
        Kind { name, unit: Unit::KiloPerS, writes, scored: true }
    }
}

/// All phases, in their order.
const KINDS: &[Kind] = &[
    Kind::bandwidth("ior-easy-write", true),
    Kind::names("mdtest-easy-write", true),
    Kind::bandwidth("ior-hard-write", true),
    Kind::names("mdtest-hard-write", true),
    Kind::names("find", false),
    Kind::bandwidth("ior-easy-read", false),
    Kind::names("mdtest-easy-stat", false),
    Kind::bandwidth("ior-hard-read", false),
    Kind::names("mdtest-hard-stat", false),
    Kind::names("mdtest-easy-delete", false),
    Kind::names("mdtest-hard-read", false),
    Kind::names("mdtest-hard-delete", false),
    Kind { scored: false, ..Kind::bandwidth("ior-rnd4K-easy-read", false) },
];

/// Result of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Io500Result {
    /// Name of the phase.
    pub name: &'static str,
    /// Value in its unit.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
    /// Time of the phase in seconds, including a flush.
    pub seconds: f64,
    /// False if the phase wrote for less than its time or less than [`WRITE_TIME_MIN`].
    pub is_long_enough: bool,
    /// The score includes the phase.
    pub is_scored: bool,
    /// Verdict on the phase.
    pub verdict: Verdict,
    /// Object that the phase measured instead of the storage.
    pub measures: Option<MeasuredInstead>,
}

/// The score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Io500Score {
    /// Geometric mean of the bandwidths, in GiB/s.
    pub gib_per_s: f64,
    /// Geometric mean of the rates of names, in thousand per second.
    pub kilo_per_s: f64,
    /// Geometric mean of both.
    pub total: f64,
    /// All phases that write were long enough.
    pub is_valid: bool,
}

/// Results of a run in the order of the phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Io500 {
    /// The results.
    pub results: Vec<Io500Result>,
    /// The score; absent if a phase did not run.
    pub score: Option<Io500Score>,
}

impl Io500 {
    /// Results of an IO500-shaped run; absent for other runs.
    pub fn of(report: &Report) -> Option<Io500> {
        if report.plan.name != PLAN_NAME {
            return None;
        }
        let results = KINDS.iter().filter_map(|kind| {
            let at = report.phases.iter().position(|phase| phase.name == kind.name)?;
            Some(Io500Result::of(report, at, kind))
        });
        let results: Vec<Io500Result> = results.collect();
        let [gib_per_s, kilo_per_s] = [Unit::GibPerS, Unit::KiloPerS].map(|unit| {
            let scored = results.iter().filter(|result| result.is_scored && result.unit == unit);
            geometric_mean(&scored.map(|result| result.value).collect::<Vec<f64>>())
        });
        let score = Io500Score {
            gib_per_s,
            kilo_per_s,
            total: (gib_per_s * kilo_per_s).sqrt(),
            is_valid: results.iter().all(|result| result.is_long_enough),
        };
        let is_whole = results.len() == KINDS.len();
        Some(Io500 { score: is_whole.then_some(score), results })
    }
}

impl Io500Result {
    fn of(report: &Report, at: usize, kind: &Kind) -> Io500Result {
        let phase = &report.phases[at];
        let judged = report.judgement.of(at);
        let elapsed_ns = phase.measurements.iter().map(elapsed_ns).max().unwrap_or(0);
        let seconds = elapsed_ns as f64 / 1e9;
        let amount = match kind.unit {
            Unit::GibPerS => bytes(phase) as f64 / f64::from(1 << 30),
            Unit::KiloPerS => names(phase) as f64 / 1e3,
        };
        let planned = report.plan.phases.get(phase.phase).and_then(|planned| planned.stop.time);
        let least = planned.unwrap_or(WRITE_TIME_MIN).max(WRITE_TIME_MIN);
        Io500Result {
            name: kind.name,
            value: ratio(amount, seconds),
            unit: kind.unit,
            seconds,
            is_long_enough: !kind.writes || elapsed_ns >= least.0,
            is_scored: kind.scored,
            verdict: judged.map_or(Verdict::default(), |judged| judged.verdict),
            measures: judged.and_then(measured_instead),
        }
    }
}

fn measured_instead(judged: &PhaseJudgement) -> Option<MeasuredInstead> {
    let mut findings = judged.findings.iter();
    let wrong = findings.find(|finding| finding.severity == Severity::Wrong);
    wrong.and_then(|finding| finding.measures).or(judged.answered_by)
}

fn elapsed_ns(measured: &Measurement) -> u64 {
    measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns)
}

fn bytes(phase: &PhaseRecord) -> u64 {
    phase.measurements.iter().map(Measurement::bytes_moved).sum()
}

/// Names that a phase processed. The last operation on each name is close, stat or unlink.
fn names(phase: &PhaseRecord) -> u64 {
    let of_jobs = phase.measurements.iter().map(|measured| {
        let ends = ["close", "stat", "unlink"].map(|name| measured.operation(name));
        let found = ends.into_iter().find(|op| op.ops > 0 && op.figure == Figure::Names);
        found.map_or(0, |op| op.ops)
    });
    of_jobs.sum()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_plan::units::Direction;
    use candor_plan::{Phase, Plan, Stop};
    use candor_record::{Judgement, OpStats};

    use super::*;

    const SECONDS: u64 = 300;

    /// All phases, each 300 s long with 600 GiB or 1.5 million names.
    fn report() -> Report {
        let mut report = Report {
            plan: Plan { name: PLAN_NAME.into(), ..Plan::default() },
            judgement: Judgement::default(),
            ..Report::default()
        };
        for (index, kind) in KINDS.iter().enumerate() {
            let mut measured =
                Measurement { elapsed_ns: SECONDS * 1_000_000_000, ..Measurement::default() };
            match kind.unit {
                Unit::GibPerS => {
                    let stats = OpStats { bytes: 600 << 30, ..OpStats::default() };
                    measured.put(Direction::Write, stats);
                }
                Unit::KiloPerS => {
                    let row = Step::Close.operation();
                    *measured.operation_mut(row) = OpStats { ops: 1_500_000, ..OpStats::of(row) };
                }
            }
            let time = Some(Nanos::from_secs(SECONDS));
            let stop = Stop { time, ..Stop::default() };
            report.plan.phases.push(Phase { name: kind.name.into(), stop, ..Phase::default() });
            report.phases.push(PhaseRecord {
                name: kind.name.into(),
                phase: index,
                measurements: vec![measured],
                ..PhaseRecord::default()
            });
            report.judgement.phases.push(Some(PhaseJudgement::default()));
        }
        report
    }

    #[test]
    fn the_score_consists_of_geometric_means() {
        let mut report = report();
        let io500 = Io500::of(&report).expect("its name");
        let score = io500.score.expect("all ran");
        assert!((score.gib_per_s - 2.0).abs() < 1e-9 && (score.kilo_per_s - 5.0).abs() < 1e-9);
        assert!((score.total - 10.0_f64.sqrt()).abs() < 1e-9 && score.is_valid);
        // A result twice as high changes the mean of four by the fourth root of two. A phase that
        // is not scored changes nothing.
        for name in ["ior-hard-read", "ior-rnd4K-easy-read"] {
            let phase = report.phases.iter_mut().find(|phase| phase.name == name);
            phase.expect("it ran").measurements[0].of_mut(Direction::Write).bytes *= 2;
        }
        let score = Io500::of(&report).and_then(|io500| io500.score).expect("all ran");
        assert!((score.gib_per_s - 2.0 * 2.0_f64.powf(0.25)).abs() < 1e-9, "{score:?}");
    }

    #[test]
    fn short_writes_are_not_valid_and_missing_phases_have_no_score() {
        let mut report = report();
        report.phases[2].measurements[0].elapsed_ns -= 1;
        let io500 = Io500::of(&report).expect("its name");
        assert!(!io500.results[2].is_long_enough && io500.results[0].is_long_enough);
        assert!(io500.score.is_some_and(|score| !score.is_valid));
        // Including its flush, the phase is long enough.
        report.phases[2].measurements[0].elapsed_with_flush_ns = Some(SECONDS * 1_000_000_000);
        assert!(Io500::of(&report).and_then(|io500| io500.score).is_some_and(|s| s.is_valid));
        report.phases[5].measurements[0].elapsed_ns = 1_000_000_000;
        assert!(
            Io500::of(&report).is_some_and(|io500| io500.results[5].is_long_enough),
            "it reads"
        );
        report.phases.pop();
        assert_eq!(Io500::of(&report).expect("its name").score, None);
        report.plan.name = "another".into();
        assert_eq!(Io500::of(&report), None);
    }

    #[test]
    fn a_phase_without_work_makes_the_score_zero() {
        let mut report = report();
        report.phases[0].measurements[0].of_mut(Direction::Write).bytes = 0;
        let score = Io500::of(&report).and_then(|io500| io500.score).expect("all ran");
        assert_eq!((score.gib_per_s, score.total), (0.0, 0.0));
    }
}
