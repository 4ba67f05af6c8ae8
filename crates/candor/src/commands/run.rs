//! `candor run FILE`: a plan, or that of a stored report, and the same by flags.

mod access;
mod draft;
mod engine;
pub mod like;
mod lists;
mod object_plan;
mod options;
mod s3;
pub mod settings;
pub mod suggest;
mod work_names;

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use candor_plan::shell::quoted;
use candor_plan::{Plan, PlanPath, Problem, Source, check, path_of, text};
use candor_record::REPORT_BYTES_MAX;
use candor_run::{BlockTraceMode, Channels, HostOptions, Run};
use clap::{Arg, ArgMatches, Command};

use self::draft::Draft;
#[cfg(test)]
pub use self::options::GROUPS;
pub use self::options::RW_WORDS;
use crate::commands::bucket;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::hosts::{self, Hosts};
use crate::output::{self, Output};
use crate::{commands, exit, parse, run_dir, screen, stored};

const ABOUT: &str = "Run a plan from a file, or one job described by flags";

const LONG_ABOUT: &str = "\
Run a plan from a file, or one job described by flags.

With FILE, the plan defines the work, --set changes one key, and other flags may only name \
result files; of a stored report, or the directory of a run, the plan is repeated. Without FILE, \
flags describe one job: candor run --target /data/file --rw randread --bs 4k --depth 32 --engine \
io_uring --direct --size 1g --seconds 30. With --dry-run the plan that the flags amount to is \
printed, ready to be kept in a file.";

/// How to run, whatever the plan is.
#[derive(Debug, Default)]
pub struct How {
    /// Text of a shipped plan.
    like: Option<&'static str>,
    /// Keys of the plan, with their values.
    pub set: Vec<String>,
    force: Option<String>,
    no_follow_ups: bool,
    /// The plan is printed, not run.
    dry_run: bool,
    block_trace: BlockTraceMode,
    /// Hosts that run the plan together.
    hosts: Hosts,
}

/// A plan by its name.
const SHIPPED: &[Group<How>] = &[Group {
    title: "Running",
    flags: &[Flag {
        long: "like",
        takes: Takes::One("database|vm|backup|log|web|analytics"),
        help: "Run a shipped plan on --target; --size and --seconds apply to it, --dry-run \
                   prints it",
        fields: &[],
        set: |how, text| put_some(&mut how.like, parse::one_of(text, &like::PLANS)),
    }],
}];

/// How a plan is run, whatever it is.
const RUNNING: Group<How> = Group {
    title: "Running",
    flags: &[
        Flag {
            long: "set",
            takes: Takes::Many("KEY=VALUE"),
            help: "Set a key of the plan, by its path or as much of its end as no other key has: \
                   depth=32, phase.stop.time=1m; may be given several times",
            fields: &[],
            set: |how, text| {
                how.set.push(text.to_owned());
                Ok(())
            },
        },
        Flag {
            long: "force",
            takes: Takes::One("DEVICE"),
            help: "Write to a target that is held (mounted, swap, …); DEVICE names it once more",
            fields: &[],
            set: |how, text| put_some(&mut how.force, Ok(commands::device_name(text))),
        },
        Flag {
            long: "no-follow-ups",
            takes: Takes::Nothing,
            help: "Run nothing but the plan: no short trials after a phase of 5 s and more that \
                   could not tell by itself what limited it, no measurement of memory speed",
            fields: &[],
            set: |how, _| put(&mut how.no_follow_ups, Ok(true)),
        },
        Flag {
            long: "block-trace",
            takes: Takes::One("auto|all|off"),
            help: "Trace single requests of the devices: within a quarter of a percent of a \
                   CPU, at all of them, or at none [default: auto]",
            fields: &[],
            set: |how, text| {
                let modes = [
                    ("auto", BlockTraceMode::Auto),
                    ("all", BlockTraceMode::All),
                    ("off", BlockTraceMode::Off),
                ];
                how.block_trace = parse::one_of(text, &modes)?;
                Ok(())
            },
        },
        Flag {
            long: "dry-run",
            takes: Takes::Nothing,
            help: "Check the plan and print it as TOML; run nothing",
            fields: &[],
            set: |how, _| put(&mut how.dry_run, Ok(true)),
        },
    ],
};

