//! Limit of open files of a process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use candor_engine::EngineError;

/// Opens a file. Where too many files are open, raises the limit first.
///
/// # Errors
/// The kernel's; with a remedy, where the limit cannot be raised.
pub fn open(options: &OpenOptions, path: &Path, what: &'static str) -> Result<File, EngineError> {
    let result = match options.open(path) {
        Err(error) if is_full(&error) && raise_limit() => options.open(path),
        result => result,
    };
    result.map_err(|error| {
        if is_full(&error) {
            let limit = limit();
            let what = format!(
                "open more than {limit} files at once (raise the limit with `ulimit -Hn`, or use \
                 fewer files)"
            );
            EngineError::system(what)(error)
        } else {
            EngineError::file(what, path)(error)
        }
    })
}

/// Makes room for so many more open files than there are.
///
/// # Errors
/// The limit, where it cannot be raised so far.
pub fn make_room(files: u64) -> Result<(), u64> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |open| open.count() as u64);
    let needed = files.saturating_add(open).saturating_add(SPARE);
    while limit() < needed && raise_limit() {}
    if limit() < needed { Err(limit().saturating_sub(open + SPARE)) } else { Ok(()) }
}

fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EMFILE)
}

/// Current limit of open files.
fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Descriptors of a run in addition to its targets: report, rings, counters and tracer.
const SPARE: u64 = 128;

/// Raises the limit as far as this process may; false where it is reached already.
fn raise_limit() -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current < maximum || maximum.is_none() {
        return setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    }
    // Only root may exceed the hard limit, up to the kernel's own maximum.
    let most = std::fs::read_to_string("/proc/sys/fs/nr_open").ok();
    let most = most.and_then(|text| text.trim().parse().ok()).filter(|most| Some(*most) > maximum);
    most.is_some() && setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).is_ok()
}
