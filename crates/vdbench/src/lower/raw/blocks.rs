//! Reads and writes of a job: engine, workers, sizes and offsets.

use candor_plan::blocks::{Access, Durability, OpenSync, Share};
use candor_plan::units::{PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, PathText};

use super::places::{self, Part as Places};
use super::workloads::Workload;
use super::{OfRun, Part};
use crate::definitions::open_flags::{OpenFlags, SyncFlag};
use crate::definitions::transfer::TransferSize;
use candor_front::Diagnostics;

/// Depth of direct I/O per worker above which another worker is faster.
const DEPTH_PER_WORKER: u32 = 16;

/// Blocks, and the workers that issue them.
pub(super) struct Shape {
    pub blocks: Blocks,
    pub workers: u32,
}

/// How operations are submitted: number of workers and depth of each.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Issue {
    engine: Engine,
    workers: u32,
    depth: u32,
}

impl Shape {
    /// The shape of a job.
    pub(super) fn of(
        of_run: &OfRun<'_>,
        workload: &Workload<'_>,
        part: &Part<'_>,
        out: &mut Diagnostics,
    ) -> Shape {
        let (wd, values) = (&workload.wd.options, &workload.values);
        let sd = part.sds[0];
        let flags = values.open_flags.unwrap_or(sd.options.open_flags);
        check_device(of_run, part, flags, out);
        let sequential = workload.is_sequential();
        let streams = wd.streams.filter(|_| sequential).map(|streams| streams as u32);
        let host = of_run.request.host;
        let cpus = host.cpus().map_or(1, |cpus| cpus.len() as u32);
        let issue = issue(flags.direct, sequential, part.threads, host.async_engine(), cpus);
        let issue = match streams {
            Some(streams) => Issue {
                workers: streams.max(1),
                depth: (part.threads / streams.max(1)).max(1),
                ..issue
            },
            None => issue,
        };
        let mut blocks = Blocks {
            mix: values.mix(),
            size: PerDirection::all(size(&values.transfer)),
            align: align(&values.transfer, sd.options.align),
            share: if streams.is_some() { Share::Slice } else { Share::Whole },
            depth: issue.depth,
            engine: issue.engine,
            direct: flags.direct,
            durability: durability(flags),
            ..Blocks::default()
        };
        place(of_run, workload, part, &mut blocks, out);
        notes(of_run, workload, part, issue, out);
        Shape { blocks, workers: issue.workers }
    }
}

/// The fastest way to keep N operations in flight.
fn issue(direct: bool, sequential: bool, threads: u32, many: Engine, cpus: u32) -> Issue {
    let one = |engine, depth| Issue { engine, workers: 1, depth };
    match (direct, sequential) {
        _ if threads == 1 => one(Engine::Psync, 1),
        // One worker keeps a sequential stream one.
        (true, true) => one(many, threads),
        (true, false) => {
            // Workers that all have the same number in flight.
            let most = (threads / DEPTH_PER_WORKER).clamp(1, cpus.max(1));
            let workers = (1..=most).rev().find(|workers| threads.is_multiple_of(*workers));
            let workers = workers.unwrap_or(1);
            Issue { engine: many, workers, depth: threads / workers }
        }
        // libaio would wait for the page cache.
        (false, true) if many == Engine::LIBAIO => one(Engine::Threads, threads),
        (false, true) => one(many, threads),
        (false, false) => Issue { engine: Engine::Psync, workers: threads, depth: 1 },
    }
}

fn size(transfer: &TransferSize) -> SizeSpec {
    match transfer {
        TransferSize::Fixed(size) => SizeSpec::Fixed(Bytes(*size)),
        TransferSize::Ranged { min, max, align } => {
            SizeSpec::Stepped(Bytes(*min), Bytes(*max), Bytes(*align))
        }
        TransferSize::Mixed(sizes) => {
            let (mut due, mut given) = (0.0, 0.0);
            SizeSpec::Weighted(
                sizes
                    .iter()
                    .map(|(size, percent)| {
                        due += percent;
                        let part = due.round() - given;
                        given += part;
                        (Bytes(*size), part as u8)
                    })
                    .filter(|(_, percent)| *percent > 0)
                    .collect(),
            )
        }
    }
}

