//! Runs a plan and delivers its results as the tool would.

use std::borrow::Cow;
use std::path::Path;

use candor_front::Session;
use candor_front::session::{Ending, FileText, LogToFiles, Output};
use candor_plan::Plan;
use candor_record::Event;
use candor_run::{Channels, Options, Run, RunError, Stopped};

use super::monitor::{Monitor, Requests};
use super::own::OwnResults;
use super::place::Place;
use super::ranks::RankHosts;
use super::removal::Removal;
use super::sink::Sink;
use super::verdict::Verdict;
use super::{Complaints, files, launch};
use crate::screen;

/// Runs the phases of a plan, in an order of its own.
pub type Driver = Box<dyn FnOnce(&mut Run) -> Result<(), Stopped>>;

/// The request of a command line: a plan, and how its results are delivered.
pub struct Invocation<'a> {
    /// The tool's name, the file that results go to instead of stdout, and the exit code if the
    /// plan does not run or its results are not written.
    pub complaints: Complaints<'a>,
    /// Requests for interim results, and for an early end.
    pub requests: Requests,
    /// The plan.
    pub plan: Cow<'a, Plan>,
    /// The command line, for the report.
    pub command: &'a [String],
    /// The hosts.
    pub place: Place,
    /// Hosts of the ranks, if they are not this host.
    pub rank_hosts: Option<&'a RankHosts>,
    /// The order of phases, if one phase decides over a later one.
    pub driver: Driver,
}

impl<'a> Invocation<'a> {
    /// A run of a plan on this host, phase by phase.
    pub fn new(complaints: Complaints<'a>, plan: Cow<'a, Plan>, command: &'a [String]) -> Self {
        Invocation {
            complaints,
            requests: Requests::default(),
            plan,
            command,
            place: Place::new(Vec::new(), None),
            rank_hosts: None,
            driver: Box::new(Run::whole_plan),
        }
    }

    /// The same on the hosts that have the ranks, each with its share of the workers.
    ///
    /// # Errors
    /// A sentence if the hosts cannot run the plan.
    pub fn on(mut self, hosts: Option<&'a RankHosts>) -> Result<Self, String> {
        let Some(hosts) = hosts else { return Ok(self) };
        let mut jobs = self.plan.phases.iter().flat_map(|phase| &phase.jobs);
        if hosts.first_elsewhere().is_some() && jobs.any(|job| job.operations_log.is_some()) {
            return Err("times of single operations are written on the hosts that --hosts names, \
                        and no file of this host can have them; leave them out"
                .to_owned());
        }
        let force = match self.place {
            Place::Here(host) => host.force,
            Place::Fleet(_, options) => options.force,
        };
        self.place = Place::new(force, Some((hosts.identity.clone(), hosts.options.clone())));
        self.plan = Cow::Owned(self.plan.spread(hosts.count())?);
        self.rank_hosts = Some(hosts);
        Ok(self)
    }

    /// Runs the plan, and returns the exit code.
    pub fn run(self, session: &mut dyn Session) -> u8 {
        let Invocation { complaints, requests, plan, command, mut place, rank_hosts, driver } =
            self;
        let verdict = Verdict::chosen();
        // Before files are claimed, and complaints written to them.
        if let Err(error) = candor_run::note_files(&plan) {
            return not_started(complaints, session, &error);
        }
        let (mut own, mut sink) = match opened(&verdict, complaints.file) {
            Ok(opened) => opened,
            Err(sentence) => return complaints.sentence(&sentence),
        };
        if verdict == Verdict::Off && !own.have_readers() {
            // No output shows what the tracer would record.
            place.without_trace();
        }
        let control = requests.control();
        let prepared = begin(session, &mut sink)
            .and_then(|()| Removal::before_run(rank_hosts, &session.leftovers()));
        let removal = match prepared {
            Ok(removal) => removal,
            Err(sentence) => return complaints.sentence(&sentence),
        };
        let monitor = Monitor::start(complaints.tool, requests, control.clone());
        let (mut undelivered, mut unwritten) = (Ok(()), Ok(()));
        let consumer = |event: &Event| {
            own.take(event);
            let output = session.on(event);
            if unwritten.is_ok() {
                unwritten = output.files.iter().try_for_each(files::write);
            }
            if undelivered.is_ok() {
                undelivered = show(&output, &mut sink);
                // A reader of interim results reads them now.
                if undelivered.is_ok() && matches!(event, Event::Interim { .. }) {
                    undelivered = sink.deliver();
                }
            }
        };
        let options = Options { command: command.to_vec(), ..Options::default() };
        let runner = |channels: &Channels| place.runner(channels);
        let ran = candor_run::execute_on(runner, &plan, &options, &control, consumer, driver);
        drop(monitor);
        let mut report = match ran {
            Ok(report) => report,
            Err(error) => return not_started(complaints, session, &error),
        };
        let removed = removal.run(&session.leftovers());
        let is_stderr_read = !launch::is_launched() && screen::is_read_by_a_person();
        let ending = Ending { verdict_in: verdict.among_results(), removed, is_stderr_read };
        let finish = session.finish(&mut report, &ending);
        let written = write_files(&finish.files, finish.logs).and(finish.written);
        screen::tell(&finish.failures);
        let results = undelivered.and_then(|()| sink.put(&finish.results));
        let delivered = results.and_then(|()| sink.deliver());
        if let Err(sentence) = delivered {
            return complaints.sentence(&sentence);
        }
        // The results are written; they stay even if nothing else can be.
        let others = verdict.deliver(&finish.verdict).and(unwritten).and(written);
        let others = others.and(own.write(&report));
        own.close(&control);
        others.map_or_else(|sentence| complaints.aside(&sentence), |()| finish.exit_code)
    }
}

/// Begins a session: checks its files, and shows the text before the run. The error is a sentence.
fn begin(session: &mut dyn Session, sink: &mut Sink) -> Result<(), String> {
    let start = session.begin()?;
    files::prepare(&start.files)?;
    show(&start.output, sink)
}

/// Shows text of a session. The error is a sentence.
fn show(output: &Output, sink: &mut Sink) -> Result<(), String> {
    screen::tell(&output.stderr);
    if !output.stdout.is_empty() {
        screen::data(&output.stdout)?;
    }
    if output.results.is_empty() { Ok(()) } else { sink.put(&output.results) }
}

/// Writes the files of a session. The error is a sentence.
fn write_files(files: &[FileText], logs: Vec<LogToFiles>) -> Result<(), String> {
    files.iter().try_for_each(files::write)?;
    logs.into_iter().try_for_each(files::convert)
}

/// Candor's own results, and the sink of the tool's.
fn opened(verdict: &Verdict, file: Option<&Path>) -> Result<(OwnResults, Sink), String> {
    verdict.claim()?;
    Ok((OwnResults::open()?, Sink::open(file)?))
}

/// Shows why nothing ran, with the position in the user's text where it is known.
fn not_started(complaints: Complaints<'_>, session: &dyn Session, error: &RunError) -> u8 {
    match error.problems() {
        [] => complaints.sentence(&error.to_string()),
        problems => complaints.sentences(&session.sentences(problems)),
    }
}
