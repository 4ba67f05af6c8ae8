//! Shares of a run's rate: `skew=`, rates of workloads, and the resulting shares of jobs.

use std::collections::BTreeMap;

use candor_plan::blocks::{Arrival, Flow, RateStep};
use candor_plan::{Job, OpsPerSec};

use super::{JobRow, LoweredRun, pace_of, whole_rate};
use crate::runs::RunRate;

/// Weight of one percent, so that thousandths of it count.
const WEIGHT_PER_PERCENT: f64 = 1000.0;

/// Gives the jobs of a run the rate that is known before it begins.
pub(super) fn settle(run: &mut LoweredRun) {
    match run.rate {
        Some(RunRate::Fixed(rate)) => pace(&mut run.phase.jobs, &run.jobs, rate, run.arrival),
        Some(RunRate::Variable) => steps(run),
        // Workloads with a rate of their own have it in a run without one, too.
        _ => own_rates(&mut run.phase.jobs, &run.jobs, run.arrival),
    }
}

/// Divides rates that follow each other among jobs, by their shares.
fn steps(run: &mut LoweredRun) {
    own_rates(&mut run.phase.jobs, &run.jobs, run.arrival);
    let (steps, bursts) = &run.steps;
    let own: f64 = run.jobs.iter().filter_map(|row| row.own_rate).sum();
    let sharing = |row: &&JobRow| row.own_rate.is_none();
    let all: f64 = run.jobs.iter().filter(sharing).map(|row| row.share_percent).sum();
    let mut before = 0.0;
    let jobs = run.phase.jobs.iter_mut().zip(&run.jobs);
    for (job, row) in jobs.filter(|(_, row)| sharing(row)) {
        let Some(pace) = pace_of(&mut job.work) else { continue };
        let behind = before + row.share_percent / all.max(f64::MIN_POSITIVE);
        // Rounded shares add up to the whole.
        pace.steps = steps
            .iter()
            .map(|step| {
                let rest = (step.ops.0 as f64 - own).max(0.0);
                let ops = (rest * behind).round() - (rest * before).round();
                RateStep { ops: OpsPerSec(ops as u64), ..*step }
            })
            .collect();
        (pace.bursts, pace.arrival, pace.flow) = (*bursts, run.arrival, None);
        before = behind;
    }
}

/// Divides a rate among jobs.
pub(super) fn pace(jobs: &mut [Job], rows: &[JobRow], rate: f64, arrival: Arrival) {
    own_rates(jobs, rows, arrival);
    let own: f64 = rows.iter().filter_map(|row| row.own_rate).sum();
    let rest = (rate - own).max(0.0);
    let sharing: f64 =
        rows.iter().filter(|row| row.own_rate.is_none()).map(|row| row.share_percent).sum();
    // Rounded shares add up to the whole.
    let (mut due, mut given) = (0.0, 0.0);
    for (job, row) in jobs.iter_mut().zip(rows).filter(|(_, row)| row.own_rate.is_none()) {
        due += rest * row.share_percent / sharing.max(f64::MIN_POSITIVE);
        let part = whole_rate(due.round() - given);
        given += part.0 as f64;
        if let Some(pace) = pace_of(&mut job.work) {
            (pace.ops, pace.arrival, pace.flow) = (Some(part), arrival, None);
        }
    }
}

fn own_rates(jobs: &mut [Job], rows: &[JobRow], arrival: Arrival) {
    for (job, row) in jobs.iter_mut().zip(rows) {
        let Some((rate, pace)) = row.own_rate.zip(pace_of(&mut job.work)) else { continue };
        (pace.ops, pace.arrival, pace.flow) = (Some(whole_rate(rate)), arrival, None);
    }
}

/// Keeps jobs without a rate in the proportion of their shares.
pub(super) fn keep(jobs: &mut [Job], rows: &[JobRow]) {
    for (job, row) in jobs.iter_mut().zip(rows).filter(|(_, row)| row.own_rate.is_none()) {
        let weight = (row.share_percent * WEIGHT_PER_PERCENT).round().max(1.0) as u32;
        if let Some(pace) = pace_of(&mut job.work) {
            pace.flow = Some(Flow { weight, together: true, ..Flow::default() });
        }
    }
}

/// Fault of shares that hosts cannot keep.
pub(super) const NOT_KEPT: &str = "shares of workloads (skew=) are kept within each host, and its \
                                   hosts do not have the same ones";
/// The remedy.
pub(super) const KEEP: &str =
    "give the run a rate, by which shares are kept everywhere, or all hosts the same workloads";

