//! An agent's log: a line for each event, with the address and the run it is about.
//!
//! A thread writes the lines, so that a slow disk below the log does not keep an agent from
//! answering. Refusals that repeat are folded, so that a stranger cannot fill the disk.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Lines that wait for the disk; later ones are counted only.
const LINES_MAX: usize = 4096;
/// Time for which the same refusals are one line.
const FOLD: Duration = Duration::from_secs(60);
/// Sources of refusals that are counted separately.
const SOURCES_MAX: usize = 1024;

/// Network that a connection comes from: an address, or the 64 bits of an address of IPv6 that a
/// host does not choose itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source(IpAddr);

impl Source {
    /// The network of an address.
    pub fn of(address: SocketAddr) -> Source {
        Source(match address.ip().to_canonical() {
            IpAddr::V6(ip) if !ip.is_loopback() => {
                Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into()
            }
            ip => ip,
        })
    }
}

/// The log of an agent.
#[derive(Clone)]
pub struct AgentLog {
    lines: SyncSender<String>,
    refusals: Arc<Mutex<Refusals>>,
    lost: Arc<Mutex<u64>>,
}

impl AgentLog {
    /// A log whose lines go there, and the thread that ends once all its clones are dropped.
    ///
    /// # Errors
    /// The kernel has no thread left.
    pub fn new(
        write: impl Fn(&str) + Send + 'static,
    ) -> std::io::Result<(AgentLog, JoinHandle<()>)> {
        let (lines, waiting) = sync_channel::<String>(LINES_MAX);
        let thread = thread::Builder::new().name("candor/log".into());
        let thread = thread.spawn(move || waiting.iter().for_each(|line| write(&line)))?;
        let log = AgentLog { lines, refusals: Arc::default(), lost: Arc::default() };
        Ok((log, thread))
    }

    /// Writes a line.
    pub fn line(&self, text: &str) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match *lost {
            0 => text.to_owned(),
            count => format!("{text} ({count} earlier lines are missing: the disk was slow)"),
        };
        match self.lines.try_send(text) {
            Ok(()) => *lost = 0,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => *lost += 1,
        }
    }

    /// Writes that a connection was refused; the same again within a minute is counted.
    pub fn refused(&self, peer: SocketAddr, why: &str) {
        let lines = self.refusals().take(Instant::now(), peer, why);
        lines.iter().for_each(|line| self.line(line));
    }

    /// Writes the counts of refusals whose minute is over; all of them at the end.
    pub fn fold(&self, at_end: bool) {
        let lines = self.refusals().due(Instant::now(), at_end);
        lines.iter().for_each(|line| self.line(line));
    }

    fn refusals(&self) -> std::sync::MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refusals of the last minute.
#[derive(Default)]
struct Refusals(HashMap<(Option<Source>, String), Repeated>);

/// A refusal that may repeat.
struct Repeated {
    since: Instant,
    more: u64,
}

impl Refusals {
    /// Counts a refusal; the lines that are to be written.
    fn take(&mut self, now: Instant, peer: SocketAddr, why: &str) -> Vec<String> {
        let mut lines = self.due(now, false);
        let mut key = (Some(Source::of(peer)), why.to_owned());
        if self.0.len() >= SOURCES_MAX && !self.0.contains_key(&key) {
            key = (None, String::new());
        }
        match self.0.get_mut(&key) {
            Some(repeated) => repeated.more += 1,
            None => {
                lines.push(match key.0 {
                    Some(_) => format!("refused {peer}: {why}"),
                    None => format!("refused {peer}: {why}; more addresses are counted only"),
                });
                self.0.insert(key, Repeated { since: now, more: 0 });
            }
        }
        lines
    }

    /// The lines of refusals whose minute is over.
    fn due(&mut self, now: Instant, at_end: bool) -> Vec<String> {
        let mut lines = Vec::new();
        self.0.retain(|(source, why), repeated| {
            if !at_end && now.duration_since(repeated.since) < FOLD {
                return true;
            }
            let Repeated { more, .. } =
                std::mem::replace(repeated, Repeated { since: now, more: 0 });
            if more > 0 {
                let from = source.map_or("other addresses".into(), |source| source.0.to_string());
                let times = if more == 1 { "time" } else { "times" };
                let why = if why.is_empty() { "" } else { &format!(": {why}") };
                lines.push(format!("refused {from} {more} more {times} within a minute{why}"));
            }
            more > 0
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_network_is_one_source() {
        let of = |text: &str| Source::of(peer(text));
        assert_eq!(of("10.0.0.1:1"), of("10.0.0.1:2"));
        assert_eq!(of("10.0.0.1:1"), of("[::ffff:10.0.0.1]:1"));
        assert_ne!(of("10.0.0.1:1"), of("10.0.0.2:1"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::ffff:1]:1"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
    }

    #[test]
    fn what_repeats_is_one_line_a_minute() {
        let (mut refusals, began) = (Refusals::default(), Instant::now());
        let second = |nth: u64| began + Duration::from_secs(nth);
        let (one, other) = (peer("10.0.0.1:7"), peer("10.0.0.2:7"));
        assert_eq!(refusals.take(began, one, "why"), ["refused 10.0.0.1:7: why"]);
        for nth in 0..50 {
            assert_eq!(refusals.take(second(nth), one, "why"), [""; 0]);
        }
        assert_eq!(refusals.take(second(50), one, "else"), ["refused 10.0.0.1:7: else"]);
        assert_eq!(refusals.take(second(50), other, "why"), ["refused 10.0.0.2:7: why"]);
        let folded = "refused 10.0.0.1 50 more times within a minute: why";
        assert_eq!(refusals.due(second(60), false), [folded]);
        assert_eq!(refusals.take(second(61), one, "why"), [""; 0]);
        let folded = "refused 10.0.0.1 1 more time within a minute: why";
        assert_eq!(refusals.due(second(61), true), [folded]);
        assert_eq!(refusals.due(second(300), false), [""; 0]);
        assert_eq!(refusals.take(second(300), one, "why").len(), 1, "it was forgotten");
    }

    #[test]
    fn many_sources_take_bounded_memory() {
        let (mut refusals, now) = (Refusals::default(), Instant::now());
        let mut lines = 0;
        for nth in 0..100_000_u32 {
            let from = SocketAddr::from((std::net::Ipv4Addr::from_bits(nth), 1));
            lines += refusals.take(now, from, "why").len();
        }
        assert_eq!((refusals.0.len(), lines), (SOURCES_MAX + 1, SOURCES_MAX + 1));
        let due = refusals.due(now + FOLD, false);
        let others = 100_000 - SOURCES_MAX - 1;
        assert_eq!(due, [format!("refused other addresses {others} more times within a minute")]);
    }

    #[test]
    fn lines_that_a_slow_disk_keeps_waiting_are_counted() {
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let written = Arc::new(Mutex::new(Vec::new()));
        let (log, thread) = {
            let written = written.clone();
            AgentLog::new(move |line: &str| {
                // Ends with its sender.
                let _ = gate.recv();
                written.lock().expect("no panic").push(line.to_owned());
            })
            .expect("a thread")
        };
        (0..LINES_MAX + 10).for_each(|nth| log.line(&nth.to_string()));
        drop(go);
        while written.lock().expect("no panic").len() < LINES_MAX {
            std::thread::yield_now();
        }
        log.line("last");
        drop(log);
        thread.join().expect("it ends");
        let written = written.lock().expect("no panic");
        let last = written.last().expect("lines");
        assert!(last.starts_with("last (") && last.contains("earlier lines are missing"), "{last}");
    }
}
