//! The block tracer: sizes, offsets, order, latencies and issuers of single requests.
//!
//! Small programs on the kernel's tracepoints count inside the kernel; nothing is copied for each
//! request. They are written here instruction by instruction ([`programs`]) with the offsets that
//! the running kernel's description of its types gives ([`btf`], [`layout`]), or that tracefs gives
//! ([`tracefs`]), so that neither a compiler nor a table of kernels is needed. Kernels that take no
//! programs can hand out events, which this process counts ([`sampling`], [`blktrace`]). Each
//! method takes CAP_BPF and CAP_PERFMON, or root.

mod asm;
mod blktrace;
mod bpf;
mod btf;
mod budget;
mod counter;
mod devices;
mod duty_cycle;
mod kernel;
mod layout;
mod own_process;
mod perf;
mod programs;
mod refusal;
mod sampling;
mod tally;
#[cfg(test)]
mod tests;
mod tracefs;

use std::path::Path;

use candor_plan::units::cpu_list;
use candor_record::facts::{Facts, Missing};
use candor_record::requests::{Issuer, RequestOp, RequestStats, Requests, TracerCost};

use crate::source::Roots;
use btf::Btf;
pub use budget::Budget;
use devices::TracedDevices;
use kernel::{Counting, Own, Source};
use layout::Layout;
use programs::{MEMBER, PARENT};
use refusal::{missing, refused};
use sampling::Sampling;
use tracefs::Formats;

/// How the tracer learns of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMethod {
    /// Programs on raw tracepoints, which read the kernel's structures. Needs BTF and Linux 4.17.
    Raw,
    /// Programs on tracepoints, which read records. Needs tracefs, which is mounted for the moment
    /// where it is not. Knows no time before a request went to its driver.
    Tracepoint,
    /// Samples of tracepoints, counted in this process at three times the cost. Needs tracefs
    /// and no programs.
    Perf,
    /// The events that blktrace reads from debugfs, counted in this process. Only one process can
    /// trace a device so at a time. They name threads, so nobody knows which requests are ours.
    Blktrace,
}

impl TraceMethod {
    /// Methods that are tried in this order where none is named.
    const AUTO: [TraceMethod; 3] = [TraceMethod::Raw, TraceMethod::Tracepoint, TraceMethod::Perf];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            TraceMethod::Raw => "BPF on raw tracepoints",
            TraceMethod::Tracepoint => "BPF on tracepoints",
            TraceMethod::Perf => "perf samples of tracepoints",
            TraceMethod::Blktrace => "blktrace",
        }
    }
}

/// Processes whose requests are counted apart, with those of all processes that they start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processes {
    /// All that this process starts from now on.
    Children,
    /// Processes by their numbers, and those that descend from them.
    These(Vec<u32>),
}

/// Traces the requests of devices until it is dropped.
#[derive(Debug)]
pub struct BlockTracer {
    /// Names of devices by their slot.
    devices: Vec<String>,
    method: TraceMethod,
    /// Our own process, as the events name it.
    own_pid: u32,
    backend: Backend,
}

/// Where events are counted.
#[derive(Debug)]
enum Backend {
    Kernel(Box<Counting>),
    Process(Sampling),
}

impl BlockTracer {
    /// Begins to trace all devices of `facts`, by the first method that this kernel allows.
    ///
    /// # Errors
    /// Why the kernel does not allow it, and what would enable it, in words.
    pub fn start(facts: &Facts, budget: Budget, roots: &Roots) -> Result<BlockTracer, Missing> {
        let mut first = None;
        for method in TraceMethod::AUTO {
            match BlockTracer::start_by(method, facts, budget, roots) {
                Ok(tracer) => return Ok(tracer),
                Err(missing) => first = first.or(Some(missing)),
            }
        }
        Err(first.unwrap_or_else(|| missing("there is no method", "nothing")))
    }

    /// The same by one method, or not at all.
    ///
    /// # Errors
    /// The same as [`BlockTracer::start`].
    pub fn start_by(
        method: TraceMethod,
        facts: &Facts,
        budget: Budget,
        roots: &Roots,
    ) -> Result<BlockTracer, Missing> {
        let own_pid = match method {
            TraceMethod::Raw | TraceMethod::Tracepoint => own_process::of_kernel()?,
            // perf names processes as whoever asks knows them.
            TraceMethod::Perf | TraceMethod::Blktrace => std::process::id(),
        };
        BlockTracer::begin(method, facts, budget, roots, &Own { pid: own_pid, members: None })
    }

    /// Begins to trace all devices of `facts`, every request; those of some processes are counted
    /// apart.
    ///
    /// # Errors
    /// The same as [`BlockTracer::start`].
    pub fn start_for(
        processes: &Processes,
        facts: &Facts,
        roots: &Roots,
    ) -> Result<BlockTracer, Missing> {
        let own_pid = own_process::of_kernel()?;
        let members = match processes {
            Processes::Children => vec![(own_pid, PARENT)],
            Processes::These(_) if !own_process::is_on_host() => {
                return Err(missing(
                    "a container has other numbers of processes than the kernel",
                    "the host's name space of processes",
                ));
            }
            Processes::These(pids) => {
                let all = own_process::with_descendants(pids);
                all.into_iter().map(|pid| (pid, MEMBER)).collect()
            }
        };
        let own = Own { pid: own_pid, members: Some(members) };
        BlockTracer::begin(TraceMethod::Raw, facts, Budget::Unbounded, roots, &own)
    }

