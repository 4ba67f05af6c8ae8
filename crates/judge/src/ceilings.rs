//! Ceilings of each element of the path, with their arithmetic.

use candor_plan::units::Direction;
use candor_record::Ceiling;
use candor_record::facts::{DeviceFacts, Fact, IoLimit, Link};
use candor_record::fmt::{self, ratio};

use crate::bound::{Bound, Kind, app_rates, device_rates};
use crate::changes::{self, Span};
use crate::observed::{Moved, Observed, Ran};
use crate::{expect, shared};

/// All ceilings of the path.
pub fn bounds(observed: &Observed) -> Vec<Bound> {
    let mut bounds = links(observed);
    bounds.extend(shared::bounds(observed));
    bounds.extend(shared::networks(observed));
    bounds.extend(shared::server_links(observed));
    let limits = observed.facts.host.cgroup.io.iter();
    let limits = limits.filter(|limit| changes::held_throughout(observed, limit));
    bounds.extend(
        limits.flat_map(|limit| {
            cgroup(observed, limit, |device, op| group_rates(observed, device, op))
        }),
    );
    bounds.extend(observed.ran.iter().flat_map(pace));
    bounds.extend(memory(observed));
    bounds.extend(expect::bounds(observed));
    bounds
}

fn links(observed: &Observed) -> Vec<Bound> {
    let linked: Vec<(&DeviceFacts, &Link)> =
        observed.devices().into_iter().filter_map(|d| Some((d, d.link.as_ref()?))).collect();
    let single = linked.len() == 1;
    let one = |(device, link): &(&DeviceFacts, &Link)| {
        let passed = if single { app_rates(observed) } else { device_rates(observed, device) };
        Bound::of_link(observed, link, &format!("{} link of {}", link.kind, device.name), passed)
    };
    let mut bounds: Vec<Bound> = linked.iter().map(one).collect();
    let mut distinct: Vec<(&DeviceFacts, &Link)> = Vec::new();
    for (device, link) in linked {
        if !distinct.iter().any(|(_, seen)| seen.is_same(link)) {
            distinct.push((device, link));
        }
    }
    if distinct.len() > 1 {
        bounds.push(all_links(observed, &distinct));
    }
    bounds
}

fn all_links(observed: &Observed, linked: &[(&DeviceFacts, &Link)]) -> Bound {
    let each: Vec<f64> = linked.iter().map(|(_, link)| link.ceiling_bytes_per_s as f64).collect();
    let terms: Vec<String> = each.iter().map(|rate| fmt::rate_decimal(*rate)).collect();
    let total = each.iter().sum();
    let arithmetic = format!("{} = {}", terms.join(" + "), fmt::rate_decimal(total));
    let used = app_rates(observed).map(|(read, write)| read.max(write));
    Bound::of_bytes(observed, Kind::Links, "all links together", total, &arithmetic, used)
}

/// Memory, where it was measured: a copy passes each byte twice.
fn memory(observed: &Observed) -> Option<Bound> {
    let copy = observed.host.memory_copy?;
    let times = 2.0 / observed.memory_passes();
    let arithmetic = format!(
        "{}{} copied by {} after the phase in {} s",
        if times > 1.0 { "2 × " } else { "" },
        fmt::rate_decimal(copy.bytes_per_s),
        fmt::plural(f64::from(copy.threads), "thread", "threads"),
        fmt::number(copy.cost_s)
    );
    let most = times * copy.bytes_per_s;
    let passed = app_rates(observed).map(|(read, write)| read + write);
    Some(Bound::of_bytes(observed, Kind::Memory, "memory", most, &arithmetic, passed))
}

/// Bounds by limits that held in a part of the phase, with the rates in it.
pub fn of_span(observed: &Observed, span: &Span) -> Vec<Bound> {
    let rates = |device: &DeviceFacts, op: Direction| {
        let known =
            [span.app(observed, op), span.of_device(observed, &device.name, op)].into_iter();
        let known: Vec<Moved> = known.flatten().collect();
        (known.iter().map(|m| m.bytes).collect(), known.iter().map(|m| m.ops).collect())
    };
    let limits = span.facts.host.cgroup.io.iter();
    limits.flat_map(|limit| cgroup(observed, limit, rates)).collect()
}

/// Rates in bytes and in operations, as several counters saw them.
type Rates = (Vec<f64>, Vec<f64>);

