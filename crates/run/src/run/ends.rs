//! Ends of a run before its time: a phase that cannot run, failures, interrupts, jobs that end it.

use candor_plan::{OnDone, OnFailure, Phase};
use candor_record::{Ended, LostHost, Measurement, PhaseRecord};

use crate::control::Control;
use crate::error::RunError;

/// The reason why no other phase follows.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// A phase could not run.
    #[error(transparent)]
    Error(#[from] RunError),
    /// A phase went wrong, in a sentence.
    #[error("{0}")]
    Early(String),
    /// All was done: a job that ends the run has ended, or a command ended it.
    #[error("the run was ended")]
    Done,
}

/// Why a phase was the last one of its run; none where another may follow.
pub fn after(phase: &Phase, record: &PhaseRecord, control: &Control) -> Option<Stopped> {
    let early = worst(record, control).filter(|_| ends_run(phase, record, control));
    early
        .map(Stopped::Early)
        .or_else(|| (is_last(phase, record) || control.is_ended()).then_some(Stopped::Done))
}

/// True where a job has ended that ends the run with it.
fn is_last(phase: &Phase, record: &PhaseRecord) -> bool {
    let mut ended = phase.jobs.iter().zip(&record.measurements);
    ended.any(|(job, Measurement { ended, .. })| match job.on_done {
        OnDone::EndRun => ended.is_sound(),
        OnDone::EndRunByTime => *ended == Ended::Time,
        OnDone::GoOn | OnDone::EndPhase => false,
    })
}

/// False where what went wrong in a phase concerns only jobs that fail alone.
fn ends_run(phase: &Phase, record: &PhaseRecord, control: &Control) -> bool {
    let failed_only = record
        .measurements
        .iter()
        .all(|measurement| measurement.ended.is_sound() || measurement.ended == Ended::Failed);
    phase.on_failure == OnFailure::EndRun || !failed_only || control.is_stopped()
}

/// The worst that happened in a phase, in a sentence.
fn worst(record: &PhaseRecord, control: &Control) -> Option<String> {
    let name = &record.name;
    if let Some(sentence) = lost(record) {
        return Some(sentence);
    }
    let worst = record.measurements.iter().max_by_key(|measurement| measurement.ended);
    match worst.map(|measurement| (measurement.ended, measurement)) {
        Some((Ended::Failed, measurement)) => Some(failure(name, measurement)),
        Some((Ended::Stalled, _)) => {
            Some(format!("`{name}` made no progress for a minute and was given up"))
        }
        Some((Ended::Interrupted, _)) => Some(interruption(name)),
        _ => control.is_stopped().then(|| interruption(name)),
    }
}

/// The hosts that were lost in a phase, in a sentence.
fn lost(record: &PhaseRecord) -> Option<String> {
    let lost = record.hosts.iter().filter_map(|host| {
        let member = host.member.as_ref()?;
        Some((host, member, member.lost.as_ref()?))
    });
    let mut lost = lost.peekable();
    let (host, member, LostHost { at_ns, why }) = lost.next()?;
    let when =
        at_ns.map_or("before it began".into(), |ns| format!("{:.1} s into it", ns as f64 / 1e9));
    let others = match lost.count() {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let (name, address, phase) = (&host.host, &member.address, &record.name);
    Some(format!("host {name} ({address}) was lost in `{phase}`, {when}: {why}{others}"))
}

fn interruption(phase: &str) -> String {
    format!("the run was interrupted during `{phase}`")
}

fn failure(phase: &str, measurement: &Measurement) -> String {
    if let Some(error) = measurement.errors.first() {
        let op = error.op.as_deref().unwrap_or("flush");
        let (path, message) = (&error.path, &error.message);
        // What moves no bytes has no place in a file.
        let moves = matches!(op, "read" | "write" | "trim" | "read_back");
        let place = if moves { format!(" at offset {}", error.offset) } else { String::new() };
        return format!("`{phase}` ended: {op} of `{path}`{place} failed: {message}");
    }
    let mismatch = measurement.verify.as_ref().and_then(|verify| verify.first.first());
    match mismatch {
        Some(found) => format!(
            "`{phase}` ended: the block of `{}` at offset {} is not what was written: {}",
            found.path, found.offset, found.detail
        ),
        None => format!("`{phase}` ended because a worker failed"),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Job;

    use super::*;
    use crate::control::Command;

    #[test]
    fn the_worst_end_is_reported() {
        let all = [Ended::Done, Ended::Interrupted, Ended::Stalled, Ended::Failed];
        let mut record = PhaseRecord { name: "p".into(), ..PhaseRecord::default() };
        let mut reported = Vec::new();
        for ended in all {
            let measurement = Measurement { ended, ..Measurement::default() };
            record.measurements.insert(0, measurement.clone());
            record.measurements.push(measurement);
            reported.push(worst(&record, &Control::default()));
        }
        assert_eq!(reported[0], None);
        for (sentence, word) in reported[1..].iter().zip(["interrupted", "no progress", "failed"]) {
            assert!(sentence.as_ref().is_some_and(|text| text.contains(word)), "{sentence:?}");
        }
    }

    fn ended_by(on_done: OnDone, ended: Ended, command: Option<Command>) -> &'static str {
        let jobs = vec![Job { on_done, ..Job::default() }];
        let measurement = Measurement { ended, ..Measurement::default() };
        let record = PhaseRecord { measurements: vec![measurement], ..PhaseRecord::default() };
        let control = Control::default();
        command.map(|command| control.send(command));
        let phase = Phase { jobs, on_failure: OnFailure::EndJob, ..Phase::default() };
        match after(&phase, &record, &control) {
            None => "continues",
            Some(Stopped::Done) => "done",
            Some(_) => "early",
        }
    }

    #[test]
    fn a_run_ends_after_a_job_that_ends_it_well_and_after_commands() {
        assert_eq!(ended_by(OnDone::EndRun, Ended::Done, None), "done");
        assert_eq!(ended_by(OnDone::EndRun, Ended::Time, None), "done");
        assert_eq!(ended_by(OnDone::EndRun, Ended::Failed, None), "continues");
        assert_eq!(ended_by(OnDone::EndRunByTime, Ended::Time, None), "done");
        assert_eq!(ended_by(OnDone::EndRunByTime, Ended::Done, None), "continues");
        assert_eq!(ended_by(OnDone::EndPhase, Ended::Done, None), "continues");
        assert_eq!(ended_by(OnDone::EndPhase, Ended::Stalled, None), "early");
        assert_eq!(ended_by(OnDone::EndPhase, Ended::Done, Some(Command::End)), "done");
        assert_eq!(ended_by(OnDone::EndPhase, Ended::Done, Some(Command::Stop)), "early");
    }
}
