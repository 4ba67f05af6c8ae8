//! The duty cycle of the programs: attached all the time, or for windows where requests are many.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_record::requests::TracerCost;

use super::bpf::{self, Hook, Map, Program, numbers};
use super::budget::{Budget, CpuBudget, DRAIN_MAX, THREAD_NAME, now_ns};
use super::programs::{COMPLETED, EVENTS, HANDLED, ISSUED};

/// CPU time of an event; a request has two. Tracing 14 % of the requests made 420,000 a second on
/// zram 3 % fewer: that is 0.5 µs an event, in a virtual machine with all mitigations.
const EVENT_NS: f64 = 500.0;
/// CPU time of a pause: detaching and attaching the programs takes 0.3 ms and 0.45 ms of this
/// thread, and interrupts every CPU.
const PAUSE_NS: f64 = 1e6;
/// Interval of the checks whether they are complete.
const STEP: Duration = Duration::from_millis(2);

/// Runs the programs in a duty cycle that keeps within the CPU budget; stops when dropped.
///
/// A program stays attached as long as any table of open files has its descriptor, and the
/// engine's workers copy the table they find. So a thread with a table of its own attaches them.
#[derive(Debug)]
pub struct DutyCycle {
    /// The thread ends when the sender is dropped; the descriptors outlive it, since both tables
    /// have them.
    thread: Option<(Sender<()>, JoinHandle<()>)>,
    programs: Arc<Programs>,
}

/// The programs and the maps that the duty cycle reads and sets.
#[derive(Debug)]
pub struct Programs {
    pub programs: Vec<(Program, Hook)>,
    /// Counts of the programs' own events.
    pub events: Map,
    /// The window that is traced.
    pub window: Map,
    /// Requests that began and have not completed.
    pub pending: Map,
}

impl DutyCycle {
    /// Attaches the programs.
    pub fn start(programs: Programs, budget: Budget) -> io::Result<DutyCycle> {
        let programs = Arc::new(programs);
        let (stop, stopped) = channel();
        let (report, reported) = channel();
        let of_thread = Arc::clone(&programs);
        let run = move || {
            let attached = own_table(&of_thread).and_then(|()| of_thread.attach());
            let (held, result) = match attached {
                Ok(held) => (Some(held), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // The starting thread waits for it.
            let _ = report.send(result);
            if let Some(held) = held {
                of_thread.run(held, &stopped, budget);
            }
        };
        let thread = thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(run)?;
        reported.recv().map_err(io::Error::other)??;
        Ok(DutyCycle { thread: Some((stop, thread)), programs })
    }

    /// Events that the kernel dropped because the program ran on that CPU already.
    pub fn events_lost(&self) -> u64 {
        self.programs.programs.iter().map(|(program, _)| bpf::events_lost(program)).sum()
    }

    /// CPU time that tracing took so far.
    pub fn cost(&self) -> TracerCost {
        let events = self.programs.counted()[HANDLED];
        let events_ns = (events as f64 * EVENT_NS) as u64;
        let thread_ns = self.thread.as_ref().map_or(0, |(_, thread)| cpu_ns(thread));
        TracerCost { events, events_ns, thread_ns }
    }
}

impl Drop for DutyCycle {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            // The thread does not panic; if it did, the programs are gone with it.
            let _ = thread.join();
        }
    }
}

impl Programs {
    /// Attaches the programs, then begins a window: all of them see each request of it.
    fn attach(&self) -> io::Result<Vec<OwnedFd>> {
        let programs = self.programs.iter();
        let held = programs
            .map(|(program, hook)| bpf::attach(program, *hook))
            .collect::<io::Result<Vec<_>>>()?;
        self.set_window(now_ns(), u64::MAX)?;
        Ok(held)
    }

    fn set_window(&self, from: u64, until: u64) -> io::Result<()> {
        self.window.set(&[0; 4], &[from.to_ne_bytes(), until.to_ne_bytes()].concat())
    }

