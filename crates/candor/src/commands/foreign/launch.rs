//! Tools that MPI launches, on one host: the first process has all ranks as threads, and the others
//! have nothing to do.

use std::ffi::OsString;

use candor_dialects::kit::launcher::{self, Launched};
use candor_dialects::kit::ranks;

use rustix::process::{Pid, getppid};
use rustix::thread::{sched_getaffinity, sched_setaffinity};

use super::host::HostEnvironment;
use crate::screen;

/// Shells and scripts around a rank's process that are looked through, one above the other.
const SHELLS_MAX: u32 = 16;

/// The words with the ranks of the launcher, the program's name first; else the exit code of a
/// process that has nothing to do, or of ranks that cannot be had.
pub fn led(argv: &[OsString], (tool, wrong): (&str, u8)) -> Result<Vec<OsString>, u8> {
    let Some(of) = launcher::detect(&HostEnvironment) else { return Ok(argv.to_owned()) };
    let Launched { by, rank, size, .. } = of;
    if !of.is_on_one_host() {
        if rank == 0 {
            screen::tell(&format!(
                "{tool}: {by} has started {size} ranks on several hosts, which are not done yet; \
                 start them on one, or {tool} without {by} on each\n"
            ));
        }
        return Err(wrong);
    }
    if rank > 0 {
        return Err(0);
    }
    if size == 1 {
        screen::tell(&format!(
            "{tool}: {by} has started 1 rank; --ranks N gives as many without a launcher\n"
        ));
        return Ok(argv.to_owned());
    }
    take_cpus_of_launcher(of.variable);
    let mut words = argv.to_owned();
    if !ranks::is_given(argv) {
        words.splice(1..1, [ranks::FLAG.into(), size.to_string().into()]);
    }
    Ok(words)
}

/// Launchers bind each process to a CPU of its own, and this one has the threads of all: it takes
/// the CPUs that the launcher itself may use, so that whoever bound that one is obeyed.
fn take_cpus_of_launcher(variable: &str) {
    let cpus = launcher_of(variable).map(|pid| sched_getaffinity(Some(pid)));
    if let Some(Ok(cpus)) = cpus {
        // A refusal leaves the CPUs as they are.
        let _ = sched_setaffinity(None, &cpus);
    }
}

/// The nearest process above that is not one of the rank's own, such as a shell around it.
fn launcher_of(variable: &str) -> Option<Pid> {
    let mut pid = getppid()?;
    for _ in 0..SHELLS_MAX {
        let directory = format!("/proc/{}", pid.as_raw_nonzero());
        // The environment of another user's process cannot be read, and that is no rank of ours.
        let variables = std::fs::read(format!("{directory}/environ")).unwrap_or_default();
        let is_rank = |entry: &[u8]| {
            entry.strip_prefix(variable.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
        };
        if !variables.split(|byte| *byte == 0).any(is_rank) {
            return Some(pid);
        }
        let stat = std::fs::read_to_string(format!("{directory}/stat")).ok()?;
        // The name may have spaces and brackets; behind it stand the state and the parent.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        pid = Pid::from_raw(parent)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_above_all_that_belongs_to_the_rank() {
        assert_eq!(launcher_of("CANDOR_NO_SUCH_VARIABLE"), getppid());
        // Whatever runs the tests has a PATH, so that this one is not the launcher by it.
        assert_ne!(launcher_of("PATH"), getppid());
    }
}
