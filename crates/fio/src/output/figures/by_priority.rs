//! Latencies by I/O priority, if operations had several.

use candor_record::OpStats;

use crate::job::FioJob;
use crate::output::figures::spread::Spread;

/// Fields of a priority in the kernel's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) struct Priority {
    /// Class.
    pub class: u32,
    /// Level within the class.
    pub level: u32,
    /// Hint.
    pub hint: u32,
}

impl Priority {
    fn from_bits(bits: u16) -> Priority {
        let bits = u32::from(bits);
        Priority { class: bits >> 13, level: bits & 7, hint: bits >> 3 & 0x3ff }
    }
}

/// The latencies of one direction by priority. As long as all operations had the same one, they
/// are not held a second time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::output) struct ByPriority {
    /// The priority of all operations while none are held apart, in the kernel's form.
    usual: u16,
    /// Total latency; else completion latency.
    pub total: bool,
    apart: Vec<(u16, Spread)>,
}

impl ByPriority {
    /// From a measurement.
    pub fn of(stats: &OpStats, job: &FioJob) -> ByPriority {
        let reporting = &job.reporting;
        let total = reporting.lat_percentiles;
        let shown = if total { reporting.lat } else { reporting.clat };
        let apart = stats.by_priority.iter().filter(|_| shown).map(|of| {
            let split = of.completion.as_ref().filter(|_| !total);
            (of.priority().bits(), Spread::of(split.or(of.latency.as_ref())))
        });
        let apart = apart.filter(|(_, spread)| !spread.is_empty()).collect();
        ByPriority { usual: job.io_priority, total, apart }
    }

    /// Adds another's; `mine` and `theirs` are the latencies of all priorities.
    pub fn add(&mut self, mine: &Spread, other: &ByPriority, theirs: &Spread) {
        if theirs.is_empty() {
            return;
        }
        if mine.is_empty() {
            self.clone_from(other);
            return;
        }
        if self.apart.is_empty() {
            if other.apart.is_empty() && other.usual == self.usual {
                return;
            }
            self.apart.push((self.usual, mine.clone()));
        }
        if other.apart.is_empty() {
            self.add_one(other.usual, theirs);
        }
        for (priority, spread) in &other.apart {
            self.add_one(*priority, spread);
        }
    }

    fn add_one(&mut self, priority: u16, spread: &Spread) {
        match self.apart.iter_mut().find(|(known, _)| *known == priority) {
            Some((_, sum)) => sum.add(spread),
            None => self.apart.push((priority, spread.clone())),
        }
    }

    /// Latencies of each priority, if there are several.
    pub fn shown(&self) -> impl Iterator<Item = (Priority, &Spread)> {
        let apart = if self.apart.len() > 1 { &self.apart[..] } else { &[] };
        apart.iter().map(|(bits, spread)| (Priority::from_bits(*bits), spread))
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::blocks::IoPriority;
    use candor_record::{Histogram, Latency, OfPriority};

    use super::*;

    fn latency(ns: &[u64]) -> Option<Latency> {
        let mut histogram = Histogram::new();
        ns.iter().for_each(|ns| histogram.record(*ns));
        Latency::from_histogram(histogram)
    }

    fn of(io_priority: u16, all: &[u64], apart: &[(u16, &[u64])]) -> (ByPriority, Spread) {
        let by_priority = apart.iter().map(|(bits, ns)| OfPriority {
            latency: latency(ns),
            ..OfPriority::of(IoPriority::from_bits(*bits))
        });
        let stats = OpStats { by_priority: by_priority.collect(), ..OpStats::default() };
        let job = FioJob { io_priority, ..FioJob::default() };
        (ByPriority::of(&stats, &job), Spread::of(latency(all).as_ref()))
    }

    fn shown(all: &[(ByPriority, Spread)]) -> Vec<(u32, u32, u64)> {
        let (mut sum, mut whole) = (ByPriority::default(), Spread::default());
        for (by_priority, spread) in all {
            sum.add(&whole, by_priority, spread);
            whole.add(spread);
        }
        sum.shown().map(|(of, spread)| (of.class, of.level, spread.count())).collect()
    }

    #[test]
    fn a_priority_has_a_class_a_level_and_a_hint() {
        assert_eq!(Priority::from_bits(0x600d), Priority { class: 3, level: 5, hint: 1 });
        assert_eq!(Priority::from_bits(0x5ff8), Priority { class: 2, level: 0, hint: 0x3ff });
    }

    #[test]
    fn one_priority_is_not_shown() {
        assert!(shown(&[of(0x4003, &[1, 2], &[])]).is_empty());
        assert!(shown(&[of(0, &[1, 2], &[(0, &[]), (0x2000, &[1, 2])])]).is_empty());
        assert!(shown(&[of(0x4003, &[1], &[]), of(0x4003, &[2], &[])]).is_empty());
    }

    #[test]
    fn priorities_of_a_group_are_distinguished() {
        let own = of(0, &[1, 2, 3], &[(0, &[1]), (0x2001, &[2, 3])]);
        assert_eq!(shown(std::slice::from_ref(&own)), [(0, 0, 1), (1, 1, 2)]);
        let (usual, other) = (of(0, &[4], &[]), of(0x2001, &[5], &[]));
        let all = [(0, 0, 2), (1, 1, 2)];
        assert_eq!(shown(&[own.clone(), usual.clone()]), all);
        assert_eq!(shown(&[usual.clone(), own]), all);
        assert_eq!(shown(&[usual, of(0, &[], &[]), other]), [(0, 0, 1), (1, 1, 1)]);
    }
}
