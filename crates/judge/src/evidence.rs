//! Positive evidence: the bytes that counters at the end of the path saw. What nobody counted may
//! have gone anywhere.

mod mirrors;

use candor_plan::units::Direction;
use candor_record::facts::{AccountingProbe, DeviceFacts, DeviceKind, Remote, TargetFacts, value};
use candor_record::{Measurement, Snapshot};

use crate::flow::Flow;
use crate::foreign;
use crate::observed::{Observed, OnHost, measurement_of};
use crate::setup::memory_device;
use crate::shared;
use crate::thresholds::{COVERAGE_FULL, SLACK_FLAT};
use mirrors::Mirror;

/// Bytes of one direction that no counter vouches for.
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// Direction.
    pub op: Direction,
    /// Bytes that the application moved; none where it worked on names.
    pub app: f64,
    /// Counters at the end of the path.
    pub seen: Seen,
}

/// Knowledge of the counters at the end of the path.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// They saw so many bytes.
    Bytes {
        /// Bytes.
        bytes: f64,
        /// Devices or interfaces that counted.
        by: String,
        /// Files that were read.
        from: String,
    },
    /// The end of the path is not known, or does not count.
    Nowhere(String),
}

/// The directions whose bytes were not seen where the path ends; the one with most bytes where that
/// end is not known.
pub fn unseen(observed: &Observed) -> Vec<Unseen> {
    let way = way_of(observed);
    let moved = Direction::ALL.map(|op| (op, observed.moved(op).bytes));
    let is_known = |app: f64| app > 0.0 || on_names(observed).any(|m| m.ops_done() > 0);
    let way = match way {
        Ok(way) => way,
        Err(why) => {
            let most = moved.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|m| is_known(m.1));
            let nowhere = |&(op, app)| Unseen { op, app, seen: Seen::Nowhere(why.clone()) };
            return most.map(nowhere).into_iter().collect();
        }
    };
    let missed = |(op, app)| {
        let (bytes, from) = way.passed(observed, op);
        let slack = observed.slack_bytes(op).max(SLACK_FLAT.value * app);
        let by = way.names(op);
        let enough = bytes + slack >= COVERAGE_FULL.value * app;
        (!enough).then_some(Unseen { op, app, seen: Seen::Bytes { bytes, by, from } })
    };
    moved.into_iter().filter(|(_, app)| *app > 0.0).filter_map(missed).collect()
}

/// Bytes of one direction that this process may have moved, by then, at the end of the path and at
/// its beginning: no more than either counted. Absent where the end of the path is not known.
///
/// Of several hosts it is the sum, in which the devices of a kernel that some of them share count
/// once; absent where the end of one path is not known.
pub fn seen(observed: &Observed, op: Direction) -> Option<Passed> {
    if !observed.hosts.is_empty() {
        return seen_by_all(observed, op);
    }
    let way = way_of(observed).ok()?;
    let (bytes, from) = way.passed(observed, op);
    if way.tops.is_empty() {
        // What a server says of names is charged to nobody.
        let (bytes, from) = (way.by_networks(observed, op), "/sys/class/net/*/statistics".into());
        return Some(Passed { bytes, by: way.names_of_all(), from });
    }
    let on_top = way.by_devices(observed, &way.tops, op);
    Some(Passed { bytes: on_top.min(bytes), by: observed.device_names(), from })
}

fn seen_by_all(observed: &Observed, op: Direction) -> Option<Passed> {
    let of = |on: &OnHost| Some((on.name.clone(), seen(&on.observed, op)?));
    let each: Vec<(String, Passed)> = observed.hosts.iter().map(of).collect::<Option<_>>()?;
    let by: Vec<String> =
        each.iter().map(|(host, seen)| format!("{} of {host}", seen.by)).collect();
    Some(Passed {
        bytes: each.iter().map(|(_, seen)| seen.bytes).sum(),
        by: by.join(", "),
        from: each.first()?.1.from.clone(),
    })
}