/// Options of running, whatever the plan is, but for those of hosts.
pub const HOW: &[Group<How>] = &[RUNNING];

/// All options of running, as the parser wants them.
pub fn how_args() -> impl Iterator<Item = Arg> {
    flag::args(HOW).into_iter().chain(flag::args(hosts::FLAGS))
}

impl How {
    /// On these hosts, without further options.
    pub fn on(hosts: Hosts) -> How {
        How { hosts, ..How::default() }
    }

    /// Sets everything that was given, and tells what could not be set.
    pub fn apply(&mut self, matches: &ArgMatches, line: &mut CommandLine) -> Vec<Problem> {
        let mut problems = flag::apply(HOW, matches, line, self);
        problems.extend(flag::apply(hosts::FLAGS, matches, line, &mut self.hosts));
        problems
    }
}

/// The command line.
pub fn command() -> Command {
    let run = Command::new("run")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(Arg::new("FILE").help("A plan as TOML, or a stored report; - reads it from stdin"))
        .args(flag::args(options::GROUPS))
        .args(flag::args(SHIPPED))
        .args(how_args())
        .args(flag::args(output::OF_RUNS))
        .mut_arg("direct", |arg| arg.conflicts_with("buffered"))
        .mut_arg("like", |arg| arg.conflicts_with("FILE"))
        .mut_arg("seconds", |arg| arg.conflicts_with("time"))
        .after_help(exit::HELP);
    bucket::with_servers(run)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let (mut output, mut how) = (Output::default(), How::default());
    let mut problems = flag::apply(output::OF_RUNS, matches, &mut line, &mut output);
    problems.extend(flag::apply(SHIPPED, matches, &mut line, &mut how));
    problems.extend(how.apply(matches, &mut line));
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, output.color);
        return exit::USAGE;
    }
    let (plan, source) = match plan(how.like, matches, &mut line) {
        Ok(plan) => plan,
        Err(Unusable::Sentence(sentence)) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
        Err(Unusable::Plan(problems, source)) => {
            screen::problems(&problems, &source, output.color);
            return exit::USAGE;
        }
    };
    let (plan, set) = match settings::apply(plan, &how.set, &mut line) {
        Ok(set) => set,
        Err(problems) => {
            screen::problems(&problems, &line.source, output.color);
            return exit::USAGE;
        }
    };
    let found = check::check(&plan);
    let (of_line, of_plan): (Vec<_>, Vec<_>) =
        found.iter().cloned().partition(|problem| settings::concerns(&set, &problem.place));
    for (problems, source) in [(of_plan, &source), (of_line, &line.source)] {
        if !problems.is_empty() {
            screen::problems(&problems, source, output.color);
        }
    }
    if !check::can_run(&found) {
        return exit::USAGE;
    }
    if !output.quiet {
        screen::tell(&lists::announcement(&plan));
    }
    let chosen = engine::chosen(matches, &plan);
    if how.dry_run {
        let mut comments = how.like.map(like::comments).unwrap_or_default();
        comments.extend(chosen.iter().map(engine::Chosen::comment));
        return commands::printed(&text::write_commented(&plan, &comments));
    }
    let options = candor_run::Options {
        command: line.words().to_vec(),
        follow_ups: !how.no_follow_ups,
        notes: chosen.iter().map(engine::Chosen::note).collect(),
    };
    execute(&plan, &source, how, &options, output)
}

