//! Steady state: the requested criterion, and the last windows.

use candor_plan::SteadyFigure;
use candor_record::{SteadyState, SteadyWindow};
use candor_stats::{deviation_max, mean, slope};

use crate::job::SteadyGoal;

/// Maximum number of windows that are listed.
const PLACES_MAX: u64 = 1 << 16;

/// Steady state of a job over the last judged windows. As in fio, metrics of windows are integers,
/// and all others derive from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::output) struct Steadiness {
    /// The criterion was met.
    pub attained: bool,
    /// Bytes per second in each window.
    pub bytes_per_s: Vec<f64>,
    /// Operations per second in each window.
    pub ops_per_s: Vec<f64>,
    /// Mean latency per window in ns; empty for other criteria.
    pub latency_ns: Vec<f64>,
    /// Largest deviation from the mean, in the unit of the metric, for deviation criteria.
    pub deviation: f64,
    /// Change per window of a fitted line, in the unit of the metric, for slope criteria.
    pub slope: f64,
    /// The one of these two that was held against the limit, in its unit.
    pub criterion: f64,
}

impl Steadiness {
    /// From a record; without one, the state is not attained.
    pub fn of(recorded: Option<&SteadyState>, goal: &SteadyGoal) -> Steadiness {
        // Each judged window has an entry; missing windows are zero.
        let places = goal.windows.min(PLACES_MAX) as usize;
        let windows = recorded.map_or(&[][..], |recorded| &recorded.windows);
        let of = |value: fn(&SteadyWindow) -> f64| {
            let mut values: Vec<f64> = windows.iter().map(|window| value(window).trunc()).collect();
            values.resize(values.len().max(places), 0.0);
            values
        };
        let latencies = || of(|window| window.latency_mean_ns);
        let all = Steadiness {
            attained: recorded.is_some_and(|recorded| recorded.attained),
            bytes_per_s: of(|window| window.bytes_per_s),
            ops_per_s: of(|window| window.ops_per_s),
            latency_ns: match goal.figure {
                SteadyFigure::Latency => latencies(),
                SteadyFigure::Ops | SteadyFigure::Bytes => Vec::new(),
            },
            ..Steadiness::default()
        };
        // Nothing was judged before there were as many windows as that.
        if windows.is_empty() || windows.len() < places {
            return all;
        }
        let judged = match goal.figure {
            SteadyFigure::Ops => &all.ops_per_s,
            SteadyFigure::Bytes => &all.bytes_per_s,
            SteadyFigure::Latency => &all.latency_ns,
        };
        let (slope, deviation) =
            if goal.slope { (slope(judged), 0.0) } else { (0.0, deviation_max(judged)) };
        let criterion = match (goal.percent, mean(judged)) {
            (false, _) => slope + deviation,
            (true, mean) if mean > 0.0 => (slope + deviation) * 100.0 / mean,
            (true, _) => 0.0,
        };
        Steadiness { slope, deviation, criterion, ..all }
    }
}

/// Sums the windows of two jobs that ran at the same time, last window with last window.
pub(in crate::output) fn added(one: &SteadyState, other: &SteadyState) -> SteadyState {
    let add = |(a, b): (&SteadyWindow, &SteadyWindow)| {
        let (ops, others) = (a.ops_per_s, b.ops_per_s);
        let latencies = a.latency_mean_ns * ops + b.latency_mean_ns * others;
        SteadyWindow {
            at_ns: a.at_ns.max(b.at_ns),
            ops_per_s: ops + others,
            bytes_per_s: a.bytes_per_s + b.bytes_per_s,
            latency_mean_ns: if ops + others > 0.0 { latencies / (ops + others) } else { 0.0 },
        }
    };
    let pairs = one.windows.iter().rev().zip(other.windows.iter().rev());
    let mut windows: Vec<SteadyWindow> = pairs.map(add).collect();
    windows.reverse();
    SteadyState { attained: one.attained && other.attained, windows, ..SteadyState::default() }
}

/// fio's name of the metric.
pub(in crate::output) fn name(figure: SteadyFigure) -> &'static str {
    match figure {
        SteadyFigure::Ops => "iops",
        SteadyFigure::Bytes => "bw",
        SteadyFigure::Latency => "lat",
    }
}

