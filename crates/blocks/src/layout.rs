//! Layout: files are written before they are read.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use candor_plan::Layout;
use candor_plan::blocks::{Content as ContentPlan, Fill, Format, Verify};
use rustix::fs::{FallocateFlags, SeekFrom};

use crate::known::Known;
use candor_bytes::content::{Content, Origin, Pool};
use candor_bytes::verify::{self, Expected};
use candor_engine::EngineError;

/// Bytes per write, rounded to a multiple of the interval of headers.
const CHUNK_BYTES: usize = 1 << 20;

/// Layout that a file is to have.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Length of the file.
    pub size: u64,
    /// Way to make its bytes.
    pub layout: Layout,
    /// Holes of what is there are written as well.
    pub fills_holes: bool,
    /// Content of its bytes.
    pub content: ContentPlan,
    /// Headers of its blocks.
    pub verify: Option<Verify>,
    /// Seed of the run.
    pub seed: u64,
}

impl Wanted {
    /// A file of that length, all of it written, with the usual content.
    pub fn written(size: u64, seed: u64) -> Wanted {
        Wanted {
            size,
            layout: Layout::Write,
            fills_holes: false,
            content: ContentPlan::default(),
            verify: None,
            seed,
        }
    }
}

/// Extends a file to its length and keeps its bytes, except a last block too short for its header.
/// The file, where anything was done to it: its bytes wait for a flush, which many files may share.
///
/// `progress` gets the number of bytes written so far.
///
/// # Errors
/// The kernel's (no space, most often), or an interrupt through `stop`.
pub fn lay_out(
    known: &mut Known,
    path: &Path,
    wanted: &Wanted,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<File>, EngineError> {
    // Only candor's own headers are laid out: a job that reads other headers expects existing data.
    let verify = wanted.verify.clone().filter(|verify| verify.format == Format::Own);
    let verify = verify.map(|verify| verify.with_seed_of(wanted.seed));
    let wanted = &Wanted { verify, ..wanted.clone() };
    let metadata = path.metadata().map_err(EngineError::file("lay out", path))?;
    let present = metadata.len();
    // A block that is part hole, part data would lose its data to a header.
    let fills = wanted.fills_holes && present > 0 && wanted.verify.is_none();
    if wanted.layout == Layout::Never || (present >= wanted.size && !fills) {
        return Ok(None);
    }
    let opened = OpenOptions::new().write(true).open(path);
    let file = opened.map_err(EngineError::file("lay out", path))?;
    let pool = known.pool(wanted.seed);
    let mut filled = false;
    if fills {
        let holes = holes(&file, present.min(wanted.size));
        for hole in holes.map_err(EngineError::file("lay out", path))? {
            let written = write_out(&file, hole, wanted, &pool, stop, progress);
            written.map_err(EngineError::file("lay out", path))?;
            filled = true;
        }
        if present >= wanted.size {
            return Ok(filled.then_some(file));
        }
    }
    let made = match wanted.layout {
        Layout::Never => Ok(()),
        Layout::Sparse => file.set_len(wanted.size),
        Layout::Allocate => match allocate(&file, FallocateFlags::empty(), wanted.size) {
            // Where space cannot be reserved, only writing allocates it.
            Err(error) if cannot_allocate(&error) => {
                write_out(&file, present..wanted.size, wanted, &pool, stop, progress)
            }
            result => result,
        },
        Layout::Reserve => match allocate(&file, FallocateFlags::KEEP_SIZE, wanted.size) {
            Err(error) if cannot_allocate(&error) => Ok(()),
            result => result,
        },
        Layout::Needed | Layout::Write => {
            write_out(&file, present..wanted.size, wanted, &pool, stop, progress)
        }
    };
    made.map_err(EngineError::file("lay out", path))?;
    let written = matches!(wanted.layout, Layout::Needed | Layout::Write);
    if let (Some(verify), true, 0) = (&wanted.verify, written, present) {
        known.laid_out(path, wanted.size, verify, &wanted.content);
    }
    Ok(Some(file))
}

/// Empties a file: nothing is known of its blocks any more.
///
/// # Errors
/// The kernel's.
pub fn empty(known: &mut Known, path: &Path) -> Result<(), EngineError> {
    let opened = OpenOptions::new().write(true).truncate(true).open(path);
    opened.map_err(EngineError::file("empty", path))?;
    known.emptied(path);
    Ok(())
}

fn allocate(file: &File, flags: FallocateFlags, size: u64) -> io::Result<()> {
    rustix::fs::fallocate(file, flags, 0, size).map_err(io::Error::from)
}

fn cannot_allocate(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EOPNOTSUPP)
}

/// Holes and unwritten extents of a file up to there.
fn holes(file: &File, end: u64) -> io::Result<Vec<Range<u64>>> {
    let (mut holes, mut at) = (Vec::new(), 0);
    while at < end {
        let hole = rustix::fs::seek(file, SeekFrom::Hole(at))?;
        let data = match rustix::fs::seek(file, SeekFrom::Data(hole)) {
            Err(rustix::io::Errno::NXIO) => end,
            data => data?,
        };
        if hole < end {
            holes.push(hole..data.min(end));
        }
        at = data.max(hole + 1);
    }
    Ok(holes)
}

