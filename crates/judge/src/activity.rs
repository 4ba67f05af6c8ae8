//! Activity of devices between two snapshots, as rates, waits and shares of what is possible.

use candor_record::facts::{DeviceFacts, Fact, Facts, value};
use candor_record::fmt::{self, ratio};
use candor_record::requests::{RequestOp, RequestStats};
use candor_record::{Activity, Ceiling, DiskCounters, Snapshot, Traffic};

use crate::thresholds::{CEILING_NEAR, NEVER_IDLE};

/// The activity of each device; `trace` is what was seen of single requests meanwhile.
pub fn between(
    facts: &Facts,
    before: &Snapshot,
    after: &Snapshot,
    trace: &RequestStats,
) -> Vec<Activity> {
    let elapsed_s = elapsed_s(before, after);
    let of = |device: &DeviceFacts| {
        let did = before.device_delta(after, &device.name)?;
        let seen = trace.requests.iter().filter(|of| of.device == device.name);
        let requests = seen.cloned().collect();
        Some(Activity { requests, ..activity(facts, device, &did, elapsed_s) })
    };
    facts.devices.iter().filter_map(of).collect()
}

/// The activity of each device for some processes alone: `trace` has their requests. The busy time
/// is of all processes.
pub fn of_processes(
    facts: &Facts,
    before: &Snapshot,
    after: &Snapshot,
    trace: &RequestStats,
) -> Vec<Activity> {
    let elapsed_s = elapsed_s(before, after);
    let of = |device: &DeviceFacts| {
        let all = before.device_delta(after, &device.name)?;
        let requests: Vec<_> =
            trace.requests.iter().filter(|of| of.device == device.name).cloned().collect();
        let mut did = DiskCounters::default();
        for of in &requests {
            let ms = of.latency_ns_sum / 1_000_000;
            did.weighted_ms += ms;
            match of.direction {
                RequestOp::Read => {
                    (did.reads, did.read_sectors, did.read_ms) = (of.count, of.bytes / 512, ms);
                }
                RequestOp::Write => {
                    (did.writes, did.write_sectors, did.write_ms) = (of.count, of.bytes / 512, ms);
                }
                RequestOp::Discard => (did.discards, did.discard_ms) = (of.count, ms),
                RequestOp::Flush => did.flushes = of.count,
            }
        }
        let own = activity(facts, device, &did, elapsed_s);
        let busy = ratio(all.busy_ms as f64 / 1000.0, elapsed_s).min(1.0);
        let ceilings = Vec::new();
        let sentence =
            "only requests of the selected processes; busy time counts all processes".to_owned();
        Some(Activity { requests, busy, ceilings, sentence, ..own })
    };
    facts.devices.iter().filter_map(of).collect()
}

/// The activity of several devices together: sums, and the mean of the time in which each was busy.
pub fn together(
    name: &str,
    members: &[String],
    facts: &Facts,
    before: &Snapshot,
    after: &Snapshot,
) -> Activity {
    let found = || members.iter().filter_map(|member| facts.device(member));
    let mut did = DiskCounters::default();
    for of in found().filter_map(|device| before.device_delta(after, &device.name)) {
        did = did.each(&of, u64::saturating_add);
    }
    let count = found().count() as u64;
    did.busy_ms = did.busy_ms.checked_div(count).unwrap_or(0);
    let mut group = DeviceFacts { name: name.to_owned(), ..DeviceFacts::default() };
    // What all take at once is known only if it is known of each.
    let places: Option<u64> = found().map(places).sum();
    group.queue.device_depth = places.map(|places| Fact::new(places, "its devices"));
    let activity = activity(facts, &group, &did, elapsed_s(before, after));
    Activity { members: members.to_vec(), ..activity }
}

fn elapsed_s(before: &Snapshot, after: &Snapshot) -> f64 {
    after.at_ns.saturating_sub(before.at_ns) as f64 / 1e9
}

/// Requests that a device takes at once.
fn places(device: &DeviceFacts) -> Option<u64> {
    let queue = &device.queue;
    value(&queue.device_depth).or_else(|| value(&queue.nr_requests)).copied()
}

