//! User, group, CPUs, nodes and priorities of jobs.

use candor_plan::engine::{IoPriority, PriorityClass};
use candor_plan::{ControlGroup, Hook, Hooks, Job, OnDone, Placement, Threads};

use super::instance::Instance;
use crate::options::{CpuPolicy, ExitWhat, MemoryPolicy};
use candor_front::Diagnostics;

pub(super) fn lower(from: &Instance<'_>, job: &mut Job, diagnostics: &mut Diagnostics) {
    let options = &from.options.place;
    let named = present(from, diagnostics);
    let mut cpus = match options.policy {
        CpuPolicy::Shared => named,
        CpuPolicy::Split => split(&named, from.number),
    };
    let numa_node = match options.nodes[..] {
        [] => None,
        [node] => Some(node),
        _ => {
            cpus = cpus_of_nodes(from, cpus, diagnostics);
            None
        }
    };
    job.placement = Placement { cpus, split: false, numa_node };
    job.threads = threads(from, diagnostics);
    job.prepare_only = from.options.making.only;
    let process = &from.options.process;
    job.on_done = match process.exit_what {
        _ if !process.exit_all => OnDone::GoOn,
        ExitWhat::Group | ExitWhat::Stonewall => OnDone::EndPhase,
        ExitWhat::All => OnDone::EndRun,
    };
    job.hooks = Hooks {
        before: hook(from, process.before.as_deref(), "prerun"),
        after: hook(from, process.after.as_deref(), "postrun"),
    };
}

/// Named CPUs that the host has.
fn present(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let named = &from.options.place.cpus;
    let Some(all) = from.host.cpus() else { return named.clone() };
    let (here, missing): (Vec<u32>, Vec<u32>) = named.iter().partition(|cpu| all.contains(cpu));
    let option = ["cpus_allowed", "cpumask"]
        .into_iter()
        .find(|option| from.options.given.get(option).is_some())
        .unwrap_or("cpus_allowed");
    if here.is_empty() && !missing.is_empty() {
        let message = "the host has none of these CPUs".to_owned();
        diagnostics.wrong(from, option, message, "see `lscpu` for those that it has");
    } else if !missing.is_empty() {
        let did = format!("runs on {here:?}, the listed CPUs that the host has");
        diagnostics.note(from, option, &did, "fio refuses a list with CPUs that the host has not");
    }
    here
}

/// The CPUs of several nodes, restricted to named CPUs if any.
fn cpus_of_nodes(from: &Instance<'_>, named: Vec<u32>, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let nodes = &from.options.place.nodes;
    let cpus: Option<Vec<_>> = nodes.iter().map(|node| from.host.node_cpus(*node)).collect();
    let Some(mut cpus) = cpus.map(|of_each| of_each.concat()) else {
        let message = "the host has not all of these NUMA nodes".to_owned();
        diagnostics.wrong(from, "numa_cpu_nodes", message, "see `lscpu` for those that it has");
        return named;
    };
    cpus.retain(|cpu| named.is_empty() || named.contains(cpu));
    if cpus.is_empty() {
        let message = "none of the CPUs that are allowed is of these NUMA nodes".to_owned();
        diagnostics.wrong(
            from,
            "numa_cpu_nodes",
            message,
            "remove cpus_allowed, or name its nodes",
        );
    }
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Scheduling and credentials of the threads.
fn threads(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Threads {
    let options = &from.options.place;
    let mut threads = Threads {
        name: from.options.about.comm.as_deref().map(short_name),
        nice: i8::try_from(options.nice).ok().filter(|nice| *nice != 0),
        io_priority: io_priority(from),
        memory: match options.memory.clone() {
            MemoryPolicy::Default => None,
            MemoryPolicy::Local => Some(candor_plan::MemoryPolicy::Local),
            MemoryPolicy::Prefer(node) => Some(candor_plan::MemoryPolicy::Prefer(node)),
            MemoryPolicy::Bind(nodes) => Some(candor_plan::MemoryPolicy::Bind(nodes)),
            MemoryPolicy::Interleave(nodes) => Some(candor_plan::MemoryPolicy::Interleave(nodes)),
        },
        ..Threads::default()
    };
    let mut id = |option: &str, id: Option<u64>| match id.map(u32::try_from) {
        Some(Err(_) | Ok(u32::MAX)) => {
            diagnostics.refuse(from, option, "the kernel has no such number");
            None
        }
        id => id.and_then(Result::ok),
    };
    (threads.user, threads.group) = (id("uid", options.uid), id("gid", options.gid));
    threads.control_group = options.cgroup.as_ref().map(|name| ControlGroup {
        name: name.clone(),
        weight: options.cgroup_weight.and_then(|weight| weight.try_into().ok()),
        keep: options.cgroup_keep,
    });
    threads
}

/// Truncates a name to the kernel's limit.
fn short_name(name: &str) -> String {
    let mut end = name.len().min(Threads::NAME_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

/// I/O priority of a job from `prio` and `prioclass`, `None` without both. The default class is
/// best effort.
pub(super) fn io_priority(from: &Instance<'_>) -> Option<IoPriority> {
    let options = &from.options.place;
    if options.priority.is_none() && options.priority_class.is_none() {
        return None;
    }
    let class = match options.priority_class {
        Some(1) => PriorityClass::Realtime,
        Some(3) => PriorityClass::Idle,
        _ => PriorityClass::BestEffort,
    };
    let number = |value: Option<u64>| value.unwrap_or(0);
    Some(IoPriority {
        class,
        level: number(options.priority) as u8,
        hint: number(options.priority_hint) as u16,
    })
}

/// A command with its output in a file named after the job. If the first command fails, fio skips
/// the job with error 0; it ignores the result of the last one.
fn hook(from: &Instance<'_>, command: Option<&str>, which: &str) -> Option<Hook> {
    let output = Some(format!("{}.{which}.txt", from.name));
    command.map(|command| Hook { command: command.to_owned(), output, may_fail: true })
}

/// Each job gets one CPU of the list, by its number among all jobs.
fn split(cpus: &[u32], number: u64) -> Vec<u32> {
    let nth = number.checked_rem(cpus.len() as u64).and_then(|nth| cpus.get(nth as usize));
    nth.copied().into_iter().collect()
}
