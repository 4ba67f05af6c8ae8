use candor_record::facts::{Fact, Filesystem, TargetFacts};
use proptest::prelude::*;

use super::*;
use crate::fake::Fake;

fn facts(devices: &[(&str, DeviceKind)]) -> Facts {
    let device = |(name, kind): &(&str, DeviceKind)| DeviceFacts {
        name: (*name).into(),
        kind: *kind,
        ..DeviceFacts::default()
    };
    Facts { devices: devices.iter().map(device).collect(), ..Facts::default() }
}

fn on(kind: &str, point: &str) -> TargetFacts {
    let filesystem =
        Filesystem { kind: kind.into(), mount_point: point.into(), ..Filesystem::default() };
    let interface = Some(Fact::new("eth1".into(), "route"));
    let remote = Remote { interface, ..Remote::default() };
    TargetFacts { filesystem: Some(filesystem), remote: Some(remote), ..TargetFacts::default() }
}

#[test]
fn an_array_that_rebuilds() {
    let fake = Fake::new();
    fake.disk("md0", "9:0", "virtual/block/md0");
    let files = [("array_state", "active\n"), ("degraded", "1\n"), ("sync_action", "recover\n")];
    fake.write_all("sys/devices/virtual/block/md0/md", &files);
    let state = Watch::new(&facts(&[("md0", DeviceKind::Md)]), &fake.roots).read();
    let array = &state.arrays[0];
    assert_eq!((array.degraded, array.action.as_deref()), (Some(1), Some("recover")));
    assert_eq!(array.state.as_deref(), Some("active"));
}

#[test]
fn second_caches_count_what_they_answer() {
    let fake = Fake::new();
    fake.disk("bcache0", "251:0", "virtual/block/bcache0");
    let files = [("cache_hits", "84\n"), ("cache_misses", "16\n")];
    fake.write_all("sys/devices/virtual/block/bcache0/bcache/stats_total", &files);
    let arcstats = "9 1 0x01 147 39984 3 7\nname type data\nhits 4 999\n\
        demand_data_hits 4 70\ndemand_data_misses 4 30\n";
    fake.write("proc/spl/kstat/zfs/arcstats", arcstats);
    let mut facts = facts(&[("bcache0", DeviceKind::Bcache)]);
    let read = |facts: &Facts| {
        let caches = Watch::new(facts, &fake.roots).read().caches;
        caches.into_iter().map(|of| (of.name, of.hits, of.misses)).collect::<Vec<_>>()
    };
    assert_eq!(read(&facts), [("bcache0".to_owned(), 84, 16)]);
    facts.targets = vec![on("zfs", "/tank")];
    assert_eq!(read(&facts)[1], ("ARC".to_owned(), 70, 30));
}

#[test]
fn a_hot_drive_and_one_that_does_not_know() {
    let fake = Fake::new();
    fake.disk("nvme0n1", "259:0", "pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1");
    let controller = "sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0";
    fake.link(&format!("{controller}/nvme0n1/device"), controller);
    let files =
        [("temp1_input", "81850\n"), ("temp1_max", "82850\n"), ("temp1_crit", "65261850\n")];
    fake.write_all(&format!("{controller}/hwmon3"), &files);
    let watch = Watch::new(&facts(&[("nvme0n1", DeviceKind::Nvme)]), &fake.roots);
    let hot = &watch.read().temperatures[0];
    assert_eq!((hot.now_mc, hot.max_mc, hot.critical_mc), (81_850, Some(82_850), None));
    fake.write(&format!("{controller}/hwmon3/temp1_input"), "unknown");
    assert_eq!(watch.read().temperatures, []);
}

