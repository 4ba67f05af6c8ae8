//! Results of follow-ups: short trials of other work after a phase.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Change, Doubled, Ended, FollowUp, Measurement, Quantity, cpu_busy_between};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, busiest, finite};
use crate::series;
use crate::thresholds::{
    AGAIN, AGAIN_FLAT, ALL_CPUS_BUSY, DISTURBED, DOUBLED_PAYS, LOAD_GAINS, LOAD_PAYS, RUN_WAIT,
    SLICE_OPS, SLICE_S, UNDISTURBED,
};

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
    pub apart: bool,
}

impl Beside<'_> {
    /// The follow-up was so much faster, and not by chance.
    pub fn faster(&self, times: f64) -> bool {
        self.apart && self.times >= times
    }

    /// The change paid.
    pub fn pays(&self) -> bool {
        self.faster(DOUBLED_PAYS.value)
    }

    /// The change gained nothing worth mentioning.
    pub fn is_flat(&self) -> bool {
        self.times < AGAIN_FLAT.value
    }
}

/// The follow-up of that kind, if there was one that lasted.
pub fn beside<'a>(observed: &Observed<'a>, change: Change) -> Option<Beside<'a>> {
    let follow_up = observed.record.follow_ups.iter().find(|f| f.change == change)?;
    of(observed, follow_up)
}

/// A follow-up beside its phase, if it lasted.
pub fn of<'a>(observed: &Observed<'a>, follow_up: &'a FollowUp) -> Option<Beside<'a>> {
    let [ran] = observed.ran.as_slice() else { return None };
    let measured = &follow_up.measurement;
    let lasted = measured.elapsed_ns as f64 / 1e9 >= SLICE_S.value
        && measured.ops_done() as f64 >= SLICE_OPS.value
        && matches!(measured.ended, Ended::Time | Ended::Done);
    let (before, now) = (undisturbed_rate(ran.measured), rate(measured));
    let most = series::ops_rates(ran.measured).into_iter().fold(before, f64::max);
    let times = ratio(now, before);
    (lasted && times > 0.0).then_some(Beside { follow_up, before, now, times, apart: now > most })
}

/// How many times as fast the same places were the second time, where other places were not: the
/// moment may just have been a quiet one. Time that the workers waited for a CPU is left out, which
/// the follow-up may not have done; where no CPU was free, nothing is known.
pub fn again<'a>(observed: &Observed<'a>) -> Option<(Beside<'a>, f64)> {
    let same = beside(observed, Change::SamePlaces)?;
    let other = beside(observed, Change::OtherPlaces)?;
    let waited = observed.waited_for_cpu().filter(|waited| *waited >= RUN_WAIT.value);
    let waited = waited.unwrap_or(0.0).min(1.0);
    let times = (same.times * (1.0 - waited)).min(ratio(same.now, other.now));
    (!no_cpu_was_free(observed)).then_some((same, times))
}

/// All CPUs of the host were busy nearly all the time.
pub fn no_cpu_was_free(observed: &Observed) -> bool {
    let (before, after) = (&observed.host.before, &observed.host.after);
    cpu_busy_between(before, after).is_some_and(|busy| busy >= ALL_CPUS_BUSY.value)
}

/// Operations per second of a phase; without the slower part, where that was disturbed: a trial
/// after it is not.
fn undisturbed_rate(measured: &Measurement) -> f64 {
    let (mean, upper) =
        (rate(measured), candor_stats::quantile(&series::ops_rates(measured), 0.75));
    if upper > DISTURBED.value * mean { upper } else { mean }
}

/// Operations per second of all directions.
pub fn rate(measured: &Measurement) -> f64 {
    ratio(measured.ops_done() as f64, measured.elapsed_ns as f64 / 1e9)
}

/// The load of a follow-up with more of it.
pub fn load(follow_up: &FollowUp) -> Option<Doubled> {
    match follow_up.change {
        Change::MoreDepth => Some(Doubled::Depth(follow_up.depth)),
        Change::MoreWorkers => Some(Doubled::Workers(follow_up.workers)),
        _ => None,
    }
}

