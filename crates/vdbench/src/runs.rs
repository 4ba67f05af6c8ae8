//! Runs: each run definition written out over its loops, its curve, and its sets of luns.

mod names;

use super::definitions::Definition;
use super::definitions::fwd::FileOperation;
use super::definitions::rate::Rate;
use super::definitions::rd::{Loop, LoopKind, LoopValues, Rd};
use super::file::ParameterFile;
use super::values::shown_size;
use candor_front::Diagnostic;

/// Default points of a curve, in percent of the maximum rate.
pub const CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];
/// Maximum number of runs of all definitions.
const RUNS_MAX: usize = 100_000;

/// A value that a loop gives a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopValue {
    /// A number; a negative one is a share in percent.
    Number(f64),
    /// An operation on files.
    Operation(FileOperation),
}

/// Rate of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunRate {
    /// As fast as possible.
    Max,
    /// Full speed first, then the points of a curve in percent of that rate.
    CurveMax,
    /// A point of a curve, in percent of its first run's rate.
    OfCurve(f64),
    /// Percent of the previous run's rate.
    OfPrevious(f64),
    /// Operations per second.
    Fixed(f64),
    /// From second to second another, by the list of the run definition.
    Variable,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Index of the run definition.
    pub rd: usize,
    /// The name.
    pub name: String,
    /// The rate.
    pub rate: RunRate,
    /// Values of the loops, the outermost first.
    pub loops: Vec<(LoopKind, LoopValue)>,
    /// Luns, instead of the workloads' luns.
    pub sds: Vec<String>,
    /// True for the first run of its definition's loops.
    pub is_first: bool,
}

impl Run {
    /// The number that a loop gives a parameter.
    pub fn number(&self, kind: LoopKind) -> Option<f64> {
        self.loops.iter().find_map(|(known, value)| match value {
            LoopValue::Number(number) if *known == kind => Some(*number),
            _ => None,
        })
    }

    /// The operation of a loop over operations.
    pub fn operation(&self) -> Option<FileOperation> {
        self.loops.iter().find_map(|(_, value)| match value {
            LoopValue::Operation(operation) => Some(*operation),
            LoopValue::Number(_) => None,
        })
    }

    /// The values of the loops, as headings have them.
    pub fn loops_text(&self) -> String {
        let shown = self.loops.iter().map(|(kind, value)| {
            let value = match value {
                LoopValue::Operation(operation) => operation.word().to_owned(),
                LoopValue::Number(share) if *share < 0.0 => format!("{}%", -share),
                LoopValue::Number(rate) if rate.is_infinite() => "max".to_owned(),
                LoopValue::Number(number)
                    if matches!(kind, LoopKind::IoRate | LoopKind::FwdRate) =>
                {
                    format!("{}", number.trunc())
                }
                LoopValue::Number(number) => shown_size(*number),
            };
            format!("{}={value}", kind.shown())
        });
        match shown.collect::<Vec<_>>() {
            all if all.is_empty() => "For loops: None".to_owned(),
            all => format!("For loops: {}", all.join(" ")),
        }
    }

    /// The rate in headings; `is_controlled` if workloads keep their skew.
    pub fn rate_text(&self, is_controlled: bool) -> String {
        let controlled = if is_controlled { "Controlled" } else { "Uncontrolled" };
        match self.rate {
            RunRate::Max => format!("{controlled} MAX"),
            RunRate::CurveMax => format!("{controlled} curve"),
            RunRate::OfCurve(percent) => format!("{percent}% of the curve's maximum"),
            RunRate::OfPrevious(percent) => format!("{percent}% of the previous run"),
            RunRate::Fixed(rate) => format!("{rate:.0}"),
            RunRate::Variable => "Variable".to_owned(),
        }
    }
}

/// Writes out all runs, in order.
///
/// # Errors
/// Everything that keeps a definition from running.
pub fn expand(file: &ParameterFile) -> Result<Vec<Run>, Vec<Diagnostic>> {
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for (index, rd) in file.rds.all.iter().enumerate() {
        errors.extend(times(rd));
        for (name, sds) in names::sets(rd, &file.sds.all) {
            let first = runs.len();
            let outer = Run {
                rd: index,
                name,
                rate: RunRate::Max,
                loops: Vec::new(),
                sds,
                is_first: false,
            };
            match rate_of(rd, file.is_of_files()) {
                Ok(rate) => loops(rd, &rate, &outer, &mut runs),
                Err(error) => errors.push(*error),
            }
            if let Some(run) = runs.get_mut(first) {
                run.is_first = true;
            }
            if runs.len() > RUNS_MAX {
                let message = format!("there are more than {RUNS_MAX} runs");
                let at = rd.name.at;
                let many = Diagnostic::new(at, "runs", &rd.name.text, message);
                errors.push(many.remedy("let loops have fewer values"));
                return Err(errors);
            }
        }
    }
    if errors.is_empty() { Ok(runs) } else { Err(errors) }
}