/// True if jobs can keep their shares of a run: a rate is set, or all systems have the same shares
/// of the same workloads.
pub(super) fn are_kept(jobs: &[Job], rows: &[JobRow], rate: RunRate) -> bool {
    if !matches!(rate, RunRate::Max | RunRate::CurveMax) {
        return true;
    }
    let mut of_systems: BTreeMap<Option<u32>, BTreeMap<&str, u64>> = BTreeMap::new();
    for (job, row) in jobs.iter().zip(rows).filter(|(_, row)| row.own_rate.is_none()) {
        let shares = of_systems.entry(job.only_on).or_default();
        *shares.entry(&row.wd).or_default() += (row.share_percent * 1e6).round() as u64;
    }
    let mut all = of_systems.into_values();
    let Some(first) = all.next() else { return true };
    // Rounding may leave a small difference.
    all.all(|shares| {
        shares.len() == first.len()
            && shares.into_iter().all(|(wd, share)| {
                first.get(wd).is_some_and(|of_first| of_first.abs_diff(share) < 100)
            })
    })
}

/// Percentages of workloads: the given ones, and equal shares of the rest.
///
/// # Errors
/// The sum is not 100 %; returns a sentence.
pub(super) fn of_workloads(given: &[Option<f64>]) -> Result<Vec<f64>, String> {
    let sum: f64 = given.iter().flatten().sum();
    let without = given.iter().filter(|skew| skew.is_none()).count();
    if sum > 100.0 + 1e-6 {
        return Err(format!("the skews of the run add up to {sum} %, more than 100 %"));
    }
    if without == 0 && sum < 100.0 - 1e-6 {
        return Err(format!("the skews of the run add up to {sum} %, less than 100 %"));
    }
    let rest = (100.0 - sum) / without.max(1) as f64;
    Ok(given.iter().map(|skew| skew.unwrap_or(rest)).collect())
}

#[cfg(test)]
mod tests {
    use candor_plan::Blocks;

    use super::*;

    fn jobs(rows: &[JobRow]) -> Vec<Job> {
        rows.iter().map(|_| Job { work: Blocks::default().into(), ..Job::default() }).collect()
    }

    fn rates(jobs: &[Job]) -> Vec<Option<u64>> {
        jobs.iter().map(|job| job.blocks()?.pace.ops.map(|rate| rate.0)).collect()
    }

    #[test]
    fn parts_of_a_rate_add_up() {
        let row = |share_percent, own_rate| JobRow { share_percent, own_rate, ..JobRow::default() };
        let rows = [row(33.3, None), row(33.3, None), row(33.4, None)];
        let mut all = jobs(&rows);
        pace(&mut all, &rows, 100.0, Arrival::Poisson);
        assert_eq!(rates(&all), [Some(33), Some(34), Some(33)]);
        let rows = [row(0.0, Some(40.0)), row(50.0, None), row(50.0, None)];
        let mut all = jobs(&rows);
        pace(&mut all, &rows, 100.0, Arrival::Fixed);
        assert_eq!(rates(&all), [Some(40), Some(30), Some(30)]);
    }

    #[test]
    fn hosts_keep_shares_where_they_have_the_same_ones() {
        let kept = |of: &[(u32, &str, f64)], rate| {
            let rows: Vec<JobRow> = of
                .iter()
                .map(|(_, wd, share_percent)| JobRow {
                    wd: (*wd).into(),
                    share_percent: *share_percent,
                    ..JobRow::default()
                })
                .collect();
            let mut all = jobs(&rows);
            all.iter_mut().zip(of).for_each(|(job, (host, ..))| job.only_on = Some(*host));
            are_kept(&all, &rows, rate)
        };
        let both = [(0, "a", 35.0), (1, "a", 35.0), (0, "b", 15.0), (1, "b", 15.0)];
        let apart = [(0, "a", 70.0), (1, "b", 30.0)];
        assert!(kept(&both, RunRate::Max) && kept(&apart, RunRate::Fixed(9.0)));
        assert!(!kept(&apart, RunRate::Max) && !kept(&both[1..], RunRate::CurveMax));
    }

    #[test]
    fn missing_shares_take_the_rest() {
        assert_eq!(of_workloads(&[Some(60.0), None, None]), Ok(vec![60.0, 20.0, 20.0]));
        assert_eq!(of_workloads(&[None]), Ok(vec![100.0]));
        assert_eq!(of_workloads(&[Some(70.0), Some(30.0)]), Ok(vec![70.0, 30.0]));
        assert!(of_workloads(&[Some(70.0), Some(40.0)]).is_err());
        assert!(of_workloads(&[Some(70.0), Some(10.0)]).is_err());
    }
}