#[test]
fn errors_of_a_drive_and_of_its_slot() {
    let fake = Fake::new();
    let slot = "pci0000:00/0000:00:1f.2";
    fake.disk("sda", "8:0", &format!("{slot}/ata3/host2/target2:0:0/2:0:0:0/block/sda"));
    let files = [("iotmo_cnt", "0x2\n"), ("ioerr_cnt", "0x1f\n"), ("iodone_cnt", "0x99\n")];
    fake.write_all(
        &format!("sys/devices/{slot}/ata3/host2/target2:0:0/2:0:0:0/block/sda/device"),
        &files,
    );
    fake.write(
        &format!("sys/devices/{slot}/aer_dev_correctable"),
        "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n",
    );
    fake.write(&format!("sys/devices/{slot}/ata3/link3/dev3.0/ata_device/dev3.0/spdn_cnt"), "1\n");
    let state = Watch::new(&facts(&[("sda", DeviceKind::Ata)]), &fake.roots).read();
    let found: Vec<_> = state.errors.iter().map(|e| (e.what.as_str(), e.count)).collect();
    let expected = [
        ("commands timed out", 2),
        ("commands failed", 31),
        ("times the link was slowed down", 1),
        ("PCIe errors corrected", 3),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_share_and_its_network() {
    let fake = Fake::new();
    let statistics = [("rx_bytes", "1000\n"), ("tx_bytes", "50\n")];
    fake.write_all("sys/class/net/eth1/statistics", &statistics);
    fake.write("proc/net/snmp", "Tcp: A RetransSegs B\nTcp: 1 17 3\nUdp: 5\n");
    let stats = "device proc mounted on /proc with fstype proc\n\
        device s:/a mounted on /mnt/my\\040share with fstype nfs4 statvers=1.1\n\
        \tbytes:\t10 20 300 400 5000 6000 7 8\n\
        device s:/b mounted on /other with fstype nfs4 statvers=1.1\n\
        \tbytes:\t1 1 1 1 1 1 1 1\n";
    fake.write("proc/self/mountstats", stats);
    let facts = Facts { targets: vec![on("nfs4", "/mnt/my share")], ..Facts::default() };
    let state = Watch::new(&facts, &fake.roots).read();
    assert_eq!((state.interfaces[0].received_bytes, state.tcp_retransmits), (1000, Some(17)));
    let [mount] = &state.mounts[..] else { panic!("{:?}", state.mounts) };
    assert_eq!((mount.app_read_bytes, mount.server_read_bytes), (310, 5000));
    assert_eq!((mount.app_written_bytes, mount.server_written_bytes), (420, 6000));
}

#[test]
fn zram_and_lazy_threads() {
    let fake = Fake::new();
    fake.disk("zram7", "252:7", "virtual/block/zram7");
    fake.write("sys/class/block/zram7/mm_stat", "67108864 0 0 0 0 16384 0 0 0\n");
    let mut facts = facts(&[("zram7", DeviceKind::Zram)]);
    let state = Watch::new(&facts, &fake.roots).read();
    assert_eq!(state.zram[0].stored_bytes, 67_108_864);
    let page_bytes = rustix::param::page_size() as u64;
    assert_eq!(state.zram[0].same_filled_bytes, 16_384 * page_bytes);
    assert_eq!(state.ext4_lazy_init, None);
    facts.targets.push(on("ext4", "/mnt"));
    let watch = Watch::new(&facts, &fake.roots);
    assert_eq!(watch.read().ext4_lazy_init, None);
    fake.write("proc/2/task/2/children", "12 4711 \n");
    assert_eq!(watch.read().ext4_lazy_init, Some(false));
    fake.write("proc/4711/comm", "ext4lazyinit\n");
    assert_eq!(watch.read().ext4_lazy_init, Some(true));
}

#[test]
fn names_in_memory_and_inodes_in_use() {
    let fake = Fake::new();
    fake.write("proc/sys/fs/dentry-state", "403041\t400046\t45\t0\t165393\t0\n");
    let mut facts = facts(&[]);
    facts.targets = vec![on("nfs4", "/mnt")];
    let state = Watch::new(&facts, &fake.roots).read();
    assert_eq!((state.dentries, state.inodes), (None, vec![]), "nothing lives here");
    facts.targets = vec![on("ext4", "/"), on("ext4", "/")];
    for target in &mut facts.targets {
        target.device = Some(Fact::new("vda1".into(), "/sys"));
    }
    let state = Watch::new(&facts, &fake.roots).read();
    assert_eq!(state.dentries, Some(403_041));
    let free = rustix::fs::statvfs("/").expect("sizes");
    match free.f_files {
        0 => assert_eq!(state.inodes, [], "btrfs numbers none"),
        _ => assert_eq!(state.inodes[0].mount_point, "/"),
    }
    assert!(state.inodes.len() <= 1, "each filesystem once: {:?}", state.inodes);
}

/// A quota may be set while the phase runs: counters of all groups of this process are read.
#[test]
fn quotas_of_all_groups_count_in_both_versions() {
    let fake = Fake::new();
    let read = || {
        let counted = Watch::new(&Facts::default(), &fake.roots).read().cpu_throttled?;
        Some((counted.periods, counted.throttled, counted.throttled_ns))
    };
    assert_eq!(read(), None, "no groups are known");
    fake.write("proc/self/cgroup", "0::/a/b\n");
    fake.mount("0:30", Path::new("/sys/fs/cgroup"), "cgroup2", "cgroup2", "rw");
    let v2 = "usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 40\n";
    fake.write("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
    fake.write("sys/fs/cgroup/a/cpu.stat", v2);
    fake.write("sys/fs/cgroup/a/b/cpu.stat", v2);
    assert_eq!(read(), Some((14, 6, 80_000)));
    fake.write("proc/self/cgroup", "4:cpu,cpuacct:/x\n0::/\n");
    fake.mount("0:31", Path::new("/sys/fs/cgroup/cpu"), "cgroup", "cgroup", "rw,cpu,cpuacct");
    let v1 = "nr_periods 8\nnr_throttled 4\nthrottled_time 50\n";
    fake.write("sys/fs/cgroup/cpu/x/cpu.stat", v1);
    assert_eq!(read(), Some((8, 4, 50)));
}

#[test]
fn nothing_there_is_nothing_reported() {
    let fake = Fake::new();
    fake.disk("sda", "8:0", "pci0000:00/block/sda");
    let state = Watch::new(&facts(&[("sda", DeviceKind::Scsi)]), &fake.roots).read();
    assert_eq!(state, State::default());
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(?s).{0,200}") {
        let _ = (retransmits(&text), total(&text), hexadecimal(&text));
        let _ = mountstats::read(&format!("device a mounted on /m with fstype nfs\n bytes: {text}"),
            &["/m".to_owned()]);
    }
}
