//! Events handed out one by one, counted here: for kernels that take no programs.

use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_record::requests::TracerCost;

use super::budget::{Budget, CpuBudget, DRAIN_MAX, THREAD_NAME, WINDOW_MIN, now_ns};
use super::counter::{Counter, Event, Moment, letters};
use super::devices::TracedDevices;
use super::perf::{Ring, Sample};
use super::tracefs::Formats;

/// Cost of an event, in the kernel and here.
const EVENT_NS: f64 = 1500.0;
/// How often events are fetched: their buffers hold those of some ten milliseconds.
const STEP: Duration = Duration::from_millis(5);
/// Events of several CPUs come in order when they are this old.
const SETTLED: Duration = Duration::from_millis(2);

/// Source of events.
pub trait Tap: Send {
    /// Begins or ends to collect events.
    fn turn(&mut self, on: bool) -> io::Result<()>;
    /// Takes out what was collected; the result is how many events were lost.
    fn drain(&mut self, events: &mut Vec<Event>) -> u64;
}

/// A tap with the sums of what came out of it.
struct Feed {
    tap: Box<dyn Tap>,
    counter: Counter,
    /// Events that are too young to be in order.
    held: Vec<Event>,
    counted: u64,
    lost: u64,
}

impl Feed {
    /// Counts all that is older than a moment.
    fn drain(&mut self) {
        let settled = now_ns().saturating_sub(SETTLED.as_nanos() as u64);
        self.lost += self.tap.drain(&mut self.held);
        self.held.sort_by_key(|event| event.at_ns);
        let in_order = self.held.partition_point(|event| event.at_ns <= settled);
        for event in self.held.drain(..in_order) {
            self.counter.count(&event);
            self.counted += 1;
        }
    }
}

/// Events that are fetched and counted until this is dropped.
pub struct Sampling {
    feed: Arc<Mutex<Feed>>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl std::fmt::Debug for Sampling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampling").finish_non_exhaustive()
    }
}

impl Sampling {
    /// Begins to fetch; `make` runs in the thread that does it. `own_pid` is the process whose
    /// requests are counted apart, where events name processes.
    pub fn open<E: Send + From<io::Error> + 'static>(
        traced: &TracedDevices,
        budget: Budget,
        own_pid: Option<u32>,
        make: impl FnOnce() -> Result<Box<dyn Tap>, E> + Send + 'static,
    ) -> Result<Sampling, E> {
        let counter = Counter::new(traced, own_pid);
        let (stop, stopped) = channel();
        let (report, reported) = channel();
        let run = move || {
            let made = make().and_then(|mut tap| tap.turn(true).map(|()| tap).map_err(E::from));
            let feed = made.map(|tap| {
                let feed = Feed { tap, counter, held: Vec::new(), counted: 0, lost: 0 };
                Arc::new(Mutex::new(feed))
            });
            let shared = feed.as_ref().ok().cloned();
            // The starting thread waits for it.
            let _ = report.send(feed);
            let Some(feed) = shared else { return };
            run(&feed, budget, |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout));
            let _ = lock(&feed).tap.turn(false);
        };
        let thread = thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(run)?;
        let feed = reported.recv().map_err(io::Error::other)??;
        Ok(Sampling { feed, thread: Some((stop, thread)) })
    }

    /// The counts, and the number of lost events.
    pub fn read<T>(&self, read: impl FnOnce(&Counter, u64) -> T) -> T {
        thread::sleep(SETTLED * 2);
        let mut feed = lock(&self.feed);
        feed.drain();
        read(&feed.counter, feed.lost)
    }

    /// CPU time that tracing took so far, that of the thread included.
    pub fn cost(&self) -> TracerCost {
        let events = lock(&self.feed).counted;
        TracerCost { events, events_ns: (events as f64 * EVENT_NS) as u64, thread_ns: 0 }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            // It does not panic; if it did, nothing collects any more.
            let _ = thread.join();
        }
    }
}

fn lock(feed: &Mutex<Feed>) -> std::sync::MutexGuard<'_, Feed> {
    feed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fetches and counts events until `waited` returns false, and pauses where they cost too much.