fn align(transfer: &TransferSize, of_lun: Option<u64>) -> Option<PerDirection<Bytes>> {
    let own = match transfer {
        TransferSize::Ranged { align, .. } => Some(*align),
        TransferSize::Fixed(_) | TransferSize::Mixed(_) => None,
    };
    of_lun.or(own).map(|align| PerDirection::all(Bytes(align)))
}

fn durability(flags: OpenFlags) -> Durability {
    let open = match flags.sync {
        SyncFlag::None => OpenSync::None,
        SyncFlag::Dsync => OpenSync::Dsync,
        SyncFlag::Sync => OpenSync::Sync,
    };
    Durability { open, fsync_at_end: flags.fsync_at_close, ..Durability::default() }
}

/// Devices need O_DIRECT on Linux to bypass the page cache, like in vdbench.
/// A simulation opens no devices, whose names may belong to another system.
fn check_device(of_run: &OfRun<'_>, part: &Part<'_>, flags: OpenFlags, out: &mut Diagnostics) {
    if of_run.request.asked.is_simulation {
        return;
    }
    for sd in &part.sds {
        let lun = of_run.luns.of(sd, &part.host);
        let Some(lun) = lun.filter(|lun| lun.is_device && flags == OpenFlags::default()) else {
            continue;
        };
        let path = lun.path.text();
        let message = format!("{path} is a block device, which Linux would read through its cache");
        let scope = sd.in_texts(of_run.request.texts);
        out.wrong(&scope, "lun", message, "add openflags=o_direct to the sd");
    }
}

/// Range of the lun, and order of offsets.
fn place(
    of_run: &OfRun<'_>,
    workload: &Workload<'_>,
    part: &Part<'_>,
    blocks: &mut Blocks,
    out: &mut Diagnostics,
) {
    let (wd, values, sd) = (&workload.wd.options, &workload.values, part.sds[0]);
    let Some(lun) = of_run.luns.of(sd, &part.host) else { return };
    let scope = workload.wd.in_texts(of_run.request.texts);
    let unit = values.transfer.max();
    // Block 0 of a raw lun is never touched.
    let first = if lun.is_device { unit } else { 0 };
    let band = wd.hot_band;
    let places = Places::of(band.or(wd.range).or(sd.options.range), lun.bytes, first, unit);
    let offset = sd.options.offset;
    if places.length() < unit.saturating_add(offset) {
        let message = format!(
            "an operation of {unit} bytes does not fit into the {} bytes of sd={} that are used",
            places.length(),
            sd.name.text
        );
        out.wrong(&scope, "xfersize", message, "use a smaller xfersize or a larger lun");
        return;
    }
    let wrapped = places.wrapped(lun.bytes, first);
    let is_whole = wd.range.is_none() && sd.options.range.is_none() && band.is_none();
    if !(is_whole && first == 0 && offset == 0) {
        blocks.range = places.range(lun.bytes, first, offset);
    }
    let length = places.length() - offset;
    let hits = [values.read_hit_percent, values.write_hit_percent];
    let has_hits = hits.iter().any(|percent| *percent > 0.0);
    let area = values.hit_area.unwrap_or(sd.options.hit_area) / unit * unit;
    if let Some(message) = short_of_hits(area, length, unit).filter(|_| has_hits) {
        out.wrong(&scope, "rhpct", message, "change hitarea= of the sd");
        return;
    }
    if workload.is_sequential() {
        if wrapped.is_some() {
            let why = "ranges beyond the end of a lun are for random places";
            return out.refuse(&scope, "range", why);
        }
        if has_hits && (wd.streams.is_some() || part.sds.len() > 1) {
            let why = "hits are one sequential stream of one lun, misses another";
            return out.refuse(&scope, "rhpct", why);
        }
    }
    blocks.access = if workload.is_sequential() {
        places::ascending(has_hits.then_some((hits, area)), stride(workload, of_run, out))
    } else if has_hits {
        places::with_hits(hits[0], hits[1], area, length)
    } else if band.is_some() {
        places::hot()
    } else if let Some(zones) = wrapped {
        zones
    } else if let Some(midpoint) = values.seek.poisson {
        let did = format!("half of the places lie in the first {midpoint} % of the lun");
        out.note(&scope, "seekpct", &did, "the others become fewer with their distance");
        places::around_start(midpoint)
    } else {
        Access::Random
    };
    if !workload.is_sequential() && values.seek.random_percent < 100.0 {
        blocks.stay = places::stay(values.seek.random_percent);
    }
}

