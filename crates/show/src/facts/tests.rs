//! Screens of `candor inspect`.

use candor_record::facts::*;
use insta::assert_snapshot;

use super::*;
use crate::sample;

fn plain(facts: &Facts) -> String {
    text(facts, &Style::default())
}

#[test]
fn a_directory_on_a_partition() {
    assert_snapshot!(plain(&sample::facts()), @r#"
    Host        Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB memory
    Memory      20 GiB available
    Clock       tsc, 24 ns a reading
    CPU         frequency governor performance
    Limits      control group: at most 4 GiB of memory; at most 2 CPUs' worth of time; device 8:0: read
                at most 1k IOPS

    /data (directory)
    └─ ext4 at /data: 120 GiB of 490 GiB free, blocks of 4 KiB; rw,relatime
       └─ sda1 (partition, 500 GB), begins at 1 MiB
          └─ sda (ATA, Example SSD 860, 500 GB)
                blocks    logical 512 B, physical 4 KiB
                requests  at most 1.25 MiB, hardware accepts 32 MiB, 168 segments
                queue     64 requests, the device accepts 32 at once, scheduler mq-deadline, read-ahead
                          128 KiB, write-back limited to 75 ms
                cache     write back, without FUA
                link      SATA 6.0 Gbps, 600 MB/s at most
                          = 6.0 Gb/s × 8/10 ÷ 8 bits
                held by   /data
    Direct I/O  buffers aligned to 512 B, offsets and lengths to 4 KiB
    File        /data/candor.0: 1 GiB, 1 GiB allocated, 8 extents
    Accounting  a direct read of 64 KiB from /data/candor.0 (counted: sda1 64 KiB, sda 64 KiB): the
                block layer's counters can verify this target

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda
    "#);
}

#[test]
fn a_device_that_was_found_by_probe_says_how() {
    let mut facts = sample::facts();
    let target = &mut facts.targets[0];
    if let Some(on) = &mut target.filesystem {
        on.kind = "overlay".into();
    }
    let search = DeviceSearch { reads: 7, exact: 5, devices: 12, ..DeviceSearch::default() };
    target.device_search = Some(search);
    let text = plain(&facts);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let how = "the only one of 12 block devices that counted 5 of 7 direct reads to the byte";
    let told = format!("Device sda1 was found by probe, because overlay reports no device: {how}");
    assert!(words.contains(&told), "{text}");
    let line = describe::target(&facts, &facts.targets[0]);
    assert!(line.ends_with(&format!("; sda1 found by probe: {how}")), "{line}");
}

#[test]
fn an_array_of_devices() {
    let device = |name: &str, kind, below: &[&str]| DeviceFacts {
        name: name.into(),
        kind,
        size_bytes: 2_000_000_000_000,
        below: below.iter().map(|name| (*name).to_owned()).collect(),
        ..DeviceFacts::default()
    };
    let mut member = device("loop0", DeviceKind::Loop, &[]);
    member.counts_io = Some(Fact::new(false, "queue/iostats"));
    member.loop_backing = Some(LoopBacking {
        file: Fact::new("/srv/image".into(), "loop/backing_file"),
        direct: Some(Fact::new(false, "loop/dio")),
        filesystem: Some("xfs".into()),
        ..LoopBacking::default()
    });
    let mut array = device("md0", DeviceKind::Md, &["loop0", "sdb"]);
    array.queue.chunk_bytes = Some(Fact::new(65536, "queue/chunk_sectors"));
    array.held_by = vec!["/srv".into(), "swap".into()];
    let target = TargetFacts {
        path: "/dev/mapper/data".into(),
        kind: PathKind::Device,
        device: Some(Fact::new("dm-0".into(), "stat")),
        accounting_probe: Some(AccountingProbe {
            outcome: AccountingOutcome::NotMade,
            ..AccountingProbe::default()
        }),
        ..TargetFacts::default()
    };
    let facts = Facts {
        devices: vec![device("dm-0", DeviceKind::Dm, &["md0"]), array, member],
        targets: vec![target],
        ..Facts::default()
    };
    assert_snapshot!(plain(&facts), @r#"
    /dev/mapper/data (block device)
    └─ dm-0 (device mapper, 2 TB)
       └─ md0 (md array, 2 TB)
          │  blocks    chunks of 64 KiB
          │  held by   /srv, swap
          ├─ loop0 (loop device, 2 TB)
          │     quirks    the kernel does not count I/O on it
          │     backing   /srv/image on xfs, through the page cache
          └─ sdb (no facts known)
    Accounting  the accounting probe failed to run
    "#);
}

#[test]
fn memory_and_a_remote_filesystem() {
    let on = |kind: &str, in_memory, remote| TargetFacts {
        path: format!("/mnt/{kind}"),
        kind: PathKind::File,
        filesystem: Some(Filesystem {
            kind: kind.into(),
            source: "server:/export".into(),
            mount_point: format!("/mnt/{kind}"),
            options: "rw".into(),
            size_bytes: 1 << 30,
            available_bytes: 1 << 29,
            block_bytes: 4096,
            in_memory,
            remote,
        }),
        files: vec![FileFacts {
            path: format!("/mnt/{kind}/a"),
            size_bytes: 1 << 20,
            allocated_bytes: 1 << 19,
            extents: Some(Fact::new(
                Extents {
                    count: 1,
                    mapped_bytes: 1 << 19,
                    unwritten_bytes: 4096,
                    encoded_bytes: 4096,
                    ..Extents::default()
                },
                "FIEMAP",
            )),
            direct: DirectIo::Unsupported,
            inode: None,
            synchronous: false,
        }],
        accounting_probe: Some(AccountingProbe {
            outcome: AccountingOutcome::NothingToRead,
            ..AccountingProbe::default()
        }),
        ..TargetFacts::default()
    };
    let facts = Facts {
        targets: vec![on("tmpfs", true, false), on("nfs4", false, true)],
        ..Facts::default()
    };
    assert_snapshot!(plain(&facts), @r#"
    /mnt/tmpfs (file)
    └─ tmpfs (this machine's memory) at /mnt/tmpfs: 512 MiB of 1 GiB free, blocks of 4 KiB; rw
    Direct I/O  no support for direct I/O here, according to the filesystem
    File        /mnt/tmpfs/a: 1 MiB, 512 KiB allocated, 1 extent, 4 KiB never written, 4 KiB stored
                compressed, only 512 KiB mapped, the rest are holes
    Accounting  the read needed no device, so the probe is inconclusive

    /mnt/nfs4 (file)
    └─ nfs4 from server:/export at /mnt/nfs4: 512 MiB of 1 GiB free, blocks of 4 KiB; rw
    Direct I/O  no support for direct I/O here, according to the filesystem
    File        /mnt/nfs4/a: 1 MiB, 512 KiB allocated, 1 extent, 4 KiB never written, 4 KiB stored
                compressed, only 512 KiB mapped, the rest are holes
    Accounting  the read needed no device, so the probe is inconclusive
    "#);
}

#[test]
fn links_on_the_way_and_servers_at_its_end() {
    let device = sample::below::device();
    let on_device = TargetFacts {
        path: "/dev/nvme0n1".into(),
        kind: PathKind::Device,
        device: Some(Fact::new(device.name.clone(), "stat")),
        ..TargetFacts::default()
    };
    let share = Filesystem { kind: "nfs4".into(), remote: true, ..Filesystem::default() };
    let on_share = TargetFacts {
        path: "/mnt/share".into(),
        kind: PathKind::Directory,
        filesystem: Some(share),
        remote: Some(sample::below::remote("NFS")),
        ..TargetFacts::default()
    };
    let facts =
        Facts { targets: vec![on_device, on_share], devices: vec![device], ..Facts::default() };
    assert_snapshot!(plain(&facts), @r#"
    /dev/nvme0n1 (block device)
    └─ nvme0n1 (NVMe)
          driver    uas
          array     raid5, 3 members
          mapping   vg-data, striped, made by LVM
          nvme      over pcie, live, access optimized, paths chosen by numa, 9 queues, 1024 commands in
                    each
          scsi      offline, access active/optimized
          remote    NVMe/tcp to 10.0.0.1 through bond0 (eth1, eth2), 4 connections, 10000 Mb/s, 1.18
                    GB/s at most
          link      PCIe 8.0 GT/s x1, 985 MB/s at most
                    = 8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 1 = 985 MB/s
                    both ends support 8.0 GT/s x4
          path      PCIe 0000:00:1c.0: 8.0 GT/s x4, 3.94 GB/s
                    = 8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 4 = 3940 MB/s
                    └─ PCIe 0000:01:00.0: 8.0 GT/s x1, 985 MB/s, supports 8.0 GT/s x4 ← narrowest
                       = 8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 1 = 985 MB/s

    /mnt/share (directory)
    └─ nfs4 from at : 0 B of 0 B free, blocks of 0 B;
       └─ NFS to 10.0.0.1 through bond0 (eth1, eth2), 4 connections, 10000 Mb/s, 1.18 GB/s at most
          = 10000 Mb/s ÷ 8 × 1448/1538 (TCP, MTU 1500) = 1176 MB/s
    "#);
}

#[test]
fn each_device_is_a_line_of_80_columns() {
    let mut facts = crate::sample::facts();
    facts.targets = ["sda", "sda1"]
        .map(|name| TargetFacts {
            device: Some(Fact::new(name.into(), "the test")),
            ..TargetFacts::default()
        })
        .to_vec();
    let text = list(&facts, &Style { color: false, width: 80, is_screen: true });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.starts_with("device  kind"), "{text}");
    let disk = text.lines().find(|line| line.starts_with("sda ")).expect("the disk");
    for part in ["ATA", "500 GB", "/data", "Example SSD 860", "600 MB/s", "mq-deadline"] {
        assert!(disk.contains(part), "no {part}: {disk}");
    }
    facts.targets[0].accounting_probe = Some(AccountingProbe {
        outcome: AccountingOutcome::CountedBelow,
        ..AccountingProbe::default()
    });
    let text = list(&facts, &Style { color: false, width: 80, is_screen: true });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let counted = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).expect("a line");
        line.contains(" below ") || line.contains(" counted ")
    };
    assert_eq!([counted("device "), counted("sda "), counted("sda1 ")], [true, true, false]);
    let coloured = list(&facts, &Style { color: true, width: 80, is_screen: true });
    assert_eq!(coloured.replace("\x1b[2m", "").replace("\x1b[0m", ""), text);
}