fn activity(facts: &Facts, device: &DeviceFacts, did: &DiskCounters, elapsed_s: f64) -> Activity {
    let traffic = |count: u64, sectors: u64, merges: u64, ms: u64| Traffic {
        per_s: ratio(count as f64, elapsed_s),
        bytes_per_s: ratio(sectors as f64 * 512.0, elapsed_s),
        size_mean_bytes: sectors.saturating_mul(512).checked_div(count).unwrap_or(0),
        merged: ratio(merges as f64, merges as f64 + count as f64),
        wait_mean_ns: ms.saturating_mul(1_000_000).checked_div(count).unwrap_or(0),
    };
    let read = traffic(did.reads, did.read_sectors, did.read_merges, did.read_ms);
    let write = traffic(did.writes, did.write_sectors, did.write_merges, did.write_ms);
    let mut activity = Activity {
        device: device.name.clone(),
        read,
        write,
        discard: traffic(did.discards, did.discard_sectors, did.discard_merges, did.discard_ms),
        flush: traffic(did.flushes, 0, 0, did.flush_ms),
        queue_mean: ratio(did.weighted_ms as f64 / 1000.0, elapsed_s),
        queue_max: places(device),
        // The kernel counts in ticks, which may end after the look.
        busy: ratio(did.busy_ms as f64 / 1000.0, elapsed_s).min(1.0),
        ceilings: ceilings(facts, device, &read, &write),
        ..Activity::default()
    };
    activity.sentence = sentence(&activity);
    activity
}

/// The bandwidth of the device's link, and the limits of candor's control group.
fn ceilings(facts: &Facts, device: &DeviceFacts, read: &Traffic, write: &Traffic) -> Vec<Ceiling> {
    let link = device.link.iter().map(|link| {
        let passed = if link.is_one_way() {
            read.bytes_per_s + write.bytes_per_s
        } else {
            read.bytes_per_s.max(write.bytes_per_s)
        };
        let bytes_per_s = link.ceiling_bytes_per_s as f64;
        Ceiling {
            element: format!("{} link", link.kind),
            bytes_per_s: Some(bytes_per_s),
            ops_per_s: None,
            arithmetic: link.arithmetic.clone(),
            used: Some(ratio(passed, bytes_per_s)),
        }
    });
    let limits = facts.host.cgroup.io.iter().filter(|limit| limit.value.device == device.number);
    let limits = limits.flat_map(|limit| {
        let (of, limit) = (&limit.from, &limit.value);
        let bytes = [("reads", limit.read_bytes_per_s), ("writes", limit.write_bytes_per_s)];
        let ops = [("reads", limit.read_ops_per_s), ("writes", limit.write_ops_per_s)];
        let bytes = bytes.into_iter().filter_map(|(way, most)| Some((way, most?, true)));
        let ops = ops.into_iter().filter_map(|(way, most)| Some((way, most?, false)));
        // What others do on the device is not held by it, so how much of it is used is unknown.
        bytes.chain(ops).map(move |(way, most, is_bytes)| Ceiling {
            element: format!("limit of {way} for candor's control group"),
            bytes_per_s: is_bytes.then_some(most as f64),
            ops_per_s: (!is_bytes).then_some(most as f64),
            arithmetic: of.clone(),
            used: None,
        })
    });
    link.chain(limits).collect()
}

