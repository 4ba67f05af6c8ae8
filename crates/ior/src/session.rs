//! A run of IOR: its lines, its files, its exit code.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

use candor_front::failures::{self, mismatch, reason};
use candor_front::session::{Ending, FileText, Finish, Output, Start, VerdictIn, Write};
use candor_front::{
    About, Answer, Environment, Host, Machine, Nodes, Running, Session, Space, Tool, Work, comments,
};
use candor_plan::path_text::word_of;
use candor_plan::{Plan, PlanPath, Problem, path_of};
use candor_record::{Ended, Event, Measurement, PhaseRecord, Report};

use super::options::{self, Format, Instead, Options, Reading};
use super::output::{self, Moment, Results};
use super::page::ABOUT;
use super::plan::{self, Lowered};
use super::schedule::Phases;
use super::setup::TestSetup;

/// Mismatches that are shown one by one.
const MISMATCHES_SHOWN: usize = 8;

/// The tool.
pub struct Ior;

/// The tests of a command line.
pub struct Tests {
    reading: Reading,
    lowered: Lowered,
}

impl Tool for Ior {
    const ABOUT: &'static About = &ABOUT;
    type Reading = Reading;
    type Work = Tests;

    fn of_file(file: &str, begin: &str) -> Option<Vec<OsString>> {
        begin.lines().any(is_start).then(|| ["ior", "-f", file].map(word_of).into())
    }

    fn read(
        argv: &[OsString],
        environment: &mut dyn Environment,
        nodes: Option<&Nodes>,
    ) -> Result<Reading, Answer> {
        let mut reading = options::read(argv, environment);
        if let Some(nodes) = nodes {
            // -C and -Z use these hosts, unless a variable is set.
            reading.fake.nodes.get_or_insert(nodes.count);
            reading.fake.tasks_per_node.get_or_insert(nodes.ranks_each);
            reading.on_several_hosts = true;
        }
        match reading.instead {
            Some(Instead::Help) => Err(Answer::Text(options::help())),
            None if reading.errors.is_empty() => Ok(reading),
            None => Err(Answer::Refused(reading.errors, reading.texts)),
        }
    }

    fn lower(reading: Reading, host: &dyn Host) -> Result<Tests, Answer> {
        match plan::lower(&reading, host) {
            Ok(lowered) => Ok(Tests { reading, lowered }),
            Err(errors) => Err(Answer::Refused(errors, reading.texts)),
        }
    }
}

/// True for the first line of a script.
fn is_start(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [tool, command] = words[..] else { return false };
    tool.eq_ignore_ascii_case("ior") && command.eq_ignore_ascii_case("start")
}

impl Work for Tests {
    fn plan(&self) -> &Plan {
        &self.lowered.plan
    }

    fn command(&self) -> &[String] {
        &self.lowered.setup.command
    }

    fn comments(&self) -> Vec<(PlanPath, String)> {
        let Lowered { plan, notes, origins, .. } = &self.lowered;
        let mut all = comments(plan, notes, origins, &self.reading.texts);
        all.extend(self.left_out().map(|sentence| (PlanPath::root(), sentence.to_owned())));
        all
    }

    fn results_file(&self) -> Option<&Path> {
        self.lowered.setup.output.summary_file.as_ref().map(Path::new)
    }

    fn instead(&self, host: &dyn Host, nodes: Option<&Nodes>) -> Option<String> {
        let is_dry = self.lowered.setup.output.dry_run;
        is_dry.then(|| self.results(host, nodes).dry_run(&Moment::now()))
    }

    fn run<'a>(&'a self, host: &dyn Host, nodes: Option<&Nodes>) -> Running<'a> {
        let (sizes, received) = mpsc::channel();
        let session = Run {
            reading: &self.reading,
            lowered: &self.lowered,
            results: self.results(host, nodes),
            sizes: received,
            is_elsewhere: Nodes::are_elsewhere(nodes),
            begun: HashSet::new(),
        };
        Running {
            session: Box::new(session),
            schedule: Some(Box::new(Phases::new(&self.lowered, sizes))),
        }
    }
}

