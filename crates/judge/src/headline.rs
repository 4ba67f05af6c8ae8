//! The verdict in one line.

use candor_derive::summary;
use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{
    Finding, Limit, LimitClass, MeasuredInstead, Severity, Verdict, lost_share_max,
};

use crate::entry_jobs;
use crate::limit::moves_nothing;
use crate::object_jobs::{self, ObjectJob};
use crate::observed::Observed;

/// Whether a phase can be believed: what its findings amount to. A phase that did nothing cannot
/// be vouched for, whatever was found.
pub fn verdict(observed: &Observed, findings: &[Finding]) -> Verdict {
    if observed.nothing_done() { Verdict::Unverified } else { Verdict::of(findings) }
}

/// Limits that a headline names.
#[derive(Clone, Copy)]
pub struct HeadlineLimits<'a> {
    /// Limit of the phase.
    pub limited_by: Option<&'a Limit>,
    /// Cache that the plan measures.
    pub cache: Option<MeasuredInstead>,
}

/// The verdict and what it is about, in one line.
pub fn headline(
    observed: &Observed,
    verdict: Verdict,
    findings: &[Finding],
    limits: HeadlineLimits<'_>,
) -> String {
    if observed.nothing_done() {
        return nothing(observed);
    }
    let heaviest = findings.first();
    let sentence = || heaviest.map_or("", |finding| finding.sentence.as_str());
    let label = verdict.label();
    match verdict {
        Verdict::Ok => format!("{}: {}.", what(observed), whose(observed, limits)),
        Verdict::Caution => format!("{}: {}.", what(observed), cautions(findings, limits.cache)),
        Verdict::Unverified => format!("{label}: {}", sentence()),
        Verdict::Wrong => {
            let measures = heaviest.and_then(|finding| finding.measures);
            let measures = measures.map_or("not the target".into(), |what| what.to_string());
            format!("{label} ({measures}): {}", sentence())
        }
        // Said by the blocks that were verified, once all else is known.
        Verdict::Corrupt => String::new(),
    }
}

fn nothing(observed: &Observed) -> String {
    let error = observed.record.measurements.iter().flat_map(|m| &m.errors).next();
    let why = error.map_or(String::new(), |e| format!(": {} ({})", e.message, e.path));
    format!("Nothing was measured: no operation completed{why}.")
}

/// Owner of the number, and the limit, where the limit says more.
fn whose(observed: &Observed, limits: HeadlineLimits<'_>) -> String {
    let HeadlineLimits { limited_by, cache } = limits;
    let is_other = |limit: &&Limit| cache.is_none() || limit.class() != LimitClass::Memory;
    let whose = match cache {
        Some(cache) => format!("the number of {cache}, as planned"),
        None if moved_nothing(observed) => "candor's own cost".into(),
        None => "the storage's number".into(),
    };
    let limited = limited_by.filter(is_other).map(|limit| format!("; limited by {limit}"));
    format!("{whose}{}", limited.unwrap_or_default())
}

/// The work in words: operations, their size, and the rate in both families of units; of several
/// hosts also their number.
fn what(observed: &Observed) -> String {
    match observed.record.hosts.len() {
        0 | 1 => work(observed),
        hosts => format!("{} on {hosts} hosts", work(observed)),
    }
}

fn work(observed: &Observed) -> String {
    if observed.ran.is_empty() {
        let on_objects = object_jobs::ran(observed);
        return if on_objects.is_empty() { own_cost(observed) } else { requests(&on_objects) };
    }
    let sides =
        [Direction::Read, Direction::Write].into_iter().filter(|op| observed.app(*op).ops > 0.0);
    let sides: Vec<String> = sides
        .map(|op| {
            let app = observed.app(op);
            let size = fmt::size(ratio(app.bytes, app.ops));
            let ops = fmt::count(observed.ops_per_s(op));
            format!("{ops} {}s/s of {size} = {}", op.name(), fmt::rate(observed.bytes_per_s(op)))
        })
        .collect();
    if sides.is_empty() {
        return format!("{} trims/s", fmt::count(observed.ops_per_s(Direction::Trim)));
    }
    sides.join(" and ")
}

/// The requests for objects by operation, the most frequent ones.
fn requests(jobs: &[ObjectJob]) -> String {
    let operations =
        jobs.iter().flat_map(|job| job.operations().into_iter().map(move |op| (job, op)));
    let rates = operations.take(3).map(|(job, op)| {
        let rate =
            format!("{} {} requests/s", fmt::count(ratio(op.ops as f64, job.seconds())), op.name);
        if op.bytes == 0 {
            return rate;
        }
        let size = fmt::size(ratio(op.bytes as f64, op.ops as f64));
        format!("{rate} of {size} = {}", fmt::rate(ratio(op.bytes as f64, job.seconds())))
    });
    rates.collect::<Vec<_>>().join(" and ")
}

fn moved_nothing(observed: &Observed) -> bool {
    observed.ran.is_empty() && observed.phase.jobs.iter().all(moves_nothing)
}

fn own_cost(observed: &Observed) -> String {
    let ops = observed.record.measurements.iter();
    let ops: f64 = ops.map(|measured| measured.ops_done() as f64).sum();
    let what = match (entry_jobs::ran(observed).is_empty(), moved_nothing(observed)) {
        (false, _) => format!(" on names{}", in_files(observed)),
        (true, true) => " that move no data".into(),
        (true, false) => String::new(),
    };
    format!("{} operations/s{what}", fmt::count(ratio(ops, observed.elapsed_s())))
}

/// The rates of reads and writes in files of a tree.
fn in_files(observed: &Observed) -> String {
    [(Direction::Read, "read"), (Direction::Write, "written")]
        .map(|(op, done)| {
            let rate = observed.bytes_per_s(op);
            if rate > 0.0 { format!(", {} {done}", fmt::rate(rate)) } else { String::new() }
        })
        .concat()
}

/// Owner of the number, the heaviest caution by its title, how many more there are, and what they
/// cost at most.
fn cautions(findings: &[Finding], cache: Option<MeasuredInstead>) -> String {
    let mut cautions = findings.iter().filter(|finding| finding.severity == Severity::Caution);
    let title = |finding: &Finding| format!("{} ({})", finding.title, finding.rule);
    let first = cautions.next().map(title).unwrap_or_default();
    let more = match cautions.count() {
        0 => String::new(),
        1 => " and one more finding".into(),
        more => format!(" and {more} more findings"),
    };
    if let Some(cache) = cache {
        return format!("the number includes {cache}: {first}{more}");
    }
    match summary::too_low(lost_share_max(findings)) {
        Some(too_low) => {
            format!("the storage's number, but disturbed: {first}{more}; {too_low}")
        }
        None => format!("the storage's number, with caution: {first}{more}"),
    }
}
