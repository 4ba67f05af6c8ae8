//! Sentences of a comparison.

use candor_record::comparison::{Basis, Difference, Fairness, FigureChange, Outcome, RunChange};
use candor_record::fmt;

/// Figures and conditions that a headline names.
const NAMED_MAX: usize = 2;

/// The name of a run among others: letters, and numbers behind the last of them.
pub fn label(nth: usize) -> String {
    match u8::try_from(nth).ok().filter(|nth| *nth < 26) {
        Some(nth) => char::from(b'A' + nth).to_string(),
        None => format!("Z{}", nth - 24),
    }
}

/// The result of a run beside the baseline in a sentence or two.
pub fn headline(baseline: &str, of: &RunChange) -> String {
    let run = &of.run;
    if of.figures.is_empty() {
        return format!("{baseline} and {run} have no result in common.");
    }
    let unfair = named(&of.unfair().collect::<Vec<_>>());
    if of.fairness == Fairness::OtherWork {
        return format!(
            "{run} is not the same work as {baseline} ({unfair}), so their numbers are not \
             comparable."
        );
    }
    let labels = [baseline, run.as_str()]
        .into_iter()
        .filter(|label| of.doubts.iter().any(|doubt| doubt.unbelieved && doubt.run == *label));
    let labels = labels.collect::<Vec<_>>().join(" and ");
    if of.figures.iter().all(|figure| figure.unbelieved) {
        return format!(
            "Not comparable: what {labels} measured is not the storage, or could not be verified."
        );
    }
    let left_out = if of.figures.iter().any(|figure| figure.unbelieved) {
        format!(
            " Some results of {labels} are left out: they are not the storage's, or could not be \
             verified."
        )
    } else {
        String::new()
    };
    let summary = summary(baseline, of);
    match of.fairness {
        Fairness::OtherEnvironment => format!(
            "{run} ran under other conditions than {baseline} ({unfair}), which may cause a change \
             in place of the storage: {summary}.{left_out}"
        ),
        Fairness::Fair | Fairness::OtherWork => {
            format!("{}.{left_out}", fmt::capital(&summary))
        }
    }
}

/// The conditions that make it unfair: `scheduler: none → mq-deadline`.
fn named(differences: &[&Difference]) -> String {
    let named = differences.iter().take(NAMED_MAX).map(|of| {
        let [baseline, run] =
            [&of.baseline, &of.run].map(|value| value.as_deref().unwrap_or("not set"));
        format!("{}: {baseline} → {run}", of.name)
    });
    let mut names: Vec<String> = named.collect();
    if differences.len() > NAMED_MAX {
        names.push(format!("{} more", differences.len() - NAMED_MAX));
    }
    names.join("; ")
}

fn summary(baseline: &str, of: &RunChange) -> String {
    let run = &of.run;
    let changed: Vec<&FigureChange> =
        of.figures.iter().filter(|figure| figure.outcome.is_change()).collect();
    let several = of.figures.iter().any(|figure| figure.phase != of.figures[0].phase);
    if changed.is_empty() {
        return nothing_changed(baseline, of, several);
    }
    let verb = match [Outcome::Better, Outcome::Worse]
        .map(|outcome| changed.iter().all(|figure| figure.outcome == outcome))
    {
        [true, _] => "is better than",
        [_, true] => "is worse than",
        _ => "differs from",
    };
    let named: Vec<String> =
        changed.iter().take(NAMED_MAX).map(|figure| figure_text(figure, several)).collect();
    let more = match changed.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        1 => ", and one more metric".into(),
        more => format!(", and {more} more metrics"),
    };
    format!("{run} {verb} {baseline}: {}{more}", named.join(", "))
}

fn nothing_changed(baseline: &str, of: &RunChange, several: bool) -> String {
    let run = &of.run;
    let mut known = of.figures.iter().filter(|figure| !figure.unbelieved);
    let first = known.clone().next().unwrap_or(&of.figures[0]);
    let suspected = known.clone().find(|figure| figure.outcome == Outcome::Suspected);
    if let Some(figure) = suspected {
        let text = figure_text(figure, several);
        return format!(
            "possible change from {baseline} to {run}: {text}; more repeats would decide"
        );
    }
    match known.find(|figure| figure.interval.is_some()) {
        Some(figure) => format!(
            "no significant change from {baseline} to {run}: {} {}",
            name(figure, several),
            interval(figure)
        ),
        None => match &first.basis {
            Basis::Nothing { why } => {
                format!("nothing shows whether {run} differs from {baseline}: {why}")
            }
            _ => format!("nothing shows whether {run} differs from {baseline}"),
        },
    }
}

fn figure_text(figure: &FigureChange, several: bool) -> String {
    let name = name(figure, several);
    format!("{name} {} ({})", fmt::change(figure.change), interval(figure))
}

/// The figure by its operation, and by its phase where there are several.
pub fn name(figure: &FigureChange, several: bool) -> String {
    let phase = if several { format!(" in {}", figure.phase) } else { String::new() };
    format!("{} of {}{phase}", figure.kind.label_of(&figure.operation), figure.operation)
}

/// The interval of a change: `from -3.6 % to -2.5 %`.
pub fn interval(figure: &FigureChange) -> String {
    match figure.interval {
        Some(of) => format!("from {} to {}", fmt::change(of.low), fmt::change(of.high)),
        None => "of unknown certainty".into(),
    }
}
