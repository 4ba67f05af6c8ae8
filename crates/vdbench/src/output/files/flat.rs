//! Columns of `flatfile.html`.

use candor_record::CpuShares;

use super::{FileSheet, done, per, rate_and_response, transfers};
use crate::definitions::fwd::FileOperation;
use crate::lower::LoweredRun;
use crate::output::{Cell, Figures};

/// Columns after the run's columns, with their descriptions.
pub const COLUMNS: &[(&str, &str)] = &[
    ("rate", "Requested operations per second"),
    ("resp", "Response time of requested operations, in ms"),
    ("MB/sec", "Megabytes per second (MB=1024*1024)"),
    ("Read_rate", "Reads per second"),
    ("Read_resp", "Response time of reads"),
    ("Write_rate", "Writes per second"),
    ("Write_resp", "Response time of writes"),
    ("MB_read", "Megabytes read per second"),
    ("MB_write", "Megabytes written per second"),
    ("Xfersize", "Mean bytes per read or write"),
    ("Mkdir_rate", "Directories made per second"),
    ("Mkdir_resp", "Response time of these"),
    ("Rmdir_rate", "Directories removed per second"),
    ("Rmdir_resp", "Response time of these"),
    ("Create_rate", "Files made per second"),
    ("Create_resp", "Response time of these"),
    ("Open_rate", "Files opened per second"),
    ("Open_resp", "Response time of these"),
    ("Close_rate", "Files closed per second"),
    ("Close_resp", "Response time of these"),
    ("Delete_rate", "Files removed per second"),
    ("Delete_resp", "Response time of these"),
    ("Getattr_rate", "Attributes read per second"),
    ("Getattr_resp", "Response time of these"),
    ("Setattr_rate", "Attributes set per second"),
    ("Setattr_resp", "Response time of these"),
    ("Access_rate", "Checks of access per second"),
    ("Access_resp", "Response time of these"),
    ("Copy_rate", "Files copied per second"),
    ("Copy_resp", "Response time of these"),
    ("Move_rate", "Files moved per second"),
    ("Move_resp", "Response time of these"),
    ("compratio", "Requested ratio of compression"),
    ("dedupratio", "Requested ratio of deduplication"),
    ("cpu_used", "CPU time of processes and the kernel, in percent"),
    ("cpu_user", "CPU time of processes"),
    ("cpu_kernel", "CPU time of the kernel"),
    ("cpu_wait", "CPU time that waited for I/O"),
    ("cpu_idle", "CPU time without work"),
];

/// Operations whose columns follow `Xfersize`.
const OTHERS: [FileOperation; 11] = [
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Delete,
    FileOperation::Getattr,
    FileOperation::Setattr,
    FileOperation::Access,
    FileOperation::Copy,
    FileOperation::Move,
];

/// Values of these columns, in their order.
pub fn cells(sheet: &FileSheet, run: &LoweredRun, figures: &Figures) -> Vec<Cell> {
    use FileOperation::{Read, Write};
    let [read_mb, written_mb] = [Read, Write].map(|operation| {
        per(done(figures, operation).bytes as f64 / sheet.megabyte(), figures.seconds)
    });
    let both = |operation| rate_and_response(figures, operation).map(Cell::Number);
    let transfers = transfers(figures);
    let mut cells = vec![
        Cell::Number(figures.rate()),
        Cell::Number(figures.all().response_ms()),
        Cell::Number(read_mb + written_mb),
    ];
    cells.extend([Read, Write].into_iter().flat_map(both));
    cells.extend([read_mb, written_mb].map(Cell::Number));
    cells.push(Cell::Whole(transfers.bytes.checked_div(transfers.ops).unwrap_or(0)));
    cells.extend(OTHERS.into_iter().flat_map(both));
    let ratios = [run.shown.compression_ratio, run.shown.dedup_ratio];
    cells.extend(ratios.map(|ratio| ratio.map_or(Cell::Absent, Cell::Number)));
    let percent = |of: fn(&CpuShares) -> f64| {
        figures.cpu.as_ref().map_or(Cell::Absent, |cpu| Cell::Number(100.0 * of(cpu)))
    };
    cells.extend([
        percent(|cpu| cpu.user + cpu.system),
        percent(|cpu| cpu.user),
        percent(|cpu| cpu.system),
        percent(|cpu| cpu.iowait),
        percent(|cpu| cpu.idle),
    ]);
    cells
}
