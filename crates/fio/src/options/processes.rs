//! Processes: order, end, CPUs, nodes, user and priority.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, head, word};
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choices, choose, row};

choices! {
    /// `exit_what`.
    pub enum ExitWhat {
        #[default]
        Group = "the jobs of the group": "group",
        Stonewall = "the running jobs; waiting jobs continue": "stonewall",
        All = "everything": "all",
    }
}

choices! {
    /// `cpus_allowed_policy`.
    pub enum CpuPolicy {
        #[default]
        Shared = "clones share all CPUs": "shared",
        Split = "one CPU per clone": "split",
    }
}

/// Order and end of jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `thread`.
    pub thread: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `exitall`.
    pub exit_all: bool,
    /// `exit_what`.
    pub exit_what: ExitWhat,
    /// `exitall_on_error`.
    pub exit_all_on_error: bool,
    /// `exec_prerun`.
    pub before: Option<String>,
    /// `exec_postrun`.
    pub after: Option<String>,
}

/// `numa_mem_policy`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MemoryPolicy {
    /// Default of the kernel.
    #[default]
    Default,
    /// Node of the running thread.
    Local,
    /// This node first.
    Prefer(u32),
    /// Only the given nodes.
    Bind(Vec<u32>),
    /// The given nodes in turns.
    Interleave(Vec<u32>),
}

/// CPUs, nodes, user and priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// `cpus_allowed` or `cpumask`; empty is all.
    pub cpus: Vec<u32>,
    /// `cpus_allowed_policy`.
    pub policy: CpuPolicy,
    /// `numa_cpu_nodes`; empty is all.
    pub nodes: Vec<u32>,
    /// `numa_mem_policy`.
    pub memory: MemoryPolicy,
    /// `nice`.
    pub nice: i64,
    /// `prio`.
    pub priority: Option<u64>,
    /// `prioclass`.
    pub priority_class: Option<u64>,
    /// `priohint`.
    pub priority_hint: Option<u64>,
    /// `uid`.
    pub uid: Option<u64>,
    /// `gid`.
    pub gid: Option<u64>,
    /// `cgroup`.
    pub cgroup: Option<String>,
    /// `cgroup_weight`.
    pub cgroup_weight: Option<u64>,
    /// `cgroup_nodelete`.
    pub cgroup_keep: bool,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("thread", Kind::Flag, |s, v| s.process.thread = v.bool(),
        "use threads instead of processes")
        .idle("1", "clones are always threads, each with its own table of open files"),
    row("stonewall", Kind::Flag, |s, v| s.process.stonewall = v.bool(),
        "start after all previous jobs; begin a group")
        .alias(&["wait_for_previous"]).exact("phase", "1"),
    row("new_group", Kind::Flag, |s, v| s.process.new_group = v.bool(),
        "begin a group of jobs in the results")
        .exact("output: groupid", "1"),
    row("exitall", Kind::Flag, |s, v| s.process.exit_all = v.bool(),
        "end other jobs when this job ends")
        .exact("job.on_done", "1"),
    row("exit_what", Kind::Choice(ExitWhat::CHOICES),
        |s, v| s.process.exit_what = v.of(ExitWhat::ALL), "jobs that exitall ends")
        .default("group").when(|s| s.process.exit_all).exact("job.on_done", "all"),
    row("exitall_on_error", Kind::Flag, |s, v| s.process.exit_all_on_error = v.bool(),
        "end all jobs if this job fails")
        .exact("phase.on_failure", "1"),
    row("exec_prerun", Kind::Text, |s, v| s.process.before = Some(v.text()),
        "run COMMAND before the job")
        .near("job.hooks.before", "true", "jobs that run together wait for it"),
    row("exec_postrun", Kind::Text, |s, v| s.process.after = Some(v.text()),
        "run COMMAND after the job")
        .near("job.hooks.after", "true", "it runs when the jobs that run together have ended"),
];

