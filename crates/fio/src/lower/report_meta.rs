//! Facts about a job that the output needs in addition to its measurement.

pub(super) mod blanks;
pub(super) mod remarks;

use candor_plan::blocks::IoPriority;
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{Blocks, PathText, Program, SteadyFigure, Work};

use super::groups::Seat;
use super::instance::Instance;
use crate::ast::{Ast, Block, Origin, Section};
use crate::job::{FioJob, LatencyGoal, Logs, Reporting, Shape, SteadyGoal, WindowValue};
use crate::options::{
    self, Amount, ContinueOn, JobOptions, KbBase, LogValue, Method, Statistics, SteadyOf,
    SubmitMode, Unified, UnitBase,
};
use candor_front::Diagnostics;

/// Facts of one clone, the `job`-th of its phase.
pub(super) fn of(
    from: &Instance<'_>,
    section: &Section,
    seat: Seat,
    job: usize,
    blocks: &Blocks,
    instead: Option<&Work>,
    diagnostics: &mut Diagnostics,
) -> FioJob {
    let options = from.options;
    let usual = reporting(&options.statistics);
    let does_io = !super::engines::programs::is_one(from);
    FioJob {
        name: from.name.to_owned(),
        description: options.about.description.clone(),
        without_size: without_size(options),
        io_priority: super::processes::io_priority(from).map_or(0, IoPriority::bits),
        phase: seat.phase,
        job,
        group_id: seat.group,
        group_reporting: options.statistics.group,
        options: as_written(&section.own, &section.name.text),
        clone: from.clone as u32,
        number: from.number as u32 + 1,
        shape: shape(from, blocks, instead),
        counted_as: super::engines::counted_as(from),
        counts_errors: options.errors.continue_on != ContinueOn::None
            || options.errors.ignore.is_some(),
        counts_mismatches: matches!(
            options.errors.continue_on,
            ContinueOn::Verify | ContinueOn::All
        ),
        counts_zone_resets: blocks.zones.is_some()
            && (options.rw.direction.writes() || options.rw.direction.trims()),
        checks_beside: options.verify.backlog.is_some_and(|writes| writes > 0),
        per_name: super::engines::per_name(from, blocks),
        verify_only: options.verify.only && options.verify.method != Method::None,
        latency_goal: LatencyGoal {
            target_ns: options.goals.target.0,
            window_ns: options.goals.window.0,
            percentile: options.goals.percentile,
        },
        steady: steady(options),
        logs: logs(from, diagnostics),
        state: super::content::verify::saved(from),
        reporting: Reporting {
            percentile_places: places(from),
            // The disks of a trace are unknown before it is read.
            disk_util: options.statistics.disk_util && options.trace.read.is_empty(),
            bandwidth: usual.bandwidth && does_io,
            ..usual
        },
        start_ahead_ms: ahead_ms(
            from,
            "job_start_clock_id",
            options.runtime.start_clock_id,
            diagnostics,
        ),
    }
}

/// True if the size of a missing file is unknown; a percentage does not define one.
fn without_size(options: &JobOptions) -> bool {
    let share = matches!(options.area.size, None | Some(Amount::Percent(_) | Amount::Bytes(0)));
    share && options.files.size.is_none()
}

fn shape(from: &Instance<'_>, blocks: &Blocks, instead: Option<&Work>) -> Shape {
    let options = from.options;
    let sizes = |op: Direction| (blocks.size.of(op).min().0, blocks.size.of(op).max().0);
    let engine = options.issue.engine.as_str();
    let engine = options::engine(engine).map_or(engine, |known| known.name);
    Shape {
        rw: options.rw.direction.word().to_owned(),
        sizes: PerDirection {
            read: sizes(Direction::Read),
            write: sizes(Direction::Write),
            trim: sizes(Direction::Trim),
        },
        sizes_by_order: options.blocks.by_order,
        engine: engine.to_owned(),
        depth: u32::try_from(options.issue.depth).unwrap_or(u32::MAX),
        thread: options.process.thread,
        instead: instead.and_then(|work| other_work(from, work)),
        remarks: remarks::remarks(from),
        offloads: options.issue.submit == SubmitMode::Offload,
        depth_capped: options.issue.depth > 1
            && ONE_AT_A_TIME.contains(&engine)
            && options.issue.submit != SubmitMode::Offload,
        lays_out: !WITHOUT_BYTES.contains(&engine)
            && !options.making.on_open
            && options.making.allowed
            && options.trace.read.is_empty(),
    }
}

