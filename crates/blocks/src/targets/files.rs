//! Opening the files of a job.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind::NotFound;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use candor_bytes::advice::advise;
use candor_engine::names::{Named, named};
use candor_plan::blocks::{Access, Advice, Blocks, Engine, OpenSync, Pieces, Share, WriteLife};
use candor_plan::{Bytes, Create, Job, Layout, PathText, Plan, Stop, Target, TargetKind, path_of};
use rustix::fs::{Advice as Fadvise, AtFlags, StatxFlags, statx};

use crate::stream::region::Extent;
use crate::targets::descriptors;
use crate::targets::passthrough::{self, Device};
use candor_engine::EngineError;
use candor_engine::operation::Outcome;

/// An open file or device.
#[derive(Debug)]
pub struct OpenFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Offset of the first byte that the plan uses.
    pub base: u64,
    /// One past the last byte that the plan uses.
    pub size: u64,
    /// True for a block device, and for one that takes commands.
    pub is_device: bool,
    /// The device that takes commands past the block layer, where the engine sends such.
    pub device: Option<Device>,
    /// True where a trim resets a zone.
    pub in_zones: bool,
    /// Index of its target among those of the job.
    pub target: u32,
    handle: Option<File>,
    /// Descriptor for system calls; -1 where it is not open. A file that a worker opens for itself
    /// has no handle, and only that worker uses its descriptor.
    descriptor: AtomicI32,
    /// Options of the open call, for users that need a descriptor of their own.
    opening: Opening,
}

/// Options of the open call.
#[derive(Clone, Debug, Default)]
struct Opening {
    flags: libc::c_int,
    writes: bool,
    /// A file that is not there is made.
    creates: bool,
    advice: Pieces<Advice>,
    write_life: Option<WriteLife>,
}

impl Opening {
    fn of(target: &Target, blocks: &Blocks) -> Opening {
        let mut flags = libc::O_CLOEXEC;
        // Commands know no such flag.
        if is_direct(blocks) {
            flags |= libc::O_DIRECT;
        }
        flags |= match blocks.durability.open {
            OpenSync::None => 0,
            OpenSync::Dsync => libc::O_DSYNC,
            OpenSync::Sync => libc::O_SYNC,
        };
        let writes = blocks.destroys().is_some();
        Opening {
            flags,
            writes,
            creates: writes && blocks.opening.is_in_phase() && target.create != Create::Nothing,
            advice: blocks.hints.advice.clone(),
            write_life: blocks.hints.write_life,
        }
    }

    /// Options of the system call. A mapping for writing must be readable too.
    fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).write(self.writes).custom_flags(self.flags);
        options
    }
}

fn is_direct(blocks: &Blocks) -> bool {
    blocks.direct && !blocks.engine.is_passthrough()
}

impl OpenFile {
    /// Part of the file that the plan uses.
    pub fn extent(&self) -> Extent {
        Extent { base: self.base, size: self.size.saturating_sub(self.base) }
    }

    /// Greatest possible end of its bytes: there may be less room than the plan uses.
    pub fn reach(&self) -> u64 {
        self.reach_of(self.size)
    }

    /// The same for a user of the file that uses that many bytes of it.
    pub fn reach_of(&self, size: u64) -> u64 {
        let Some(handle) = self.handle.as_ref().filter(|_| !self.is_device) else {
            return size;
        };
        let present = handle.metadata().map_or(0, |metadata| metadata.len());
        let room = rustix::fs::fstatvfs(handle).map(|fs| fs.f_bfree.saturating_mul(fs.f_frsize));
        room.map_or(size, |room| size.min(present.saturating_add(room)))
    }

    /// Flushes what was written, past the block layer where it was written so; none for the null
    /// target.
    pub fn flush(&self) -> Option<std::io::Result<()>> {
        let handle = self.handle.as_ref()?;
        Some(match &self.device {
            Some(device) => device.flush(handle),
            None => handle.sync_all(),
        })
    }

    /// Number of which offsets and lengths of direct I/O are multiples, where the kernel tells it.
    pub fn direct_unit(&self) -> Option<u64> {
        if let Some(device) = &self.device {
            return Some(device.unit());
        }
        let handle = self.handle.as_ref()?;
        let stat = statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
        let is_known = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
        Some(u64::from(stat.stx_dio_offset_align)).filter(|unit| is_known && *unit > 0)
    }

