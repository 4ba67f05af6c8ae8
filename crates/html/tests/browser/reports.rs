//! Reports to make pages of, and what a screenshot shows.

use std::path::Path;

use candor_record::{Report, Sample};

/// A report of a real kernel, judged by the rules of today.
pub fn recorded(name: &str) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/recorded");
    let path = folder.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).expect("a recorded report");
    let mut report = candor_record::read_unjudged(&text).expect("a report");
    report.judgement = candor_judge::judge_again(&report);
    report
}

/// The page of a report.
pub fn page(report: &Report) -> String {
    let json = candor_show::json::report(report).expect("JSON");
    let csv = candor_show::csv::report(report).expect("CSV");
    candor_html::report(report, &json, &csv)
}

/// A run of 30 minutes by 64 workers with a sample each second, as one that was recorded would be.
#[allow(dead_code, reason = "pages.rs has no use of it")]
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

/// Shades of a picture.
#[allow(dead_code, reason = "pages.rs has no use of it")]
pub struct Shades {
    /// Values that any channel of any pixel has.
    pub count: usize,
    /// That of the background.
    pub ground: usize,
}

/// The shades of a PNG, by the bytes of its lines: enough to tell a page from an empty one.
#[allow(dead_code, reason = "pages.rs has no use of it")]
pub fn shades(png: &[u8]) -> Shades {
    let mut packed = Vec::new();
    let mut rest = &png[8..];
    while let Some((head, tail)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes(head[..4].try_into().expect("four bytes")) as usize;
        if &head[4..] == b"IDAT" {
            packed.extend_from_slice(&tail[..length]);
        }
        rest = tail.get(length + 4..).unwrap_or_default();
    }
    let lines = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("a PNG");
    let mut counts = [0usize; 256];
    lines.iter().for_each(|byte| counts[*byte as usize] += 1);
    let count = counts.iter().filter(|count| **count > 0).count();
    // The first pixel of the first line is background.
    Shades { count, ground: lines[1].into() }
}
