//! Throwaway.
use candor_chart::{Axis, Chart, Mark, MarkKind, Panel, Series, Shape};
use candor_record::results::Results;
use candor_record::{Report, Unit};
pub fn all(report: &Report) -> Vec<Chart> {
    let results = Results::from(report);
    let mut t = Chart {
        title: "Timeline".into(),
        x: Axis::elapsed(),
        description: "x".into(),
        ..Chart::default()
    };
    let (mut a, mut b, mut c) = (vec![], vec![], vec![]);
    let mut off = 0.0;
    let mut slot = 0;
    for phase in &results.phases {
        for job in &phase.jobs {
            for op in &job.operations {
                let x = |i: &candor_record::results::Interval| {
                    off + (i.start_ns + i.length_ns / 2) as f64
                };
                let s = |f: &dyn Fn(&candor_record::results::Interval) -> Option<f64>| {
                    op.intervals
                        .iter()
                        .map(|i| (x(i), f(i).unwrap_or(f64::NAN)))
                        .collect::<Vec<_>>()
                };
                a.push(Series::new(op.operation.clone(), slot, Shape::Line(s(&|i| i.bytes_per_s))));
                b.push(Series::new(op.operation.clone(), slot, Shape::Line(s(&|i| i.ops_per_s))));
                c.push(Series::new(
                    op.operation.clone(),
                    slot,
                    Shape::Band(
                        op.intervals
                            .iter()
                            .filter_map(|i| {
                                Some((x(i), i.latency_ns_p50? as f64, i.latency_ns_p99? as f64))
                            })
                            .collect(),
                    ),
                ));
                slot += 1;
            }
            t.marks.push(Mark {
                at: off,
                until: Some(off + job.elapsed_ns as f64),
                label: phase.name.clone(),
                kind: MarkKind::Phase,
            });
            off += job.elapsed_ns as f64;
        }
    }
    t.panels = vec![
        Panel::new(Axis::linear("Throughput", Unit::BytesPerS), a),
        Panel::new(Axis::linear("IOPS", Unit::OpsPerS), b),
        Panel::new(Axis::linear("Latency p50 to p99", Unit::Ns), c),
    ];
    let mut p = Chart {
        title: "Percentiles".into(),
        x: Axis::nines(),
        description: "x".into(),
        ..Chart::default()
    };
    let mut series = vec![];
    for phase in &results.phases {
        for job in &phase.jobs {
            for op in &job.operations {
                if let Some(l) = &op.latency {
                    series.push(Series::new(
                        format!("{} {}", phase.name, op.operation),
                        series.len(),
                        Shape::Line(l.percentiles.iter().map(|(p, ns)| (*p, *ns as f64)).collect()),
                    ));
                }
            }
        }
    }
    p.panels = vec![Panel::new(Axis::log("Latency", Unit::Ns), series)];
    vec![t, p]
}