/// Lines of a job that does something else than I/O.
fn other_work(from: &Instance<'_>, work: &Work) -> Option<String> {
    let (name, given) = (from.name, &from.options.engine);
    match work {
        Work::Burn(_) => Some(format!(
            "{name} ({}): ioengine=cpuio, cpuload={}, cpucycle={}\n",
            given.cpu_mode.word(),
            given.cpu_load,
            given.cpu_chunks_us
        )),
        Work::Program(Program { command, output, errors, .. }) => {
            let arguments = given.arguments.as_deref().unwrap_or("(null)");
            let program = given.program.as_deref().unwrap_or_default();
            let command = command.join(" ");
            let runs = match (output, errors) {
                (Some(output), Some(errors)) => format!(
                    "{name} : Saving output of {command} : stdout={} stderr={}\n",
                    output.text(),
                    errors.text()
                ),
                _ => format!("{name} : Running {command}\n"),
            };
            Some(format!("{name} : program={program}, arguments={arguments}\n{runs}"))
        }
        _ => None,
    }
}

/// Engines that do one operation at a time.
const ONE_AT_A_TIME: [&str; 13] = [
    "sync",
    "psync",
    "page_fault",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
];

/// Engines without layout of files.
const WITHOUT_BYTES: [&str; 6] = ["null", "cpuio", "exec", "filecreate", "page_fault", "http"];

fn steady(options: &JobOptions) -> Option<SteadyGoal> {
    let given = &options.runtime.steady;
    let windows = given.windows();
    (windows > 0).then_some(SteadyGoal {
        figure: match given.of {
            SteadyOf::Iops | SteadyOf::IopsSlope => SteadyFigure::Ops,
            SteadyOf::Bandwidth | SteadyOf::BandwidthSlope => SteadyFigure::Bytes,
            SteadyOf::Latency | SteadyOf::LatencySlope => SteadyFigure::Latency,
        },
        slope: matches!(
            given.of,
            SteadyOf::IopsSlope | SteadyOf::BandwidthSlope | SteadyOf::LatencySlope
        ),
        limit: given.limit,
        percent: given.percent,
        duration_s: given.duration.0 / 1_000_000_000,
        windows: windows.into(),
    })
}

/// Logs of a job; an unnamed log gets the job's name.
fn logs(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Logs {
    let given = &from.options.logs;
    if given.issue_time && (given.latency.is_none() || !given.offset) {
        let message = "times of issue are in logs of latency that have offsets".to_owned();
        diagnostics.wrong(from, "log_issue_time", message, "set write_lat_log and log_offset=1");
    }
    let named = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some(if name.is_empty() { from.name.to_owned() } else { name.clone() })
    };
    Logs {
        end: String::new(),
        bandwidth: named(&given.bandwidth),
        iops: named(&given.iops),
        latency: named(&given.latency),
        histogram: named(&given.histogram),
        window_ms: given.window_ms,
        window_value: match given.value {
            LogValue::Average => WindowValue::Mean,
            LogValue::Max => WindowValue::Max,
            LogValue::Both => WindowValue::Both,
        },
        coarseness: given.coarseness as u32,
        offset: given.offset,
        priority: given.priority,
        issue_time: given.issue_time,
        epoch_ahead_ms: given.alternate_epoch.then(|| {
            ahead_ms(from, "log_alternate_epoch_clock_id", given.epoch_clock, diagnostics)
        }),
        compressed: given.store_compressed,
        per_job: given.per_job,
        trace: from.options.trace.write.clone().filter(|_| from.options.trace.read.is_empty()),
    }
}

