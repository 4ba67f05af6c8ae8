//! Failures of a run, from its record.

use candor_front::failures::reason;
use candor_plan::Entries;
use candor_plan::entries::{Over, Step};
use candor_record::{Ended, Measurement, PhaseRecord};
use candor_vdbench::lower::LoweredRun;

/// Reasons for which a file that is to be worked on is passed over.
const NO_FILE: [&str; 2] = ["absent", "empty"];

/// True where a block was not what was written.
pub fn is_corrupt(measured: &Measurement) -> bool {
    measured.verify.as_ref().is_some_and(|verify| verify.mismatches() > 0)
}

/// Sentences about the jobs of a phase that failed.
pub fn failed(record: &PhaseRecord) -> impl Iterator<Item = String> + use<'_> {
    let failed = record
        .measurements
        .iter()
        .filter(|measured| matches!(measured.ended, Ended::Failed | Ended::Stalled));
    failed.map(|measured| format!("{}: {}", record.name, reason(measured)))
}

/// Sentences about workloads that met no file in a whole run.
pub fn without_files(run: &LoweredRun, record: &PhaseRecord) -> Vec<String> {
    let jobs = run.phase.jobs.iter().zip(&record.measurements);
    let without = jobs.filter_map(|(job, measured)| {
        let entries = job.entries().filter(|entries| needs_files(entries))?;
        let counted = entries.paced_steps.iter().map(|step| measured.operation(step.name()).ops);
        let has_none = measured.ended == Ended::Done && counted.sum::<u64>() == 0;
        let missed = NO_FILE.iter().any(|why| measured.passed_over.contains_key(*why));
        (has_none && missed).then(|| {
            format!(
                "{}: `{}` found no file to work on; make them first, with format=yes",
                record.name, job.name
            )
        })
    });
    without.collect()
}

/// True for work on files that somebody made before; where they are removed, none need be there.
fn needs_files(entries: &Entries) -> bool {
    let makes = entries.take.as_ref().is_some_and(|take| !take.absent.is_empty());
    entries.over == Over::Items && !makes && !entries.has(Step::Unlink)
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Take;
    use candor_plan::{Job, Phase};

    use super::*;

    #[test]
    fn a_workload_without_files_is_told() {
        let run = |steps: &[Step]| {
            let take = Some(Take::default());
            let paced_steps = vec![steps[0]];
            let entries = Entries { steps: steps.into(), paced_steps, take, ..Entries::default() };
            let jobs = vec![Job { name: "job".into(), work: entries.into(), ..Job::default() }];
            LoweredRun { phase: Phase { jobs, ..Phase::default() }, ..LoweredRun::default() }
        };
        let record = |why: &str, ended| PhaseRecord {
            name: "rd1".into(),
            measurements: vec![Measurement {
                passed_over: [(why.to_owned(), 4)].into(),
                ended,
                ..Measurement::default()
            }],
            ..PhaseRecord::default()
        };
        let told = |steps, why, ended| without_files(&run(steps), &record(why, ended)).len();
        assert_eq!(told(&[Step::Read], "absent", Ended::Done), 1);
        assert_eq!(told(&[Step::Stat], "empty", Ended::Done), 1);
        assert_eq!(told(&[Step::Read], "busy", Ended::Done), 0);
        assert_eq!(told(&[Step::Read], "absent", Ended::Time), 0, "it waited for others");
        assert_eq!(told(&[Step::Unlink], "absent", Ended::Done), 0);
    }
}
