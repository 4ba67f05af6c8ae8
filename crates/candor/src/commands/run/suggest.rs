//! Command lines for what findings advise: the run as given, with nothing but their changes.
//!
//! A command line is made of the words of the run and then read as a user's would be. One whose
//! plan is not the run's plan with the changes, or that would be refused, is not shown.

use candor_plan::PathText;
use candor_plan::blocks::Access;
use candor_plan::shell::quoted;
use candor_plan::units::{Direction, Mix};
use candor_plan::{Blocks, Job, Layout, PathStep, Plan, PlanPath, Target, check, text};
use candor_record::Setting;

use super::options::GROUPS;
use super::{HOW, How, SHIPPED, by_flags, command, like, settings};
use crate::flag::{self, CommandLine, Flag, Takes};
use crate::output;

/// Flags that take lists of values.
const SWEPT: [&str; 4] = ["rw", "bs", "depth", "workers"];

/// The run or series of these words, which ran that plan, with changes.
pub fn suggestion(words: &[String], plan: &Plan, changes: &[Setting]) -> Option<String> {
    let run = match words.get(1)?.as_str() {
        _ if changes.is_empty() => return None,
        "run" => {
            let given = Given::run(words, plan)?;
            match given.alone(changes) {
                Some((alone, changes)) => alone.with(&changes)?,
                None => given.with(changes)?,
            }
        }
        "check" => {
            // Each phase of a series is a run of its own.
            let phase = PlanPath::from(changes.first()?.key.split('.').next()?);
            let changes: Option<Vec<Setting>> =
                changes.iter().map(|setting| of_first(setting, phase.as_str())).collect();
            Given::step(words, plan, &phase)?.with(&changes?)?
        }
        // Tools with words of their own have no words for candor's plans.
        _ => return None,
    };
    Some(run.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// A change of that phase as one of the first phase.
fn of_first(setting: &Setting, phase: &str) -> Option<Setting> {
    let key = format!("phase[0]{}", setting.key.strip_prefix(phase)?);
    Some(Setting { key, value: setting.value.clone() })
}

/// Number of the phase that a place is in.
fn phase_index(place: &PlanPath) -> Option<usize> {
    let mut steps = place.steps();
    match (steps.next()?, steps.next()?) {
        (PathStep::Key("phase"), PathStep::Index(index)) => Some(index),
        _ => None,
    }
}

/// A run by its words.
struct Given {
    words: Vec<String>,
    plan: Plan,
    /// Flags describe the job, or what a shipped plan works on.
    by_flags: bool,
}

impl Given {
    /// A run as it was given, but for where its results went.
    fn run(words: &[String], plan: &Plan) -> Option<Given> {
        // Behind two dashes, no word is a flag.
        if words.iter().any(|word| word == "--") || leaves_files(plan) {
            return None;
        }
        let words = without_outputs(words);
        let matches = command().try_get_matches_from(words.get(1..)?).ok()?;
        let file = matches.get_one::<String>("FILE");
        if file.is_some_and(|file| is_stdin(file)) {
            return None;
        }
        let by_flags = file.is_none();
        let plan = if by_flags { read(&words)? } else { plan.clone() };
        Some(Given { words, plan, by_flags })
    }

    /// A step of a series, as a run by flags; absent where flags cannot say it.
    fn step(words: &[String], plan: &Plan, phase: &PlanPath) -> Option<Given> {
        let phase = plan.phases.get(phase_index(phase)?)?;
        let [job] = &phase.jobs[..] else { return None };
        let seconds = phase.stop.time?.0.div_ceil(1_000_000_000);
        let words = flags(words, plan, job, seconds)?;
        let plan = read(&words)?;
        let read = plan.phases.first()?.jobs.first()?;
        (read.work == job.work && read.workers == job.workers).then_some(Given {
            words,
            plan,
            by_flags: true,
        })
    }

    /// The run of one value of each list, where changes are about a phase of a sweep, with the
    /// changes as that run has them.
    fn alone(&self, changes: &[Setting]) -> Option<(Given, Vec<Setting>)> {
        let index = changes
            .iter()
            .find_map(|setting| phase_index(&PlanPath::from(setting.key.as_str())))?;
        let name = format!("phase[{index}]");
        let wanted = self.plan.phases.get(index).filter(|_| self.by_flags)?;
        let runs_it = |given: &Given| match &given.plan.phases[..] {
            [phase] => phase.jobs == wanted.jobs && phase.stop == wanted.stop,
            _ => false,
        };
        let mut each = vec![self.words.clone()];
        for flag in GROUPS.iter().flat_map(|group| group.flags) {
            each = each.iter().flat_map(|words| with_each_value(words, flag)).collect();
        }
        let given = |words: Vec<String>| {
            let plan = read(&words)?;
            Some(Given { words, plan, by_flags: true }).filter(runs_it)
        };
        let engine = wanted.jobs.first()?.blocks()?.engine.name();
        // The depths of all values decided on the engine, where none was named.
        let named = |words: &Vec<String>| [words, &["--engine".into(), engine.into()][..]].concat();
        let ways = each.iter().filter(|words| **words != self.words);
        let alone = ways.flat_map(|words| [words.clone(), named(words)]).find_map(given)?;
        let moved = |setting: &Setting| of_first(setting, &name).unwrap_or_else(|| setting.clone());
        Some((alone, changes.iter().map(moved).collect()))
    }

    /// With changes: by flags where there are such, else by `--set`.
    fn with(mut self, changes: &[Setting]) -> Option<Given> {
        let (options, settings): (Vec<_>, Vec<_>) =
            changes.iter().partition(|setting| setting.key.starts_with("--"));
        for option in &options {
            let name = option.key.trim_start_matches('-');
            let flag = HOW.iter().flat_map(|group| group.flags).find(|flag| flag.long == name)?;
            self.words = without(&self.words, flag);
            self.words.extend([option.key.clone(), option.value.clone()]);
        }
        let before = self.plan.clone();
        for setting in settings {
            let (plan, place) = text::set(&self.plan, &setting.key, &setting.value).ok()?;
            let by_flag = || self.by_flags.then(|| self.by_flag(&plan, setting)).flatten();
            self = match by_flag().or_else(|| self.by_flag_everywhere(setting)) {
                Some(given) => given,
                None => self.by_set(&plan, &place, &setting.value)?,
            };
        }
        let changes_something = self.plan != before || !options.is_empty();
        (changes_something && check::can_run(&check::check(&self.plan))).then_some(self)
    }

    /// The flag that sets a key instead of those that set it before, or none where the default is
    /// wanted, if that gives the plan.
    fn by_flag(&self, wanted: &Plan, setting: &Setting) -> Option<Given> {
        let sets = |flag: &&Flag<_>| flag.fields.contains(&setting.key.as_str());
        let all = || GROUPS.iter().flat_map(|group| group.flags).filter(sets);
        let rest = all().fold(self.words.clone(), |words, flag| without(&words, flag));
        let with = all().map(|flag| {
            let value = (flag.takes != Takes::Nothing).then(|| setting.value.clone());
            let flag = std::iter::once(format!("--{}", flag.long)).chain(value);
            rest.iter().cloned().chain(flag).collect()
        });
        std::iter::once(rest.clone()).chain(with).find_map(|words: Vec<String>| {
            let plan = read(&words)?;
            is_same(&plan, wanted).then_some(Given { words, plan, by_flags: true })
        })
    }

    /// The flag that sets a key in all phases, where it has no words for one of them.
    fn by_flag_everywhere(&self, setting: &Setting) -> Option<Given> {
        let (_, rest) = setting.key.strip_prefix("phase[")?.split_once(']')?;
        let phases = 0..self.plan.phases.len();
        let mut keys = phases.map(|phase| format!("phase[{phase}]{rest}"));
        let everywhere = keys.try_fold(self.plan.clone(), |plan, key| {
            Some(text::set(&plan, &key, &setting.value).ok()?.0)
        })?;
        let first = Setting { key: format!("phase[0]{rest}"), value: setting.value.clone() };
        self.by_flags.then(|| self.by_flag(&everywhere, &first)).flatten()
    }

    fn by_set(&self, wanted: &Plan, place: &PlanPath, value: &str) -> Option<Given> {
        let mut words = self.words.clone();
        let key = text::short_name(&self.plan, place);
        words.extend(["--set".to_owned(), format!("{key}={value}")]);
        let plan = if self.by_flags { read(&words)? } else { wanted.clone() };
        is_same(&plan, wanted).then_some(Given { words, plan, by_flags: self.by_flags })
    }
}

/// A plan that was read from stdin is gone.
fn is_stdin(file: &str) -> bool {
    file == "-"
        || file.starts_with("/dev/stdin")
        || file.starts_with("/dev/fd/")
        || file.starts_with("/proc/self/fd/")
}

/// Whether the run left files that it may not write to again, or took away those it reads.
pub fn leaves_files(plan: &Plan) -> bool {
    let jobs = || plan.phases.iter().flat_map(|phase| &phase.jobs);
    let is_written = |target: &Target| {
        let destroys = |job: &Job| job.work.destroys().is_some();
        jobs().any(|job| destroys(job) && job.targets.contains(&target.name))
    };
    let is_left = |target: &Target| target.keep && !target.overwrite && is_written(target);
    let is_gone = |target: &Target| target.remove && target.size.is_none();
    plan.targets.iter().any(|target| is_left(target) || is_gone(target))
}

/// The plan that words describe by flags; absent where they describe none.
pub fn read(words: &[String]) -> Option<Plan> {
    let matches = command().try_get_matches_from(words.get(1..)?).ok()?;
    let mut line = CommandLine::new(words);
    let mut how = How::default();
    let mut mistakes = flag::apply(SHIPPED, &matches, &mut line, &mut how);
    mistakes.extend(how.apply(&matches, &mut line));
    let plan = match how.like {
        Some(shipped) => like::plan(shipped, &matches, &mut line).ok()?,
        None => by_flags(&matches, &mut line).ok()?.0,
    };
    let (plan, _) = settings::apply(plan, &how.set, &mut line).ok()?;
    mistakes.is_empty().then_some(plan)
}

/// Whether two plans run alike. Names that flags derive from the job may differ.
pub fn is_same(plan: &Plan, other: &Plan) -> bool {
    let mut other = Plan { name: plan.name.clone(), ..other.clone() };
    for (phase, like) in other.phases.iter_mut().zip(&plan.phases) {
        phase.name.clone_from(&like.name);
    }
    *plan == other
}

/// The words without the flags of results: the command would overwrite the results of this run.
pub fn without_outputs(words: &[String]) -> Vec<String> {
    let flags = output::OF_RUNS.iter().flat_map(|group| group.flags);
    flags.fold(words.to_vec(), |words, flag| without(&words, flag))
}

/// The words without a flag and its values.
fn without<T>(words: &[String], flag: &Flag<T>) -> Vec<String> {
    let (name, with_value) = (format!("--{}", flag.long), format!("--{}=", flag.long));
    let takes_next = matches!(flag.takes, Takes::One(_) | Takes::Many(_));
    let mut rest = Vec::new();
    let mut all = words.iter();
    while let Some(word) = all.next() {
        if *word == name {
            if takes_next {
                all.next();
            }
        } else if !word.starts_with(&with_value) {
            rest.push(word.clone());
        }
    }
    rest
}

/// The words with each value of a flag that has a list of them; as they are for other flags.
fn with_each_value<T>(words: &[String], flag: &Flag<T>) -> Vec<Vec<String>> {
    let is_list = |text: &&String| text.contains(',') && !text.contains(':');
    let name = format!("--{}", flag.long);
    let behind = words.iter().skip_while(|word| **word != name).nth(1);
    let within = words.iter().find_map(|word| word.strip_prefix(&format!("{name}=")));
    let text = behind.cloned().or(within.map(str::to_owned));
    let Some(list) = text.as_ref().filter(is_list).filter(|_| SWEPT.contains(&flag.long)) else {
        return vec![words.to_vec()];
    };
    let rest = without(words, flag);
    list.split(',').map(|value| [&rest[..], &[name.clone(), value.to_owned()]].concat()).collect()
}

/// A step of a series as words; absent where it does what flags have no words for.
fn flags(series: &[String], plan: &Plan, job: &Job, seconds: u64) -> Option<Vec<String>> {
    let blocks = job.blocks()?;
    let target = plan.target(job.targets.first()?)?;
    let writes = blocks.mix != Mix::READ;
    // A series makes its own file in a directory, and mostly removes it.
    let own_file = target.layout == Layout::Needed;
    let in_directory = own_file && (writes || !target.keep);
    let path = if in_directory { target.path.parent()? } else { &target.path };
    let mut words = vec!["candor".to_owned(), "run".to_owned()];
    let mut add = |flag: &str, value: Option<String>| {
        words.push(format!("--{flag}"));
        words.extend(value);
    };
    add("target", Some(path.text()));
    if let Some(size) = target.size {
        add("size", Some(size.to_string()));
    }
    add("rw", Some(rw(blocks)?.to_owned()));
    add("bs", Some(blocks.size.of(Direction::Read).to_string()));
    add("depth", Some(blocks.depth.to_string()));
    add("workers", Some(job.workers.to_string()));
    add("engine", Some(blocks.engine.name().to_owned()));
    let durability = &blocks.durability;
    let switches = [
        ("direct", blocks.direct),
        ("evict", blocks.hints.evict),
        ("fsync-end", durability.fsync_at_end),
        ("overwrite", writes && target.overwrite && !in_directory),
    ];
    for (name, _) in switches.into_iter().filter(|(_, is_on)| *is_on) {
        add(name, None);
    }
    if durability.fsync_every > 0 {
        add("fsync-every", Some(durability.fsync_every.to_string()));
    }
    add("seconds", Some(seconds.to_string()));
    let mut given = series.iter().skip_while(|word| !word.starts_with("--force"));
    let device = given.next().and_then(|word| match word.strip_prefix("--force=") {
        Some(device) => Some(device.to_owned()),
        None => given.next().cloned(),
    });
    if let Some(device) = device.filter(|_| writes) {
        add("force", Some(device));
    }
    Some(words)
}

fn rw(blocks: &Blocks) -> Option<&'static str> {
    match (&blocks.access, blocks.mix) {
        (Access::Sequential, Mix::READ) => Some("read"),
        (Access::Sequential, Mix::WRITE) => Some("write"),
        (Access::Random, Mix::READ) => Some("randread"),
        (Access::Random, Mix::WRITE) => Some("randwrite"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
