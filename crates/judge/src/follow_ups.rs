//! Follow-ups: short trials of other work after a phase, which ones are worth their time, and
//! their results.
//!
//! A phase alone often cannot tell whether the device or the load was the limit, or whether
//! something below this host caches. A second of work that differs in one thing can. Nothing is
//! asked where the counters of the phase have the answer already.

use candor_plan::Sharing;
use candor_plan::blocks::{Access, Pace};
use candor_plan::units::Direction;
use candor_record::facts::{DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Change, Doubled, Ended, FollowUp, Measurement, PhaseJudgement, Quantity};

use crate::Case;
use crate::builder::FindingBuilder;
use crate::causes::stage_of;
use crate::expect;
use crate::observed::{Observed, Ran, busiest, finite};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::{
    AGAIN, DOUBLED_FLAT, DOUBLED_PAYS, KNEE, SLICE_OPS, SLICE_S, SLICED_PHASE_S,
};

/// A follow-up that would answer what a phase alone does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Change to the job.
    pub change: Change,
    /// Question that the phase alone could not answer.
    pub why: String,
}

/// The questions that the counts of a phase leave open, most important first.
pub fn questions(case: &Case, judged: &PhaseJudgement) -> Vec<Question> {
    let observed = Observed::new(case);
    let [ran] = observed.ran.as_slice() else { return Vec::new() };
    if !fit(&observed, ran) || judged.verdict > candor_record::Verdict::WithRemarks {
        return Vec::new();
    }
    let all = match ran.blocks.destroys().is_some() {
        true => vec![allocation(judged)],
        false => vec![
            more_load(ran, judged),
            files(&observed, ran, judged),
            cache(&observed, ran, judged),
            alone(&observed, ran, judged),
        ],
    };
    all.into_iter().flatten().collect()
}

/// Plain work of one job, long enough, that ended well and can be done again.
fn fit(observed: &Observed, ran: &Ran) -> bool {
    let (job, blocks) = (ran.job, ran.blocks);
    let once = observed.plan.repeats <= 1 && observed.phase.repeats <= 1;
    let plain = observed.phase.jobs.len() == 1
        && blocks.direct
        && blocks.verify.is_none()
        && blocks.zones.is_none()
        && blocks.windows.is_none()
        && !matches!(blocks.access, Access::Trace(_))
        && blocks.pace == Pace::default()
        && job.hooks.is_empty();
    let targets = job.targets.iter().filter_map(|name| observed.plan.target(name));
    let stay = targets.into_iter().all(|t| !t.remove && !t.append && t.scheduler.is_none());
    let measured = ran.measured;
    let well = matches!(measured.ended, Ended::Done | Ended::Time | Ended::Steady)
        && measured.errors.is_empty()
        && measured.depth_reached.is_none()
        && measured.ops_done() as f64 >= SLICE_OPS.value;
    once && plain && stay && well && observed.elapsed_s() >= SLICED_PHASE_S.value
}

/// A finding names a limit that needs no second look.
fn decided(judged: &PhaseJudgement, besides: &[Stage]) -> bool {
    let open = |stage: Stage| stage == Stage::Queue || besides.contains(&stage);
    judged.findings.iter().any(|f| f.limits.is_some() && !open(stage_of(f)))
}

fn question(change: Change, why: &str) -> Option<Question> {
    Some(Question { change, why: why.into() })
}

/// Whether more load would move more.
fn more_load(ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    if decided(judged, &[]) {
        return None;
    }
    let many = ran.blocks.engine.is_async();
    let starved = judged.findings.iter().any(|finding| finding.rule == "B4");
    match (many, starved, ran.blocks.access.is_random()) {
        (true, true, true) if ran.blocks.depth > 1 => question(
            Change::TwiceTheThreads,
            "the device had less to do than was asked for, and no thread was busy all the time",
        ),
        (true, false, _) => question(Change::TwiceTheDepth, LOAD_OR_DEVICE),
        (false, _, true) => question(Change::TwiceTheWorkers, LOAD_OR_DEVICE),
        _ => None,
    }
}

const LOAD_OR_DEVICE: &str = "no counter tells whether the device has more to give";

/// Whether workers get in each other's way in files that they share.
fn files(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let named = ran.job.targets.iter().filter_map(|name| observed.plan.target(name));
    let files: u64 = named.map(candor_plan::Target::files_named).sum();
    let shared = ran.job.sharing == Sharing::Shared && ran.job.workers > 1;
    let starved = judged.findings.iter().any(|finding| finding.rule == "B4");
    let enough = shared && files >= u64::from(ran.job.workers);
    match enough && starved && !decided(judged, &[]) {
        true => question(
            Change::FilesOfTheirOwn,
            "all workers share their files, and the device had less to do than was asked for",
        ),
        false => None,
    }
}

