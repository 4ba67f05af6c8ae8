//! Columns of work on file systems: rate and response time of each operation.

mod columns;
mod flat;

use super::{Cell, Figures, Sheet, Side};
use crate::definitions::Definition;
use crate::definitions::fwd::FileOperation;
use crate::definitions::rd::{LoopValues, Rd};
use crate::file::ParameterFile;
use crate::lower::LoweredRun;

/// The table of work on file systems.
#[derive(Clone, Debug, Default)]
pub struct FileSheet {
    /// Operations that occur in any run; some have a column only then.
    pub used: Vec<FileOperation>,
    /// Megabytes are 10^6 bytes.
    pub is_decimal: bool,
}

impl FileSheet {
    fn megabyte(&self) -> f64 {
        if self.is_decimal { 1e6 } else { 1_048_576.0 }
    }
}

/// Names of the plan's steps that an operation is counted by. A file that is made is opened as
/// well, which vdbench counts as both.
pub fn steps_of(operation: FileOperation) -> &'static [&'static str] {
    match operation {
        FileOperation::Read => &["read"],
        FileOperation::Write => &["write"],
        FileOperation::Mkdir => &["mkdir"],
        FileOperation::Rmdir => &["rmdir"],
        FileOperation::Create => &["create"],
        FileOperation::Delete => &["unlink"],
        FileOperation::Open => &["open", "create"],
        FileOperation::Close => &["close"],
        FileOperation::Getattr => &["stat"],
        FileOperation::Setattr => &["utimens"],
        FileOperation::Access => &["access"],
        FileOperation::Copy => &["copy"],
        FileOperation::Move => &["rename"],
    }
}

/// Names of the steps that the requested rate counts.
pub fn counted_steps(requested: &[FileOperation]) -> Vec<&'static str> {
    requested.iter().filter_map(|operation| steps_of(*operation).first().copied()).collect()
}

/// Operations that occur anywhere in a parameter file.
pub fn used_operations(file: &ParameterFile) -> Vec<FileOperation> {
    let looped = |rd: &Definition<Rd>| -> Vec<FileOperation> {
        let lists = rd.options.loops.iter().filter_map(|of| match &of.values {
            LoopValues::Operations(all) => Some(all.clone()),
            LoopValues::Numbers(_) => None,
        });
        lists.flatten().collect()
    };
    let of_runs = file.rds.all.iter();
    let runs = of_runs.flat_map(|rd| [rd.options.operations.clone(), looped(rd)].concat());
    file.fwds.all.iter().map(|fwd| fwd.options.operation).chain(runs).collect()
}

/// Operations of that kind.
fn done(figures: &Figures, operation: FileOperation) -> Side {
    let mut all = Side::default();
    steps_of(operation).iter().for_each(|step| all.add(&figures.of_name(step)));
    all
}

/// Operations of that kind per second, and their response time in ms.
fn rate_and_response(figures: &Figures, operation: FileOperation) -> [f64; 2] {
    let done = done(figures, operation);
    [per(done.ops as f64, figures.seconds), done.response_ms()]
}

/// Reads and writes together.
fn transfers(figures: &Figures) -> Side {
    let mut both = done(figures, FileOperation::Read);
    both.add(&done(figures, FileOperation::Write));
    both
}

fn per(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Sheet for FileSheet {
    fn head(&self, date: &str) -> String {
        let [first, second] = columns::headings(&self.used);
        format!("\n{date:12}{first}\n{:12}{second}\n", "")
    }

    fn flat_columns(&self) -> Vec<(&'static str, &'static str)> {
        flat::COLUMNS.to_vec()
    }

    fn row(&self, label: &str, figures: &Figures) -> String {
        columns::row(self, label, figures)
    }

    fn flat_cells(&self, run: &LoweredRun, figures: &Figures) -> Vec<Cell> {
        flat::cells(self, run, figures)
    }
}

#[cfg(test)]
mod tests;