fn cgroup(
    observed: &Observed,
    limit: &Fact<IoLimit>,
    rates: impl Fn(&DeviceFacts, Direction) -> Rates,
) -> Vec<Bound> {
    let Some(device) = observed.devices().into_iter().find(|d| d.number == limit.value.device)
    else {
        return Vec::new();
    };
    let io = &limit.value;
    let sides = [
        (Direction::Read, io.read_bytes_per_s, io.read_ops_per_s),
        (Direction::Write, io.write_bytes_per_s, io.write_ops_per_s),
    ];
    let mut bounds = Vec::new();
    for (op, bytes, ops) in sides {
        let element = format!("control group limit for {}s on {}", op.name(), device.name);
        let rates = rates(device, op);
        bounds.extend(bytes.map(|most| {
            let text = format!("{} by {}", fmt::rate_decimal(most as f64), limit.from);
            set_bound(Kind::Cgroup, &element, Most::Bytes(most as f64), text, &rates.0)
        }));
        bounds.extend(ops.map(|most| {
            let text = format!("{} by {}", fmt::iops(most as f64), limit.from);
            set_bound(Kind::Cgroup, &element, Most::Ops(most as f64), text, &rates.1)
        }));
    }
    bounds
}

/// Rates in bytes and in operations, as the application and as the device saw them: the kernel
/// throttles in between, so whichever lies nearer to the limit is the one it counted.
fn group_rates(observed: &Observed, device: &DeviceFacts, op: Direction) -> Rates {
    let mut bytes = vec![observed.bytes_per_s(op)];
    let mut ops = vec![observed.ops_per_s(op)];
    if let Some(flow) = observed.flow_of(&device.name) {
        bytes.push(ratio(flow.side(op).bytes, observed.window_s()));
        ops.push(ratio(flow.side(op).requests, observed.window_s()));
    }
    (bytes, ops)
}

fn pace(ran: &Ran) -> Vec<Bound> {
    let seconds = ran.measured.elapsed_ns as f64 / 1e9;
    let sides = ran.measured.directions().map(|(_, stats)| stats);
    let (bytes, ops) = sides.fold((0.0, 0.0), |(b, o), s| (b + s.bytes as f64, o + s.ops as f64));
    let element = format!("rate limit of the plan for job {}", ran.job.name);
    let set = |most, rate: String, done| {
        let text = format!("{rate} in the plan");
        set_bound(Kind::Pace, &element, most, text, &[ratio(done, seconds)])
    };
    let pace = &ran.blocks.pace;
    let most_bytes = pace.bytes.map(|rate| rate.0 as f64);
    let most_ops = pace.mean_ops();
    let in_bytes = most_bytes.map(|most| set(Most::Bytes(most), fmt::rate(most), bytes));
    let in_ops = most_ops.map(|most| set(Most::Ops(most), fmt::iops(most), ops));
    in_bytes.into_iter().chain(in_ops).collect()
}

/// A rate that somebody set, per second.
#[derive(Clone, Copy)]
enum Most {
    Bytes(f64),
    Ops(f64),
}

/// The ceiling of a rate that somebody set; of what was measured, the nearest counts.
fn set_bound(kind: Kind, element: &str, most: Most, arithmetic: String, rates: &[f64]) -> Bound {
    let (set, bytes_per_s, ops_per_s) = match most {
        Most::Bytes(most) => (most, Some(most), None),
        Most::Ops(most) => (most, None, Some(most)),
    };
    let used = rates.iter().map(|rate| ratio(*rate, set)).filter(|used| *used > 0.0);
    let distance = |used: &f64| (used - 1.0).abs();
    let used = used.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let ceiling = Ceiling { element: element.into(), bytes_per_s, ops_per_s, arithmetic, used };
    Bound { kind, ceiling }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn a_link_is_a_ceiling_with_its_share_used() {
        let case = TestCase::direct(4096, 32, 1, 64_000.0).sata(300_000_000);
        let bounds = bounds(&case.observed());
        assert_eq!(bounds.len(), 1);
        let ceiling = &bounds[0].ceiling;
        assert_eq!(ceiling.element, "SATA link of sda");
        assert!((ceiling.used.unwrap() - 0.874).abs() < 0.01, "{ceiling:?}");
        assert!(ceiling.arithmetic.ends_with("300 MB/s ÷ 4 KiB = 73.2k IOPS"), "{ceiling:?}");
    }
}
