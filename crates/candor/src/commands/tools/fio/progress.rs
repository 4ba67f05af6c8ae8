//! The line that shows how far the jobs are, on stdout as fio has it.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use candor_fio::flags::{Eta, Flags};
use candor_fio::job::{FioJob, Format};
use candor_fio::output::status::Status;
use candor_plan::Plan;
use candor_plan::units::PerDirection;
use candor_record::{Event, JobSample};

use crate::commands::foreign::progress::{Counts, Line};

/// Letters of a job that has not begun, and of one that is gone.
const WAITS: char = 'P';
const GONE: char = '_';

/// A consumer of events that keeps the line up to date.
pub struct Progress<'a> {
    shown: bool,
    jobs: &'a [FioJob],
    /// Names of jobs in the plan and numbers of their files, in the order of `jobs`.
    planned: Vec<(String, u32)>,
    letters: Vec<char>,
    phase: usize,
    began: Instant,
    expected: Option<Duration>,
    /// Counts since the last line.
    counts: Counts,
    line: Line,
}

impl<'a> Progress<'a> {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan, jobs: &'a [FioJob], flags: &Flags) -> Progress<'a> {
        let formats = &flags.output.formats;
        // Beside JSON on the same stream it would spoil the document.
        let text = formats.is_empty() || formats.contains(&Format::Normal);
        let apart = flags.output.file.is_some();
        let wanted = match flags.eta {
            Eta::Always => true,
            Eta::Auto => std::io::stdout().is_terminal(),
            Eta::Never => false,
        };
        let planned = |job: &FioJob| {
            let planned = &plan.phases[job.phase].jobs[job.job];
            (planned.name.clone(), u32::try_from(planned.targets.len()).unwrap_or(u32::MAX))
        };
        let time = |nanos: candor_plan::Nanos| Duration::from_nanos(nanos.0);
        Progress {
            shown: wanted && (text || apart),
            jobs,
            planned: jobs.iter().map(planned).collect(),
            letters: vec![WAITS; jobs.len()],
            phase: 0,
            began: Instant::now(),
            expected: None,
            counts: Counts::default(),
            line: Line::new(
                flags.eta_interval.map_or(Duration::from_secs(1), time),
                flags.eta_newline.map(time),
            ),
        }
    }

    /// Something happened.
    pub fn on(&mut self, event: &Event) {
        if !self.shown {
            return;
        }
        match event {
            Event::PhaseStarted { index, expected_ns, .. } => {
                self.phase = *index;
                self.began = Instant::now();
                self.expected = expected_ns.map(Duration::from_nanos);
                self.letter(None, |job| Status::letter(&job.shape.rw));
            }
            Event::Sampled { samples, in_ramp, .. } => self.sampled(samples, *in_ramp),
            Event::WorkerDone { job, .. } => self.letter(Some(job), |_| GONE),
            Event::PhaseDone { .. } => self.letter(None, |_| GONE),
            _ => {}
        }
    }

    /// The run is over: what follows begins on a line of its own.
    pub fn end(&self) {
        self.line.end();
    }

    /// Gives the jobs of this phase, or the one of that name, a letter.
    fn letter(&mut self, name: Option<&str>, letter: impl Fn(&FioJob) -> char) {
        let jobs = self.jobs.iter().zip(&self.planned).zip(&mut self.letters);
        for ((job, (planned, _)), place) in jobs {
            if job.phase == self.phase && name.is_none_or(|name| name == planned) {
                *place = letter(job);
            }
        }
    }

    fn sampled(&mut self, samples: &[JobSample], in_ramp: bool) {
        self.counts.add(samples);
        for JobSample { job, .. } in samples {
            self.letter(Some(job), |job| if in_ramp { '/' } else { Status::letter(&job.shape.rw) });
        }
        self.show();
    }

    fn show(&mut self) {
        if self.counts.is_empty() || !self.line.is_due() {
            return;
        }
        let Some(first) = self.jobs.first() else { return };
        let line = self.status().line(&first.reporting);
        self.line.renew(&line);
        self.counts = Counts::default();
    }

    fn status(&self) -> Status {
        let runs = |letter: &char| ![WAITS, GONE].contains(letter);
        let files = self.planned.iter().zip(&self.letters).filter(|(_, letter)| runs(letter));
        let [ops_per_s, bytes_per_s] = self.counts.rates();
        let elapsed = self.began.elapsed();
        let any = |of: fn(&str) -> bool| self.jobs.iter().any(|job| of(&job.shape.rw));
        Status {
            running: self.letters.iter().filter(|letter| runs(letter)).count() as u32,
            open_files: files.map(|((_, files), _)| files).sum(),
            letters: self.letters.clone(),
            percent: self
                .expected
                .map(|expected| 100.0 * elapsed.as_secs_f64() / expected.as_secs_f64()),
            bytes_per_s,
            ops_per_s,
            left_s: self
                .expected
                .map(|expected| expected.saturating_sub(elapsed).as_secs_f64().ceil() as u64),
            directions: PerDirection {
                read: any(|rw| rw.contains("read") || rw.ends_with("rw")),
                write: any(|rw| rw.contains("write") || rw.ends_with("rw")),
                trim: any(|rw| rw.contains("trim")),
            },
        }
    }
}
