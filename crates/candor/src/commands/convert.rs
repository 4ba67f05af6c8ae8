//! `candor convert JOB.fio`: what a foreign job file amounts to, as a plan of candor's own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use candor_dialects::fio::ast::Ast;
use candor_dialects::fio::flags::Flags;
use candor_dialects::fio::lower::{self, Lowered};
use candor_dialects::fio::read;
use candor_dialects::kit::{Diagnostic, Texts};
use candor_plan::blocks::Access;
use candor_plan::{Plan, PlanPath, check, text};
use candor_record::Note;
use clap::{Arg, ArgMatches, Command, value_parser};

use super::foreign::host::HostEnvironment;
use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Print what a job file of fio amounts to, as a plan for candor run.

Words are those of a fio command line: job files, options, or both; or `mdtest` and its options. Where the plan is not exactly \
what was asked, a comment says so. A job that replays a trace needs --save, which writes the trace \
beside the plan, for candor run reads traces of its own form.";

/// The command line.
pub fn command() -> Command {
    let words = Arg::new("WORDS").num_args(1..).required(true).help("Job files, or fio's options");
    let save =
        Arg::new("save").long("save").value_name("FILE").value_parser(value_parser!(PathBuf));
    let save = save.help("Write the plan there, and its traces beside it");
    Command::new("convert")
        .about("Print a job file of fio as a plan")
        .long_about(LONG_ABOUT)
        .arg(save)
        .arg(words.allow_hyphen_values(true).trailing_var_arg(true))
}

/// Prints it, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let words = matches.get_many::<String>("WORDS").into_iter().flatten();
    let mut words: Vec<&str> = words.map(String::as_str).collect();
    if words.first() == Some(&"mdtest") {
        let argv: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        return super::mdtest::convert(&argv);
    }
    let save = matches.get_one::<PathBuf>("save").cloned().or_else(|| take_save(&mut words));
    let argv: Vec<OsString> =
        std::iter::once("fio".into()).chain(words.into_iter().map(OsString::from)).collect();
    let (ast, mut diagnostics) = read(&argv, &mut HostEnvironment);
    diagnostics.extend(Flags::read(&ast).1);
    if !diagnostics.is_empty() {
        return refused(&diagnostics, &ast.texts);
    }
    if ast.sections.is_empty() {
        let diagnostic = Diagnostic::nowhere("no-job", "there is no job in these words");
        return refused(&[diagnostic], &ast.texts);
    }
    let lowered = match lower::lower(&ast, &lower::ThisHost) {
        Ok(lowered) => lowered,
        Err(diagnostics) => return refused(&diagnostics, &ast.texts),
    };
    match save {
        None if replays(&lowered.plan) => {
            screen::error(
                "the job replays a trace, which becomes a file beside the plan: \
                 `candor convert --save FILE.toml JOB.fio`",
            );
            exit::USAGE
        }
        None => commands::printed(&plan_text(&lowered, &ast)),
        Some(path) => self::save(&path, lowered, &ast),
    }
}

/// Takes `--save FILE` out of the words of fio, which has no option of that name.
fn take_save(words: &mut Vec<&str>) -> Option<PathBuf> {
    let value = |word: &str| word.strip_prefix("--save=").map(PathBuf::from);
    let at = words.iter().position(|word| *word == "--save" || value(word).is_some())?;
    let word = words.remove(at);
    value(word).or_else(|| (at < words.len()).then(|| words.remove(at).into()))
}

/// Writes the plan, and each trace under a name that begins with the plan's.
fn save(path: &Path, mut lowered: Lowered, ast: &Ast) -> u8 {
    let mut files = Vec::new();
    for job in lowered.plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        let Some(Access::Trace(said)) = job.blocks_mut().map(|blocks| &mut blocks.access) else {
            continue;
        };
        let Some(trace) = &said.trace else { continue };
        said.file = path.with_extension(format!("{}.trace", files.len() + 1));
        files.push((said.file.clone(), trace.text()));
    }
    files.push((path.to_owned(), plan_text(&lowered, ast)));
    for (name, text) in files {
        if let Err(cause) = std::fs::write(&name, text) {
            screen::error(&format!("cannot write {}: {cause}", name.display()));
            return exit::TROUBLE;
        }
    }
    exit::RAN
}

fn plan_text(lowered: &Lowered, ast: &Ast) -> String {
    text::write_commented(&lowered.plan, &comments(lowered, &ast.texts))
}

fn replays(plan: &Plan) -> bool {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let mut blocks = jobs.filter_map(candor_plan::Job::blocks);
    blocks.any(|blocks| matches!(blocks.access, Access::Trace(_)))
}

fn refused(diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
    diagnostics.iter().for_each(|diagnostic| screen::error(&diagnostic.describe(texts)));
    exit::USAGE
}

/// Notes and warnings of the plan, each at the places of the plan that it is about.
fn comments(lowered: &Lowered, texts: &Texts) -> Vec<(PlanPath, String)> {
    let mut comments = Vec::new();
    for Note { asked, did, why, place } in &lowered.notes {
        let written_at = place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        let comment = format!("{asked}: {did}; {why}{written_at}").replace('\n', " ");
        let option = place.iter().flat_map(|place| lowered.origins.of_option(place, texts));
        let places: Vec<_> = option.collect();
        let places = if places.is_empty() { vec![PlanPath::root()] } else { places };
        comments.extend(places.into_iter().map(|place| (place, comment.clone())));
    }
    let warnings = check::check(&lowered.plan).into_iter().filter(|problem| !problem.is_error());
    comments.extend(warnings.map(|warning| (warning.place, warning.message.replace('\n', " "))));
    comments
}
