//! Tools that MPI launches, on one host: the first process has all ranks as threads, and the others
//! have nothing to do.

use std::ffi::OsString;

use candor_dialects::kit::launcher::{self, Launched};
use candor_dialects::kit::ranks;

use super::host::HostEnvironment;
use crate::screen;

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
    take_all_cpus();
    let mut words = argv.to_owned();
    if !ranks::is_given(argv) {
        words.splice(1..1, [ranks::FLAG.into(), size.to_string().into()]);
    }
    Ok(words)
}

/// Launchers bind each process to a CPU of its own, and this one has the threads of all.
fn take_all_cpus() {
    let mut all = rustix::thread::CpuSet::new();
    (0..rustix::thread::CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
    // What the control group does not allow is left out; a refusal leaves the CPUs as they are.
    let _ = rustix::thread::sched_setaffinity(None, &all);
}
