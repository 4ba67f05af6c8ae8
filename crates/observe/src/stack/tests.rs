//! Trees as kernels 6.1 and 6.18 show them.

use super::*;
use crate::fake::Fake;

fn collect_one(fake: &Fake, top: &str) -> (Vec<DeviceFacts>, Vec<String>) {
    let mut missing_facts = MissingFacts::default();
    let devices = collect(&[top.to_owned()], &fake.roots, &mut missing_facts);
    (devices, missing_facts.into_list().into_iter().map(|missing| missing.what).collect())
}

fn value<T: Clone>(fact: &Option<Fact<T>>) -> Option<T> {
    fact.as_ref().map(|fact| fact.value.clone())
}

/// An NVMe drive with two queues in a slot that could do more.
fn nvme(fake: &Fake) {
    let port = "sys/devices/pci0000:00/0000:00:1c.0";
    let slot = format!("{port}/0000:01:00.0");
    let ends = [(port, "8.0 GT/s PCIe", "4"), (slot.as_str(), "8.0 GT/s PCIe", "4")];
    for (end, speed, width) in ends {
        fake.write_all(
            end,
            &[
                ("current_link_speed", "2.5 GT/s PCIe\n"),
                ("current_link_width", "1\n"),
                ("max_link_speed", speed),
                ("max_link_width", width),
                ("numa_node", if end == port { "0\n" } else { "1\n" }),
            ],
        );
    }
    fake.disk("nvme0n1", "259:0", "pci0000:00/0000:00:1c.0/0000:01:00.0/nvme/nvme0/nvme0n1");
    let disk = "sys/class/block/nvme0n1";
    fake.write_all(
        disk,
        &[
            ("queue/physical_block_size", "512\n"),
            ("queue/optimal_io_size", "0\n"),
            ("queue/max_sectors_kb", "512\n"),
            ("queue/max_hw_sectors_kb", "512\n"),
            ("queue/max_segments", "127\n"),
            ("queue/chunk_sectors", "0\n"),
            ("queue/nr_requests", "1023\n"),
            ("queue/scheduler", "[none] mq-deadline\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/fua", "1\n"),
            ("queue/rotational", "0\n"),
            ("queue/io_poll", "0\n"),
            ("queue/iostats", "1\n"),
            ("queue/zoned", "none\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("mq/0/nr_tags", "1023\n"),
            ("mq/1/nr_tags", "1023\n"),
            ("alignment_offset", "0\n"),
            ("device/transport", "pcie\n"),
            ("device/model", "Acme Fast 1T            \n"),
        ],
    );
    fake.link(&format!("{disk}/device/subsystem"), "sys/class/nvme");
}

#[test]
fn nvme_in_a_slot() {
    let fake = Fake::new();
    nvme(&fake);
    let (devices, missing) = collect_one(&fake, "nvme0n1");
    assert_eq!(missing, Vec::<String>::new());
    let drive = &devices[0];
    assert_eq!((drive.kind, drive.number.as_str()), (DeviceKind::Nvme, "259:0"));
    assert_eq!(drive.size_bytes, 1 << 30);
    assert_eq!(value(&drive.model).as_deref(), Some("Acme Fast 1T"));
    assert_eq!(value(&drive.bio_based), Some(false));
    assert_eq!(value(&drive.counts_io), Some(true));
    assert_eq!(value(&drive.numa_node), Some(1));
    let queue = &drive.queue;
    assert_eq!(value(&queue.max_request_bytes), Some(512 << 10));
    assert_eq!((value(&queue.optimal_io_bytes), value(&queue.chunk_bytes)), (None, None));
    assert_eq!((value(&queue.device_depth), value(&queue.nr_requests)), (Some(2046), Some(1023)));
    assert_eq!(value(&queue.scheduler).as_deref(), Some("none"));
    assert_eq!((value(&queue.fua), value(&queue.rotational)), (Some(true), Some(false)));
    let from = &queue.scheduler.as_ref().expect("it is there").from;
    assert!(from.ends_with("sys/class/block/nvme0n1/queue/scheduler"), "{from}");
    let link = drive.link.as_ref().expect("a slot");
    assert_eq!((link.kind.as_str(), link.ceiling_bytes_per_s), ("PCIe", 250_000_000));
    assert_eq!(link.negotiated.value, "2.5 GT/s x1");
    assert_eq!(value(&link.possible).as_deref(), Some("8.0 GT/s x4"));
    assert_eq!(link.arithmetic, "2.5 GT/s × 8/10 ÷ 8 = 250 MB/s per lane, × 1 = 250 MB/s");
}

#[test]
fn nvme_with_hidden_paths() {
    let fake = Fake::new();
    fake.disk("nvme1n1", "259:1", "virtual/nvme-subsystem/nvme-subsys1/nvme1n1");
    std::fs::create_dir_all(fake.roots.block("nvme1n1").join("mq")).expect("an empty directory");
    let head = "sys/class/block/nvme1n1";
    fake.link(&format!("{head}/device/subsystem"), "sys/class/nvme-subsystem");
    for (path, controller) in [("nvme1c2n1", "nvme2"), ("nvme1c3n1", "nvme3")] {
        let place = format!("sys/devices/virtual/nvme-fabrics/ctl/{controller}/{path}");
        let tcp = [("size", "2097152"), ("queue/iostats", "1"), ("device/transport", "tcp")];
        fake.write_all(&place, &tcp);
        fake.link(&format!("sys/class/block/{path}"), &place);
    }
    fake.disk("nvme11n1", "259:9", "virtual/nvme-subsystem/nvme-subsys11/nvme11n1");
    let (devices, missing) = collect_one(&fake, "nvme1n1");
    assert_eq!(devices[0].below, ["nvme1c2n1", "nvme1c3n1"]);
    assert_eq!(devices[0].kind, DeviceKind::NvmeFabric);
    assert_eq!(value(&devices[0].bio_based), Some(true));
    assert_eq!((devices.len(), devices[1].number.as_str()), (3, ""));
    assert_eq!(missing, ["link of nvme1c2n1", "link of nvme1c3n1"]);
}

/// A drive on the first port of an AHCI controller, with a partition.
fn sata(fake: &Fake, name: &str, number: &str, ata: u32) {
    let port = format!("pci0000:00/0000:00:1f.2/ata{ata}");
    let place = format!("{port}/host0/target0:0:0/0:0:0:0/block/{name}");
    fake.disk(name, number, &place);
    let link = format!("sys/devices/{port}/link{ata}/ata_link/link{ata}");
    let speeds = [("sata_spd", "3.0 Gbps\n"), ("hw_sata_spd_limit", "<unknown>\n")];
    fake.write_all(&link, &speeds);
    fake.link(&format!("sys/class/block/{name}/device/subsystem"), "sys/bus/scsi");
    fake.write_all(
        &format!("sys/class/block/{name}"),
        &[
            ("device/queue_depth", "32\n"),
            ("device/model", "QEMU HARDDISK\n"),
            ("queue/max_sectors_kb", "128\n"),
            ("queue/scheduler", "none [mq-deadline]\n"),
            ("queue/nr_requests", "64\n"),
            ("mq/0/nr_tags", "32\n"),
            ("queue/rotational", "1\n"),
            ("queue/physical_block_size", "4096\n"),
        ],
    );
    fake.partition(name, &format!("{name}1"), &format!("{number}1"), 2048);
}

#[test]
fn a_partition_of_a_sata_drive() {
    let fake = Fake::new();
    sata(&fake, "sda", "8:0", 1);
    fake.write("sys/class/block/sda1/alignment_offset", "3584\n");
    let (devices, missing) = collect_one(&fake, "sda1");
    assert_eq!(missing, Vec::<String>::new());
    let (part, disk) = (&devices[0], &devices[1]);
    assert_eq!((part.kind, disk.kind), (DeviceKind::Partition, DeviceKind::Ata));
    assert_eq!(part.below, ["sda"]);
    assert_eq!(value(&part.partition_start_bytes), Some(1 << 20));
    assert_eq!((part.size_bytes, value(&part.bio_based)), (512 << 20, None));
    // A partition is served by the queue of its disk, and the facts say so.
    let physical = part.queue.physical_block_bytes.as_ref().expect("the disk's");
    assert_eq!(physical.value, 4096);
    assert!(physical.from.contains("/sda/queue/"), "{}", physical.from);
    assert_eq!(value(&part.queue.alignment_offset_bytes), Some(3584));
    assert_eq!(part.link, None);
    assert_eq!(value(&disk.queue.device_depth), Some(32));
    assert_eq!(value(&disk.queue.scheduler).as_deref(), Some("mq-deadline"));
    let link = disk.link.as_ref().expect("a cable");
    assert_eq!((link.kind.as_str(), link.ceiling_bytes_per_s), ("SATA", 300_000_000));
    assert_eq!(link.arithmetic, "3.0 Gb/s × 8/10 ÷ 8 = 300 MB/s");
    assert_eq!(link.possible, None);
}

#[test]
fn raid0_and_a_volume_on_it() {
    let fake = Fake::new();
    sata(&fake, "sda", "8:0", 1);
    sata(&fake, "sdb", "8:16", 2);
    fake.disk("md0", "9:0", "virtual/block/md0");
    let md = "sys/class/block/md0";
    fake.write_all(
        md,
        &[
            ("md/chunk_size", "65536\n"),
            ("md/level", "raid0\n"),
            ("slaves/sda1/x", ""),
            ("slaves/sdb/x", ""),
            ("queue/nr_requests", "128\n"),
            ("queue/scheduler", "none\n"),
            ("queue/max_sectors_kb", "64\n"),
        ],
    );
    fake.disk("dm-0", "253:0", "virtual/block/dm-0");
    fake.write_all("sys/class/block/dm-0", &[("dm/uuid", "LVM-x\n"), ("slaves/md0/x", "")]);
    let (devices, _) = collect_one(&fake, "dm-0");
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "md0", "sda1", "sdb", "sda"]);
    let facts = candor_record::Facts { devices, ..Default::default() };
    let leaves: Vec<&str> = facts.leaves("dm-0").iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(leaves, ["sda", "sdb"]);
    let array = facts.device("md0").expect("collected");
    assert_eq!((array.kind, facts.devices[0].kind), (DeviceKind::Md, DeviceKind::Dm));
    assert_eq!(value(&array.queue.chunk_bytes), Some(65_536));
    // What 6.1 shows for a device without a queue means nothing.
    assert_eq!(value(&array.bio_based), Some(true));
    assert_eq!((value(&array.queue.nr_requests), value(&array.queue.scheduler)), (None, None));
    assert_eq!(value(&array.queue.max_request_bytes), Some(64 << 10));
}

