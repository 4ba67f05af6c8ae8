//! A long run, made of a recorded one.

use candor_record::{Histogram, LatencyCounts, Report, Sample};

use crate::reports::recorded;

/// Latencies that spread over 16 buckets of an interval.
fn latencies(ops: u64, nth: u64) -> LatencyCounts {
    let mut all = Histogram::new();
    for at in 0..ops.min(4000) {
        let octaves = ((at * 7919 + nth * 104_729) % 4000) as f64 / 1000.0;
        all.record((20_000.0 * octaves.exp2()) as u64);
    }
    LatencyCounts::from(&all)
}

/// A run of 30 minutes by 64 workers with a sample each second, as one that was recorded would be.
pub fn half_an_hour() -> Report {
    const SECONDS: u64 = 1800;
    let mut report = recorded("past-the-knee");
    for phase in &mut report.phases {
        for measured in &mut phase.measurements {
            let workers = measured.per_worker.clone();
            measured.per_worker = workers.iter().cycle().take(64).copied().collect();
            measured.workers = 64;
            let shapes = measured.samples.clone();
            let at = |nth: u64| {
                let shape = &shapes[nth as usize % shapes.len()];
                let mut sample = Sample { at_ns: (nth + 1) * 1_000_000_000, ..shape.clone() };
                sample.length_ns = 1_000_000_000;
                for op in &mut sample.operations {
                    op.ops = op.ops * (900 + nth * 7919 % 200) / 1000;
                    op.latency_counts = latencies(op.ops, nth);
                    op.latency_ns_p50 = Some(100_000 + nth * 104_729 % 40_000);
                    op.latency_ns_p99 = Some(400_000 + nth * 15_485_863 % 300_000);
                }
                sample
            };
            measured.samples = (0..SECONDS).map(at).collect();
            measured.elapsed_ns = SECONDS * 1_000_000_000;
        }
        for host in &mut phase.hosts {
            let (mut now, last) = (host.before.clone(), host.after.clone());
            host.during.clear();
            for _ in 0..SECONDS {
                now.at_ns += 1_000_000_000;
                for (name, counters) in &mut now.devices {
                    if let Some(did) = host.before.device_delta(&last, name) {
                        counters.reads += did.reads / 8 + now.at_ns / 1_000_000 % 97;
                        counters.read_sectors += did.read_sectors / 8;
                        counters.busy_ms += 900;
                    }
                }
                host.during.push(now.clone());
            }
        }
    }
    report
}
