//! Block requests that a tool's I/O became, where they were traced.

use candor_record::Report;
use candor_record::requests::{Issued, Requests, latency_percentile, share_of};

use crate::Object;

/// Sizes that are told by themselves in text.
const SIZES_MAX: usize = 3;

/// Traced requests of a phase.
struct Traced<'a> {
    phase: &'a str,
    of: &'a Requests,
    issued: Issued,
    /// Requests of candor only, if other processes' requests would change sizes and positions.
    own: Option<&'a Requests>,
    /// Sizes and places are not ours alone.
    mixed: bool,
}

impl<'a> Traced<'a> {
    /// The requests whose sizes and places are reported.
    fn shapes(&self) -> &'a Requests {
        self.own.unwrap_or(self.of)
    }
}

/// Those with traffic to speak of.
fn traced(report: &Report) -> Vec<Traced<'_>> {
    let mut all = Vec::new();
    for (index, record) in report.phases.iter().enumerate().filter(|(_, r)| !r.search_step) {
        let others = report.judgement.of(index).is_some_and(|judged| judged.tells("F10"));
        if let Some(trace) = &record.host().requests {
            all.extend(trace.main().map(|of| {
                let issued = trace.issued(of);
                let mixed = issued.shaped_by_others() || others && issued.shaped_by_kernel();
                let own = of.own().filter(|_| mixed);
                let mixed = mixed && own.is_none();
                Traced { phase: &record.name, of, issued, own, mixed }
            }));
        }
    }
    all
}

/// The key `requests` beside the verdict.
pub(super) fn trees(report: &Report) -> Vec<Object> {
    let tree = |traced: Traced| {
        let (shapes, Traced { phase, of, issued, .. }) = (traced.shapes(), traced);
        let sizes = shapes.sizes().into_iter();
        let sizes = sizes.fold(Object::default(), |all, (bytes, n)| all.with(bytes.to_string(), n));
        let aligned = shapes.starts_in_4k.iter().filter(|(off, _)| *off == 0).map(|(_, n)| n);
        let mut latency = Object::default();
        for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            if let Some(step) = latency_percentile(&shapes.latency_ns, share) {
                latency.put(name, vec![step.from_ns, step.below_ns]);
            }
        }
        Object::default()
            .with("phase", phase)
            .with("device", of.device.as_str())
            .with("direction", of.direction.name())
            .with("counted", of.counted.unwrap_or(of.count))
            .with("traced", of.count)
            .with("bytes", of.bytes)
            .with("by_candor", issued.own.count)
            .with("by_kernel", issued.kernel.count)
            .with("by_others", issued.others.count)
            .with("sizes", sizes)
            .with("start_on_4k", aligned.sum::<u64>())
            .with("sequential", shapes.sequential)
            .with("latency_ns", latency)
    };
    traced(report).into_iter().map(tree).collect()
}

