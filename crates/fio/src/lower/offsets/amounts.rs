//! The amount that a job moves: `size`, `io_size`, `number_ios` and `loops`.
//!
//! fio passes over its files until `size` (or `io_size`) is moved, `loops` times. One loop is
//! usually one pass. Exceptions: a pass skips bytes and fio moves more to make up for them, or
//! `io_size` sets another amount.

use std::path::Path;

use candor_plan::blocks::{Access, FileOrder, Position};
use candor_plan::units::{Direction, Extent, SizeSpec};
use candor_plan::{Blocks, Bytes, Stop, Target, TargetKind};

use crate::lower::engines;
use crate::lower::instance::Instance;
use crate::lower::offsets::zones::in_bytes;
use crate::options::{Amount, Method};
use candor_front::Diagnostics;

pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    blocks: &Blocks,
    targets: &[Target],
    stop: &mut Stop,
    diagnostics: &mut Diagnostics,
) {
    let options = from.options;
    if options.runtime.time_based && stop.time.is_some() {
        stop.passes = checks_each_pass(from, blocks, diagnostics).then_some(u32::MAX);
        return;
    }
    let lengths = || targets.iter().flat_map(|target| lengths(from, blocks, target));
    let add = |sum: u64, (length, files): (Option<u64>, u64)| {
        Some(sum.saturating_add(length?.saturating_mul(files)))
    };
    let total = lengths().try_fold(0, add);
    let mut moved = moved(from, total, diagnostics);
    let preconditions = matches!(blocks.access, Access::Precondition { .. });
    if moved.is_some() && preconditions {
        let why = "sprandom writes the physical capacity, and fio sets io_size to that";
        diagnostics.note(from, "io_size", "it has no effect", why);
        moved = None;
    }
    if let (Some(moved), Some(counted)) = (moved, engines::per_name(from, blocks)) {
        stop.ops =
            Some(names(from, moved.div_ceil(counted.ops.saturating_mul(counted.bytes).max(1))));
        return;
    }
    if let Some(rounds) = rounds(from, blocks, lengths(), moved) {
        (stop.bytes, stop.passes) = rounds;
        return;
    }
    let writes_on = writes_on(from, blocks, lengths());
    let ends_with_size = ends_with_size(from, writes_on);
    let again =
        moved.filter(|_| ends_with_size).and_then(|moved| checked_passes(blocks, lengths(), moved));
    let moved = match total {
        _ if again.is_some() => None,
        Some(total) if ends_with_size => moved.map(|moved| moved.min(total)),
        _ => moved,
    };
    let loops = options.runtime.loops.max(1).max(again.unwrap_or(1));
    // Both operations of a pair count, here; there a pair counts once.
    let times = if blocks.pairs { loops.saturating_mul(2) } else { loops };
    stop.ops = number_ios(from).map(|ops| ops.saturating_mul(times));
    let all = |bytes: u64| Bytes(bytes.saturating_mul(times));
    // If files have their own sizes, the job's size only limits the bytes to move. Bytes outside
    // whole zones are moved in other zones.
    let sized = (options.files.size.is_some() && !preconditions) || blocks.zones.is_some();
    let size = sized.then(|| size_in_bytes(from, diagnostics)).flatten();
    // fio limits the size to the length of its files after the offset.
    let length = total.filter(|_| blocks.zones.is_none()).unwrap_or(u64::MAX);
    let most = moved.or(size.map(|size| size.min(length)));
    if most.is_some() || !is_one_pass(blocks) {
        stop.bytes = most.or(total).filter(|bytes| *bytes > 0).map(all);
    }
    if stop.bytes.is_some() && !ends(blocks, targets.iter().map(Target::files_named).sum()) {
        return;
    }
    stop.passes = Some(u32::try_from(loops).unwrap_or(u32::MAX));
    let goes_on = total.is_some() && wraps(blocks, lengths().filter_map(|(length, _)| length));
    // Passes count as loops of fio; without them, io_size counts once for each loop.
    let least = match moved {
        Some(moved) if writes_on => Some(all(moved)),
        Some(moved) => Some(Bytes(moved)),
        None => total.map(all).filter(|_| goes_on),
    };
    stop.at_least = least.map(Extent::Bytes);
}

/// Bytes of `size`; `None` for percentages and zones.
fn size_in_bytes(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    match in_bytes(from, from.options.area.size?, "size", diagnostics) {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(_) | Amount::Zones(_) => None,
    }
}

