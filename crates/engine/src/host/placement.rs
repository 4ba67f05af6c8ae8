//! Placement of a worker's thread, and the CPU time and page faults that it used.

use std::fs;
use std::io;

use candor_plan::Placement;
use candor_plan::units::cpu_list;
use rustix::thread::CpuSet;

use crate::error::EngineError;
use crate::host::thread_attributes;

/// Makes the calling thread a worker, on the CPU or node that the plan sets.
///
/// # Errors
/// The kernel lacks a CPU, node or attribute, or does not allow its use.
pub fn settle(placement: &Placement, rank: u32) -> Result<(), EngineError> {
    bind(placement, rank)?;
    own_descriptors();
    // Sleeps under a rate then end on time, not up to 50 µs late.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    Ok(())
}

/// Binds the calling thread as the plan requests.
///
/// # Errors
/// A CPU or node that does not exist or is not allowed.
fn bind(placement: &Placement, rank: u32) -> Result<(), EngineError> {
    let mut cpus = placement.cpus.clone();
    if let Some(node) = placement.numa_node {
        let of_node = node_cpus(node)?;
        cpus = if cpus.is_empty() {
            of_node
        } else {
            cpus.into_iter().filter(|cpu| of_node.contains(cpu)).collect()
        };
        prefer_memory_of(node)?;
    }
    if cpus.is_empty() {
        return match placement.numa_node {
            None => Ok(()),
            Some(node) => Err(unusable(&placement.cpus, &format!("NUMA node {node} has none"))),
        };
    }
    if let Some(cpu) = cpus.iter().find(|cpu| **cpu as usize >= CpuSet::MAX_CPU) {
        return Err(unusable(&cpus, &format!("there is no CPU {cpu}")));
    }
    if placement.split {
        cpus = vec![cpus[rank as usize % cpus.len()]];
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu as usize));
    rustix::thread::sched_setaffinity(None, &set)
        .map_err(|errno| EngineError::system(format!("run on CPUs {cpus:?}"))(errno.into()))
}

fn unusable(cpus: &[u32], why: &str) -> EngineError {
    EngineError::system(format!("run on CPUs {cpus:?}"))(io::Error::other(why.to_owned()))
}

fn node_cpus(node: u32) -> Result<Vec<u32>, EngineError> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let what = format!("find NUMA node {node}");
    let text = fs::read_to_string(path).map_err(EngineError::system(what.clone()))?;
    let garbage = |part: &str| io::Error::other(format!("`{part}` is no CPU"));
    cpu_list(text.trim()).map_err(|part| EngineError::system(what)(garbage(part)))
}

/// Prefers a node for the thread's memory.
fn prefer_memory_of(node: u32) -> Result<(), EngineError> {
    const MPOL_PREFERRED: libc::c_int = 1;
    thread_attributes::set_memory_policy(MPOL_PREFERRED, &[node])
}

/// Gives the calling thread its own table of open files.
///
/// In a table that threads share, the kernel counts references to a file up and down with every
/// system call on it, which takes about 40 ns each time. A private table saves that. Where the
/// kernel refuses, calls cost that much more.
fn own_descriptors() {
    // SAFETY: the thread keeps every descriptor it has; other threads keep theirs.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}

/// Resources that a thread has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Time in which it was runnable and waited for a CPU.
    pub run_wait_ns: Option<u64>,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// Involuntary context switches.
    pub involuntary: u64,
    /// Page faults served from memory.
    pub minor: u64,
    /// Page faults that needed I/O.
    pub major: u64,
}

impl Usage {
    /// Usage of the calling thread (`getrusage`, `/proc/thread-self/schedstat`).
    pub fn of_this_thread() -> Usage {
        // SAFETY: an all-zero rusage is valid, and the kernel fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        Usage {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            run_wait_ns: schedstat.and_then(|text| text.split(' ').nth(1)?.parse().ok()),
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
        }
    }
}