/// Runs the plan that a command makes of its own flags, or prints it with comments; gives the exit
/// code.
pub fn drafted(
    matches: &ArgMatches,
    mut line: CommandLine,
    comments: &[(PlanPath, String)],
    draft: impl FnOnce(&mut CommandLine) -> Result<Plan, Vec<Problem>>,
) -> u8 {
    let (mut output, mut how) = (Output::default(), How::default());
    let mut problems = flag::apply(output::OF_RUNS, matches, &mut line, &mut output);
    problems.extend(how.apply(matches, &mut line));
    let plan = if problems.is_empty() { draft(&mut line) } else { Err(problems) };
    let plan = match plan.and_then(|plan| settings::apply(plan, &how.set, &mut line)) {
        Ok((plan, _)) => plan,
        Err(problems) => {
            screen::problems(&problems, &line.source, output.color);
            return exit::USAGE;
        }
    };
    let found = check::check(&plan);
    if !found.is_empty() {
        screen::problems(&found, &line.source, output.color);
    }
    if !check::can_run(&found) {
        return exit::USAGE;
    }
    if how.dry_run {
        return commands::printed(&text::write_commented(&plan, comments));
    }
    let options = candor_run::Options {
        command: line.words().to_vec(),
        follow_ups: !how.no_follow_ups,
        ..candor_run::Options::default()
    };
    execute(&plan, &line.source, how, &options, output)
}

/// Runs a plan and shows its results; gives the exit code.
pub fn execute(
    plan: &Plan,
    source: &Source,
    how: How,
    options: &candor_run::Options,
    mut output: Output,
) -> u8 {
    if let Err(sentence) = output.fits(plan).and_then(|()| output.prepare()) {
        screen::error(&sentence);
        return exit::USAGE;
    }
    let host = HostOptions {
        force: how.force.into_iter().collect(),
        block_trace: how.block_trace,
        at_once: false,
        try_submission: true,
    };
    let (place, _led) = match commands::place(&how.hosts, host) {
        Ok(place) => place,
        Err(code) => return code,
    };
    let plan = Plan { hosts: place.hosts().unwrap_or(plan.hosts), ..plan.clone() };
    commands::run_and_finish(&output, source, |control, consumer| {
        let runner = |channels: &Channels| place.runner(channels);
        candor_run::execute_on(runner, &plan, options, control, consumer, Run::whole_plan)
    })
}

/// Why there is no plan.
enum Unusable {
    Sentence(String),
    Plan(Vec<Problem>, Source),
}

/// The plan of the file, the shipped one, or that of the flags.
fn plan(
    like: Option<&str>,
    matches: &ArgMatches,
    line: &mut CommandLine,
) -> Result<(Plan, Source), Unusable> {
    if let Some(shipped) = like {
        let plan = like::plan(shipped, matches, line);
        let plan = plan.map_err(|(problems, source)| Unusable::Plan(problems, source))?;
        return Ok((plan, line.source.clone()));
    }
    let Some(file) = matches.get_one::<String>("FILE") else { return by_flags(matches, line) };
    if is_job_of_fio(file) {
        let file = quoted(file);
        return Err(Unusable::Sentence(format!(
            "{file} is a job file of fio: candor fio {file} runs it, and candor convert {file} \
             prints it as a plan"
        )));
    }
    let flags = given(matches);
    if let Some(what) = no_plan(file, !flags.is_empty()) {
        return Err(Unusable::Sentence(format!(
            "{file} {what}; to work on it, name it as the target: {}",
            on_target(file, line.words())
        )));
    }
    if let Some(first) = flags.first() {
        return Err(Unusable::Sentence(format!(
            "{file} defines the work, and so does --{first}; change {file} with --set KEY=VALUE, \
             or give flags only"
        )));
    }
    let text = stored::text(file, REPORT_BYTES_MAX).map_err(Unusable::Sentence)?;
    // No plan begins with a brace, and every report does.
    if text.trim_start().starts_with('{') {
        let report = candor_record::read_unjudged(&text);
        let report = report
            .map_err(|why| Unusable::Sentence(format!("{file} cannot be repeated: {why}")))?;
        return Ok((report.plan, Source::default()));
    }
    let name = if file == "-" { "stdin" } else { file };
    text::read(name, &text).map_err(|(problems, source)| Unusable::Plan(problems, source))
}

