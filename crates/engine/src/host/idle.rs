//! Idleness of CPUs: a thread on each CPU does work of known length while nothing else wants the
//! CPU. The work done shows how much of the CPU was idle.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_stats::{deviation, mean};
use rustix::thread::CpuSet;

use crate::error::EngineError;

/// Bytes that a unit of work writes, one by one.
const UNIT_BYTES: usize = 4096;
/// Units between two readings of the clock during calibration.
const UNITS_PER_TRY: u32 = 500;
/// Tries of a calibration; the shortest one counts.
const TRIES: u32 = 8;
/// Interval between two checks whether a calibration has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Stages of the threads: wait, work, end.
const WAIT: u8 = 0;
const WORK: u8 = 1;
const END: u8 = 2;

/// Threads that use up the idle time of the CPUs. They end when this is dropped.
pub struct IdleWatch {
    threads: Vec<Watcher>,
    stage: Arc<AtomicU8>,
    units: Vec<Duration>,
}

struct Watcher {
    cpu: u32,
    thread: JoinHandle<io::Result<f64>>,
    calibrated: Arc<std::sync::OnceLock<Duration>>,
}

/// Measured idleness of CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Idleness {
    /// Idle share of each CPU, by the CPU's number.
    pub cpus: Vec<(u32, f64)>,
    /// Length of a unit of work.
    pub unit: Unit,
}

/// Length of a unit of work on the CPUs of this host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Mean over the CPUs, in µs.
    pub mean_us: f64,
    /// Standard deviation between them, in µs; 0 for a single CPU.
    pub stddev_us: f64,
}

impl IdleWatch {
    /// Starts a thread on each CPU that this process may use, and measures the length of a unit of
    /// work there. Call it before the CPUs have anything else to do.
    ///
    /// # Errors
    /// A CPU that cannot be used, or threads that cannot be created or given their class.
    pub fn calibrated() -> Result<IdleWatch, EngineError> {
        let what = || "watch how idle CPUs are";
        let stage = Arc::new(AtomicU8::new(WAIT));
        let mut watch = IdleWatch { threads: Vec::new(), stage, units: Vec::new() };
        for cpu in usable().map_err(EngineError::system(what()))? {
            let thread = watch.spawn(cpu).map_err(EngineError::system(what()))?;
            watch.threads.push(thread);
        }
        for at in 0..watch.threads.len() {
            while watch.threads[at].calibrated.get().is_none() {
                if watch.threads[at].thread.is_finished() {
                    let error = watch.threads.swap_remove(at).thread.join();
                    let error = error.ok().and_then(Result::err);
                    let error = error.unwrap_or_else(|| io::Error::other("a thread panicked"));
                    return Err(EngineError::system(what())(error));
                }
                thread::sleep(CHECK_INTERVAL);
            }
            watch.units.extend(watch.threads[at].calibrated.get());
        }
        Ok(watch)
    }

    fn spawn(&self, cpu: u32) -> io::Result<Watcher> {
        let calibrated = Arc::new(std::sync::OnceLock::new());
        let (result, stage) = (calibrated.clone(), self.stage.clone());
        let thread = thread::Builder::new().name(format!("candor/idle{cpu}")).spawn(move || {
            let mut page = vec![0; UNIT_BYTES];
            bind_to_cpu(cpu)?;
            let unit = unit_length(&mut page);
            run_only_when_idle()?;
            let _ = result.set(unit);
            while stage.load(Acquire) == WAIT {
                thread::park();
            }
            Ok(left_over(&mut page, unit, &stage))
        })?;
        Ok(Watcher { cpu, thread, calibrated })
    }

    /// Length of a unit of work.
    pub fn unit(&self) -> Unit {
        let us: Vec<f64> = self.units.iter().map(|unit| unit.as_secs_f64() * 1e6).collect();
        Unit { mean_us: mean(&us), stddev_us: deviation(&us) }
    }

