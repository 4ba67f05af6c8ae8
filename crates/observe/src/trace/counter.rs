//! Counting outside the kernel, of events that were handed out one by one: the same numbers as the
//! programs in the kernel make.

use std::collections::{BTreeMap, HashMap};

use candor_record::requests::{Issuer, RequestOp};

use super::devices::{Device, TracedDevices};
use super::programs::RECENT;
use super::tally::{self, Owners};

/// Event of a request or of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A request went to the driver.
    Issued,
    /// The driver gave it back, and it will be issued again.
    Requeued,
    /// A request completed.
    Completed,
    /// I/O was handed to a device.
    Queued,
    /// I/O was cut in two.
    Split,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub moment: Moment,
    pub at_ns: u64,
    /// Major and minor number.
    pub device: [u32; 2],
    pub sector: u64,
    pub bytes: u64,
    pub direction: RequestOp,
    /// One bit for each of [`tally::FLAGS`].
    pub flags: u32,
    pub pid: u32,
    pub command: String,
}

impl Event {
    /// The sector after it, wherever its record says that it is.
    fn end(&self) -> u64 {
        self.sector.saturating_add(self.bytes / 512)
    }
}

/// Identity of a request between its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RequestKey {
    sector: u64,
    place: u32,
}

/// Ends that wait for their beginnings, at most.
const EARLY_MAX: usize = 1024;

/// Sums of events.
#[derive(Debug)]
pub struct Counter {
    devices: HashMap<[u32; 2], Device>,
    /// The process whose requests are counted apart, where events name processes.
    own_pid: Option<u32>,
    /// Slot × 4 + direction.
    places: Vec<Owners<Place>>,
    /// Who issued the requests of each place.
    issuers: Vec<HashMap<u32, Issuer>>,
    /// Sector and place → requests that were issued.
    pending: HashMap<RequestKey, Vec<Event>>,
    /// Sector and place → when one was done whose beginning was not told yet: a CPU can be late to
    /// tell.
    early: HashMap<RequestKey, u64>,
    /// Whether new requests are looked at.
    open: bool,
}

/// State kept of a device in a direction, and of an owner.
#[derive(Clone, Debug)]
struct Place {
    numbers: [u64; tally::NUMBERS],
    /// Where the last request ended, and the last of each of several streams.
    last_end: Option<u64>,
    ends: [Option<u64>; RECENT],
    replaced: usize,
    /// Where one ends that its driver gave back.
    given_back: Option<u64>,
}

impl Counter {
    /// Of nothing yet.
    pub fn new(traced: &TracedDevices, own_pid: Option<u32>) -> Counter {
        let place = Place {
            numbers: [0; tally::NUMBERS],
            last_end: None,
            ends: [None; RECENT],
            replaced: 0,
            given_back: None,
        };
        let places = traced.names.len() * 4;
        Counter {
            devices: traced.devices.iter().copied().collect(),
            own_pid,
            places: vec![Owners { others: place.clone(), own: place }; places],
            issuers: vec![HashMap::new(); places],
            pending: HashMap::new(),
            early: HashMap::new(),
            open: true,
        }
    }

    /// Looks at new requests, or only sees the old ones to their ends.
    pub fn open(&mut self, open: bool) {
        self.open = open;
    }

    /// Forgets what began and did not end: its end may have been missing_facts.
    pub fn forget(&mut self) {
        self.pending.clear();
        self.early.clear();
    }

    /// Requests whose end is awaited.
    pub fn in_flight(&self) -> usize {
        self.pending.values().map(Vec::len).sum()
    }

    /// The numbers of one place.
    pub fn numbers(&self, place: u32) -> Owners<[u64; tally::NUMBERS]> {
        let Owners { others, own } = &self.places[place as usize];
        Owners { others: others.numbers, own: own.numbers }
    }

    /// Who issued the requests of each place.
    pub fn issuers(&self) -> BTreeMap<u32, Vec<Issuer>> {
        self.issuers
            .iter()
            .enumerate()
            .map(|(at, issuers)| (at as u32, issuers.values().cloned().collect::<Vec<_>>()))
            .collect()
    }