/// The complaint about a hit area that leaves less than two operations for hits or for misses.
fn short_of_hits(area: u64, length: u64, unit: u64) -> Option<String> {
    let least = area.min(length.saturating_sub(area));
    (least < unit.saturating_mul(2)).then(|| {
        format!(
            "a hit area of {area} of {length} bytes leaves {least} bytes for hits or misses, less \
             than two operations of {unit}"
        )
    })
}

/// Bytes between the end of an operation and the start of the next one.
fn stride(workload: &Workload<'_>, of_run: &OfRun<'_>, out: &mut Diagnostics) -> u64 {
    let Some((min, max)) = workload.wd.options.stride else { return 0 };
    let scope = workload.wd.in_texts(of_run.request.texts);
    let seek = &workload.values.seek;
    if seek.is_sequential() {
        let why = "a sequential workload has no strides";
        out.note(&scope, "stride", "operations follow each other", why);
        return 0;
    }
    if seek.random_percent < 100.0 {
        let why = "a share of operations with strides is not built";
        out.refuse(&scope, "seekpct", why);
    }
    if min == max {
        return min;
    }
    // Starts of strides of different length are multiples of the size, the ones below.
    let size = workload.values.transfer.first().max(1);
    let mean = min.midpoint(max).saturating_sub(size / 2) / size * size;
    let did = format!("each operation begins {mean} bytes after the end of the last one");
    out.note(&scope, "stride", &did, "strides of different length become their mean");
    mean
}

/// Notes: differences, and the choice of engine.
fn notes(
    of_run: &OfRun<'_>,
    workload: &Workload<'_>,
    part: &Part<'_>,
    issue: Issue,
    out: &mut Diagnostics,
) {
    let texts = of_run.request.texts;
    let values = &workload.values;
    let scope = workload.wd.in_texts(texts);
    if values.read_percent.fract() != 0.0 {
        let did = format!("{} % reads", values.mix().read);
        out.note(&scope, "readpct", &did, "shares of reads are whole percent");
    }
    if matches!(values.transfer, TransferSize::Mixed(_)) {
        let why = "places of operations of all sizes are multiples of the smallest";
        out.note(&scope, "xfersize", "blocks.size", why);
    }
    let sd = part.sds[0].in_texts(texts);
    let Issue { engine, workers, depth } = issue;
    if workers * depth == 1 {
        return;
    }
    let did = match (workers, depth) {
        (1, _) => format!("{depth} operations in flight by {}, from one thread", engine.name()),
        (_, 1) => format!("{workers} threads with {}, one operation each", engine.name()),
        _ => format!("{workers} threads with {}, {depth} operations in flight each", engine.name()),
    };
    let why = match (workload.is_sequential(), depth) {
        (true, 2..) => "so the lun sees one sequential stream, as vdbench's threads make together",
        (false, 2..) => "so no thread waits for a single operation; vdbench has a thread for each",
        _ => "operations through the page cache wait in their thread, as vdbench's do",
    };
    out.note(&sd, "threads", &did, why);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_operations_are_in_flight_as_there_are_threads() {
        let many = Engine::IO_URING;
        for threads in 1..200 {
            for (direct, sequential) in [(true, true), (true, false), (false, true), (false, false)]
            {
                let found = issue(direct, sequential, threads, many, 8);
                assert_eq!(found.workers * found.depth, threads, "{direct} {sequential}");
                assert!(!sequential || found.workers == 1, "a sequential stream is one");
            }
        }
        assert_eq!(issue(false, true, 4, Engine::LIBAIO, 8).engine, Engine::Threads);
        assert_eq!(issue(true, false, 64, many, 8).workers, 4);
    }

    #[test]
    fn shares_of_sizes_become_whole_percent() {
        let mixed = TransferSize::Mixed(vec![(4096, 33.4), (8192, 33.3), (16384, 33.3)]);
        let SizeSpec::Weighted(list) = size(&mixed) else { panic!("no weights") };
        assert_eq!(list.iter().map(|(_, percent)| u32::from(*percent)).sum::<u32>(), 100);
    }
}
