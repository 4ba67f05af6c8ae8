//! Results as JSON, with fio's keys in fio's order.

use candor_plan::units::Direction;
use candor_record::Report;
use candor_stats::mean;

use super::VERSION;
use super::figures::{BATCHES, DEPTHS, Entry, group_rate, shares};
use super::idleness;
use super::moment::Moment;
use super::tree;
use crate::job::{Output, Reporting, VerdictPlace};
use crate::output::figures::direction::{DirectionFigures, whole_ms};
use crate::output::figures::disks::{Disk, disks_shown};
use crate::output::figures::spread::{STEPS, Spread};
use crate::output::figures::steady::{self, Steadiness};
use candor_front::{Object, verdict};

/// `eta` of an ended job: the maximum of the field.
const NO_ETA: u64 = i32::MAX as u64;

/// The document; with `bins`, every latency distribution in full (`json+`).
pub(super) fn document(
    report: &Report,
    entries: &[Entry],
    output: &Output,
    bins: bool,
    now: &Moment,
) -> String {
    let mut document = head(now);
    if let Some(global) = &output.global_options {
        document.put("global options", options(global));
    }
    document.put(
        "jobs",
        entries.iter().map(|entry| job(report, entry, entries, bins)).collect::<Vec<_>>(),
    );
    let disks = disks_shown(report, entries);
    if !disks.is_empty() {
        document.put("disk_util", disks.iter().map(disk).collect::<Vec<_>>());
    }
    if let Some(idleness) = &output.idleness {
        document.put("cpu_idleness", idleness::tree(idleness));
    }
    if output.verdict != VerdictPlace::Absent {
        document.put("candor", verdict::tree(report));
    }
    tree::document(document)
}

/// The first keys of the document.
pub(super) fn head(now: &Moment) -> Object {
    Object::default()
        .with("fio version", VERSION)
        .with("timestamp", now.unix_ms / 1000)
        .with("timestamp_ms", now.unix_ms)
        .with("time", now.text.as_str())
}

pub(super) fn options(options: &[(String, String)]) -> Object {
    options.iter().fold(Object::default(), |object, (key, value)| object.with(key, value.as_str()))
}

pub(super) fn job(report: &Report, entry: &Entry, all: &[Entry], bins: bool) -> Object {
    let (job, figures) = (entry.job, &entry.figures);
    let mut object = Object::default()
        .with("jobname", job.name.as_str())
        .with("groupid", job.group_id)
        .with("job_start", start_ms(entry))
        .with("error", figures.trouble.as_ref().map_or(0, |trouble| trouble.errno))
        .with("eta", NO_ETA)
        .with("elapsed", report.elapsed_s.ceil() as u64);
    if let Some(own) = &entry.last.options {
        object.put("job options", options(own));
    }
    if entry.reporting.unified_rw == 1 {
        let share = group_rate(all, job.group_id, |e| e.figures.mixed().bytes_per_s());
        object.put("mixed", direction(&figures.mixed(), &entry.reporting, share, bins));
    } else {
        for (op, name) in
            [(Direction::Read, "read"), (Direction::Write, "write"), (Direction::Trim, "trim")]
        {
            let share = group_rate(all, job.group_id, |e| e.figures.ops.of(op).bytes_per_s());
            object.put(name, direction(figures.ops.of(op), &entry.reporting, share, bins));
        }
    }
    if entry.reporting.unified_rw != 1 {
        let lat = latency(&figures.sync, true, &entry.reporting, bins);
        object
            .put("sync", Object::default().with("total_ios", figures.flushes).with("lat_ns", lat));
    }
    if entry.reporting.unified_rw == 2 {
        let share = group_rate(all, job.group_id, |e| e.figures.mixed().bytes_per_s());
        object.put("mixed", direction(&figures.mixed(), &entry.reporting, share, bins));
    }
    put_process(&mut object, entry);
    put_ends(&mut object, entry);
    object
}