/// True if a time-based job verifies each pass before the next one. fio does so with asynchronous
/// engines; with others it continues to write.
fn checks_each_pass(from: &Instance<'_>, blocks: &Blocks, diagnostics: &mut Diagnostics) -> bool {
    let read_back = blocks.verify.as_ref().and_then(|verify| verify.read_back);
    if !read_back.is_some_and(|back| back.every == 0 && !back.only) {
        return false;
    }
    let queues = blocks.engine.is_async();
    if !queues {
        let why = "as with fio, the job ends only by its time; set verify_backlog";
        diagnostics.note(from, "verify", "nothing that is written is read back", why);
    }
    queues
}

/// True if at most `size` is moved before it is read back, with any `io_size`: fio rewrites
/// verified blocks only without the end of a pass, or at random without a map.
fn ends_with_size(from: &Instance<'_>, writes_on: bool) -> bool {
    let options = from.options;
    let is_checked = options.verify.read_back || options.verify.only;
    let direction = options.rw.direction;
    let is_drawn = direction.is_random() && options.random.no_map;
    let begins_again = writes_on || is_drawn || direction.is_mixed() || !direction.writes();
    options.verify.method != Method::None && is_checked && !begins_again
}

/// True if fio writes from the start again without the end of a pass: sequentially, in blocks that
/// leave no remainder.
fn writes_on(
    from: &Instance<'_>,
    blocks: &Blocks,
    mut lengths: impl Iterator<Item = (Option<u64>, u64)>,
) -> bool {
    let used = Direction::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0);
    let sizes: Vec<&SizeSpec> = used.map(|op| blocks.size.of(op)).collect();
    let fits = |length: u64| {
        sizes.iter().all(|size| match size {
            SizeSpec::Fixed(size) => length.is_multiple_of(size.0.max(1)),
            _ => false,
        })
    };
    let direction = from.options.rw.direction;
    direction.writes()
        && !direction.is_random()
        && lengths.all(|(length, _)| length.is_some_and(fits))
}

/// `number_ios`, if given.
fn number_ios(from: &Instance<'_>) -> Option<u64> {
    Some(from.options.area.number_ios).filter(|ops| *ops > 0)
}

/// Operations on names: fio goes through them until as much is done by its count, in passes if
/// need be.
fn names(from: &Instance<'_>, names: u64) -> u64 {
    names
        .min(number_ios(from).unwrap_or(u64::MAX))
        .saturating_mul(from.options.runtime.loops.max(1))
}

/// Bytes and passes of loops that are read back, if `io_size` is at most one pass: fio writes to
/// the end of its files before it reads back, with any `io_size`.
fn rounds(
    from: &Instance<'_>,
    blocks: &Blocks,
    lengths: impl Iterator<Item = (Option<u64>, u64)>,
    moved: Option<u64>,
) -> Option<(Option<Bytes>, Option<u32>)> {
    let loops = from.options.runtime.loops;
    let io_size = moved.filter(|_| loops > 1 && number_ios(from).is_none())?;
    let pass = checked_pass(blocks, lengths).filter(|pass| io_size <= *pass)?;
    let bytes = io_size.saturating_mul(loops);
    let passes = u32::try_from(bytes.div_ceil(pass)).unwrap_or(u32::MAX);
    Some((Some(Bytes(bytes)), Some(passes)))
}

/// Bytes of a pass that is read back before the next one; `None` for other jobs, or if the bytes
/// are unknown.
fn checked_pass(blocks: &Blocks, lengths: impl Iterator<Item = (Option<u64>, u64)>) -> Option<u64> {
    let read_back = blocks.verify.as_ref()?.read_back?;
    if read_back.only || !is_one_pass(blocks) {
        return None;
    }
    let unit = match blocks.size.write {
        SizeSpec::Fixed(size) => size.0.max(1),
        _ => 1,
    };
    let pass =
        lengths.map(|(length, files)| Some(length? / unit * unit * files)).sum::<Option<u64>>();
    pass.filter(|pass| *pass > 0)
}

/// Passes of a job that reads back each pass, if `io_size` exceeds a pass. fio also counts reading
/// back against `io_size`, and starts no pass for less than a block.
fn checked_passes(
    blocks: &Blocks,
    lengths: impl Iterator<Item = (Option<u64>, u64)>,
    io_size: u64,
) -> Option<u64> {
    let pass = checked_pass(blocks, lengths).filter(|pass| *pass <= io_size)?;
    let block = blocks.size.iter().map(|(_, size)| size.max().0).max().unwrap_or(1).max(1);
    let moved_by_one = pass.saturating_mul(2);
    Some((io_size.saturating_add(1).saturating_sub(block)).div_ceil(moved_by_one).max(1))
}

