//! A report as a table for spreadsheets: results, and the samples that they consist of.

use candor_record::{
    Latency, Measurement, OpSample, OpStats, PhaseRecord, Report, Sample, TargetOp, TargetStats,
    Verdict,
};
use serde::Serialize;

/// Percentiles that have columns in every table.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// One line: an operation of a job, over all of its phase or in one interval of it. Absent is what
/// was not measured.
#[derive(Clone, Copy, Default, Serialize)]
struct Row<'a> {
    /// `result`, `target` or `sample`.
    row: &'static str,
    phase: &'a str,
    /// Number of the repeat, from 1.
    repeat: u32,
    job: &'a str,
    operation: &'a str,
    /// Beginning of the interval since the clock of the phase began.
    start_s: f64,
    length_s: f64,
    ops: u64,
    bytes: u64,
    ops_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    failed: Option<u64>,
    latency_ns_mean: Option<f64>,
    latency_ns_min: Option<u64>,
    latency_ns_p50: Option<u64>,
    latency_ns_p90: Option<u64>,
    latency_ns_p95: Option<u64>,
    latency_ns_p99: Option<u64>,
    #[serde(rename = "latency_ns_p99.9")]
    latency_ns_p99_9: Option<u64>,
    latency_ns_max: Option<u64>,
    verdict: &'static str,
    /// Path of the target, in rows of a target.
    target: &'a str,
}

/// The report as comma-separated values, with a line of names first. Phases of a search are not in
/// it: they are no results.
///
/// # Errors
/// None that a report can cause.
pub fn report(report: &Report) -> Result<String, csv::Error> {
    // Columns of these percentiles follow the fixed ones, so that those keep their places.
    let further = report.percentiles.iter().copied().filter(|p| !PERCENTILES.contains(p));
    let further: Vec<f64> = further.collect();
    let mut table = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let names = fixed_names()?.into_iter();
    let names = names.chain(further.iter().map(|p| format!("latency_ns_p{p}")));
    table.write_record(names.collect::<Vec<String>>())?;
    for (phase, judged) in report.judged() {
        for measurement in &phase.measurements {
            for (row, latency) in rows(phase, measurement, judged.verdict) {
                let of = |p: &f64| latency.and_then(|latency| latency.percentile_ns(*p));
                table.serialize((row, further.iter().map(of).collect::<Vec<_>>()))?;
            }
        }
    }
    text(table)
}

/// Names of the columns that every table has.
fn fixed_names() -> Result<Vec<String>, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.serialize(Row::default())?;
    let text = text(table)?;
    Ok(text.lines().next().unwrap_or_default().split(',').map(str::to_owned).collect())
}

fn text(table: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = table.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Rows of a job, with the latencies of which they hold a part.
fn rows<'a>(
    phase: &'a PhaseRecord,
    measurement: &'a Measurement,
    verdict: Verdict,
) -> impl Iterator<Item = (Row<'a>, Option<&'a Latency>)> {
    let of_job = move || Row {
        phase: &phase.name,
        repeat: phase.repeat + 1,
        job: &measurement.job,
        verdict: verdict.label(),
        ..Row::default()
    };
    let length_s = measurement.elapsed_ns as f64 / 1e9;
    let done = measurement.operations.iter().filter(|stats| stats.ops > 0 || stats.failed > 0);
    let results =
        done.map(move |stats| (result(stats, length_s, of_job()), stats.latency.as_ref()));
    let targets = measurement.per_target.iter().flat_map(move |of| {
        let done = of.operations.iter().filter(|op| op.ops > 0);
        done.map(move |op| (on_target(of, op, length_s, of_job()), op.latency.as_ref()))
    });
    let samples = measurement.samples.iter().flat_map(move |interval| {
        let done = interval.operations.iter().filter(|op| op.ops > 0);
        done.map(move |op| (sample(interval, op, of_job()), None))
    });
    results.chain(targets).chain(samples)
}

fn result<'a>(stats: &'a OpStats, length_s: f64, of_job: Row<'a>) -> Row<'a> {
    let of_job = with_latency(stats.latency.as_ref(), of_job);
    Row {
        row: "result",
        operation: &stats.name,
        length_s,
        ops: stats.ops,
        bytes: stats.bytes,
        ops_per_s: Some(stats.ops_per_s),
        bytes_per_s: Some(stats.bytes_per_s),
        failed: Some(stats.failed),
        ..of_job
    }
}

