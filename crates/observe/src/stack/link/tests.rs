use candor_record::facts::Fact;

use super::*;
use crate::fake::Fake;

fn link(fake: &Fake, name: &str) -> Option<Link> {
    narrowest(&way(&Node::open(name, &fake.roots).expect("it was made"), DeviceKind::Scsi))
}

/// Writes the attributes of an end; rates are speed and width, such as `8.0 GT/s PCIe x2`.
fn pcie_end(fake: &Fake, place: &str, current: &str, max: &str) {
    for (name, rate) in [("current", current), ("max", max)] {
        let (speed, width) = rate.split_once(" x").expect("a speed and a width");
        fake.write(&format!("sys/devices/{place}/{name}_link_speed"), speed);
        fake.write(&format!("sys/devices/{place}/{name}_link_width"), width);
    }
}

fn possible(link: &Link) -> Option<&str> {
    link.possible.as_ref().map(|fact: &Fact<String>| fact.value.as_str())
}

#[test]
fn the_narrowest_hop_may_be_an_uplink() {
    let fake = Fake::new();
    let (gen3, gen4) = ("8.0 GT/s PCIe x2", "16.0 GT/s PCIe x4");
    let hops = ["00:1c.0", "00:1c.0/01:00.0", "00:1c.0/01:00.0/02:03.0"];
    pcie_end(&fake, &format!("pci0000:00/{}", hops[0]), gen3, gen4);
    pcie_end(&fake, &format!("pci0000:00/{}", hops[1]), gen3, gen3);
    pcie_end(&fake, &format!("pci0000:00/{}", hops[2]), gen4, gen4);
    let drive = format!("pci0000:00/{}/03:00.0", hops[2]);
    pcie_end(&fake, &drive, gen4, gen4);
    fake.disk("nvme0n1", "259:0", &format!("{drive}/nvme/nvme0/nvme0n1"));
    let link = link(&fake, "nvme0n1").expect("a slot");
    assert_eq!(link.ceiling_bytes_per_s, 1_970_000_000);
    assert!(link.negotiated.from.contains("01:00.0/current_link"), "{}", link.negotiated.from);
    // The switch can do no more, so the wider port above it does not count.
    assert_eq!(possible(&link), Some("8.0 GT/s x2"));
    assert_eq!(link.arithmetic, "8.0 GT/s × 128/130 ÷ 8 = 985 MB/s per lane, × 2 = 1970 MB/s");
}

#[test]
fn one_end_alone_tells_nothing_possible() {
    let fake = Fake::new();
    let place = "pci0000:00/0000:00:04.0";
    pcie_end(&fake, place, "16.0 GT/s PCIe x4", "32.0 GT/s PCIe x4");
    fake.disk("nvme0n1", "259:0", &format!("{place}/nvme/nvme0/nvme0n1"));
    let link = link(&fake, "nvme0n1").expect("a slot");
    assert_eq!((link.ceiling_bytes_per_s, possible(&link)), (7_876_000_000, None));
}

#[test]
fn unknown_speeds_are_no_link() {
    for rate in ["Unknown x4", "Unknown speed x0", "8.0 GT/s PCIe x255"] {
        let fake = Fake::new();
        pcie_end(&fake, "pci0000:00/0000:00:04.0", rate, rate);
        fake.disk("sda", "8:0", "pci0000:00/0000:00:04.0/ata1/host0/block/sda");
        let port = "sys/devices/pci0000:00/0000:00:04.0/ata1/link1/ata_link/link1";
        fake.write(&format!("{port}/sata_spd"), "<unknown>\n");
        assert_eq!(link(&fake, "sda"), None, "{rate}");
    }
}

#[test]
fn a_slow_slot_behind_a_fast_cable() {
    let fake = Fake::new();
    let slot = "pci0000:00/0000:00:04.0";
    pcie_end(&fake, slot, "5.0 GT/s PCIe x1", "5.0 GT/s PCIe x1");
    fake.disk("sda", "8:0", &format!("{slot}/ata3/host2/target2:0:0/2:0:0:0/block/sda"));
    let port = format!("sys/devices/{slot}/ata3/link3/ata_link/link3");
    fake.write_all(&port, &[("sata_spd", "6.0 Gbps\n"), ("hw_sata_spd_limit", "6.0 Gbps\n")]);
    let found = link(&fake, "sda").expect("two of them");
    assert_eq!((found.kind.as_str(), found.ceiling_bytes_per_s), ("PCIe", 500_000_000));
    fake.write(&format!("{port}/sata_spd"), "1.5 Gbps\n");
    let found = link(&fake, "sda").expect("two of them");
    assert_eq!((found.kind.as_str(), found.ceiling_bytes_per_s), ("SATA", 150_000_000));
    assert_eq!(possible(&found), Some("6.0 Gbps"));
}

