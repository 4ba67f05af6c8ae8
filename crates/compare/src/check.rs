//! Conditions under which a comparison fails: `iops < -5%`, `load/db: p99 > 10%`.

use std::fmt::{self, Display, Formatter};

use candor_record::comparison::{Check, CheckResult, Fairness, FigureChange, RunChange};
use candor_record::results::FigureKind;

use crate::bound::Bound;
use crate::words;

/// A condition under which a comparison fails.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// The figure, and the side that fails.
    bound: Bound,
    /// Kind of the figure.
    pub kind: FigureKind,
    /// The bound as a share of the baseline.
    share: f64,
}

impl FailIf {
    /// Reads a condition.
    ///
    /// # Errors
    /// A sentence with the form of a condition.
    pub fn parse(text: &str) -> Result<FailIf, String> {
        let form = "a condition is FIGURE < PERCENT% or FIGURE > PERCENT%, such as `iops < -5%` or \
                    `PHASE/JOB: p99 > 10%`";
        let bound = Bound::parse(text, form)?;
        let percent = bound.value.strip_suffix('%').map(str::trim);
        let percent = percent.and_then(|number| number.parse::<f64>().ok());
        let percent = percent.filter(|percent| percent.is_finite() && *percent > -100.0);
        let percent = percent.ok_or_else(|| {
            format!("`{}` is no change in percent, such as -5% or 10%: {form}", bound.value)
        })?;
        if (percent > 0.0) == bound.is_below && percent != 0.0 {
            return Err(format!(
                "`{text}` fails where nothing changes: `<` takes a negative bound, `>` a positive"
            ));
        }
        let kind = bound.figure.unwrap_or(FigureKind::OpsPerS);
        let bound = Bound { value: format!("{percent}%"), ..bound };
        Ok(FailIf { bound, kind, share: percent / 100.0 })
    }

    /// The condition is about that figure.
    fn concerns(&self, figure: &FigureChange) -> bool {
        let bound = &self.bound;
        let named = bound.selects(&figure.phase, &figure.job);
        named && bound.selects_operation(&figure.operation) && self.is_kind(figure)
    }

    fn is_kind(&self, figure: &FigureChange) -> bool {
        // Where all operations have one size, both rates change alike and one of them is listed.
        let rates = [self.kind, figure.kind].iter().all(|kind| kind.is_better_higher());
        self.kind == figure.kind || rates
    }

    fn is_beyond(&self, change: f64) -> bool {
        self.bound.holds(change, self.share)
    }

    /// Checks a run.
    pub fn check(&self, baseline: &str, change: &RunChange) -> Check {
        let mut concerned: Vec<&FigureChange> =
            change.figures.iter().filter(|figure| self.concerns(figure)).collect();
        if concerned.iter().any(|figure| figure.kind == self.kind) {
            concerned.retain(|figure| figure.kind == self.kind);
        }
        let several = concerned.iter().any(|figure| figure.phase != concerned[0].phase);
        let unfair = change.fairness != Fairness::Fair;
        let each = concerned.iter().map(|figure| self.of_figure(figure, several, unfair));
        let worst = each.max_by_key(|(result, _)| *result);
        let (result, sentence) = worst.unwrap_or_else(|| {
            let run = &change.run;
            let none = format!("{baseline} and {run} have no such metric in common.");
            (CheckResult::Undecided, none)
        });
        Check { condition: self.to_string(), run: change.run.clone(), result, sentence }
    }

    fn of_figure(
        &self,
        figure: &FigureChange,
        several: bool,
        unfair: bool,
    ) -> (CheckResult, String) {
        let name = words::name(figure, several);
        let change = candor_record::fmt::change(figure.change);
        let told = format!("{name} {change}, {}", words::interval(figure));
        let known = figure.interval;
        let may_be = known.is_none_or(|of| self.is_beyond(of.low) || self.is_beyond(of.high));
        if unfair {
            let why = "other conditions differ too, and may be the cause";
            return (CheckResult::Undecided, format!("{told}: {why}."));
        }
        if figure.unbelieved {
            return (
                CheckResult::Undecided,
                format!("{told}: the results are not the storage's numbers."),
            );
        }
        if figure.outcome.is_change() && self.is_beyond(figure.change) {
            return (CheckResult::Failed, format!("{told}."));
        }
        if may_be {
            (CheckResult::Undecided, format!("{told}: too uncertain to decide."))
        } else {
            (CheckResult::Passed, format!("{told}."))
        }
    }
}

