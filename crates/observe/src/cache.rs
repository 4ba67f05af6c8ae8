//! The page cache: how much of a file is in it, and getting it out.
//!
//! The kernel is asked, never believed blindly: eviction is checked afterwards, and the older
//! question (`mincore`) is not put for files of others, for which it answers "all".

mod cachestat;
pub mod mapped;
mod mincore;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use candor_record::CacheState;
use rustix::fs::Advice;

use crate::path::layers::{self, Access};
use crate::path::{files, mounts};
use crate::source::Roots;

pub(crate) use cachestat::is_there as has_cachestat;

/// Rounds of eviction: the first may only start the writing of dirty pages.
const ROUNDS_MAX: u32 = 5;

/// `BLKFLSBUF` of `linux/fs.h`: drops the buffers of a block device; needs `CAP_SYS_ADMIN`.
const BLKFLSBUF: rustix::ioctl::Opcode = rustix::ioctl::opcode::none(0x12, 97);

/// Result of an eviction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Before it.
    pub before: CacheState,
    /// After its last round; bytes still resident are dirty again or mapped by someone.
    pub after: CacheState,
    /// How often the pages had to be dropped, 0 if none were there.
    pub rounds: u32,
}

/// Pages of one file or block device in the page cache.
///
/// # Errors
/// A file cannot be opened, or its pages are not known; the error says why.
pub fn look(path: &Path) -> io::Result<CacheState> {
    let file = holding(path)?;
    of_file(&file).ok_or_else(|| unknown(&file))
}

/// The file that has the pages of a path: below an overlay, the file of the layer that holds it.
pub(crate) fn holding(path: &Path) -> io::Result<File> {
    let file = files::open(path)?;
    if !is_on_overlay(&file) {
        return Ok(file);
    }
    let (roots, real) = (Roots::default(), std::fs::canonicalize(path)?);
    let mounts = mounts::read(&roots);
    let held = layers::holding(&real, Access::Read, &mounts, &roots);
    Ok(held.and_then(|held| files::open(&held.path).ok()).unwrap_or(file))
}

fn is_on_overlay(file: &File) -> bool {
    /// `OVERLAYFS_SUPER_MAGIC` of `linux/magic.h`.
    const OVERLAY: u64 = 0x794c_7630;
    rustix::fs::fstatfs(file).is_ok_and(|on| on.f_type as u64 == OVERLAY)
}

/// Two states together; what either does not know, the sum does not.
pub fn add(sum: Option<CacheState>, one: &CacheState) -> CacheState {
    let Some(sum) = sum else { return *one };
    let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    CacheState {
        size_bytes: sum.size_bytes.saturating_add(one.size_bytes),
        resident_bytes: sum.resident_bytes.saturating_add(one.resident_bytes),
        dirty_bytes: both(sum.dirty_bytes, one.dirty_bytes),
        writeback_bytes: both(sum.writeback_bytes, one.writeback_bytes),
    }
}

/// Pages of an open file in the page cache.
pub(crate) fn of_file(file: &File) -> Option<CacheState> {
    let size = files::size(file).ok()?;
    cachestat::ask(file, 0, 0, size).or_else(|| mincore::ask(file, 0, size))
}

/// Pages of a part of an open file in the page cache; offset and length on page boundaries.
pub(crate) fn of_range(file: &File, offset: u64, length: u64) -> Option<CacheState> {
    if length == 0 {
        return Some(CacheState::default());
    }
    cachestat::ask(file, offset, length, length).or_else(|| mincore::ask(file, offset, length))
}

/// Drops a file or block device from the page cache: sync, advise, look, and again, up to five
/// times. Dirty pages are written, not lost. Fails where the cache cannot be looked at, because
/// then nobody knows what was achieved.
pub fn evict(path: &Path) -> io::Result<Evicted> {
    let file = holding(path)?;
    let look = || of_file(&file).ok_or_else(|| unknown(&file));
    let before = look()?;
    let mut evicted = Evicted { before, after: before, rounds: 0 };
    // Pages of a file below a hidden overlay layer cannot be read.
    let is_hidden = is_on_overlay(&file);
    while (evicted.after.resident_bytes > 0 || is_hidden && evicted.rounds == 0)
        && evicted.rounds < ROUNDS_MAX
    {
        evicted.rounds += 1;
        drop_pages(&file, evicted.rounds)?;
        evicted.after = look()?;
    }
    Ok(evicted)
}