/// Whether something below this host caches.
fn cache(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let known = |rule: &str| judged.findings.iter().any(|finding| finding.rule == rule);
    let cold = !observed.written_before() && !known("A12") && !known("F13");
    let reach = reach(observed, ran)?;
    // What was read over and over has shown what a second pass is like.
    let once = observed.app(Direction::Read).bytes < 2.0 * reach;
    match cold
        && once
        && may_cache(observed)
        && observed.working_top().is_some()
        && !observed.all_memory()
    {
        true => question(Change::SamePlaces, "what lies below this host may cache, unseen by it"),
        false => None,
    }
}

/// Bytes that the work can read from.
fn reach(observed: &Observed, ran: &Ran) -> Option<f64> {
    let ours = |other: &crate::setup::Planned| other.index == ran.index;
    let targets = observed.targets_of(ours);
    let of = |target: &&candor_record::facts::TargetFacts| {
        let requested = observed.plan.target(&target.target)?.size.map(|size| size.0);
        let files = target.files.iter().map(|file| file.size_bytes).sum::<u64>();
        let device = || observed.facts.device(value(&target.device)?).map(|d| d.size_bytes);
        requested.or((files > 0).then_some(files)).or_else(device)
    };
    let each: Option<Vec<u64>> = targets.iter().map(of).collect();
    each.map(|sizes| sizes.into_iter().sum::<u64>() as f64).filter(|reach| *reach > 0.0)
}

/// Hosts of virtual machines, arrays behind a network and RAID controllers have caches that Linux
/// does not see.
fn may_cache(observed: &Observed) -> bool {
    let remote = |d: &&candor_record::facts::DeviceFacts| {
        d.remote.is_some() || matches!(d.kind, DeviceKind::Scsi | DeviceKind::NvmeFabric)
    };
    value(&observed.facts.host.hypervisor) != Some(&false) || observed.leaves().iter().any(remote)
}

/// How long one operation takes alone, where many were in flight.
fn alone(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let deep = ran.concurrency() > 2.0 * KNEE.value && ran.blocks.access.is_random();
    let known = expect::one_at_a_time(observed, ran).is_some();
    match deep && !known && !decided(judged, &[Stage::DeviceQueue]) {
        true => question(Change::OneAtATime, "nothing tells how long one operation takes alone"),
        false => None,
    }
}

/// Whether it is the allocation of blocks that held writers up.
fn allocation(judged: &PhaseJudgement) -> Option<Question> {
    match judged.findings.iter().any(|finding| finding.rule == "B18") {
        true => question(
            Change::SamePlaces,
            "writes that had to allocate blocks may be slow for another reason",
        ),
        false => None,
    }
}

/// A follow-up beside its phase.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// The follow-up.
    pub follow_up: &'a FollowUp,
    /// Operations per second of the phase.
    pub before: f64,
    /// Operations per second of the follow-up.
    pub now: f64,
    /// How many times as fast the follow-up was.
    pub times: f64,
    /// The follow-up was faster than any full second of the phase.
    apart: bool,
}

impl Beside<'_> {
    /// The follow-up was so much faster, and not by chance.
    pub fn faster(&self, times: f64) -> bool {
        self.apart && self.times >= times
    }

    /// Doubling paid.
    pub fn pays(&self) -> bool {
        self.faster(DOUBLED_PAYS.value)
    }

    /// Doubling gained nothing worth mentioning.
    pub fn is_flat(&self) -> bool {
        self.times < DOUBLED_FLAT.value
    }
}

/// The follow-up of that kind, if there was one that lasted.
pub fn beside<'a>(observed: &Observed<'a>, change: Change) -> Option<Beside<'a>> {
    let [ran] = observed.ran.as_slice() else { return None };
    let follow_up =
        observed.record.follow_ups.iter().find(|follow_up| follow_up.change == change)?;
    let measured = &follow_up.measurement;
    let lasted = measured.elapsed_ns as f64 / 1e9 >= SLICE_S.value
        && measured.ops_done() as f64 >= SLICE_OPS.value
        && matches!(measured.ended, Ended::Time | Ended::Done);
    let (before, now) = (rate(ran.measured), rate(measured));
    let seconds = series::seconds(ran.measured, |_| true);
    let most = seconds.iter().map(|second| second.ops_per_s).fold(before, f64::max);
    let times = ratio(now, before);
    (lasted && times > 0.0).then_some(Beside { follow_up, before, now, times, apart: now > most })
}

/// The follow-up with more load, whatever it was that was doubled.
pub fn doubled<'a>(observed: &Observed<'a>) -> Option<Beside<'a>> {
    let of = |change| beside(observed, change);
    of(Change::TwiceTheDepth).or_else(|| of(Change::TwiceTheWorkers))
}