/// Bytes that passed the ends of the path.
pub struct Passed {
    /// Bytes.
    pub bytes: f64,
    /// Devices or interfaces that counted.
    pub by: String,
    /// Files that were read.
    pub from: String,
}

/// Measurements of jobs on names.
fn on_names<'a>(observed: &Observed<'a>) -> impl Iterator<Item = &'a Measurement> {
    let (phase, record) = (observed.phase, observed.record);
    let jobs = phase.jobs.iter().enumerate().filter(|(_, job)| job.entries().is_some());
    jobs.filter_map(|(at, job)| measurement_of(record, at, &job.name))
}

/// Ends of the path that count.
#[derive(Default)]
struct Way<'a> {
    tops: Vec<&'a DeviceFacts>,
    ends: Vec<&'a DeviceFacts>,
    servers: Vec<&'a Remote>,
    mirrors: Vec<Mirror<'a>>,
}

/// The ends of the path of all targets, or the first reason why one is not known.
fn way_of<'a>(observed: &Observed<'a>) -> Result<Way<'a>, String> {
    let mut way = Way::default();
    for target in observed.targets() {
        if let Some(on) = target.holding().filter(|on| on.is_served_by_process()) {
            return Err(format!("a process serves {} at {}", on.kind, on.mount_point));
        }
        let remote = target.remote.as_ref().filter(|_| target.device.is_none());
        match remote {
            Some(remote) if is_elsewhere(remote) => way.add_server(remote),
            _ => way.add_device(observed, target)?,
        }
    }
    if way.ends.is_empty() && way.servers.is_empty() {
        Err("no target is known".into())
    } else {
        Ok(way)
    }
}

/// The server is reached by an interface that leads out of this host.
fn is_elsewhere(remote: &Remote) -> bool {
    value(&remote.interface).is_some_and(|interface| interface != "lo")
}

impl<'a> Way<'a> {
    /// Adds a server, unless another one is reached by the same interface, which counts for both.
    fn add_server(&mut self, server: &'a Remote) {
        let interface = value(&server.interface);
        if self.servers.iter().all(|other| value(&other.interface) != interface) {
            self.servers.push(server);
        }
    }

    fn add_device(
        &mut self,
        observed: &Observed<'a>,
        target: &'a TargetFacts,
    ) -> Result<(), String> {
        let Some(name) = value(&target.device) else { return Err(no_device(observed, target)) };
        let probe = target.accounting_probe.as_ref();
        if probe.is_some_and(AccountingProbe::is_uncounted_command) {
            return Err(format!("commands past the block layer are not counted for {name}"));
        }
        for member in target.devices() {
            self.add_chain(observed, member)?;
        }
        Ok(())
    }

    /// Adds a device and what lies below it.
    fn add_chain(&mut self, observed: &Observed<'a>, name: &str) -> Result<(), String> {
        let chain = observed.chain(name);
        let Some(top) = chain.first() else { return Err(format!("{name} is missing")) };
        self.tops.push(top);
        for device in &chain {
            self.add_mirror(observed, device);
            if device.below.iter().any(|below| observed.facts.device(below).is_some()) {
                continue;
            }
            if !is_end(device) {
                return Err(memory_device(device)
                    .unwrap_or_else(|| format!("the storage below {} is unknown", device.name)));
            }
            if value(&device.counts_io) == Some(&false) {
                return Err(format!("{} does not count I/O", device.name));
            }
            if !self.ends.iter().any(|end| end.name == device.name) {
                self.ends.push(device);
            }
        }
        Ok(())
    }

    /// Mirrors on the same disks are one: what the disks counted is that of both.
    fn add_mirror(&mut self, observed: &Observed<'a>, device: &'a DeviceFacts) {
        let mirror = Mirror::of(observed, device);
        let new = mirror.filter(|mirror| !self.mirrors.iter().any(|other| mirror.overlaps(other)));
        self.mirrors.extend(new);
    }

    fn names(&self, op: Direction) -> String {
        let mirrored = op == Direction::Write && !self.mirrors.is_empty();
        let copies = if mirrored { "the copies on " } else { "" };
        format!("{copies}{}", self.names_of_all())
    }