impl Tests {
    /// Sentences on decisions of `candor ior` during a run, which no plan describes.
    fn left_out(&self) -> impl Iterator<Item = &'static str> {
        let sentences = [
            (
                self.any(|of| {
                    of.ends.deadline_s > 0 && of.run.write && (of.run.read || of.run.check_read)
                }),
                "-D: reads do not end with the count of transfers that the write before them \
                 reached",
            ),
            (
                self.any(|of| of.ends.max_time_min > 0),
                "-T: all phases run, however long that takes",
            ),
            (
                self.any(|of| of.run.keep_with_error),
                "-K: files in which errors were found are removed too",
            ),
            (
                self.any(|of| of.ends.status_file.is_some() && of.run.write),
                "stoneWallingStatusFile: the count of the write is kept nowhere",
            ),
            (
                self.any(|of| of.output.rank_csv.is_some() || of.output.operations_csv.is_some()),
                "no rows of tasks or transfers are written; `candor run --json` has the rows of \
                 tasks",
            ),
        ];
        sentences.into_iter().filter(|(applies, _)| *applies).map(|(_, sentence)| sentence)
    }

    fn any(&self, is: fn(&Options) -> bool) -> bool {
        self.lowered.setup.tests.iter().any(|test| is(&test.options))
    }

    fn results(&self, host: &dyn Host, nodes: Option<&Nodes>) -> Results<'_> {
        let Lowered { setup, phases, .. } = &self.lowered;
        let elsewhere = nodes.and_then(|nodes| nodes.elsewhere.as_ref());
        // The space of file systems of other hosts is unknown.
        let tests = setup.tests.iter().filter(|_| elsewhere.is_none());
        let spaces: Vec<_> = tests.map(|test| space(test, host)).collect();
        let machine = match elsewhere {
            None => host.machine(),
            Some(node) => {
                Machine { system: "Linux".into(), node: node.clone(), details: String::new() }
            }
        };
        Results::new(setup, phases, machine, &spaces, Moment::now())
    }
}

/// Space of the file system of a test, whose file need not exist.
fn space(test: &TestSetup, host: &dyn Host) -> Option<Space> {
    let first = path_of(test.options.layout.test_file.split('@').next()?);
    let parent = first.parent().filter(|parent| !parent.as_os_str().is_empty());
    host.space(parent.unwrap_or(Path::new(".")))
}

/// A run of the tests.
struct Run<'a> {
    reading: &'a Reading,
    lowered: &'a Lowered,
    results: Results<'a>,
    /// Bytes of the files after each phase, from the schedule.
    sizes: Receiver<Option<u64>>,
    /// Other hosts have the files.
    is_elsewhere: bool,
    /// Files of rows that this run has begun.
    begun: HashSet<String>,
}

impl Session for Run<'_> {
    fn begin(&mut self) -> Result<Start, String> {
        let mut output = Output::from(self.as_text(self.results.head()));
        if let Some(file) = &self.lowered.setup.output.summary_file {
            output.stdout = format!("Writing output to {file}\n");
        }
        Ok(Start { output, files: Vec::new() })
    }

    fn on(&mut self, event: &Event) -> Output {
        match event {
            Event::PhaseStarted { index, search_step: false, .. } => {
                let text = self.results.started(*index, &Moment::now());
                self.as_text(text).into()
            }
            Event::PhaseDone { record } => self.phase_done(record),
            _ => Output::default(),
        }
    }

    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish {
        report.notes.extend(self.lowered.notes.iter().cloned());
        let verdict = output::verdict(report);
        let mut failures = failures::sentences(report, has_failed, reason);
        let is_success = failures.is_empty() && !report.interrupted && self.results.errors() == 0;
        failures.extend(wrong_data(report));
        Finish {
            results: self.results(report, &verdict, ending.verdict_in),
            failures: self.aside(report, &verdict, ending)
                + &failures::capped(ABOUT.name, failures),
            verdict,
            files: Vec::new(),
            logs: Vec::new(),
            written: Ok(()),
            exit_code: u8::from(!is_success),
        }
    }

    fn sentences(&self, problems: &[Problem]) -> Vec<String> {
        let sentence = |problem: &Problem| {
            let said = self.lowered.origins.diagnostic(problem).describe(&self.reading.texts);
            match problem.rule {
                "held-device" => format!("{said}; {}", failures::RELEASE_DEVICE),
                _ => said,
            }
        };
        problems.iter().map(sentence).collect()
    }
}