impl Display for FailIf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.bound.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use candor_record::comparison::{Basis, ChangeInterval, Outcome};

    use super::*;

    #[test]
    fn conditions_are_read_and_written() {
        for (text, written) in [
            ("iops < -5%", "iops < -5%"),
            ("bw<-5 %", "bandwidth < -5%"),
            ("p99.9 > 10%", "p99.9 > 10%"),
            ("commit p99>=10%", "commit p99 >= 10%"),
            ("commit < -5%", "commit < -5%"),
            ("random read 4 KiB/job: mean > 0%", "random read 4 KiB/job: mean > 0%"),
        ] {
            assert_eq!(FailIf::parse(text).map(|of| of.to_string()), Ok(written.to_owned()));
        }
        for (text, part) in [
            ("iops", "has no < or >"),
            ("speed < -5%", "is not a metric"),
            ("iops < -5", "no change in percent"),
            ("iops < 5%", "fails where nothing changes"),
            ("p99 > -5%", "fails where nothing changes"),
            ("iops < -100%", "no change in percent"),
            ("iops < NaN%", "no change in percent"),
        ] {
            let error = FailIf::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    fn run(change: f64, low: f64, high: f64, outcome: Outcome) -> RunChange {
        let figure = FigureChange {
            phase: "read".into(),
            job: "job".into(),
            operation: "read".into(),
            kind: FigureKind::OpsPerS,
            baseline: 100.0,
            run: 100.0 * (1.0 + change),
            change,
            interval: Some(ChangeInterval { low, high }),
            p_value: Some(0.5),
            p_value_corrected: Some(0.5),
            basis: Basis::Repeats { baseline: 5, run: 5 },
            outcome,
            unbelieved: false,
        };
        RunChange { run: "B".into(), figures: vec![figure], ..RunChange::default() }
    }

    #[test]
    fn a_check_fails_by_what_was_shown_and_passes_by_what_is_excluded() {
        let of = |text: &str, run: &RunChange| FailIf::parse(text).unwrap().check("A", run).result;
        let slower = run(-0.08, -0.09, -0.07, Outcome::Worse);
        assert_eq!(of("iops < -5%", &slower), CheckResult::Failed);
        assert_eq!(of("read/job: iops < -5%", &slower), CheckResult::Failed);
        // One size of operations: the rate in bytes changed alike.
        assert_eq!(of("bandwidth < -5%", &slower), CheckResult::Failed);
        assert_eq!(of("iops < -10%", &slower), CheckResult::Passed);
        assert_eq!(of("write: iops < -5%", &slower), CheckResult::Undecided);
        assert_eq!(of("read iops < -5%", &slower), CheckResult::Failed);
        assert_eq!(of("write iops < -5%", &slower), CheckResult::Undecided);
        assert_eq!(of("p99 > 5%", &slower), CheckResult::Undecided);
        let unsure = run(-0.04, -0.12, 0.04, Outcome::NotShown);
        assert_eq!(of("iops < -5%", &unsure), CheckResult::Undecided);
        assert_eq!(of("iops < -15%", &unsure), CheckResult::Passed);
        let unfair = RunChange { fairness: Fairness::OtherWork, ..slower.clone() };
        assert_eq!(of("iops < -5%", &unfair), CheckResult::Undecided);
        let mut unbelieved = slower;
        unbelieved.figures[0].unbelieved = true;
        assert_eq!(of("iops < -5%", &unbelieved), CheckResult::Undecided);
    }
}