/// How many times as fast the same places were the second time, where other places were not: the
/// moment may just have been a quiet one.
pub fn again<'a>(observed: &Observed<'a>) -> Option<(Beside<'a>, f64)> {
    let same = beside(observed, Change::SamePlaces)?;
    let other = beside(observed, Change::OtherPlaces)?;
    let times = same.times.min(ratio(same.now, other.now));
    Some((same, times))
}

/// Operations per second of all directions.
fn rate(measured: &Measurement) -> f64 {
    ratio(measured.ops_done() as f64, measured.elapsed_ns as f64 / 1e9)
}

/// The load that was doubled.
pub fn load(follow_up: &FollowUp) -> Option<Doubled> {
    match follow_up.change {
        Change::TwiceTheDepth => Some(Doubled::Depth(follow_up.depth)),
        Change::TwiceTheWorkers => Some(Doubled::Workers(follow_up.workers)),
        _ => None,
    }
}

/// The change of a follow-up, in words: `twice the depth (64)`.
pub fn what(follow_up: &FollowUp) -> String {
    let (workers, depth) = (f64::from(follow_up.workers), f64::from(follow_up.depth));
    match follow_up.change {
        Change::OtherPlaces => "the same at other places".into(),
        Change::SamePlaces => "the same places once more".into(),
        Change::TwiceTheDepth => Doubled::Depth(follow_up.depth).to_string(),
        Change::TwiceTheWorkers => Doubled::Workers(follow_up.workers).to_string(),
        Change::TwiceTheThreads => format!(
            "twice the threads and as many in flight ({} of depth {})",
            fmt::count(workers),
            fmt::count(depth)
        ),
        Change::OneAtATime => "one operation at a time".into(),
        Change::FilesOfTheirOwn => "each worker in files of its own".into(),
    }
}

/// The result and cost of each follow-up of a phase.
pub fn sentences(observed: &Observed) -> Vec<String> {
    observed.record.follow_ups.iter().map(|follow_up| sentence(observed, follow_up)).collect()
}

fn sentence(observed: &Observed, follow_up: &FollowUp) -> String {
    let what = fmt::capital(&what(follow_up));
    let cost = cost(follow_up);
    let Some(beside) = beside(observed, follow_up.change) else {
        return format!("{what} showed nothing. {cost}");
    };
    let (now, before) = (fmt::iops(beside.now), fmt::iops(beside.before));
    let times = fmt::number(beside.times);
    let meant = meant(observed, &beside);
    format!("{what}: {now}, {times} times the {before} of the phase: {meant}. {cost}")
}

fn meant(observed: &Observed, beside: &Beside) -> String {
    let text = match beside.follow_up.change {
        Change::TwiceTheDepth | Change::TwiceTheWorkers | Change::TwiceTheThreads => {
            match (beside.pays(), beside.is_flat()) {
                (true, _) => "more is to be had",
                (_, true) => "no more is to be had that way",
                _ => "a little more is to be had",
            }
        }
        Change::OtherPlaces => "what the moment is like",
        Change::SamePlaces if observed.ran.iter().any(|ran| ran.blocks.destroys().is_some()) => {
            match (beside.pays(), beside.is_flat()) {
                (true, _) => "with all blocks there it is faster",
                _ => "that blocks had to be allocated made no difference",
            }
        }
        Change::SamePlaces => match (again(observed), beside.pays()) {
            (Some((_, times)), true) if times > AGAIN.value => {
                "something below this host kept them"
            }
            (Some(_), true) => "it was the moment, in which other places were fast as well",
            (None, true) => "something below this host may have kept them",
            (_, false) => "nothing below this host kept them",
        },
        Change::OneAtATime => return alone_takes(beside),
        Change::FilesOfTheirOwn => match beside.pays() {
            true => "sharing files costs",
            false => "that files are shared makes no difference",
        },
    };
    text.into()
}

fn alone_takes(beside: &Beside) -> String {
    let (_, stats) = busiest(&beside.follow_up.measurement);
    let mean_ns = stats.latency.as_ref().map_or(0.0, |latency| finite(latency.mean_ns));
    format!("{} each", fmt::time(mean_ns))
}

fn cost(follow_up: &FollowUp) -> String {
    let bytes = follow_up.measurement.bytes_moved() as f64;
    let did = if follow_up.measurement.of(Direction::Write).ops > 0 { "moved" } else { "read" };
    format!("It took {} and {did} {}.", fmt::time(follow_up.cost_s * 1e9), fmt::size(bytes))
}

/// A follow-up as evidence.
pub fn evidence(draft: FindingBuilder, beside: &Beside) -> FindingBuilder {
    let from = "a follow-up of the phase";
    draft.evidence("rate of the phase", Quantity::ops_per_s(beside.before), "candor").evidence(
        what(beside.follow_up),
        Quantity::ops_per_s(beside.now),
        from,
    )
}