impl Run<'_> {
    fn results(&mut self, report: &Report, verdict: &str, verdict_in: VerdictIn) -> String {
        let now = Moment::now();
        match self.lowered.setup.output.format {
            Format::Default if verdict_in == VerdictIn::Terminal => {
                self.results.tail(&now) + verdict
            }
            Format::Default => self.results.tail(&now),
            Format::Json => {
                let with_verdict = verdict_in != VerdictIn::Nothing;
                self.results.json(&now, with_verdict.then_some(report))
            }
            // Scripts read the last line, so no verdict follows the rows.
            Format::Csv => self.results.csv(),
        }
    }

    /// Text for stderr in addition to results without a verdict: the verdict for a person, else the
    /// notes on a different back end.
    fn aside(&self, report: &Report, verdict: &str, ending: &Ending) -> String {
        let has_verdict = match self.lowered.setup.output.format {
            Format::Default => ending.verdict_in == VerdictIn::Terminal,
            Format::Json => true,
            Format::Csv => false,
        };
        if has_verdict || ending.verdict_in == VerdictIn::Nothing {
            String::new()
        } else if ending.is_stderr_read {
            verdict.to_owned()
        } else {
            output::back_end_notes(report, "ior: ")
        }
    }

    /// Adds the result of a phase; returns its lines and rows.
    fn phase_done(&mut self, record: &PhaseRecord) -> Output {
        let warning = self.size_warning(record);
        let output = &self.lowered.setup.output;
        let is_table = output.format == Format::Default && output.summary_file.is_none();
        let is_document = output.format == Format::Json;
        let text = self.results.ended(record, if is_table { &warning } else { "" });
        Output {
            results: self.as_text(text),
            stderr: if is_table || is_document { String::new() } else { warning },
            files: self.rows(record),
            ..Output::default()
        }
    }

    /// The warning that the files of a phase have a different size. The table has it above the row,
    /// stderr has it for files and rows, and a document has only the bytes.
    fn size_warning(&self, record: &PhaseRecord) -> String {
        // If the run ends with the phase, the schedule ends without a size.
        let size = self.sizes.recv().ok().flatten().filter(|_| !self.is_elsewhere);
        size.map_or_else(String::new, |size| self.results.size_warning(record, size))
    }

    /// Lines of the tables; documents and rows are written at the end.
    fn as_text(&self, text: String) -> String {
        match self.lowered.setup.output.format {
            Format::Default => text,
            Format::Json | Format::Csv => String::new(),
        }
    }

    /// Rows of a phase for the files of tasks and transfers.
    fn rows(&mut self, record: &PhaseRecord) -> Vec<FileText> {
        let Lowered { setup, phases, plan, .. } = self.lowered;
        let mut files = Vec::new();
        for (file, rows) in output::operation_files(setup, phases, plan, record) {
            let rows = if self.begun.contains(&file) {
                output::without_header(&rows).to_owned()
            } else {
                rows
            };
            files.push(self.add(file, rows));
        }
        if let Some((file, rows)) = self.results.task_rows(record) {
            let header = if self.begun.contains(&file) { "" } else { Results::task_header() };
            files.push(self.add(file, format!("{header}{rows}")));
        }
        files
    }

    fn add(&mut self, file: String, text: String) -> FileText {
        let path = path_of(&file);
        let write = if self.begun.insert(file) { Write::Replace } else { Write::Append };
        FileText { path, text, write }
    }
}

fn has_failed(measured: &Measurement) -> bool {
    matches!(measured.ended, Ended::Failed | Ended::Stalled)
}

/// The first transfers that verification found wrong.
fn wrong_data(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.phases.iter().flat_map(|phase| {
        let found = phase.measurements.iter().filter(|measured| !has_failed(measured));
        let found = found.filter_map(|measured| measured.verify.as_ref());
        found
            .flat_map(|verify| verify.first.iter().take(MISMATCHES_SHOWN))
            .map(move |found| format!("{}: {}", phase.name, mismatch(found)))
    })
}
