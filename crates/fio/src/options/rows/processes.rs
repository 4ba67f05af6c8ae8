//! Processes: order, ending, where and as whom they run.

use crate::job_options::{CpuPolicy, ExitWhat};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

const MANY: u64 = u32::MAX as u64;
#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("thread", Kind::Flag, |s, v| s.process.thread = v.bool(),
        "clones are threads, not processes")
        .idle("1", "clones are always threads, each with its own table of open files"),
    row("stonewall", Kind::Flag, |s, v| s.process.stonewall = v.bool(),
        "start when all jobs above have ended; begins a group")
        .alias(&["wait_for_previous"]).exact("phase", "1"),
    row("new_group", Kind::Flag, |s, v| s.process.new_group = v.bool(),
        "begin a group of jobs that are reported together")
        .exact("output: groupid", "1"),
    row("exitall", Kind::Flag, |s, v| s.process.exit_all = v.bool(),
        "when this job ends, others end too")
        .exact("job.on_done", "1"),
    row("exit_what", Kind::Choice(ExitWhat::CHOICES),
        |s, v| s.process.exit_what = v.of(ExitWhat::ALL), "which jobs exitall ends")
        .default("group").when(|s| s.process.exit_all).exact("job.on_done", "all"),
    row("exitall_on_error", Kind::Flag, |s, v| s.process.exit_all_on_error = v.bool(),
        "when this job fails, all jobs end")
        .exact("phase.on_failure", "1"),
    row("exec_prerun", Kind::Text, |s, v| s.process.before = Some(v.text()),
        "run this command before the job")
        .near("job.hooks.before", "true", "jobs that run together wait for it"),
    row("exec_postrun", Kind::Text, |s, v| s.process.after = Some(v.text()),
        "run this command after the job")
        .near("job.hooks.after", "true", "it runs when the jobs that run together have ended"),
];

#[rustfmt::skip]
pub(in crate::options) const PLACEMENT: &[Row] = &[
    bare("cpumask", Kind::Own("NUMBER", &[], own::cpumask),
        "CPUs to run on, as the bits of a number")
        .exact("job.placement.cpus", "1"),
    bare("cpus_allowed", Kind::Own("CPU[-CPU][,…]", &[], own::cpus), "CPUs to run on")
        .exact("job.placement.cpus", "0"),
    row("cpus_allowed_policy", Kind::Choice(CpuPolicy::CHOICES),
        |s, v| s.place.policy = v.of(CpuPolicy::ALL), "whether clones share the CPUs")
        .under("cpus_allowed").default("shared").exact("job.placement.cpus", "split"),
    bare("numa_cpu_nodes", Kind::Own("NODE[-NODE][,…] or all", &[], own::nodes),
        "NUMA nodes whose CPUs to run on")
        .exact("job.placement.numa_node", "0"),
    bare("numa_mem_policy", Kind::Own("POLICY[:NODES]", own::MEMORY_POLICIES, own::memory_policy),
        "NUMA nodes to take memory from")
        .exact("job.threads.memory", "bind:0"),
    bare("gpu_dev_id", Kind::Int(0, MANY), "GPU whose memory holds the buffers")
        .default("0").refused("1", "buffers in the memory of a GPU are not built yet"),
    row("nice", Kind::Signed(-20, 19), |s, v| s.place.nice = v.signed(), "niceness of the process")
        .default("0").exact("job.threads.nice", "5"),
    row("prio", Kind::Int(0, 7), |s, v| s.place.priority = Some(v.int()),
        "I/O priority within its class")
        .exact("job.threads.io_priority", "4"),
    row("prioclass", Kind::Int(0, 3), |s, v| s.place.priority_class = Some(v.int()),
        "I/O class: 1 realtime, 2 best effort, 3 idle")
        .exact("job.threads.io_priority", "2"),
    row("priohint", Kind::Int(0, 1023), |s, v| s.place.priority_hint = Some(v.int()),
        "hint in addition to the I/O priority")
        .exact("job.threads.io_priority", "1"),
    row("uid", Kind::Int(0, MANY), |s, v| s.place.uid = Some(v.int()), "user to run as")
        .exact("job.threads.user", "1000"),
    row("gid", Kind::Int(0, MANY), |s, v| s.place.gid = Some(v.int()), "group to run as")
        .exact("job.threads.group", "1000"),
    row("cgroup", Kind::Text, |s, v| s.place.cgroup = Some(v.text()), "control group to run in")
        .exact("job.threads.control_group", "x"),
    row("cgroup_weight", Kind::Int(100, 1000), |s, v| s.place.cgroup_weight = Some(v.int()),
        "weight of that group")
        .under("cgroup").when(|s| s.place.cgroup.is_some())
        .exact("job.threads.control_group", "500"),
    row("cgroup_nodelete", Kind::Bool, |s, v| s.place.cgroup_keep = v.bool(), "keep that group")
        .under("cgroup").default("0").when(|s| s.place.cgroup.is_some())
        .exact("job.threads.control_group", "1"),
];
