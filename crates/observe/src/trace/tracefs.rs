//! Tracepoints in tracefs: their numbers, and where the fields of their records are.
//!
//! Where nobody mounted it, it is mounted in a name space of a thread's own, so that the host stays
//! as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

/// The tracepoints of the block layer.
#[derive(Clone, Debug)]
pub struct Formats {
    pub issue: Format,
    pub complete: Format,
    pub requeue: Format,
    pub queue: Format,
    /// Not all kernels tell of splits.
    pub split: Option<Format>,
}

/// A tracepoint: its number, and where its record has the fields, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pub id: u64,
    pub dev: i16,
    pub sector: i16,
    /// How many sectors; a split has none.
    pub sectors: Option<i16>,
    /// Operation and flags, in letters.
    pub rwbs: i16,
    /// How many letters there is room for.
    pub letters: i16,
    /// The name of the thread, where the record has it.
    pub comm: Option<i16>,
}

impl Formats {
    /// Of the running kernel.
    pub fn read(sys: &Path) -> io::Result<Formats> {
        let at = |root: &Path| root.join("events/block");
        for known in ["kernel/tracing", "kernel/debug/tracing"] {
            let block = at(&sys.join(known));
            if block.is_dir() {
                return Formats::of(&block);
            }
        }
        let root = sys.join("kernel/tracing");
        thread::scope(|scope| {
            let named = thread::Builder::new().name("candor/trace".into());
            let reading = named.spawn_scoped(scope, || {
                mount_privately("tracefs", &root)?;
                Formats::of(&at(&root))
            })?;
            reading.join().map_err(|_| io::Error::other("reading tracefs failed"))?
        })
    }

    fn of(block: &Path) -> io::Result<Formats> {
        Ok(Formats {
            issue: format_of(block, "block_rq_issue")?,
            complete: format_of(block, "block_rq_complete")?,
            requeue: format_of(block, "block_rq_requeue")?,
            queue: format_of(block, "block_bio_queue")?,
            split: format_of(block, "block_split").ok(),
        })
    }
}

fn format_of(block: &Path, event: &str) -> io::Result<Format> {
    let path: PathBuf = block.join(event).join("format");
    let text = fs::read_to_string(&path)?;
    parse(&text).ok_or_else(|| io::Error::other(format!("{} is odd", path.display())))
}

/// Mounts a file system of the kernel for this thread alone, which keeps the name space.
pub fn mount_privately(kind: &str, at: &Path) -> io::Result<()> {
    // SAFETY: a thread's own name space of mounts, and with it its own working directory, touches
    // no memory; other threads keep theirs.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let none: Option<&std::ffi::CStr> = None;
    Ok(mount(kind, at, kind, MountFlags::empty(), none)?)
}

/// Reads a `format` file; none if it lacks a field that is needed.
fn parse(text: &str) -> Option<Format> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
    // `field:char rwbs[8]; offset:32; size:8; signed:0;`
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (declared, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
            let called = declared.split(' ').next_back()?.split('[').next()?;
            let number = |key: &str| {
                let (_, rest) = rest.split_once(key)?;
                rest.split(';').next()?.parse::<i16>().ok()
            };
            (called == name).then_some((number("offset:")?, number("size:")?))
        })
    };
    let (rwbs, letters) = field("rwbs")?;
    Some(Format {
        id,
        dev: field("dev")?.0,
        sector: field("sector")?.0,
        sectors: field("nr_sector").map(|(at, _)| at),
        rwbs,
        letters,
        comm: field("comm").map(|(at, _)| at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_read_as_the_kernel_prints_it() {
        let text = "name: block_rq_complete\nID: 2107\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
            \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
            \tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;\n";
        let (dev, sector, sectors) = (8, 16, Some(24));
        let format = Format { id: 2107, dev, sector, sectors, rwbs: 34, letters: 10, comm: None };
        assert_eq!(parse(text), Some(format));
        assert_eq!(parse("ID: 7\nformat:\n"), None);
    }
}
