//! A phase that several hosts ran, each of which did what one case says.

use candor_record::*;

use super::TestCase;

/// The cases as hosts `node-a`, `node-b`… with kernels of their own that see the same storage and
/// started together. The plan is that of the first one.
pub fn together(cases: &[TestCase]) -> TestCase {
    let mut whole = cases[0].clone();
    whole.record.measurements.clear();
    for (index, case) in (0..).zip(cases) {
        let member = FleetMember {
            index,
            address: format!("10.0.0.{}", index + 1),
            clock_error_ns: 50_000,
            round_trip_ns: 100_000,
            started_late_ns: Some(0),
            kernel_of: index,
            ..FleetMember::default()
        };
        let letter = char::from(b'a' + index as u8);
        whole.record.hosts.push(HostRecord {
            host: format!("node-{letter}"),
            measurements: case.record.measurements.clone(),
            member: Some(member),
            ..case.host.clone()
        });
        for measured in case.record.measurements.iter().cloned() {
            match whole.record.measurements.iter_mut().find(|known| known.job == measured.job) {
                Some(known) => known.merge(measured),
                None => whole.record.measurements.push(measured),
            }
        }
    }
    whole
}

impl TestCase {
    /// Place of a host among several.
    pub fn member(&mut self, at: usize) -> &mut FleetMember {
        self.record.hosts[at].member.as_mut().unwrap()
    }
}
