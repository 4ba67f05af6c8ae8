//! Rows of file system runs.

use candor_record::{CpuShares, OpSample, Sample};

use super::columns::fitted;
use super::*;

fn figures(requested: &[FileOperation]) -> Figures {
    let op = |name: &str, ops, bytes, latency_sum_ns| OpSample {
        name: name.into(),
        ops,
        bytes,
        latency_sum_ns,
        ..OpSample::default()
    };
    let operations = vec![
        op("read", 3000, 3000 << 12, 600_000_000),
        op("write", 1000, 1000 << 12, 500_000_000),
        op("open", 200, 0, 2_000_000),
        op("create", 100, 0, 4_000_000),
        op("close", 300, 0, 600_000),
        op("stat", 14, 0, 140_000),
        op("item", 300, 0, 9_000_000),
    ];
    let sample = Sample { length_ns: 2_000_000_000, operations, ..Sample::default() };
    let mut figures = Figures::of(&sample, Some(&counted_steps(requested)));
    figures.cpu = Some(CpuShares { user: 0.10, system: 0.05, iowait: 0.25, idle: 0.6 });
    figures
}

#[test]
fn columns_stand_where_parsers_look_for_them() {
    let sheet = FileSheet { used: vec![FileOperation::Getattr], is_decimal: false };
    let head = sheet.head("Nov 25, 2026");
    let row = sheet.row("avg_2-5", &figures(&[FileOperation::Read]));
    insta::assert_snapshot!(format!("{head}12:00:00.000{row}"));
    let widths: Vec<usize> = head.lines().skip(1).map(str::len).collect();
    assert_eq!(widths, [12 + row.len(); 2]);
}

#[test]
fn the_rate_is_that_of_what_was_asked_for() {
    let reads = figures(&[FileOperation::Read]);
    assert_eq!((reads.rate(), reads.all().response_ms()), (1500.0, 0.2));
    let both = figures(&[FileOperation::Read, FileOperation::Write]);
    assert_eq!((both.rate(), both.all().response_ms()), (2000.0, 0.275));
    // A file that is made is opened as well.
    assert_eq!(done(&reads, FileOperation::Open).ops, 300);
    assert_eq!(done(&reads, FileOperation::Create).ops, 100);
    assert_eq!(figures(&[FileOperation::Open]).rate(), 100.0);
}

#[test]
fn every_flat_column_has_its_cell() {
    let sheet = FileSheet::default();
    let cells = sheet.flat_cells(&LoweredRun::default(), &figures(&[FileOperation::Read]));
    let columns = sheet.flat_columns();
    assert_eq!(cells.len(), columns.len());
    let of = |name: &str| {
        let at = columns.iter().position(|(column, _)| *column == name);
        cells[at.unwrap_or_else(|| panic!("{name} is a column"))].clone()
    };
    assert_eq!((of("rate"), of("resp")), (Cell::Number(1500.0), Cell::Number(0.2)));
    assert_eq!((of("Write_rate"), of("Open_rate")), (Cell::Number(500.0), Cell::Number(150.0)));
    assert_eq!((of("Xfersize"), of("MB_write")), (Cell::Whole(4096), Cell::Number(1000.0 / 512.0)));
    assert_eq!(
        (of("cpu_used"), of("dedupratio")),
        (Cell::Number(15.000000000000002), Cell::Absent)
    );
}

#[test]
fn numbers_lose_digits_before_they_are_too_wide() {
    let cases = [
        (1.2345, 6, 3, " 1.234"),
        (123.456, 6, 3, "123.45"),
        (12_345.6, 6, 1, " 12345"),
        (1_234_567.8, 6, 1, "1234567"),
        (0.0, 5, 1, "  0.0"),
        (131_072.0, 7, 0, " 131072"),
        (99.5, 4, 2, "99.5"),
    ];
    for (value, width, digits, expected) in cases {
        assert_eq!(fitted(value, width, digits), expected, "{value}");
    }
}
