//! The verdict on a run of several results, in a line that names those it concerns.

use candor_plan::work::Figure;

use crate::{Finding, PhaseJudgement, PhaseRecord, Repeats, Severity, Verdict, fmt};

/// A result with its judgement.
type Judged<'a> = (&'a PhaseRecord, &'a PhaseJudgement);

/// Results that are named one by one.
const NAMED_MAX: usize = 3;
/// Rules that are named beside a result.
const RULES_MAX: usize = 2;

/// The worst verdict of several results, which results it concerns, and what of the others: none
/// of them is quoted as if it were all.
pub fn of_results(results: &[Judged<'_>], repeats: &[Repeats]) -> String {
    let worst = results.iter().map(|(_, judged)| judged.verdict).max().unwrap_or_default();
    let (concerned, others): (Vec<Judged<'_>>, Vec<_>) =
        results.iter().copied().partition(|(_, judged)| judged.verdict == worst);
    let are_repeats = are_repeats(results);
    let noun = if are_repeats { "repeats" } else { "results" };
    let label = label(worst, &concerned);
    let mean = mean(repeats).map(|mean| format!(" {mean}.")).unwrap_or_default();
    let of = match others.is_empty() {
        true => {
            format!("{label}: all {} {noun}{}.{mean}", results.len(), rules(worst, &concerned))
        }
        false => format!(
            "{label}: {} of {} {noun}: {}; {}.{mean}",
            concerned.len(),
            results.len(),
            names(worst, &concerned, are_repeats),
            of_others(&others)
        ),
    };
    let corrupt = concerned.first().filter(|_| worst == Verdict::Corrupt);
    let what = corrupt.and_then(|(_, judged)| judged.headline.split_once(": "));
    what.map_or(of.clone(), |(_, what)| format!("{of} {what}"))
}

/// The mean of a run that did one thing again and again, with its interval and its ends.
fn mean(repeats: &[Repeats]) -> Option<String> {
    let [repeated] = repeats else { return None };
    let work: Vec<_> = repeated.results.iter().filter(|of| of.figure.is_work()).collect();
    let [result] = work[..] else { return None };
    let rate = result.rate();
    let interval = fmt::percent(rate.interval_share());
    if result.figure == Figure::Memory {
        let [mean, min, max] = [rate.mean, rate.min, rate.max].map(fmt::rate_decimal);
        return Some(format!("Mean {mean} ± {interval}, from {min} to {max}"));
    }
    let bytes = result.bytes_per_s.map(|bytes| format!(" ({})", fmt::rate_decimal(bytes.mean)));
    let [mean, min, max] = [rate.mean, rate.min, rate.max].map(fmt::count);
    let bytes = bytes.unwrap_or_default();
    Some(format!("Mean {mean} {}s/s{bytes} ± {interval}, from {min} to {max}", result.operation))
}

/// Whether all are one phase, run again and again.
fn are_repeats(results: &[Judged<'_>]) -> bool {
    let which = |(phase, _): &Judged<'_>| (phase.phase, phase.name.clone());
    results.iter().all(|result| which(result) == which(&results[0]))
}

/// The verdict, with the object that all of them measured instead.
fn label(verdict: Verdict, concerned: &[Judged<'_>]) -> String {
    let measures = |(_, judged): &Judged<'_>| judged.findings.first().and_then(|f| f.measures);
    let first = concerned.first().and_then(measures);
    let alike = first.filter(|_| concerned.iter().all(|result| measures(result) == first));
    match alike.filter(|_| verdict == Verdict::MeasuresElse) {
        Some(what) => format!("{} ({what})", verdict.label()),
        None => verdict.label().to_owned(),
    }
}

/// The results, each with the rules that say so; repeats go by their numbers.
fn names(verdict: Verdict, concerned: &[Judged<'_>], are_repeats: bool) -> String {
    let name = |result: &Judged<'_>| {
        let phase = result.0;
        let number = format!("#{}", phase.repeat + 1);
        let name = match (are_repeats, phase.repeat) {
            (true, _) => number,
            (false, 0) => phase.name.clone(),
            (false, _) => format!("{} {number}", phase.name),
        };
        format!("{name}{}", rules(verdict, std::slice::from_ref(result)))
    };
    let names: Vec<String> = concerned.iter().take(NAMED_MAX).map(name).collect();
    match concerned.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The rules that come to the verdict, in parentheses; empty where there is none.
fn rules(verdict: Verdict, concerned: &[Judged<'_>]) -> String {
    let decides = |finding: &&Finding| match verdict {
        Verdict::Believable | Verdict::Corrupt => false,
        Verdict::WithRemarks => finding.severity == Severity::Remark,
        Verdict::NotVerifiable => finding.severity == Severity::NotVerifiable,
        Verdict::MeasuresElse => finding.severity == Severity::MeasuresElse,
    };
    let mut rules: Vec<&str> = Vec::new();
    for finding in concerned.iter().flat_map(|(_, judged)| &judged.findings).filter(decides) {
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let more = if rules.len() > RULES_MAX { ", …" } else { "" };
    rules.truncate(RULES_MAX);
    if rules.is_empty() { String::new() } else { format!(" ({}{more})", rules.join(", ")) }
}

fn of_others(others: &[Judged<'_>]) -> String {
    let at_most = |verdict| others.iter().filter(|(_, judged)| judged.verdict <= verdict).count();
    let [clean, stand] = [Verdict::Believable, Verdict::WithRemarks].map(at_most);
    match others.len() {
        1 if clean == 1 => "the other is believable".into(),
        1 if stand == 1 => "the other is believable with remarks".into(),
        all if clean == all => "the others are believable".into(),
        all if stand == all => "the others are believable, some with remarks".into(),
        _ if stand == 0 => "none is believable".into(),
        _ => format!("{stand} of the others believable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, MeasuredInstead};

    fn finding(rule: &str, severity: Severity) -> Finding {
        let measures = (severity == Severity::MeasuresElse).then_some(MeasuredInstead::PageCache);
        Finding {
            rule: rule.into(),
            title: String::new(),
            severity,
            confidence: Confidence::Certain,
            when: None,
            job: None,
            limits: None,
            measures,
            sentence: String::new(),
            evidence: Vec::new(),
            consequences: Vec::new(),
            advice: String::new(),
            changes: Vec::new(),
            next: None,
        }
    }

    fn line(of: &[(&str, usize, u32, &[Finding])]) -> String {
        let results = of.iter().map(|(name, phase, repeat, findings)| {
            let (phase, repeat) = (*phase, *repeat);
            let record = PhaseRecord { name: (*name).into(), phase, repeat, ..Default::default() };
            let verdict = Verdict::of(findings);
            let findings = findings.to_vec();
            (record, PhaseJudgement { verdict, findings, ..PhaseJudgement::default() })
        });
        let results: Vec<_> = results.collect();
        let results: Vec<_> = results.iter().map(|(record, judged)| (record, judged)).collect();
        of_results(&results, &Repeats::of(&results))
    }

    #[test]
    fn results_that_a_verdict_concerns_are_named() {
        let cached = [finding("A1", Severity::MeasuresElse), finding("G2", Severity::Remark)];
        let rough = [finding("C1", Severity::Remark), finding("D1", Severity::Explains)];
        let series =
            [("write", 0, 0, &[][..]), ("read", 1, 0, &cached[..]), ("random", 2, 0, &rough[..])];
        assert_eq!(
            line(&series),
            "Measures something else (the page cache): 1 of 3 results: read (A1); the others are \
             believable, some with remarks."
        );
        let rough: Vec<_> = (0..5).map(|phase| ("read", phase, 0, &rough[..])).collect();
        assert_eq!(line(&rough), "Believable with remarks: all 5 results (C1).");
        assert_eq!(
            line(&[&rough[..4], &[("clean", 9, 0, &[][..])]].concat()),
            "Believable with remarks: 4 of 5 results: read (C1), read (C1), read (C1) and 1 more; \
             the other is believable."
        );
    }

    #[test]
    fn repeats_are_named_by_their_numbers() {
        let cached = [finding("A1", Severity::MeasuresElse)];
        let repeats =
            [("read", 0, 0, &[][..]), ("read", 0, 1, &cached[..]), ("read", 0, 2, &cached[..])];
        assert_eq!(
            line(&repeats),
            "Measures something else (the page cache): 2 of 3 repeats: #2 (A1), #3 (A1); the \
             other is believable."
        );
    }
}
