//! Steady state: what was asked for, and how near to it the last windows were.

use candor_plan::SteadyFigure;
use candor_record::SteadyState;

use crate::fio::job::SteadyGoal;

/// A goal over more windows than this is not shown window by window.
const PLACES_MAX: u64 = 1 << 16;

/// Steadiness of a job over the last windows that were judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::fio::output) struct Steadiness {
    /// The criterion was met.
    pub attained: bool,
    /// Bytes per second in each window.
    pub bytes_per_s: Vec<f64>,
    /// Operations per second in each window.
    pub ops_per_s: Vec<f64>,
    /// Mean latency in each window, in ns; empty where latency is not what counts.
    pub latency_ns: Vec<f64>,
    /// Greatest distance from the mean, in the unit of what was judged.
    pub deviation: f64,
    /// Change per window of a fitted line, in the unit of what was judged.
    pub slope: f64,
    /// The one of these two that was held against the limit, in its unit.
    pub criterion: f64,
}

impl Steadiness {
    /// Of what was recorded; nothing is attained where nothing was.
    pub fn of(recorded: Option<&SteadyState>, goal: &SteadyGoal) -> Steadiness {
        // There is a place for each window that is judged; those that were not reached hold zeros.
        let places = goal.duration_s.min(PLACES_MAX) as usize;
        let padded = |mut values: Vec<f64>| {
            values.resize(values.len().max(places), 0.0);
            values
        };
        let latencies = |all: Vec<f64>| match goal.figure {
            SteadyFigure::Latency => all,
            SteadyFigure::Ops | SteadyFigure::Bytes => Vec::new(),
        };
        let Some(recorded) = recorded else {
            let nothing = || padded(Vec::new());
            return Steadiness {
                bytes_per_s: nothing(),
                ops_per_s: nothing(),
                latency_ns: latencies(nothing()),
                ..Steadiness::default()
            };
        };
        let criterion = if goal.slope { recorded.slope } else { recorded.deviation_max };
        Steadiness {
            attained: recorded.attained,
            bytes_per_s: padded(recorded.windows.iter().map(|w| w.bytes_per_s).collect()),
            ops_per_s: padded(recorded.windows.iter().map(|w| w.ops_per_s).collect()),
            latency_ns: latencies(padded(
                recorded.windows.iter().map(|w| w.latency_mean_ns).collect(),
            )),
            deviation: recorded.deviation_max,
            slope: recorded.slope,
            criterion: match (goal.percent, recorded.mean > 0.0) {
                (false, _) => criterion,
                (true, true) => criterion * 100.0 / recorded.mean,
                (true, false) => 0.0,
            },
        }
    }
}

/// The mean of values; 0 for none.
pub(in crate::fio::output) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The figure as fio calls it.
pub(in crate::fio::output) fn name(figure: SteadyFigure) -> &'static str {
    match figure {
        SteadyFigure::Ops => "iops",
        SteadyFigure::Bytes => "bw",
        SteadyFigure::Latency => "lat",
    }
}

/// The criterion as fio words it: `iops:10.000000%`.
pub(in crate::fio::output) fn words(goal: &SteadyGoal) -> String {
    let what = name(goal.figure);
    let slope = if goal.slope { "_slope" } else { "" };
    let percent = if goal.percent { "%" } else { "" };
    format!("{what}{slope}:{:.6}{percent}", goal.limit)
}

#[cfg(test)]
mod tests {
    use candor_record::SteadyWindow;

    use super::*;

    const GOAL: SteadyGoal = SteadyGoal {
        figure: SteadyFigure::Ops,
        slope: false,
        limit: 10.0,
        percent: true,
        duration_s: 2,
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

    #[test]
    fn what_is_held_against_the_limit_is_in_its_unit() {
        let window = |ops_per_s, latency_mean_ns| SteadyWindow {
            ops_per_s,
            latency_mean_ns,
            ..SteadyWindow::default()
        };
        let recorded = SteadyState {
            attained: true,
            mean: 200.0,
            deviation_max: 10.0,
            slope: -4.0,
            windows: vec![window(190.0, 5000.0), window(210.0, 6000.0)],
        };
        let of = |goal: &SteadyGoal| Steadiness::of(Some(&recorded), goal);
        assert_eq!((of(&GOAL).criterion, of(&GOAL).attained), (5.0, true));
        assert_eq!(of(&SteadyGoal { slope: true, ..GOAL }).criterion, -2.0);
        assert_eq!(of(&SteadyGoal { percent: false, ..GOAL }).criterion, 10.0);
        assert_eq!(of(&GOAL).ops_per_s, [190.0, 210.0]);
        assert_eq!(of(&GOAL).latency_ns, [0.0; 0]);
        let latency = SteadyGoal { figure: SteadyFigure::Latency, ..GOAL };
        assert_eq!(of(&latency).latency_ns, [5000.0, 6000.0]);
        let nothing = Steadiness::of(None, &GOAL);
        assert_eq!((nothing.attained, nothing.ops_per_s), (false, vec![0.0, 0.0]));
    }
}
