//! When the programs are attached: always, or only for moments where requests are many.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_record::requests::Cost;

use super::bpf::{self, Hook, Map, Program};
use super::programs::{BEGUN, ENDED, EVENTS, SEEN};
use super::{Budget, numbers};

/// What an event costs, a request having two. 420,000 a second on zram became 3 % fewer while 14 %
/// of them were looked at: that is 0.5 µs each, in a virtual machine with all mitigations.
const EVENT_NS: f64 = 500.0;
/// What it costs to shut the eye and to open it again: programs are taken off and attached, which
/// takes 0.3 ms and 0.45 ms of this thread, and every CPU is told.
const OPENING_NS: f64 = 1e6;
/// How long requests are counted before it is decided whether there are too many.
pub const MOMENT: Duration = Duration::from_millis(20);
/// How long requests that began in a moment are waited for after it.
pub const LEAVE: Duration = Duration::from_millis(200);
/// How often it is seen whether they are done.
const STEP: Duration = Duration::from_millis(2);
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
    means: Arc<Means>,
}

/// What it takes to look.
#[derive(Debug)]
pub struct Means {
    pub programs: Vec<(Program, Hook)>,
    /// Where the programs count what they do.
    pub events: Map,
    /// The moment that is looked at.
    pub moment: Map,
    /// What began and has not ended.
    pub pending: Map,
}