    fn names_of_all(&self) -> String {
        let devices = self.ends.iter().map(|device| device.name.as_str());
        let interfaces = self.servers.iter().filter_map(|server| value(&server.interface));
        devices.chain(interfaces.map(String::as_str)).collect::<Vec<_>>().join(", ")
    }

    /// Bytes that passed the ends, without those that other processes were seen to move on lower
    /// ones, and for reads no more than the kernel charged to this process: the rest are somebody
    /// else's. Trims are counted where a path begins: most of a file's end in its filesystem, which
    /// hands them on only if it is mounted so.
    fn passed(&self, observed: &Observed, op: Direction) -> (f64, String) {
        let counted = match op {
            Direction::Trim => self.by_devices(observed, &self.tops, op),
            _ => {
                let lower =
                    self.ends.iter().any(|end| self.tops.iter().all(|top| top.name != end.name));
                let others = lower.then(|| foreign::share_below(observed, &self.ends, op));
                let ours = 1.0 - others.flatten().unwrap_or(0.0).min(1.0);
                ours * self.by_devices(observed, &self.ends, op)
            }
        };
        let all = counted + self.by_networks(observed, op);
        let own = observed.process(op).filter(|_| op == Direction::Read);
        let from = match own {
            Some(own) if own < all => "/proc/self/io: read_bytes",
            _ if self.servers.is_empty() => "/sys/class/block/*/stat",
            _ if self.ends.is_empty() => "/sys/class/net/*/statistics",
            _ => "/sys/class/block/*/stat, /sys/class/net/*/statistics",
        };
        (own.map_or(all, |own| own.min(all)), from.into())
    }

    fn by_devices(&self, observed: &Observed, devices: &[&DeviceFacts], op: Direction) -> f64 {
        ends_of(observed, op)
            .filter_map(|to| {
                let all = Flow::between(devices, &observed.host.before, to)?.side(op).bytes;
                let mirrors = self.mirrors.iter().filter(|_| op == Direction::Write);
                let again: f64 = mirrors.map(|mirror| mirror.surplus(observed, to)).sum();
                Some((all - again).max(0.0))
            })
            .fold(0.0, f64::max)
    }

    fn by_networks(&self, observed: &Observed, op: Direction) -> f64 {
        let of = |server: &&Remote| {
            let bytes = ends_of(observed, op)
                .filter_map(|to| shared::interface_bytes(&observed.host.before, to, server));
            bytes
                .map(|(received, sent)| if op == Direction::Read { received } else { sent })
                .fold(0.0, f64::max)
        };
        self.servers.iter().map(of).sum()
    }
}

/// The moments at which all bytes of a direction have passed: writes may take a final flush.
fn ends_of<'a>(observed: &Observed<'a>, op: Direction) -> impl Iterator<Item = &'a Snapshot> {
    let flush = observed.host.after_flush.as_ref().filter(|_| op == Direction::Write);
    [Some(&observed.host.after), flush].into_iter().flatten()
}

/// A device without others below it holds bytes, or hands them to hardware. These drivers only pass
/// them on, to what sysfs does not show: ZFS (`zd0`), a process (`ublkb0`), a file without a path.
fn is_end(device: &DeviceFacts) -> bool {
    use DeviceKind::*;
    let passes_on = ["zd", "ublkb"].iter().any(|driver| device.name.starts_with(driver));
    !matches!(device.kind, Loop | Dm | Md | Bcache | Partition) && !passes_on
}