    /// Drops the pages that can be dropped at once.
    pub fn invalidate(&self) {
        if let Some(handle) = &self.handle {
            drop_pages(handle, self.is_device);
        }
    }

    /// Descriptor for system calls; -1 for the null target.
    #[inline(always)]
    pub fn raw(&self) -> RawFd {
        self.descriptor.load(Relaxed)
    }

    /// Opens the file for the calling worker, and makes it where it is to be made.
    #[cold]
    pub fn open_in_phase(&self) -> Outcome {
        let Opening { creates, advice, write_life, .. } = &self.opening;
        let opened = self.opening.options().create(*creates).open(&self.path).and_then(|file| {
            advise(&file, &advice.0);
            write_life.map_or(Ok(()), |life| hint_life(&file, life))?;
            Ok(file)
        });
        match opened {
            Ok(file) => {
                self.descriptor.store(file.into_raw_fd(), Relaxed);
                Outcome::Done(0)
            }
            Err(error) => Outcome::error(error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }

    /// Closes the file that the calling worker opened.
    #[cold]
    pub fn close_in_phase(&self) -> Outcome {
        let descriptor = self.descriptor.swap(-1, Relaxed);
        // SAFETY: the descriptor is the worker's own, and nobody has it any more.
        Outcome::of_call(unsafe { libc::close(descriptor) } as isize)
    }

    /// Makes a file as long as the plan uses it, where it is shorter.
    ///
    /// # Errors
    /// The kernel's.
    pub fn reach_size(&self) -> std::io::Result<()> {
        // SAFETY: the descriptor is open and the worker's own.
        let file = unsafe { BorrowedFd::borrow_raw(self.raw()) };
        let present = rustix::fs::fstat(file)?.st_size as u64;
        if present < self.size { Ok(rustix::fs::ftruncate(file, self.size)?) } else { Ok(()) }
    }

    /// The same file, for a worker that opens it for itself.
    fn unopened(&self) -> OpenFile {
        OpenFile {
            path: self.path.clone(),
            handle: None,
            descriptor: AtomicI32::new(-1),
            opening: self.opening.clone(),
            ..*self
        }
    }

    /// Handle of the file; none for the null target.
    pub fn handle(&self) -> Option<&File> {
        self.handle.as_ref()
    }

    /// Target on which no byte moves.
    fn null(target: &Target) -> OpenFile {
        // Offsets need a range; its size changes only their numbers.
        let size = target.size.map_or(1 << 40, |size| size.0);
        OpenFile {
            path: target.path.clone(),
            base: 0,
            size,
            is_device: false,
            device: None,
            in_zones: false,
            target: 0,
            handle: None,
            descriptor: AtomicI32::new(-1),
            opening: Opening::default(),
        }
    }

    /// Opens the same file again, with a file position of its own; none for the null target.
    ///
    /// # Errors
    /// The kernel's.
    pub fn reopen(&self) -> Result<Option<File>, EngineError> {
        if self.handle.is_none() {
            return Ok(None);
        }
        // This path leads to the open file itself, whatever is at its old path by now.
        let path = format!("/proc/self/fd/{}", self.raw());
        let handle = self.opening.options().open(path);
        let handle = handle.map_err(EngineError::file("open once more", &self.path))?;
        advise(&handle, &self.opening.advice.0);
        Ok(Some(handle))
    }
}

/// The files of a job, opened once and shared by its workers; or those of a worker that opens them
/// for itself.
#[derive(Debug)]
pub struct Files(Vec<OpenFile>);

/// Closes what a worker opened and did not close.
impl Drop for Files {
    fn drop(&mut self) {
        for file in self.0.iter().filter(|file| file.handle.is_none() && file.raw() >= 0) {
            file.close_in_phase();
        }
    }
}

impl Files {
    /// The same files, for a worker that opens them for itself.
    pub fn unopened(&self) -> Files {
        Files(self.0.iter().map(OpenFile::unopened).collect())
    }

    /// File of that index.
    #[inline(always)]
    pub fn get(&self, index: u32) -> &OpenFile {
        &self.0[index as usize]
    }

    /// All files.
    pub fn all(&self) -> &[OpenFile] {
        &self.0
    }

    /// All descriptors, in order.
    pub fn raw(&self) -> Vec<RawFd> {
        self.0.iter().map(OpenFile::raw).collect()
    }

    /// Opens all files of a job. Creates none: the caller that prepares a phase creates the files,
    /// and knows which ones are its own.
    ///
    /// # Errors
    /// A file that is missing, cannot be opened, or is shorter than the plan's size.
    pub fn open(
        plan: &Plan,
        job: &Job,
        blocks: &Blocks,
        stop: &Stop,
    ) -> Result<Files, EngineError> {
        // Operations of segments that are counted may end before what is not there; a read that
        // meets the end of its file fails.
        let may_be_short = stop.ops.is_some() && matches!(blocks.share, Share::Segments { .. });
        let mut files = Vec::new();
        let known = plan.targets_by_name();
        let targets = (0..).zip(&job.targets);
        for (index, name) in targets {
            let Some(target) = known.get(name.as_str()).copied() else { continue };
            if is_null(target, blocks) {
                files.extend((0..target.files_named()).map(|nth| {
                    let file = OpenFile::null(target);
                    let path = object_path(plan, blocks, target, nth);
                    OpenFile { target: index, path: path.unwrap_or(file.path.clone()), ..file }
                }));
                continue;
            }
            for named in named(target) {
                let file = if is_to_be_made(&named, target, blocks) {
                    not_made_yet(&named, target, job, blocks)?
                } else {
                    open_one(&named, target, job, blocks)?
                };
                if target.kind == TargetKind::Existing && file.file.size < longest(blocks) {
                    continue;
                }
                let file =
                    file.fit(target, blocks, may_be_short).map_err(|(message, remedy)| {
                        EngineError::Unfit { job: job.name.clone(), message, remedy: remedy.into() }
                    })?;
                files.push(OpenFile { target: index, ..file });
            }
        }
        if files.is_empty() {
            return Err(EngineError::Unfit {
                job: job.name.clone(),
                message: "it has no file to work on".into(),
                remedy: "name one that exists, or a directory that has some".into(),
            });
        }
        Ok(Files(files))
    }
}

/// Length of the longest operation in bytes.
fn longest(blocks: &Blocks) -> u64 {
    let used = blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    used.map(|(_, size)| size.max().0).max().unwrap_or(0)
}

/// Path of a file whose bytes are in objects: `/BUCKET/KEY`.
fn object_path(plan: &Plan, blocks: &Blocks, target: &Target, nth: u64) -> Option<PathBuf> {
    let bucket = plan.bucket(blocks.bucket.as_deref()?)?;
    let key = target.key_of(nth, &bucket.bucket);
    Some(path_of(&format!("/{}/{}{key}", bucket.bucket, bucket.prefix.before)))
}

/// True where no byte of a file moves, so that no file is opened.
pub fn is_null(target: &Target, blocks: &Blocks) -> bool {
    target.kind == TargetKind::Null || !blocks.uses_targets()
}

/// True for a file that is not there and that a worker makes as it opens it.
fn is_to_be_made(named: &Named, target: &Target, blocks: &Blocks) -> bool {
    let is_absent = || named.path.symlink_metadata().is_err_and(|e| e.kind() == NotFound);
    Opening::of(target, blocks).creates && is_absent()
}

/// A file that a worker makes as it opens it.
fn not_made_yet(
    named: &Named,
    target: &Target,
    job: &Job,
    blocks: &Blocks,
) -> Result<Opened, EngineError> {
    let Some(size) = named.size else {
        return Err(EngineError::Unfit {
            job: job.name.clone(),
            message: format!("`{}` is made in the phase, and has no size", named.path.text()),
            remedy: "set the size of the target".into(),
        });
    };
    let opening = Opening::of(target, blocks);
    let path = named.path.clone();
    let file = OpenFile { path, size, opening, ..OpenFile::null(target) };
    Ok(Opened { file, present: 0 })
}

fn open_one(
    named: &Named,
    target: &Target,
    job: &Job,
    blocks: &Blocks,
) -> Result<Opened, EngineError> {
    let path = &named.path;
    let opening = Opening::of(target, blocks);
    let handle = descriptors::open(&opening.options(), path, attempt(is_direct(blocks)))?;
    let device = commanded(&handle, path, blocks).map_err(|(message, remedy)| {
        EngineError::Unfit { job: job.name.clone(), message, remedy: remedy.into() }
    })?;
    let sized = handle.metadata().and_then(|metadata| {
        let is_device = device.is_some() || metadata.file_type().is_block_device();
        let length = device.map_or_else(|| length(&handle, is_device), |d| Ok(d.bytes()));
        Ok((is_device, length?))
    });
    let (is_device, present) = sized.map_err(EngineError::file("find the size of", path))?;
    // A device has no bytes behind its end.
    let base = if target.append && !is_device { present } else { 0 };
    let size = named.size.map_or(present, |size| base.saturating_add(size));
    if blocks.hints.invalidate {
        drop_pages(&handle, is_device);
    }
    advise(&handle, &blocks.hints.advice.0);
    if let Some(life) = blocks.hints.write_life {
        hint_life(&handle, life).map_err(EngineError::file("hint at the life of data in", path))?;
    }
    // A file that workers open for themselves was only looked at.
    let handle = Some(handle).filter(|_| !blocks.opening.is_in_phase());
    let descriptor = AtomicI32::new(handle.as_ref().map_or(-1, AsRawFd::as_raw_fd));
    let path = path.to_owned();
    let in_zones = blocks.zones.is_some();
    let target = 0;
    let file = OpenFile {
        path,
        base,
        size,
        is_device,
        device,
        in_zones,
        target,
        handle,
        descriptor,
        opening,
    };
    Ok(Opened { file, present })
}

/// The device behind a file that is to take commands, or the reason why it and the engine do not
/// fit; none where the engine sends no commands.
fn commanded(
    handle: &File,
    path: &Path,
    blocks: &Blocks,
) -> Result<Option<Device>, (String, &'static str)> {
    const MEMORY: u32 = 1;
    if blocks.engine.is_passthrough() {
        let device = Device::identify(handle, &blocks.engine);
        return device.map(Some).map_err(|e| passthrough::refusal(path, &blocks.engine, &e));
    }
    // Behind those of memory (`null`, `zero`) are no commands.
    let is_generic = handle.metadata().is_ok_and(|about| {
        about.file_type().is_char_device() && rustix::fs::major(about.rdev()) != MEMORY
    });
    if is_generic {
        Err((
            format!(
                "`{}` takes commands, which {} does not send",
                path.text(),
                blocks.engine.name()
            ),
            "set engine = \"io_uring_cmd\" for NVMe, \"sg\" for SCSI, or name the block device",
        ))
    } else {
        Ok(None)
    }
}

/// An open file with its length.
struct Opened {
    file: OpenFile,
    present: u64,
}

impl Opened {
    /// Open file, if it can have the plan's size; otherwise the mismatch and the remedy.
    fn fit(
        self,
        target: &Target,
        blocks: &Blocks,
        may_be_short: bool,
    ) -> Result<OpenFile, (String, &'static str)> {
        let Opened { file, present } = self;
        // Writes extend a file, but never a device.
        let reads =
            blocks.mix.read > 0 && blocks.moves_bytes() || blocks.engine.is_kind_of(Engine::MMAP);
        // A trace may read bytes that it has written before.
        let grows = matches!(blocks.access, Access::Trace(_)) && blocks.mix.write > 0;
        // A worker that makes a file makes it as long as its mapping.
        let grows = grows || (file.opening.creates && blocks.mix.read == 0);
        let grows = grows || may_be_short;
        let is_fixed = file.is_device || (reads && !grows && target.layout == Layout::Never);
        if file.size > present && is_fixed {
            let (path, size, present) = (file.path.text(), Bytes(file.size), Bytes(present));
            let message = format!("size is {size}, and `{path}` has {present}");
            return Err((message, "set a smaller size, or remove it to use all there is"));
        }
        Ok(file)
    }
}

fn attempt(direct: bool) -> &'static str {
    if direct { "open with O_DIRECT" } else { "open" }
}

/// Length of a file or device.
fn length(file: &File, is_device: bool) -> std::io::Result<u64> {
    if is_device {
        return rustix::fs::seek(file, rustix::fs::SeekFrom::End(0)).map_err(Into::into);
    }
    let metadata = file.metadata()?;
    // Character devices have no end.
    Ok(if metadata.file_type().is_char_device() { u64::MAX } else { metadata.len() })
}

/// Drops clean pages. This is a hint only: a caller that needs certainty evicts them.
fn drop_pages(file: &File, is_device: bool) {
    const BLKFLSBUF: libc::Ioctl = 0x1261;
    if is_device {
        // SAFETY: the ioctl takes no argument; without permission it does nothing.
        unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF, 0) };
    }
    let _ = rustix::fs::fadvise(file, 0, None, Fadvise::DontNeed);
}