/// Writes a range of a file, from a whole block of headers on.
fn write_out(
    file: &File,
    range: Range<u64>,
    wanted: &Wanted,
    pool: &Pool,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let origin = Origin {
        seed: wanted.seed,
        plan_seed: wanted.seed,
        rank: (u32::MAX >> 8).into(),
        reads: false,
        blocks: wanted.size / CHUNK_BYTES as u64,
    };
    let mut content = wanted.content.clone();
    if matches!(content.fill, Fill::Once | Fill::Words) {
        // If all parts of a file were equal, reads of it could not be trusted. Words are those of
        // ranks, none of which lays out a file.
        content.fill = Fill::Stamp;
    }
    let mut content = Content::new(content, pool.clone(), &origin);
    let interval = wanted.verify.as_ref().map_or(1, |plan| plan.interval.0.max(1));
    let chunk_bytes = (CHUNK_BYTES as u64).min(wanted.size).next_multiple_of(interval);
    let mut buffer = vec![0; chunk_bytes as usize];
    content.prepare(&mut buffer);
    let mut at = range.start / interval * interval;
    while at < range.end {
        if stop.load(Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let chunk = &mut buffer[..(range.end - at).min(chunk_bytes) as usize];
        content.bytes(chunk, at);
        if let Some(plan) = &wanted.verify {
            seal(chunk, at, plan);
        }
        file.write_all_at(chunk, at)?;
        at += chunk.len() as u64;
        progress(at.saturating_sub(range.start));
    }
    Ok(())
}

/// Writes headers of the first generation into the blocks.
fn seal(chunk: &mut [u8], at: u64, plan: &Verify) {
    let interval = plan.interval.0 as usize;
    for (index, block) in chunk.chunks_exact_mut(interval).enumerate() {
        let offset = at + (index * interval) as u64;
        let seed = plan.seed.unwrap_or_default();
        let as_of = Expected { offset, seed, generation: 1, number: None };
        verify::candor_header::seal(block, &as_of, 0);
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;

    use super::*;

    /// Blocks of a file without a valid header of the run with seed 1.
    fn unsealed(path: &Path, plan: &Verify) -> Vec<usize> {
        let bytes = std::fs::read(path).expect("read");
        let interval = plan.interval.0 as usize;
        let is_wrong = |(index, block): (usize, &[u8])| {
            let offset = (index * interval) as u64;
            let expected = Expected { offset, seed: 1, generation: verify::UNKNOWN, number: None };
            verify::candor_header::check(block, &expected).err().map(|_| index)
        };
        bytes.chunks_exact(interval).enumerate().filter_map(is_wrong).collect()
    }

    #[test]
    fn headers_of_any_interval_are_laid_out_from_any_length() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        for (interval, present) in [(4096, 0), (12 << 10, 0), (2 << 20, 0), (12 << 10, 30_000)] {
            std::fs::write(&path, vec![7; present]).expect("written");
            let plan = Verify { interval: Bytes(interval), ..Verify::default() };
            let wanted = Wanted { verify: Some(plan.clone()), ..Wanted::written(5 << 20, 1) };
            let stop = AtomicBool::new(false);
            let made = lay_out(&mut Known::default(), &path, &wanted, &stop, &mut |_| {});
            assert!(made.expect("laid out").is_some());
            let kept: Vec<usize> = (0..present / interval as usize).collect();
            assert_eq!(unsealed(&path, &plan), kept, "{interval} from {present}");
            assert_eq!(path.metadata().expect("there").len(), wanted.size);
        }
    }

    #[test]
    fn holes_are_filled_and_data_is_kept() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("sparse");
        let file = File::create(&path).expect("made");
        file.set_len(4 << 20).expect("sparse");
        file.write_all_at(&[7; 65536], 1 << 20).expect("written");
        file.sync_all().expect("synced");
        if holes(&file, 4 << 20).expect("asked") != [0..1 << 20, (1 << 20) + 65536..4 << 20] {
            return eprintln!("skipped: this filesystem does not tell its holes");
        }
        let mut wanted = Wanted::written(4 << 20, 1);
        let stop = AtomicBool::new(false);
        let lay_out = |wanted: &Wanted| {
            let made = super::lay_out(&mut Known::default(), &path, wanted, &stop, &mut |_| {});
            made.expect("laid").is_some_and(|file| file.sync_all().is_ok())
        };
        assert!(!lay_out(&wanted), "it is long enough");
        wanted.fills_holes = true;
        assert!(lay_out(&wanted));
        assert_eq!(holes(&file, 4 << 20).expect("asked"), []);
        let bytes = std::fs::read(&path).expect("read");
        assert!(bytes[1 << 20..][..65536].iter().all(|byte| *byte == 7), "data is kept");
        assert_eq!(bytes.len(), 4 << 20);
        assert!(!lay_out(&wanted), "all is there");
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("skipped");
        let wanted = Wanted::written(4096, 1);
        let stop = AtomicBool::new(false);
        let made = lay_out(&mut Known::default(), &path, &wanted, &stop, &mut |_| {});
        assert!(made.is_err() && !path.exists());
    }
}