    /// Counts one event, if its device is looked at.
    pub fn count(&mut self, event: &Event) {
        let Some(device) = self.devices.get(&event.device).copied() else { return };
        let at = device.slot * 4 + event.direction.number() as u32;
        let key = RequestKey { sector: event.sector, place: at };
        let (places, own_pid) = (&mut self.places[at as usize], self.own_pid);
        let is_own = |issuer: &Event| own_pid == Some(issuer.pid);
        let bio_based = device.bio_based == 1;
        match event.moment {
            Moment::Issued if self.open && !bio_based => {
                let mut event = event.clone();
                // A thread of the kernel issues again what the driver gave back.
                if let Some(pid) = own_pid.filter(|_| places.own.given_back == Some(event.end())) {
                    event.pid = pid;
                }
                let event = &event;
                if event.bytes > 0 {
                    let place = places.of(is_own(event));
                    place.order(event);
                    match self.early.remove(&key) {
                        Some(done) if done >= event.at_ns => place.done(&device, event, done),
                        _ => self.pending.entry(key).or_default().push(event.clone()),
                    }
                }
                self.issued_by(at, event);
            }
            // Flushes begin and end by ways of their own.
            Moment::Completed if !bio_based && event.bytes == 0 && self.open => {
                places.others.shape(&device, event);
            }
            Moment::Completed if !bio_based && event.bytes > 0 => {
                match take(&mut self.pending, key) {
                    Some(issued) => places.of(is_own(&issued)).done(&device, &issued, event.at_ns),
                    None => {
                        if self.early.len() >= EARLY_MAX {
                            self.early.clear();
                        }
                        self.early.insert(key, event.at_ns);
                    }
                }
            }
            Moment::Queued if self.open && bio_based => {
                let place = places.of(is_own(event));
                place.shape(&device, event);
                if event.bytes > 0 {
                    place.order(event);
                }
                self.issued_by(at, event);
            }
            Moment::Requeued => {
                if let Some(issued) = take(&mut self.pending, key) {
                    let place = places.of(is_own(&issued));
                    place.numbers[tally::PLACED] -= 1;
                    place.given_back = Some(issued.end());
                }
            }
            Moment::Split if self.open => places.of(is_own(event)).numbers[tally::SPLITS] += 1,
            _ => {}
        }
    }

    fn issued_by(&mut self, place: u32, event: &Event) {
        let issuer = self.issuers[place as usize].entry(event.pid).or_insert_with(|| Issuer {
            pid: event.pid,
            command: event.command.clone(),
            ..Issuer::default()
        });
        issuer.count += 1;
        issuer.bytes += event.bytes;
    }
}

/// The first request that was issued for a sector.
fn take(pending: &mut HashMap<RequestKey, Vec<Event>>, key: RequestKey) -> Option<Event> {
    let alike = pending.get_mut(&key)?;
    let first = (!alike.is_empty()).then(|| alike.remove(0));
    if alike.is_empty() {
        pending.remove(&key);
    }
    first
}

impl Place {
    /// Number, bytes, size, alignment and flags.
    fn shape(&mut self, device: &Device, event: &Event) {
        let (n, bytes) = (&mut self.numbers, event.bytes);
        n[tally::COUNT] += 1;
        n[tally::BYTES] += bytes;
        for flag in 0..tally::FLAGS.len() {
            n[tally::FLAGGED + flag] += u64::from(event.flags >> flag & 1);
        }
        if bytes == 0 {
            return;
        }
        n[tally::SIZES_LOG2 + bytes.ilog2() as usize] += 1;
        n[tally::SIZES_4K + ((bytes - 1) / 4096).min(tally::STEPS_4K as u64 - 1) as usize] += 1;
        n[tally::STARTS + (event.sector % 8) as usize] += 1;
        n[tally::LENGTH_OFF_4K] += u64::from(bytes % 4096 != 0);
        let start = event.sector.wrapping_mul(512);
        n[tally::OFF_PHYSICAL] += u64::from(!start.is_multiple_of(device.physical_bytes));
        let optimal = device.optimal_bytes;
        n[tally::OFF_OPTIMAL] += u64::from(optimal > 0 && !start.is_multiple_of(optimal));
    }

    /// One that was issued is done.
    fn done(&mut self, device: &Device, issued: &Event, at_ns: u64) {
        let in_device = at_ns.saturating_sub(issued.at_ns);
        self.numbers[tally::DEVICE_LATENCIES + quarter(in_device)] += 1;
        self.shape(device, issued);
    }

