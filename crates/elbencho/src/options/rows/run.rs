//! Phases, workers, repeats and ends.

use super::{Draft, Value, bare, put, put_number, put_size, switch, value};
use crate::grammar;
use crate::options::Bind;
use candor_front::{Refused, Row, store};

/// Seconds that a run may last or wait.
const SECONDS_MAX: u64 = 1 << 31;

#[rustfmt::skip]
pub(super) const PHASES: &[Row<Value>] = &[
    switch("mkdirs", |d, t| put(&mut d.options.phases.make_dirs, t), "make directories")
        .letter('d').exact("phase", "true"),
    switch("write", |d, t| put(&mut d.options.phases.write, t), "write, and make files")
        .letter('w').exact("phase", "true"),
    switch("stat", |d, t| put(&mut d.options.phases.stat, t), "look files up")
        .exact("phase", "true"),
    switch("read", |d, t| put(&mut d.options.phases.read, t), "read")
        .letter('r').exact("phase", "true"),
    switch("delfiles", |d, t| put(&mut d.options.phases.remove_files, t), "remove files")
        .letter('F').exact("phase", "true"),
    switch("deldirs", |d, t| put(&mut d.options.phases.remove_dirs, t), "remove directories")
        .letter('D').exact("phase", "true"),
    switch("sync", |d, t| put(&mut d.options.run.sync, t),
        "sync filesystems before the first phase and after each")
        .near("phase", "true", "the filesystems of the paths are synced, not all of the host"),
    switch("dropcache", |d, t| put(&mut d.options.run.drop_caches, t),
        "drop the kernel's caches before the first phase and after each")
        .exact("phase", "true"),
];

#[rustfmt::skip]
pub(super) const RUN: &[Row<Value>] = &[
    value("threads", "N", |d, t| put_number(&mut d.options.run.threads, t, [1, 1 << 16]),
        "workers").letter('t').default("1").exact("job.workers", "4"),
    value("iterations", "N", |d, t| put_number(&mut d.options.run.iterations, t, [1, 1 << 20]),
        "runs of all phases").letter('i').default("1").exact("repeats", "2"),
    value("timelimit", "SECONDS",
        |d, t| put_number(&mut d.options.run.time_limit_s, t, [0, SECONDS_MAX]),
        "end a phase after SECONDS; no later phase runs").default("0").exact("stop.time", "5"),
    switch("infloop", |d, t| put(&mut d.options.run.infinite_loop, t),
        "workers start over until the time limit").exact("stop.passes", "true"),
    value("phasedelay", "SECONDS",
        |d, t| put_number(&mut d.options.run.phase_delay_s, t, [0, SECONDS_MAX]),
        "pause between phases").default("0").exact("phase.delay", "1"),
    value("start", "SECONDS",
        |d, t| put_number(&mut d.options.run.start_at_s, t, [0, u64::MAX >> 16]),
        "begin at that second since 1970").default("0").exact("phase.delay", "1800000000"),
    switch("dryrun", |d, t| put(&mut d.options.run.dry_run, t),
        "print totals of files and bytes, and touch nothing").exact("", "true"),
    value("label", "TEXT", |d, t| store(&mut d.options.run.label, t.to_owned()),
        "text for the results").exact("name", "x"),
    value("log", "N", |d, t| put_number(&mut d.options.run.log_level, t, [0, 2]),
        "verbosity").default("0").exact("", "1"),
    value("cores", "LIST|all", |d, t| bind(&mut d.options.run.cores, t),
        "bind workers to CPUs in turn").exact("job.placement.cpus", "0"),
    value("zones", "LIST|all", |d, t| bind(&mut d.options.run.zones, t),
        "bind workers to NUMA nodes in turn")
        .near("job.placement", "0", "of several nodes, each worker runs on its own CPU, and memory \
                                     is allocated where it is first used"),
    value("rankoffset", "N", |d, t| put_size(&mut d.options.run.rank_offset, t),
        "number of the first worker").default("0").exact("target.tree.first_rank", "4"),
    bare("no0usecerr", Value::maybe("BOOL"), "no complaint about workers done in 0 µs")
        .default("false").idle("true", "candor measures in nanoseconds and complains of none"),
    value("configfile", "FILE", config, "lines of long-option=value").letter('c').exact("", "f"),
];

fn config(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    store(&mut draft.config_file, Some(text.to_owned()))
}

fn bind(place: &mut Bind, text: &str) -> Result<(), Refused> {
    *place = match text {
        "all" => Bind::All,
        list => Bind::Listed(grammar::numbers(list, 1 << 16)?),
    };
    Ok(())
}
