//! The verdict on a run of several results in one line, with the names of the results.

use std::cmp::Reverse;

use candor_plan::work::Figure;
use candor_record::{
    Finding, PhaseJudgement, PhaseRecord, Repeats, Severity, Verdict, fmt, lost_share_max,
};

/// A result with its judgement.
type Judged<'a> = (&'a PhaseRecord, &'a PhaseJudgement);

/// Greatest number of results in a list of names.
const NAMED_MAX: usize = 3;

/// The mean of repeats, the number of results with the worst verdict, the most frequent cause, and
/// the verdict of the other results.
pub fn of_results(results: &[Judged<'_>], repeats: &[Repeats]) -> String {
    let worst = results.iter().map(|(_, judged)| judged.verdict).max().unwrap_or_default();
    let (concerned, others): (Vec<Judged<'_>>, Vec<_>) =
        results.iter().copied().partition(|(_, judged)| judged.verdict == worst);
    if let Some(sentence) = corruption(results.iter().map(|(phase, _)| *phase)) {
        return sentence;
    }
    let are_repeats = are_repeats(results);
    let of = Concerned { results: &concerned, all: results, are_repeats };
    let stand = of.stand(worst);
    let cause = cause(worst, &concerned, are_repeats).map(|cause| format!(": {cause}"));
    let rest = if worst == Verdict::Caution {
        too_low(lost_share_max_of(&concerned)).map(|lost| format!("; {lost}")).unwrap_or_default()
    } else {
        of_others(&others)
    };
    let mean = mean(repeats).map(|mean| format!("{mean}. ")).unwrap_or_default();
    format!("{mean}{stand}{}{rest}.", cause.unwrap_or_default())
}

/// The results that have the worst verdict.
struct Concerned<'a> {
    results: &'a [Judged<'a>],
    all: &'a [Judged<'a>],
    are_repeats: bool,
}

impl Concerned<'_> {
    /// Caches answered in addition to the storage, with a caution for that.
    fn all_include_caches(&self) -> bool {
        self.all.iter().all(|(_, judged)| {
            let mut cautions =
                judged.findings.iter().filter(|finding| finding.severity == Severity::Caution);
            judged.answered_by.is_some() && cautions.any(|finding| finding.measures.is_some())
        })
    }

    /// The number of results with the verdict, in a clause.
    fn stand(&self, verdict: Verdict) -> String {
        let (all, some) = (self.all.len(), self.results.len());
        let noun = if self.are_repeats { "repeats" } else { "results" };
        let measured = measured(self.results);
        match verdict {
            Verdict::Ok => format!("All {all} {noun} are {}", source(self.all)),
            Verdict::Caution if self.all_include_caches() => {
                format!("All {all} {noun} include caches of this host, with caution")
            }
            Verdict::Caution => {
                let caution = if some == all { "with".into() } else { format!("{some} with") };
                format!("All {all} {noun} are {}, {caution} caution", source(self.all))
            }
            Verdict::Unverified if some == all => format!("None of {all} {noun} can be verified"),
            Verdict::Unverified => format!("{some} of {all} {noun} cannot be verified"),
            Verdict::Wrong if some == all => {
                format!("None of {all} {noun} is the storage's number{measured}")
            }
            Verdict::Wrong if some == 1 => {
                format!("1 of {all} {noun} is not the storage's number{measured}")
            }
            Verdict::Wrong => {
                format!("{some} of {all} {noun} are not the storage's numbers{measured}")
            }
            Verdict::Corrupt => format!("{some} of {all} {noun} read corrupt data"),
        }
    }
}

/// The number of blocks that differ from the data written, in a sentence; absent for 0 blocks.
pub fn corruption<'a>(phases: impl IntoIterator<Item = &'a PhaseRecord>) -> Option<String> {
    let (mut blocks, mut objects) = (Compared::default(), Compared::default());
    for measured in phases.into_iter().flat_map(|phase| &phase.measurements) {
        if let Some(stats) = &measured.verify {
            blocks.add(stats.mismatches(), stats.blocks);
        }
        if let Some(http) = &measured.http {
            objects.add(http.objects.mismatches, http.objects.checked_reads);
        }
    }
    blocks.corruption("blocks read").or_else(|| objects.corruption("reads of objects"))
}

/// Data that was compared with the data written.
#[derive(Default)]
struct Compared {
    wrong: u64,
    checked: u64,
}