/// The reason why no device is known below a target.
fn no_device(observed: &Observed, target: &TargetFacts) -> String {
    let of_this = format!("block device under target `{}`", target.target);
    let missing = observed.facts.missing.iter().find(|missing| missing.what == of_this);
    let why = missing.map_or("no block device was found below".into(), |of| of.why.clone());
    // Since Linux 6.18 it is `fsync=volatile`.
    match target.filesystem.as_ref().filter(|on| {
        on.options.split(',').any(|option| ["volatile", "fsync=volatile"].contains(&option))
    }) {
        Some(on) => format!("{why}; {} is mounted with volatile, and skips flushes", on.kind),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, Workload};
    use candor_record::facts::{Fact, Filesystem, PathKind};
    use candor_record::requests::{Issuer, RequestStats, Requests};
    use candor_record::{ArrayState, InterfaceBytes};

    fn said(case: &TestCase) -> Option<Seen> {
        unseen(&case.observed()).into_iter().next().map(|unseen| unseen.seen)
    }

    #[test]
    fn bytes_at_the_end_of_the_path_vouch() {
        let honest = TestCase::direct(4096, 8, 1, 10_000.0);
        assert_eq!(said(&honest), None);
        assert_eq!(said(&honest.clone().on_loop(true)), None);
        assert_eq!(said(&honest.clone().on_array("raid0", &[0.5, 0.5])), None);
        assert_eq!(said(&honest.on_nfs(10_000)), None);
        assert_eq!(said(&TestCase::direct_write()), None);
    }

    #[test]
    fn each_leg_of_a_mirror_carries_what_is_written() {
        let on = |level: &str, shares: &[f64]| TestCase::direct_write().on_array(level, shares);
        fn seen(case: &TestCase) -> Option<f64> {
            match said(case) {
                Some(Seen::Bytes { bytes, .. }) => {
                    let app = case.record.measurements[0].of(Direction::Write).bytes as f64;
                    Some((100.0 * bytes / app).round())
                }
                None => None,
                Some(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(seen(&on("raid1", &[1.0, 1.0])), None);
        assert_eq!(seen(&on("raid1", &[0.5, 0.5])), Some(50.0));
        assert_eq!(seen(&on("raid1", &[1.0, 0.3])), Some(30.0));
        assert_eq!(seen(&on("raid0", &[0.5, 0.5])), None);
        assert_eq!(seen(&on("raid10", &[0.5; 4])), None);
        assert_eq!(seen(&on("raid10", &[0.25; 4])), Some(50.0));
        let mut spare = on("raid1", &[1.0, 1.0, 0.0]);
        spare.host.facts.devices[0].array.as_mut().unwrap().members = Some(Fact::new(2, "md"));
        assert_eq!(seen(&spare), None);
        let mut degraded = on("raid1", &[1.0, 0.0]);
        let state = ArrayState { device: "md0".into(), degraded: Some(1), ..Default::default() };
        degraded.host.before.state.arrays = vec![state];
        assert_eq!(seen(&degraded), None);
        assert_eq!(said(&TestCase::direct(4096, 8, 1, 1e4).on_array("raid1", &[0.5, 0.5])), None);
    }

    #[test]
    fn few_bytes_are_asked_for_as_well() {
        let few = Workload { ops_per_s: 3.0, ..Workload::default() };
        assert_eq!(said(&few.case()), None);
        let mut case = few.case();
        case.after_disk(Default::default());
        let Some(Seen::Bytes { bytes, .. }) = said(&case) else { panic!("nobody saw them") };
        assert_eq!(bytes, 0.0);
    }

    #[test]
    fn bytes_of_others_do_not_vouch_for_reads() {
        let mut case = TestCase::buffered_read();
        case.after_top().read_sectors = 1 << 40;
        assert!(matches!(said(&case), Some(Seen::Bytes { bytes, .. }) if bytes == 0.0));
    }

    #[test]
    fn bytes_of_others_below_a_loop_device_do_not_vouch_for_it() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true);
        let bytes = case.record.measurements[0].of(Direction::Read).bytes;
        fn by(command: &str, bytes: u64) -> Requests {
            let who = Issuer { pid: 99, command: command.into(), count: 9, bytes };
            Requests { device: "vda".into(), bytes, issuers: vec![who], ..Requests::default() }
        }
        let traced = |seen| Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        case.host.requests = traced(by("rsync", bytes));
        assert!(matches!(said(&case), Some(Seen::Bytes { bytes, .. }) if bytes == 0.0));
        case.host.requests = traced(by("kworker/u8:2", bytes));
        assert_eq!(said(&case), None, "threads of the kernel work for the loop device");
    }

    #[test]
    fn an_end_that_is_not_known_vouches_for_nothing() {
        let honest = || TestCase::direct(4096, 8, 1, 10_000.0);
        let mut gone = honest().on_loop(true);
        gone.host.facts.devices[0].below.clear();
        assert_eq!(said(&gone), Some(Seen::Nowhere("the storage below loop0 is unknown".into())));
        let mut served = honest();
        let on = served.host.facts.targets[0].filesystem.as_mut().unwrap();
        (on.kind, on.mount_point) = ("fuseblk".into(), "/mnt".into());
        assert!(matches!(said(&served), Some(Seen::Nowhere(why)) if why.contains("a process")));
        let mut here = honest().on_nfs(10_000);
        let remote = here.host.facts.targets[0].remote.as_mut().unwrap();
        remote.interface.as_mut().unwrap().value = "lo".into();
        assert!(matches!(said(&here), Some(Seen::Nowhere(_))));
        let mut stacked = honest();
        let target = &mut stacked.host.facts.targets[0];
        target.device = None;
        target.filesystem = Some(Filesystem { kind: "overlay".into(), ..Filesystem::default() });
        assert!(matches!(said(&stacked), Some(Seen::Nowhere(_))));
        let on = stacked.host.facts.targets[0].filesystem.as_mut().unwrap();
        on.options = "rw,volatile".into();
        let volatile = said(&stacked);
        assert!(matches!(volatile, Some(Seen::Nowhere(why)) if why.contains("skips flushes")));
    }

    #[test]
    fn servers_behind_one_interface_count_its_bytes_once() {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_nfs(10_000);
        let state = &mut case.host.after.state;
        state.interfaces[0].received_bytes /= 2;
        let other = InterfaceBytes { interface: "eth2".into(), ..InterfaceBytes::default() };
        state.interfaces.push(other.clone());
        case.host.before.state.interfaces.push(other);
        let targets = &mut case.host.facts.targets;
        targets.extend([targets[0].clone(), targets[0].clone()]);
        let between = targets[1].remote.as_mut().unwrap();
        between.interface.as_mut().unwrap().value = "eth2".into();
        let Some(Seen::Bytes { by, from, .. }) = said(&case) else { panic!("half was seen") };
        assert_eq!((by.as_str(), from.as_str()), ("eth1, eth2", "/sys/class/net/*/statistics"));
    }

    #[test]
    fn a_final_flush_counts_for_writes() {
        let mut case = TestCase::buffered_write();
        assert!(matches!(said(&case), Some(Seen::Bytes { .. })));
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        let mut flushed = case.host.after.clone();
        flushed.devices[0].1.write_sectors = bytes / 512;
        case.host.after_flush = Some(flushed);
        assert_eq!(said(&case), None);
    }

    #[test]
    fn trims_of_a_device_are_counted_by_it() {
        let mut case = TestCase::direct(MIB, 1, 1, 100.0).on_loop(true);
        let stats = case.measured().of(Direction::Read).clone();
        case.measured().operations.clear();
        case.measured().put(Direction::Trim, stats.clone());
        case.blocks().mix = candor_plan::units::Mix::TRIM;
        assert!(matches!(said(&case), Some(Seen::Bytes { bytes, .. }) if bytes == 0.0));
        case.after_top().discard_sectors = stats.bytes / 512;
        assert_eq!(said(&case), None);
    }

    #[test]
    fn trims_of_a_file_that_its_filesystem_kept_are_not_vouched_for() {
        let mut case = TestCase::direct(MIB, 1, 1, 100.0);
        let stats = case.measured().of(Direction::Read).clone();
        case.measured().operations.clear();
        case.measured().put(Direction::Trim, stats.clone());
        case.blocks().mix = candor_plan::units::Mix::TRIM;
        assert_eq!(case.host.facts.targets[0].kind, PathKind::File);
        assert!(matches!(said(&case), Some(Seen::Bytes { bytes, .. }) if bytes == 0.0));
        case.after_top().discard_sectors = stats.bytes / 512;
        assert_eq!(said(&case), None, "mounted with discard");
    }
}
