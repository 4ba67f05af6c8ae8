//! Traffic of others on the devices of a phase, and which requests are ours.

use candor_plan::units::Direction;
use candor_record::Snapshot;
use candor_record::facts::{DeviceFacts, DeviceKind, TargetFacts, value};
use candor_record::fmt::ratio;
use candor_record::requests::{Issuer, RequestOp, Requests, share_of};

use crate::flow::{Flow, Side};
use crate::observed::Observed;
use crate::thresholds::{BYTES_MIN, FOREIGN, OURS_LEAST, OURS_MOST, TRACED_MOST};

/// Traffic of others as one method saw it.
pub struct Foreign<'a> {
    /// Bytes of others.
    pub bytes: f64,
    /// Bytes that passed these devices during the phase.
    pub all: f64,
    /// The devices.
    pub devices: Vec<&'a DeviceFacts>,
    /// Method, in words.
    pub how: &'static str,
    /// Counter beside those of the devices.
    pub from: &'static str,
}

impl Foreign<'_> {
    /// A share of what passed the device; of what was asked, where that is more, so that a cached
    /// run does not make a few kilobytes of metadata look like a crowd.
    pub fn share(&self, app: f64) -> f64 {
        ratio(self.bytes, self.all.max(app)).min(1.0)
    }
}

/// The traffic of others as each method saw it; nothing where no method can tell.
pub fn known<'a>(observed: &Observed<'a>) -> Option<Vec<Foreign<'a>>> {
    let idle = in_idle_moment(observed);
    let beside = [beside_ours(observed), beside_loops(observed), seen_beside(observed)];
    let is_known = idle.is_some() || beside[0].is_some();
    is_known.then(|| idle.into_iter().flatten().chain(beside.into_iter().flatten()).collect())
}

/// The method that saw most, where that is enough to matter.
pub fn most(all: Vec<Foreign>, app: f64) -> Option<Foreign> {
    let most = all.into_iter().max_by(|a, b| a.share(app).total_cmp(&b.share(app)));
    most.filter(|f| f.share(app) > FOREIGN.value && f.bytes >= BYTES_MIN.value)
}

/// The share of the requests to these devices that were not ours, where each operation made one:
/// with more, others made fewer.
pub fn share_of_requests(observed: &Observed, devices: &[&DeviceFacts]) -> f64 {
    let flow = if devices == observed.tops() { observed.top } else { observed.leaf };
    let all = flow.map_or(0.0, |flow| flow.requests());
    if all > 0.0 { (1.0 - ratio(observed.app_all().ops, all)).max(0.0) } else { 0.0 }
}

/// Others used the devices enough to shape what they counted.
pub fn matters(observed: &Observed) -> bool {
    let app = observed.app_all().bytes;
    known(observed).is_some_and(|all| most(all, app).is_some())
}

/// Other processes are known to write to the devices on top, or may do so unseen: the whole system
/// writes to its root filesystem, and threads of the kernel write for all of it. Not all bytes that
/// a device wrote are then ours.
pub fn may_write(observed: &Observed) -> bool {
    fn is_root(target: &TargetFacts) -> bool {
        let on = target.filesystem.as_ref();
        target.device_search.is_some() || on.is_some_and(|on| on.mount_point == "/")
    }
    let other = |who: &Issuer| is_other(observed, who) && !who.is_kernel();
    let seen = || seen_of(observed, &observed.tops(), |of| of.direction == RequestOp::Write, other);
    observed.targets().into_iter().any(is_root)
        || seen().is_some_and(|share| share > FOREIGN.value)
        || wrote_in_idle_moment(observed)
}

/// The devices on top wrote before the phase, at a rate that matters next to their writes in it.
fn wrote_in_idle_moment(observed: &Observed) -> bool {
    let Some(idle) = observed.host.idle.as_ref() else { return false };
    let seconds = idle.after.at_ns.saturating_sub(idle.before.at_ns) as f64 / 1e9;
    let written = Flow::between(&observed.tops(), &idle.before, &idle.after);
    let rate = ratio(written.map_or(0.0, |flow| flow.write.bytes), seconds);
    let during = observed.top.map_or(0.0, |top| top.write.bytes);
    rate * observed.window_s() > FOREIGN.value * during
}

/// Requests that this process issued to a device in one direction, where they were traced and stand
/// for all of ours: a cache that answers some, and threads of the kernel that issue others, leave
/// fewer bytes than we moved.
pub fn own_requests(observed: &Observed, device: &str, op: Direction) -> Option<Side> {
    let (sum, traced) = own_traced(observed, device, op)?;
    let ours = OURS_LEAST.value..OURS_MOST.value;
    ours.contains(&ratio(sum.bytes / traced, observed.app(op).bytes)).then_some(sum)
}