/// Reads a file or block device from begin to end, so that it is in the page cache, as far as
/// `go_on` lets it. What was really kept only another look tells.
///
/// # Errors
/// The file cannot be opened or read.
pub fn warm(path: &Path, go_on: &dyn Fn() -> bool) -> io::Result<()> {
    /// Large enough for the readahead of any device, small enough to be interrupted.
    const CHUNK_BYTES: usize = 1 << 20;
    let mut file = files::open(path)?;
    let mut buffer = vec![0; CHUNK_BYTES];
    while go_on() {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn unknown(file: &File) -> io::Error {
    if mincore::is_own(file) {
        io::Error::new(io::ErrorKind::Unsupported, "its page cache cannot be looked at")
    } else {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            "this user cannot write it, and the kernel does not report cached pages of such files",
        )
    }
}

fn drop_pages(file: &File, round: u32) -> io::Result<()> {
    match file.sync_all() {
        // Filesystems that cannot be written to (erofs, squashfs) do without this call.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        done => done?,
    }
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?;
    // Buffers of a device can pin its pages; root may have them dropped. Where that is refused,
    // what stays is seen at the next look.
    if round > 1 && file.metadata()?.file_type().is_block_device() {
        // SAFETY: this request takes no argument; the descriptor is open.
        unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF as _, 0) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SIZE: u64 = 1 << 20;

    fn written() -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&vec![7; SIZE as usize]).expect("written");
        file
    }

    #[test]
    fn written_pages_are_resident_until_evicted() {
        let file = written();
        let Ok(before) = look(file.path()) else { return eprintln!("skipped: no answer here") };
        assert_eq!((before.size_bytes, before.resident_bytes), (SIZE, SIZE));
        let evicted = evict(file.path()).expect("evicted");
        assert_eq!(evicted.before.resident_bytes, SIZE);
        assert!(evicted.rounds >= 1);
        let kept_in_memory = crate::path::mounts::read(&crate::source::Roots::default());
        let mount = crate::path::layers::mount_of(
            file.path(),
            &kept_in_memory,
            &crate::source::Roots::default(),
        );
        if !mount.is_some_and(crate::path::mounts::Mount::is_in_memory) {
            assert_eq!(evicted.after.resident_bytes, 0, "{evicted:?}");
            assert_eq!(evict(file.path()).expect("again").rounds, 0);
        }
    }

    /// Pages of a file on an overlay belong to the file in its layer.
    #[test]
    fn the_layer_of_an_overlay_has_the_pages() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        for name in ["lower", "upper", "work", "all"] {
            std::fs::create_dir(at(name)).expect("made");
        }
        std::fs::write(at("lower/f"), vec![7; SIZE as usize]).expect("written");
        let layers =
            ["lower", "upper", "work"].map(|name| format!("{name}dir={}", at(name).display()));
        let options = layers.join(",");
        let mount = |words: &[&str]| {
            let all = at("all").display().to_string();
            std::process::Command::new(words[0]).args(&words[1..]).arg(all).output()
        };
        let made = mount(&["mount", "-t", "overlay", "overlay", "-o", &options]);
        if !made.is_ok_and(|made| made.status.success()) {
            return eprintln!("skipped: no overlay can be mounted here");
        }
        let found = look(&at("all/f"));
        let evicted = evict(&at("all/f"));
        let below = look(&at("lower/f"));
        mount(&["umount"]).expect("unmounted");
        let Ok(found) = found else { return eprintln!("skipped: no answer here") };
        assert_eq!(found.resident_bytes, SIZE);
        assert!(evicted.expect("evicted").rounds >= 1);
        // Layers in memory keep them.
        let kept = is_on_memory(dir.path());
        assert_eq!(below.expect("known").resident_bytes, if kept { SIZE } else { 0 });
    }

    fn is_on_memory(path: &Path) -> bool {
        let (roots, mounts) = (Roots::default(), mounts::read(&Roots::default()));
        layers::mount_of(path, &mounts, &roots).is_some_and(mounts::Mount::is_in_memory)
    }

    #[test]
    fn files_of_a_filesystem_without_fsync_are_evicted() {
        let file = File::open("/proc/version").expect("open");
        assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EINVAL));
        drop_pages(&file, 1).expect("dropped");
    }

    #[test]
    fn both_questions_get_the_same_answer() {
        let file = written();
        let file = File::open(file.path()).expect("open");
        let half = SIZE / 2;
        let by_mincore = mincore::ask(&file, half, half).expect("our own file");
        assert_eq!(by_mincore.resident_bytes, half);
        if let Some(by_cachestat) = cachestat::ask(&file, half, half, half) {
            assert_eq!(by_cachestat.resident_bytes, half);
            assert!(by_cachestat.dirty_bytes.is_some());
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_not_cached() {
        let nowhere = Path::new("/nowhere/at/all");
        assert!(evict(nowhere).is_err() && look(nowhere).is_err());
    }

    #[test]
    fn what_was_evicted_is_warm_after_reading() {
        let file = written();
        if evict(file.path()).is_err() {
            return eprintln!("skipped: no answer here");
        }
        warm(file.path(), &|| true).expect("read");
        assert_eq!(look(file.path()).expect("told").resident_bytes, SIZE);
    }
}