/// The rate of a definition: `iorate` of luns, `fwdrate` of file systems.
fn rate_of(rd: &Definition<Rd>, of_files: bool) -> Result<Rate, Box<Diagnostic>> {
    let (rate, word) =
        if of_files { (&rd.options.fwd_rate, "fwdrate") } else { (&rd.options.io_rate, "iorate") };
    match rate {
        // A format needs no rate.
        Rate::Unset if of_files && rd.options.format.only => Ok(Rate::Max),
        Rate::Unset => {
            let message = format!("rd={} has no {word}", rd.name.text);
            let missing = Diagnostic::new(rd.name.at, "rate", &rd.name.text, message);
            let remedy = format!("add {word}=max, or a number of operations per second");
            Err(Box::new(missing.remedy(remedy)))
        }
        Rate::Each(rates) if rates.contains(&0.0) && !rd.options.distribution.variable => {
            let message =
                format!("{word} of rd={} has a rate of 0, which does nothing", rd.name.text);
            let wrong = Diagnostic::new(rd.at(word), "rate", &rd.name.text, message);
            let remedy = "give operations per second, max, curve, or a share such as 80%";
            Err(Box::new(wrong.remedy(remedy)))
        }
        rate => Ok(rate.clone()),
    }
}

/// Times that do not fit together.
fn times(rd: &Definition<Rd>) -> Vec<Diagnostic> {
    let Rd { elapsed_s, interval_s, warmup_s, .. } = rd.options;
    let wrong = |parameter: &str, message: String, remedy: String| {
        let word = rd.given.get(parameter).and_then(|given| given.value.as_deref());
        let word = word.unwrap_or(&rd.name.text);
        Diagnostic::new(rd.at(parameter), "times", word, message).remedy(remedy)
    };
    let mut errors = Vec::new();
    if elapsed_s < 2 * interval_s {
        let message = format!("elapsed={elapsed_s} is less than two intervals of {interval_s} s");
        errors.push(wrong("elapsed", message, format!("give {} at least", 2 * interval_s)));
    } else if !elapsed_s.is_multiple_of(interval_s) {
        let message = format!("elapsed={elapsed_s} is no multiple of interval={interval_s}");
        let next = elapsed_s.next_multiple_of(interval_s);
        errors.push(wrong("elapsed", message, format!("give {next}, for example")));
    }
    if !warmup_s.is_multiple_of(interval_s) {
        let message = format!("warmup={warmup_s} is no multiple of interval={interval_s}");
        let next = warmup_s.next_multiple_of(interval_s);
        errors.push(wrong("warmup", message, format!("give {next}, for example")));
    }
    errors
}

/// Adds the runs of all loops of a definition.
fn loops(rd: &Definition<Rd>, rate: &Rate, outer: &Run, runs: &mut Vec<Run>) {
    let mut all: Vec<Loop> = rd.options.loops.clone();
    let is_variable = rd.options.distribution.variable;
    match rate {
        // A list of rates is the innermost loop, wherever it is written.
        Rate::Each(rates) if rates.len() > 1 && !is_variable => {
            if !all.iter().any(|known| known.kind == LoopKind::FwdRate) {
                let values = LoopValues::Numbers(rates.clone());
                all.push(Loop { kind: LoopKind::IoRate, values });
            }
        }
        // A later rate without list replaces a default's list.
        _ => all.retain(|known| known.kind != LoopKind::FwdRate),
    }
    nested(&all, rate, is_variable, &mut outer.clone(), rd, runs);
}

fn nested(
    left: &[Loop],
    rate: &Rate,
    is_variable: bool,
    run: &mut Run,
    rd: &Definition<Rd>,
    runs: &mut Vec<Run>,
) {
    if runs.len() > RUNS_MAX {
        return;
    }
    let Some((first, rest)) = left.split_first() else {
        return with_rate(rate, is_variable, run, rd, runs);
    };
    let values: Vec<LoopValue> = match &first.values {
        LoopValues::Numbers(numbers) => numbers.iter().copied().map(LoopValue::Number).collect(),
        LoopValues::Operations(all) => all.iter().copied().map(LoopValue::Operation).collect(),
    };
    for value in values {
        run.loops.push((first.kind, value));
        nested(rest, rate, is_variable, run, rd, runs);
        run.loops.pop();
    }
}

/// Adds the runs of one combination: one, or the runs of a curve.
fn with_rate(rate: &Rate, is_variable: bool, run: &Run, rd: &Definition<Rd>, runs: &mut Vec<Run>) {
    let looped = run.number(LoopKind::IoRate).or(run.number(LoopKind::FwdRate));
    let single = match rate {
        Rate::Each(rates) if !is_variable => looped.or(rates.first().copied()),
        _ => None,
    };
    let rate = match (rate, single) {
        (_, Some(share)) if share < 0.0 => RunRate::OfPrevious(-share),
        (_, Some(rate)) if rate.is_infinite() => RunRate::Max,
        (_, Some(rate)) => RunRate::Fixed(rate),
        (Rate::Each(_), None) => RunRate::Variable,
        (Rate::Curve, _) => RunRate::CurveMax,
        (Rate::Max | Rate::Unset, _) => RunRate::Max,
    };
    let name = match rate {
        RunRate::OfPrevious(percent) => format!("{}_({percent}%)", run.name),
        _ => run.name.clone(),
    };
    runs.push(Run { rate, name, ..run.clone() });
    if rate == RunRate::CurveMax {
        let points = if rd.options.curve.is_empty() { &CURVE[..] } else { &rd.options.curve };
        runs.extend(points.iter().map(|percent| Run {
            rate: RunRate::OfCurve(*percent),
            name: format!("{}_({percent}%)", run.name),
            ..run.clone()
        }));
    }
}

#[cfg(test)]
mod tests;