/// `CLOCK_PROCESS_CPUTIME_ID` and `CLOCK_THREAD_CPUTIME_ID`.
const OF_CPU_TIME: [u64; 2] = [2, 3];

/// By how many ms a clock of the kernel is ahead of the wall clock.
fn ahead_ms(from: &Instance<'_>, option: &str, id: u64, diagnostics: &mut Diagnostics) -> i64 {
    if OF_CPU_TIME.contains(&id) {
        diagnostics.refuse(from, option, "that clock counts CPU cycles and has no time of day");
        return 0;
    }
    let read = |id: u64| from.host.clock_ms(u32::try_from(id).ok()?);
    match (id, read(id), read(0)) {
        (0, ..) => 0,
        (_, Some(ms), Some(wall_ms)) => ms.saturating_sub(wall_ms),
        _ => {
            diagnostics.wrong(
                from,
                option,
                format!("the kernel has no clock of number {id}"),
                "use 0 (wall clock), 1 (monotonic), 4 (monotonic, raw) or 7 (since boot)",
            );
            0
        }
    }
}

/// Maximum number of decimals of the written percentiles.
fn places(from: &Instance<'_>) -> usize {
    let given = from.options.given.get("percentile_list");
    let text = given.and_then(|given| given.value.as_deref()).unwrap_or_default();
    let decimals = |part: &str| part.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    text.split(':').map(|part| decimals(part.trim())).max().unwrap_or(0)
}

/// Options of `[global]`, as written.
pub(super) fn global_options(ast: &Ast) -> Option<Vec<(String, String)>> {
    let blocks: Vec<_> = ast.globals.iter().filter_map(|block| as_written(block, "")).collect();
    if blocks.is_empty() { None } else { Some(blocks.concat()) }
}

/// Options by their first names with their values, each once with the last value, as fio shows
/// them: of a command line with the name that opens the section. A bare option has an empty value.
/// `None` without writes.
fn as_written(block: &Block, section: &str) -> Option<Vec<(String, String)>> {
    let on_line = block.origin == Origin::CommandLine;
    let mut options: Vec<(String, String)> = Vec::new();
    if on_line && !section.is_empty() {
        options.push(("name".to_owned(), section.to_owned()));
    }
    for assignment in &block.assignments {
        let name = &assignment.name.text;
        let row = options::TABLE.find(name);
        let name = row.map_or(name.as_str(), |row| row.name);
        let value = assignment.text().unwrap_or_default();
        let value = row.map_or(value, |row| row.shown(value)).to_owned();
        match options.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => options.push((name.to_owned(), value)),
        }
    }
    (!options.is_empty()).then_some(options)
}

fn reporting(given: &Statistics) -> Reporting {
    let shown = |disabled: bool| !disabled && !given.reduced;
    Reporting {
        kb_base: match given.kb_base {
            KbBase::Binary => 1024,
            KbBase::Decimal => 1000,
        },
        unit_base: match given.unit_base {
            UnitBase::Auto => 0,
            UnitBase::Bytes => 8,
            UnitBase::Bits => 1,
        },
        unified_rw: match given.unified {
            Unified::None => 0,
            Unified::Mixed => 1,
            Unified::Both => 2,
        },
        clat_percentiles: shown(!given.clat_percentiles),
        lat_percentiles: shown(!given.lat_percentiles),
        slat_percentiles: shown(!given.slat_percentiles),
        percentiles: ascending(&given.percentiles),
        lat: shown(given.no_lat),
        clat: shown(given.no_clat),
        slat: shown(given.no_slat),
        bandwidth_by_operation: shown(given.no_bandwidth),
        iops_by_operation: !given.reduced,
        disk_util: given.disk_util,
        significant_figures: given.figures as u32,
        stats: given.stats,
        ..Reporting::default()
    }
}

fn ascending(percentiles: &[f64]) -> Vec<f64> {
    let mut percentiles = percentiles.to_vec();
    percentiles.sort_by(f64::total_cmp);
    percentiles
}
