//! Results as one line per job, fields divided by semicolons: versions 2 to 5.

use candor_plan::units::Direction;
use candor_record::Report;

use super::VERSION;
use super::figures::disks::disks_shown;
use super::figures::{Entry, group_rate};
use crate::job::Reporting;
use crate::output::figures::direction::DirectionFigures;
use crate::output::figures::spread::Spread;

/// Percentiles that each direction has room for.
const PERCENTILES: usize = 20;

/// All lines.
pub(super) fn document(report: &Report, entries: &[Entry], version: u32) -> String {
    let disks = disks_shown(report, entries);
    let mut text = String::new();
    for entry in entries {
        let mut fields = job(entry, entries, version);
        if version > 2 {
            for disk in &disks {
                let counted = &disk.counted;
                fields.push(disk.name.clone());
                let numbers = [
                    counted.reads,
                    counted.writes,
                    counted.read_merges,
                    counted.write_merges,
                    counted.read_ms,
                    counted.write_ms,
                    counted.weighted_ms,
                ];
                fields.extend(numbers.iter().map(u64::to_string));
                fields.push(format!("{:.2}%", disk.busy_percent));
            }
        }
        if entry.job.counts_errors {
            fields.push(entry.figures.errors.to_string());
            let first = entry.figures.trouble.as_ref().map_or(0, |trouble| trouble.errno);
            fields.push(first.to_string());
        }
        text += &fields.join(";");
        if let Some(description) = &entry.job.description {
            // Version 2 prints it on a separate line, after the semicolon.
            text += if version == 2 { "\n;" } else { ";" };
            text += description;
        }
        text.push('\n');
    }
    text
}

fn job(entry: &Entry, all: &[Entry], version: u32) -> Vec<String> {
    let (job, figures) = (entry.job, &entry.figures);
    let mut fields = vec![version.to_string()];
    if version > 2 {
        fields.push(VERSION.into());
    }
    fields.push(job.name.clone());
    fields.push(job.group_id.to_string());
    fields.push(figures.trouble.as_ref().map_or(0, |trouble| trouble.errno).to_string());
    let reporting = &entry.reporting;
    if reporting.unified_rw != 1 {
        for op in Direction::ALL.into_iter().filter(|op| version != 3 || *op != Direction::Trim) {
            let share = group_rate(all, job.group_id, |e| e.figures.ops.of(op).bytes_per_s());
            direction(figures.ops.of(op), reporting, share, version, &mut fields);
        }
    }
    if reporting.unified_rw > 0 {
        let share = group_rate(all, job.group_id, |e| e.figures.mixed().bytes_per_s());
        direction(&figures.mixed(), reporting, share, version, &mut fields);
    }
    process(entry, &mut fields);
    fields
}

fn direction(
    direction: &DirectionFigures,
    reporting: &Reporting,
    group_rate: f64,
    version: u32,
    fields: &mut Vec<String>,
) {
    fields.push((direction.bytes / 1024).to_string());
    fields.push(((direction.bytes_per_s() / 1024.0) as u64).to_string());
    fields.push((direction.ops_per_s() as u64).to_string());
    fields.push(direction.runtime_ms().to_string());
    latency(&direction.slat, fields);
    latency(&direction.clat, fields);
    // Percentiles are of total latency if requested, else of completion latency.
    let spread = if reporting.lat_percentiles { &direction.lat } else { &direction.clat };
    let wanted = reporting.lat_percentiles || reporting.clat_percentiles;
    for at in 0..PERCENTILES {
        fields.push(match reporting.percentiles.get(at).filter(|_| wanted) {
            Some(percent) => format!("{percent:.6}%={}", spread.percentile(*percent) / 1000),
            None => "0%=0".into(),
        });
    }
    latency(&direction.lat, fields);
    let bandwidth = direction.bandwidth(reporting);
    fields.push(bandwidth.min.to_string());
    fields.push(bandwidth.max.to_string());
    fields.push(format!("{:.6}%", bandwidth.percent_of(group_rate)));
    fields.push(format!("{:.6}", bandwidth.mean));
    fields.push(format!("{:.6}", bandwidth.deviation));
    if version == 5 {
        let iops = direction.iops();
        fields.push(bandwidth.count.to_string());
        fields.push(iops.min.to_string());
        fields.push(iops.max.to_string());
        fields.push(format!("{:.6}", iops.mean));
        fields.push(format!("{:.6}", iops.deviation));
        fields.push(iops.count.to_string());
    }
}

/// Minimum, maximum, mean and deviation in µs.
fn latency(spread: &Spread, fields: &mut Vec<String>) {
    fields.push((spread.min() / 1000).to_string());
    fields.push((spread.max() / 1000).to_string());
    fields.push(format!("{:.6}", spread.mean() / 1000.0));
    fields.push(format!("{:.6}", spread.deviation() / 1000.0));
}

/// CPU, depths and the table of latencies.
fn process(entry: &Entry, fields: &mut Vec<String>) {
    let figures = &entry.figures;
    let (user, system) = figures.cpu_percent();
    fields.push(format!("{user:.6}%"));
    fields.push(format!("{system:.6}%"));
    fields.push(figures.switches.to_string());
    fields.push(figures.faults_major.to_string());
    fields.push(figures.faults_minor.to_string());
    let depths = figures.depth_shares();
    fields.extend(depths.iter().map(|share| format!("{share:.1}%")));
    let table = figures.table();
    // The first field has all latencies below 2 µs.
    let mut us = table.us;
    us[0] += table.ns.iter().sum::<f64>();
    fields.extend(us.iter().chain(&table.ms).map(|share| format!("{share:.2}%")));
}
