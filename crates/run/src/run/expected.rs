//! Time that a plan will take, as far as its phases are bound by time.

use candor_plan::{Job, Nanos, Phase, Plan};
use candor_record::Event;

/// The first event of a run. A series knows better than its plan how long it will be.
pub fn run_started(plan: &Plan, expected: Option<(usize, Nanos)>) -> Event {
    let repeats = u64::from(plan.repeats);
    let (mut count, mut planned_ns) = (0u64, Some(0u64));
    for phase in &plan.phases {
        let times = u64::from(phase.repeats).saturating_mul(repeats);
        count = count.saturating_add(times);
        planned_ns = planned_ns
            .zip(phase_ns(phase))
            .map(|(sum, time)| sum.saturating_add(time.saturating_mul(times)));
    }
    let (phases, expected_ns) = match expected {
        Some((phases, time)) => (phases, Some(time.0)),
        None => (usize::try_from(count).unwrap_or(usize::MAX), planned_ns.filter(|sum| *sum > 0)),
    };
    Event::RunStarted { name: plan.name.clone(), phases, expected_ns }
}

/// Time that a phase will take, where its end is bound by time.
pub fn phase_ns(phase: &Phase) -> Option<u64> {
    let job = |job: &Job| {
        let stop = job.stop.as_ref().unwrap_or(&phase.stop);
        stop.time.map(|Nanos(time)| time.saturating_add(job.delay.0))
    };
    let longest = phase.jobs.iter().map(job).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(longest.saturating_add(phase.ramp.0).saturating_add(phase.delay.0))
}