/// Start of the job in ms, on the requested clock.
fn start_ms(entry: &Entry) -> u64 {
    let ahead_ms = entry.job.start_ahead_ms;
    entry.figures.start_unix_ms.map_or(0, |ms| ms.saturating_add_signed(ahead_ms))
}

/// Time, CPU, depths and the table of latencies.
fn put_process(object: &mut Object, entry: &Entry) {
    let figures = &entry.figures;
    let (user, system) = figures.cpu_percent();
    object.put("job_runtime", whole_ms(figures.runtime_sum_ns));
    object.put("usr_cpu", user);
    object.put("sys_cpu", system);
    object.put("ctx", figures.switches);
    object.put("majf", figures.faults_major);
    object.put("minf", figures.faults_minor);
    let row = |names: [&str; 7], shares: [f64; 7]| {
        names
            .into_iter()
            .zip(shares)
            .fold(Object::default(), |object, (name, share)| object.with(name, share))
    };
    object.put("iodepth_level", row(DEPTHS, figures.depth_shares()));
    object.put("iodepth_submit", row(BATCHES, shares(&figures.depths.submitted)));
    object.put("iodepth_complete", row(BATCHES, shares(&figures.depths.reaped)));
    let table = figures.table();
    let steps = |shares: &[f64]| {
        let name = |at: usize| STEPS.get(at).map_or(">=2000".into(), u64::to_string);
        shares
            .iter()
            .enumerate()
            .fold(Object::default(), |object, (at, share)| object.with(name(at), *share))
    };
    object.put("latency_ns", steps(&table.ns));
    object.put("latency_us", steps(&table.us));
    object.put("latency_ms", steps(&table.ms));
}

/// Errors, the latency goal, the description, steadiness.
fn put_ends(object: &mut Object, entry: &Entry) {
    let (job, last, figures) = (entry.job, entry.last, &entry.figures);
    if last.counts_errors {
        object.put("total_err", figures.errors);
        object.put("first_error", figures.trouble.as_ref().map_or(0, |trouble| trouble.errno));
    }
    // Of a job that did not get as far as its first operation, fio leaves these out.
    if figures.began() {
        object.put("latency_depth", figures.depth_reached.unwrap_or(last.shape.depth));
        let goal = &last.latency_goal;
        object.put("latency_target", goal.target_ns);
        object.put("latency_target_ns", goal.target_ns);
        object.put("latency_percentile", goal.percentile);
        object.put("latency_window", goal.window_ns / 1000);
        object.put("latency_window_us", goal.window_ns / 1000);
    }
    if let Some(description) = &job.description {
        object.put("desc", description.as_str());
    }
    if let Some(goal) = &job.steady {
        let steady = Steadiness::of(figures.steady.as_ref(), goal);
        let list = |values: &[f64]| values.iter().map(|v| *v as u64).collect::<Vec<_>>();
        let mut data = Object::default()
            .with("bw_mean", mean(&steady.bytes_per_s) as u64)
            .with("iops_mean", mean(&steady.ops_per_s) as u64);
        if !steady.latency_ns.is_empty() {
            data.put("lat_mean", mean(&steady.latency_ns) as u64);
            data.put("lat_ns", list(&steady.latency_ns));
        }
        data.put("iops", list(&steady.ops_per_s));
        data.put("bw", list(&steady.bytes_per_s));
        let percent = if goal.percent { "%" } else { "" };
        let object_of_steady = Object::default()
            .with("ss", steady::words(goal))
            .with("duration", goal.duration_s)
            .with("attained", u64::from(steady.attained))
            .with("criterion", format!("{:.6}{percent}", steady.criterion))
            .with("max_deviation", steady.deviation)
            .with("slope", steady.slope)
            .with("data", data);
        object.put("steadystate", object_of_steady);
    }
    if last.counts_zone_resets {
        object.put("zone_resets", figures.zone_resets());
    }
}