/// `io_size`, if given.
fn moved(from: &Instance<'_>, total: Option<u64>, diagnostics: &mut Diagnostics) -> Option<u64> {
    let options = from.options.area.io_size?;
    match in_bytes(from, options, "io_size", diagnostics) {
        Amount::Bytes(bytes) => Some(bytes).filter(|bytes| *bytes > 0),
        Amount::Percent(percent @ 101..) => {
            let message = format!("{percent} % is more than there is");
            diagnostics.wrong(from, "io_size", message, "give at most 100%, or a number of bytes");
            None
        }
        Amount::Percent(percent) => {
            let bytes = total.map(|total| Extent::Percent(f64::from(percent)).of(Bytes(total)).0);
            if bytes.is_none() {
                diagnostics.refuse(from, "io_size", "a share of files whose size is not known yet");
            }
            bytes
        }
        Amount::Zones(_) => None,
    }
}

/// Known lengths of a target's files, each with the number of files.
fn lengths<'a>(
    from: &'a Instance<'_>,
    blocks: &'a Blocks,
    target: &'a Target,
) -> Box<dyn Iterator<Item = (Option<u64>, u64)> + 'a> {
    let of = |path: &Path, size| length(from, blocks, path, size);
    let are_alike = target.members.is_empty() && target.size.is_some();
    if target.kind != TargetKind::FileSet || are_alike {
        let alike = (of(&target.path, target.size), target.files_named());
        return Box::new(std::iter::once(alike));
    }
    let files = (0..target.files_named()).map(|nth| target.file_of_set(nth));
    Box::new(files.map(move |(path, size)| (of(&path, size), 1)))
}

/// Bytes to use of a file, if known before the run.
fn length(from: &Instance<'_>, blocks: &Blocks, path: &Path, size: Option<Bytes>) -> Option<u64> {
    let size = size.or(from.host.found(path).bytes().map(Bytes))?;
    let rest = size.0.saturating_sub(blocks.range.start.of(size).0);
    Some(blocks.range.length.map_or(rest, |length| length.of(size).0.min(rest)))
}

/// True if one pass moves every byte of every file once.
fn is_one_pass(blocks: &Blocks) -> bool {
    let whole = matches!(
        blocks.access,
        Access::Sequential | Access::Permutation | Access::Precondition { .. }
    );
    let together = blocks.position == Position::Shared && blocks.stay.is_never();
    whole && together && blocks.windows.is_none() && blocks.zones.is_none()
}

/// True if passes end.
fn ends(blocks: &Blocks, files: u64) -> bool {
    let in_turn = matches!(
        blocks.rotation.order,
        FileOrder::RoundRobin | FileOrder::Random | FileOrder::Sequential
    );
    blocks.access.is_finite() && (in_turn || files < 2)
}

/// True if a pass leaves bytes at the end of a file: fio then continues from the start. A pass that
/// ends exactly at the end of the file ends the job.
fn wraps(blocks: &Blocks, mut lengths: impl Iterator<Item = u64>) -> bool {
    let ends_there = |length: u64| match (&blocks.access, blocks.windows) {
        (Access::Holes { hole }, None) => holes_end(blocks, hole.0, length),
        (_, Some(windows)) => {
            let stride = windows.length.0.saturating_add(windows.gap.0).max(1);
            let last = length.saturating_sub(1) % stride + 1;
            last < windows.length.0.min(windows.bytes.0)
        }
        _ => true,
    };
    let leaves_out = blocks.zones.as_ref().is_some_and(|zones| zones.gap.0 > 0);
    leaves_out || !lengths.all(ends_there)
}

/// True if a job with gaps between its operations ends with the first pass: an operation ends with
/// the file, or the next one starts within it and does not fit. fio counts from the offset in this
/// check, and so does candor.
fn holes_end(blocks: &Blocks, hole: u64, length: u64) -> bool {
    let op = Direction::ALL.into_iter().find(|op| blocks.mix.of(*op) > 0);
    let Some(SizeSpec::Fixed(size)) = op.map(|op| blocks.size.of(op)) else { return true };
    let stride = size.0.saturating_add(hole).max(1);
    let Some(room) = length.checked_sub(size.0) else { return true };
    let next = (room / stride + 1) * stride;
    let start = match blocks.range.start {
        Extent::Bytes(start) => start.0,
        Extent::Percent(_) => 0,
    };
    next < start.saturating_add(length) || room % stride == 0
}
