//! Runs jobs and delivers what they gave, as fio does.

use std::borrow::Cow;
use std::ffi::OsString;
use std::time::Duration;

use candor_fio::ast::Ast;
use candor_fio::flags::Flags;
use candor_fio::job::{ClientName, FioJob, Format, Output, VerdictPlace};
use candor_fio::lower::Lowered;
use candor_fio::options::TABLE;
use candor_fio::output;
use candor_front::Session;
use candor_front::session::{self, Ending, Finish, Start, VerdictIn};
use candor_plan::{PathText, Problem};
use candor_record::{Event, Report};

use super::clients::Clients;
use super::cpus::Watch;
use super::debug::Debug;
use super::progress::Progress;
use super::{complaints, failures, hooks, laying, logs, suggest};
use crate::commands::foreign::monitor::{Requests, Trigger};
use crate::commands::foreign::{Invocation, Place};
use crate::screen;

/// The file in the folder for temporary ones that asks for results so far.
const STATUS_FILE: &str = "fio-dump-status";

/// Runs the jobs, and gives the exit code.
pub fn main(
    ast: &Ast,
    lowered: &Lowered,
    clients: Option<Clients>,
    flags: &Flags,
    argv: &[OsString],
) -> u8 {
    let output = Output {
        global_options: lowered.global_options.clone(),
        clients: clients.as_ref().map(|clients| clients.names.clone()).unwrap_or_default(),
        ..flags.output.clone()
    };
    let progress = Progress::new(&lowered.plan, &lowered.jobs, flags);
    let debug = Debug::new(&flags.debug);
    let mut run = Run { ast, lowered, flags, output, debug, progress, watch: None };
    let command = TABLE.without_secrets(argv.iter().map(|word| word.text()));
    let invocation = Invocation {
        requests: requests(flags),
        place: Place::new(held_targets(lowered), clients.map(|of| (of.identity, of.options))),
        ..Invocation::new(complaints(flags), Cow::Borrowed(&lowered.plan), &command)
    };
    invocation.run(&mut run)
}

fn requests(flags: &Flags) -> Requests {
    let time = |nanos: candor_plan::Nanos| Duration::from_nanos(nanos.0);
    Requests {
        interval: flags.status_interval.map(time),
        status_file: Some(std::env::temp_dir().join(STATUS_FILE)),
        trigger: Trigger {
            flag: None,
            file: flags.trigger.file.clone(),
            timeout: flags.trigger.timeout.map(time),
            command: flags.trigger.command.clone(),
        },
        on_usr1: true,
    }
}

/// Targets that may be written to although they are held, where `allow_mounted_write` says so.
fn held_targets(lowered: &Lowered) -> Vec<String> {
    let paths = lowered.plan.targets.iter().map(|target| &target.path);
    if lowered.mounted_write { paths.map(|path| path.text()).collect() } else { Vec::new() }
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

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        logs::claim(&self.lowered.jobs, self.flags.bandwidth_log.as_deref())?;
        self.watch = Some(Watch::start(self.flags.idle)?);
        Ok(Start { output: self.preamble().into(), files: Vec::new() })
    }

    fn on(&mut self, event: &Event) -> session::Output {
        if let Event::Interim { report } = event {
            let output = Output { verdict: VerdictPlace::Absent, ..self.output.clone() };
            return output::write(report, &self.lowered.jobs, &output).into();
        }
        self.progress.on(event);
        self.debug.on(event).into()
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        self.output.idleness = self.watch.take().and_then(Watch::stop);
        self.progress.end();
        report.notes.extend(self.lowered.notes.iter().cloned());
        let clients = &self.output.clients;
        report.notes.extend(output::clients::collisions(report, clients));
        suggest::complete(report, &self.lowered.plan);
        Finish {
            files: Vec::new(),
            logs: Vec::new(),
            written: self.write_files(report),
            results: self.results(report, ending.verdict_in),
            verdict: output::verdict(report),
            failures: self.failures(report),
            exit_code: self.exit_code(report),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        let describe = |problem| self.lowered.origins.diagnostic(problem).describe(&self.ast.texts);
        problems.iter().map(describe).collect()
    }
}

