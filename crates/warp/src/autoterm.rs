//! The rule of `--autoterm`: the run may end if its rate is stable.

use super::report::Rate;

/// Segments that must be alike.
const SEGMENTS: usize = 7;

/// A time and a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autoterm {
    /// `--autoterm.dur` in ns.
    pub duration_ns: u64,
    /// `--autoterm.pct`.
    pub percent: f64,
}

impl Autoterm {
    /// True if a run on one host may end. `seconds` are the rates of all whole seconds.
    pub fn is_stable(&self, ran_ns: u64, seconds: &[Rate]) -> bool {
        ran_ns > self.duration_ns && self.are_alike(seconds, SEGMENTS)
    }

    /// True if a run on several clients may end. `seconds` are rates of all clients together.
    pub fn is_stable_on_all(&self, seconds: &[Rate]) -> bool {
        let window = usize::try_from(self.duration_ns.div_ceil(1_000_000_000));
        window.is_ok_and(|window| self.are_alike(seconds, window.max(1)))
    }

    /// Seconds that decide, at most.
    pub fn window(&self) -> usize {
        let seconds = usize::try_from(self.duration_ns.div_ceil(1_000_000_000));
        seconds.unwrap_or(usize::MAX).max(SEGMENTS)
    }

    /// True if there are that many rates, and the last of them differ little from the last one.
    fn are_alike(&self, rates: &[Rate], count: usize) -> bool {
        let Some(window) = rates.len().checked_sub(count).map(|from| &rates[from..]) else {
            return false;
        };
        let Some(last) = window.last() else { return false };
        // Operations without bytes are judged by their objects.
        let by_bytes = last.bytes > 0.0;
        let limit = value(last, by_bytes) * self.percent / 100.0;
        value(last, by_bytes) > 0.0
            && window
                .iter()
                .all(|rate| (value(rate, by_bytes) - value(last, by_bytes)).abs() <= limit)
    }
}

fn value(rate: &Rate, by_bytes: bool) -> f64 {
    if by_bytes { rate.bytes } else { rate.objects }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const USUAL: Autoterm = Autoterm { duration_ns: 15 * SECOND, percent: 7.5 };

    fn bytes(values: &[f64]) -> Vec<Rate> {
        values.iter().map(|bytes| Rate { bytes: *bytes, objects: 1.0 }).collect()
    }

    #[test]
    fn seven_alike_seconds_end_a_run_after_its_time() {
        let flat = bytes(&[50.0, 100.0, 101.0, 99.0, 100.0, 107.0, 93.0, 100.0]);
        assert!(USUAL.is_stable(16 * SECOND, &flat));
        assert!(!USUAL.is_stable(15 * SECOND, &flat), "not longer than the time");
        assert!(!USUAL.is_stable(16 * SECOND, &flat[..7]), "the first second differs");
        assert!(!USUAL.is_stable(16 * SECOND, &flat[2..]), "six seconds");
    }

    #[test]
    fn a_slope_or_a_step_keeps_the_run_going() {
        let slope: Vec<f64> = (0..60).map(|second| 100.0 + 3.0 * f64::from(second)).collect();
        assert!(!USUAL.is_stable(60 * SECOND, &bytes(&slope[..10])));
        let mut step = vec![100.0; 20];
        step.extend([50.0; 6]);
        assert!(!USUAL.is_stable(26 * SECOND, &bytes(&step)));
        step.push(50.0);
        assert!(USUAL.is_stable(27 * SECOND, &bytes(&step)), "the step has left the window");
    }

    fn objects(values: &[f64]) -> Vec<Rate> {
        values.iter().map(|objects| Rate { bytes: 0.0, objects: *objects }).collect()
    }

    #[test]
    fn operations_without_bytes_are_judged_by_objects() {
        assert!(USUAL.is_stable(16 * SECOND, &objects(&[10.0; 7])));
        let uneven = [10.0, 10.0, 20.0, 10.0, 10.0, 10.0, 10.0];
        assert!(!USUAL.is_stable(16 * SECOND, &objects(&uneven)));
        assert!(!USUAL.is_stable(16 * SECOND, &objects(&[0.0; 7])), "nothing happens");
    }

    #[test]
    fn several_clients_need_a_window_of_the_whole_time() {
        let short = Autoterm { duration_ns: 2_500_000_000, ..USUAL };
        assert!(short.is_stable_on_all(&bytes(&[1.0, 100.0, 100.0, 100.0])));
        assert!(!short.is_stable_on_all(&bytes(&[1.0, 100.0, 100.0])));
        assert!(!USUAL.is_stable_on_all(&bytes(&[100.0; 14])));
        assert!(USUAL.is_stable_on_all(&bytes(&[100.0; 15])));
    }

    proptest! {
        #[test]
        fn rates_within_the_limit_are_alike(
            last in 1.0f64..1e12,
            shares in prop::collection::vec(-0.074f64..0.074, 6),
            outlier in 0.08f64..10.0,
        ) {
            let mut values: Vec<f64> = shares.iter().map(|share| last * (1.0 + share)).collect();
            values.push(last);
            prop_assert!(USUAL.is_stable(16 * SECOND, &bytes(&values)));
            values[3] = last * (1.0 + outlier);
            prop_assert!(!USUAL.is_stable(16 * SECOND, &bytes(&values)));
        }
    }
}
