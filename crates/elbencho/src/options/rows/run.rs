//! Phases, workers, repeats and ends.

use super::{CONFIG_FILE, Row, Value, bare, put, put_number, put_size, switch};
use crate::grammar;
use crate::options::Bind;
use candor_front::{Refused, store};

/// Longest time of a run or a pause in seconds.
const SECONDS_MAX: u64 = 1 << 31;

#[rustfmt::skip]
pub(super) const PHASES: &[Row] = &[
    switch("mkdirs", |o, t| put(&mut o.phases.make_dirs, t), "Create directories").letter('d')
        .exact("phase", "true"),
    switch("write", |o, t| put(&mut o.phases.write, t), "Create and write files").letter('w')
        .exact("phase", "true"),
    switch("stat", |o, t| put(&mut o.phases.stat, t), "Stat files").exact("phase", "true"),
    switch("read", |o, t| put(&mut o.phases.read, t), "Read files").letter('r')
        .exact("phase", "true"),
    switch("delfiles", |o, t| put(&mut o.phases.remove_files, t), "Remove files").letter('F')
        .exact("phase", "true"),
    switch("deldirs", |o, t| put(&mut o.phases.remove_dirs, t), "Remove directories").letter('D')
        .exact("phase", "true"),
    switch("sync", |o, t| put(&mut o.run.sync, t),
        "Sync filesystems before the first phase and after each phase")
        .near("phase", "true", "the filesystems of the paths are synced, not all filesystems of \
              the host"),
    switch("dropcache", |o, t| put(&mut o.run.drop_caches, t),
        "Drop the kernel's caches before the first phase and after each").exact("phase", "true"),
];

#[rustfmt::skip]
pub(super) const RUN: &[Row] = &[
    Row::value("threads", "N", |o, t| put_number(&mut o.run.threads, t, 1..=1 << 16),
        "Use N workers").letter('t').default("1").exact("job.workers", "4"),
    Row::value("iterations", "N", |o, t| put_number(&mut o.run.iterations, t, 1..=1 << 20),
        "Repeat all phases N times").letter('i').default("1").exact("repeats", "2"),
    Row::value("timelimit", "SECONDS",
        |o, t| put_number(&mut o.run.time_limit_s, t, 0..=SECONDS_MAX),
        "End a phase after SECONDS; no phase follows").default("0").exact("stop.time", "5"),
    switch("infloop", |o, t| put(&mut o.run.infinite_loop, t),
        "Repeat each worker's work until the time limit").exact("stop.passes", "true"),
    Row::value("phasedelay", "SECONDS",
        |o, t| put_number(&mut o.run.phase_delay_s, t, 0..=SECONDS_MAX), "Pause between phases")
        .default("0").exact("phase.delay", "1"),
    Row::value("start", "SECONDS", |o, t| put_number(&mut o.run.start_at_s, t, 0..=u64::MAX >> 16),
        "Start at this time in seconds since 1970").default("0").exact("phase.delay", "1800000000"),
    switch("dryrun", |o, t| put(&mut o.run.dry_run, t),
        "Print totals of files and bytes, and touch nothing").exact("", "true"),
    Row::value("label", "TEXT", |o, t| store(&mut o.run.label, t.to_owned()),
        "Add TEXT to the results").exact("name", "x"),
    Row::value("log", "N", |o, t| put_number(&mut o.run.log_level, t, 0..=2), "Set verbosity")
        .default("0").exact("", "1"),
    Row::value("cores", "LIST|all", |o, t| bind(&mut o.run.cores, t),
        "Bind workers to CPUs in turn").exact("job.placement.cpus", "0"),
    Row::value("zones", "LIST|all", |o, t| bind(&mut o.run.zones, t),
        "Bind workers to NUMA nodes in turn").near("job.placement", "0", "with several nodes, each \
              worker has a CPU, and memory comes from the node of its first use"),
    Row::value("rankoffset", "N", |o, t| put_size(&mut o.run.rank_offset, t),
        "Set the rank of the first worker").default("0").exact("target.tree.first_rank", "4"),
    bare("no0usecerr", Value::maybe("BOOL"), "Suppress errors about workers that finish in 0 µs")
        .default("false").idle("true", "candor measures in nanoseconds and reports no such errors"),
    bare(CONFIG_FILE, Value::value("FILE"), "Read lines of long-option=value from FILE").letter('c')
        .exact("", "f"),
];

fn bind(place: &mut Bind, text: &str) -> Result<(), Refused> {
    *place = match text {
        "all" => Bind::All,
        list => Bind::Listed(grammar::numbers(list, 1 << 16)?),
    };
    Ok(())
}
