//! The CPU budget of tracing, and the times that it is kept by.

use std::time::Duration;

/// Name of the thread that traces.
pub const THREAD_NAME: &str = "candor/trace";
/// Shortest window before the budget is compared with the cost of its events.
pub const WINDOW_MIN: Duration = Duration::from_millis(20);
/// Longest window. Each end of a window wakes a thread, also while no request occurs.
const WINDOW_MAX: Duration = Duration::from_millis(80);
/// Share of one CPU that the events of a burst take: some 125,000 requests per second.
const BURST_SHARE: f64 = 0.125;
/// Longest wait for the completions of requests that began in a window.
pub const DRAIN_MAX: Duration = Duration::from_millis(200);
/// Time over which the budget accumulates at most.
const ACCRUAL_MAX: Duration = Duration::from_secs(1);

/// CPU time that tracing may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A share of the time of one CPU; where there are too many requests for it, they are traced
    /// in windows with pauses between.
    Share(f64),
    /// Every request is traced, whatever it costs.
    Unbounded,
}

/// CPU time that may be spent on events: a share of the time that passes, accumulated for bursts
/// over at most [`ACCRUAL_MAX`].
pub struct CpuBudget {
    share: f64,
    /// CPU time of an event.
    event_ns: f64,
    balance_ns: f64,
}

impl CpuBudget {
    pub fn new(share: f64, event_ns: f64) -> CpuBudget {
        CpuBudget { share, event_ns, balance_ns: ACCRUAL_MAX.as_nanos() as f64 * share }
    }

    /// Length of the next window: the balance covers a burst in it.
    pub fn window(&self) -> Duration {
        let covered = Duration::from_nanos((self.balance_ns.max(0.0) / BURST_SHARE) as u64);
        covered.clamp(WINDOW_MIN, WINDOW_MAX)
    }

    pub fn accrue(&mut self, time: Duration) {
        let most = ACCRUAL_MAX.as_nanos() as f64 * self.share;
        self.balance_ns = (self.balance_ns + time.as_nanos() as f64 * self.share).min(most);
    }

    pub fn charge(&mut self, events: u64) {
        self.charge_ns(events as f64 * self.event_ns);
    }

    pub fn charge_ns(&mut self, time_ns: f64) {
        self.balance_ns -= time_ns;
    }

    pub fn is_overdrawn(&self) -> bool {
        self.balance_ns < 0.0
    }

    /// Time until the balance is `balance_ns`.
    pub fn time_until(&self, balance_ns: f64) -> Duration {
        let missing_ns = (balance_ns - self.balance_ns).max(0.0);
        Duration::from_nanos((missing_ns / self.share) as u64)
    }
}

/// The clock that the kernel notes the times of requests with.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT_NS: f64 = 500.0;

    /// Of so many events per second, the share of the time in which they are traced in 10 s.
    fn traced_share(events_per_s: f64) -> f64 {
        let (mut cpu, mut on_s, mut paused_s) = (CpuBudget::new(0.01, EVENT_NS), 0.0, 0.0);
        while on_s + paused_s < 10.0 {
            let window = cpu.window();
            let events = (events_per_s * window.as_secs_f64()) as u64;
            on_s += window.as_secs_f64();
            cpu.accrue(window);
            cpu.charge(events);
            if cpu.is_overdrawn() {
                let time = cpu.time_until(0.0);
                cpu.accrue(time);
                paused_s += time.as_secs_f64();
            }
        }
        on_s / (on_s + paused_s)
    }

    #[test]
    fn many_requests_are_traced_in_windows() {
        assert_eq!(traced_share(15_000.0), 1.0);
        // A tenth of a CPU, ten times the budget, but for what had accumulated.
        let share = traced_share(200_000.0);
        assert!((0.1..0.12).contains(&share), "{share}");
    }

    #[test]
    fn windows_are_long_while_requests_are_few() {
        let mut cpu = CpuBudget::new(0.01, EVENT_NS);
        assert_eq!(cpu.window(), WINDOW_MAX);
        cpu.charge(15_000);
        assert_eq!(cpu.window(), WINDOW_MIN);
        cpu.charge(15_000);
        assert_eq!(cpu.window(), WINDOW_MIN, "overdrawn");
        assert_eq!(CpuBudget::new(0.0025, EVENT_NS).window(), WINDOW_MIN, "of a run");
    }

    #[test]
    fn a_burst_is_traced_whole() {
        let mut cpu = CpuBudget::new(0.01, EVENT_NS);
        cpu.charge(15_000);
        assert!(!cpu.is_overdrawn());
        cpu.charge(15_000);
        assert!(cpu.is_overdrawn());
        assert_eq!(cpu.time_until(0.0), Duration::from_millis(500));
    }
}