/// A loop device on an image that lies on a disk.
fn loop_on_disk(dio: &str) -> (Fake, PathBuf) {
    let fake = Fake::new();
    sata(&fake, "sda", "8:0", 1);
    let image = fake.data_on("sda").join("my image");
    std::fs::write(&image, "x").expect("written");
    fake.mount("8:0", &fake.path("data"), "ext4", "/dev/sda", "rw");
    fake.disk("loop7", "7:7", "virtual/block/loop7");
    let backing = format!("{}\n", image.display());
    let files = [
        ("loop/backing_file", backing.as_str()),
        ("loop/dio", dio),
        ("loop/offset", "1536\n"),
        ("mq/0/x", ""),
    ];
    fake.write_all("sys/class/block/loop7", &files);
    (fake, image)
}

#[test]
fn a_loop_on_a_filesystem() {
    for (dio, direct) in [("0\n", false), ("1\n", true)] {
        let (fake, image) = loop_on_disk(dio);
        let (devices, missing) = collect_one(&fake, "loop7");
        assert_eq!(missing, Vec::<String>::new());
        assert_eq!((devices[0].kind, devices[0].below[0].as_str()), (DeviceKind::Loop, "sda"));
        let backing = devices[0].loop_backing.as_ref().expect("an image");
        assert_eq!(backing.file.value, image.display().to_string());
        assert_eq!(value(&backing.direct), Some(direct));
        assert_eq!(backing.filesystem.as_deref(), Some("ext4"));
        assert_eq!(value(&backing.offset_bytes), Some(1536));
        assert_eq!(backing.stored.as_ref().map(|file| file.size_bytes), Some(1));
    }
}