impl Compared {
    fn add(&mut self, wrong: u64, checked: u64) {
        self.wrong = self.wrong.saturating_add(wrong);
        self.checked = self.checked.saturating_add(checked);
    }

    fn corruption(&self, what: &str) -> Option<String> {
        let Compared { wrong, checked } = self;
        let sentence =
            format!("Corrupt data: {wrong} of {checked} {what} differ from the data written.");
        (*wrong > 0).then_some(sentence)
    }
}

/// The share by which a rate may be too low; absent if it is unknown or small.
pub fn too_low(lost_share: Option<f64>) -> Option<String> {
    let lost = lost_share.filter(|lost| *lost >= 0.005)?;
    Some(format!("at most about {} too low", fmt::percent(lost)))
}

/// The greatest lost share of any result; absent if a result has none.
fn lost_share_max_of(concerned: &[Judged<'_>]) -> Option<f64> {
    let shares = concerned.iter().map(|(_, judged)| lost_share_max(&judged.findings));
    shares.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// Source of the numbers of results without caution: the storage or a cache.
fn source(results: &[Judged<'_>]) -> String {
    let of_caches = results.iter().filter(|(_, judged)| judged.answered_by.is_some()).count();
    let number = if results.len() == 1 { "number" } else { "numbers" };
    match results.len() - of_caches {
        0 => format!("a cache's {number}, as planned"),
        all if all == results.len() => format!("the storage's {number}"),
        _ => format!("the storage's numbers ({of_caches} of them a cache's, as planned)"),
    }
}

/// The object that all results measured instead of the storage, in parentheses.
fn measured(concerned: &[Judged<'_>]) -> String {
    let mut measured =
        concerned.iter().map(|(_, judged)| judged.findings.first().and_then(|f| f.measures));
    match measured.next().flatten() {
        Some(first) if measured.all(|other| other == Some(first)) => format!(" ({first})"),
        _ => String::new(),
    }
}

/// The mean of a run that repeated one operation, with its confidence interval and extremes.
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

/// Whether all results are repeats of one phase.
fn are_repeats(results: &[Judged<'_>]) -> bool {
    results.windows(2).all(|pair| {
        let [(one, _), (other, _)] = [pair[0], pair[1]];
        one.phase == other.phase && one.name == other.name
    })
}

/// Name of a result; for repeats, the number.
fn name(phase: &PhaseRecord, are_repeats: bool) -> String {
    let number = format!("#{}", phase.repeat + 1);
    match (are_repeats, phase.repeat) {
        (true, _) => number,
        (false, 0) => phase.name.clone(),
        (false, _) => format!("{} {number}", phase.name),
    }
}

/// A rule that decides a verdict, and the results that it decides.
struct Cause<'a> {
    finding: &'a Finding,
    /// Positions among the results that the verdict concerns.
    results: Vec<usize>,
}

/// Severity of the findings that decide a verdict.
fn deciding(verdict: Verdict) -> Option<Severity> {
    match verdict {
        Verdict::Ok | Verdict::Corrupt => None,
        Verdict::Caution => Some(Severity::Caution),
        Verdict::Unverified => Some(Severity::Unverified),
        Verdict::Wrong => Some(Severity::Wrong),
    }
}

/// The most frequent cause of the verdict, and the number of other causes.
fn cause(verdict: Verdict, concerned: &[Judged<'_>], are_repeats: bool) -> Option<String> {
    let severity = deciding(verdict)?;
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for (nth, (_, judged)) in concerned.iter().enumerate() {
        for finding in judged.findings.iter().filter(|finding| finding.severity == severity) {
            match causes.iter_mut().find(|known| known.finding.rule == finding.rule) {
                Some(known) if known.results.last() == Some(&nth) => {}
                Some(known) => known.results.push(nth),
                None => causes.push(Cause { finding, results: vec![nth] }),
            }
        }
    }
    // A limit explains more than noise; among causes of as many results, the heaviest is first.
    causes.sort_by_key(|cause| Reverse((cause.finding.limits.is_some(), cause.results.len())));
    let first = causes.first()?;
    let names: Vec<String> =
        first.results.iter().map(|nth| name(concerned[*nth].0, are_repeats)).collect();
    let of = match (names.len(), concerned.len()) {
        (all, concerned) if all == concerned && all > NAMED_MAX => String::new(),
        (..=NAMED_MAX, _) => format!(": {}", names.join(", ")),
        (many, _) => format!(", {many} results"),
    };
    let more = match causes.len() - 1 {
        0 => String::new(),
        1 => " and one more cause".into(),
        more => format!(" and {more} more causes"),
    };
    Some(format!("{} ({}{of}){more}", first.finding.title, first.finding.rule))
}

/// The verdict of the other results, as the last clause of a sentence.
fn of_others(others: &[Judged<'_>]) -> String {
    let [clean, stand] = [Verdict::Ok, Verdict::Caution]
        .map(|verdict| others.iter().filter(|(_, judged)| judged.verdict <= verdict).count());
    match others.len() {
        0 => String::new(),
        1 if clean == 1 => format!("; the other is {}", source(others)),
        1 if stand == 1 => "; the other is the storage's number, with caution".into(),
        all if clean == all => format!("; the other {all} are {}", source(others)),
        all if stand == all => {
            format!("; the other {all} are the storage's numbers, some with caution")
        }
        _ if stand == 0 => "; none of the others can be verified".into(),
        all => format!("; {stand} of the other {all} are the storage's numbers"),
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Confidence, MeasuredInstead};

    use super::*;

    fn finding(rule: &str, severity: Severity) -> Finding {
        let measures = (severity == Severity::Wrong).then_some(MeasuredInstead::PageCache);
        Finding {
            rule: rule.into(),
            title: format!("title of {rule}"),
            severity,
            confidence: Confidence::Certain,
            when: None,
            job: None,
            limits: None,
            measures,
            sentence: String::new(),
            lost_share_max: None,
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
        of_results(&results, &crate::repeats(&results))
    }

    #[test]
    fn results_that_a_verdict_concerns_are_named() {
        let cached = [finding("A1", Severity::Wrong), finding("G2", Severity::Caution)];
        let rough = [finding("C1", Severity::Caution), finding("D1", Severity::Explains)];
        let series =
            [("write", 0, 0, &[][..]), ("read", 1, 0, &cached[..]), ("random", 2, 0, &rough[..])];
        assert_eq!(
            line(&series),
            "1 of 3 results is not the storage's number (the page cache): title of A1 (A1: read); \
             the other 2 are the storage's numbers, some with caution."
        );
        let rough: Vec<_> = (0..5).map(|phase| ("read", phase, 0, &rough[..])).collect();
        assert_eq!(
            line(&rough),
            "All 5 results are the storage's numbers, with caution: title of C1 (C1)."
        );
        assert_eq!(
            line(&[&rough[..4], &[("clean", 9, 0, &[][..])]].concat()),
            "All 5 results are the storage's numbers, 4 with caution: title of C1 (C1)."
        );
    }

    #[test]
    fn the_cause_of_most_results_is_named() {
        let busy = [finding("B8", Severity::Caution), finding("F10", Severity::Caution)];
        let shared = [finding("F10", Severity::Caution)];
        let results: Vec<_> = [&busy, &shared[..], &shared, &shared, &busy[..1], &[]]
            .into_iter()
            .enumerate()
            .map(|(phase, findings)| ("read", phase, 0, findings))
            .collect();
        assert_eq!(
            line(&results),
            "All 6 results are the storage's numbers, 5 with caution: title of F10 (F10, 4 \
             results) and one more cause."
        );
    }

    fn lost(share: f64) -> Finding {
        Finding { lost_share_max: Some(share), ..finding("F10", Severity::Caution) }
    }

    #[test]
    fn a_known_loss_is_a_bound_of_the_error() {
        let known = [[lost(0.1), lost(0.2)], [lost(0.05), lost(0.0)]];
        let results = [("read", 0, 0, &known[0][..]), ("write", 1, 0, &known[1][..])];
        assert!(line(&results).ends_with("; at most about 28 % too low."), "{}", line(&results));
        let unknown = [lost(0.1), finding("C1", Severity::Caution)];
        let results = [results[0], ("write", 1, 0, &unknown[..])];
        assert!(!line(&results).contains("too low"), "{}", line(&results));
    }

    #[test]
    fn repeats_are_named_by_their_numbers() {
        let cached = [finding("A1", Severity::Wrong)];
        let repeats =
            [("read", 0, 0, &[][..]), ("read", 0, 1, &cached[..]), ("read", 0, 2, &cached[..])];
        assert_eq!(
            line(&repeats),
            "2 of 3 repeats are not the storage's numbers (the page cache): title of A1 (A1: #2, \
             #3); the other is the storage's number."
        );
    }
}
