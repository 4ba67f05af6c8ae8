//! Devices below an honest run: links, arrays, networks.

use candor_plan::entries::{Entries, Over, Step};
use candor_plan::units::Direction;
use candor_record::facts::*;
use candor_record::*;

use super::{TestCase, Workload, fact};

impl TestCase {
    /// The same behind one more link, of which both ends could do `possible` bytes per second.
    pub fn behind(mut self, kind: &str, ceiling: u64, possible: u64) -> TestCase {
        let words = |bytes_per_s: u64| format!("{} MB/s", bytes_per_s / 1_000_000);
        let link = Link {
            kind: kind.into(),
            at: "slot".into(),
            negotiated: Fact::new(words(ceiling), "/sys"),
            possible: fact(words(possible)),
            lower_could: fact(words(possible)),
            upper_could: fact(words(possible)),
            ceiling_bytes_per_s: ceiling,
            possible_bytes_per_s: Some(possible),
            arithmetic: words(ceiling),
        };
        let disk = self.disk();
        disk.way.push(link.clone());
        disk.link = Some(link);
        self
    }

    /// The same on an array whose members moved these shares of the bytes.
    pub fn on_array(mut self, level: &str, shares: &[f64]) -> TestCase {
        let counters = self.host.after.devices[0].1;
        let part = |share: f64| {
            let of = |count: u64| (count as f64 * share) as u64;
            DiskCounters {
                reads: of(counters.reads),
                read_sectors: of(counters.read_sectors),
                writes: of(counters.writes),
                write_sectors: of(counters.write_sectors),
                weighted_ms: of(counters.weighted_ms),
                ..DiskCounters::default()
            }
        };
        let disk = self.host.facts.devices.remove(0);
        let names: Vec<String> = (0..shares.len()).map(|i| format!("sd{i}")).collect();
        let array = ArrayFacts { level: fact(level.into()), members: fact(names.len() as u64) };
        self.host.facts.devices.push(DeviceFacts {
            name: "md0".into(),
            kind: DeviceKind::Md,
            below: names.clone(),
            bio_based: fact(true),
            counts_io: fact(true),
            array: Some(array),
            queue: QueueFacts { chunk_bytes: fact(65_536), ..QueueFacts::default() },
            ..DeviceFacts::default()
        });
        let member = |name: &String| DeviceFacts { name: name.clone(), ..disk.clone() };
        self.host.facts.devices.extend(names.iter().map(member));
        self.host.facts.targets[0].device = fact("md0".into());
        let none = names.iter().map(|name| (name.clone(), DiskCounters::default()));
        self.host.before.devices = vec![("md0".into(), DiskCounters::default())];
        self.host.before.devices.extend(none);
        self.host.after.devices = vec![("md0".into(), counters)];
        let parts = names.iter().zip(shares).map(|(name, share)| (name.clone(), part(*share)));
        self.host.after.devices.extend(parts);
        self
    }

    /// The same on an NFS share behind an interface of so many Mb/s, which carried it all.
    pub fn on_nfs(mut self, mbit_per_s: u64) -> TestCase {
        let link = Link {
            kind: "network".into(),
            at: "eth1".into(),
            negotiated: Fact::new(format!("{mbit_per_s} Mb/s"), "/sys/class/net/eth1/speed"),
            ceiling_bytes_per_s: mbit_per_s * 117_685,
            arithmetic: format!("{mbit_per_s} Mb/s ÷ 8 × 1448/1538"),
            ..Link::default()
        };
        let target = &mut self.host.facts.targets[0];
        target.device = None;
        target.accounting_probe = None;
        target.remote = Some(Remote {
            protocol: "NFS".into(),
            server: Fact::new("10.0.0.9".into(), "/proc/self/mountinfo"),
            interface: fact("eth1".into()),
            link: Some(link),
            ..Remote::default()
        });
        target.filesystem = Some(Filesystem {
            kind: "nfs4".into(),
            mount_point: "/data".into(),
            remote: true,
            ..Filesystem::default()
        });
        self.host.facts.devices.clear();
        self.host.before.devices.clear();
        let app = self.record.measurements[0].clone();
        let bytes = |op| app.of(op).bytes;
        let (read_bytes, written_bytes) = (bytes(Direction::Read), bytes(Direction::Write));
        for (state, scale) in [(&mut self.host.before.state, 0), (&mut self.host.after.state, 1)] {
            state.interfaces = vec![InterfaceBytes {
                interface: "eth1".into(),
                received_bytes: read_bytes * scale,
                sent_bytes: written_bytes * scale,
            }];
            state.mounts = vec![MountBytes {
                mount_point: "/data".into(),
                app_read_bytes: read_bytes * scale,
                server_read_bytes: read_bytes * scale,
                ..MountBytes::default()
            }];
        }
        self.host.after.devices.clear();
        self
    }

    /// Ten seconds of one step over the names of a set of files of 128 KiB.
    pub fn on_names(step: Step, files: u32, ops_per_s: f64) -> TestCase {
        let mut case = Workload { ops_per_s, ..Workload::default() }.case();
        let entries = Entries { over: Over::TargetFiles, steps: vec![step], ..Entries::default() };
        let job = &mut case.plan.phases[0].jobs[0];
        job.work = entries.into();
        let target = &mut case.plan.targets[0];
        (target.path, target.files) = ("/data/names".into(), files);
        target.size = Some(candor_plan::Bytes(128 << 10));
        let facts = &mut case.host.facts.targets[0];
        (facts.path, facts.kind) = ("/data/names".into(), PathKind::Directory);
        let (row, measured) = (step.operation(), case.measured());
        for stats in &mut measured.operations {
            (stats.name, stats.figure, stats.bytes) = (row.name.into(), row.figure, 0);
        }
        for sample in measured.samples.iter_mut().flat_map(|sample| &mut sample.operations) {
            (sample.name, sample.figure, sample.bytes) = (row.name.into(), row.figure, 0);
        }
        case.process_read(0);
        case.after_disk(DiskCounters::default());
        case
    }

    /// The rate of every second, made from the second's number.
    pub fn seconds(mut self, count: u64, ops_per_s: impl Fn(u64) -> f64) -> TestCase {
        let measured = self.measured();
        let op = if measured.of(Direction::Write).ops > 0 {
            candor_plan::units::Direction::Write
        } else {
            candor_plan::units::Direction::Read
        };
        let stats = measured.of(op).clone();
        let bs = stats.bytes / stats.ops.max(1);
        let second = |i: u64| {
            let mut sample = Sample {
                at_ns: (i + 1) * 1_000_000_000,
                length_ns: 1_000_000_000,
                ..Sample::default()
            };
            let side = sample.of_mut(op);
            (side.ops, side.bytes) = (ops_per_s(i) as u64, ops_per_s(i) as u64 * bs);
            sample
        };
        measured.samples = (0..count).map(second).collect();
        let ops: u64 = measured.samples.iter().map(|sample| sample.ops(op)).sum();
        measured.elapsed_ns = count * 1_000_000_000;
        let side = measured.of_mut(op);
        (side.ops, side.bytes) = (ops, ops * bs);
        self
    }
}
