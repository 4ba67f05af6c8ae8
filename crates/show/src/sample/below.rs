//! A device with all that can lie below a device, and all that can be seen of it.

use candor_record::facts::*;
use candor_record::*;

fn fact<T>(value: T) -> Option<Fact<T>> {
    Some(Fact::new(value, "/sys"))
}

fn words(text: &str) -> Option<Fact<String>> {
    fact(text.to_owned())
}

/// A link that runs slower than both of its ends could.
pub(crate) fn slow_slot() -> Link {
    Link {
        kind: "PCIe".into(),
        at: "0000:01:00.0".into(),
        negotiated: Fact::new("8.0 GT/s x1".into(), "current_link_speed"),
        possible: words("8.0 GT/s x4"),
        lower_could: words("16.0 GT/s x4"),
        upper_could: words("8.0 GT/s x4"),
        ceiling_bytes_per_s: 985_000_000,
        possible_bytes_per_s: Some(3_940_000_000),
        arithmetic: "8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 1 = 985 MB/s".into(),
    }
}

/// A link above it that runs as fast as it can.
fn uplink() -> Link {
    Link {
        at: "0000:00:1c.0".into(),
        negotiated: Fact::new("8.0 GT/s x4".into(), "current_link_speed"),
        ceiling_bytes_per_s: 3_940_000_000,
        arithmetic: "8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 4 = 3940 MB/s".into(),
        ..slow_slot()
    }
}

/// A server behind ten gigabits.
pub(crate) fn remote(protocol: &str) -> Remote {
    Remote {
        protocol: protocol.into(),
        server: Fact::new("10.0.0.1".into(), "/proc/self/mountinfo"),
        interface: words("bond0"),
        members: vec!["eth1".into(), "eth2".into()],
        connections: Some(4),
        link: Some(Link {
            kind: "network".into(),
            at: "bond0".into(),
            negotiated: Fact::new("10000 Mb/s".into(), "/sys/class/net/bond0/speed"),
            ceiling_bytes_per_s: 1_176_853_055,
            arithmetic: "10000 Mb/s ÷ 8 × 1448/1538 (TCP, MTU 1500) = 1176 MB/s".into(),
            ..slow_slot()
        }),
    }
}

/// A device of every kind at once, which nothing real is.
pub(crate) fn device() -> DeviceFacts {
    let nvme = NvmeFacts {
        transport: words("pcie"),
        iopolicy: words("numa"),
        state: words("live"),
        ana_state: words("optimized"),
        queues: fact(9),
        queue_entries: fact(1024),
    };
    DeviceFacts {
        name: "nvme0n1".into(),
        kind: DeviceKind::Nvme,
        link: Some(slow_slot()),
        way: vec![uplink(), slow_slot()],
        driver: words("uas"),
        array: Some(ArrayFacts { level: words("raid5"), members: fact(3) }),
        mapping: Some(Mapping {
            name: words("vg-data"),
            maker: words("LVM"),
            targets: fact(vec!["striped".to_owned()]),
        }),
        nvme: Some(nvme),
        scsi: Some(ScsiFacts { state: words("offline"), access: words("active/optimized") }),
        remote: Some(remote("NVMe/tcp")),
        ..DeviceFacts::default()
    }
}

/// All that can be looked at before and after a phase.
pub(crate) fn state() -> State {
    State {
        arrays: vec![ArrayState {
            device: "md0".into(),
            state: Some("clean".into()),
            degraded: Some(0),
            action: Some("idle".into()),
        }],
        temperatures: vec![Temperature {
            device: "nvme0n1".into(),
            now_mc: 40_000,
            max_mc: Some(80_000),
            critical_mc: Some(85_000),
        }],
        errors: vec![ErrorCount::default()],
        interfaces: vec![InterfaceBytes::default()],
        mounts: vec![MountBytes::default()],
        tcp_retransmits: Some(0),
        zram: vec![ZramPages::default()],
        caches: vec![CacheHits::default()],
        cpu_throttled: Some(CpuThrottled::default()),
        loop_files: vec![LoopFile::default()],
        ext4_lazy_init: Some(false),
        dentries: Some(0),
        inodes: vec![InodesInUse::default()],
    }
}
