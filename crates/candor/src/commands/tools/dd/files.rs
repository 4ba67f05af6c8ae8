//! The two files of a copy.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use candor_copy::process;
use candor_dd::options::{Distance, Options};
use candor_dd::quoting;
use candor_run::{DeviceClaim, claim_device};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, ftruncate, openat};
use rustix::io::Errno;

/// The variable that lets dd write to a device that others hold.
const FORCE: &str = "CANDOR_FORCE";

/// Both files, open.
pub struct Files {
    /// The input.
    pub input: OwnedFd,
    /// Name of the input.
    pub input_name: Name,
    /// The output.
    pub output: OwnedFd,
    /// Name of the output.
    pub output_name: Name,
    /// Keeps others from the output while it is written.
    _claim: Option<DeviceClaim>,
}

/// The name of a file in messages.
#[derive(Clone, Debug)]
pub struct Name(OsString);

impl Name {
    /// In quotes.
    pub fn quoted(&self) -> String {
        quoting::always(&self.0)
    }

    /// In quotes where it needs them.
    pub fn plain(&self) -> String {
        quoting::if_needed(&self.0)
    }
}

/// The kernel's sentence about an error, as the C library has it.
pub fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

impl Files {
    /// Opens both.
    ///
    /// # Errors
    /// A sentence about the one that cannot be had.
    pub fn open(options: &Options) -> Result<Files, String> {
        let (input, input_name) = open_input(options)?;
        let claim = match &options.output {
            Some(path) => claimed(Path::new(path))?,
            None => claimed(Path::new("/proc/self/fd/1"))?,
        };
        let (output, output_name) = open_output(options)?;
        if process::was_closed(0) && options.input.is_none() {
            return Err(closed_stream("reading", "input", &input_name));
        }
        if process::was_closed(1) && options.output.is_none() {
            return Err(closed_stream("writing", "output", &output_name));
        }
        Ok(Files { input, input_name, output, output_name, _claim: claim })
    }
}

/// A standard stream that was closed, in the tool's two lines.
fn closed_stream(doing: &str, file: &str, name: &Name) -> String {
    let (name, why) = (name.quoted(), "Bad file descriptor");
    format!("error {doing} {name}: {why}\ndd: closing {file} file {name}: {why}")
}

fn failed_to_open(path: &OsStr, error: &io::Error) -> String {
    format!("failed to open {}: {}", quoting::always(path), cause(error))
}

/// Claims the output where it is a device.
fn claimed(path: &Path) -> Result<Option<DeviceClaim>, String> {
    if std::env::var_os(FORCE).is_some_and(|value| value == "1") {
        return Ok(None);
    }
    claim_device(path).map_err(|held| {
        let path = if path.starts_with("/proc/self/fd") {
            OsStr::new("standard output")
        } else {
            path.as_os_str()
        };
        let shown = quoting::always(path);
        format!(
            "{shown} is not written: {held}; release it first, or insist with {FORCE}=1 in the \
             environment"
        )
    })
}

fn open_input(options: &Options) -> Result<(OwnedFd, Name), String> {
    let flags = open_flags(|word| options.input_flags.has(word));
    match &options.input {
        Some(path) => Ok((opened(path, OFlags::RDONLY | flags)?, Name(path.clone()))),
        None => stream(io::stdin().as_fd(), "standard input", flags),
    }
}

fn open_output(options: &Options) -> Result<(OwnedFd, Name), String> {
    let flags = open_flags(|word| options.output_flags.has(word));
    let Some(path) = &options.output else {
        return stream(io::stdout().as_fd(), "standard output", flags);
    };
    let keeps = options.has("notrunc");
    let seeks = options.seek != Distance { number: 0, ..options.seek };
    let when = |is: bool, flag: OFlags| if is { flag } else { OFlags::empty() };
    let how = OFlags::WRONLY
        | when(!options.has("nocreat"), OFlags::CREATE)
        | when(options.has("excl"), OFlags::EXCL)
        | when(!seeks && !keeps, OFlags::TRUNC);
    let file = opened(path, how | flags)?;
    if seeks && !keeps {
        cut_off(options, file.as_fd(), path)?;
    }
    Ok((file, Name(path.clone())))
}

/// Opens a file. A pipe with a name waits for its other end, and a signal may come meanwhile.
fn opened(path: &OsStr, how: OFlags) -> Result<OwnedFd, String> {
    loop {
        match openat(CWD, path, how | OFlags::CLOEXEC, Mode::from_raw_mode(0o666)) {
            Err(Errno::INTR) => {
                if let Some(signal) = process::interrupt() {
                    process::end_by(signal);
                }
            }
            opened => return opened.map_err(|error| failed_to_open(path, &error.into())),
        }
    }
}

/// Cuts the output off where the copy begins.
fn cut_off(options: &Options, file: BorrowedFd<'_>, path: &OsStr) -> Result<(), String> {
    let Distance { number, in_bytes } = options.seek;
    let block = options.output_block as u64;
    let bytes = if in_bytes { Some(number) } else { number.checked_mul(block) };
    let Some(bytes) = bytes.filter(|bytes| i64::try_from(*bytes).is_ok()) else {
        return Err(format!(
            "offset too large: cannot truncate to a length of seek={number} ({block}-byte) blocks"
        ));
    };
    let Err(error) = ftruncate(file, bytes) else { return Ok(()) };
    // Only files and directories have a length to set.
    let kind = rustix::fs::fstat(file).map(|file| FileType::from_raw_mode(file.st_mode));
    match kind {
        Ok(FileType::RegularFile | FileType::Directory) | Err(_) => Err(format!(
            "failed to truncate to {bytes} bytes in output file {}: {}",
            quoting::always(path),
            cause(&error.into())
        )),
        Ok(_) => Ok(()),
    }
}

/// A standard stream with flags added to it.
fn stream(
    fd: BorrowedFd<'_>,
    name: &'static str,
    flags: OFlags,
) -> Result<(OwnedFd, Name), String> {
    let name = Name(name.into());
    let failed =
        |error: Errno| format!("setting flags for {}: {}", name.quoted(), cause(&error.into()));
    let settable = flags - OFlags::DIRECTORY - OFlags::NOFOLLOW - OFlags::NOCTTY;
    if !settable.is_empty() {
        let before = fcntl_getfl(fd).map_err(failed)?;
        fcntl_setfl(fd, before | settable).map_err(failed)?;
    }
    if flags.contains(OFlags::DIRECTORY) {
        let file = rustix::fs::fstat(fd).map_err(failed)?;
        if FileType::from_raw_mode(file.st_mode) != FileType::Directory {
            return Err(failed(Errno::NOTDIR));
        }
    }
    let owned = fd.try_clone_to_owned();
    let owned = owned.map_err(|error| format!("{}: {}", name.quoted(), cause(&error)))?;
    Ok((owned, name))
}

/// Flags of the open call by their words.
fn open_flags(has: impl Fn(&str) -> bool) -> OFlags {
    let words = [
        ("append", OFlags::APPEND),
        ("direct", OFlags::DIRECT),
        ("directory", OFlags::DIRECTORY),
        ("dsync", OFlags::DSYNC),
        ("sync", OFlags::SYNC),
        ("nonblock", OFlags::NONBLOCK),
        ("noatime", OFlags::NOATIME),
        ("noctty", OFlags::NOCTTY),
        ("nofollow", OFlags::NOFOLLOW),
    ];
    words
        .into_iter()
        .filter(|(word, _)| has(word))
        .fold(OFlags::empty(), |all, (_, flag)| all | flag)
}
