//! The writer of results.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::identity::Place;
use crate::in_use::{check, check_open, claim};

/// Tries of a free name for a new file.
const NAMES_MAX: u32 = 1000;

/// A file that is being written and takes its name at the end.
pub struct Replacement {
    path: PathBuf,
    out: BufWriter<File>,
    kind: Kind,
}

enum Kind {
    /// Character device, pipe or descriptor.
    Stream,
    /// The old file, where its directory takes no new one.
    InPlace,
    /// A new file next to the old one.
    Beside { part: PathBuf, to: PathBuf, old: Option<File> },
    /// Done.
    Ended,
}

/// Begins a file; the old one stays until [`Replacement::commit`].
///
/// # Errors
/// The file is refused, see [`crate::claim`]; or the kernel's answer.
pub fn create(path: &Path) -> io::Result<Replacement> {
    check(path)?;
    let place = Place::find(path)?;
    let to = place.path();
    let metadata = to.metadata().ok();
    let is_stream = place.is_descriptor || metadata.as_ref().is_some_and(|old| !old.is_file());
    if is_stream {
        let file = match own_stream(&place) {
            Some(stream) => stream?,
            None => opened(path, OpenOptions::new().append(true))?,
        };
        return Ok(Replacement::new(path, file, Kind::Stream));
    }
    // A file that must not be written is not replaced either.
    let old = match metadata {
        Some(_) => Some(opened(path, OpenOptions::new().write(true))?),
        None => None,
    };
    match new_file(&place.directory) {
        Ok((part, file)) => {
            let ready = old.as_ref().map_or(Ok(()), |old| like(&file, &old.metadata()?));
            let whole = Replacement::new(path, file, Kind::Beside { part, to, old });
            ready.map(|()| whole)
        }
        Err(error) => match old {
            Some(old) => Ok(Replacement::new(path, old, Kind::InPlace)),
            None => Err(error),
        },
    }
}

/// Claims a file for results before anything runs, and tries whether it can be made.
///
/// # Errors
/// As [`create`].
pub fn prepare(path: &Path) -> io::Result<()> {
    claim(path)?;
    let place = Place::find(path)?;
    // Opening a pipe would wait for its reader.
    let is_stream =
        place.is_descriptor || path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir());
    if is_stream { Ok(()) } else { create(path).map(drop) }
}

/// Writes a file whole: the old one stays until the new one is durable.
///
/// # Errors
/// As [`create`].
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes.as_ref())?;
    file.commit()
}

/// Opens a file that lines are added to.
///
/// # Errors
/// As [`create`].
pub fn append(path: &Path) -> io::Result<File> {
    check(path)?;
    opened(path, OpenOptions::new().append(true).create(true))
}

/// Opens and empties a file that others read while it is written.
///
/// # Errors
/// As [`create`].
pub fn stream(path: &Path) -> io::Result<File> {
    check(path)?;
    let file = opened(path, OpenOptions::new().write(true).create(true).truncate(false))?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Standard output or standard error of this process: what is written follows what was written.
fn own_stream(place: &Place) -> Option<io::Result<File>> {
    let process = place.directory.parent()?.file_name()?.to_str()?;
    if !place.is_descriptor || process != std::process::id().to_string() {
        return None;
    }
    let stream = match place.name.to_str()? {
        "1" => io::stdout().as_fd().try_clone_to_owned(),
        "2" => io::stderr().as_fd().try_clone_to_owned(),
        _ => return None,
    };
    Some(stream.map(File::from))
}

/// Opens a file and checks what was opened: a link may have come between.
fn opened(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOCTTY).open(path)?;
    check_open(path, &file.metadata()?)?;
    Ok(file)
}

/// Makes a file under a free name.
fn new_file(directory: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let mut tried = 0;
    loop {
        let number = NEXT.fetch_add(1, Relaxed);
        let part = directory.join(format!(".candor-new-{process}-{number}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).custom_flags(libc::O_NOFOLLOW);
        match options.open(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < NAMES_MAX => {
                tried += 1;
            }
            opened => return Ok((part, opened?)),
        }
    }
}

/// Gives a new file the mode and the owners of the old one.
fn like(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away; the new file is the user's own then.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    if new.mode() != old.mode() {
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))?;
    }
    Ok(())
}

impl Replacement {
    fn new(path: &Path, file: File, kind: Kind) -> Replacement {
        Replacement { path: path.to_owned(), out: BufWriter::new(file), kind }
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// As [`create`]; the old file is whole then.
    pub fn commit(mut self) -> io::Result<()> {
        self.out.flush()?;
        match &self.kind {
            Kind::Stream | Kind::Ended => {}
            Kind::InPlace => {
                let file = self.out.get_mut();
                let end = io::Seek::stream_position(file)?;
                file.set_len(end)?;
                durable(file)?;
            }
            Kind::Beside { part, to, old } => {
                durable(self.out.get_ref())?;
                // A link may have come while the file was written.
                check(&self.path)?;
                match (fs::rename(part, to), old) {
                    (Err(error), Some(old)) if is_mount_point(&error) => copy(part, old)?,
                    (renamed, _) => renamed?,
                }
                if let Some(Ok(directory)) = to.parent().map(File::open) {
                    durable(&directory)?;
                }
                let _ = fs::remove_file(part);
            }
        }
        self.kind = Kind::Ended;
        Ok(())
    }
}

/// A file that is a mount point of its own, as in containers, keeps its inode.
fn is_mount_point(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EXDEV))
}

fn copy(part: &Path, mut to: &File) -> io::Result<()> {
    let bytes = io::copy(&mut File::open(part)?, &mut to)?;
    to.set_len(bytes)?;
    durable(to)
}

/// Flushes a file to its device, where its filesystem can.
fn durable(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => Ok(()),
        done => done,
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Kind::Beside { part, .. } = &self.kind {
            // A name of this process alone.
            let _ = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests;