    /// Ends the window and detaches the programs once the requests of it are complete; new ones are
    /// not traced. `completed_before` requests completed before it, and the completions of `lost`
    /// were never seen; the result is how many are lost by now.
    fn pause(&self, held: Vec<OwnedFd>, window: Duration, completed_before: u64, lost: u64) -> u64 {
        let in_flight = || {
            let [_, issued, completed] = self.counted();
            (issued.saturating_sub(completed).saturating_sub(lost), completed)
        };
        let (mut left, completed) = in_flight();
        let completed = completed.saturating_sub(completed_before);
        let until = Instant::now() + drain_time(window, left, completed);
        // Only the end of the window changes; if it cannot be set, the requests in flight are
        // lost.
        if self.set_window(self.window_start(), now_ns()).is_ok() {
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

    fn window_start(&self) -> u64 {
        numbers(&self.window.get(&[0; 4]).unwrap_or_default()).first().copied().unwrap_or(0)
    }

    /// [`EVENTS`] on all CPUs so far.
    fn counted(&self) -> [u64; EVENTS] {
        let all = numbers(&self.events.get(&[0; 4]).unwrap_or_default());
        [HANDLED, ISSUED, COMPLETED].map(|number| all.iter().skip(number).step_by(EVENTS).sum())
    }

    /// Traces and pauses until the owner hangs up.
    fn run(&self, mut held: Vec<OwnedFd>, stopped: &Receiver<()>, budget: Budget) {
        let Budget::Share(share) = budget else {
            let _ = stopped.recv();
            return;
        };
        let waited = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let mut cpu = CpuBudget::new(share, EVENT_NS);
        // Counts at the start of the window; each reading costs a system call.
        let (mut start, mut lost) = (self.counted(), 0);
        loop {
            let window = cpu.window();
            if !waited(window) {
                return;
            }
            let end = self.counted();
            cpu.accrue(window);
            cpu.charge(end[HANDLED].wrapping_sub(start[HANDLED]));
            if !cpu.is_overdrawn() {
                start = end;
                continue;
            }
            lost = self.pause(held, window, start[COMPLETED], lost);
            start = self.counted();
            cpu.charge(start[HANDLED].wrapping_sub(end[HANDLED]));
            cpu.charge_ns(PAUSE_NS);
            // The next window may cost as much as a pause does.
            let pause = cpu.time_until(PAUSE_NS);
            if !waited(pause) {
                return;
            }
            cpu.accrue(pause);
            // Attaching was allowed before; if it is not any more, what was counted remains.
            held = self.attach().unwrap_or_default();
        }
    }
}

/// How long to wait for requests in flight: some twenty times their latency by Little's law. On
/// some kernels the completions of some reach no program, and waiting costs the next window.
fn drain_time(window: Duration, in_flight: u64, completed_in_window: u64) -> Duration {
    let each = window.as_secs_f64() * in_flight as f64 / completed_in_window.max(1) as f64;
    Duration::from_secs_f64(20.0 * each).clamp(STEP * 2, DRAIN_MAX)
}

/// Gives this thread a table of open files of its own, with nothing in it but standard streams and
/// the programs and maps: a device that others claim must not stay claimed by a copy.
fn own_table(programs: &Programs) -> io::Result<()> {
    // SAFETY: from here on this thread's descriptors are its own; it uses none that others open.
    if unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let maps = [&programs.events, &programs.window, &programs.pending].map(Map::number);
    let programs = programs.programs.iter().map(|(program, _)| program.as_raw_fd());
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
        libc::pthread_getcpuclockid(thread.as_pthread_t() as _, &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    if known { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_flight_are_waited_for_as_long_as_they_may_take() {
        let after = |left, completed| drain_time(Duration::from_millis(20), left, completed);
        assert_eq!(after(0, 1000), STEP * 2);
        assert_eq!(after(128, 2880), Duration::from_nanos(17_777_778), "144,000 a second");
        assert_eq!(after(32, 4), DRAIN_MAX, "a disk that turns");
        assert_eq!(after(1, 0), DRAIN_MAX, "none came back yet");
    }
}