    /// Begins to count idle time.
    pub fn start(&self) {
        self.go(WORK);
    }

    /// Ends counting; returns the idleness.
    pub fn stop(mut self) -> Idleness {
        self.go(END);
        let unit = self.unit();
        let shares = self.threads.drain(..).map(|watcher| {
            let share = watcher.thread.join().ok().and_then(Result::ok);
            (watcher.cpu, share.unwrap_or(0.0))
        });
        Idleness { cpus: shares.collect(), unit }
    }

    fn go(&self, stage: u8) {
        self.stage.store(stage, Release);
        self.threads.iter().for_each(|watcher| watcher.thread.thread().unpark());
    }
}

impl Drop for IdleWatch {
    fn drop(&mut self) {
        self.go(END);
        self.threads.drain(..).for_each(|watcher| drop(watcher.thread.join()));
    }
}

impl Idleness {
    /// Idle share of all CPUs together.
    pub fn system(&self) -> f64 {
        let sum: f64 = self.cpus.iter().map(|(_, share)| share).sum();
        sum / self.cpus.len().max(1) as f64
    }
}

/// CPUs that this process may use.
pub(crate) fn usable() -> io::Result<Vec<u32>> {
    let allowed = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

/// Binds the calling thread to a CPU.
pub(crate) fn bind_to_cpu(cpu: u32) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Gives the calling thread the scheduling class that runs only while no other thread wants the
/// CPU.
pub(crate) fn run_only_when_idle() -> io::Result<()> {
    // The only one that this class takes.
    let priority: libc::c_int = 0;
    // SAFETY: the call reads the priority and concerns the calling thread alone. musl has the call
    // by number alone.
    let set = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority)
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Does a unit of work.
#[inline(never)]
fn work(page: &mut [u8]) {
    for (at, byte) in page.iter_mut().enumerate() {
        *std::hint::black_box(byte) = at as u8;
    }
}

fn unit_length(page: &mut [u8]) -> Duration {
    let tries = (0..TRIES).map(|_| {
        let began = Instant::now();
        (0..UNITS_PER_TRY).for_each(|_| work(page));
        began.elapsed() / UNITS_PER_TRY
    });
    tries.min().unwrap_or_default()
}

/// Share of the time in which units of that length were done.
fn left_over(page: &mut [u8], unit: Duration, stage: &AtomicU8) -> f64 {
    let (began, mut units) = (Instant::now(), 0u64);
    while stage.load(Relaxed) == WORK {
        work(page);
        units += 1;
    }
    let passed = began.elapsed().as_secs_f64();
    let done = units as f64 * unit.as_secs_f64();
    if units == 0 { 0.0 } else { (done / passed).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Idleness while the first CPU that is watched spins for 300 ms, and that CPU.
    fn beside_a_spinner() -> (Idleness, u32) {
        let watch = IdleWatch::calibrated().expect("CPUs can be watched");
        assert!(watch.unit().mean_us > 0.0);
        let cpu = watch.threads[0].cpu;
        watch.start();
        let busy = thread::spawn(move || {
            bind_to_cpu(cpu).expect("it is usable");
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(300) {
                std::hint::spin_loop();
            }
        });
        busy.join().expect("no panic");
        (watch.stop(), cpu)
    }

    #[test]
    fn a_busy_cpu_is_less_idle() {
        // Other tests run on that CPU as well, also while the watch is calibrated.
        let mut tries = (0..3).map(|_| beside_a_spinner());
        let found = tries.find(|(idleness, cpu)| {
            assert!((0.0..=1.0).contains(&idleness.system()));
            let (first, share) = idleness.cpus[0];
            first == *cpu && share < 0.2
        });
        assert!(found.is_some(), "three times a CPU that spins was a fifth idle or more");
    }

    #[test]
    fn calibrating_alone_ends() {
        drop(IdleWatch::calibrated().expect("CPUs can be watched"));
    }
}
