//! Facts of the device mapper about its devices, which it gives to root only, by an ioctl.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use candor_record::CacheHits;

use crate::source::Roots;
use crate::source::bundle::Ask;
use crate::source::node::Node;

/// Where the device mapper is asked, below `/dev`.
const CONTROL: &str = "mapper/control";

/// `DM_TABLE_STATUS`, from `linux/dm-ioctl.h`.
const DM_TABLE_STATUS: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::read_write::<Header>(0xFD, 12);

/// The words of the table instead of those of the status.
const TABLE: u32 = 1 << 4;
/// Set by the kernel where there was more to tell than room.
const FULL: u32 = 1 << 8;
/// Nothing is written out for the sake of the answer.
const NO_FLUSH: u32 = 1 << 11;

/// Room for answers: some thousand stretches of a volume.
const ROOM: usize = 128 << 10;

/// `struct dm_ioctl`.
#[repr(C)]
struct Header {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event: u32,
    padding: u32,
    device: u64,
    name: [u8; 128],
    uuid: [u8; 129],
    data: [u8; 7],
}

/// The argument: the header and the room for answers that it announces.
#[repr(C)]
struct Request {
    header: Header,
    room: [u8; ROOM],
}

/// One stretch of a mapped device.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    /// Kind of the mapping: `linear`, `striped`, `cache`, ….
    kind: String,
    /// Status that it reports, or its line of the table.
    words: String,
}

/// A mapped device, by its targets in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// The kinds of its targets, each once.
    pub(crate) kinds: Vec<String>,
    /// Of a cache: `major:minor` of the slow device, then of the fast one, then of its notes.
    pub(crate) tiers: Vec<String>,
}

/// Where the device mapper is asked.
pub(crate) fn control(roots: &Roots) -> PathBuf {
    roots.dev.join(CONTROL)
}

/// The kinds of the targets of a device, and the tiers of a cache; none without root.
pub(crate) fn table(node: &Node, roots: &Roots) -> Option<Table> {
    // Asked before: one question does not ask another.
    let number = node.number();
    read(&roots.ask(Ask::Table, &node.path("dm"), || {
        Some(spell(&number, roots)).filter(|lines| !lines.is_empty())
    })?)
}

fn read(answer: &str) -> Option<Table> {
    let mut table = Table::default();
    for line in answer.lines() {
        let mut words = line.split(' ').map(str::to_owned);
        let kind = words.next().filter(|kind| !kind.is_empty())?;
        if !table.kinds.contains(&kind) {
            table.kinds.push(kind);
        }
        table.tiers.extend(words);
    }
    Some(table).filter(|table| !table.kinds.is_empty())
}

