//! Waiting for the next report.

use std::thread;
use std::time::{Duration, Instant};

use candor_run::Control;

/// Longest sleep between two looks at the control: nobody waits for less, and each costs a waking.
const STEP: Duration = Duration::from_millis(100);

/// A rhythm that does not drift: each moment is a multiple of the interval behind the first.
pub struct Pace {
    interval: Duration,
    next: Instant,
    control: Control,
}

impl Pace {
    /// Begins now.
    pub fn new(interval: Duration, control: Control) -> Pace {
        Pace { interval, next: Instant::now(), control }
    }

    /// Waits for the next moment, or until it is interrupted. Moments that have passed meanwhile
    /// are left out.
    pub fn wait(&mut self) {
        let now = Instant::now();
        while self.next <= now && !self.interval.is_zero() {
            let Some(next) = self.next.checked_add(self.interval) else { break };
            self.next = next;
        }
        while !self.control.is_stopped() {
            let left = self.next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(STEP.min(left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_distance() {
        let mut pace = Pace::new(Duration::from_millis(30), Control::default());
        let begin = pace.next;
        pace.wait();
        pace.wait();
        assert!(begin.elapsed() >= Duration::from_millis(60));
        assert_eq!((pace.next - begin).as_millis() % 30, 0);
    }
}
