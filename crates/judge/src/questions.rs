//! Follow-ups that are worth their time.
//!
//! A phase alone often cannot tell whether the device or the load was the limit, or whether
//! something below this host caches. A second of work that differs in one thing can. Nothing is
//! asked where the counters of the phase have the answer already.

use candor_plan::blocks::{Access, Pace};
use candor_plan::units::Direction;
use candor_plan::{Sharing, Target};
use candor_record::facts::{DeviceKind, TargetFacts, value};
use candor_record::{Change, Ended, PhaseJudgement, Verdict};

use crate::case::Case;
use crate::causes::stage_of;
use crate::changes;
use crate::follow_ups;
use crate::more_load;
use crate::observed::{Observed, Ran};
use crate::parts;
use crate::stage::Stage;
use crate::thresholds::{AGAIN, KNEE, SLICE_OPS, SLICED_PHASE_S};
use crate::trials;

/// A follow-up that would answer what a phase alone does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Change to the job.
    pub change: Change,
    /// Workers of the trial.
    pub workers: u32,
    /// Operations in flight of each.
    pub depth: u32,
    /// Question that the phase alone could not answer.
    pub why: String,
}

/// The questions that a phase and its follow-ups so far leave open, most important first.
///
/// Several hosts are asked what the first one is: it is its counters that follow-ups have.
pub fn questions(case: &Case, judged: &PhaseJudgement) -> Vec<Question> {
    match parts::first(case) {
        Some(part) => of_host(&part.case(case), judged),
        None => of_host(case, judged),
    }
}

fn of_host(case: &Case, judged: &PhaseJudgement) -> Vec<Question> {
    let observed = Observed::new(case);
    let [ran] = observed.ran.as_slice() else { return Vec::new() };
    if !fit(&observed, ran) || judged.verdict > Verdict::Caution {
        return Vec::new();
    }
    let all = if ran.blocks.destroys().is_some() {
        vec![allocation(ran, judged)]
    } else {
        let more = more_load(&observed, ran, judged);
        // The load is the limit already; the question of its reach comes last.
        let pays = more_load::of(&observed, ran).is_some_and(|growth| growth.pays());
        let (first, last) = if pays { (None, more) } else { (more, None) };
        vec![
            control(&observed, ran),
            first,
            files(&observed, ran, judged),
            cache(&observed, ran, judged),
            alone(&observed, ran, judged),
            last,
        ]
    };
    let is_series = |change| matches!(change, Change::MoreDepth | Change::MoreWorkers);
    let asked = |change| observed.record.follow_ups.iter().any(|f| f.change == change);
    let open = |question: &Question| is_series(question.change) || !asked(question.change);
    all.into_iter().flatten().filter(open).collect()
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
    once && plain
        && stay
        && well
        && !changes::is_replaced(observed)
        && observed.elapsed_s() >= SLICED_PHASE_S.value
}

/// A finding names a limit that needs no second look.
fn decided(judged: &PhaseJudgement, besides: &[Stage]) -> bool {
    let open = |stage: Stage| stage == Stage::Queue || besides.contains(&stage);
    judged.findings.iter().any(|f| f.limits.is_some() && !open(stage_of(f)))
}

/// A question of the same load.
fn question(ran: &Ran, change: Change, why: &str) -> Option<Question> {
    loaded(change, ran.job.workers, ran.blocks.depth, why)
}

/// A question of so many workers of such a depth.
fn loaded(change: Change, workers: u32, depth: u32, why: &str) -> Option<Question> {
    Some(Question { change, workers, depth, why: why.into() })
}

/// Whether more load would move more.
fn more_load(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    if decided(judged, &[]) {
        return None;
    }
    let many = ran.blocks.engine.is_async();
    let starved = judged.findings.iter().any(|finding| finding.rule == "B4");
    let change = match (many, starved, ran.blocks.access.is_random()) {
        (true, true, true) if ran.blocks.depth > 1 => {
            let workers = ran.job.workers.checked_mul(2)?;
            return loaded(Change::TwiceTheThreads, workers, ran.blocks.depth / 2, STARVED);
        }
        (true, false, _) => Change::MoreDepth,
        (false, _, true) => Change::MoreWorkers,
        _ => return None,
    };
    let growth = more_load::of(observed, ran);
    let why = if growth.is_some() { GOES_ON } else { LOAD_OR_DEVICE };
    let (workers, depth) = more_load::next(observed, ran, change)?;
    loaded(change, workers, depth, why)
}