    fn begin(
        method: TraceMethod,
        facts: &Facts,
        budget: Budget,
        roots: &Roots,
        own: &Own,
    ) -> Result<BlockTracer, Missing> {
        let traced = TracedDevices::of(facts, roots);
        if traced.names.is_empty() {
            return Err(missing("there is no block device below the targets", "nothing"));
        }
        let count = |source: Source<'_>| {
            let counting = Counting::open(&traced, source, budget, cpus(roots), own);
            counting.map(|counting| Backend::Kernel(Box::new(counting))).map_err(|e| refused(&e))
        };
        let backend = match method {
            TraceMethod::Raw => {
                layout(&roots.sys).and_then(|layout| count(Source::Structures(&layout)))?
            }
            TraceMethod::Tracepoint => {
                let formats = Formats::read(&roots.sys).map_err(|error| refused(&error))?;
                count(Source::Records(&formats))?
            }
            TraceMethod::Perf => {
                let (of_thread, sys, cpus) = (traced.clone(), roots.sys.clone(), online(roots));
                let make = move || sampling::rings(&of_thread, &sys, &cpus);
                let opened = Sampling::open(&traced, budget, Some(own.pid), make);
                Backend::Process(opened.map_err(|error| refused(&error))?)
            }
            TraceMethod::Blktrace => {
                let (of_thread, roots) = (traced.clone(), roots.clone());
                let make = move || blktrace::relays(&of_thread, &roots);
                let opened = Sampling::open(&traced, budget, None, make);
                Backend::Process(opened.map_err(|refusal: blktrace::Refusal| refusal.0)?)
            }
        };
        Ok(BlockTracer { devices: traced.names, method, own_pid: own.pid, backend })
    }

    /// The method by which it learns of requests.
    pub fn method(&self) -> TraceMethod {
        self.method
    }

    /// Processes whose requests are counted apart by [`BlockTracer::start_for`], those that have
    /// ended among them.
    pub fn members(&self) -> Vec<u32> {
        match &self.backend {
            Backend::Kernel(counting) => counting.members().unwrap_or_default(),
            Backend::Process(_) => Vec::new(),
        }
    }

    /// Statistics of the requests that were traced since it started.
    pub fn stats(&self) -> RequestStats {
        let numbers;
        let (mut issuers, events_lost) = match &self.backend {
            Backend::Kernel(counting) => {
                numbers = self.each(|place| counting.numbers(place));
                (counting.issuers(), counting.events_lost())
            }
            Backend::Process(sampling) => {
                let (all, issuers, lost) = sampling.read(|counter, lost| {
                    (self.each(|place| counter.numbers(place)), counter.issuers(), lost)
                });
                numbers = all;
                (issuers, lost)
            }
        };
        let mut requests = Vec::new();
        for (place, numbers) in numbers.iter().enumerate().filter(|(_, of)| !of.is_empty()) {
            let direction = RequestOp::ALL[place % 4];
            // Flushes are issued by whoever waits for them, or for room.
            let is_own_known =
                self.method != TraceMethod::Blktrace && direction != RequestOp::Flush;
            let mut traced =
                tally::read_all(&self.devices[place / 4], direction, numbers, is_own_known);
            traced.issuers = issuers.remove(&(place as u32)).unwrap_or_default();
            if matches!(&self.backend, Backend::Kernel(counting) if counting.members().is_none()) {
                add_issuer(&mut traced.issuers, tally::own_issuer(numbers, self.own_pid));
            }
            traced.issuers.sort_by_key(|issuer| std::cmp::Reverse(issuer.count));
            requests.push(traced);
        }
        requests.retain(|of: &Requests| !of.is_empty());
        let (method, cost) = (self.method.name().to_owned(), self.cost());
        RequestStats { method, own_pid: self.own_pid, events_lost, cost, requests }
    }

    /// CPU time that tracing took so far.
    fn cost(&self) -> TracerCost {
        match &self.backend {
            Backend::Kernel(counting) => counting.cost(),
            Backend::Process(sampling) => sampling.cost(),
        }
    }

    /// Something of each place: each device in each direction.
    fn each<T>(&self, of: impl Fn(u32) -> T) -> Vec<T> {
        (0..self.devices.len() as u32 * 4).map(of).collect()
    }
}

/// Adds to an issuer that is known, or one more.
fn add_issuer(issuers: &mut Vec<Issuer>, more: Option<Issuer>) {
    let Some(more) = more else { return };
    match issuers.iter_mut().find(|known| known.pid == more.pid) {
        Some(known) => {
            known.count += more.count;
            known.bytes += more.bytes;
        }
        None => issuers.push(more),
    }
}

/// Where the running kernel keeps what the programs read.
fn layout(sys: &Path) -> Result<Layout, Missing> {
    let path = sys.join("kernel/btf/vmlinux");
    let types = std::fs::read(&path).map_err(|error| {
        let why = format!("{}: {error}", path.display());
        missing(&why, "a kernel built with CONFIG_DEBUG_INFO_BTF")
    })?;
    let lacks = |what: String| missing(&format!("this kernel has no {what}"), "another kernel");
    let btf = Btf::parse(&types).ok_or_else(|| lacks("a description of its types".into()))?;
    Layout::of(&btf).map_err(lacks)
}

/// CPUs that there could be: the kernel keeps numbers for each of them.
fn cpus(roots: &Roots) -> usize {
    cpus_of(roots, "possible").into_iter().max().map_or(1, |cpu| cpu as usize + 1)
}

/// CPUs that run.
fn online(roots: &Roots) -> Vec<u32> {
    cpus_of(roots, "online")
}

fn cpus_of(roots: &Roots, list: &str) -> Vec<u32> {
    let text = std::fs::read_to_string(roots.sys.join("devices/system/cpu").join(list));
    cpu_list(text.unwrap_or_default().trim()).unwrap_or_default()
}
