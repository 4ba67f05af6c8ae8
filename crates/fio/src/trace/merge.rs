//! Block traces merged into one, in the order of their times.

use std::collections::VecDeque;
use std::io::BufRead;

use super::blktrace::{EVENT_BYTES, Event, Events, MAGIC, VERSION};
use super::{Fault, begin};

/// A trace to be merged.
pub struct Part<'a> {
    /// The name in sentences.
    pub name: &'a str,
    /// The bytes.
    pub bytes: Box<dyn BufRead + 'a>,
    /// Duration in percent of the trace's own.
    pub percent: f64,
    /// Number of repeats.
    pub times: u64,
}

/// Maximum number of events of all parts.
const EVENTS_MAX: usize = 1 << 24;

/// The bytes of the merged trace: queued operations in order, in the host's byte order.
///
/// # Errors
/// A part that cannot be read or is no block trace.
pub fn merge(parts: Vec<Part<'_>>) -> Result<Vec<u8>, Fault> {
    let mut lists = Vec::new();
    let mut total = 0;
    for part in parts {
        let name = part.name;
        let list = stretched(part)?;
        total += list.len();
        if total > EVENTS_MAX {
            let message = format!("the traces have more than {EVENTS_MAX} events together");
            let remedy = "merge fewer, or repeat them less".to_owned();
            return Err(Fault { place: name.to_owned(), message, remedy });
        }
        lists.push(VecDeque::from(list));
    }
    let mut merged = Vec::with_capacity(total * EVENT_BYTES);
    // Events at the same time are in the order of the parts.
    let earliest = |lists: &[VecDeque<Event>]| {
        let heads = lists.iter().enumerate().filter_map(|(nth, list)| Some((list.front()?, nth)));
        heads.min_by_key(|(event, nth)| (event.time_ns, *nth)).map(|(_, nth)| nth)
    };
    let mut number = 0;
    while let Some(nth) = earliest(&lists) {
        if let Some(event) = lists[nth].pop_front() {
            put(&mut merged, number, &event);
            number += 1;
        }
    }
    Ok(merged)
}

/// Events of a part, as often and as slowly as requested.
fn stretched(part: Part<'_>) -> Result<Vec<Event>, Fault> {
    let Part { name, bytes, percent, times } = part;
    let (endian, bytes) = begin(name, bytes)?;
    let Some(endian) = endian else {
        return Err(Fault {
            place: format!("{name}:byte 0"),
            message: "it is no block trace, and only those are merged".to_owned(),
            remedy: "make the file with `blkparse DEVICE -o /dev/null -d FILE`".to_owned(),
        });
    };
    let (mut events, mut once, mut length_ns) = (Events::new(name, bytes, endian), Vec::new(), 0);
    while let Some(event) = events.next()? {
        length_ns = length_ns.max(event.time_ns);
        if event.queues() && once.len() <= EVENTS_MAX {
            once.push(event);
        }
    }
    let factor = percent / 100.0;
    let mut all = Vec::new();
    for round in 0..times.min(EVENTS_MAX as u64 / once.len().max(1) as u64 + 1) {
        let since_ns = length_ns.saturating_mul(round);
        all.extend(once.iter().map(|event| {
            let time_ns = event.time_ns.saturating_add(since_ns) as f64 * factor;
            Event { time_ns: time_ns as u64, ..*event }
        }));
    }
    Ok(all)
}

fn put(out: &mut Vec<u8>, number: u32, event: &Event) {
    out.extend((MAGIC | VERSION).to_ne_bytes());
    out.extend(number.to_ne_bytes());
    out.extend(event.time_ns.to_ne_bytes());
    out.extend(event.sector.to_ne_bytes());
    for word in [event.bytes, event.action, event.pid, event.device, event.cpu] {
        out.extend(word.to_ne_bytes());
    }
    out.extend(event.error.to_ne_bytes());
    // Data after the event is dropped.
    out.extend(0_u16.to_ne_bytes());
}

#[cfg(test)]
mod tests;
