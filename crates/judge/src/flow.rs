//! Counts of devices between two snapshots, as numbers that cannot overflow.

use candor_plan::units::Direction;
use candor_record::facts::DeviceFacts;
use candor_record::{DiskCounters, Snapshot};

/// Work of a set of devices in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Bytes.
    pub bytes: f64,
    /// Requests that moved data.
    pub requests: f64,
    /// Requests that became part of another before they reached the device.
    pub merges: f64,
}

/// Work of a set of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Reads.
    pub read: Side,
    /// Writes; the empty flushes that the kernel counts among them are taken out.
    pub write: Side,
    /// Trims.
    pub trim: Side,
    /// Flushes.
    pub flushes: f64,
    /// Their time.
    pub flush_ms: f64,
    /// Sum of the times of all requests.
    pub weighted_ms: f64,
}

impl Flow {
    /// One direction.
    pub fn side(&self, op: Direction) -> Side {
        match op {
            Direction::Read => self.read,
            Direction::Write => self.write,
            Direction::Trim => self.trim,
        }
    }

    /// Bytes of both directions.
    pub fn bytes(&self) -> f64 {
        self.read.bytes + self.write.bytes
    }

    /// Requests of both directions.
    pub fn requests(&self) -> f64 {
        self.read.requests + self.write.requests
    }

    fn of(delta: &DiskCounters) -> Flow {
        // A synchronous write to a raw device is counted as two writes, one of them empty, and as
        // a flush; the empty one would look like splitting.
        let writes = delta.writes.saturating_sub(delta.flushes);
        let writes = if writes == 0 { delta.writes } else { writes };
        let side = |sectors: u64, requests: u64, merges: u64| Side {
            bytes: sectors as f64 * 512.0,
            requests: requests as f64,
            merges: merges as f64,
        };
        Flow {
            read: side(delta.read_sectors, delta.reads, delta.read_merges),
            write: side(delta.write_sectors, writes, delta.write_merges),
            trim: side(delta.discard_sectors, delta.discards, delta.discard_merges),
            flushes: delta.flushes as f64,
            flush_ms: delta.flush_ms as f64,
            weighted_ms: delta.weighted_ms as f64,
        }
    }

    fn add(self, other: Flow) -> Flow {
        let side = |a: Side, b: Side| Side {
            bytes: a.bytes + b.bytes,
            requests: a.requests + b.requests,
            merges: a.merges + b.merges,
        };
        Flow {
            read: side(self.read, other.read),
            write: side(self.write, other.write),
            trim: side(self.trim, other.trim),
            flushes: self.flushes + other.flushes,
            flush_ms: self.flush_ms + other.flush_ms,
            weighted_ms: self.weighted_ms + other.weighted_ms,
        }
    }

    /// The work of all these devices together; nothing where one of them was not read.
    pub fn between(devices: &[&DeviceFacts], from: &Snapshot, to: &Snapshot) -> Option<Flow> {
        let flows = devices.iter().map(|device| Flow::of_device(&device.name, from, to));
        let flows: Option<Vec<Flow>> = flows.collect();
        flows.filter(|flows| !flows.is_empty())?.into_iter().reduce(Flow::add)
    }

    /// The work of one device. A counter that ran backwards belongs to a device that went away and
    /// came back, and means nothing.
    pub fn of_device(name: &str, from: &Snapshot, to: &Snapshot) -> Option<Flow> {
        let (earlier, later) = (from.device(name)?, to.device(name)?);
        let forward = later.reads >= earlier.reads
            && later.writes >= earlier.writes
            && later.read_sectors >= earlier.read_sectors
            && later.write_sectors >= earlier.write_sectors
            && later.weighted_ms >= earlier.weighted_ms
            && later.read_merges >= earlier.read_merges
            && later.write_merges >= earlier.write_merges
            && later.flushes >= earlier.flushes;
        forward.then(|| Flow::of(&later.since(earlier)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(counters: DiskCounters) -> Snapshot {
        Snapshot { devices: vec![("vda".into(), counters)], ..Snapshot::default() }
    }

    fn device() -> DeviceFacts {
        DeviceFacts { name: "vda".into(), ..DeviceFacts::default() }
    }

    #[test]
    fn synchronous_raw_writes_are_not_splitting() {
        let counters = DiskCounters {
            writes: 2000,
            write_sectors: 8000,
            flushes: 1000,
            ..DiskCounters::default()
        };
        let (from, to) = (snapshot(DiskCounters::default()), snapshot(counters));
        let flow = Flow::between(&[&device()], &from, &to).unwrap();
        assert_eq!(flow.write, Side { bytes: 4_096_000.0, requests: 1000.0, merges: 0.0 });
    }

    #[test]
    fn a_counter_that_ran_backwards_is_no_counter() {
        let later = snapshot(DiskCounters { reads: 5, ..DiskCounters::default() });
        let earlier = snapshot(DiskCounters { reads: 9, ..DiskCounters::default() });
        assert_eq!(Flow::between(&[&device()], &earlier, &later), None);
        assert_eq!(Flow::between(&[], &earlier, &later), None);
    }
}
