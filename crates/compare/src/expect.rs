//! Conditions that a user expects the results of one run to meet: `load/db: commit p99 < 10ms`.

use std::fmt::{Display, Formatter};

use candor_plan::units::{BytesPerSec, Nanos, OpsPerSec};
use candor_record::results::{FigureKind, Results};
use candor_record::{Expectation, ExpectationResult, Unit};
use candor_stats::mean;

use crate::bound::{Bound, is_phase};
use crate::pairing::{self, Repeated};

/// A condition on results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    bound: Bound,
    kind: FigureKind,
    /// The bound in the unit of the kind.
    limit: f64,
}

/// A figure that a condition selects.
struct Selected<'a> {
    phase: &'a Repeated<'a>,
    job: &'a str,
    operation: &'a str,
    /// Mean over the repeats.
    value: Option<f64>,
}

impl Expect {
    /// Reads a condition.
    ///
    /// # Errors
    /// A sentence with the form of a condition.
    pub fn parse(text: &str) -> Result<Expect, String> {
        let form = "a condition is FIGURE < LIMIT or FIGURE > LIMIT, such as `p99 < 10ms`, \
                    `commit > 2k/s` or `PHASE/JOB: read bandwidth > 100MB/s`";
        let bound = Bound::parse(text, form)?;
        let value = bound.value.as_str();
        if value.ends_with('%') {
            return Err(format!(
                "`{value}` is a change in percent, which candor compare --fail-if takes; {form}"
            ));
        }
        let (kind, limit) = match bound.figure {
            Some(kind) => (kind, limit(kind.unit(), value)?),
            None => rate(value)?,
        };
        Ok(Expect { bound, kind, limit })
    }

    /// The percentile that the condition is about.
    pub fn percentile(&self) -> Option<f64> {
        match self.kind {
            FigureKind::LatencyPercentile(p) => Some(p),
            _ => None,
        }
    }

    /// The phase, or the phase and the job, that the condition names.
    pub fn of(&self) -> Option<&str> {
        self.bound.of.as_deref()
    }

    /// A sentence where the condition names none of these phases.
    pub fn misses(&self, phases: &[&str]) -> Option<String> {
        let of = self.bound.of.as_deref()?;
        let ends = of.match_indices('/').map(|(at, _)| at).chain([of.len()]);
        let known = phases.join("; ");
        (!phases.iter().any(|phase| ends.clone().any(|end| is_phase(&of[..end], phase))))
            .then(|| format!("`{self}`: no phase is named `{of}`; the phases are: {known}"))
    }

    /// Checks the results of a run.
    pub fn check(&self, results: &Results) -> Expectation {
        let phases = pairing::phases(results);
        let selected = self.selected(&phases);
        let several = selected.iter().any(|of| of.phase.name != selected[0].phase.name);
        // The figure that is farthest from being met, of those with the most severe result.
        let decides = selected.iter().max_by(|one, other| {
            let [near, far] = [one, other].map(|of| of.value.map_or(0.0, |v| self.distance(v)));
            self.result(one).cmp(&self.result(other)).then(near.total_cmp(&far))
        });
        let none = Expectation {
            condition: self.to_string(),
            result: ExpectationResult::CannotTell,
            value: None,
            limit: self.limit,
            unit: self.kind.unit(),
            phase: String::new(),
            job: String::new(),
            operation: String::new(),
            sentence: self.nothing_selected(&phases),
        };
        let Some(of) = decides else { return none };
        Expectation {
            result: self.result(of),
            value: of.value,
            phase: of.phase.name.to_owned(),
            job: of.job.to_owned(),
            operation: of.operation.to_owned(),
            sentence: self.sentence(of, several),
            ..none
        }
    }

