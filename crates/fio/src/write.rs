//! Writes a plan as a job file, if fio can express it exactly.
//!
//! The text is read as fio's options are, and its plan is compared. If the plans differ, the result
//! is the differences instead of the text.

mod same;

use std::fmt::Write;
use std::io;

use candor_plan::blocks::{Access, Arrival, Blocks, Fill, OpenSync, Pace};
use candor_plan::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Engine, Job, Nanos, PathText, Phase, Plan, Stop};

use super::ast::{FioEnvironment, Keyword};
use super::lower::lower;
use candor_front::{Environment, Host};

/// The plan as a job file of fio.
///
/// # Errors
/// Returns sentences on parts of the plan that fio cannot express.
pub fn job_file(plan: &Plan, host: &dyn Host) -> Result<String, Vec<String>> {
    let text = text(plan)?;
    let argv = ["fio".into(), TEXT.into()];
    let (ast, mut diagnostics) = super::read(&argv, &mut OneText(&text));
    let again = if diagnostics.is_empty() { lower(&ast, host) } else { Err(Vec::new()) };
    let again = again.map_err(|wrong| {
        diagnostics.extend(wrong);
        diagnostics.iter().map(|of| of.describe(&ast.texts)).collect::<Vec<_>>()
    })?;
    let differences = same::differences(plan, &again.plan);
    if differences.is_empty() { Ok(text) } else { Err(differences) }
}

/// Name of the text as it is read again.
const TEXT: &str = "plan.fio";

/// The surroundings of the text: nothing, for it refers to nothing.
struct OneText<'a>(&'a str);

impl Environment for OneText<'_> {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        match path {
            TEXT => Ok(self.0.as_bytes().to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

impl FioEnvironment for OneText<'_> {
    fn keyword(&self, _: Keyword) -> u64 {
        0
    }
}

fn text(plan: &Plan) -> Result<String, Vec<String>> {
    let mut text = String::new();
    for (nth, phase) in plan.phases.iter().enumerate() {
        for (at, job) in phase.jobs.iter().enumerate() {
            let Some(blocks) = job.blocks() else {
                let word = job.work.name();
                return Err(vec![format!("{}: fio's job files have no {word}", phase.name)]);
            };
            if let Some(bucket) = &blocks.bucket {
                let why = "a job file would need the secret of its user";
                return Err(vec![format!("{}: blocks are in bucket {bucket}: {why}", phase.name)]);
            }
            let mut words = Words::default();
            let name = if phase.jobs.len() > 1 { &job.name } else { &phase.name };
            let _ = writeln!(words.0, "[{}]", name.replace(['[', ']'], "_"));
            words.when(nth > 0 && at == 0, "stonewall");
            words.target(plan, job);
            words.issue(blocks);
            words.ends(phase, job.stop.as_ref().unwrap_or(&phase.stop));
            let each = pace_of_each(&blocks.pace, job.workers);
            words.pace(&each.unwrap_or_else(|| blocks.pace.clone()), blocks.mix);
            words.numbers("numjobs", u64::from(job.workers), 1);
            words.duration("startdelay", job.delay);
            text += if text.is_empty() { "" } else { "\n" };
            text += &words.0;
        }
    }
    Ok(text)
}

/// Options of a section.
#[derive(Default)]
struct Words(String);

impl Words {
    fn word(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing into a text cannot fail.
        let _ = writeln!(self.0, "{name}={value}");
    }

    fn when(&mut self, applies: bool, word: &str) {
        if applies {
            self.0 += word;
            self.0.push('\n');
        }
    }

    fn numbers(&mut self, name: &str, value: u64, default: u64) {
        if value != default {
            self.word(name, value);
        }
    }

    fn duration(&mut self, name: &str, time: Nanos) {
        match time.0 {
            0 => {}
            ns if ns.is_multiple_of(1_000_000_000) => {
                self.word(name, format!("{}s", ns / 1_000_000_000));
            }
            ns => self.word(name, format!("{}us", ns.div_ceil(1000))),
        }
    }