/// The change of a follow-up, in words: `depth 64`.
pub fn what(follow_up: &FollowUp) -> String {
    let (workers, depth) = (f64::from(follow_up.workers), f64::from(follow_up.depth));
    match follow_up.change {
        Change::OtherPlaces => "the same operations at other offsets".into(),
        Change::SamePlaces => "the same offsets again".into(),
        Change::MoreDepth => Doubled::Depth(follow_up.depth).to_string(),
        Change::MoreWorkers => Doubled::Workers(follow_up.workers).to_string(),
        Change::TwiceTheThreads => format!(
            "twice the threads, the same number in flight ({} of depth {})",
            fmt::count(workers),
            fmt::count(depth)
        ),
        Change::OneAtATime => "one operation at a time".into(),
        Change::FilesOfTheirOwn => "a separate file set for each worker".into(),
    }
}

/// The result and cost of each follow-up of a phase.
pub fn sentences(observed: &Observed) -> Vec<String> {
    observed.record.follow_ups.iter().map(|follow_up| sentence(observed, follow_up)).collect()
}

fn sentence(observed: &Observed, follow_up: &FollowUp) -> String {
    let what = fmt::capital(&what(follow_up));
    let cost = cost(follow_up);
    let Some(beside) = of(observed, follow_up) else {
        return format!("{what}: no result. {cost}");
    };
    let (now, before) = (fmt::iops(beside.now), fmt::iops(beside.before));
    let times = fmt::number(beside.times);
    let meant = meant(observed, &beside);
    format!("{what}: {now}, {times} times the phase's {before}: {meant}. {cost}")
}

fn meant(observed: &Observed, beside: &Beside) -> String {
    let text = match beside.follow_up.change {
        Change::MoreDepth | Change::MoreWorkers | Change::TwiceTheThreads => return gained(beside),
        Change::OtherPlaces => "reference for current conditions",
        Change::SamePlaces if observed.ran.iter().any(|ran| ran.blocks.destroys().is_some()) => {
            match (beside.pays(), beside.is_flat()) {
                (true, _) => "faster with all blocks allocated",
                _ => "block allocation made no difference",
            }
        }
        Change::SamePlaces => match (again(observed), beside.pays()) {
            (Some((_, times)), true) if times > AGAIN.value => {
                "a cache below this host held the data"
            }
            (Some(_), true) => "conditions changed: other offsets were as fast, or CPUs were free",
            (None, true) if no_cpu_was_free(observed) => "the CPUs were busy, no conclusion",
            (None, true) => "a cache below this host may have held the data",
            (_, false) => "no cache below this host held the data",
        },
        Change::OneAtATime => return alone_takes(beside),
        Change::FilesOfTheirOwn => {
            if beside.pays() {
                "file sharing costs throughput"
            } else {
                "file sharing makes no difference"
            }
        }
    };
    text.into()
}

/// The gain of more load.
fn gained(beside: &Beside) -> String {
    let gain = beside.times - 1.0;
    if beside.times < UNDISTURBED.value {
        "disturbed, no conclusion".into()
    } else if beside.times < LOAD_GAINS.value {
        "no gain".into()
    } else if beside.faster(LOAD_PAYS.value) {
        "more load gains more".into()
    } else if beside.apart {
        format!("{} more", fmt::percent(gain))
    } else {
        format!(
            "{} more, but single seconds of the phase reached this rate too",
            fmt::percent(gain)
        )
    }
}

fn alone_takes(beside: &Beside) -> String {
    let (_, stats) = busiest(&beside.follow_up.measurement);
    let mean_ns = stats.latency.as_ref().map_or(0.0, |latency| finite(latency.mean_ns));
    format!("{} each", fmt::time(mean_ns))
}

fn cost(follow_up: &FollowUp) -> String {
    let bytes = follow_up.measurement.bytes_moved() as f64;
    let did = if follow_up.measurement.of(Direction::Write).ops > 0 { "moved" } else { "read" };
    format!("Cost: {}, {did} {}.", fmt::time(follow_up.cost_s * 1e9), fmt::size(bytes))
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
