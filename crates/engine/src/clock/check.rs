//! Test whether the time-stamp counters of all CPUs agree.
//!
//! A thread on each CPU reads the number of the next ticket, then the tick, and then claims the
//! ticket; where another thread was faster, it tries again. So, if the counters agree, a later
//! ticket has a later tick.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use std::thread;

use crate::clock::ordered_tsc;
use crate::host::idle::{bind_to_cpu, usable};

/// A reading of one CPU's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Position among all readings.
    pub ticket: u32,
    /// CPU that was read.
    pub cpu: u32,
    /// Tick that the counter showed.
    pub tick: u64,
}

/// Takes `each` readings on every CPU that this process may use. Returns the number of CPUs, and
/// the pairs of neighbouring readings of which the later one has the earlier tick.
///
/// # Errors
/// The kernel's, where threads cannot be created or bound.
pub fn disagreements(each: u32) -> io::Result<(usize, Vec<[Reading; 2]>)> {
    let cpus = usable()?;
    let (next, waited_for) = (AtomicU32::new(0), AtomicUsize::new(cpus.len()));
    let mut readings = thread::scope(|scope| -> io::Result<Vec<Reading>> {
        let on = |cpu: &u32| {
            let (cpu, next, waited_for) = (*cpu, &next, &waited_for);
            let named = thread::Builder::new().name("candor/clock".into());
            let started = named.spawn_scoped(scope, move || {
                let bound = bind_to_cpu(cpu);
                let mut readings = Vec::with_capacity(each as usize);
                waited_for.fetch_sub(1, AcqRel);
                while waited_for.load(Acquire) > 0 {
                    thread::yield_now();
                }
                bound?;
                (0..each).for_each(|_| readings.push(read(cpu, next)));
                io::Result::Ok(readings)
            });
            // The others do not wait for one that did not start.
            started.inspect_err(|_| _ = waited_for.fetch_sub(1, AcqRel))
        };
        let threads: Vec<_> = cpus.iter().map(on).collect();
        let mut all = Vec::with_capacity(cpus.len() * each as usize);
        for thread in threads {
            all.extend(thread?.join().map_err(|_| io::Error::other("a thread panicked"))??);
        }
        Ok(all)
    })?;
    readings.sort_unstable_by_key(|reading| reading.ticket);
    Ok((cpus.len(), backwards(&readings)))
}

fn read(cpu: u32, next: &AtomicU32) -> Reading {
    loop {
        let ticket = next.load(Acquire);
        let tick = ordered_tsc();
        if next.compare_exchange(ticket, ticket.wrapping_add(1), AcqRel, Relaxed).is_ok() {
            return Reading { ticket, cpu, tick };
        }
    }
}

/// Neighbouring readings, in ticket order, of which the later one has the earlier tick.
fn backwards(readings: &[Reading]) -> Vec<[Reading; 2]> {
    let pairs = readings.windows(2).filter(|pair| pair[0].tick > pair[1].tick);
    pairs.map(|pair| [pair[0], pair[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_has_a_ticket_of_its_own() {
        let next = AtomicU32::new(0);
        let readings: Vec<_> = (0..100).map(|_| read(0, &next)).collect();
        assert!(readings.iter().zip(0..).all(|(reading, nth)| reading.ticket == nth));
        assert!(backwards(&readings).is_empty());
        let (cpus, _) = disagreements(1000).expect("threads can be bound");
        assert!(cpus > 0);
    }

    #[test]
    fn a_step_back_is_found() {
        let reading = |ticket, cpu, tick| Reading { ticket, cpu, tick };
        let all = [reading(0, 0, 5), reading(1, 1, 4), reading(2, 0, 6), reading(3, 1, 7)];
        assert_eq!(backwards(&all), [[all[0], all[1]]]);
    }
}