/// The criterion in fio's form: `iops:10.000000%`.
pub(in crate::output) fn words(goal: &SteadyGoal) -> String {
    let what = name(goal.figure);
    let slope = if goal.slope { "_slope" } else { "" };
    let percent = if goal.percent { "%" } else { "" };
    format!("{what}{slope}:{:.6}{percent}", goal.limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: SteadyGoal = SteadyGoal {
        figure: SteadyFigure::Ops,
        slope: false,
        limit: 10.0,
        percent: true,
        duration_s: 2,
        windows: 2,
    };

    #[test]
    fn the_goal_in_words() {
        assert_eq!(words(&GOAL), "iops:10.000000%");
        let other = SteadyGoal { figure: SteadyFigure::Bytes, slope: true, percent: false, ..GOAL };
        assert_eq!(words(&other), "bw_slope:10.000000");
        let latency = SteadyGoal { figure: SteadyFigure::Latency, ..GOAL };
        assert_eq!(words(&latency), "lat:10.000000%");
        assert_eq!(words(&SteadyGoal { slope: true, ..latency }), "lat_slope:10.000000%");
    }

    /// IOPS and latency per window, with the engine's result.
    fn recorded(windows: &[(f64, f64)]) -> SteadyState {
        let windows = windows
            .iter()
            .map(|(ops_per_s, latency_mean_ns)| SteadyWindow {
                ops_per_s: *ops_per_s,
                latency_mean_ns: *latency_mean_ns,
                ..SteadyWindow::default()
            })
            .collect();
        SteadyState { attained: true, mean: 200.4, deviation_max: 9.9, slope: 4.0, windows }
    }

    #[test]
    fn what_is_held_against_the_limit_is_in_its_unit() {
        let recorded = recorded(&[(190.3, 5000.0), (210.9, 6000.0)]);
        let of = |goal: &SteadyGoal| Steadiness::of(Some(&recorded), goal);
        assert_eq!((of(&GOAL).criterion, of(&GOAL).attained), (5.0, true));
        assert_eq!((of(&GOAL).deviation, of(&GOAL).slope), (10.0, 0.0));
        let slope = SteadyGoal { slope: true, ..GOAL };
        assert_eq!((of(&slope).criterion, of(&slope).deviation), (10.0, 0.0));
        assert_eq!(of(&SteadyGoal { percent: false, ..GOAL }).criterion, 10.0);
        assert_eq!(of(&SteadyGoal { percent: false, ..slope }).criterion, 20.0);
        assert_eq!(of(&GOAL).ops_per_s, [190.0, 210.0]);
        assert_eq!(of(&GOAL).latency_ns, [0.0; 0]);
        let latency = SteadyGoal { figure: SteadyFigure::Latency, ..GOAL };
        assert_eq!(of(&latency).latency_ns, [5000.0, 6000.0]);
        let nothing = Steadiness::of(None, &GOAL);
        assert_eq!((nothing.attained, nothing.ops_per_s), (false, vec![0.0, 0.0]));
    }

    #[test]
    fn windows_that_were_not_reached_are_zeros_and_judge_nothing() {
        let recorded = SteadyState { attained: false, ..recorded(&[(190.0, 1.0), (210.0, 1.0)]) };
        let steady = Steadiness::of(Some(&recorded), &SteadyGoal { windows: 4, ..GOAL });
        assert_eq!(steady.ops_per_s, [190.0, 210.0, 0.0, 0.0]);
        assert_eq!((steady.criterion, steady.deviation), (0.0, 0.0));
    }

    #[test]
    fn windows_of_a_group_are_added_up() {
        let one = recorded(&[(100.0, 1000.0), (200.0, 1000.0), (300.0, 1000.0)]);
        let other = SteadyState { attained: false, ..recorded(&[(20.0, 1.0), (100.0, 5000.0)]) };
        let both = added(&one, &other);
        let rates: Vec<_> = both.windows.iter().map(|window| window.ops_per_s).collect();
        assert_eq!((rates, both.attained), (vec![220.0, 400.0], false));
        assert_eq!(both.windows[1].latency_mean_ns, 2000.0);
    }
}
