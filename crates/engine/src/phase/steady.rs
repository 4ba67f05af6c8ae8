//! Steady-state test of a job: a rolling list of windows against a criterion.

use std::collections::VecDeque;

use candor_plan::{Steady, SteadyFigure, SteadyFit};
use candor_record::{SteadyState, SteadyWindow};
use candor_stats::{deviation_max, is_steady, mean, slope};

use crate::counters::Totals;

/// Windows of a job. Times are ns since counting began.
#[derive(Debug)]
pub struct SteadyWatch {
    criterion: Steady,
    last: Totals,
    from_ns: u64,
    begun: bool,
    windows: VecDeque<SteadyWindow>,
    attained: bool,
}

impl SteadyWatch {
    /// Test of a job that begins to count.
    pub fn new(criterion: &Steady) -> SteadyWatch {
        SteadyWatch {
            criterion: criterion.clone(),
            last: Totals::default(),
            from_ns: criterion.ramp().0,
            begun: false,
            windows: VecDeque::new(),
            attained: false,
        }
    }

    /// Time at which the present window ends, or the first one begins.
    pub fn due_ns(&self) -> u64 {
        if self.begun {
            self.from_ns.saturating_add(self.criterion.window().0)
        } else {
            self.from_ns
        }
    }

    /// Ends the window that is due; true if the last windows meet the criterion.
    pub fn check(&mut self, totals: &Totals, now_ns: u64) -> bool {
        if now_ns < self.due_ns() {
            return false;
        }
        if self.begun {
            self.windows.push_back(window(&self.last, totals, self.from_ns, now_ns));
            let windows = self.criterion.windows() as usize;
            if self.windows.len() > windows {
                self.windows.pop_front();
            }
            self.attained = self.windows.len() == windows && self.is_met();
        }
        (self.last, self.from_ns, self.begun) = (totals.clone(), now_ns, true);
        self.attained
    }

    fn values(&self) -> Vec<f64> {
        let figure = self.criterion.figure();
        let values = self.windows.iter().map(|window| match figure {
            SteadyFigure::Ops => window.ops_per_s,
            SteadyFigure::Bytes => window.bytes_per_s,
            SteadyFigure::Latency => window.latency_mean_ns,
        });
        values.collect()
    }

    fn is_met(&self) -> bool {
        let values = self.values();
        let mean = mean(&values);
        if mean <= 0.0 {
            return false;
        }
        let percent = |value: f64| value * 100.0 / mean;
        match &self.criterion {
            Steady::Snia { .. } => is_steady(&values),
            Steady::Agree { percent: limit, .. } => percent(deviation_max(&values)) <= *limit,
            Steady::Hold { fit, limit, percent: in_percent, .. } => {
                let off = match fit {
                    SteadyFit::Deviation => deviation_max(&values),
                    SteadyFit::Slope => slope(&values).abs(),
                };
                (if *in_percent { percent(off) } else { off }) <= *limit
            }
        }
    }

    /// Result of the test so far.
    pub fn state(&self) -> SteadyState {
        let values = self.values();
        SteadyState {
            attained: self.attained,
            mean: mean(&values),
            deviation_max: deviation_max(&values),
            slope: slope(&values),
            windows: self.windows.iter().copied().collect(),
        }
    }
}

fn window(before: &Totals, now: &Totals, from_ns: u64, now_ns: u64) -> SteadyWindow {
    let (then, since) = (before.progress(from_ns), now.progress(now_ns));
    let ops = since.ops.saturating_sub(then.ops);
    let seconds = (now_ns - from_ns).max(1) as f64 / 1e9;
    let latency_ns = now.work().since(&before.work()).latency_sum_ns;
    SteadyWindow {
        at_ns: now_ns,
        ops_per_s: ops as f64 / seconds,
        bytes_per_s: since.bytes.saturating_sub(then.bytes) as f64 / seconds,
        latency_mean_ns: latency_ns as f64 / ops.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;
    use crate::counters::OpTotals;

    const SECOND: u64 = 1_000_000_000;

    /// Feeds operations per second; returns the number of windows after which the job was steady,
    /// if it ever was.
    fn steady_after(criterion: &Steady, rates: &[u64]) -> Option<usize> {
        let mut watch = SteadyWatch::new(criterion);
        let (mut done, mut now) = (0, criterion.ramp().0);
        assert!(!watch.check(&Totals::default(), now));
        for (nth, rate) in rates.iter().enumerate() {
            done += rate;
            now += SECOND;
            let totals =
                Totals::of_reads(OpTotals { ops: done, bytes: done, latency_sum_ns: done * 1000 });
            if watch.check(&totals, now) {
                return Some(nth + 1);
            }
        }
        None
    }

    fn hold(fit: SteadyFit, limit: f64, percent: bool) -> Steady {
        Steady::Hold {
            figure: SteadyFigure::Ops,
            fit,
            limit,
            percent,
            window: Nanos(SECOND),
            windows: 3,
            ramp: Nanos(0),
        }
    }

    #[test]
    fn snia_waits_until_neither_range_nor_trend_is_left() {
        let snia = Steady::Snia { window: Nanos(SECOND), windows: 5 };
        // Rates of a device fresh out of the box that settles.
        let rates = [1000, 600, 400, 300, 280, 270, 268, 266, 265];
        // In the eighth second the least-squares line still falls by 11.6 % of the mean.
        assert_eq!(steady_after(&snia, &rates), Some(9));
        let sliding: Vec<u64> = (0..20).map(|nth| 2000 - nth * 90).collect();
        assert_eq!(steady_after(&snia, &sliding), None, "it never stops falling");
        assert_eq!(steady_after(&snia, &[500; 5]), Some(5));
        assert_eq!(steady_after(&snia, &[0; 9]), None, "nothing at all is not steady");
    }

    #[test]
    fn agreement_is_every_window_near_the_mean() {
        let agree = Steady::Agree { window: Nanos(SECOND), windows: 3, percent: 5.0 };
        assert_eq!(steady_after(&agree, &[100, 200, 300, 310, 305]), Some(5));
    }

    #[test]
    fn limits_are_absolute_or_in_percent() {
        let rates = [100, 100, 130, 108, 104, 106];
        assert_eq!(steady_after(&hold(SteadyFit::Deviation, 2.0, false), &rates), Some(6));
        assert_eq!(steady_after(&hold(SteadyFit::Deviation, 15.0, true), &rates), Some(5));
        assert_eq!(steady_after(&hold(SteadyFit::Slope, 1.0, true), &rates), Some(6));
    }

    #[test]
    fn bytes_and_latency_can_be_judged_too() {
        for figure in [SteadyFigure::Bytes, SteadyFigure::Latency] {
            let mut criterion = hold(SteadyFit::Deviation, 1.0, true);
            if let Steady::Hold { figure: of, .. } = &mut criterion {
                *of = figure;
            }
            let after = steady_after(&criterion, &[100, 300, 300, 300]);
            // Every operation had the same latency, at any rate.
            assert_eq!(after, Some(if figure == SteadyFigure::Bytes { 4 } else { 3 }));
        }
    }
}