    /// The files, and how much of them.
    fn target(&mut self, plan: &Plan, job: &Job) {
        let targets: Vec<_> = job.targets.iter().filter_map(|name| plan.target(name)).collect();
        let path = |path: &std::path::Path| path.text().replace(':', "\\:");
        let paths: Vec<String> = targets.iter().map(|target| path(&target.path)).collect();
        if !paths.is_empty() {
            self.word("filename", paths.join(":"));
        }
        let length = job.blocks().and_then(|blocks| match blocks.range.length {
            Some(Extent::Bytes(length)) => Some(length.0),
            _ => None,
        });
        let whole = if let [target] = targets[..] {
            target.size.map(|size| size.0.saturating_sub(job.blocks().map_or(0, start)))
        } else {
            None
        };
        if let Some(bytes) = length.or(whole) {
            self.word("size", bytes);
        }
    }

    /// Operations, sizes, order, engine.
    fn issue(&mut self, blocks: &Blocks) {
        let in_order = matches!(blocks.access, Access::Sequential);
        let random = if in_order { "" } else { "rand" };
        self.word("rw", format!("{random}{}", direction(blocks.mix, in_order)));
        if blocks.mix.read > 0 && blocks.mix.write > 0 {
            self.word("rwmixread", blocks.mix.read);
        }
        self.sizes(&blocks.size);
        match &blocks.access {
            Access::Zipf { theta, center_percent } => {
                self.word("random_distribution", spread("zipf", *theta, *center_percent));
            }
            Access::Pareto { h, center_percent } => {
                self.word("random_distribution", spread("pareto", *h, *center_percent));
            }
            _ => {}
        }
        self.when(!in_order && blocks.access != Access::Permutation, "norandommap=1");
        self.numbers("offset", start(blocks), 0);
        self.word("ioengine", engine(&blocks.engine));
        self.depth(blocks);
        self.when(blocks.direct, "direct=1");
        self.when(!blocks.hints.invalidate && !blocks.hints.evict, "invalidate=0");
        self.when(blocks.hints.advice.0.is_empty(), "fadvise_hint=0");
        match blocks.durability.open {
            OpenSync::None => {}
            OpenSync::Dsync => self.word("sync", "dsync"),
            OpenSync::Sync => self.word("sync", "sync"),
        }
        self.numbers("fsync", blocks.durability.fsync_every, 0);
        self.numbers("fdatasync", blocks.durability.fdatasync_every, 0);
        self.when(blocks.durability.fsync_at_end, "end_fsync=1");
        match blocks.content.fill {
            _ if blocks.mix.write == 0 => {}
            // Random bytes, no two blocks of them alike.
            Fill::Pool | Fill::Fresh => self.when(true, "refill_buffers=1"),
            Fill::Zero => self.when(true, "zero_buffers=1"),
            Fill::Once => self.when(true, "scramble_buffers=0"),
            Fill::Stamp | Fill::Pattern | Fill::Words => {}
        }
    }

    fn depth(&mut self, blocks: &Blocks) {
        self.numbers("iodepth", blocks.depth.into(), 1);
        if blocks.depth > 1 && blocks.engine.takes_many() {
            let number = |value: Option<u32>| u64::from(value.unwrap_or(blocks.depth));
            self.numbers("iodepth_batch", number(blocks.batch_submit), 1);
            self.numbers("iodepth_batch_complete_min", blocks.batch_reap.into(), 1);
            self.word("iodepth_batch_complete_max", number(blocks.batch_reap_max));
        }
    }

    fn sizes(&mut self, sizes: &PerDirection<SizeSpec>) {
        let all: Vec<&SizeSpec> = sizes.iter().map(|(_, size)| size).collect();
        let words = |of: &dyn Fn(&SizeSpec) -> Option<String>| -> Option<String> {
            let texts: Vec<String> = all.iter().map(|size| of(size)).collect::<Option<_>>()?;
            let is_one = texts.iter().all(|text| *text == texts[0]);
            Some(if is_one { texts[0].clone() } else { texts.join(",") })
        };
        let fixed = |size: &SizeSpec| match size {
            SizeSpec::Fixed(Bytes(bytes)) => Some(bytes.to_string()),
            _ => None,
        };
        let split = |size: &SizeSpec| match size {
            SizeSpec::Weighted(parts) => Some(
                parts
                    .iter()
                    .map(|(Bytes(bytes), percent)| format!("{bytes}/{percent}"))
                    .collect::<Vec<_>>()
                    .join(":"),
            ),
            _ => None,
        };
        for (name, of) in [
            ("bs", &fixed as &dyn Fn(&SizeSpec) -> Option<String>),
            ("bsrange", &|size| match size {
                SizeSpec::Range(Bytes(low), Bytes(high)) => Some(format!("{low}-{high}")),
                _ => None,
            }),
            ("bssplit", &split),
        ] {
            if let Some(text) = words(of) {
                return self.word(name, text);
            }
        }
    }

