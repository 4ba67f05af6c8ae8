//! Ceilings of each element of the path, with their arithmetic.

use candor_plan::units::Direction;
use candor_record::Ceiling;
use candor_record::facts::{DeviceFacts, Fact, IoLimit, Link};
use candor_record::fmt;

use crate::expect;
use crate::observed::{Observed, Ran};
use candor_record::fmt::ratio;

/// Origin of a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link; nothing passes it faster.
    Link,
    /// A network; nothing passes it faster either.
    Network,
    /// A link that several devices share.
    Shared,
    /// All links together, where there are several; each is listed as well.
    Links,
    /// A control group.
    Cgroup,
    /// The plan.
    Pace,
    /// Memory, as fast as it copies.
    Memory,
    /// An expectation from earlier phases; not a limit.
    Earlier,
}

/// A ceiling and what sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Origin of the ceiling.
    pub kind: Kind,
    /// The ceiling.
    pub ceiling: Ceiling,
}

/// All ceilings of the path.
pub fn bounds(observed: &Observed) -> Vec<Bound> {
    let mut bounds = links(observed);
    bounds.extend(crate::shared::bounds(observed));
    bounds.extend(crate::shared::networks(observed));
    bounds.extend(observed.facts.host.cgroup.io.iter().flat_map(|limit| cgroup(observed, limit)));
    bounds.extend(observed.ran.iter().flat_map(pace));
    bounds.extend(memory(observed));
    bounds.extend(expect::bounds(observed));
    bounds
}

/// A number of bytes per second as operations: `600 MB/s ÷ 4 KiB = 146k IOPS`.
pub fn as_ops(bytes_per_s: f64, size_bytes: f64) -> Option<(f64, String)> {
    let ops_per_s = ratio(bytes_per_s, size_bytes);
    let text = || {
        let (rate, size) = (fmt::rate_decimal(bytes_per_s), fmt::size(size_bytes));
        format!("{rate} ÷ {size} = {}", fmt::iops(ops_per_s))
    };
    (ops_per_s > 0.0).then(|| (ops_per_s, text()))
}

