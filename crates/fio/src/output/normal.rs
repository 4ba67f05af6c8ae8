//! Normal text output, line for line as scripts expect.

mod groups;
mod latency;

use candor_plan::units::Direction;
use candor_record::Report;
use candor_stats::mean;

use super::figures::disks::disks_shown;
use super::figures::{BATCHES, DEPTHS, Entry, group_rate, shares};
use super::moment::Moment;
use super::number::Units;
use crate::job::Reporting;
use crate::output::figures::by_priority::Priority;
use crate::output::figures::direction::DirectionFigures;
use crate::output::figures::steady::{self, Steadiness};

/// The jobs, one after the other.
pub(super) fn jobs(entries: &[Entry], now: &Moment) -> String {
    let mut text = String::from("\n");
    for entry in entries {
        // fio prints nothing about a job without operations.
        if entry.figures.ops_done() > 0 || !entry.figures.sync.is_empty() {
            job(entry, entries, now, &mut text);
        }
    }
    text
}

/// The groups, then the disks.
pub(super) fn groups(report: &Report, entries: &[Entry]) -> String {
    let mut text = String::new();
    groups::groups(entries, &mut text);
    let disks = disks_shown(report, entries);
    groups::disks(&disks, &mut text);
    text
}

fn job(entry: &Entry, all: &[Entry], now: &Moment, text: &mut String) {
    let (job, figures) = (entry.job, &entry.figures);
    let error = match &figures.trouble {
        None => "err= 0".into(),
        Some(trouble) => {
            let (errno, doing, text) = (trouble.errno, trouble.doing, &trouble.text);
            format!("err={errno:2} (func={doing}, error={text})")
        }
    };
    *text += &format!(
        "{}: (groupid={}, jobs={}): {error}: pid={}: {}\n",
        job.name, job.group_id, entry.jobs, figures.pid, now.text
    );
    if let Some(description) = &job.description {
        *text += &format!("  Description  : [{description}]\n");
    }
    if entry.reporting.unified_rw != 1 {
        for (op, name) in
            [(Direction::Read, "read"), (Direction::Write, "write"), (Direction::Trim, "trim")]
        {
            let share = group_rate(all, job.group_id, |e| e.figures.ops.of(op).bytes_per_s());
            direction(name, figures.ops.of(op), entry, share, text);
        }
    }
    if entry.reporting.unified_rw != 0 {
        let share = group_rate(all, job.group_id, |e| e.figures.mixed().bytes_per_s());
        direction("mixed", &figures.mixed(), entry, share, text);
    }
    latency::table(&figures.table(), text);
    if !figures.sync.is_empty() {
        *text += "  fsync/fdatasync/sync_file_range:\n";
        latency::line("sync", &figures.sync, text);
        latency::percentiles("sync", &figures.sync, &entry.reporting, text);
    }
    process(entry, text);
}