impl Run<'_> {
    /// The clients, each with a report of its own; none where this host runs the jobs.
    fn of_clients(&self, report: &Report) -> Option<Vec<(&ClientName, Report)>> {
        let clients = &self.output.clients;
        let reports = || output::clients::of_hosts(report, clients.len());
        (!clients.is_empty()).then(|| clients.iter().zip(reports()).collect())
    }

    /// The jobs as a client ran them: its files have its name in theirs.
    fn jobs_of(&self, client: &ClientName) -> Vec<FioJob> {
        let alike = self.output.clients.iter().filter(|other| other.host == client.host).count();
        let name = match alike {
            1 => client.host.clone(),
            _ => format!("{},{}", client.host, client.port),
        };
        self.lowered.jobs.iter().map(|job| job.of_client(&name)).collect()
    }

    fn preamble(&self) -> String {
        let (plan, jobs, debug) = (&self.lowered.plan, &self.lowered.jobs, &self.debug);
        let is_text =
            self.output.formats.is_empty() || self.output.formats.contains(&Format::Normal);
        let mut lines = output::preamble(jobs, &self.output);
        if is_text {
            // The files of clients are not here.
            if self.output.clients.is_empty() {
                lines += &laying::lines(plan, jobs);
            }
            lines += &output::capped(jobs);
            lines += &hooks::lines(plan, jobs);
        }
        if is_text && !self.output.clients.is_empty() {
            let of_client = |client| output::clients::said(client, &lines);
            lines = self.output.clients.iter().map(of_client).collect();
        }
        debug.begin() + &debug.words(self.ast) + &debug.read(plan) + &lines
    }

    fn write_files(&self, report: &Report) -> Result<(), String> {
        let jobs = &self.lowered.jobs;
        let of_host = |report: &Report, jobs: &[FioJob]| {
            // States are saved without being asked for: that one is missing fails no job.
            let _ = logs::states(report, jobs)
                .inspect_err(|sentence| screen::tell(&format!("fio: {sentence}\n")));
            logs::write(report, jobs)
        };
        let logs = match self.of_clients(report) {
            None => of_host(report, jobs),
            Some(clients) => clients
                .iter()
                .map(|(client, report)| of_host(report, &self.jobs_of(client)))
                .fold(Ok(()), Result::and),
        };
        match &self.flags.bandwidth_log {
            Some(name) => logs.and(logs::write_aggregate(report, name)),
            None => logs,
        }
    }

    fn results(&self, report: &Report, verdict_in: VerdictIn) -> String {
        let interrupted = if report.interrupted { "\nfio: terminating on signal 2\n" } else { "" };
        let verdict = match verdict_in {
            VerdictIn::Nothing => VerdictPlace::Absent,
            VerdictIn::Terminal if self.output.file.is_none() => VerdictPlace::AtEnd,
            VerdictIn::Documents | VerdictIn::Terminal => VerdictPlace::Document,
        };
        let output = Output { verdict, ..self.output.clone() };
        let operations = self.debug.operations(report, &self.lowered.jobs);
        operations + interrupted + &output::write(report, &self.lowered.jobs, &output)
    }

    fn failures(&self, report: &Report) -> String {
        let lines = |report: &Report| failures::lines(report, &self.lowered.jobs);
        match self.of_clients(report) {
            None => lines(report),
            Some(clients) => clients
                .iter()
                .map(|(client, report)| output::clients::said(client, &lines(report)))
                .collect(),
        }
    }

    fn exit_code(&self, report: &Report) -> u8 {
        let code = |report: &Report| failures::exit_code(report, &self.lowered.jobs);
        match self.of_clients(report) {
            None => code(report),
            Some(_) if report.interrupted => code(report),
            // fio does not count the jobs of clients.
            Some(clients) => u8::from(clients.iter().any(|(_, report)| code(report) != 0)),
        }
    }
}