/// A part of a result. Operations that failed are not counted by target.
fn on_target<'a>(of: &'a TargetStats, op: &'a TargetOp, length_s: f64, of_job: Row<'a>) -> Row<'a> {
    Row {
        row: "target",
        operation: &op.name,
        length_s,
        ops: op.ops,
        bytes: op.bytes,
        ops_per_s: Some(op.ops_per_s),
        bytes_per_s: Some(op.bytes_per_s),
        target: if of.path.is_empty() { &of.target } else { &of.path },
        ..with_latency(op.latency.as_ref(), of_job)
    }
}

fn with_latency<'a>(latency: Option<&Latency>, row: Row<'a>) -> Row<'a> {
    let percentile = |p| latency.and_then(|latency| latency.percentile_ns(p));
    Row {
        latency_ns_mean: latency.map(|latency| latency.mean_ns),
        latency_ns_min: latency.map(|latency| latency.min_ns),
        latency_ns_p50: percentile(50.0),
        latency_ns_p90: percentile(90.0),
        latency_ns_p95: percentile(95.0),
        latency_ns_p99: percentile(99.0),
        latency_ns_p99_9: percentile(99.9),
        latency_ns_max: latency.map(|latency| latency.max_ns),
        ..row
    }
}

/// An interval has no rates of its own: operations, bytes and the length are what it measured.
fn sample<'a>(interval: &Sample, op: &'a OpSample, of_job: Row<'a>) -> Row<'a> {
    Row {
        row: "sample",
        operation: &op.name,
        start_s: interval.at_ns.saturating_sub(interval.length_ns) as f64 / 1e9,
        length_s: interval.length_ns as f64 / 1e9,
        ops: op.ops,
        bytes: op.bytes,
        // A job that takes no latencies has a sum of none.
        latency_ns_mean: Some(op.latency_sum_ns as f64 / op.ops as f64).filter(|mean| *mean > 0.0),
        latency_ns_p50: op.latency_ns_p50,
        latency_ns_p99: op.latency_ns_p99,
        ..of_job
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::Figure;

    use super::*;
    use crate::sample;

    #[test]
    fn a_row_for_each_result_and_each_interval_of_it() {
        let mut phases = sample::series();
        phases.truncate(1);
        phases[0].record.name = "a \"name\", with commas".into();
        let op = |ops| OpSample {
            name: "write".into(),
            figure: Figure::Write,
            ops,
            bytes: ops << 20,
            latency_sum_ns: ops * 2000,
            latency_ns_p50: Some(1900),
            latency_ns_p99: None,
        };
        let second = 1_000_000_000;
        let at = |nth: u64, ops| Sample {
            at_ns: nth * second,
            length_ns: second,
            operations: vec![op(ops)],
        };
        phases[0].record.measurements[0].samples = vec![at(1, 500), at(2, 0), at(3, 496)];
        let without = OpSample { latency_sum_ns: 0, latency_ns_p50: None, ..op(7) };
        let last = Sample { operations: vec![without], ..at(4, 7) };
        phases[0].record.measurements[0].samples.push(last);
        let text = report(&sample::report("", phases)).expect("written");
        let lines: Vec<&str> = text.lines().collect();
        let name = r#""a ""name"", with commas""#;
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[0].starts_with("row,phase,repeat,job,operation,start_s,length_s,ops,bytes,"));
        assert!(lines[1].starts_with(&format!("result,{name},1,job,write,0.0,10.0,4980,")));
        assert_eq!(
            lines[3],
            format!(
                "sample,{name},1,job,write,2.0,1.0,496,520093696,,,,2000.0,,1900,,,,,,Believable,"
            )
        );
        assert!(lines[4].ends_with(",7,7340032,,,,,,,,,,,,Believable,"), "{}", lines[4]);
        let columns = |line: &str| line.replace(name, "").matches(',').count();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
    }

    #[test]
    fn percentiles_that_were_asked_for_are_further_columns() {
        let mut all = sample::report("", sample::series());
        let before = report(&all).expect("written");
        all.quote(&[50.0, 75.0, 99.99]);
        let after = report(&all).expect("written");
        for (nth, (line, plain)) in after.lines().zip(before.lines()).enumerate() {
            let further = line.strip_prefix(plain).expect("the other columns stay");
            match nth {
                0 => assert_eq!(further, ",latency_ns_p75,latency_ns_p99.99"),
                // 4000 samples carry no p99.99.
                _ => assert!(further[1..].trim_end_matches(',').parse::<u64>().is_ok(), "{line}"),
            }
        }
    }
}
