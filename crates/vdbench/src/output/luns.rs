//! Columns of work on luns.

use super::{Cell, Figures, Layout, Sheet};
use crate::lower::LoweredRun;

/// The table of work on luns.
#[derive(Clone, Copy, Debug)]
pub struct LunSheet {
    /// Columns of a table.
    pub layout: Layout,
    /// Megabytes are 10^6 bytes.
    pub is_decimal: bool,
}

/// A column: two header lines, width, decimals and metric.
struct Column {
    head: [&'static str; 2],
    width: usize,
    digits: usize,
    of: fn(&LunSheet, &Figures) -> f64,
}

const fn column(
    head: [&'static str; 2],
    width: usize,
    digits: usize,
    of: fn(&LunSheet, &Figures) -> f64,
) -> Column {
    Column { head, width, digits, of }
}

fn cpu(figures: &Figures) -> [f64; 2] {
    let cpu = figures.cpu.unwrap_or_default();
    [100.0 * (cpu.user + cpu.system), 100.0 * cpu.system]
}

/// Columns of 5.04.07, without the interval.
const V50407: &[Column] = &[
    column(["i/o", "rate"], 10, 1, |_, of| of.rate()),
    column(["MB/sec", "1024**2"], 8, 2, |sheet, of| of.megabytes(sheet.megabyte())),
    column(["bytes", "i/o"], 7, 0, |_, of| of.bytes_per_io()),
    column(["read", "pct"], 6, 2, |_, of| of.read_percent()),
    column(["resp", "time"], 8, 3, |_, of| of.all().response_ms()),
    column(["read", "resp"], 8, 3, |_, of| of.of_name("read").response_ms()),
    column(["write", "resp"], 8, 3, |_, of| of.of_name("write").response_ms()),
    column(["read", "max"], 8, 2, |_, of| of.of_name("read").max_ms()),
    column(["write", "max"], 8, 2, |_, of| of.of_name("write").max_ms()),
    column(["resp", "stddev"], 8, 3, |_, of| of.all().stddev_ms()),
    column(["queue", "depth"], 6, 1, |_, of| of.queue_depth()),
    column(["cpu%", "sys+u"], 5, 1, |_, of| cpu(of)[0]),
    column(["cpu%", "sys"], 5, 1, |_, of| cpu(of)[1]),
];

/// Columns of 5.04.06.
const V50406: &[Column] = &[
    column(["i/o", "rate"], 10, 2, |_, of| of.rate()),
    column(["MB/sec", "1024**2"], 8, 2, |sheet, of| of.megabytes(sheet.megabyte())),
    column(["bytes", "i/o"], 7, 0, |_, of| of.bytes_per_io()),
    column(["read", "pct"], 6, 2, |_, of| of.read_percent()),
    column(["resp", "time"], 8, 3, |_, of| of.all().response_ms()),
    column(["read", "resp"], 8, 3, |_, of| of.of_name("read").response_ms()),
    column(["write", "resp"], 8, 3, |_, of| of.of_name("write").response_ms()),
    column(["resp", "max"], 8, 3, |_, of| of.all().max_ms()),
    column(["resp", "stddev"], 8, 3, |_, of| of.all().stddev_ms()),
    column(["queue", "depth"], 5, 1, |_, of| of.queue_depth()),
    column(["cpu%", "sys+u"], 5, 1, |_, of| cpu(of)[0]),
    column(["cpu%", "sys"], 5, 1, |_, of| cpu(of)[1]),
];

/// Bytes of a gigabyte, whatever a megabyte is.
const GIGABYTE: f64 = (1 << 30) as f64;

/// A column of `flatfile.html`: name, description and cell.
type Flat = (&'static str, &'static str, fn(&LunSheet, &LoweredRun, &Figures) -> Cell);

/// Separate columns of reads and writes, which 5.04.06 does not have.
const LATER: &[&str] = &["read_max", "write_max", "read_std", "write_std"];

fn whole(value: Option<u64>) -> Cell {
    value.map_or(Cell::Absent, Cell::Whole)
}

fn number(value: Option<f64>) -> Cell {
    value.map_or(Cell::Absent, Cell::Number)
}

const FLAT: &[Flat] = &[
    ("rate", "Observed I/O rate", |_, _, of| Cell::Number(of.rate())),
    ("MB/sec", "Megabytes per second", |sheet, _, of| Cell::Number(of.megabytes(sheet.megabyte()))),
    ("bytes/io", "Mean bytes of an operation", |_, _, of| {
        Cell::Whole(of.bytes_per_io().round() as u64)
    }),
    ("read%", "Observed share of reads", |_, _, of| Cell::Number(of.read_percent())),
    ("resp", "Mean response time in ms", |_, _, of| Cell::Number(of.all().response_ms())),
    ("read_resp", "Mean response time of reads", |_, _, of| {
        Cell::Number(of.of_name("read").response_ms())
    }),
    ("write_resp", "Mean response time of writes", |_, _, of| {
        Cell::Number(of.of_name("write").response_ms())
    }),
    ("resp_max", "Longest response time", |_, _, of| Cell::Number(of.all().max_ms())),
    ("read_max", "Longest response time of reads", |_, _, of| {
        Cell::Number(of.of_name("read").max_ms())
    }),
    ("write_max", "Longest response time of writes", |_, _, of| {
        Cell::Number(of.of_name("write").max_ms())
    }),
    ("resp_std", "Standard deviation of response times", |_, _, of| {
        Cell::Number(of.all().stddev_ms())
    }),
    ("read_std", "The same of reads", |_, _, of| Cell::Number(of.of_name("read").stddev_ms())),
    ("write_std", "The same of writes", |_, _, of| Cell::Number(of.of_name("write").stddev_ms())),
    ("xfersize", "Requested bytes of an operation", |_, run, _| whole(run.shown.transfer_bytes)),
    ("threads", "Requested operations in flight of a lun; -1 where luns differ", |_, run, _| {
        run.shown.threads.map_or(Cell::Text("-1".into()), Cell::Whole)
    }),
    ("rdpct", "Requested share of reads", |_, run, _| number(run.shown.read_percent)),
    ("rhpct", "Share of reads in the hit area", |_, run, _| number(run.shown.read_hit_percent)),
    ("whpct", "Share of writes in the hit area", |_, run, _| number(run.shown.write_hit_percent)),
    ("seekpct", "Share of random places", |_, run, _| number(run.shown.seek_percent)),
    ("lunsize", "Gigabytes (1024**3) of all luns", |_, run, _| {
        number(run.shown.lun_bytes.map(|bytes| bytes as f64 / GIGABYTE))
    }),
    ("version", "Identifier of a version, which vdbench leaves open", |_, _, _| Cell::Absent),
    ("compratio", "Requested ratio of compression", |_, run, _| {
        number(run.shown.compression_ratio)
    }),
    ("dedupratio", "Requested ratio of deduplication", |_, run, _| {
        number(run.shown.dedup_ratio.or(Some(1.0)))
    }),
    ("queue_depth", "Mean number of operations in flight", |_, _, of| {
        Cell::Number(of.queue_depth())
    }),
    ("cpu_used", "CPU time that was not idle, in percent", |_, _, of| {
        cpu_cell(of, |[all, _, _]| all)
    }),
    ("cpu_user", "CPU time of processes", |_, _, of| cpu_cell(of, |[_, user, _]| user)),
    ("cpu_kernel", "CPU time of the kernel", |_, _, of| cpu_cell(of, |[_, _, kernel]| kernel)),
    ("cpu_wait", "CPU time waiting for I/O", |_, _, of| {
        number(of.cpu.map(|cpu| 100.0 * cpu.iowait))
    }),
    ("cpu_idle", "CPU time without work", |_, _, of| number(of.cpu.map(|cpu| 100.0 * cpu.idle))),
];

fn cpu_cell(figures: &Figures, of: fn([f64; 3]) -> f64) -> Cell {
    let shares = figures.cpu.map(|cpu| [cpu.user + cpu.system, cpu.user, cpu.system]);
    number(shares.map(|shares| 100.0 * of(shares)))
}

impl LunSheet {
    fn megabyte(&self) -> f64 {
        if self.is_decimal { 1e6 } else { 1_048_576.0 }
    }

    fn columns(&self) -> &'static [Column] {
        match self.layout {
            Layout::V50407 => V50407,
            Layout::V50406 => V50406,
        }
    }

    /// Width of the interval's number.
    fn label_width(&self) -> usize {
        match self.layout {
            Layout::V50407 => 12,
            Layout::V50406 => 10,
        }
    }

    fn flat(&self) -> impl Iterator<Item = &'static Flat> + use<> {
        let layout = self.layout;
        FLAT.iter().filter(move |(name, ..)| layout == Layout::V50407 || !LATER.contains(name))
    }
}

impl Sheet for LunSheet {
    fn head(&self, date: &str) -> String {
        let width = self.label_width();
        let mut lines =
            [format!("{date:12}{:>width$}", "interval"), format!("{:12}{:width$}", "", "")];
        for column in self.columns() {
            for (nth, line) in lines.iter_mut().enumerate() {
                let word = match column.head[nth] {
                    "1024**2" if self.is_decimal => "1000**2",
                    word => word,
                };
                line.push_str(&format!(" {word:>width$}", width = column.width));
            }
        }
        lines.map(|line| line + "\n").concat()
    }

    fn flat_columns(&self) -> Vec<(&'static str, &'static str)> {
        self.flat().map(|(name, says, _)| (*name, *says)).collect()
    }

    fn row(&self, label: &str, figures: &Figures) -> String {
        let mut line = format!("{label:>width$}", width = self.label_width());
        for column in self.columns() {
            let value = (column.of)(self, figures);
            line +=
                &format!(" {value:width$.digits$}", width = column.width, digits = column.digits);
        }
        line
    }

    fn flat_cells(&self, run: &LoweredRun, figures: &Figures) -> Vec<Cell> {
        self.flat().map(|(_, _, cell)| cell(self, run, figures)).collect()
    }
}
