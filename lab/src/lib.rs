//! The lab: a Debian kernel, booted in an emulated machine that has the devices which the tests'
//! host lacks, and candor inside.
//!
//! ```text
//! kernel package ──┐
//! programs ────────┼─▶ archive (initramfs) ─▶ machines (QEMU) ─▶ guest/init runs guest/cases/*.sh
//! candor ──────────┘                                         └─▶ results (9p): a folder per case
//! ```
//!
//! A case is a shell script that makes its devices ready and runs candor; what it writes below
//! `$OUT` comes back. What is expected of it stands in `tests/lab.rs` of the repository.

mod archive;
mod kernel;
mod machine;
mod results;

use std::path::{Path, PathBuf};

use machine::Machine;
pub use results::{CaseResult, Results};

/// Why the lab did not come to results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabError {
    /// Something that it needs is not on this host, so tests skip.
    Missing(String),
    /// The lab should have worked and did not.
    Failed(String),
}

impl std::fmt::Display for LabError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LabError::Missing(what) => write!(f, "{what} is missing"),
            LabError::Failed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for LabError {}

/// Machine to boot.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The program under test.
    pub candor: PathBuf,
    /// A kernel package of Debian; none: the one that Debian's `linux-image-amd64` names now.
    pub kernel_package: Option<PathBuf>,
    /// The cases to run, by the name of their script; empty: all.
    pub cases: Vec<String>,
    /// Where unpacked kernels are kept from one boot to the next.
    pub cache: PathBuf,
    /// Machines that share the cases, each on a CPU of its own.
    pub machines: usize,
}

impl Lab {
    /// Boots, runs the cases and returns what they left. Nothing of the machine remains.
    pub fn boot(&self) -> Result<Results, LabError> {
        std::fs::create_dir_all(&self.cache).map_err(|e| failed(&self.cache, &e))?;
        let cache = absolute(&self.cache)?;
        let kernel = kernel::Kernel::find(self.kernel_package.as_deref(), &cache)?;
        let work = tempfile::tempdir_in(&cache).map_err(|e| failed(&cache, &e))?;
        let archive = archive::build(self, &kernel, work.path())?;
        let shared = results::shared(work.path());
        std::fs::create_dir(&shared).map_err(|e| failed(&shared, &e))?;
        let machines: Vec<Machine> = (0..self.machines)
            .map(|nth| Machine {
                kernel: &kernel,
                archive: &archive,
                work: work.path().join(nth.to_string()),
                results: &shared,
            })
            .collect();
        let consoles: Vec<Result<String, LabError>> = std::thread::scope(|scope| {
            let running: Vec<_> =
                machines.iter().map(|machine| scope.spawn(move || Machine::run(machine))).collect();
            let panicked = |_| Err(LabError::Failed("the thread of a machine panicked".into()));
            running.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        let console = consoles.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Results::of(work, console))
    }
}

fn absolute(path: &Path) -> Result<PathBuf, LabError> {
    path.canonicalize().map_err(|e| failed(path, &e))
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> LabError {
    LabError::Failed(format!("{}: {why}", path.display()))
}

/// Runs a program of the host; its stdout.
fn host(program: &str, words: &[&std::ffi::OsStr], folder: &Path) -> Result<Vec<u8>, LabError> {
    let mut command = std::process::Command::new(program);
    let ran = command.args(words).current_dir(folder).output();
    let ran = ran.map_err(|e| LabError::Missing(format!("{program} ({e})")))?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    Err(LabError::Failed(format!("{program} failed ({}): {}", ran.status, said.trim())))
}