/// The same whatever their share of the bytes, those that were not traced included.
pub fn own_scaled(observed: &Observed, device: &str, op: Direction) -> Option<Side> {
    let (sum, traced) = own_traced(observed, device, op)?;
    Some(Side { bytes: sum.bytes / traced, requests: sum.requests / traced, ..sum })
}

/// Requests of this process that were traced, and the share of all requests that was.
fn own_traced(observed: &Observed, device: &str, op: Direction) -> Option<(Side, f64)> {
    let trace = observed.host.requests.as_ref()?;
    let direction = if op == Direction::Read { RequestOp::Read } else { RequestOp::Write };
    let of = trace.of(device, direction)?;
    let own = of.issuers.iter().filter(|who| who.pid == trace.own_pid);
    let sum = own.fold(Side::default(), |sum, who| Side {
        bytes: sum.bytes + who.bytes as f64,
        requests: sum.requests + who.count as f64,
        ..sum
    });
    Some((sum, of.traced_share().filter(|share| *share > 0.0).unwrap_or(1.0)))
}

/// The shapes and latencies of those, where the tracer tells them apart; not those of requests that
/// a thread of the kernel issued for this process.
pub fn own_shapes<'a>(
    observed: &Observed<'a>,
    device: &str,
    op: Direction,
) -> Option<&'a Requests> {
    let direction = if op == Direction::Read { RequestOp::Read } else { RequestOp::Write };
    observed.host.requests.as_ref()?.of(device, direction)?.own()
}

/// The share of what lower devices moved that other processes caused, where nearly all requests
/// were traced: a sample of them, or a burst in the idle moment before, is too coarse to take from
/// what was counted. Absent where they were not told apart.
pub fn share_below(observed: &Observed, devices: &[&DeviceFacts], op: Direction) -> Option<f64> {
    let direction = if op == Direction::Read { RequestOp::Read } else { RequestOp::Write };
    let whole = |of: &Requests| of.traced_share().is_none_or(|share| share >= TRACED_MOST.value);
    let other = |who: &Issuer| is_other(observed, who) && !who.is_kernel();
    seen_of(observed, devices, |of| of.direction == direction && whole(of), other)
}

/// The bytes of others that passed the devices on top, and those at the bottom, in the idle moment,
/// extended to the length of the phase; no more than they moved beyond ours, so that one burst in a
/// short moment is not taken for a stream, and no more than was seen of others where requests were
/// seen.
fn in_idle_moment<'a>(observed: &Observed<'a>) -> Option<Vec<Foreign<'a>>> {
    let idle = observed.host.idle.as_ref()?;
    let seconds = idle.after.at_ns.checked_sub(idle.before.at_ns)? as f64 / 1e9;
    let app = observed.app_all().bytes;
    let (tops, leaves) = (observed.counting(), observed.leaves());
    let levels = if tops == leaves {
        vec![(tops, observed.top)]
    } else {
        vec![(tops, observed.top), (leaves, observed.leaf)]
    };
    let of_level = levels.into_iter().filter_map(|(devices, during)| {
        let moved = Flow::between(&devices, &idle.before, &idle.after)?.bytes();
        let all = during?.bytes();
        let went_on = (ratio(moved, seconds) * observed.window_s()).min((all - app).max(0.0));
        // What the kernel's threads do on lower devices they do for the upper ones.
        let on_top = devices == observed.tops();
        let other = |who: &Issuer| is_other(observed, who) && (on_top || !who.is_kernel());
        let seen = seen_of(observed, &devices, |_| true, other);
        let bytes = seen.map_or(went_on, |share| went_on.min(share * all));
        let how = "estimated from the idle interval before";
        Some(Foreign {
            bytes,
            all,
            devices,
            how,
            from: "the same counters in the idle interval before",
        })
    });
    Some(of_level.collect())
}

/// Where requests to some devices are seen: those to a partition at its disk.
pub fn seen_at<'a>(devices: &[&'a DeviceFacts]) -> Vec<&'a str> {
    let names = devices.iter().map(|device| match device.kind {
        DeviceKind::Partition => device.below.first().unwrap_or(&device.name).as_str(),
        _ => device.name.as_str(),
    });
    names.collect()
}

fn is_other(observed: &Observed, who: &Issuer) -> bool {
    observed.host.requests.as_ref().is_none_or(|trace| who.pid != trace.own_pid)
}

