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
    let mut unbelieved: Vec<&str> =
        of.doubts.iter().filter(|doubt| doubt.unbelieved).map(|doubt| doubt.run.as_str()).collect();
    unbelieved.dedup();
    let believe = match &unbelieved[..] {
        [] => String::new(),
        all => format!(" What {} measured cannot be believed as it stands.", all.join(" and ")),
    };
    if of.figures.is_empty() {
        return format!("Nothing of {run} can be set beside {baseline}.");
    }
    let unfair = named(&of.unfair().collect::<Vec<_>>());
    let text = match of.fairness {
        Fairness::Fair => format!("{}.", fmt::capital(&summary(baseline, of))),
        Fairness::OtherEnvironment => format!(
            "{run} ran under other conditions than {baseline} ({unfair}), so that no change is put \
             down to the storage alone: {}.",
            summary(baseline, of)
        ),
        Fairness::OtherWork => format!(
            "{run} is not the same work as {baseline} ({unfair}), so that it answers another \
             question: {}.",
            summary(baseline, of)
        ),
    };
    text + &believe
}

/// The conditions that make it unfair: `scheduler: none → mq-deadline`.
fn named(differences: &[&Difference]) -> String {
    let one = |of: &&&Difference| {
        let value = |value: &Option<String>| value.clone().unwrap_or("not set".into());
        format!("{}: {} → {}", of.name, value(&of.baseline), value(&of.run))
    };
    let mut names: Vec<String> = differences.iter().take(NAMED_MAX).map(|of| one(&of)).collect();
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
    let all = |outcome: Outcome| changed.iter().all(|figure| figure.outcome == outcome);
    let verb = match (all(Outcome::Better), all(Outcome::Worse)) {
        (true, _) => "is better than",
        (_, true) => "is worse than",
        _ => "differs from",
    };
    let named: Vec<String> =
        changed.iter().take(NAMED_MAX).map(|figure| figure_text(figure, several)).collect();
    let more = match changed.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        1 => ", and one more figure".into(),
        more => format!(", and {more} more figures"),
    };
    format!("{run} {verb} {baseline}: {}{more}", named.join(", "))
}

fn nothing_changed(baseline: &str, of: &RunChange, several: bool) -> String {
    let run = &of.run;
    let known = of.figures.iter().find(|figure| figure.interval.is_some());
    match known {
        Some(figure) => format!(
            "no change from {baseline} to {run} was shown; that of {} may be anything {}",
            name(figure, several),
            interval(figure)
        ),
        None => match &of.figures[0].basis {
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
    format!("{} of {}{phase}", figure.kind.label(), figure.operation)
}

/// The interval of a change: `from -3.6 % to -2.5 %`.
pub fn interval(figure: &FigureChange) -> String {
    match figure.interval {
        Some(of) => format!("from {} to {}", fmt::change(of.low), fmt::change(of.high)),
        None => "of unknown certainty".into(),
    }
}
