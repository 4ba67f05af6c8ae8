//! Samples of an interval from several children, joined into one event.
//!
//! Hosts end their intervals at nearly the same time, and their messages arrive in order: the n-th
//! of each child belong together. One that lags is not waited for beyond a few intervals.

use std::collections::VecDeque;

use candor_record::{Event, HostSample, JobSample};

/// Intervals that wait for those of a child that lags.
const BEHIND_MAX: usize = 3;

/// One interval of a child.
#[derive(Debug)]
struct Interval {
    phase: String,
    in_ramp: bool,
    samples: Vec<JobSample>,
    hosts: Vec<HostSample>,
}

/// Intervals that wait for those of other children.
#[derive(Debug, Default)]
pub struct Samples(Vec<VecDeque<Interval>>);

impl Samples {
    /// Takes an event of a child; gives it back where it is no sample.
    pub fn take(&mut self, child: usize, event: Event) -> Option<Event> {
        let Event::Sampled { phase, in_ramp, samples, hosts } = event else { return Some(event) };
        if self.0.len() <= child {
            self.0.resize_with(child + 1, VecDeque::new);
        }
        self.0[child].push_back(Interval { phase, in_ramp, samples, hosts });
        None
    }

    /// The next interval, once each child that still counts has one, or one child is far ahead; at
    /// the end of a phase whatever is left.
    pub fn next(&mut self, live: &[usize], at_end: bool) -> Option<Event> {
        let length = |child: &usize| self.0.get(*child).map_or(0, VecDeque::len);
        let all = live.iter().all(|child| length(child) > 0);
        let far = self.0.iter().any(|queue| queue.len() > BEHIND_MAX);
        if self.0.iter().all(VecDeque::is_empty) || !(all || far || at_end) {
            return None;
        }
        let heads = self.0.iter_mut().filter(|queue| !queue.is_empty());
        let mut joined: Option<Interval> = None;
        for queue in heads {
            let fits = |head: &&Interval| {
                joined.as_ref().is_none_or(|first| {
                    (&first.phase, first.in_ramp) == (&head.phase, head.in_ramp)
                })
            };
            if queue.front().filter(fits).is_none() {
                continue;
            }
            match (&mut joined, queue.pop_front()) {
                (Some(joined), Some(next)) => joined.join(next),
                (joined, next) => *joined = next,
            }
        }
        let Interval { phase, in_ramp, samples, hosts } = joined?;
        Some(Event::Sampled { phase, in_ramp, samples, hosts })
    }
}

impl Interval {
    fn join(&mut self, next: Interval) {
        for sample in next.samples {
            match self.samples.iter_mut().find(|known| known.job == sample.job) {
                Some(known) => known.join(sample),
                None => self.samples.push(sample),
            }
        }
        self.hosts.extend(next.hosts);
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{OpSample, Sample, WorkerSample};

    use super::*;

    fn event(at_ns: u64, ops: u64) -> Event {
        let op = OpSample { name: "read".into(), ops, ..OpSample::default() };
        let sample = Sample { at_ns, length_ns: 100, operations: vec![op] };
        let workers = vec![WorkerSample { ops, bytes: 0 }];
        let samples = vec![JobSample { job: "job".into(), sample, workers }];
        let hosts = vec![HostSample::default()];
        Event::Sampled { phase: "phase".into(), in_ramp: false, samples, hosts }
    }

    fn sum(event: Option<Event>) -> Option<(u64, usize, usize)> {
        let Some(Event::Sampled { samples, hosts, .. }) = event else { return None };
        let ops = samples[0].sample.operations[0].ops;
        Some((ops, samples[0].workers.len(), hosts.len()))
    }

    #[test]
    fn intervals_of_all_children_are_one_and_a_slow_child_is_not_waited_for() {
        let mut samples = Samples::default();
        assert!(samples.take(0, event(100, 1)).is_none());
        assert_eq!(sum(samples.next(&[0, 1], false)), None, "the other one is missing");
        assert!(samples.take(1, event(101, 10)).is_none());
        assert_eq!(sum(samples.next(&[0, 1], false)), Some((11, 2, 2)));
        for nth in 2..6 {
            assert!(samples.take(0, event(nth * 100, 1)).is_none());
        }
        assert_eq!(sum(samples.next(&[0, 1], false)), Some((1, 1, 1)), "far ahead");
        assert_eq!(sum(samples.next(&[0, 1], false)), None);
        assert_eq!(sum(samples.next(&[0], false)), Some((1, 1, 1)), "the other one is lost");
        let rest: Vec<_> = std::iter::from_fn(|| sum(samples.next(&[0, 1], true))).collect();
        assert_eq!(rest, [(1, 1, 1); 2]);
        let warned = Event::Warned { sentence: "a word".into() };
        assert!(samples.take(0, warned).is_some(), "no sample");
    }
}
