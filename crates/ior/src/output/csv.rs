//! Results as CSV: rows of phases, and rows of tasks in a phase.

use super::TestResults;
use super::figures::{Figures, per_s};
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
    let mut text = String::new();
    for (rank, task) in figures.tasks.iter().enumerate() {
        let times = [task.total_s(), task.transfer_s()];
        let rates = times.map(|seconds| per_s(task.bytes as f64, seconds));
        let numbers = [times, rates].concat().into_iter().map(|number| scientific(number, 10));
        let numbers: Vec<String> = numbers.collect();
        text += &format!("{},{rank},{}\n", figures.access.word(), numbers.join(","));
    }
    text
}
