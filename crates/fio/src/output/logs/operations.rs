//! Operations one by one, as `--debug=io` prints them.

use candor_record::{LoggedOp, Report};

use super::entry::direction;
use super::iolog;
use crate::job::FioJob;
use crate::output::logs::measured;

/// A line when an operation is queued and one when it completes, in the order of time. Operations
/// have numbers in place of fio's addresses.
pub fn lines(report: &Report, job: &FioJob) -> impl Iterator<Item = String> {
    let planned = report.plan.phases.get(job.phase).and_then(|phase| phase.jobs.get(job.job));
    let targets = planned.map_or_else(Vec::new, |planned| iolog::targets(&report.plan, planned));
    let ops = measured(report, job).filter_map(|measured| measured.log.as_ref());
    ops.flat_map(|log| in_time(&log.ops)).map(move |(_, is_complete, number, op)| {
        let word = if is_complete { "complete" } else { "queue" };
        let (offset, bytes, way) = (op.offset, op.bytes, direction(op.op));
        let file = iolog::path_of(&targets, u64::from(op.file));
        format!("{word}: io_u {number:#x}: off={offset:#x},len={bytes:#x},ddir={way},file={file}")
    })
}

/// Moments of operations: time, whether it is the completion, number, operation.
fn in_time(ops: &[LoggedOp]) -> Vec<(u64, bool, usize, &LoggedOp)> {
    let mut all: Vec<_> = ops
        .iter()
        .enumerate()
        .flat_map(|(number, op)| [(op.issued_ns(), false, number), (op.at_ns, true, number)])
        .collect();
    all.sort_unstable();
    all.into_iter()
        .map(|(at, is_complete, number)| (at, is_complete, number, &ops[number]))
        .collect()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;
    use candor_plan::{Job, Phase, Plan, Target};
    use candor_record::{Log, Measurement, PhaseRecord};

    use super::*;

    #[test]
    fn an_operation_is_queued_before_it_is_complete() {
        let op = |at_ns, latency_ns, offset| LoggedOp {
            at_ns,
            op: Direction::Write,
            priority: 0,
            file: 0,
            bytes: 4096,
            offset,
            latency_ns,
            completion_ns: latency_ns,
        };
        let ops = vec![op(20, 10, 4096), op(30, 25, 0)];
        let log = Some(Box::new(Log { ops, ..Log::default() }));
        let measured = Measurement { log, ..Measurement::default() };
        let target = Target { name: "f".into(), path: "f".into(), ..Target::default() };
        let job = Job { targets: vec!["f".into()], ..Job::default() };
        let plan = Plan {
            targets: vec![target],
            phases: vec![Phase { jobs: vec![job], ..Phase::default() }],
            ..Plan::default()
        };
        let phases = vec![PhaseRecord { measurements: vec![measured], ..PhaseRecord::default() }];
        let report = Report { plan, phases, ..Report::default() };
        let lines: Vec<_> = lines(&report, &FioJob::default()).collect();
        assert_eq!(
            lines,
            [
                "queue: io_u 0x1: off=0x0,len=0x1000,ddir=1,file=f",
                "queue: io_u 0x0: off=0x1000,len=0x1000,ddir=1,file=f",
                "complete: io_u 0x0: off=0x1000,len=0x1000,ddir=1,file=f",
                "complete: io_u 0x1: off=0x0,len=0x1000,ddir=1,file=f",
            ]
        );
    }
}
