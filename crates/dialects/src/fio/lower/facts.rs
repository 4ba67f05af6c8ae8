//! What the output must know about a job.

use candor_plan::units::{Op, PerOp};
use candor_plan::{Blocks, Nanos};

use super::Instance;
use super::groups::Seat;
use crate::fio::job::{FioJob, LatencyGoal, Logs, Reporting, Shape, SteadyGoal, WindowValue};
use crate::fio::options;
use crate::fio::settings::{
    ContinueOn, KbBase, LogValue, Settings, Statistics, SteadyOf, Unified, UnitBase,
};
use crate::fio::words::{Assignment, Section, Word, Written};

/// The facts of one clone, whose job is the `job`-th of its phase.
pub(super) fn of(
    from: &Instance<'_>,
    section: &Section,
    seat: Seat,
    job: usize,
    blocks: &Blocks,
) -> FioJob {
    let settings = from.settings;
    FioJob {
        name: from.name.to_owned(),
        description: settings.about.description.clone(),
        phase: seat.phase,
        job,
        group_id: seat.group,
        group_reporting: settings.statistics.group,
        options: as_written(&section.own.assignments, Some(&section.name)),
        clone: from.clone as u32,
        number: from.number as u32 + 1,
        shape: shape(settings, blocks),
        counts_errors: settings.errors.continue_on != ContinueOn::None,
        latency_goal: LatencyGoal {
            target_ns: settings.goals.target.0,
            window_ns: settings.goals.window.0,
            percentile: settings.goals.percentile,
        },
        steady: steady(settings),
        logs: logs(from),
        reporting: reporting(&settings.statistics),
    }
}

fn shape(settings: &Settings, blocks: &Blocks) -> Shape {
    let sizes = |op: Op| (blocks.size.of(op).min().0, blocks.size.of(op).max().0);
    Shape {
        rw: settings.rw.direction.word().to_owned(),
        sizes: PerOp { read: sizes(Op::Read), write: sizes(Op::Write), trim: sizes(Op::Trim) },
        sizes_by_order: settings.blocks.by_order,
        engine: settings.issue.engine.clone(),
        depth: u32::try_from(settings.issue.depth).unwrap_or(u32::MAX),
        thread: settings.process.thread,
    }
}

fn steady(settings: &Settings) -> Option<SteadyGoal> {
    let said = &settings.runtime.steady;
    (said.duration > Nanos(0)).then_some(SteadyGoal {
        bandwidth: matches!(said.of, SteadyOf::Bandwidth | SteadyOf::BandwidthSlope),
        slope: matches!(
            said.of,
            SteadyOf::IopsSlope | SteadyOf::BandwidthSlope | SteadyOf::LatencySlope
        ),
        limit: said.limit,
        percent: said.percent,
        duration_s: said.duration.0 / 1_000_000_000,
    })
}

/// Logs of a job; one without a name of its own takes the job's.
fn logs(from: &Instance<'_>) -> Logs {
    let said = &from.settings.logs;
    let named = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some(if name.is_empty() { from.name.to_owned() } else { name.clone() })
    };
    Logs {
        bandwidth: named(&said.bandwidth),
        iops: named(&said.iops),
        latency: named(&said.latency),
        histogram: named(&said.histogram),
        window_ms: said.window_ms,
        window_value: match said.value {
            LogValue::Average => WindowValue::Mean,
            LogValue::Max => WindowValue::Max,
            LogValue::Both => WindowValue::Both,
        },
        coarseness: said.coarseness as u32,
        offset: said.offset,
        priority: said.priority,
        issue_time: said.issue_time,
        unix_epoch: said.epoch,
        per_job: said.per_job,
    }
}

/// Options of `[global]`, as written.
pub(super) fn global_options(written: &Written) -> Vec<(String, String)> {
    let blocks = written.globals.iter();
    blocks.flat_map(|block| as_written(&block.assignments, None)).collect()
}

/// Options by their first names with their values, as fio repeats them: those without a value are
/// left out, and a job of the command line begins with its name.
fn as_written(assignments: &[Assignment], section: Option<&Word>) -> Vec<(String, String)> {
    let own = assignments.iter().filter_map(|assignment| {
        let name = &assignment.name.text;
        let name = options::find(name).map_or(name.as_str(), |row| row.name);
        Some((name.to_owned(), assignment.value.as_ref()?.text.clone()))
    });
    let named = assignments.iter().any(|assignment| assignment.name.text == "name");
    let section = section.filter(|name| name.at.text == COMMAND_LINE && !named);
    section.map(|name| ("name".to_owned(), name.text.clone())).into_iter().chain(own).collect()
}

/// The command line is the first of all texts.
const COMMAND_LINE: usize = 0;

fn reporting(said: &Statistics) -> Reporting {
    let shown = |disabled: bool| !disabled && !said.reduced;
    Reporting {
        kb_base: match said.kb_base {
            KbBase::Binary => 1024,
            KbBase::Decimal => 1000,
        },
        unit_base: match said.unit_base {
            UnitBase::Auto => 0,
            UnitBase::Bytes => 8,
            UnitBase::Bits => 1,
        },
        unified_rw: match said.unified {
            Unified::None => 0,
            Unified::Mixed => 1,
            Unified::Both => 2,
        },
        clat_percentiles: shown(!said.clat_percentiles),
        lat_percentiles: shown(!said.lat_percentiles),
        slat_percentiles: shown(!said.slat_percentiles),
        percentiles: ascending(&said.percentiles),
        lat: shown(said.no_lat),
        clat: shown(said.no_clat),
        slat: shown(said.no_slat),
        bandwidth: shown(said.no_bandwidth),
        disk_util: said.disk_util,
        significant_figures: said.figures as u32,
        stats: said.stats,
        ..Reporting::default()
    }
}

fn ascending(percentiles: &[f64]) -> Vec<f64> {
    let mut percentiles = percentiles.to_vec();
    percentiles.sort_by(f64::total_cmp);
    percentiles
}
