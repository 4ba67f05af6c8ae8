//! The copy itself.

use std::os::fd::BorrowedFd;

use crate::cache;
use crate::plan::{Convert, CopyPlan, Counts, Notice, Observer};
use crate::sink::Sink;
use crate::source::{Source, Stop};

/// A copy that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Blocks and bytes that were copied.
    pub counts: Counts,
    /// Nothing failed that the plan does not survive.
    pub is_good: bool,
}

/// There is no memory for a block of this size.
#[derive(Debug)]
pub struct OutOfMemory {
    /// Size of the block in bytes.
    pub bytes: usize,
    /// True for an output block.
    pub is_output: bool,
}

/// Copies from one open file to another.
///
/// # Errors
/// There is no memory for the blocks; nothing was copied.
pub fn copy(
    plan: &CopyPlan,
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
    convert: Option<&mut dyn Convert>,
    observer: &mut impl Observer,
) -> Result<Ended, OutOfMemory> {
    let mut sink = Sink::new(output, plan, observer);
    let mut source = Source::new(input, plan);
    let has_begun = begin(plan, &mut source, &mut sink)?;
    if has_begun && plan.count.is_some_and(|count| count.is_zero()) {
        let flushed = sink.flush();
        let dropped = drop_all_pages(plan, input, &mut sink);
        return Ok(Ended { counts: sink.counts, is_good: flushed && dropped });
    }
    let mut is_good = has_begun && all_blocks(plan, &mut source, &mut sink, convert)?;
    source.end();
    is_good &= sink.flush();
    Ok(Ended { counts: sink.counts, is_good })
}

/// Passes over the first parts; false if that failed.
fn begin(
    plan: &CopyPlan,
    source: &mut Source<'_>,
    sink: &mut Sink<'_, impl Observer>,
) -> Result<bool, OutOfMemory> {
    match source.skip(sink.observer, &sink.counts) {
        Ok(()) => Ok(sink.seek().is_ok()),
        Err(Stop::Failed) => Ok(false),
        Err(Stop::NoMemory) => Err(OutOfMemory { bytes: plan.input_block, is_output: false }),
    }
}

fn drop_all_pages(
    plan: &CopyPlan,
    input: BorrowedFd<'_>,
    sink: &mut Sink<'_, impl Observer>,
) -> bool {
    let mut is_good = true;
    if plan.drops_input_pages
        && let Err(error) = cache::drop_all(input)
    {
        sink.tell(Notice::InputPagesStay(error));
        is_good = false;
    }
    is_good & (!plan.drops_output_pages || sink.drop_all_pages())
}

/// Copies block by block, then what was held back; false if anything failed.
fn all_blocks(
    plan: &CopyPlan,
    source: &mut Source<'_>,
    sink: &mut Sink<'_, impl Observer>,
    mut convert: Option<&mut dyn Convert>,
) -> Result<bool, OutOfMemory> {
    source.buffer().map_err(|_| OutOfMemory { bytes: plan.input_block, is_output: false })?;
    sink.prepare().map_err(|_| OutOfMemory { bytes: plan.output_block, is_output: true })?;
    let mut read_well = true;
    // The last block was short and padded: an error behind it is in the same block.
    let mut short_bytes = 0;
    loop {
        sink.observer.turn(&sink.counts);
        let Some(size) = next_size(plan, &sink.counts) else { break };
        let bytes = match source.read(size, sink.observer, &sink.counts) {
            Err(_) => return Ok(false),
            Ok(Ok(0)) => break,
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => {
                // Another offset of a directory, or of what is not open, holds no more.
                let is_hopeless = [libc::EISDIR, libc::EBADF]
                    .iter()
                    .any(|hopeless| error.raw_os_error() == Some(*hopeless));
                sink.tell(Notice::ReadFailed(error));
                if !plan.survives_read_errors || is_hopeless {
                    read_well = false;
                    break;
                }
                if let Err(error) = source.pass_bad(plan.input_block - short_bytes) {
                    sink.tell(Notice::LostPlace(error));
                    read_well = false;
                    break;
                }
                let was_short = std::mem::take(&mut short_bytes) > 0;
                if plan.pad.is_none() || was_short {
                    continue;
                }
                0
            }
        };
        let block = count_block(plan, source, sink, bytes);
        short_bytes = if bytes < plan.input_block { bytes } else { 0 };
        let put = match (&mut convert, plan.one_to_one) {
            (Some(convert), _) => convert.convert(block, &mut |bytes| sink.put(bytes)),
            (None, true) => sink.put_block(block),
            (None, false) => sink.put(block),
        };
        if put.is_err() {
            return Ok(false);
        }
    }
    // A signal may have come behind the last block.
    sink.observer.turn(&sink.counts);
    let finished = match convert {
        Some(convert) => convert.finish(&mut |bytes| sink.put(bytes)),
        None => Ok(()),
    };
    Ok(finished.and_then(|()| sink.finish()).is_ok() && read_well)
}

/// Size of the next input block; none after the last one.
fn next_size(plan: &CopyPlan, counts: &Counts) -> Option<usize> {
    let Some(count) = plan.count else { return Some(plan.input_block) };
    let read = counts.read_full + counts.read_partial;
    if read < count.blocks {
        Some(plan.input_block)
    } else {
        (read == count.blocks && count.bytes > 0).then_some(count.bytes)
    }
}

/// Counts an input block that has so many bytes, pads it, and gives it.
fn count_block<'s>(
    plan: &CopyPlan,
    source: &'s mut Source<'_>,
    sink: &mut Sink<'_, impl Observer>,
    bytes: usize,
) -> &'s mut [u8] {
    sink.counts.bytes_read += bytes as u64;
    // The buffer is there: the block was read into it.
    let block = source.buffer().unwrap_or_default();
    if bytes == plan.input_block {
        sink.counts.read_full += 1;
        return block;
    }
    sink.counts.read_partial += 1;
    match plan.pad {
        Some(pad) => {
            block[bytes..].fill(pad);
            block
        }
        None => &mut block[..bytes],
    }
}
