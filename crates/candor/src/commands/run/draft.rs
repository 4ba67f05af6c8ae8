//! Options given so far, and the plan that they make.

use std::path::PathBuf;

use candor_blocks::engines;
use candor_plan::blocks::{CallFlags, Engine, Uring};
use candor_plan::{
    Blocks, Bytes, Job, Objects, Phase, Plan, PlanPath, Problem, Target, TargetKind,
};

use super::lists::{self, List, Value};
use super::s3::S3Job;
use super::work_names;

/// One job under construction.
#[derive(Debug, Default)]
pub struct Draft {
    /// Paths of the targets.
    pub paths: Vec<PathBuf>,
    /// Settings of all targets.
    pub target: Target,
    /// The phase, without its job.
    pub phase: Phase,
    /// The job, without its blocks.
    pub job: Job,
    /// The job's blocks, but for their engine.
    pub blocks: Blocks,
    /// The engine with its default options, where one was named.
    pub engine: Option<Engine>,
    /// Options of io_uring, and the first flag that gave one.
    pub uring: Option<(Uring, &'static str)>,
    /// Flags of each call.
    pub call_flags: Option<CallFlags>,
    /// Each call polls for its completion.
    pub hipri: bool,
    /// The page cache was asked for by name.
    pub buffered: bool,
    /// The run's seed.
    pub seed: Option<u64>,
    /// How often it runs.
    pub repeats: Option<u32>,
    /// Name of the run, given by the user.
    pub name: Option<String>,
    /// Flags that have lists; the job has the first value of each.
    pub lists: Vec<List>,
    /// Buckets and objects, if targets are buckets.
    pub s3: S3Job,
}

/// Size of a target that has no bytes.
const NULL_SIZE: Bytes = Bytes(1 << 30);

impl Draft {
    /// The option that is needed and was not given.
    pub fn lacks(&self) -> Option<Problem> {
        let has_target = !self.paths.is_empty() || self.is_s3();
        (!has_target && self.engine().uses_targets()).then(|| {
            Problem::error(
                "no-targets",
                PlanPath::root(),
                "no target is given",
                "add --target PATH, or name a plan: candor run FILE.toml",
            )
        })
    }

    /// A flag that the engine has no use for.
    pub fn contradicts(&self) -> Option<Problem> {
        let engine = self.named_engine();
        if !engine.takes_many() && self.lists.iter().any(|list| list.flag == "depth") {
            return Some(Problem::error(
                "engine-options",
                PlanPath::from("--depth"),
                format!("--depth is a list, and {} has one operation in flight", engine.name()),
                "add --engine io_uring",
            ));
        }
        if engine.is_passthrough() && self.buffered {
            return Some(Problem::error(
                "engine-options",
                PlanPath::from("--buffered"),
                format!("--buffered is set, and {} goes past the page cache", engine.name()),
                "leave it out",
            ));
        }
        let (flag, fitting) = match (&self.uring, self.call_flags) {
            (Some((_, flag)), _) if engine.uring().is_none() => (*flag, "io_uring"),
            (_, Some(_)) if engine.call_flags().is_none() => ("rwf", "pvsync"),
            _ if self.hipri && !matches!(engine, Engine::Pvsync(_)) => ("rwf hipri", "pvsync"),
            _ => return None,
        };
        Some(Problem::error(
            "engine-options",
            PlanPath::root(),
            format!("--{flag} is set, but the engine is {}", engine.name()),
            format!("add --engine {fitting}, or leave it out"),
        ))
    }

    /// The engine that was named, or that does what flags ask for: psync keeps one operation in
    /// flight, however many are asked for.
    fn named_engine(&self) -> Engine {
        let is_sync = self.depth_most() <= 1 || self.call_flags.is_some() || self.hipri;
        match self.engine {
            Some(engine) => engine,
            None if is_sync => Engine::Psync,
            None => engines::best_of_many(),
        }
    }

    /// The greatest depth of any phase.
    fn depth_most(&self) -> u32 {
        let depth = |value: &Value| if let Value::Depth(depth) = value { *depth } else { 1 };
        let listed = self.lists.iter().flat_map(|list| &list.values).map(depth);
        listed.fold(self.blocks.depth, u32::max)
    }

