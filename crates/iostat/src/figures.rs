//! The arithmetic of iostat: rates are differences per second, waits are differences of times per
//! request, queues are differences of weighted times per time.

use candor_record::{CpuTimes, DiskCounters};

use super::Sample;

/// Activity of one device, or of a group of them, between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Activity {
    /// Counter differences; sums for a group.
    pub counted: DiskCounters,
    /// The time.
    pub elapsed_s: f64,
    /// Number of summed devices.
    pub devices: u32,
}

/// Time between two samples in ns, at least 1.
pub fn elapsed_ns(before: &Sample, now: &Sample) -> u64 {
    now.uptime_ns.saturating_sub(before.uptime_ns).max(1)
}

impl Activity {
    pub fn between(before: Option<&DiskCounters>, now: &DiskCounters, elapsed_s: f64) -> Activity {
        let is_same = |before: &&DiskCounters| {
            // Request counters never decrease; if they do, another device has the name.
            now.reads >= before.reads && now.writes >= before.writes
        };
        let before = before.filter(is_same).copied().unwrap_or_default();
        let counted = now.each(&before, difference);
        Activity {
            counted: DiskCounters { in_flight: now.in_flight, ..counted },
            elapsed_s,
            devices: 1,
        }
    }

    /// Adds another device of the same interval.
    pub fn add(&mut self, other: &Activity) {
        self.counted = self.counted.each(&other.counted, u64::saturating_add);
        self.elapsed_s = other.elapsed_s;
        self.devices += other.devices;
    }

    pub fn is_idle(&self) -> bool {
        let c = &self.counted;
        c.reads + c.writes + c.discards + c.flushes == 0
    }

    pub fn per_second(&self, counted: u64) -> f64 {
        if self.elapsed_s > 0.0 { counted as f64 / self.elapsed_s } else { 0.0 }
    }

    /// Share of requests that were merged into others, in percent.
    pub fn merged_percent(merged: u64, requests: u64) -> f64 {
        ratio(merged as f64 * 100.0, merged + requests)
    }

    /// Mean number of requests in flight or waiting.
    pub fn queue(&self) -> f64 {
        self.per_second(self.counted.weighted_ms) / 1000.0
    }

    /// Share of the time with requests in flight, in percent; the mean for a group.
    pub fn busy_percent(&self) -> f64 {
        self.per_second(self.counted.busy_ms) / 10.0 / f64::from(self.devices.max(1))
    }

    pub fn requests(&self) -> u64 {
        self.counted.reads + self.counted.writes + self.counted.discards
    }

    pub fn sectors(&self) -> u64 {
        self.counted.read_sectors + self.counted.write_sectors + self.counted.discard_sectors
    }
}

/// A sum per request; 0 without requests.
pub(super) fn ratio(sum: f64, requests: u64) -> f64 {
    if requests == 0 { 0.0 } else { sum / requests as f64 }
}

/// CPU time in percent: user, nice, system, iowait, steal, idle.
pub(super) fn cpu_percent(before: &CpuTimes, now: &CpuTimes) -> [f64; 6] {
    let of = |field: fn(&CpuTimes) -> u64| field(now).saturating_sub(field(before));
    // Interrupt time counts as system time.
    let system = of(|t| t.system_ns) + of(|t| t.irq_ns) + of(|t| t.softirq_ns);
    let times = [
        of(|t| t.user_ns),
        of(|t| t.nice_ns),
        system,
        of(|t| t.iowait_ns),
        of(|t| t.steal_ns),
        of(|t| t.idle_ns),
    ];
    let all: u64 = times.iter().sum();
    times.map(|time| ratio(time as f64 * 100.0, all))
}

/// The kernel stores times in 32 bits of milliseconds, which wrap after 49 days.
fn difference(now: u64, before: u64) -> u64 {
    const WRAP: u64 = 1 << 32;
    match now.checked_sub(before) {
        Some(difference) => difference,
        None if before < WRAP => now + WRAP - before,
        None => 0,
    }
}