fn links(observed: &Observed) -> Vec<Bound> {
    let linked: Vec<(&DeviceFacts, &Link)> =
        observed.devices().into_iter().filter_map(|d| Some((d, d.link.as_ref()?))).collect();
    let single = linked.len() == 1;
    let one = |(device, link): &(&DeviceFacts, &Link)| {
        let passed = if single { app_rates(observed) } else { device_rates(observed, device) };
        link_bound(observed, link, &format!("{} link of {}", link.kind, device.name), passed)
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

/// Bytes per second read and written by the application.
pub fn app_rates(observed: &Observed) -> Option<(f64, f64)> {
    Some((observed.bytes_per_s(Direction::Read), observed.bytes_per_s(Direction::Write)))
}

/// Bytes per second read and written by one device.
pub fn device_rates(observed: &Observed, device: &DeviceFacts) -> Option<(f64, f64)> {
    let flow = observed.flow_of(&device.name)?;
    let window_s = observed.window_s();
    Some((ratio(flow.read.bytes, window_s), ratio(flow.write.bytes, window_s)))
}

/// The ceiling of a link and how much of it was used, from the bytes read and written through it.
pub fn link_bound(
    observed: &Observed,
    link: &Link,
    element: &str,
    passed: Option<(f64, f64)>,
) -> Bound {
    let ceiling = link.ceiling_bytes_per_s as f64;
    let busiest = |(read, write): (f64, f64)| match link.is_one_way() {
        true => read + write,
        false => read.max(write),
    };
    let kind = if link.kind == "network" { Kind::Network } else { Kind::Link };
    bound(observed, kind, element, ceiling, &link.arithmetic, passed.map(busiest))
}

fn all_links(observed: &Observed, linked: &[(&DeviceFacts, &Link)]) -> Bound {
    let each: Vec<f64> = linked.iter().map(|(_, link)| link.ceiling_bytes_per_s as f64).collect();
    let terms: Vec<String> = each.iter().map(|rate| fmt::rate_decimal(*rate)).collect();
    let total = each.iter().sum();
    let arithmetic = format!("{} = {}", terms.join(" + "), fmt::rate_decimal(total));
    let used = app_rates(observed).map(|(read, write)| read.max(write));
    bound(observed, Kind::Links, "all links together", total, &arithmetic, used)
}

fn bound(
    observed: &Observed,
    kind: Kind,
    element: &str,
    ceiling: f64,
    arithmetic: &str,
    passed: Option<f64>,
) -> Bound {
    let app = observed.app(observed.main_op());
    let ops = as_ops(ceiling, ratio(app.bytes, app.ops));
    let mut arithmetic = arithmetic.to_string();
    if let Some((_, text)) = &ops {
        arithmetic = format!("{arithmetic}; {text}");
    }
    let used = passed.filter(|rate| *rate > 0.0 && ceiling > 0.0);
    Bound {
        kind,
        ceiling: Ceiling {
            element: element.into(),
            bytes_per_s: Some(ceiling),
            ops_per_s: ops.map(|(ops_per_s, _)| ops_per_s),
            arithmetic,
            used: used.map(|rate| ratio(rate, ceiling)),
        },
    }
}

/// Memory, where it was measured: a copy passes each byte twice.
fn memory(observed: &Observed) -> Option<Bound> {
    let copy = observed.host.memory_copy?;
    let times = 2.0 / observed.memory_passes();
    let arithmetic = format!(
        "{}{} copied by {} after the phase, which took {} s",
        if times > 1.0 { "2 × " } else { "" },
        fmt::rate_decimal(copy.bytes_per_s),
        fmt::plural(f64::from(copy.threads), "thread", "threads"),
        fmt::number(copy.cost_s)
    );
    let passed = app_rates(observed).map(|(read, write)| read + write);
    Some(bound(observed, Kind::Memory, "memory", times * copy.bytes_per_s, &arithmetic, passed))
}

fn cgroup(observed: &Observed, limit: &Fact<IoLimit>) -> Vec<Bound> {
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
        let rates = group_rates(observed, device, op);
        bounds.extend(bytes.map(|most| {
            let text = format!("{} by {}", fmt::rate_decimal(most as f64), limit.from);
            group_bound(&element, Some(most as f64), None, text, &rates.0)
        }));
        bounds.extend(ops.map(|most| {
            let text = format!("{} by {}", fmt::iops(most as f64), limit.from);
            group_bound(&element, None, Some(most as f64), text, &rates.1)
        }));
    }
    bounds
}

/// Rates in bytes and in operations, as the application and as the device saw them: the kernel
/// throttles in between, so whichever lies nearer to the limit is the one it counted.
fn group_rates(observed: &Observed, device: &DeviceFacts, op: Direction) -> (Vec<f64>, Vec<f64>) {
    let mut bytes = vec![observed.bytes_per_s(op)];
    let mut ops = vec![observed.ops_per_s(op)];
    if let Some(flow) = observed.flow_of(&device.name) {
        bytes.push(ratio(flow.side(op).bytes, observed.window_s()));
        ops.push(ratio(flow.side(op).requests, observed.window_s()));
    }
    (bytes, ops)
}

fn group_bound(
    element: &str,
    bytes_per_s: Option<f64>,
    ops_per_s: Option<f64>,
    arithmetic: String,
    measured: &[f64],
) -> Bound {
    let most = bytes_per_s.or(ops_per_s).unwrap_or(0.0);
    let used = measured.iter().filter(|rate| **rate > 0.0).map(|rate| ratio(*rate, most));
    let distance = |used: &f64| (used - 1.0).abs();
    let used = used.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let used = used.filter(|_| most > 0.0);
    let ceiling = Ceiling { element: element.into(), bytes_per_s, ops_per_s, arithmetic, used };
    Bound { kind: Kind::Cgroup, ceiling }
}

fn pace(ran: &Ran) -> Vec<Bound> {
    let seconds = ran.measured.elapsed_ns as f64 / 1e9;
    let sides = ran.measured.directions().map(|(_, stats)| stats);
    let (bytes, ops) = sides.fold((0.0, 0.0), |(b, o), s| (b + s.bytes as f64, o + s.ops as f64));
    let pace = &ran.blocks.pace;
    let element = format!("rate that the plan asks for in job {}", ran.job.name);
    let make = |bytes_per_s: Option<f64>, ops_per_s: Option<f64>, text, done: f64| {
        let used = ratio(ratio(done, seconds), bytes_per_s.or(ops_per_s).unwrap_or(0.0));
        let used = (used > 0.0).then_some(used);
        let element = element.clone();
        let ceiling = Ceiling { element, bytes_per_s, ops_per_s, arithmetic: text, used };
        Bound { kind: Kind::Pace, ceiling }
    };
    let mut bounds = Vec::new();
    bounds.extend(pace.bytes.map(|rate| {
        let most = rate.0 as f64;
        make(Some(most), None, format!("{} in the plan", fmt::rate(most)), bytes)
    }));
    bounds.extend(pace.ops.map(|rate| {
        let most = rate.0 as f64;
        make(None, Some(most), format!("{} in the plan", fmt::iops(most)), ops)
    }));
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn links_in_operations() {
        let (ops, text) = as_ops(600e6, 4096.0).unwrap();
        assert_eq!(ops.round(), 146_484.0);
        assert_eq!(text, "600 MB/s ÷ 4 KiB = 146k IOPS");
        assert_eq!(as_ops(1.2e9, 4096.0).unwrap().0.round(), 292_969.0);
        assert_eq!(fmt::rate(130_214.0 * 4096.0), "533 MB/s (509 MiB/s)");
        assert_eq!(as_ops(600e6, 0.0), None);
    }

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
