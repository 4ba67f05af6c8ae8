//! Runs jobs and delivers what they gave, as fio does.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use candor_dialects::fio::ast::Ast;
use candor_dialects::fio::flags::Flags;
use candor_dialects::fio::job::{Format, Output, VerdictPlace};
use candor_dialects::fio::lower::Lowered;
use candor_dialects::fio::output;
use candor_plan::Problem;
use candor_record::{Event, Report};
use candor_run::{HostOptions, Options};

use super::cpus::Watch;
use super::debug::Debug;
use super::progress::Progress;
use super::{WRONG, complaints, failures, hooks, laying, logs, suggest};
use crate::commands::foreign::monitor::{Requests, Trigger};
use crate::commands::foreign::{self, Foreign};
use crate::screen;

/// The file in the folder for temporary ones that asks for results so far.
const STATUS_FILE: &str = "fio-dump-status";

/// Runs the jobs, and gives the exit code.
pub fn main(ast: &Ast, lowered: &Lowered, flags: &Flags, argv: &[OsString]) -> u8 {
    let output = Output { global_options: lowered.global_options.clone(), ..flags.output.clone() };
    let progress = Progress::new(&lowered.plan, &lowered.jobs, flags);
    let debug = Debug::new(&flags.debug);
    let mut run = Run { ast, lowered, flags, output, debug, progress, watch: None };
    foreign::run(&mut run, &lowered.plan, options(lowered, argv))
}

fn options(lowered: &Lowered, argv: &[OsString]) -> (Options, HostOptions) {
    let command = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let force = held_targets(lowered);
    // Who calls fio expects the first I/O at once.
    let host = HostOptions { force, at_once: true, ..HostOptions::default() };
    (Options { command, ..Options::default() }, host)
}

/// Targets that may be written to although they are held, where `allow_mounted_write` says so.
fn held_targets(lowered: &Lowered) -> Vec<String> {
    let paths = lowered.plan.targets.iter().map(|target| &target.path);
    match lowered.mounted_write {
        true => paths.map(|path| path.to_string_lossy().into_owned()).collect(),
        false => Vec::new(),
    }
}

/// A run of fio's jobs.
struct Run<'a> {
    ast: &'a Ast,
    lowered: &'a Lowered,
    flags: &'a Flags,
    output: Output,
    debug: Debug<'a>,
    progress: Progress<'a>,
    watch: Option<Watch>,
}

impl Foreign for Run<'_> {
    const NAME: &'static str = "fio";
    const WRONG: u8 = WRONG;

    fn output_file(&self) -> Option<&Path> {
        self.output.file.as_deref()
    }

    fn requests(&self) -> Requests {
        let time = |nanos: candor_plan::Nanos| Duration::from_nanos(nanos.0);
        let trigger = &self.flags.trigger;
        Requests {
            interval: self.flags.status_interval.map(time),
            status_file: Some(std::env::temp_dir().join(STATUS_FILE)),
            trigger: Trigger {
                file: trigger.file.clone(),
                timeout: trigger.timeout.map(time),
                command: trigger.command.clone(),
            },
        }
    }

    fn preamble(&self) -> String {
        let (plan, jobs, debug) = (&self.lowered.plan, &self.lowered.jobs, &self.debug);
        let mut text = debug.begin() + &debug.words(self.ast) + &debug.read(plan);
        text += &output::preamble(jobs, &self.output);
        if self.output.formats.is_empty() || self.output.formats.contains(&Format::Normal) {
            text += &laying::lines(plan, jobs);
            text += &output::capped(jobs);
            text += &hooks::lines(plan, jobs);
        }
        text
    }

    fn begin(&mut self) -> Result<(), String> {
        self.watch = Some(Watch::start(self.flags.idle)?);
        Ok(())
    }

    fn on(&mut self, event: &Event) -> String {
        self.progress.on(event);
        self.debug.on(event)
    }

    fn interim(&self, report: &Report) -> String {
        let output = Output { verdict: VerdictPlace::Absent, ..self.output.clone() };
        output::write(report, &self.lowered.jobs, &output)
    }

    fn end(&mut self) {
        self.output.idleness = self.watch.take().and_then(Watch::stop);
        self.progress.end();
    }

    fn complete(&mut self, report: &mut Report) {
        report.notes.extend(self.lowered.notes.iter().cloned());
        suggest::complete(report, &self.lowered.plan);
    }

    fn write_files(&self, report: &Report) -> Result<(), String> {
        // States are saved without being asked for: that one is missing fails no job.
        let _ = logs::states(report, &self.lowered.jobs)
            .inspect_err(|sentence| screen::tell(&format!("fio: {sentence}\n")));
        let logs = logs::write(report, &self.lowered.jobs);
        match &self.flags.bandwidth_log {
            Some(name) => logs.and(logs::write_aggregate(report, name)),
            None => logs,
        }
    }

    fn results(&self, report: &Report, with_verdict: bool) -> String {
        let interrupted = if report.interrupted { "\nfio: terminating on signal 2\n" } else { "" };
        // Only a person reads from a terminal.
        let for_people = self.output.file.is_none() && std::io::stdout().is_terminal();
        let verdict = match (with_verdict, for_people) {
            (false, _) => VerdictPlace::Absent,
            (true, false) => VerdictPlace::Within,
            (true, true) => VerdictPlace::AtEnd,
        };
        let output = Output { verdict, ..self.output.clone() };
        let operations = self.debug.operations(report, &self.lowered.jobs);
        operations + interrupted + &output::write(report, &self.lowered.jobs, &output)
    }

    fn verdict(&self, report: &Report) -> String {
        output::verdict(report)
    }

    fn failures(&self, report: &Report) -> String {
        failures::lines(report, &self.lowered.jobs)
    }

    fn exit_code(&self, report: &Report) -> u8 {
        failures::exit_code(report, &self.lowered.jobs)
    }

    fn complain(&self, problems: &[Problem]) {
        let origins = &self.lowered.origins;
        let diagnostics: Vec<_> = problems.iter().map(|one| origins.diagnostic(one)).collect();
        complaints(self.flags).diagnostics(&diagnostics, &self.ast.texts);
    }
}
