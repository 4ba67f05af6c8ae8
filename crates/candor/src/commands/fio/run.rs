//! Runs jobs and delivers what they gave.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;

use candor_dialects::fio::ast::Ast;
use candor_dialects::fio::flags::Flags;
use candor_dialects::fio::job::{Format, Output};
use candor_dialects::fio::lower::Lowered;
use candor_dialects::fio::output;
use candor_record::Event;
use candor_record::Report;
use candor_run::{EyeMode, RunError};

use super::asker::Asker;
use super::cpus::Watch;
use super::debug::Debug;
use super::progress::Progress;
use super::verdict::Verdict;
use super::{WRONG, complain, failures, hooks, laying, logs, tell};
use crate::screen;

/// What is told of files, depths and commands before the run.
fn before(lowered: &Lowered) -> String {
    let (plan, jobs) = (&lowered.plan, &lowered.jobs);
    laying::lines(plan, jobs) + &output::capped(jobs) + &hooks::lines(plan, jobs)
}

/// Runs the jobs, and gives the exit code.
pub fn main(ast: &Ast, mut lowered: Lowered, flags: &Flags, argv: &[OsString]) -> u8 {
    let mut output = flags.output.clone();
    output.global_options = std::mem::take(&mut lowered.global_options);
    let verdict = Verdict::chosen();
    output.without_verdict = verdict != Verdict::Beside;
    let mut sink = match Sink::open(&output) {
        Ok(sink) => sink,
        Err(sentence) => return refused(&sentence, flags),
    };
    let debug = Debug::new(&flags.debug);
    let mut said = debug.begin() + &debug.words(ast) + &debug.read(&lowered.plan);
    said += &output::preamble(&lowered.jobs, &output);
    if output.formats.is_empty() || output.formats.contains(&Format::Normal) {
        said += &before(&lowered);
    }
    if let Err(sentence) = sink.put(&said) {
        return refused(&sentence, flags);
    }
    candor_run::install_interrupt_handlers();
    let options = options(&lowered, argv, &verdict);
    let mut progress = Progress::new(&lowered.plan, &lowered.jobs, flags);
    let interim = Output { without_verdict: true, ..output.clone() };
    let mut undelivered = Ok(());
    let asker = Asker::start(flags, options.asks.clone());
    let watch = match Watch::start(flags.idle) {
        Ok(watch) => watch,
        Err(sentence) => return refused(&sentence, flags),
    };
    let ran = candor_run::execute(&lowered.plan, &options, &mut |event| match event {
        Event::SoFar { report } => {
            let delivered = sink.put(&output::write(report, &lowered.jobs, &interim));
            undelivered = std::mem::replace(&mut undelivered, Ok(())).and(delivered);
        }
        event => {
            let said = debug.on(event);
            if !said.is_empty() {
                let delivered = sink.put(&said);
                undelivered = std::mem::replace(&mut undelivered, Ok(())).and(delivered);
            }
            progress.on(event);
        }
    });
    drop(asker);
    output.idleness = watch.stop();
    progress.end();
    let mut report = match ran {
        Ok(report) => report,
        Err(error) => return not_started(&error, ast, &lowered, flags),
    };
    report.notes.append(&mut lowered.notes);
    let logs = write_logs(&report, &lowered, flags);
    let mut text = String::new();
    if report.interrupted {
        text.push_str("\nfio: terminating on signal 2\n");
    }
    text.push_str(&output::write(&report, &lowered.jobs, &output));
    failures::tell(&report, &lowered.jobs);
    if let Err(sentence) = undelivered.and_then(|()| sink.put(&text)) {
        return refused(&sentence, flags);
    }
    // The results stand by now, and stay whatever else cannot be written.
    let tell = |sentence: &String| screen::tell(&format!("fio: {sentence}\n"));
    // States are saved without being asked for: that one is missing fails no job.
    let _ = logs::states(&report, &lowered.jobs).inspect_err(tell);
    match verdict.deliver(&report).and(logs).inspect_err(tell) {
        Ok(()) => failures::exit_code(&report, &lowered.jobs),
        Err(_) => WRONG,
    }
}

fn options(lowered: &Lowered, argv: &[OsString], verdict: &Verdict) -> candor_run::Options {
    candor_run::Options {
        command: argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        force: held_targets(lowered),
        // Who calls fio expects the first I/O at once.
        at_once: true,
        // Nobody would read what it saw.
        eye: if *verdict == Verdict::Off { EyeMode::Off } else { EyeMode::Auto },
        ..candor_run::Options::default()
    }
}

/// Writes all log files that are asked for; a sentence for the first that cannot be written.
fn write_logs(report: &Report, lowered: &Lowered, flags: &Flags) -> Result<(), String> {
    let logs = logs::write(report, &lowered.jobs);
    match flags.bandwidth_log {
        true => logs.and(logs::write_aggregate(report)),
        false => logs,
    }
}

/// Targets that may be written to although they are held, where `allow_mounted_write` says so.
fn held_targets(lowered: &Lowered) -> Vec<String> {
    let paths = lowered.plan.targets.iter().map(|target| &target.path);
    match lowered.mounted_write {
        true => paths.map(|path| path.to_string_lossy().into_owned()).collect(),
        false => Vec::new(),
    }
}

fn refused(sentence: &str, flags: &Flags) -> u8 {
    complain(&[sentence.to_owned()], flags);
    WRONG
}

/// Tells why nothing ran, at the words that are to blame where they are known.
fn not_started(error: &RunError, ast: &Ast, lowered: &Lowered, flags: &Flags) -> u8 {
    match error.problems() {
        [] => refused(&error.to_string(), flags),
        problems => {
            let diagnostic = |problem| lowered.origins.diagnostic(problem);
            tell(&problems.iter().map(diagnostic).collect::<Vec<_>>(), &ast.texts, flags)
        }
    }
}

/// Where results go.
enum Sink {
    Stdout,
    File(File, String),
}

impl Sink {
    fn open(output: &Output) -> Result<Sink, String> {
        let Some(path) = &output.file else { return Ok(Sink::Stdout) };
        match File::create(path) {
            Ok(file) => Ok(Sink::File(file, path.display().to_string())),
            Err(error) => Err(format!("--output {} cannot be made: {error}", path.display())),
        }
    }

    fn put(&mut self, text: &str) -> Result<(), String> {
        match self {
            Sink::Stdout => screen::data(text),
            Sink::File(file, path) => file
                .write_all(text.as_bytes())
                .map_err(|error| format!("{path} cannot be written: {error}")),
        }
    }
}
