//! Common parts of tests: running candor, reading its report, scratch files and scratch devices.
//!
//! | file | what |
//! | --- | --- |
//! | `program.rs` | starts candor, waits with a limit, sends signals |
//! | `report.rs` | reads the JSON report |
//! | `schema.rs` | checks a document against its schema; the tests of `show` use it too |
//! | `today.rs` | shares of long lists of cases, by day; the lab uses it too |
//! | `scratch.rs` | directories and files on a real filesystem |
//! | `elbencho.rs` | candor called as elbencho |
//! | `mdtest.rs` | candor called as mdtest or md-workbench |
//! | `vdbench.rs` | candor called as vdbench |
//! | `ior.rs` | candor called as IOR |
//! | `offsets.rs` | where IOR's bytes go, by formulas |
//! | `launched.rs` | IOR's command line on all hosts of a launcher |
//! | `fleet.rs` | agents on this host |
//! | `network.rs` | hosts that are namespaces of this one |
//! | `slurm.rs` | a Slurm on these |
//! | `s3/` | S3 servers, a client, and a proxy that injects faults |
//! | `devices.rs` | loop and zram devices, mounts, control groups |
//!
//! Everything that is made is a guard, which undoes it when dropped, also when a test panics.

mod devices;
pub mod elbencho;
pub mod fleet;
pub mod ior;
pub mod launched;
pub mod mdtest;
pub mod network;
pub mod offsets;
mod program;
mod report;
pub mod s3;
mod scratch;
pub mod slurm;
mod today;
pub mod vdbench;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

pub use devices::{Cgroup, Loop, Mount, Spinners, Zram};
pub use program::{
    NOBODY, Ran, Running, candor, candor_reading, measured, nobody_with_files, python_folder, run,
    spawn, spawn_as_nobody, tools_folder,
};
pub use report::{
    Report, check_sums, comparison_violations, counted, histogram, plan_violations,
    stream_violations,
};
pub use scratch::{Scratch, fingerprint, random_file};
pub use today::is_of_today;

/// Turn of the tests that load a device: one that needs a quiet host, or several others.
static HOST: RwLock<()> = RwLock::new(());

/// A test's turn alone on the host. At its end, prints the time that the other tests waited.
pub struct QuietHost {
    _turn: RwLockWriteGuard<'static, ()>,
    began: Instant,
}

impl Drop for QuietHost {
    fn drop(&mut self) {
        println!("alone on the host for {:.1} s", self.began.elapsed().as_secs_f64());
    }
}

/// Waits until no other test loads a device. For tests of a verdict, a rate or a latency, in which
/// the traffic of others would be a finding.
pub fn quiet_host() -> QuietHost {
    let turn = HOST.write().unwrap_or_else(PoisonError::into_inner);
    QuietHost { _turn: turn, began: Instant::now() }
}

/// Waits until no test needs a quiet host. For tests that load a device and judge nothing.
pub fn shared_host() -> RwLockReadGuard<'static, ()> {
    HOST.read().unwrap_or_else(PoisonError::into_inner)
}

/// Says that this test cannot run here; the caller returns. `cargo xtask` counts these lines.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    println!("skipped: {}: {reason}", thread.name().unwrap_or("a test"));
}

/// True if the tests run as root; says so if not.
pub fn root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip("it needs root");
    }
    root
}
