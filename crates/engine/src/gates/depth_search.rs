//! Search for the greatest depth at which latency stays below a goal.
//!
//! Each depth is tried for one window. The depth doubles while the goal is met. Then the search
//! halves the range between the greatest depth that met the goal and the least one that missed it.

use candor_plan::blocks::LatencyGoal;

/// A worker's search. Times are ns since any fixed moment.
#[derive(Clone, Debug)]
pub struct Search {
    goal: LatencyGoal,
    depth: usize,
    depth_max: usize,
    /// Greatest depth that met the goal; 0 for none.
    good: usize,
    /// Least depth that missed the goal.
    bad: usize,
    ops: u64,
    slow: u64,
    window_ends_ns: Option<u64>,
    found: bool,
}

impl Search {
    /// A search up to `depth_max`, which begins with one operation at a time.
    pub fn new(goal: LatencyGoal, depth_max: usize) -> Search {
        Search {
            goal,
            depth: 1,
            depth_max,
            good: 0,
            bad: depth_max + 1,
            ops: 0,
            slow: 0,
            window_ends_ns: None,
            found: false,
        }
    }

    /// Operations allowed in flight now.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Greatest depth that met the goal so far; 0 for none.
    pub fn reached(&self) -> usize {
        self.good
    }

    /// Takes the latency of an operation.
    #[inline]
    pub fn completed(&mut self, latency_ns: u64) {
        self.ops += 1;
        self.slow += u64::from(latency_ns > self.goal.latency.0);
    }

    /// Ends the window that is due; true once the search is over and the job is to end then.
    pub fn check(&mut self, now_ns: u64) -> bool {
        let ends_ns = *self.window_ends_ns.get_or_insert(now_ns + self.goal.window.0);
        if now_ns < ends_ns || self.ops == 0 {
            return false;
        }
        let met = self.ops - self.slow;
        let good = met as f64 * 100.0 >= self.goal.percentile * self.ops as f64;
        (self.ops, self.slow) = (0, 0);
        self.window_ends_ns = Some(now_ns + self.goal.window.0);
        if self.found {
            self.adjust(good);
        } else {
            self.narrow(good);
        }
        self.found && !self.goal.goes_on
    }

    fn narrow(&mut self, good: bool) {
        if good {
            self.good = self.depth;
        } else {
            self.bad = self.depth;
        }
        if self.bad - self.good <= 1 {
            self.found = true;
            self.depth = self.good.max(1);
        } else if self.bad > self.depth_max {
            self.depth = (self.depth * 2).min(self.depth_max);
        } else {
            self.depth = self.good.midpoint(self.bad).max(1);
        }
    }

    /// Continues near the depth that was found: one down where it misses the goal, up again where
    /// it meets it.
    fn adjust(&mut self, good: bool) {
        self.depth =
            if good { (self.depth + 1).min(self.good.max(1)) } else { (self.depth - 1).max(1) };
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;
    use proptest::prelude::*;

    use super::*;

    const WINDOW_NS: u64 = 1_000_000;

    fn goal(latency_ns: u64, percentile: f64, goes_on: bool) -> LatencyGoal {
        LatencyGoal { latency: Nanos(latency_ns), percentile, window: Nanos(WINDOW_NS), goes_on }
    }

    /// Runs a search on a device whose latency is 1 µs per operation in flight.
    fn search(goal: LatencyGoal, depth_max: usize) -> (usize, u32) {
        let mut search = Search::new(goal, depth_max);
        let (mut now, mut windows) = (0, 0);
        search.check(now);
        loop {
            (0..100).for_each(|_| search.completed(search.depth() as u64 * 1000));
            now += WINDOW_NS;
            windows += 1;
            if search.check(now) {
                return (search.reached(), windows);
            }
        }
    }

    proptest! {
        #[test]
        fn the_greatest_depth_is_found_in_few_windows(limit in 0usize..300, max in 1usize..256) {
            let (reached, windows) = search(goal(limit as u64 * 1000, 100.0, false), max);
            prop_assert_eq!(reached, limit.min(max));
            prop_assert!(windows <= 18, "{windows} windows");
        }
    }

    #[test]
    fn a_percentile_forgives_the_rest() {
        let judge = |percentile| {
            let mut search = Search::new(goal(1000, percentile, false), 1);
            search.check(0);
            (0..1000).for_each(|nth| search.completed(if nth < 10 { 5000 } else { 500 }));
            assert!(search.check(WINDOW_NS));
            search.reached()
        };
        assert_eq!((judge(99.0), judge(99.5)), (1, 0));
    }

    #[test]
    fn a_window_without_operations_decides_nothing() {
        let mut search = Search::new(goal(1000, 100.0, false), 4);
        assert!(!search.check(0) && !search.check(10 * WINDOW_NS));
        assert_eq!((search.depth(), search.reached()), (1, 0));
    }

    #[test]
    fn a_job_that_goes_on_follows_the_device() {
        let mut search = Search::new(goal(8000, 100.0, true), 64);
        let mut now = 0;
        let mut run = |search: &mut Search, us_per_depth: u64| {
            for _ in 0..20 {
                (0..10).for_each(|_| search.completed(search.depth() as u64 * us_per_depth * 1000));
                now += WINDOW_NS;
                assert!(!search.check(now), "it goes on");
            }
            search.depth()
        };
        assert_eq!(run(&mut search, 1), 8);
        assert!(run(&mut search, 2) <= 5, "the device became twice as slow");
        assert!(run(&mut search, 1) >= 7);
    }
}
