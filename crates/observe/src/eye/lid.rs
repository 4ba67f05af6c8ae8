//! When the programs are attached: always, or only for moments where requests are many.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::bpf::{self, Map};
use super::{Budget, numbers};

/// What an event costs, a request having two. 420,000 a second on zram became 3 % fewer while 14 %
/// of them were looked at: that is 0.5 µs each, in a virtual machine with all mitigations.
const EVENT_NS: f64 = 500.0;
/// How long requests are counted before it is decided whether there are too many.
const MOMENT: Duration = Duration::from_millis(20);
/// Time for which the budget can be saved up.
const SAVED: Duration = Duration::from_secs(1);

/// Opens and shuts the eye until it is dropped.
///
/// A program stays attached as long as any table of open files has its descriptor, and the
/// engine's workers copy the table they find. So a thread with a table of its own attaches them.
#[derive(Debug)]
pub struct Lid {
    /// Dropped, it ends the thread; the descriptors outlive it, since both tables have them.
    tender: Option<(Sender<()>, JoinHandle<()>)>,
    _means: Arc<Means>,
}

/// What it takes to look.
#[derive(Debug)]
struct Means {
    programs: Vec<(OwnedFd, &'static str)>,
    /// Where the programs count what they do.
    events: Map,
}

impl Lid {
    /// Attaches the programs.
    pub fn open(
        programs: Vec<(OwnedFd, &'static str)>,
        events: Map,
        budget: Budget,
    ) -> io::Result<Lid> {
        let means = Arc::new(Means { programs, events });
        let (stop, stopped) = channel();
        let (tell, told) = channel();
        let of_thread = Arc::clone(&means);
        let tend = move || {
            let attached = own_table(&of_thread).and_then(|()| of_thread.attach());
            let (held, result) = match attached {
                Ok(held) => (Some(held), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // Whoever asked waits for it.
            let _ = tell.send(result);
            if let Some(held) = held {
                of_thread.tend(held, &stopped, budget);
            }
        };
        let thread = thread::Builder::new().name("eye".to_owned()).spawn(tend)?;
        told.recv().map_err(io::Error::other)??;
        Ok(Lid { tender: Some((stop, thread)), _means: means })
    }
}

impl Drop for Lid {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.tender.take() {
            drop(stop);
            // It does not panic; if it did, the programs are gone with it.
            let _ = thread.join();
        }
    }
}

impl Means {
    fn attach(&self) -> io::Result<Vec<OwnedFd>> {
        let programs = self.programs.iter();
        programs.map(|(program, tracepoint)| bpf::attach(program, tracepoint)).collect()
    }

    /// Until whoever opened the eye hangs up.
    fn tend(&self, mut held: Vec<OwnedFd>, stopped: &Receiver<()>, budget: Budget) {
        let Budget::Share(share) = budget else {
            let _ = stopped.recv();
            return;
        };
        let waited = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let mut purse = Purse::new(share);
        loop {
            let before = counted(&self.events);
            if !waited(MOMENT) {
                return;
            }
            let events = counted(&self.events).wrapping_sub(before);
            let Some(shut) = purse.spend(events, MOMENT) else { continue };
            held.clear();
            if !waited(shut) {
                return;
            }
            purse.earn(shut);
            // That was allowed before; if it is not any more, what was seen remains.
            held = self.attach().unwrap_or_default();
        }
    }
}

/// Time of a CPU that may be spent on events: a share of the time that passes, saved up for bursts
/// of at most [`SAVED`].
struct Purse {
    share: f64,
    saved_ns: f64,
}

impl Purse {
    fn new(share: f64) -> Purse {
        Purse { share, saved_ns: SAVED.as_nanos() as f64 * share }
    }

    fn earn(&mut self, time: Duration) {
        let most = SAVED.as_nanos() as f64 * self.share;
        self.saved_ns = (self.saved_ns + time.as_nanos() as f64 * self.share).min(most);
    }

    /// After events in some time: how long to look away, if there were too many.
    fn spend(&mut self, events: u64, time: Duration) -> Option<Duration> {
        self.earn(time);
        self.saved_ns -= events as f64 * EVENT_NS;
        let owed_ns = -self.saved_ns / self.share;
        (owed_ns > 0.0).then(|| Duration::from_nanos(owed_ns as u64))
    }
}

/// Gives this thread a table of open files of its own, with nothing in it but standard streams and
/// what it takes to look: a device that others claim must not stay claimed by a copy.
fn own_table(means: &Means) -> io::Result<()> {
    // SAFETY: from here on this thread's descriptors are its own; it uses none that others open.
    if unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let programs = means.programs.iter().map(|(program, _)| program.as_raw_fd());
    let mut kept: Vec<u32> = programs.chain([means.events.number()]).map(|fd| fd as u32).collect();
    kept.sort_unstable();
    let mut from = 3;
    for to in kept.into_iter().chain([u32::MAX]) {
        if to > from {
            // SAFETY: closes copies of this thread's own table, none of which it uses. Kernels
            // before 5.9 lack the call: the copies stay until the thread ends.
            unsafe { libc::syscall(libc::SYS_close_range, from, to - 1, 0) };
        }
        from = to.saturating_add(1);
    }
    Ok(())
}

/// Events on all CPUs so far.
fn counted(events: &Map) -> u64 {
    numbers(&events.get(&[0; 4]).unwrap_or_default()).iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many events per second, the share that is looked at in ten seconds.
    fn looked_at(events_per_s: f64) -> f64 {
        let (mut purse, mut open, mut shut) = (Purse::new(0.01), 0.0, 0.0);
        while open + shut < 10.0 {
            let events = (events_per_s * MOMENT.as_secs_f64()) as u64;
            open += MOMENT.as_secs_f64();
            if let Some(time) = purse.spend(events, MOMENT) {
                purse.earn(time);
                shut += time.as_secs_f64();
            }
        }
        open / (open + shut)
    }

    #[test]
    fn many_requests_are_looked_at_now_and_then() {
        assert_eq!(looked_at(15_000.0), 1.0);
        // A tenth of a CPU, ten times as much as it may, but for what was saved up.
        let share = looked_at(200_000.0);
        assert!((0.1..0.12).contains(&share), "{share}");
    }

    #[test]
    fn a_burst_is_looked_at_whole() {
        let mut purse = Purse::new(0.01);
        assert_eq!(purse.spend(15_000, MOMENT), None);
        assert!(purse.spend(15_000, MOMENT).is_some());
    }
}
