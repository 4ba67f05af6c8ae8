//! A row for each transfer, in a file for each task and repetition.

use candor_plan::{Job, Plan, Sharing};
use candor_record::PhaseRecord;

use super::numbers::scientific;
use crate::plan::{PhaseKind, TestPhase};
use crate::setup::Setup;

/// Header of the rows.
const HEADER: &str = "time,runtime,tp\n";

/// The operation files that a phase requests: names, and rows with header; empty without a request.
pub fn operation_files(
    setup: &Setup,
    phases: &[TestPhase],
    plan: &Plan,
    record: &PhaseRecord,
) -> Vec<(String, String)> {
    let found = || {
        let phase = phases.get(record.phase)?;
        let test = setup.tests.get(phase.test)?;
        let prefix = test.options.output.operations_csv.as_ref()?;
        let job = plan.phases.get(record.phase)?.jobs.first()?;
        let log = record.measurements.first()?.log.as_ref()?;
        let is_measured = matches!(phase.kind, PhaseKind::Write | PhaseKind::Read);
        is_measured.then_some((phase, test, prefix, job, log))
    };
    let Some((phase, test, prefix, job, log)) = found() else { return Vec::new() };
    let owners = Owners::of(job, test.options.layout.block_bytes);
    let mut files: Vec<String> = vec![HEADER.to_owned(); test.tasks as usize];
    for op in &log.ops {
        let runtime_s = op.latency_ns as f64 / 1e9;
        let row = format!(
            "{},{},{}\n",
            scientific(op.issued_ns() as f64 / 1e9, 8),
            scientific(runtime_s, 8),
            scientific(f64::from(op.bytes) / runtime_s.max(1e-9), 6)
        );
        if let Some(file) = files.get_mut(owners.task(op.file.into(), op.offset)) {
            file.push_str(&row);
        }
    }
    let name = |rank: usize| format!("{prefix}-{}-{rank:05}.csv", phase.repetition);
    files.into_iter().enumerate().map(|(rank, rows)| (name(rank), rows)).collect()
}

/// Tasks by the owner of their data.
struct Owners {
    sharing: Sharing,
    block: u64,
    /// The task that works on each rank's data.
    tasks: Vec<usize>,
}

impl Owners {
    fn of(job: &Job, block: u64) -> Owners {
        let ranks = u64::from(job.workers);
        let data_of = job.data_of();
        let mut tasks = vec![0; job.workers as usize];
        for rank in (0..ranks).rev() {
            tasks[data_of.rank(rank, ranks) as usize] = rank as usize;
        }
        Owners { sharing: job.sharing, block: block.max(1), tasks }
    }

    /// The task of a transfer.
    fn task(&self, file: u64, offset: u64) -> usize {
        let ranks = self.tasks.len() as u64;
        let data = match self.sharing {
            Sharing::Own => file % ranks.max(1),
            Sharing::Shared => offset / self.block % ranks.max(1),
        };
        self.tasks.get(data as usize).copied().unwrap_or(0)
    }
}