    fn selected<'a>(&self, phases: &'a [Repeated<'a>]) -> Vec<Selected<'a>> {
        let mut all = Vec::new();
        for phase in phases {
            for job in phase.kept.first().iter().flat_map(|first| &first.jobs) {
                let named = job
                    .operations
                    .iter()
                    .filter(|op| self.bound.operation.as_ref() == Some(&op.operation));
                let work = job.work().filter(|_| self.bound.operation.is_none());
                // A deletion has no bytes, which is not a bandwidth of 0.
                let operations = named.chain(work).filter(|op| {
                    self.kind != FigureKind::BytesPerS
                        || op.bytes_per_s.is_some_and(|rate| rate > 0.0)
                });
                let operations = operations.filter(|_| self.bound.selects(phase.name, &job.job));
                all.extend(operations.map(|op| Selected {
                    phase,
                    job: &job.job,
                    operation: &op.operation,
                    value: self.mean(phase, &job.job, &op.operation),
                }));
            }
        }
        all
    }

    /// The mean over the repeats; none where one of them has no such figure.
    fn mean(&self, phase: &Repeated<'_>, job: &str, operation: &str) -> Option<f64> {
        let jobs = phase.job(job);
        let values = jobs.iter().map(|job| job.operation(operation)?.figure_value(self.kind));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        (!values.is_empty()).then(|| mean(&values))
    }

    /// How many times the limit a value is away from it; above 1 it is not met.
    fn distance(&self, value: f64) -> f64 {
        if self.bound.is_below { value / self.limit } else { self.limit / value }
    }

    fn result(&self, of: &Selected<'_>) -> ExpectationResult {
        let is_believed = of.phase.verdict().is_none_or(|(verdict, _)| verdict.is_trusted());
        match of.value {
            Some(value) if is_believed && self.bound.holds(value, self.limit) => {
                ExpectationResult::Met
            }
            Some(_) if is_believed => ExpectationResult::NotMet,
            _ => ExpectationResult::CannotTell,
        }
    }

    fn sentence(&self, of: &Selected<'_>, several: bool) -> String {
        let phase = if several { format!(" in {}", of.phase.name) } else { String::new() };
        let figure = match self.kind {
            FigureKind::OpsPerS => "rate".to_owned(),
            kind => kind.label(),
        };
        let name = format!("The {figure} of {}{phase}", of.operation);
        let limit = self.kind.text_of(of.operation, self.limit);
        let Some(value) = of.value else {
            return format!(
                "{name} is unknown: too few operations, or none measured; limit {limit}."
            );
        };
        let value = self.kind.text_of(of.operation, value);
        let mean = match of.phase.kept.len() {
            0 | 1 => String::new(),
            count => format!(" (mean of {count} runs)"),
        };
        let known = format!("{name} is {value}{mean}, limit {limit}");
        match (self.result(of), of.phase.verdict()) {
            (ExpectationResult::CannotTell, Some((_, why))) => {
                format!("{known}, but this is not the storage's number. {}", why.trim())
            }
            _ => format!("{known}."),
        }
    }

    fn nothing_selected(&self, phases: &[Repeated<'_>]) -> String {
        let names: Vec<&str> = phases.iter().map(|phase| phase.name).collect();
        if let Some(sentence) = self.misses(&names) {
            return format!("{sentence}.");
        }
        match &self.bound.operation {
            Some(operation) => format!("No result has an operation {operation} with this figure."),
            None => "No result has this figure.".to_owned(),
        }
    }
}

/// A limit in the unit of its figure.
fn limit(unit: Unit, text: &str) -> Result<f64, String> {
    let limit = match unit {
        Unit::Ns => text.parse::<Nanos>().map(|time| time.0),
        Unit::BytesPerS => text.parse::<BytesPerSec>().map(|rate| rate.0),
        _ => text.parse::<OpsPerSec>().map(|rate| rate.0),
    };
    limit.map(|limit| limit as f64).map_err(|error| error.to_string())
}

/// A limit of operations or bytes per second, whichever it is written as.
fn rate(text: &str) -> Result<(FigureKind, f64), String> {
    if text.parse::<Nanos>().is_ok_and(|_| text != "0") && text.parse::<OpsPerSec>().is_err() {
        return Err(format!(
            "`{text}` is a time; name the latency, such as `commit p99 < {text}`, or the mean"
        ));
    }
    limit(Unit::OpsPerS, text).map(|limit| (FigureKind::OpsPerS, limit)).or_else(|why| {
        let bytes = limit(Unit::BytesPerS, text);
        bytes.map(|limit| (FigureKind::BytesPerS, limit)).map_err(|_| why)
    })
}

impl Display for Expect {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.bound.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::Figure;
    use candor_record::Verdict;
    use candor_record::results::{JobResults, LatencyResults, OpResults, PhaseResults};

    use super::*;

    fn op(name: &str, figure: Figure, rate: f64, p99_ns: Option<u64>) -> OpResults {
        let percentiles = p99_ns.map(|ns| (99.0, ns)).into_iter().collect();
        OpResults {
            operation: name.into(),
            figure,
            ops: Some(1000),
            ops_per_s: Some(rate),
            bytes_per_s: Some(rate * 4096.0),
            latency: Some(LatencyResults { percentiles, ..LatencyResults::default() }),
            ..OpResults::default()
        }
    }

    fn phase(name: &str, verdict: Verdict, operations: Vec<OpResults>) -> PhaseResults {
        let job = JobResults { job: "db".into(), operations, ..JobResults::default() };
        PhaseResults {
            name: name.into(),
            verdict: Some(verdict),
            headline: "Measures something else: the page cache.".into(),
            jobs: vec![job],
            ..PhaseResults::default()
        }
    }

    fn two(verdict: Verdict) -> Results {
        let load = vec![
            op("write", Figure::Write, 3000.0, Some(1_000_000)),
            op("fdatasync", Figure::Flush, 3000.0, Some(2_000_000)),
            op("commit", Figure::Commit, 3000.0, Some(3_000_000)),
        ];
        let read = vec![op("read", Figure::Read, 50_000.0, None)];
        let phases = vec![phase("load", Verdict::Ok, load), phase("read", verdict, read)];
        Results { phases, ..Results::default() }
    }

    fn check(text: &str, results: &Results) -> Expectation {
        Expect::parse(text).expect(text).check(results)
    }

    #[test]
    fn a_figure_of_the_storage_decides() {
        use ExpectationResult::{CannotTell, Met, NotMet};
        let results = two(Verdict::Caution);
        for (text, result) in [
            ("load: p99 < 10ms", Met),
            ("load/db: commit p99 <= 3ms", Met),
            ("commit p99 < 3ms", NotMet),
            // A durable write is the write with its flush.
            ("load: p99 < 2ms", NotMet),
            ("load: write p99 < 2ms", Met),
            ("commit > 2k/s", Met),
            ("commit > 100MB/s", NotMet),
            ("iops > 2k", Met),
            ("iops > 10k/s", NotMet),
            // The read has no p99.
            ("p99 < 10ms", CannotTell),
            ("p99 < 1ms", NotMet),
            ("trim > 5", CannotTell),
            ("mean < 1s", CannotTell),
            ("other: iops > 1", CannotTell),
        ] {
            let checked = check(text, &results);
            assert_eq!(checked.result, result, "{text}: {}", checked.sentence);
        }
        let checked = check("iops > 10k", &results);
        assert_eq!(checked.sentence, "The rate of commit in load is 3000 IOPS, limit 10k IOPS.");
        assert_eq!((checked.value, checked.limit), (Some(3000.0), 10_000.0));
        let checked = check("other: iops > 1", &results);
        assert!(checked.sentence.contains("the phases are: load; read"), "{}", checked.sentence);
    }

    #[test]
    fn a_figure_of_something_else_never_decides() {
        for verdict in [Verdict::Unverified, Verdict::Wrong, Verdict::Corrupt] {
            let results = two(verdict);
            for text in ["read: iops > 1", "read: iops > 1m", "iops > 1"] {
                let checked = check(text, &results);
                assert_eq!(checked.result, ExpectationResult::CannotTell, "{text}");
                assert!(checked.sentence.contains("not the storage's number"), "{text}");
            }
            assert_eq!(check("load: iops > 1", &results).result, ExpectationResult::Met);
        }
    }

    #[test]
    fn repeats_count_by_their_mean() {
        let phases = [(0, 900.0), (1, 1000.0), (2, 1100.0)]
            .map(|(nth, rate)| {
                let read = vec![op("read", Figure::Read, rate, None)];
                PhaseResults { repeat: nth, ..phase("read", Verdict::Ok, read) }
            })
            .to_vec();
        let results = Results { phases, ..Results::default() };
        let checked = check("iops > 950", &results);
        assert_eq!(checked.result, ExpectationResult::Met);
        assert!(checked.sentence.contains("(mean of 3 runs)"), "{}", checked.sentence);
        assert_eq!(check("iops > 1050", &results).result, ExpectationResult::NotMet);
    }

    #[test]
    fn a_limit_has_the_unit_of_its_figure() {
        for (text, part) in [
            ("p99 < 10", "30s or 1m30s"),
            ("iops > 10ms", "operations per second"),
            ("commit < 10ms", "name the latency"),
            ("iops < -5%", "candor compare --fail-if"),
            ("bw > fast", "bytes per second"),
        ] {
            let error = Expect::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        for (text, limit) in [
            ("p99 < 1.5ms", 1.5e6),
            ("bw > 100MB/s", 1e8),
            ("commit > 2k/s", 2e3),
            ("iops > 2M", 2e6),
        ] {
            assert_eq!(Expect::parse(text).expect(text).limit, limit, "{text}");
        }
    }
}