    /// The engine with the options that flags gave.
    fn engine(&self) -> Engine {
        let mut engine = self.named_engine();
        if let (Engine::IoUring(options), Some((given, _))) = (&mut engine, self.uring) {
            *options = given;
        }
        if let Engine::Pvsync(options) = &mut engine {
            options.hipri = self.hipri;
        }
        if let (Some(flags), Some(given)) = (engine.call_flags_mut(), self.call_flags) {
            *flags = given;
        }
        engine
    }

    /// Options of io_uring, for that flag.
    pub fn uring(&mut self, flag: &'static str) -> &mut Uring {
        &mut self.uring.get_or_insert((Uring::DEFAULT, flag)).0
    }

    /// Takes the value of a flag, or a list, of which each phase has one.
    pub fn take(
        &mut self,
        flag: &'static str,
        text: &str,
        value: fn(&str) -> Result<Value, String>,
    ) -> Result<(), String> {
        let values = lists::read(text, value)?;
        let (job, blocks, work) = (&mut self.job, &mut self.blocks, &mut self.s3.work);
        values.iter().rev().for_each(|value| value.put(job, blocks, work));
        if values.len() > 1 {
            self.lists.push(List { flag, values });
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(self) -> Plan {
        if self.is_s3() {
            return self.object_plan();
        }
        let name = self.name.clone().unwrap_or_else(|| self.title());
        let targets = self.targets();
        let phase = |values: &Vec<&Value>| self.phase_of(&name, &targets, values);
        let phases = lists::choices(&self.lists).iter().map(phase).collect();
        let usual = Plan::default();
        Plan {
            name,
            targets,
            phases,
            seed: self.seed.unwrap_or(usual.seed),
            repeats: self.repeats.unwrap_or(usual.repeats),
            ..usual
        }
    }

    /// The phase that has these values of the lists.
    fn phase_of(&self, name: &str, targets: &[Target], values: &[&Value]) -> Phase {
        let engine = self.engine();
        let direct = self.blocks.direct || engine.is_passthrough();
        let mut blocks = Blocks { engine, direct, ..self.blocks.clone() };
        let mut job = Job {
            name: "job".to_owned(),
            targets: targets.iter().map(|target| target.name.clone()).collect(),
            ..self.job.clone()
        };
        let mut no_objects = Objects::default();
        values.iter().for_each(|value| value.put(&mut job, &mut blocks, &mut no_objects));
        job.work = blocks.into();
        let name = if values.is_empty() { name.to_owned() } else { lists::name(values) };
        Phase { name, jobs: vec![job], ..self.phase.clone() }
    }

    /// The targets: one for each path.
    pub fn targets(&self) -> Vec<Target> {
        if self.paths.is_empty() {
            let size = self.target.size.or(Some(NULL_SIZE));
            return vec![Target { kind: TargetKind::Null, size, ..self.target.clone() }];
        }
        let many = self.paths.len() > 1;
        let target = |(i, path): (usize, &PathBuf)| Target {
            name: if many { format!("target{}", i + 1) } else { "target".to_owned() },
            path: path.clone(),
            ..self.target.clone()
        };
        self.paths.iter().enumerate().map(target).collect()
    }

    /// The job's name in the report: `random read 4 KiB, depth 32`. Flags with lists, by which
    /// its phases are named, are named themselves: `random read 4 KiB, by depth`.
    fn title(&self) -> String {
        let blocks = &self.blocks;
        let kind = (!self.is_list("rw")).then(|| work_names::kind(blocks.mix, &blocks.access));
        let size = (!self.is_list("bs")).then(|| work_names::size(&blocks.size.read));
        let work: Vec<String> = [kind, size].into_iter().flatten().collect();
        let work = (!work.is_empty()).then(|| work.join(" "));
        let lists: Vec<&str> = self.lists.iter().map(|list| list.flag).collect();
        let by = (!lists.is_empty()).then(|| format!("by {}", lists.join(" and ")));
        let workers = self.amount("workers", self.job.workers);
        let parts = [work, self.amount("depth", blocks.depth), workers, by];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// True if a flag has several values.
    pub fn is_list(&self, flag: &str) -> bool {
        self.lists.iter().any(|list| list.flag == flag)
    }

    /// The value of a flag for a title, unless it is 1 or a list.
    pub fn amount(&self, flag: &str, number: u32) -> Option<String> {
        (number != 1 && !self.is_list(flag)).then(|| format!("{flag} {number}"))
    }
}