/// The kind of a path that holds no plan; none where it may hold one. Beside flags that describe a
/// job, a name for which nothing stands was meant as the target.
fn no_plan(file: &str, has_flags: bool) -> Option<&'static str> {
    let path = path_of(file);
    match path.metadata() {
        _ if file == "-" => None,
        _ if file.starts_with(bucket::SCHEME) => Some("is a bucket, no plan"),
        Err(_) => has_flags.then_some("does not exist, so it is no plan"),
        Ok(metadata) if metadata.is_dir() => {
            (!path.join(run_dir::JSON).is_file()).then_some("is a directory, no plan")
        }
        Ok(metadata) if metadata.file_type().is_block_device() => {
            Some("is a block device, no plan")
        }
        Ok(metadata) if metadata.file_type().is_char_device() => {
            has_flags.then_some("is a character device, no plan")
        }
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => Some("is empty, no plan"),
        Ok(metadata) if metadata.is_file() => {
            let may_be_plan = is_text(&path) && (!has_flags || has_form(file));
            (!may_be_plan).then_some("holds data, no plan")
        }
        Ok(_) => None,
    }
}

/// True for a text in the form of a plan or of a report, whatever it says.
fn has_form(file: &str) -> bool {
    let Ok(text) = stored::text(file, REPORT_BYTES_MAX) else { return false };
    let is_toml = || match text::read(file, &text) {
        Ok(_) => true,
        Err((problems, _)) => problems.iter().all(|problem| problem.rule != "syntax"),
    };
    text.trim_start().starts_with('{') || is_toml()
}

/// True where a file begins like a text: every plan and every report does.
fn is_text(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut begin));
    // What cannot be read gets its own message.
    read.is_err() || !begin.contains(&0)
}

/// True for a text that begins with a section that no plan has, such as `[global]`.
fn is_job_of_fio(file: &str) -> bool {
    if !path_of(file).is_file() {
        return false;
    }
    let mut begin = Vec::new();
    let read = File::open(path_of(file)).and_then(|file| file.take(4096).read_to_end(&mut begin));
    let text = String::from_utf8_lossy(&begin);
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let section = first.and_then(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let of_plans = |name: &str| {
        name.starts_with('[') || ["target", "phase"].contains(&name.split('.').next().unwrap_or(""))
    };
    read.is_ok() && section.is_some_and(|name| !of_plans(name))
}

/// The same words, with the file as the target.
fn on_target(file: &str, words: &[String]) -> String {
    let mut words = words.to_vec();
    if let Some(at) = words.iter().position(|word| word == file) {
        words.insert(at, "--target".to_owned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Names of the flags that describe a job and were given.
fn given(matches: &ArgMatches) -> Vec<&'static str> {
    let of_job = flag::given(options::GROUPS, matches);
    of_job.into_iter().chain(flag::given(bucket::SERVERS, matches)).collect()
}

fn by_flags(matches: &ArgMatches, line: &mut CommandLine) -> Result<(Plan, Source), Unusable> {
    let lists = flag::lists_refused(options::GROUPS, matches, line);
    if !lists.is_empty() {
        return Err(Unusable::Plan(lists, line.source.clone()));
    }
    let mut draft = Draft::default();
    let mut problems = flag::apply(options::GROUPS, matches, line, &mut draft);
    problems.extend(flag::apply(bucket::SERVERS, matches, line, &mut draft.s3.bucket));
    let given = given(matches);
    problems.extend(draft.lacks());
    problems.extend(draft.misfits(&given));
    problems.extend(draft.contradicts());
    // An order of offsets is part of --rw for files only.
    let refining = if draft.is_s3() { &[] } else { &given[..] };
    problems.extend(lists::problems(&draft.lists, refining));
    let source = line.source.clone();
    if problems.is_empty() {
        Ok((draft.plan(), source))
    } else {
        Err(Unusable::Plan(problems, source))
    }
}

#[cfg(test)]
mod tests;
