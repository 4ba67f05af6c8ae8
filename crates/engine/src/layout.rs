//! Laying files out before they are read.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use candor_plan::Layout;
use candor_plan::blocks::{Content as ContentPlan, Verify};

use crate::content::{self, Content};
use crate::error::EngineError;
use crate::session::Session;
use crate::verify;

/// Bytes per write.
const CHUNK_BYTES: usize = 1 << 20;

/// How a file is to be laid out.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its length.
    pub size: u64,
    /// How its bytes come into being.
    pub layout: Layout,
    /// What they are.
    pub content: ContentPlan,
    /// Headers in them.
    pub verify: Option<Verify>,
    /// The run's seed.
    pub seed: u64,
}

/// Brings a file to its length, keeping what it has; true if anything was made.
///
/// Written bytes are flushed, so that they do not weigh on what follows. `progress` is told the
/// bytes written so far.
///
/// # Errors
/// The kernel's (no space, most often), or an interrupt through `stop`.
pub fn lay_out(
    session: &mut Session,
    path: &Path,
    wanted: &Wanted,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<bool, EngineError> {
    let present = path.metadata().map_or(0, |metadata| metadata.len());
    if wanted.layout == Layout::Never || present >= wanted.size {
        return Ok(false);
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(EngineError::file("create", path))?;
    let made = match wanted.layout {
        Layout::Never => Ok(()),
        Layout::Sparse => file.set_len(wanted.size),
        Layout::Allocate => {
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, wanted.size)
                .map_err(io::Error::from)
        }
        Layout::Write => write_out(&file, present, wanted, stop, progress),
    };
    made.map_err(EngineError::file("lay out", path))?;
    if let (Some(verify), Layout::Write, 0) = (&wanted.verify, wanted.layout, present) {
        session.laid_out(path, wanted.size, verify);
    }
    Ok(true)
}

fn write_out(
    file: &File,
    from: u64,
    wanted: &Wanted,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let pool = content::pool(&wanted.content, wanted.seed);
    let mut content = Content::new(wanted.content, pool, wanted.seed, u32::MAX >> 8);
    let mut buffer = vec![0; CHUNK_BYTES];
    content.prepare(&mut buffer);
    let sealed = wanted.verify.map(|plan| {
        // All blocks are of the first generation.
        (plan, verify::Map::new(wanted.size, plan.interval.0, 1))
    });
    let mut at = from;
    while at < wanted.size {
        if stop.load(Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let chunk = &mut buffer[..(wanted.size - at).min(CHUNK_BYTES as u64) as usize];
        content.bytes(chunk);
        if let Some((plan, map)) = &sealed {
            verify::seal(chunk, at, plan, map);
        }
        file.write_all_at(chunk, at)?;
        at += chunk.len() as u64;
        progress(at - from);
    }
    file.sync_all()
}
