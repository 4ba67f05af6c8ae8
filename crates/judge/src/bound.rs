//! A ceiling and what sets it.

use candor_plan::units::Direction;
use candor_record::Ceiling;
use candor_record::facts::{DeviceFacts, Link};
use candor_record::fmt::{self, ratio};

use crate::observed::Observed;
use crate::thresholds::{CEILING_NEAR, CEILING_OVER, CEILING_WRONG};

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

impl Bound {
    /// The ceiling of a link and how much of it was used, from the bytes that passed each way.
    pub fn of_link(
        observed: &Observed,
        link: &Link,
        element: &str,
        passed: Option<(f64, f64)>,
    ) -> Bound {
        let ceiling = link.ceiling_bytes_per_s as f64;
        let busiest = |(read, write): (f64, f64)| {
            if link.is_one_way() { read + write } else { read.max(write) }
        };
        let kind = if link.kind == "network" { Kind::Network } else { Kind::Link };
        Bound::of_bytes(observed, kind, element, ceiling, &link.arithmetic, passed.map(busiest))
    }

    /// A ceiling in bytes per second, also as operations of the size that the phase had most of.
    pub fn of_bytes(
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

    /// More passed than the ceiling allows "at most": it is wrong, or not on the way. Caches of the
    /// processor beat memory by less.
    pub fn is_passed(&self) -> bool {
        let most = if self.kind == Kind::Memory { CEILING_OVER } else { CEILING_WRONG };
        self.ceiling.used.is_some_and(|used| used > most.value)
    }

    /// The share that was used, where that is nearly all and no more than is possible.
    pub fn reached(&self) -> Option<f64> {
        self.ceiling.used.filter(|used| (CEILING_NEAR.value..=CEILING_OVER.value).contains(used))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_operations() {
        let (ops, text) = as_ops(600e6, 4096.0).unwrap();
        assert_eq!(ops.round(), 146_484.0);
        assert_eq!(text, "600 MB/s ÷ 4 KiB = 146k IOPS");
        assert_eq!(as_ops(1.2e9, 4096.0).unwrap().0.round(), 292_969.0);
        assert_eq!(fmt::rate(130_214.0 * 4096.0), "533 MB/s (509 MiB/s)");
        assert_eq!(as_ops(600e6, 0.0), None);
    }
}
