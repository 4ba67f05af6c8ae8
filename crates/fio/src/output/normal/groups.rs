//! The lines below the jobs: groups, then disks.

use candor_plan::units::Direction;

use super::super::figures::Entry;
use super::super::number::Units;
use crate::output::figures::direction::DirectionFigures;
use crate::output::figures::disks::Disk;

/// One section per group.
pub(super) fn groups(entries: &[Entry], text: &mut String) {
    let mut ids: Vec<u32> = entries.iter().map(|entry| entry.job.group_id).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let group: Vec<&Entry> = entries.iter().filter(|e| e.job.group_id == id).collect();
        *text += &format!("\nRun status group {id} (all jobs):\n");
        let unified = group.iter().map(|entry| entry.job.reporting.unified_rw).max().unwrap_or(0);
        if unified != 1 {
            for (op, name) in
                [(Direction::Read, "READ"), (Direction::Write, "WRITE"), (Direction::Trim, "TRIM")]
            {
                let all: Vec<DirectionFigures> =
                    group.iter().map(|entry| entry.figures.ops.of(op).clone()).collect();
                line(name, &group, &all, text);
            }
        }
        if unified != 0 {
            let all: Vec<DirectionFigures> =
                group.iter().map(|entry| entry.figures.mixed()).collect();
            line("MIXED", &group, &all, text);
        }
    }
}

/// Metrics of a group in one direction; `None` without operations.
fn line(name: &str, group: &[&Entry], all: &[DirectionFigures], text: &mut String) {
    let Some(longest_ns) = all.iter().map(|d| d.runtime_ns).max().filter(|ns| *ns > 0) else {
        return;
    };
    let units = Units::of(&group[0].job.reporting);
    let active = || all.iter().filter(|direction| direction.runtime_ns > 0);
    let bytes: u64 = active().map(|direction| direction.bytes).sum();
    let rate = bytes as f64 * 1e9 / longest_ns as f64;
    let slowest = active().map(DirectionFigures::bytes_per_s).fold(f64::INFINITY, f64::min);
    let fastest = active().map(DirectionFigures::bytes_per_s).fold(0.0, f64::max);
    let shortest = active().map(DirectionFigures::runtime_ms).min().unwrap_or(0);
    let longest = active().map(DirectionFigures::runtime_ms).max().unwrap_or(0);
    *text += &format!(
        "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec\n",
        units.rate(rate),
        units.other_rate(rate),
        units.rate(slowest),
        units.rate(fastest),
        units.other_rate(slowest),
        units.other_rate(fastest),
        units.size(bytes),
        units.other_size(bytes),
    );
}

/// The section of the disks.
pub(super) fn disks(disks: &[Disk], text: &mut String) {
    if disks.is_empty() {
        return;
    }
    *text += "\nDisk stats (read/write):\n";
    for disk in disks {
        let counted = &disk.counted;
        *text += &format!(
            "{}  {}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, \
             util={:.2}%",
            if disk.is_member { "  " } else { "" },
            disk.name,
            counted.reads,
            counted.writes,
            counted.read_sectors,
            counted.write_sectors,
            counted.read_merges,
            counted.write_merges,
            counted.read_ms,
            counted.write_ms,
            counted.weighted_ms,
            disk.busy_percent
        );
        if let Some(members) = &disk.members {
            let counted = &members.counted;
            *text += &format!(
                ", aggrios={}/{}, aggrsectors={}/{}, aggrmerge={}/{}, aggrticks={}/{}, \
                 aggrin_queue={}, aggrutil={:.2}%",
                counted.reads,
                counted.writes,
                counted.read_sectors,
                counted.write_sectors,
                counted.read_merges,
                counted.write_merges,
                counted.read_ms,
                counted.write_ms,
                counted.weighted_ms,
                members.busy_percent
            );
        }
        text.push('\n');
    }
}
