//! Bounds on figures of results, as users write them: `load/db: commit p99 < 10ms`.

use std::fmt::{self, Display, Formatter};

use candor_plan::nearest;
use candor_plan::work::operation_names;
use candor_record::results::FigureKind;

/// A bound on a figure. The form is `[PHASE[/JOB]:] [OPERATION] [FIGURE] < BOUND`, or `>`, `<=`,
/// `>=`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Phase, or phase and job with a slash between; absent means all.
    pub of: Option<String>,
    /// Operation; absent means all.
    pub operation: Option<String>,
    /// The figure; absent means the rate of the operation.
    pub figure: Option<FigureKind>,
    /// The sign is `<` or `<=`, else `>` or `>=`.
    pub is_below: bool,
    /// The sign includes the bound.
    pub or_equal: bool,
    /// The bound as written.
    pub value: String,
}

impl Bound {
    /// Reads a bound; `form` completes a sentence about a text without a sign.
    ///
    /// # Errors
    /// A sentence with the part that is wrong.
    pub fn parse(text: &str, form: &str) -> Result<Bound, String> {
        let at = text.find(['<', '>']).ok_or_else(|| format!("`{text}` has no < or >: {form}"))?;
        let (left, sign) = (&text[..at], &text[at..=at]);
        let right = text[at + 1..].trim_start();
        let value = right.strip_prefix('=');
        let or_equal = value.is_some();
        let value = value.unwrap_or(right).trim().to_owned();
        let (of, words) = match left.rsplit_once(':') {
            Some((of, words)) => (Some(of.trim().to_owned()), words),
            None => (None, left),
        };
        let words: Vec<&str> = words.split_whitespace().collect();
        let (operation, figure) = match words[..] {
            [word] => match FigureKind::parse(word) {
                Ok(figure) => (None, Some(figure)),
                Err(why) => (Some(operation(word).map_err(|_| no_figure(word, &why))?), None),
            },
            [op, figure] => (Some(operation(op)?), Some(FigureKind::parse(figure)?)),
            _ => return Err(format!("`{}` names no figure: {form}", left.trim())),
        };
        Ok(Bound { of, operation, figure, is_below: sign == "<", or_equal, value })
    }

    /// True for a bound on that phase and job.
    pub fn selects(&self, phase: &str, job: &str) -> bool {
        let Some(of) = &self.of else { return true };
        let of_job = of.strip_suffix(job).and_then(|of| of.strip_suffix('/'));
        is_phase(of, phase) || of_job.is_some_and(|of| is_phase(of, phase))
    }

    /// True for a bound on that operation.
    pub fn selects_operation(&self, name: &str) -> bool {
        self.operation.as_deref().is_none_or(|operation| operation == name)
    }

    /// The value is on the side of `bound` that the sign names.
    pub fn holds(&self, value: f64, bound: f64) -> bool {
        let beyond = if self.is_below { value < bound } else { value > bound };
        beyond || self.or_equal && value == bound
    }
}

/// True if `name` is the name of the phase. Names that end in `depth N` match any depth above 1,
/// and any number of workers, because a search finds them during the run.
pub fn is_phase(name: &str, phase: &str) -> bool {
    let found = name.strip_suffix("depth N").and_then(|kind| phase.strip_prefix(kind));
    name == phase
        || found.is_some_and(|at| {
            at != "depth 1" && (at.starts_with("depth ") || at.contains(" workers of depth "))
        })
}

/// A word that is neither a figure nor an operation.
fn no_figure(word: &str, why: &str) -> String {
    let figures = ["iops", "bandwidth", "mean"];
    match nearest(word, figures.into_iter().chain(operation_names())) {
        Some(near) => {
            format!("`{word}` is neither a figure nor an operation; did you mean {near}?")
        }
        None => format!("{why}, or an operation such as read, write or commit"),
    }
}

fn operation(word: &str) -> Result<String, String> {
    match operation_names().find(|name| *name == word) {
        Some(name) => Ok(name.to_owned()),
        None => {
            let near = nearest(word, operation_names());
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            Err(format!("`{word}` is no operation, such as read, write or commit{near}"))
        }
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(of) = &self.of {
            write!(f, "{of}: ")?;
        }
        if let Some(operation) = &self.operation {
            write!(f, "{operation} ")?;
        }
        if let Some(figure) = self.figure {
            write!(f, "{figure} ")?;
        }
        let sign = if self.is_below { '<' } else { '>' };
        write!(f, "{sign}{} {}", if self.or_equal { "=" } else { "" }, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_a_selection_a_figure_and_a_sign() {
        let bound = Bound::parse("random read, depth 1/db: commit p99<= 10ms", "").unwrap();
        assert_eq!(bound.to_string(), "random read, depth 1/db: commit p99 <= 10ms");
        assert!(bound.selects("random read, depth 1", "db") && !bound.selects("db", "db"));
        assert!(bound.selects_operation("commit") && !bound.selects_operation("write"));
        assert!(bound.holds(10.0, 10.0) && bound.holds(9.0, 10.0) && !bound.holds(11.0, 10.0));
        let whole = Bound::parse("load: iops > 20k", "").unwrap();
        assert!(whole.selects("load", "any") && whole.selects_operation("any"));
        assert!(!whole.holds(10.0, 10.0), "the bound itself is not above it");
        assert_eq!(Bound::parse("commit > 2k/s", "").unwrap().figure, None);
        let found = Bound::parse("random read, depth N/db: iops > 1", "").unwrap();
        for phase in ["random read, depth 32", "random read, 4 workers of depth 64"] {
            assert!(found.selects(phase, "db") && !found.selects(phase, "log"));
        }
        for phase in ["random read, depth 1", "random write, depth 32", "random read"] {
            assert!(!found.selects(phase, "db"), "{phase}");
        }
        for (text, part) in [
            ("p99", "has no < or >: FORM"),
            ("iopss > 5", "did you mean iops?"),
            (
                "commmit p99 < 5ms",
                "is no operation, such as read, write or commit; did you mean commit?",
            ),
            ("speed > 5", "is not a metric"),
            ("read write iops > 5", "names no figure"),
            ("> 5", "names no figure"),
        ] {
            let error = Bound::parse(text, "FORM").expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