/// CPU, depths, counts, the latency goal, steadiness.
fn process(entry: &Entry, text: &mut String) {
    let (job, figures) = (entry.job, &entry.figures);
    let (user, system) = figures.cpu_percent();
    *text += &format!(
        "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={}, majf={}, minf={}\n",
        figures.switches, figures.faults_major, figures.faults_minor
    );
    let row = |names: [&str; 7], shares: [f64; 7]| {
        names
            .into_iter()
            .zip(shares)
            .map(|(name, share)| format!("{name}={share:.1}%"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    *text += &format!("  IO depths    : {}\n", row(DEPTHS, figures.depth_shares()));
    *text += &format!("     submit    : {}\n", row(BATCHES, shares(&figures.depths.submitted)));
    *text += &format!("     complete  : {}\n", row(BATCHES, shares(&figures.depths.reaped)));
    let per = |of: fn(&DirectionFigures) -> u64| {
        let ops = &figures.ops;
        format!("{},{},{}", of(&ops.read), of(&ops.write), of(&ops.trim))
    };
    *text += &format!(
        "     issued rwts: total={},{} short={},0 dropped=0,0,0,0\n",
        per(|d| d.ops),
        figures.flushes,
        per(|d| d.short)
    );
    if job.counts_errors {
        let (first, name) = figures.trouble.as_ref().map_or((0, "Success"), |t| (t.errno, &t.text));
        *text +=
            &format!("     errors    : total={}, first_error={first}/<{name}>\n", figures.errors);
    }
    let goal = &job.latency_goal;
    *text += &format!(
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
        scaled(goal.target_ns),
        scaled(goal.window_ns),
        goal.percentile,
        figures.depth_reached.unwrap_or(job.shape.depth)
    );
    if let Some(goal) = &job.steady {
        steadiness(entry, goal, text);
    }
}

fn steadiness(entry: &Entry, goal: &crate::job::SteadyGoal, text: &mut String) {
    let steady = Steadiness::of(entry.figures.steady.as_ref(), goal);
    let units = Units::of(&entry.reporting);
    let bytes_per_s = mean(&steady.bytes_per_s);
    *text += &format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}, {} {}={:.3}{}\n",
        if steady.attained { "yes" } else { "no" },
        units.rate(bytes_per_s),
        units.other_rate(bytes_per_s),
        units.count(mean(&steady.ops_per_s)),
        steady::name(goal.figure),
        if goal.slope { "slope" } else { "mean dev" },
        steady.criterion,
        if goal.percent { "%" } else { "" },
    );
}

/// A time in the largest unit with a value of at least 2.
fn scaled(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = UNITS.into_iter().find(|(unit_ns, _)| ns >= 2 * unit_ns);
    let (unit_ns, name) = unit.unwrap_or((1, "ns"));
    format!("{:.2}{name}", ns as f64 / unit_ns as f64)
}

fn direction(
    name: &str,
    direction: &DirectionFigures,
    entry: &Entry,
    group_rate: f64,
    text: &mut String,
) {
    let reporting = &entry.reporting;
    let counts_resets = entry.last.counts_zone_resets;
    let zone_resets = counts_resets.then(|| entry.figures.zone_resets());
    if direction.ops == 0 || direction.runtime_ns == 0 {
        return;
    }
    let (units, bytes_per_s) = (Units::of(reporting), direction.bytes_per_s());
    *text += &format!(
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}\n",
        units.count(direction.ops_per_s()),
        units.rate(bytes_per_s),
        units.other_rate(bytes_per_s),
        units.size(direction.bytes),
        direction.runtime_ms(),
        zone_resets.map_or_else(String::new, |resets| format!("; {resets} zone resets")),
    );
    let kinds = [
        ("slat", &direction.slat, reporting.slat_percentiles),
        ("clat", &direction.clat, reporting.clat_percentiles),
        ("lat", &direction.lat, reporting.lat_percentiles),
    ];
    kinds.iter().for_each(|(name, spread, _)| latency::line(name, spread, text));
    let by_priority = &direction.by_priority;
    let name = |of: Priority| {
        let kind = if by_priority.total { "lat" } else { "clat" };
        format!("{kind} prio {}/{}", of.class, of.level)
    };
    for (of, spread) in by_priority.shown() {
        latency::line(&name(of), spread, text);
    }
    for (name, spread, _) in kinds.iter().filter(|(_, _, wanted)| *wanted) {
        latency::percentiles(name, spread, reporting, text);
    }
    if reporting.clat_percentiles || reporting.lat_percentiles {
        let all = if by_priority.total { &direction.lat } else { &direction.clat }.count();
        for (of, spread) in by_priority.shown() {
            let share = spread.count() as f64 * 100.0 / all.max(1) as f64;
            let name = format!("{} ({share:.2}% of IOs)", name(of));
            latency::percentiles(&name, spread, reporting, text);
        }
    }
    samples(direction, reporting, group_rate, text);
}

/// The lines of sampled bandwidth and IOPS.
fn samples(
    direction: &DirectionFigures,
    reporting: &Reporting,
    group_rate: f64,
    text: &mut String,
) {
    let bandwidth = direction.bandwidth(reporting);
    if bandwidth.count > 0 {
        // The prefix is always binary, with any kb_base.
        let (unit, divisor) = if bandwidth.mean > 1_048_576.0 { ("MiB", 1024) } else { ("KiB", 1) };
        *text += &format!(
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:.2}%, avg={:5.2}, stdev={:5.2}, \
             samples={}\n",
            bandwidth.min / divisor,
            bandwidth.max / divisor,
            bandwidth.percent_of(group_rate),
            bandwidth.mean / divisor as f64,
            bandwidth.deviation / divisor as f64,
            bandwidth.count
        );
    }
    let iops = direction.iops();
    if iops.count > 0 {
        *text += &format!(
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
            iops.min, iops.max, iops.mean, iops.deviation, iops.count
        );
    }
}