/// A line for each device and direction of a phase. Names of phases are row names in a tool's
/// results, so they follow a word of candor's own.
pub(super) fn text(report: &Report) -> String {
    let several = report.results().count() > 1;
    let line = |traced: Traced| {
        let (shapes, Traced { phase, of, issued, own, mixed }) = (traced.shapes(), traced);
        let phase = if several { format!(" of {phase}") } else { String::new() };
        let part = of.traced_share().map(|part| format!(" ({} traced)", percent(part)));
        let lead = format!("  requests{phase}, {} {}", of.device, of.direction.name());
        let lead = format!("{lead}{}", part.unwrap_or_default());
        if mixed {
            let Issued { own, kernel, others } = issued;
            return format!(
                "{lead}: {} by candor, {} by kernel threads, {} by others\n",
                own.count, kernel.count, others.count
            );
        }
        let mut sizes = shapes.sizes();
        sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown = sizes.iter().take(SIZES_MAX).map(|(bytes, count)| {
            format!("{} {}", size(*bytes), percent(share_of(*count, shapes.count)))
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let place = match shapes.starts_in_4k.as_slice() {
            [] => "no place is known".to_owned(),
            [(0, _)] => "all start on a 4 KiB boundary".to_owned(),
            all => {
                let off = all.iter().filter(|(off, _)| *off > 0).map(|(_, count)| count);
                format!("{} begin off 4 KiB", percent(share_of(off.sum(), shapes.count)))
            }
        };
        let others = issued.others;
        let (whose, others) = if own.is_some() {
            let size_mean = size(others.size_mean_bytes());
            (" by candor", format!("; {} by others, {size_mean} on average", others.count))
        } else {
            ("", String::new())
        };
        format!("{lead}{whose}: {shown}; {place}{others}\n")
    };
    traced(report).into_iter().map(line).collect()
}

fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];
    let whole = units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    whole.map_or_else(String::new, |(unit, name)| format!("{} {name}", bytes / unit))
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        some if some > 0.0 && some < 0.1 => "<0.1 %".to_owned(),
        some if some < 10.0 => format!("{some:.1} %"),
        some => format!("{some:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use candor_record::requests::{Issuer, RequestOp, RequestStats};
    use candor_record::{HostRecord, PhaseRecord};

    use super::*;
    use crate::Tree;

    /// Reads of `sda` in a phase.
    fn report(of: Requests) -> Report {
        let requests = vec![Requests { device: "sda".into(), direction: RequestOp::Read, ..of }];
        let requests = Some(RequestStats { requests, ..RequestStats::default() });
        let hosts = vec![HostRecord { requests, ..HostRecord::default() }];
        let phase = PhaseRecord { name: "job".into(), hosts, ..PhaseRecord::default() };
        Report { phases: vec![phase], ..Report::default() }
    }

    #[test]
    fn what_reached_the_devices_is_a_line() {
        let report = report(Requests {
            count: 4,
            counted: Some(16),
            bytes: 1_310_720,
            sizes_log2: vec![(262_144, 3), (524_288, 1)],
            sizes_4k: vec![(262_144, 3), (524_288, 1)],
            starts_in_4k: vec![(0, 3), (512, 1)],
            latency_ns: vec![(65_536, 3), (131_072, 1)],
            ..Requests::default()
        });
        let line = "  requests, sda read (25 % traced): 256 KiB 75 %, 512 KiB 25 %; 25 % begin off \
                    4 KiB\n";
        assert_eq!(text(&report), line);
        let tree = trees(&report).remove(0);
        let sizes = Object::default().with("262144", 3_u64).with("524288", 1_u64);
        let get = |tree: &Object, key: &str| {
            tree.entries().find(|(name, _)| *name == key).map(|(_, value)| value.clone())
        };
        assert_eq!(get(&tree, "sizes"), Some(sizes.into()));
        assert_eq!(get(&tree, "counted"), Some(Tree::Int(16)));
        assert_eq!(get(&tree, "start_on_4k"), Some(Tree::Int(3)));
        let Some(Tree::Object(latency)) = get(&tree, "latency_ns") else { panic!("{tree:?}") };
        assert_eq!(get(&latency, "p50"), Some(vec![65_536_u64, 81_920].into()));
    }

    #[test]
    fn shapes_of_others_are_not_told_as_ours() {
        let issuer = |pid, count| Issuer { pid, count, ..Issuer::default() };
        let beside = report(Requests {
            bytes: 4096,
            count: 40,
            sizes_log2: vec![(4096, 40)],
            issuers: vec![issuer(9, 30), issuer(0, 10)],
            ..Requests::default()
        });
        let line = "  requests, sda read: 10 by candor, 0 by kernel threads, 30 by others\n";
        assert_eq!(text(&beside), line);
        let own = Requests {
            count: 10,
            bytes: 655_360,
            sizes_log2: vec![(65_536, 10)],
            sizes_4k: vec![(65_536, 10)],
            starts_in_4k: vec![(0, 10)],
            ..Requests::default()
        };
        let apart = report(Requests {
            bytes: 655_360 + 30 * 4096,
            count: 40,
            sizes_log2: vec![(4096, 30), (65_536, 10)],
            issuers: vec![
                Issuer { bytes: 30 * 4096, ..issuer(9, 30) },
                Issuer { bytes: 655_360, ..issuer(0, 10) },
            ],
            own: Some(Box::new(own)),
            ..Requests::default()
        });
        let line = "  requests, sda read by candor: 64 KiB 100 %; all start on a 4 KiB boundary; \
            30 by others, 4 KiB on average\n";
        assert_eq!(text(&apart), line);
        let sizes = Object::default().with("65536", 10_u64);
        let found = trees(&apart).remove(0);
        let told =
            found.entries().find(|(name, _)| *name == "sizes").map(|(_, value)| value.clone());
        assert_eq!(told, Some(sizes.into()));
    }

    #[test]
    fn without_traced_requests_there_is_no_line() {
        assert_eq!(text(&report(Requests::default())), "");
        assert_eq!(text(&Report::default()), "");
    }
}