/// A line for each target: its kind, and behind that of a cache the numbers of its tiers. Tables
/// of other kinds are not asked for: that of an encrypted volume has its key in it.
fn spell(number: &str, roots: &Roots) -> String {
    let control = control(roots);
    let targets = ask(number, &control, 0).unwrap_or_default();
    let targets =
        if targets.iter().all(|target| matches!(target.kind.as_str(), "cache" | "writecache")) {
            ask(number, &control, TABLE).unwrap_or(targets)
        } else {
            targets
        };
    let line = |target: &Target| [vec![target.kind.clone()], tiers(target)].concat().join(" ");
    targets.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// `cache NOTES FAST SLOW …` and `writecache p SLOW FAST …`, the slow one first.
fn tiers(target: &Target) -> Vec<String> {
    let words: Vec<&str> = target.words.split_whitespace().collect();
    let order = match (target.kind.as_str(), &words[..]) {
        ("cache", [notes, fast, slow, ..]) => vec![*slow, *fast, *notes],
        ("writecache", [_, slow, fast, ..]) => vec![*slow, *fast],
        _ => Vec::new(),
    };
    order.into_iter().map(str::to_owned).collect()
}

/// The answers of a mapped cache of that `major:minor`: reads from the fast device, and the others.
pub(crate) fn hits(device: &str, number: &str, control: &Path) -> Option<CacheHits> {
    let targets = ask(number, control, 0)?;
    let target = targets.iter().find(|target| target.kind == "cache")?;
    // Block sizes and use of notes and cache, then hits and misses of reads, then of writes.
    let count = |at: usize| target.words.split_whitespace().nth(at)?.parse::<u64>().ok();
    let from = format!("status of {device} ({})", control.display());
    Some(CacheHits { name: device.to_owned(), hits: count(4)?, misses: count(5)?, from })
}

/// Asks the running kernel.
fn ask(number: &str, control: &Path, flags: u32) -> Option<Vec<Target>> {
    let (major, minor) = number.split_once(':')?;
    let (major, minor): (u64, u64) = (major.parse().ok()?, minor.parse().ok()?);
    let control = File::open(control).ok()?;
    let header = Header {
        version: [4, 0, 0],
        data_size: size_of::<Request>() as u32,
        data_start: size_of::<Header>() as u32,
        target_count: 0,
        open_count: 0,
        flags: flags | NO_FLUSH,
        event: 0,
        padding: 0,
        device: (minor & 0xFF) | (major << 8) | ((minor & !0xFF) << 12),
        name: [0; 128],
        uuid: [0; 129],
        data: [0; 7],
    };
    let mut request = Box::new(Request { header, room: [0; ROOM] });
    // SAFETY: the argument is a `struct dm_ioctl` followed by room, of as many bytes together as
    // its `data_size` announces; the kernel writes no further, and it outlives the call.
    let result =
        unsafe { libc::ioctl(control.as_raw_fd(), DM_TABLE_STATUS as _, &raw mut *request) };
    let Header { flags, data_start, target_count, .. } = request.header;
    let whole = flags & FULL == 0 && data_start as usize == size_of::<Header>();
    (result == 0 && whole).then(|| targets(&request.room, target_count))
}

/// Reads `struct dm_target_spec`, each followed by a text that a zero ends.
fn targets(room: &[u8], count: u32) -> Vec<Target> {
    const SPEC: usize = 40;
    const NEXT: usize = 20;
    const KIND: usize = 24;
    let text = |from: usize, to: usize| {
        let bytes = room.get(from..to)?.split(|&byte| byte == 0).next()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let next = room.get(at + NEXT..at + KIND).and_then(|bytes| bytes.try_into().ok());
        let (Some(next), Some(kind), Some(words)) =
            (next.map(u32::from_ne_bytes), text(at + KIND, at + SPEC), text(at + SPEC, room.len()))
        else {
            break;
        };
        found.push(Target { kind, words });
        // From the first target on, not from this one.
        at = next as usize;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers as the kernel writes them.
    fn written(all: &[(&str, &str)]) -> Vec<u8> {
        let mut room = Vec::new();
        for (kind, words) in all {
            let mut spec = [0; 40];
            spec[24..24 + kind.len()].copy_from_slice(kind.as_bytes());
            let end = (room.len() + 40 + words.len() + 1).next_multiple_of(8);
            spec[20..24].copy_from_slice(&(end as u32).to_ne_bytes());
            room.extend(spec);
            room.extend(words.as_bytes());
            room.resize(end, 0);
        }
        room
    }

    fn target(kind: &str, words: &str) -> Target {
        Target { kind: kind.into(), words: words.into() }
    }

    #[test]
    fn layouts_are_those_of_the_kernel() {
        assert_eq!((size_of::<Header>(), DM_TABLE_STATUS as u64), (312, 0xC138_FD0C));
    }

    #[test]
    fn every_target_is_read_and_garbage_is_not() {
        let room = written(&[("linear", "7:0 0"), ("striped", "2 7:1 7:2")]);
        let both = [target("linear", "7:0 0"), target("striped", "2 7:1 7:2")];
        assert_eq!(targets(&room, 2), both);
        // More than there is, and nothing at all.
        assert_eq!(targets(&room, 9)[..2], both);
        assert_eq!(targets(&[], 3), []);
        assert!(targets(&[0xFF; 64], 3).len() < 2);
    }

    #[test]
    fn the_slow_tier_stands_first() {
        let cache = target("cache", "252:2 252:1 252:0 128 1 writethrough smq 0");
        assert_eq!(tiers(&cache), ["252:0", "252:1", "252:2"]);
        assert_eq!(tiers(&target("writecache", "s 8:0 8:16 4096 0")), ["8:0", "8:16"]);
        assert!(tiers(&target("linear", "8:0 0")).is_empty());
    }

    #[test]
    fn an_answer_is_read() {
        let table = read("cache 8:0 8:16 8:32").expect("a table");
        assert_eq!((table.kinds, table.tiers.len()), (vec!["cache".to_owned()], 3));
        let table = read("linear\nlinear\nerror").expect("a table");
        assert_eq!((table.kinds.join(" "), table.tiers), ("linear error".to_owned(), vec![]));
        assert_eq!(read(""), None);
    }
}