/// The share of the bytes that some issuers moved on some devices, by those requests that count;
/// absent where single requests to them were not seen.
pub fn seen_of(
    observed: &Observed,
    devices: &[&DeviceFacts],
    counts: impl Fn(&Requests) -> bool,
    issuer: impl Fn(&Issuer) -> bool,
) -> Option<f64> {
    let trace = observed.host.requests.as_ref()?;
    let places = seen_at(devices);
    let here = |of: &&Requests| places.contains(&of.device.as_str()) && counts(of);
    let requests: Vec<&Requests> = trace.requests.iter().filter(here).collect();
    let all: u64 = requests.iter().map(|of| of.bytes).sum();
    let issuers = requests.iter().flat_map(|of| &of.issuers).filter(|who| issuer(who));
    let theirs: u64 = issuers.map(|who| who.bytes).sum();
    (all > 0).then(|| share_of(theirs, all))
}

/// The bytes that the device moved beyond what this process caused: reads always, writes only where
/// this process made none, because journals and write-back of earlier phases would look foreign.
/// Direct reads of a range make the kernel write its dirty pages first, also pages of others.
fn beside_ours<'a>(observed: &Observed<'a>) -> Option<Foreign<'a>> {
    let top = observed.top?;
    let reads =
        (top.read.bytes - observed.process(Direction::Read)?.max(direct_reads(observed))).max(0.0);
    let writes = match (observed.does(Direction::Write), observed.process(Direction::Write)?) {
        (false, ours) => (top.write.bytes - ours.max(written_for_reads(observed))).max(0.0),
        (true, _) => 0.0,
    };
    let slack = observed.slack_bytes(Direction::Read);
    Some(Foreign {
        bytes: (reads - slack).max(0.0) + writes,
        all: top.bytes(),
        devices: observed.counting(),
        how: "in addition to this run's I/O",
        from: "minus /proc/self/io",
    })
}

/// The bytes that the disks below loop devices moved beyond the bytes of the loops. A loop that
/// bypasses the page cache passes each request on unchanged; its filesystem adds some metadata.
fn beside_loops<'a>(observed: &Observed<'a>) -> Option<Foreign<'a>> {
    let (tops, leaves) = (observed.tops(), observed.leaves());
    let applies = !tops.is_empty()
        && tops.iter().all(|top| {
            let direct = top.loop_backing.as_ref().and_then(|backing| value(&backing.direct));
            direct == Some(&true)
                && top.below.iter().all(|name| leaves.iter().any(|d| d.name == *name))
        });
    let (top, leaf) = (observed.top?.bytes(), observed.leaf.filter(|_| applies)?.bytes());
    let bytes = (leaf - OURS_MOST.value * top).max(0.0);
    let how = "beyond the traffic of the loop device";
    Some(Foreign { bytes, all: leaf, devices: leaves, how, from: "minus the loop device's" })
}

/// The bytes that other processes were seen to read and write on the devices at the bottom. Threads
/// of the kernel work for all, and hosts of a fleet that share a kernel see each other.
fn seen_beside<'a>(observed: &Observed<'a>) -> Option<Foreign<'a>> {
    let leaves = observed.leaves();
    let moves = |of: &Requests| matches!(of.direction, RequestOp::Read | RequestOp::Write);
    let other = |who: &Issuer| is_other(observed, who) && !who.is_kernel();
    let share = seen_of(observed, &leaves, moves, other).filter(|_| observed.host.member.is_none());
    let all = observed.leaf?.bytes();
    let (bytes, how) = (share? * all, "in traced requests");
    Some(Foreign { bytes, all, devices: leaves, how, from: "traced requests" })
}

/// Bytes that this process had written for the sake of its reads, as far as they are known: its own
/// requests, and pages of its files that were dirty at the start and are not any more.
fn written_for_reads(observed: &Observed) -> f64 {
    fn dirty(snapshot: &Snapshot) -> f64 {
        let cache = snapshot.cache.as_ref();
        let bytes = cache.and_then(|cache| Some(cache.dirty_bytes? + cache.writeback_bytes?));
        bytes.unwrap_or(0) as f64
    }
    let cleaned = dirty(&observed.host.before) - dirty(&observed.host.after);
    let tops = observed.tops().into_iter();
    let requests = tops.filter_map(|top| own_scaled(observed, &top.name, Direction::Write));
    requests.map(|side| side.bytes).sum::<f64>().max(cleaned)
}

/// Bytes that this process read directly, which are its own whatever it was charged for.
fn direct_reads(observed: &Observed) -> f64 {
    if observed.all_direct() { observed.app(Direction::Read).bytes } else { 0.0 }
}