/// A sentence about busy time: the device was never idle, which does not mean that it was full.
fn sentence(of: &Activity) -> String {
    let places = match of.queue_max {
        // Less is told as nothing.
        _ if of.queue_mean < 0.05 => String::new(),
        Some(most) => format!(", {:.1} of {most} queue slots used", of.queue_mean),
        None => format!(", {:.1} requests in flight", of.queue_mean),
    };
    let full = of
        .ceilings
        .iter()
        .find(|ceiling| ceiling.used.is_some_and(|used| used >= CEILING_NEAR.value));
    match (of.busy, full) {
        (_, Some(ceiling)) => {
            format!(
                "its {} is full to {}",
                ceiling.element,
                fmt::percent(ceiling.used.unwrap_or(0.0))
            )
        }
        (busy, _) if busy >= NEVER_IDLE.value => {
            format!("never idle, but not necessarily full{places}")
        }
        (busy, _) if busy > 0.0 => format!("idle {} of the time{places}", fmt::percent(1.0 - busy)),
        _ if of.ways().any(|(_, way)| way.per_s > 0.0) => {
            "idle except for activity below the resolution of the kernel's clock".to_owned()
        }
        _ => "idle".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use candor_record::facts::Link;

    use super::*;

    fn look(at_s: u64, counters: DiskCounters) -> Snapshot {
        let devices = vec![("sda".to_owned(), counters)];
        Snapshot { at_ns: at_s * 1_000_000_000, devices, ..Snapshot::default() }
    }

    fn facts(depth: Option<u64>) -> Facts {
        let mut device = DeviceFacts { name: "sda".into(), ..DeviceFacts::default() };
        device.queue.device_depth = depth.map(|depth| Fact::new(depth, ""));
        Facts { devices: vec![device], ..Facts::default() }
    }

    const DID: DiskCounters = DiskCounters {
        reads: 300,
        read_merges: 100,
        read_sectors: 2400,
        read_ms: 600,
        writes: 100,
        write_merges: 0,
        write_sectors: 12_800,
        write_ms: 500,
        in_flight: 3,
        busy_ms: 1000,
        weighted_ms: 1100,
        discards: 0,
        discard_merges: 0,
        discard_sectors: 0,
        discard_ms: 0,
        flushes: 4,
        flush_ms: 8,
    };

    fn did(facts: &Facts, elapsed_s: u64) -> Activity {
        let (before, after) = (look(5, DiskCounters::default()), look(5 + elapsed_s, DID));
        between(facts, &before, &after, &RequestStats::default()).remove(0)
    }

    #[test]
    fn rates_waits_and_queue_are_differences_per_time_and_per_request() {
        let of = did(&facts(Some(32)), 2);
        assert_eq!((of.read.per_s, of.read.bytes_per_s), (150.0, 614_400.0));
        assert_eq!((of.read.size_mean_bytes, of.read.wait_mean_ns), (4096, 2_000_000));
        assert_eq!((of.read.merged, of.write.wait_mean_ns), (0.25, 5_000_000));
        assert_eq!((of.flush.per_s, of.flush.wait_mean_ns), (2.0, 2_000_000));
        assert_eq!((of.queue_mean, of.busy), (0.55, 0.5));
        assert_eq!(of.sentence, "idle 50 % of the time, 0.6 of 32 queue slots used");
    }

    #[test]
    fn a_group_is_the_sum_of_its_devices() {
        let mut facts = facts(Some(32));
        facts.devices.push(DeviceFacts { name: "sdb".into(), ..facts.devices[0].clone() });
        let mut snapshots = [look(5, DiskCounters::default()), look(7, DID)];
        for snapshot in &mut snapshots {
            let counters = snapshot.devices[0].1;
            snapshot.devices.push(("sdb".into(), counters));
        }
        let [before, after] = snapshots;
        let members = ["sda".to_owned(), "sdb".to_owned(), "gone".to_owned()];
        let of = together("both", &members, &facts, &before, &after);
        assert_eq!((of.device.as_str(), of.read.per_s, of.read.merged), ("both", 300.0, 0.25));
        assert_eq!((of.write.wait_mean_ns, of.queue_mean, of.busy), (5_000_000, 1.1, 0.5));
        assert_eq!((of.queue_max, &of.members[..]), (Some(64), &members[..]));
    }

    #[test]
    fn too_short_for_the_clock_is_not_idle() {
        let quick = DiskCounters { busy_ms: 0, weighted_ms: 0, ..DID };
        let (before, after) = (look(5, DiskCounters::default()), look(6, quick));
        let of = between(&facts(None), &before, &after, &RequestStats::default()).remove(0);
        assert_eq!(
            of.sentence,
            "idle except for activity below the resolution of the kernel's clock"
        );
    }

    #[test]
    fn never_idle_is_not_full() {
        let of = did(&facts(None), 1);
        assert_eq!(of.sentence, "never idle, but not necessarily full, 1.1 requests in flight");
    }

    #[test]
    fn a_link_can_be_full() {
        let mut facts = facts(None);
        let link = Link { kind: "SATA".into(), ceiling_bytes_per_s: 8_000_000, ..Link::default() };
        facts.devices[0].link = Some(link);
        let of = did(&facts, 1);
        assert_eq!(of.sentence, "its SATA link is full to 97 %");
        assert_eq!(of.ceilings[0].used, Some(0.972_8));
    }
}
