//! Results as CSV: rows of phases, and rows of tasks in a phase.

use super::TestResults;
use super::figures::Figures;
use super::numbers::{KIB, decimal, scientific};

/// Header of the rows of phases.
const HEADER: &str = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),\
                      total(s),numTasks,iter\n";

/// The rows of all phases with their header.
pub(super) fn document(tests: &[TestResults<'_>]) -> String {
    let rows =
        tests.iter().flat_map(|test| test.rows.iter().map(move |figures| row(test, figures)));
    HEADER.to_owned() + &rows.collect::<String>()
}

fn row(test: &TestResults<'_>, figures: &Figures) -> String {
    let layout = &test.setup.options.layout;
    let numbers = [
        figures.mib_per_s(),
        figures.transfers_per_s(),
        figures.latency_s,
        layout.block_bytes as f64 / KIB,
        layout.transfer_bytes as f64 / KIB,
        figures.open_s,
        figures.transfer_s,
        figures.close_s,
        figures.total_s,
    ];
    let numbers: Vec<String> = numbers.into_iter().map(decimal).collect();
    let (access, tasks) = (figures.access.word(), test.setup.tasks);
    format!("{access},{},{tasks},{}\n", numbers.join(","), figures.repetition)
}

/// Header of the rows of tasks.
pub(super) const TASKS_HEADER: &str = "access,rank,runtime-with-openclose,runtime,\
                                       throughput-withopenclose,throughput\n";

/// A row for each task of a phase: direction, rank, both times and both rates in bytes per second.
pub(super) fn tasks(figures: &Figures) -> String {
    let access = figures.access.word();
    let row = |(rank, task): (usize, &super::TaskTimes)| {
        let (total_s, transfer_s) = (task.total_s(), task.transfer_s());
        let rate = |seconds: f64| if seconds > 0.0 { task.bytes as f64 / seconds } else { 0.0 };
        let numbers = [total_s, transfer_s, rate(total_s), rate(transfer_s)];
        let numbers: Vec<String> =
            numbers.into_iter().map(|number| scientific(number, 10)).collect();
        format!("{access},{rank},{}\n", numbers.join(","))
    };
    figures.tasks.iter().enumerate().map(row).collect()
}