const LOAD_OR_DEVICE: &str = "no counter shows whether the device can do more";
const GOES_ON: &str = "one step does not show where the rate stops growing with load";
const STARVED: &str =
    "the device had fewer operations in flight than requested, and no thread was busy all the time";

/// Whether other places are as fast as the same places were the second time.
fn control(observed: &Observed, ran: &Ran) -> Option<Question> {
    let why = "the same offsets were faster, but a change of conditions could be the reason";
    let faster = follow_ups::beside(observed, Change::SamePlaces)?.times >= AGAIN.value;
    faster.then(|| question(ran, Change::OtherPlaces, why)).flatten()
}

/// Whether workers get in each other's way in files that they share.
fn files(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let named = ran.job.targets.iter().filter_map(|name| observed.plan.target(name));
    let files: u64 = named.map(Target::files_named).sum();
    let shared = ran.job.sharing == Sharing::Shared && ran.job.workers > 1;
    let starved = judged.findings.iter().any(|finding| finding.rule == "B4");
    let enough = shared && files >= u64::from(ran.job.workers);
    if enough && starved && !decided(judged, &[]) {
        question(
            ran,
            Change::FilesOfTheirOwn,
            "all workers share their files, and the device had fewer operations in flight than \
             requested",
        )
    } else {
        None
    }
}

/// Whether something below this host caches.
fn cache(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let known = |rule: &str| judged.findings.iter().any(|finding| finding.rule == rule);
    let cold = !observed.written_before() && !known("A12") && !known("F13");
    let reach = reach(observed, ran)?;
    // What was read over and over has shown what a second pass is like.
    let once = observed.app(Direction::Read).bytes < 2.0 * reach;
    if cold
        && once
        && may_cache(observed)
        && observed.working_top().is_some()
        && !observed.all_memory()
    {
        question(
            ran,
            Change::SamePlaces,
            "storage below this host may have a cache that this host cannot see",
        )
    } else {
        None
    }
}

/// Bytes that the work can read from.
fn reach(observed: &Observed, ran: &Ran) -> Option<f64> {
    let targets = observed.targets_of(|other| other.index == ran.index);
    let of = |target: &&TargetFacts| {
        let count = target.files_in_all.unwrap_or(1) as f64;
        let requested = observed.plan.target(&target.target)?.size;
        let requested = requested.map(|size| size.0 as f64 * count);
        let files = target.files_bytes();
        requested
            .or((files > 0.0).then_some(files))
            .or_else(|| observed.facts.device(value(&target.device)?).map(|d| d.size_bytes as f64))
    };
    let each: Option<Vec<f64>> = targets.iter().map(of).collect();
    each.map(|sizes| sizes.into_iter().sum::<f64>()).filter(|reach| *reach > 0.0)
}

/// Hosts of virtual machines, arrays behind a network and RAID controllers have caches that Linux
/// does not see.
fn may_cache(observed: &Observed) -> bool {
    value(&observed.facts.host.hypervisor) != Some(&false)
        || observed.leaves().iter().any(|d| {
            d.remote.is_some() || matches!(d.kind, DeviceKind::Scsi | DeviceKind::NvmeFabric)
        })
}

/// How long one operation takes alone, where many were in flight.
fn alone(observed: &Observed, ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    let deep = ran.concurrency() > 2.0 * KNEE.value && ran.blocks.access.is_random();
    let known = trials::others(observed, ran).iter().any(|trial| trial.in_flight == 1.0);
    if deep && !known && !decided(judged, &[Stage::DeviceQueue]) {
        loaded(Change::OneAtATime, 1, 1, "the latency of a single operation alone is unknown")
    } else {
        None
    }
}

/// Whether it is the allocation of blocks that held writers up.
fn allocation(ran: &Ran, judged: &PhaseJudgement) -> Option<Question> {
    if judged.findings.iter().any(|finding| finding.rule == "B18") {
        question(
            ran,
            Change::SamePlaces,
            "slow writes with block allocation may have another cause",
        )
    } else {
        None
    }
}