impl Lid {
    /// Attaches the programs.
    pub fn open(means: Means, budget: Budget) -> io::Result<Lid> {
        let means = Arc::new(means);
        let (stop, stopped) = channel();
        let (tell, told) = channel();
        let of_thread = Arc::clone(&means);
        let tend = move || {
            let attached = own_table(&of_thread).and_then(|()| of_thread.look());
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
        Ok(Lid { tender: Some((stop, thread)), means })
    }

    /// How often the kernel left programs out because they ran on that CPU already.
    pub fn left_out(&self) -> u64 {
        self.means.programs.iter().map(|(program, _)| bpf::left_out(program)).sum()
    }

    /// What looking took so far.
    pub fn cost(&self) -> Cost {
        let events = self.means.counted()[SEEN];
        let events_ns = (events as f64 * EVENT_NS) as u64;
        let thread_ns = self.tender.as_ref().map_or(0, |(_, thread)| cpu_ns(thread));
        Cost { events, events_ns, thread_ns }
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
    /// Attaches the programs, then begins a moment: all of them see each request of it.
    fn look(&self) -> io::Result<Vec<OwnedFd>> {
        let programs = self.programs.iter();
        let attach = |(program, hook): &(Program, Hook)| bpf::attach(program, *hook);
        let held = programs.map(attach).collect::<io::Result<Vec<_>>>()?;
        self.set_moment(now_ns(), u64::MAX)?;
        Ok(held)
    }

    fn set_moment(&self, from: u64, until: u64) -> io::Result<()> {
        self.moment.set(&[0; 4], &[from.to_ne_bytes(), until.to_ne_bytes()].concat())
    }

    /// Ends the moment: requests that began in it are seen to their ends, new ones are not. `since`
    /// is how many had ended before it, `lost` of how many no end was seen; the result is of how
    /// many by now.
    fn look_away(&self, held: Vec<OwnedFd>, since: u64, lost: u64) -> u64 {
        let in_flight = || {
            let [_, begun, ended] = self.counted();
            (begun.saturating_sub(ended).saturating_sub(lost), ended)
        };
        let (mut left, ended) = in_flight();
        let until = Instant::now() + patience(left, ended.saturating_sub(since));
        // The end of the moment is all that changes; if that cannot be said, its requests in
        // flight are lost.
        if self.set_moment(self.moment_begun(), now_ns()).is_ok() {
            (left, _) = in_flight();
            while left > 0 && Instant::now() < until {
                thread::sleep(STEP);
                (left, _) = in_flight();
            }
        }
        drop(held);
        self.pending.clear();
        lost + left
    }

    fn moment_begun(&self) -> u64 {
        numbers(&self.moment.get(&[0; 4]).unwrap_or_default()).first().copied().unwrap_or(0)
    }

    /// [`EVENTS`] on all CPUs so far.
    fn counted(&self) -> [u64; EVENTS] {
        let all = numbers(&self.events.get(&[0; 4]).unwrap_or_default());
        [SEEN, BEGUN, ENDED].map(|number| all.iter().skip(number).step_by(EVENTS).sum())
    }

    /// Until whoever opened the eye hangs up.
    fn tend(&self, mut held: Vec<OwnedFd>, stopped: &Receiver<()>, budget: Budget) {
        let Budget::Share(share) = budget else {
            let _ = stopped.recv();
            return;
        };
        let waited = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let mut purse = Purse::new(share, EVENT_NS);
        let (mut paid, mut lost) = (self.counted()[SEEN], 0);
        // What came since it was asked last.
        let mut events = || {
            let seen = self.counted()[SEEN];
            seen.wrapping_sub(std::mem::replace(&mut paid, seen))
        };
        loop {
            let [_, _, since] = self.counted();
            if !waited(MOMENT) {
                return;
            }
            purse.earn(MOMENT);
            purse.pay(events());
            if !purse.is_empty() {
                continue;
            }
            lost = self.look_away(held, since, lost);
            purse.pay(events());
            purse.saved_ns -= OPENING_NS;
            // As much is saved for events as it costs to see any.
            let shut = purse.time_until(OPENING_NS);
            if !waited(shut) {
                return;
            }
            purse.earn(shut);
            // That was allowed before; if it is not any more, what was seen remains.
            held = self.look().unwrap_or_default();
        }
    }
}

/// How long to wait for requests in flight: some twenty times what they take by Little's law. There
/// are kernels that let the ends of some reach no program, and waiting sees all others begin.
fn patience(in_flight: u64, ended_in_moment: u64) -> Duration {
    let each = MOMENT.as_secs_f64() * in_flight as f64 / ended_in_moment.max(1) as f64;
    Duration::from_secs_f64(20.0 * each).clamp(STEP * 2, LEAVE)
}

/// Time of a CPU that may be spent on events: a share of the time that passes, saved up for bursts
/// of at most [`SAVED`].
pub struct Purse {
    share: f64,
    /// What an event costs.
    event_ns: f64,
    saved_ns: f64,
}

impl Purse {
    pub fn new(share: f64, event_ns: f64) -> Purse {
        Purse { share, event_ns, saved_ns: SAVED.as_nanos() as f64 * share }
    }

    pub fn earn(&mut self, time: Duration) {
        let most = SAVED.as_nanos() as f64 * self.share;
        self.saved_ns = (self.saved_ns + time.as_nanos() as f64 * self.share).min(most);
    }

    pub fn pay(&mut self, events: u64) {
        self.saved_ns -= events as f64 * self.event_ns;
    }

    pub fn is_empty(&self) -> bool {
        self.saved_ns < 0.0
    }

    /// How long it takes to save so much.
    pub fn time_until(&self, saved_ns: f64) -> Duration {
        let missing_ns = (saved_ns - self.saved_ns).max(0.0);
        Duration::from_nanos((missing_ns / self.share) as u64)
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
    let maps = [&means.events, &means.moment, &means.pending].map(Map::number);
    let mut kept: Vec<u32> = programs.chain(maps).map(|fd| fd as u32).collect();
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

/// CPU time of a thread in ns; 0 where it has ended.
fn cpu_ns(thread: &JoinHandle<()>) -> u64 {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: nobody joined the thread, so its handle is good; the calls write to these two.
    let known = unsafe {
        libc::pthread_getcpuclockid(thread.as_pthread_t(), &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    if known { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
}

/// The clock that the kernel notes the times of requests with.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many events per second, the share that is looked at in ten seconds.
    fn looked_at(events_per_s: f64) -> f64 {
        let (mut purse, mut open, mut shut) = (Purse::new(0.01, EVENT_NS), 0.0, 0.0);
        while open + shut < 10.0 {
            let events = (events_per_s * MOMENT.as_secs_f64()) as u64;
            open += MOMENT.as_secs_f64();
            purse.earn(MOMENT);
            purse.pay(events);
            if purse.is_empty() {
                let time = purse.time_until(0.0);
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
    fn requests_in_flight_are_waited_for_as_long_as_they_may_take() {
        assert_eq!(patience(0, 1000), STEP * 2);
        assert_eq!(patience(128, 2880), Duration::from_nanos(17_777_778), "144,000 a second");
        assert_eq!(patience(32, 4), LEAVE, "a disk that turns");
        assert_eq!(patience(1, 0), LEAVE, "none came back yet");
    }

    #[test]
    fn a_burst_is_looked_at_whole() {
        let mut purse = Purse::new(0.01, EVENT_NS);
        purse.pay(15_000);
        assert!(!purse.is_empty());
        purse.pay(15_000);
        assert!(purse.is_empty());
        assert_eq!(purse.time_until(0.0), Duration::from_millis(500));
    }
}
