//! Traces of jobs in fio's version 3: `time file action [offset length]`, with times in µs since
//! the job's start.

use std::io::{self, Write};

use candor_plan::path_text::bytes_of;
use candor_plan::trace::{Action, Step};
use candor_plan::units::Direction;
use candor_plan::{Job, PathText, Plan, Target, TargetKind};
use candor_record::Report;

use crate::job::FioJob;
use crate::output::logs::measured;

/// The first line.
const HEADER: &str = "fio version 3 iolog";

/// The files that traces are added to, each with the jobs that do so.
pub fn files(jobs: &[FioJob]) -> Vec<(&str, Vec<&FioJob>)> {
    let mut files: Vec<(&str, Vec<&FioJob>)> = Vec::new();
    for job in jobs {
        let Some(name) = job.logs.trace.as_deref() else { continue };
        match files.iter_mut().find(|(known, _)| *known == name) {
            Some((_, jobs)) => jobs.push(job),
            None => files.push((name, vec![job])),
        }
    }
    files
}

/// Writes the trace of a job with a header line.
///
/// # Errors
/// The kernel's.
pub fn write(report: &Report, job: &FioJob, out: &mut impl Write) -> io::Result<()> {
    let planned = report.plan.phases.get(job.phase).and_then(|phase| phase.jobs.get(job.job));
    let targets = planned.map_or_else(Vec::new, |planned| targets(&report.plan, planned));
    let flushes = planned.and_then(|planned| planned.blocks());
    let flushes = flushes.is_some_and(|blocks| blocks.durability.fsync_at_end);
    writeln!(out, "{HEADER}")?;
    let files = targets.iter().map(|target| target.files_named()).sum::<u64>() as usize;
    let mut lines = Lines { targets, open: vec![false; files], last: 0, out };
    for file in 0..files {
        let line = format!("0 {} add", lines.path(file));
        lines.put(&line)?;
    }
    // A repeated phase continues at its previous end.
    let mut begin_ns = 0;
    for measured in measured(report, job) {
        for step in measured.log.iter().flat_map(|log| &log.trace) {
            lines.step(begin_ns + step.at_ns, step)?;
        }
        begin_ns += measured.elapsed_ns;
    }
    lines.end(begin_ns, flushes)
}

/// The lines of a trace after its header.
struct Lines<'a, W> {
    targets: Vec<&'a Target>,
    open: Vec<bool>,
    /// Offset of the last operation that moved bytes: fio has it in the lines of flushes, too.
    last: u64,
    out: &'a mut W,
}

impl<W: Write> Lines<'_, W> {
    /// Path of a file of the job, as the job names it.
    fn path(&self, file: usize) -> String {
        path_of(&self.targets, file as u64)
    }

    /// Writes a line, with the bytes of paths.
    fn put(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(&bytes_of(line))?;
        self.out.write_all(b"\n")
    }

    fn step(&mut self, at_ns: u64, step: &Step) -> io::Result<()> {
        let (us, file) = (at_ns / 1000, step.file as usize);
        let Some(is_open) = self.open.get_mut(file) else { return Ok(()) };
        let was_open = std::mem::replace(is_open, true);
        let path = self.path(file);
        if !was_open {
            self.put(&format!("{us} {path} open"))?;
        }
        if matches!(step.action, Action::Move(_)) {
            self.last = step.offset;
        }
        let (offset, length) = (self.last, step.length);
        self.put(&format!("{us} {path} {} {offset} {length}", word(step.action)))
    }

    /// Flushes open files if requested, and closes them.
    fn end(mut self, at_ns: u64, flushes: bool) -> io::Result<()> {
        let us = at_ns / 1000;
        let open: Vec<_> = (0..self.open.len()).filter(|file| self.open[*file]).collect();
        for file in open.iter().filter(|_| flushes) {
            self.put(&format!("{us} {} sync {} 0", self.path(*file), self.last))?;
        }
        for file in open {
            self.put(&format!("{us} {} close", self.path(file)))?;
        }
        Ok(())
    }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Move(Direction::Read) => "read",
        Action::Move(Direction::Write) => "write",
        Action::Move(Direction::Trim) => "trim",
        Action::Fsync => "sync",
        Action::Fdatasync => "datasync",
    }
}

/// The targets of a job.
pub(super) fn targets<'p>(plan: &'p Plan, job: &Job) -> Vec<&'p Target> {
    job.targets.iter().filter_map(|name| plan.target(name)).collect()
}

/// Path of a file of the targets, as the job names it.
pub(super) fn path_of(targets: &[&Target], mut nth: u64) -> String {
    for target in targets {
        match nth.checked_sub(target.files_named()) {
            None => return path(target, nth),
            Some(rest) => nth = rest,
        }
    }
    String::new()
}

fn path(target: &Target, nth: u64) -> String {
    match target.kind {
        TargetKind::Null if target.file_name.is_none() => target.name.clone(),
        TargetKind::Null | TargetKind::FileSet => target.file_of_set(nth).0.text(),
        _ => target.path.text(),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::{Blocks, Bytes, Member, Phase};
    use candor_record::{Log, Measurement, PhaseRecord};

    use super::*;
    use crate::job::Logs;

    fn report(steps: Vec<Step>) -> Report {
        let member = |name: &str| Member { name: name.into(), size: Some(Bytes(4096)) };
        let set = Target {
            name: "set".into(),
            path: ".".into(),
            kind: TargetKind::FileSet,
            members: vec![member("a.0.0"), member("a.0.1"), member("a.0.2")],
            ..Target::default()
        };
        let mut blocks = Blocks::default();
        blocks.durability.fsync_at_end = true;
        let job = Job { targets: vec!["set".into()], work: blocks.into(), ..Job::default() };
        let plan = Plan {
            targets: vec![set],
            phases: vec![Phase { jobs: vec![job], ..Phase::default() }],
            ..Plan::default()
        };
        let log = Some(Box::new(Log { trace: steps, ..Log::default() }));
        let measured = Measurement { log, elapsed_ns: 9_000, ..Measurement::default() };
        let phase = PhaseRecord { measurements: vec![measured], ..PhaseRecord::default() };
        Report { plan, phases: vec![phase], ..Report::default() }
    }

    #[test]
    fn what_was_done_becomes_lines() {
        let step = |at_ns, file, action, length| Step { at_ns, offset: 0, length, file, action };
        let steps = vec![
            step(1_999, 1, Action::Move(Direction::Write), 4096),
            step(5_000, 0, Action::Move(Direction::Read), 512),
            step(6_000, 1, Action::Fdatasync, 0),
        ];
        let logs = Logs { trace: Some("t".into()), ..Logs::default() };
        let jobs = [FioJob { logs, ..FioJob::default() }, FioJob::default()];
        let found = files(&jobs);
        assert_eq!((found.len(), found[0].0, found[0].1.len()), (1, "t", 1));
        let mut out = Vec::new();
        write(&report(steps), &jobs[0], &mut out).expect("written");
        let expected = "fio version 3 iolog
0 a.0.0 add
0 a.0.1 add
0 a.0.2 add
1 a.0.1 open
1 a.0.1 write 0 4096
5 a.0.0 open
5 a.0.0 read 0 512
6 a.0.1 datasync 0 0
9 a.0.0 sync 0 0
9 a.0.1 sync 0 0
9 a.0.0 close
9 a.0.1 close
";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