#[test]
fn a_loop_whose_image_is_gone() {
    let (fake, image) = loop_on_disk("0\n");
    std::fs::remove_file(&image).expect("removed");
    let text = format!("{} (deleted)\n", image.display());
    fake.write("sys/class/block/loop7/loop/backing_file", &text);
    let (devices, missing) = collect_one(&fake, "loop7");
    assert!(devices[0].below.is_empty());
    assert_eq!(missing, ["device below loop7"]);
}

#[test]
fn compressed_memory() {
    let fake = Fake::new();
    fake.disk("zram0", "253:0", "virtual/block/zram0");
    let files = [("queue/logical_block_size", "4096\n"), ("queue/iostats", "0\n")];
    fake.write_all("sys/class/block/zram0", &files);
    let (devices, missing) = collect_one(&fake, "zram0");
    assert_eq!((devices[0].kind, value(&devices[0].bio_based)), (DeviceKind::Zram, Some(true)));
    assert_eq!(value(&devices[0].queue.logical_block_bytes), Some(4096));
    // It counts whatever this attribute says.
    assert_eq!((value(&devices[0].counts_io), missing), (None, vec![]));
}

#[test]
fn a_null_blk_that_the_user_named() {
    let fake = Fake::new();
    fake.disk("fast", "251:0", "virtual/block/fast");
    fake.write(
        "proc/devices",
        "Character devices:\n251 tty\n\nBlock devices:\n  7 loop\n251 nullb\n",
    );
    assert_eq!(collect_one(&fake, "fast").0[0].kind, DeviceKind::NullBlk);
    fake.disk("other", "252:0", "virtual/block/other");
    assert_eq!(collect_one(&fake, "other").0[0].kind, DeviceKind::Other);
}

