//! Submission that suits the device: all operations that are ready in one call, or one at a time.
//!
//! Disks of virtual machines lose some of their rate where many requests come at once, others gain
//! by it. Before the clock of a job that leaves it open, both are tried for a moment.

use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Access, Pace};
use candor_plan::rank::HostIndex;
use candor_plan::{Blocks, Nanos, Phase, Plan, Stop};
use candor_record::SubmissionTrial;
use candor_record::fmt::ratio;

/// How long each of the four passes lasts.
const PASS: Nanos = Nanos(100_000_000);
/// Shorter phases are not held up.
const PHASE_MIN: Nanos = Nanos(2_000_000_000);
/// One at a time costs more CPU, and is chosen where both of its passes gain this much.
const GAIN: f64 = 1.03;

/// Tries both; none where the plan leaves nothing open, or a trial would change what is measured.
pub fn tried(
    session: &mut Session,
    plan: &Plan,
    phase: &Phase,
    may_write: bool,
    stop: &AtomicBool,
) -> Option<SubmissionTrial> {
    if !is_open(plan, phase, may_write) {
        return None;
    }
    let mut pass = |one_at_a_time: bool| {
        let name = format!("{}: submission", phase.name);
        let stop_at = Stop { time: Some(PASS), ..Stop::default() };
        let mut trial = Phase {
            name,
            ramp: Nanos(0),
            ramp_amount: None,
            stop: stop_at,
            ..with(phase, one_at_a_time)
        };
        trial.jobs[0].stop = None;
        let task = Task { plan, phase: &trial, index: None, repeat: 0, host: HostIndex::ALONE };
        let measured = Prepared::new(session, &task).ok()?.run(stop, &mut ()).pop()?;
        let well = measured.errors.is_empty() && measured.ops_done() > 0;
        well.then(|| ratio(measured.ops_done() as f64, measured.elapsed_ns as f64 / 1e9))
    };
    // In this order, so that a device that becomes faster or slower favours neither.
    Some(judged(pass(false)?, pass(true)?, pass(true)?, pass(false)?))
}

/// Result of four passes: all at once, one at a time twice, all at once.
fn judged(at_once: f64, single: f64, single_again: f64, at_once_again: f64) -> SubmissionTrial {
    SubmissionTrial {
        one_at_a_time: single > at_once * GAIN && single_again > at_once_again * GAIN,
        ops_per_s_at_once: (at_once + at_once_again) / 2.0,
        ops_per_s_one_at_a_time: (single + single_again) / 2.0,
    }
}

/// The phase with its submission set.
pub fn with(phase: &Phase, one_at_a_time: bool) -> Phase {
    let mut phase = phase.clone();
    for job in &mut phase.jobs {
        if let Some(blocks) = job.blocks() {
            let batch_submit = if one_at_a_time { Some(1) } else { blocks.batch_submit };
            job.work = Blocks { batch_submit, ..blocks.clone() }.into();
        }
    }
    phase
}

/// True for one job of random operations past the page cache whose submission is not given, and
/// whose places may be used before the clock.
fn is_open(plan: &Plan, phase: &Phase, may_write: bool) -> bool {
    let [job] = phase.jobs.as_slice() else { return false };
    let Some(blocks) = job.blocks() else { return false };
    let stop = job.stop.as_ref().unwrap_or(&phase.stop);
    let targets = || job.targets.iter().filter_map(|name| plan.target(name));
    blocks.batch_submit.is_none()
        && blocks.engine.is_async()
        && blocks.depth > 1
        && blocks.direct
        && blocks.uses_targets()
        && blocks.access.is_random()
        && !matches!(blocks.access, Access::Trace(_))
        && blocks.pace == Pace::default()
        && blocks.verify.is_none()
        && blocks.zones.is_none()
        && job.hooks.is_empty()
        && stop.time.is_some_and(|time| time >= PHASE_MIN)
        && *stop == Stop { time: stop.time, ..Stop::default() }
        && targets().all(|target| !target.append && !target.remove)
        && (may_write || job.work.destroys().is_none())
}

#[cfg(test)]
mod tests {
    use candor_plan::blocks::Verify;
    use candor_plan::units::Mix;
    use candor_plan::{Engine, Job, Target};

    use super::*;

    #[test]
    fn one_at_a_time_is_chosen_where_both_of_its_passes_are_faster() {
        assert!(judged(100.0, 110.0, 110.0, 100.0).one_at_a_time);
        assert!(!judged(100.0, 102.0, 110.0, 100.0).one_at_a_time, "the first gained nothing");
        assert!(!judged(100.0, 110.0, 100.0, 100.0).one_at_a_time, "the second gained nothing");
        let trial = judged(100.0, 104.0, 106.0, 102.0);
        let rates = (trial.ops_per_s_at_once, trial.ops_per_s_one_at_a_time);
        assert_eq!(rates, (101.0, 105.0));
    }

    fn is_tried(may_write: bool, change: &dyn Fn(&mut Blocks, &mut Stop)) -> bool {
        let engine = Engine::IO_URING;
        let (access, mix) = (Access::Random, Mix::READ);
        let mut blocks =
            Blocks { engine, access, mix, depth: 8, direct: true, ..Blocks::default() };
        let mut stop = Stop { time: Some(PHASE_MIN), ..Stop::default() };
        change(&mut blocks, &mut stop);
        let targets = vec![String::new()];
        let jobs = vec![Job { targets, work: blocks.into(), ..Job::default() }];
        let phase = Phase { stop, jobs, ..Phase::default() };
        let plan = Plan { targets: vec![Target::default()], ..Plan::default() };
        is_open(&plan, &phase, may_write)
    }

    #[test]
    fn only_open_and_harmless_work_is_tried() {
        assert!(is_tried(false, &|_, _| {}));
        assert!(!is_tried(true, &|blocks, _| blocks.depth = 1));
        assert!(!is_tried(true, &|blocks, _| blocks.batch_submit = Some(4)));
        assert!(!is_tried(true, &|blocks, _| blocks.engine = Engine::Psync));
        assert!(!is_tried(true, &|blocks, _| blocks.direct = false));
        assert!(!is_tried(true, &|blocks, _| blocks.access = Access::Sequential));
        assert!(!is_tried(true, &|blocks, _| blocks.verify = Some(Verify::default())));
        assert!(!is_tried(true, &|_, stop| stop.time = Some(Nanos(PHASE_MIN.0 - 1))));
        assert!(!is_tried(true, &|_, stop| stop.ops = Some(1000)));
        assert!(!is_tried(false, &|blocks, _| blocks.mix = Mix::WRITE));
        assert!(is_tried(true, &|blocks, _| blocks.mix = Mix::WRITE));
    }
}