    fn ends(&mut self, phase: &Phase, stop: &Stop) {
        if let Some(time) = stop.time {
            self.when(stop.passes.is_none() && stop.bytes.is_none(), "time_based");
            self.duration("runtime", time);
        }
        self.numbers("loops", stop.passes.map_or(1, u64::from), 1);
        self.numbers("io_size", stop.bytes.map_or(0, |bytes| bytes.0), 0);
        self.numbers("number_ios", stop.ops.unwrap_or(0), 0);
        self.duration("ramp_time", phase.ramp);
    }

    fn pace(&mut self, pace: &Pace, mix: Mix) {
        let rates = |of: &PerDirection<u64>| format!("{},{},{}", of.read, of.write, of.trim);
        // A rate of all directions together is the one of the only direction.
        let only = one_direction(mix).is_some();
        if let Some(ops) = pace.ops.filter(|_| only) {
            self.word("rate_iops", ops.0);
        }
        if let Some(bytes) = pace.bytes.filter(|_| only) {
            self.word("rate", bytes.0);
        }
        if let Some(ops) = &pace.per_direction {
            self.word("rate_iops", rates(&ops.map(|rate| rate.0)));
        }
        if let Some(bytes) = &pace.bytes_per_direction {
            self.word("rate", rates(&bytes.map(|rate| rate.0)));
        }
        self.when(pace.arrival == Arrival::Poisson, "rate_process=poisson");
    }
}

/// The pace of each worker of a job; `None` if rates cannot be divided.
fn pace_of_each(pace: &Pace, workers: u32) -> Option<Pace> {
    let workers = u64::from(workers.max(1));
    let part = |rate: u64| rate.is_multiple_of(workers).then_some(rate / workers);
    let mut each = pace.clone();
    for rate in each.ops.iter_mut() {
        rate.0 = part(rate.0)?;
    }
    for rate in each.bytes.iter_mut() {
        rate.0 = part(rate.0)?;
    }
    for direction in Direction::ALL {
        for rates in each.per_direction.iter_mut() {
            rates.of_mut(direction).0 = part(rates.of(direction).0)?;
        }
        for rates in each.bytes_per_direction.iter_mut() {
            rates.of_mut(direction).0 = part(rates.of(direction).0)?;
        }
    }
    Some(each)
}

/// A distribution with its parameter and optional center.
fn spread(name: &str, parameter: f64, center_percent: Option<f64>) -> String {
    let center = center_percent.map_or(String::new(), |percent| format!(":{}", percent / 100.0));
    format!("{name}:{parameter}{center}")
}

/// The only direction of a mix.
fn one_direction(mix: Mix) -> Option<Direction> {
    Direction::ALL.into_iter().find(|direction| u32::from(mix.of(*direction)) == mix.total())
}

fn direction(mix: Mix, in_order: bool) -> &'static str {
    match one_direction(mix) {
        Some(only) => only.name(),
        None if mix.trim > 0 => "trimwrite",
        None if in_order => "readwrite",
        None => "rw",
    }
}

fn start(blocks: &Blocks) -> u64 {
    match blocks.range.start {
        Extent::Bytes(Bytes(bytes)) => bytes,
        Extent::Percent(_) => 0,
    }
}

/// fio's name of an engine.
fn engine(engine: &Engine) -> &'static str {
    match engine {
        Engine::Pvsync(_) => "pvsync2",
        Engine::Fallocate => "falloc",
        Engine::Threads => "posixaio",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests;