#[test]
fn accounting_switched_off() {
    let fake = Fake::new();
    nvme(&fake);
    fake.write("sys/class/block/nvme0n1/queue/iostats", "0\n");
    let (devices, missing) = collect_one(&fake, "nvme0n1");
    assert_eq!(value(&devices[0].counts_io), Some(false));
    assert_eq!(missing, ["I/O counters of nvme0n1"]);
}

#[test]
fn a_virtual_disk_has_no_link() {
    let fake = Fake::new();
    let slot = "pci0000:00/0000:00:02.0/0000:01:00.0";
    let claims = [("current_link_speed", "2.5 GT/s PCIe"), ("current_link_width", "1")];
    fake.write_all(&format!("sys/devices/{slot}"), &claims);
    fake.disk("vda", "254:0", &format!("{slot}/virtio1/block/vda"));
    let (devices, missing) = collect_one(&fake, "vda");
    assert_eq!((devices[0].kind, &devices[0].link), (DeviceKind::Virtio, &None));
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn circles_are_cut() {
    let fake = Fake::new();
    for (name, number, below) in [("dm-0", "253:0", "dm-1"), ("dm-1", "253:1", "dm-0")] {
        fake.disk(name, number, &format!("virtual/block/{name}"));
        fake.write(&format!("sys/class/block/{name}/slaves/{below}/x"), "");
    }
    fake.write("sys/class/block/dm-0/slaves/dm-0/x", "");
    let (devices, _) = collect_one(&fake, "dm-0");
    let facts = candor_record::Facts { devices, ..Default::default() };
    assert_eq!(facts.devices.len(), 2);
    assert_eq!(facts.leaves("dm-0").len(), 1);
}

#[test]
fn garbage_is_absent() {
    let fake = Fake::new();
    sata(&fake, "sda", "8:0", 1);
    let files = ["size", "queue/scheduler", "queue/max_sectors_kb", "queue/iostats", "dev"];
    for file in files {
        fake.write(&format!("sys/class/block/sda/{file}"), "\u{0}garbage [\n18446744073709551616");
    }
    let (devices, _) = collect_one(&fake, "sda");
    assert_eq!((devices[0].size_bytes, value(&devices[0].counts_io)), (0, None));
    assert_eq!(value(&devices[0].queue.max_request_bytes), None);
    let (none, missing) = collect_one(&fake, "gone");
    assert!(none.is_empty());
    assert_eq!(missing, ["device gone"]);
}

#[test]
fn every_link_on_the_way_from_the_host_down() {
    let fake = Fake::new();
    nvme(&fake);
    let (devices, _) = collect_one(&fake, "nvme0n1");
    let drive = &devices[0];
    let [slot] = &drive.way[..] else { panic!("{:?}", drive.way) };
    assert_eq!((slot.at.as_str(), slot.kind.as_str()), ("0000:01:00.0", "PCIe"));
    assert_eq!(slot.possible_bytes_per_s, Some(3_940_000_000));
    assert_eq!(slot.ceiling_bytes_per_s, 250_000_000);
    assert!(slot.is_reduced() && slot.lower_could.is_some() && slot.upper_could.is_some());
    assert_eq!(drive.link.as_ref(), Some(slot));
}

#[test]
fn nvme_over_tcp_leads_to_an_interface() {
    let fake = Fake::new();
    fake.disk("nvme1c1n1", "259:7", "virtual/nvme-fabrics/ctl/nvme1/nvme1c1n1");
    let address = "traddr=10.0.0.9,trsvcid=4420,src_addr=10.0.0.1,host_iface=eth2\n";
    let files = [
        ("device/transport", "tcp\n"),
        ("device/address", address),
        ("device/queue_count", "3\n"),
        ("device/sqsize", "127\n"),
        ("device/state", "live\n"),
        ("ana_state", "optimized\n"),
    ];
    fake.write_all("sys/class/block/nvme1c1n1", &files);
    fake.link("sys/class/block/nvme1c1n1/device/subsystem", "sys/class/nvme");
    fake.write_all("sys/class/net/eth2", &[("speed", "25000\n"), ("mtu", "9000\n")]);
    let (devices, _) = collect_one(&fake, "nvme1c1n1");
    let path = &devices[0];
    let remote = path.remote.as_ref().expect("a server");
    assert_eq!((remote.protocol.as_str(), remote.connections), ("NVMe/tcp", Some(2)));
    assert_eq!(path.link.as_ref().map(|link| link.ceiling_bytes_per_s / 1_000_000), Some(3093));
    let nvme = path.nvme.as_ref().expect("a path");
    assert_eq!(value(&nvme.queue_entries), Some(128));
    assert_eq!(value(&nvme.ana_state).as_deref(), Some("optimized"));
    // As in the evidence book: over the loopback, whose speed nobody knows.
    let address = "traddr=127.0.0.1,trsvcid=4420,src_addr=127.0.0.1\n";
    fake.write("sys/class/block/nvme1c1n1/device/address", address);
    let (devices, _) = collect_one(&fake, "nvme1c1n1");
    let remote = devices[0].remote.as_ref().expect("a server");
    assert_eq!((value(&remote.interface).as_deref(), &remote.link), (Some("lo"), &None));
    assert_eq!(devices[0].link, None);
}

#[test]
fn iscsi_leads_to_an_interface() {
    let fake = Fake::new();
    fake.disk("sdi", "8:128", "platform/host4/session1/target4:0:0/4:0:0:0/block/sdi");
    fake.link("sys/class/block/sdi/device/subsystem", "sys/bus/scsi");
    fake.write_all("sys/class/iscsi_connection/connection1:0", &[("address", "10.0.0.7\n")]);
    fake.write_all("sys/class/iscsi_host/host4", &[("netdev", "<NULL>\n")]);
    fake.write("proc/net/route", "eth7 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\n");
    fake.write_all("sys/class/net/eth7", &[("speed", "1000\n"), ("mtu", "1500\n")]);
    let (devices, _) = collect_one(&fake, "sdi");
    let remote = devices[0].remote.as_ref().expect("a server");
    assert_eq!((remote.protocol.as_str(), remote.connections), ("iSCSI", Some(1)));
    assert_eq!(value(&remote.interface).as_deref(), Some("eth7"));
    assert_eq!(devices[0].link.as_ref().map(|l| l.ceiling_bytes_per_s / 1_000_000), Some(117));
}

#[test]
fn a_bcache_leads_to_both_tiers() {
    let fake = Fake::new();
    fake.disk("sdb", "8:16", "pci0000:00/block/sdb");
    fake.disk("nvme0n1", "259:0", "pci0000:00/nvme/nvme0/nvme0n1");
    fake.disk("bcache0", "251:0", "virtual/block/bcache0");
    let bcache = "sys/devices/virtual/block/bcache0";
    fake.link(&format!("{bcache}/slaves/nvme0n1"), "sys/class/block/nvme0n1");
    fake.link(&format!("{bcache}/slaves/sdb"), "sys/class/block/sdb");
    fake.write("sys/devices/pci0000:00/nvme/nvme0/nvme0n1/bcache/state", "");
    let cache = "sys/devices/pci0000:00/nvme/nvme0/nvme0n1/bcache";
    fake.link(&format!("{bcache}/bcache/cache/cache0"), cache);
    let (devices, _) = collect_one(&fake, "bcache0");
    assert_eq!(
        (devices[0].kind, &devices[0].below[..]),
        (DeviceKind::Bcache, &["sdb".to_owned(), "nvme0n1".to_owned()][..])
    );
    assert_eq!(devices.len(), 3);
}

#[test]
fn arrays_and_volumes_say_what_they_are() {
    let fake = Fake::new();
    fake.disk("dm-0", "252:0", "virtual/block/dm-0");
    fake.disk("md0", "9:0", "virtual/block/md0");
    fake.link("sys/devices/virtual/block/dm-0/slaves/md0", "sys/class/block/md0");
    fake.write_all("sys/class/block/dm-0/dm", &[("name", "vg-data\n"), ("uuid", "LVM-abcDEF\n")]);
    fake.write_all("sys/class/block/md0/md", &[("level", "raid0\n"), ("raid_disks", "2\n")]);
    let (devices, _) = collect_one(&fake, "dm-0");
    let mapping = devices[0].mapping.as_ref().expect("a mapping");
    assert_eq!(value(&mapping.name).as_deref(), Some("vg-data"));
    assert_eq!(value(&mapping.maker).as_deref(), Some("LVM"));
    let array = devices[1].array.as_ref().expect("an array");
    assert_eq!((value(&array.level).as_deref(), value(&array.members)), (Some("raid0"), Some(2)));
}

#[test]
fn a_mapped_cache_leads_to_the_slow_tier_first() {
    let fake = Fake::new();
    fake.disk("dm-0", "252:0", "virtual/block/dm-0");
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")] {
        fake.disk(name, number, &format!("pci0000:00/block/{name}"));
        fake.write(&format!("sys/devices/virtual/block/dm-0/slaves/{name}/x"), "");
    }
    let node = Node::open("dm-0", &fake.roots).expect("it is there");
    assert_eq!(mapped(&node, None, &fake.roots), ["sda", "sdb", "sdc"]);
    let tiers = ["8:32", "8:0"].map(str::to_owned).to_vec();
    let table = Table { kinds: vec!["cache".into()], tiers };
    assert_eq!(mapped(&node, Some(&table), &fake.roots), ["sdc", "sda", "sdb"]);
    let found = mapping(&node, Some(&table), &fake.roots);
    assert_eq!((found.is("cache"), found.is("linear")), (Some(true), Some(false)));
    // Who is not root is not told.
    let (devices, _) = collect_one(&fake, "dm-0");
    let mapping = devices[0].mapping.as_ref().expect("a mapping");
    assert_eq!((mapping.targets.as_ref(), mapping.is("cache")), (None, None));
}

#[test]
fn paths_of_one_scsi_disk_say_how_they_are() {
    let fake = Fake::new();
    sata(&fake, "sda", "8:0", 1);
    fake.disk("sdb", "8:16", "pci0000:00/host4/target4:0:0/4:0:0:0/block/sdb");
    fake.link("sys/class/block/sdb/device/subsystem", "sys/bus/scsi");
    let files = [("device/state", "running\n"), ("device/access_state", "standby\n")];
    fake.write_all("sys/class/block/sdb", &files);
    let (devices, _) = collect_one(&fake, "sdb");
    let scsi = devices[0].scsi.as_ref().expect("a path");
    assert_eq!(value(&scsi.state).as_deref(), Some("running"));
    assert_eq!(value(&scsi.access).as_deref(), Some("standby"));
    assert_eq!(collect_one(&fake, "sda").0[0].scsi, None);
}