    /// Whether it goes on where one of the last ended, and how far it is from the last.
    fn order(&mut self, event: &Event) {
        let n = &mut self.numbers;
        n[tally::PLACED] += 1;
        let end = event.end();
        if self.given_back == Some(end) {
            // It had its place in the order when it was issued first.
            self.given_back = None;
            return;
        }
        if let Some(stream) = self.ends.iter_mut().find(|at| **at == Some(event.sector)) {
            *stream = Some(end);
            n[tally::SEQUENTIAL] += 1;
        } else {
            self.ends[self.replaced % RECENT] = Some(end);
            self.replaced += 1;
            if let Some(last) = self.last_end {
                let bytes = last.abs_diff(event.sector).saturating_mul(512);
                n[tally::SEEKS + bytes.checked_ilog2().unwrap_or(0) as usize] += 1;
            }
        }
        self.last_end = Some(end);
    }
}

/// The step of a latency: four per power of two.
fn quarter(ns: u64) -> usize {
    let power = ns.checked_ilog2().unwrap_or(0) as usize;
    let rest = (u128::from(ns) << 2 >> power) as usize & 3;
    (power << 2 | rest).min(tally::QUARTERS - 1)
}

/// Operation and flags from the letters of a record, such as `FWFS`; none for what drivers ask.
pub fn letters(rwbs: &[u8], bytes: u64) -> Option<(RequestOp, u32)> {
    let flag = |name: &str| tally::FLAGS.iter().position(|(known, _)| *known == name);
    let bit = |name: &str| flag(name).map_or(0, |at| 1_u32 << at);
    let end = rwbs.iter().position(|letter| *letter == 0).unwrap_or(rwbs.len());
    let (mut rest, mut flags) = (&rwbs[..end], 0);
    if let [b'F', more @ ..] = rest {
        rest = more;
        match more.first() {
            Some(b'W' | b'R' | b'D' | b'N' | b'Z') => flags |= bit("preflush"),
            _ => return Some((RequestOp::Flush, flags)),
        }
    }
    let (direction, rest) = match rest {
        [b'R', rest @ ..] => (RequestOp::Read, rest),
        [b'W', rest @ ..] | [b'Z', b'A', rest @ ..] => (RequestOp::Write, rest),
        [b'D', rest @ ..] => (RequestOp::Discard, rest),
        [b'N', rest @ ..] if bytes > 0 => (RequestOp::Write, rest),
        _ => return None,
    };
    for letter in rest {
        flags |= match letter {
            b'S' => bit("sync"),
            b'M' => bit("meta"),
            b'F' => bit("fua"),
            b'A' => bit("readahead"),
            _ => 0,
        };
    }
    Some((direction, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced() -> TracedDevices {
        let device = Device { slot: 0, bio_based: 0, physical_bytes: 4096, optimal_bytes: 65536 };
        TracedDevices { names: vec!["sda".to_owned()], devices: vec![([8, 0], device)] }
    }

    fn event(moment: Moment, at_ns: u64, sector: u64, bytes: u64) -> Event {
        let (device, direction) = ([8, 0], RequestOp::Read);
        let command = "dd".to_owned();
        Event { moment, at_ns, device, sector, bytes, direction, flags: 1, pid: 7, command }
    }

    #[test]
    fn a_request_is_counted_when_it_is_done() {
        let mut counter = Counter::new(&traced(), Some(7));
        counter.count(&event(Moment::Issued, 1000, 9, 8192));
        assert_eq!(counter.numbers(0).own[tally::COUNT], 0);
        counter.count(&event(Moment::Completed, 1000 + 1792, 9, 8192));
        counter.count(&event(Moment::Issued, 9000, 25, 512));
        let seen = tally::read_all("sda", RequestOp::Read, &counter.numbers(0), true);
        assert_eq!((seen.count, seen.bytes, seen.placed, seen.sequential), (1, 8192, 2, 1));
        assert_eq!(seen.starts_in_4k, [(512, 1)]);
        assert_eq!((seen.off_physical_sector, seen.off_optimal), (1, 1));
        assert_eq!(seen.device_latency_ns, [(1792, 1)]);
        assert_eq!(seen.flags, [("sync".to_owned(), 1)]);
        assert_eq!((counter.in_flight(), counter.issuers()[&0][0].count), (1, 2));
    }

    #[test]
    fn an_end_without_a_beginning_does_not_count() {
        let mut counter = Counter::new(&traced(), Some(7));
        counter.count(&event(Moment::Completed, 5, 9, 4096));
        counter.open(false);
        counter.count(&event(Moment::Issued, 6, 17, 4096));
        counter.count(&event(Moment::Completed, 7, 17, 4096));
        assert_eq!(counter.numbers(0).own[tally::COUNT], 0);
    }

    #[test]
    fn what_a_driver_gives_back_is_issued_once() {
        let mut counter = Counter::new(&traced(), Some(7));
        for moment in [Moment::Issued, Moment::Requeued, Moment::Issued, Moment::Completed] {
            counter.count(&event(moment, 5, 8, 4096));
        }
        let seen = tally::read_all("sda", RequestOp::Read, &counter.numbers(0), true);
        assert_eq!((seen.count, seen.placed, seen.sequential), (1, 1, 0));
        assert_eq!((seen.seeks.len(), counter.in_flight()), (0, 0));
    }

    #[test]
    fn a_request_that_a_thread_of_the_kernel_issues_again_stays_ours() {
        let mut counter = Counter::new(&traced(), Some(7));
        for (moment, pid) in [
            (Moment::Issued, 7),
            (Moment::Requeued, 7),
            (Moment::Issued, 2),
            (Moment::Completed, 0),
        ] {
            counter.count(&Event { pid, ..event(moment, 5, 8, 4096) });
        }
        let Owners { others, own } = counter.numbers(0);
        assert_eq!((own[tally::COUNT], own[tally::PLACED]), (1, 1));
        assert_eq!(others, [0; tally::NUMBERS]);
    }

    #[test]
    fn ends_that_are_reported_first_and_twins_are_found() {
        let mut counter = Counter::new(&traced(), Some(7));
        counter.count(&event(Moment::Completed, 9, 8, 4096));
        counter.count(&event(Moment::Issued, 5, 8, 4096));
        assert_eq!((counter.numbers(0).own[tally::COUNT], counter.in_flight()), (1, 0));
        for moment in [Moment::Issued, Moment::Issued, Moment::Completed, Moment::Completed] {
            counter.count(&event(moment, 20, 8, 4096));
        }
        assert_eq!((counter.numbers(0).own[tally::COUNT], counter.in_flight()), (3, 0));
    }

    #[test]
    fn requests_of_ours_are_counted_apart() {
        let mut counter = Counter::new(&traced(), Some(7));
        let others = |event: Event| Event { pid: 9, ..event };
        // One sector of each in turn: neither stream is sequential for both together.
        for i in 0..3 {
            counter.count(&event(Moment::Issued, 1000, i * 128, 65_536));
            counter.count(&others(event(Moment::Issued, 1000, 9000 + i * 800, 4096)));
            // The completion is of whatever ran on that CPU.
            counter.count(&others(event(Moment::Completed, 3048, i * 128, 65_536)));
            counter.count(&event(Moment::Completed, 9192, 9000 + i * 800, 4096));
        }
        let seen = tally::read_all("sda", RequestOp::Read, &counter.numbers(0), true);
        let own = seen.own.as_deref().expect("issuers are known");
        assert_eq!((seen.count, own.count, own.sizes()), (6, 3, vec![(65_536, 3)]));
        assert_eq!(
            (own.sequential_share(), own.device_latency_ns.clone()),
            (Some(1.0), vec![(2048, 3)])
        );
        let unknown = Counter::new(&traced(), None);
        let unknown = tally::read_all("sda", RequestOp::Read, &unknown.numbers(0), false);
        assert_eq!(unknown.own, None);
    }

    #[test]
    fn letters_are_read_as_the_kernel_writes_them() {
        let read = |text: &str, bytes| letters(text.as_bytes(), bytes);
        assert_eq!(read("R", 512), Some((RequestOp::Read, 0)));
        assert_eq!(read("RA\0", 512), Some((RequestOp::Read, 16)));
        assert_eq!(read("FWFSM", 512), Some((RequestOp::Write, 0b1111)));
        assert_eq!(read("FF", 0), Some((RequestOp::Flush, 0)));
        assert_eq!(read("DS", 512), Some((RequestOp::Discard, 1)));
        assert_eq!((read("N", 0), read("N", 8).map(|(to, _)| to)), (None, Some(RequestOp::Write)));
    }
}