#[test]
fn a_port_multiplier_has_a_link_per_drive() {
    let fake = Fake::new();
    let port = "pci0000:00/0000:00:1f.2/ata2";
    fake.disk("sdb", "8:16", &format!("{port}/host1/target1:3:0/1:3:0:0/block/sdb"));
    fake.write(&format!("sys/devices/{port}/link2/ata_link/link2/sata_spd"), "3.0 Gbps");
    fake.write(&format!("sys/devices/{port}/link2.3/ata_link/link2.3/sata_spd"), "1.5 Gbps");
    let found = link(&fake, "sdb").expect("its own");
    assert_eq!(found.ceiling_bytes_per_s, 150_000_000);
}

#[test]
fn a_usb_drive_behind_a_slow_hub() {
    let fake = Fake::new();
    let hub = "pci0000:00/0000:00:14.0/usb2/2-1";
    let drive = format!("{hub}/2-1.4");
    fake.write_all(
        "sys/devices/pci0000:00/0000:00:14.0/usb2",
        &[("busnum", "2"), ("speed", "10000")],
    );
    fake.write_all(&format!("sys/devices/{hub}"), &[("busnum", "2"), ("speed", "480\n")]);
    fake.write_all(&format!("sys/devices/{drive}"), &[("busnum", "2"), ("speed", "5000\n")]);
    fake.disk("sdc", "8:32", &format!("{drive}/2-1.4:1.0/host3/target3:0:0/3:0:0:0/block/sdc"));
    let found = link(&fake, "sdc").expect("a cable");
    assert_eq!((found.kind.as_str(), found.ceiling_bytes_per_s), ("USB", 40_000_000));
    assert_eq!(found.negotiated.value, "480 Mb/s");
    assert_eq!(found.arithmetic, "480 Mb/s carry about 40 MB/s in practice");
}

#[test]
fn a_sas_drive_behind_a_wide_port() {
    let fake = Fake::new();
    let wide = "pci0000:00/0000:03:00.0/host0/port-0:0";
    let phy = |port: &str, phy: &str, rate: &str| {
        let files = [("negotiated_linkrate", rate), ("maximum_linkrate", "12.0 Gbit\n")];
        fake.write_all(&format!("sys/devices/{port}/{phy}/sas_phy/{phy}"), &files);
    };
    for (name, rate) in
        [("phy-0:0", "12.0 Gbit\n"), ("phy-0:1", "12.0 Gbit\n"), ("phy-0:2", "Link Rate failed\n")]
    {
        phy(wide, name, rate);
    }
    let port = format!("{wide}/expander-0:0/port-0:0:5");
    phy(&port, "phy-0:0:5", "3.0 Gbit\n");
    let place = format!("{port}/end_device-0:0:5/target0:0:5/0:0:5:0/block/sdd");
    fake.disk("sdd", "8:48", &place);
    let found = link(&fake, "sdd").expect("lines");
    assert_eq!((found.kind.as_str(), found.ceiling_bytes_per_s), ("SAS", 300_000_000));
    assert_eq!(
        (found.negotiated.value.as_str(), possible(&found)),
        ("3.0 Gbit", Some("12.0 Gbit"))
    );
    assert_eq!(found.arithmetic, "3.0 Gb/s × 8/10 ÷ 8 = 300 MB/s");
    fake.disk("sde", "8:64", &format!("{wide}/end_device-0:0/target0:0:0/0:0:0:0/block/sde"));
    let found = link(&fake, "sde").expect("two lines are up");
    assert_eq!(found.arithmetic, "2 lines × 12.0 Gb/s × 8/10 ÷ 8 = 2400 MB/s");
    assert_eq!(found.negotiated.value, "2 lines × 12.0 Gbit");
}

#[test]
fn rates_that_no_standard_knows() {
    assert!(line(9.9).is_none() && line(f64::MAX).is_none() && line(0.0).is_none());
}