/// Sets the file's write-life hint.
fn hint_life(file: &File, life: WriteLife) -> std::io::Result<()> {
    const F_SET_RW_HINT: libc::c_int = 1036;
    let hint: u64 = match life {
        WriteLife::None => 1,
        WriteLife::Short => 2,
        WriteLife::Medium => 3,
        WriteLife::Long => 4,
        WriteLife::Extreme => 5,
    };
    // SAFETY: the kernel reads the number, which outlives the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), F_SET_RW_HINT, &raw const hint) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
impl Files {
    /// Files that are devices for commands, without descriptors.
    pub fn of_devices(devices: &[Device]) -> Files {
        let target = Target::default();
        let files = devices.iter();
        let files =
            files.map(|device| OpenFile { device: Some(*device), ..OpenFile::null(&target) });
        Files(files.collect())
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;

    use super::*;

    fn open(
        path: &std::path::Path,
        size: u64,
        layout: Layout,
        mix: Mix,
    ) -> Result<Files, EngineError> {
        let target =
            Target { path: path.into(), size: Some(Bytes(size)), layout, ..Target::default() };
        let job = Job { targets: vec![target.name.clone()], ..Job::default() };
        let plan = Plan { targets: vec![target], ..Plan::default() };
        Files::open(&plan, &job, &Blocks { mix, ..Blocks::default() }, &Stop::default())
    }

    #[test]
    fn nothing_is_created() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("skipped");
        assert!(open(&path, 4096, Layout::Write, Mix::WRITE).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn commands_are_for_devices_that_take_them() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (engine, word) in [(Engine::IO_URING_CMD, "no NVMe commands"), (Engine::SG, "no SCSI")]
        {
            let target = Target { path: file.path().into(), ..Target::default() };
            let job = Job { targets: vec![target.name.clone()], ..Job::default() };
            let plan = Plan { targets: vec![target], ..Plan::default() };
            let blocks = Blocks { engine, direct: true, ..Blocks::default() };
            let refused =
                Files::open(&plan, &job, &blocks, &Stop::default()).expect_err("a file takes none");
            assert!(refused.to_string().contains(word), "{refused}");
        }
    }

    #[test]
    fn appending_begins_behind_what_is_there() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        std::fs::write(&path, [0; 1000]).expect("written");
        let target = Target { path, size: Some(Bytes(4096)), append: true, ..Target::default() };
        let job = Job { targets: vec![target.name.clone()], ..Job::default() };
        let plan = Plan { targets: vec![target], ..Plan::default() };
        let blocks = Blocks { mix: Mix::WRITE, ..Blocks::default() };
        let files = Files::open(&plan, &job, &blocks, &Stop::default()).expect("opened");
        assert_eq!((files.get(0).base, files.get(0).size), (1000, 5096));
    }

    #[test]
    fn reads_end_where_the_file_does() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        std::fs::write(&path, [0; 4096]).expect("written");
        let sentence = open(&path, 8192, Layout::Never, Mix::READ).expect_err("too short");
        assert!(sentence.to_string().contains("has 4KiB"), "{sentence}");
        for (size, mix) in [(4096, Mix::READ), (8192, Mix::WRITE)] {
            let files = open(&path, size, Layout::Never, mix).expect("opened");
            assert_eq!(files.get(0).size, size);
        }
    }
}