#[rustfmt::skip]
pub(super) const PLACEMENT: &[Row] = &[
    bare("cpumask", Kind::Own("NUMBER", &[], cpumask),
        "CPUs to run on, as a bit mask")
        .exact("job.placement.cpus", "1"),
    bare("cpus_allowed", Kind::Own("CPU[-CPU][,…]", &[], cpus), "CPUs to run on")
        .exact("job.placement.cpus", "0"),
    row("cpus_allowed_policy", Kind::Choice(CpuPolicy::CHOICES),
        |s, v| s.place.policy = v.of(CpuPolicy::ALL), "distribution of CPUs to clones")
        .under("cpus_allowed").default("shared").exact("job.placement.cpus", "split"),
    bare("numa_cpu_nodes", Kind::Own("NODE[-NODE][,…] or all", &[], nodes),
        "NUMA nodes of the CPUs to run on")
        .exact("job.placement.numa_node", "0"),
    bare("numa_mem_policy", Kind::Own("POLICY[:NODES]", MEMORY_POLICIES, memory_policy),
        "NUMA nodes of the memory")
        .exact("job.threads.memory", "bind:0"),
    bare("gpu_dev_id", Kind::Int(0, MANY), "GPU for the buffers")
        .default("0").refused("1", "buffers in the memory of a GPU are not built yet"),
    row("nice", Kind::Signed(-20, 19), |s, v| s.place.nice = v.signed(),
        "nice value of the process")
        .default("0").exact("job.threads.nice", "5"),
    row("prio", Kind::Int(0, 7), |s, v| s.place.priority = Some(v.int()),
        "I/O priority within its class")
        .exact("job.threads.io_priority", "4"),
    row("prioclass", Kind::Int(0, 3), |s, v| s.place.priority_class = Some(v.int()),
        "I/O class: 1 realtime, 2 best effort, 3 idle")
        .exact("job.threads.io_priority", "2"),
    row("priohint", Kind::Int(0, 1023), |s, v| s.place.priority_hint = Some(v.int()),
        "hint of the I/O priority")
        .exact("job.threads.io_priority", "1"),
    row("uid", Kind::Int(0, MANY), |s, v| s.place.uid = Some(v.int()), "user to run as")
        .exact("job.threads.user", "1000"),
    row("gid", Kind::Int(0, MANY), |s, v| s.place.gid = Some(v.int()), "group to run as")
        .exact("job.threads.group", "1000"),
    row("cgroup", Kind::Text, |s, v| s.place.cgroup = Some(v.text()), "control group to run in")
        .exact("job.threads.control_group", "x"),
    row("cgroup_weight", Kind::Int(100, 1000), |s, v| s.place.cgroup_weight = Some(v.int()),
        "weight of the control group")
        .under("cgroup").when(|s| s.place.cgroup.is_some())
        .exact("job.threads.control_group", "500"),
    row("cgroup_nodelete", Kind::Bool, |s, v| s.place.cgroup_keep = v.bool(),
        "keep the control group")
        .under("cgroup").default("0").when(|s| s.place.cgroup.is_some())
        .exact("job.threads.control_group", "1"),
];

/// Choices of `numa_mem_policy`.
const MEMORY_POLICIES: &[Choice] = &[
    word("default", "default of the kernel"),
    word("prefer", "this node first"),
    word("bind", "these nodes only"),
    word("interleave", "these nodes in turns"),
    word("local", "node of the running thread"),
];

fn cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.place.cpus = read.value;
    Ok(read.remark)
}

fn cpumask(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = values::bytes(text, units)?;
    if read.value == 0 {
        return Err(Refused::whole(text, "a mask of no CPU", "set a bit for each CPU"));
    }
    s.place.cpus = (0..64).filter(|cpu| read.value >> cpu & 1 == 1).collect();
    Ok(read.remark)
}

fn node_list(text: &str) -> Result<Vec<u32>, Refused> {
    match text.trim() {
        "all" => Ok(Vec::new()),
        list => Ok(values::cpus(list)?.value),
    }
}

fn nodes(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.place.nodes = node_list(text)?;
    Ok(None)
}

fn memory_policy(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let (name, nodes) = head(text);
    let none = |policy: &str| {
        Refused::whole(text, format!("`{text}` names no node"), format!("write {policy}:0"))
    };
    s.place.memory = match choose(name, MEMORY_POLICIES)? {
        0 => MemoryPolicy::Default,
        1 => match node_list(nodes.ok_or_else(|| none("prefer"))?)?[..] {
            [node] => MemoryPolicy::Prefer(node),
            _ => {
                let message = format!("`{text}` does not name one node");
                return Err(Refused::whole(text, message, "write prefer:0"));
            }
        },
        2 => MemoryPolicy::Bind(node_list(nodes.ok_or_else(|| none("bind"))?)?),
        3 => MemoryPolicy::Interleave(node_list(nodes.ok_or_else(|| none("interleave"))?)?),
        _ => MemoryPolicy::Local,
    };
    Ok(None)
}