fn run(feed: &Mutex<Feed>, budget: Budget, waited: impl Fn(Duration) -> bool) {
    let mut cpu = match budget {
        Budget::Share(share) => Some(CpuBudget::new(share, EVENT_NS)),
        Budget::Unbounded => None,
    };
    let (mut before, mut begin) = (0, Instant::now());
    while waited(STEP) {
        lock(feed).drain();
        let (Some(cpu), true) = (&mut cpu, begin.elapsed() >= WINDOW_MIN) else { continue };
        let counted = lock(feed).counted;
        cpu.accrue(begin.elapsed());
        cpu.charge(counted - before);
        if cpu.is_overdrawn() {
            pause(feed);
            let idle = cpu.time_until(0.0);
            if !waited(idle) {
                return;
            }
            cpu.accrue(idle);
            resume(feed);
        }
        (before, begin) = (counted, Instant::now());
    }
}

/// Traces no new requests, waits for those in flight, then stops the tap.
fn pause(feed: &Mutex<Feed>) {
    let until = Instant::now() + DRAIN_MAX;
    lock(feed).counter.open(false);
    while lock(feed).counter.in_flight() > 0 && Instant::now() < until {
        thread::sleep(STEP);
        lock(feed).drain();
    }
    // That was possible before; if not, events go on to cost time and nothing is lost.
    let _ = lock(feed).tap.turn(false);
}

/// Traces again, where the tap can be started again.
fn resume(feed: &Mutex<Feed>) {
    let mut feed = lock(feed);
    if feed.tap.turn(true).is_ok() {
        thread::sleep(SETTLED);
        feed.drain();
        feed.counter.forget();
        feed.counter.open(true);
    }
}

/// Samples of tracepoints, of all CPUs.
struct Rings {
    rings: Vec<Ring>,
    formats: Formats,
}

/// Opens the rings of all CPUs.
pub fn rings(traced: &TracedDevices, sys: &Path, cpus: &[u32]) -> io::Result<Box<dyn Tap>> {
    let formats = Formats::read(sys)?;
    let mut ids = Vec::new();
    if traced.has(0) {
        ids.extend([formats.issue.id, formats.complete.id, formats.requeue.id]);
    }
    if traced.has(1) {
        ids.push(formats.queue.id);
    }
    ids.extend(formats.split.as_ref().map(|split| split.id));
    let rings = cpus.iter().map(|cpu| Ring::open(&ids, *cpu));
    Ok(Box::new(Rings { rings: rings.collect::<io::Result<_>>()?, formats }))
}

impl Tap for Rings {
    fn turn(&mut self, on: bool) -> io::Result<()> {
        self.rings.iter().try_for_each(|ring| ring.enable(on))
    }

    fn drain(&mut self, events: &mut Vec<Event>) -> u64 {
        let (mut samples, mut lost) = (Vec::new(), 0);
        for ring in &mut self.rings {
            lost += ring.drain(&mut samples);
        }
        events.extend(samples.iter().filter_map(|sample| event(sample, &self.formats)));
        lost
    }
}

/// The event that a sample describes.
fn event(sample: &Sample, formats: &Formats) -> Option<Event> {
    let record = &sample.record;
    // Each record begins with the number of its tracepoint.
    let id = u64::from(u16::from_ne_bytes([*record.first()?, *record.get(1)?]));
    let split = formats.split.as_ref().map(|format| (format, Moment::Split));
    let known = [
        (&formats.issue, Moment::Issued),
        (&formats.complete, Moment::Completed),
        (&formats.requeue, Moment::Requeued),
        (&formats.queue, Moment::Queued),
    ];
    let (format, moment) = known.into_iter().chain(split).find(|(format, _)| format.id == id)?;
    let (device, sector) = (number::<4>(record, format.dev)?, number::<8>(record, format.sector)?);
    let bytes = match format.sectors {
        Some(at) => number::<4>(record, at)? * 512,
        None => 0,
    };
    let text = |at: i16, most: usize| record.get(at as usize..)?.get(..most);
    let (direction, flags) = letters(
        text(format.rwbs, format.letters as usize)?,
        bytes.max(
            // What is cut in two has a length, which its record does not tell.
            u64::from(format.sectors.is_none()),
        ),
    )?;
    let name = format.comm.and_then(|at| text(at, 16)).unwrap_or_default();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(Event {
        moment,
        at_ns: sample.at_ns,
        device: [(device >> 20) as u32, device as u32 & ((1 << 20) - 1)],
        sector,
        bytes,
        direction,
        flags,
        pid: sample.pid,
        command: String::from_utf8_lossy(name).into_owned(),
    })
}

/// A number of `N` bytes.
fn number<const N: usize>(record: &[u8], at: i16) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(record.get(at as usize..at as usize + N)?);
    Some(u64::from_le_bytes(bytes))
}