fn direction(
    direction: &DirectionFigures,
    reporting: &Reporting,
    group_rate: f64,
    bins: bool,
) -> Object {
    let bandwidth = direction.bandwidth(reporting);
    let iops = direction.iops();
    let latency = |spread: &Spread, percentiles| latency(spread, percentiles, reporting, bins);
    let mut object = Object::default()
        .with("io_bytes", direction.bytes)
        .with("io_kbytes", direction.bytes / 1024)
        .with("bw_bytes", direction.bytes_per_s() as u64)
        .with("bw", (direction.bytes_per_s() / 1024.0) as u64)
        .with("iops", direction.ops_per_s())
        .with("runtime", direction.runtime_ms())
        .with("total_ios", direction.ops)
        .with("short_ios", direction.short)
        .with("drop_ios", 0u64)
        .with("slat_ns", latency(&direction.slat, reporting.slat_percentiles))
        .with("clat_ns", latency(&direction.clat, reporting.clat_percentiles))
        .with("lat_ns", latency(&direction.lat, reporting.lat_percentiles));
    let percentiles = reporting.clat_percentiles || reporting.lat_percentiles;
    let priorities: Vec<_> = direction
        .by_priority
        .shown()
        .map(|(priority, spread)| {
            let name = if direction.by_priority.total { "lat_ns" } else { "clat_ns" };
            Object::default()
                .with("prioclass", priority.class)
                .with("prio", priority.level)
                .with("priohint", priority.hint)
                .with(name, latency(spread, percentiles))
        })
        .collect();
    if !priorities.is_empty() {
        object.put("prios", priorities);
    }
    object
        .with("bw_min", bandwidth.min)
        .with("bw_max", bandwidth.max)
        .with("bw_agg", bandwidth.percent_of(group_rate))
        .with("bw_mean", bandwidth.mean)
        .with("bw_dev", bandwidth.deviation)
        .with("bw_samples", bandwidth.count)
        .with("iops_min", iops.min)
        .with("iops_max", iops.max)
        .with("iops_mean", iops.mean)
        .with("iops_stddev", iops.deviation)
        .with("iops_samples", iops.count)
}

fn latency(spread: &Spread, percentiles: bool, reporting: &Reporting, bins: bool) -> Object {
    let mut object = Object::default()
        .with("min", spread.min())
        .with("max", spread.max())
        .with("mean", spread.mean())
        .with("stddev", spread.deviation())
        .with("N", spread.count());
    if percentiles && !spread.is_empty() {
        object.put(
            "percentile",
            reporting.percentiles.iter().fold(Object::default(), |object, percent| {
                object.with(format!("{percent:.6}"), spread.percentile(*percent))
            }),
        );
        if bins {
            object.put(
                "bins",
                spread
                    .bins()
                    .fold(Object::default(), |object, (ns, n)| object.with(ns.to_string(), n)),
            );
        }
    }
    object
}

pub(super) fn disk(disk: &Disk) -> Object {
    let counted = &disk.counted;
    let mut object = Object::default()
        .with("name", disk.name.as_str())
        .with("read_ios", counted.reads)
        .with("write_ios", counted.writes)
        .with("read_sectors", counted.read_sectors)
        .with("write_sectors", counted.write_sectors)
        .with("read_merges", counted.read_merges)
        .with("write_merges", counted.write_merges)
        .with("read_ticks", counted.read_ms)
        .with("write_ticks", counted.write_ms)
        .with("in_queue", counted.weighted_ms)
        .with("util", disk.busy_percent);
    if let Some(members) = &disk.members {
        let counted = &members.counted;
        object.put("aggr_read_ios", counted.reads);
        object.put("aggr_write_ios", counted.writes);
        object.put("aggr_read_sectors", counted.read_sectors);
        object.put("aggr_write_sectors", counted.write_sectors);
        object.put("aggr_read_merges", counted.read_merges);
        object.put("aggr_write_merge", counted.write_merges);
        object.put("aggr_read_ticks", counted.read_ms);
        object.put("aggr_write_ticks", counted.write_ms);
        object.put("aggr_in_queue", counted.weighted_ms);
        object.put("aggr_util", members.busy_percent);
    }
    object
}
