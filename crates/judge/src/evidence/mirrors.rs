//! Mirrors: every leg carries each byte that is written, so all legs together count a multiple.

use candor_plan::units::Direction;
use candor_record::Snapshot;
use candor_record::facts::{DeviceFacts, value};

use crate::flow::Flow;
use crate::observed::Observed;

/// An md array that writes each byte to several members. Who mirrors by the device mapper is known
/// to nobody for certain: `raid` stands for all levels there.
pub(super) struct Mirror<'a> {
    array: &'a DeviceFacts,
    /// Devices at the ends below each member.
    legs: Vec<Vec<&'a DeviceFacts>>,
}

impl<'a> Mirror<'a> {
    pub(super) fn of(observed: &Observed<'a>, array: &'a DeviceFacts) -> Option<Mirror<'a>> {
        if !matches!(array.array_level(), Some("raid1" | "raid10")) || array.below.len() < 2 {
            return None;
        }
        let is_end = |device: &&DeviceFacts| {
            device.below.iter().all(|below| observed.facts.device(below).is_none())
        };
        let leg = |name: &String| observed.chain(name).into_iter().filter(is_end).collect();
        Some(Mirror { array, legs: array.below.iter().map(leg).collect() })
    }

    /// Some device is below both, so that nobody can tell whose bytes it counted.
    pub(super) fn overlaps(&self, other: &Mirror) -> bool {
        fn names(mirror: &Mirror) -> Vec<String> {
            mirror.legs.iter().flatten().map(|device| device.name.clone()).collect()
        }
        let others = names(other);
        names(self).iter().any(|name| others.contains(name))
    }

    /// Bytes written that the legs counted beyond one copy of them. Of legs that carry all the
    /// weakest says how much that is; spare members carry nothing.
    pub(super) fn surplus(&self, observed: &Observed, to: &Snapshot) -> f64 {
        let written = |leg: &Vec<&DeviceFacts>| {
            let flow = Flow::between(leg, &observed.host.before, to);
            flow.map_or(0.0, |flow| flow.side(Direction::Write).bytes)
        };
        let mut each: Vec<f64> = self.legs.iter().map(written).collect();
        let all: f64 = each.iter().sum();
        if self.array.array_level() == Some("raid10") {
            return all / 2.0;
        }
        each.sort_unstable_by(|a, b| b.total_cmp(a));
        let working = self.working(observed).clamp(1, each.len());
        all - each[working - 1]
    }

    /// Members that carry writes.
    fn working(&self, observed: &Observed) -> usize {
        let made_for = self.array.array.as_ref().and_then(|array| value(&array.members).copied());
        let mut states = observed.host.before.state.arrays.iter();
        let state = states.find(|state| state.device == self.array.name);
        let missing = state.and_then(|state| state.degraded).unwrap_or(0);
        let working = made_for.unwrap_or(self.legs.len() as u64).saturating_sub(missing);
        usize::try_from(working).unwrap_or(usize::MAX)
    }
}
