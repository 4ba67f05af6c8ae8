use proptest::prelude::*;

use super::*;
use crate::fake::Fake;

const ROUTES: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
    eth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0\n\
    eth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n\
    eth1 0000000A 00000000 0001 0 0 0 000000FF 0 0 0\n\
    eth2 0001000A 00000000 0001 0 0 50 00FFFFFF 0 0 0\n\
    eth3 0001000A 00000000 0001 0 0 5 00FFFFFF 0 0 0\n\
    eth4 0002000A 00000000 0000 0 0 0 00FFFFFF 0 0 0\n";

fn interface_to(fake: &Fake, address: &str) -> Option<String> {
    let address = address_of(address).expect("an address");
    route::interface(address, &fake.roots).map(|fact| fact.value)
}

fn nfs(address: &str, tcp: bool) -> Server {
    let address = Fact::new(address.to_owned(), "mountinfo");
    Server { protocol: "NFS".into(), address, interface: None, connections: None, tcp }
}

#[test]
fn the_longest_prefix_then_the_lowest_metric() {
    let fake = Fake::new();
    fake.write("proc/net/route", ROUTES);
    assert_eq!(interface_to(&fake, "192.0.2.7").as_deref(), Some("eth0"));
    assert_eq!(interface_to(&fake, "10.9.9.9").as_deref(), Some("eth1"));
    assert_eq!(interface_to(&fake, "10.0.1.9").as_deref(), Some("eth3"));
    assert_eq!(interface_to(&fake, "10.0.2.9").as_deref(), Some("eth1"), "that route is down");
    assert_eq!(interface_to(&fake, "203.0.113.9").as_deref(), Some("eth0"));
    assert_eq!(interface_to(&fake, "127.0.0.1").as_deref(), Some("lo"));
    assert_eq!(interface_to(&fake, "::ffff:10.0.1.9").as_deref(), Some("eth3"));
    assert_eq!(interface_to(&fake, "2001:db8::1"), None);
}

#[test]
fn version_six_has_a_table_of_its_own() {
    let fake = Fake::new();
    let line = |to: &str, bits: &str, metric: &str, name: &str| {
        let none = "0".repeat(32);
        format!("{to} {bits} {none} 00 {none} {metric} 00000001 00000000 00000001 {name}\n")
    };
    let table = line(&"0".repeat(32), "00", "00000400", "eth0")
        + &line("20010db8000000000000000000000000", "20", "00000100", "eth1")
        + &line("20010db8000000000000000000000001", "80", "00000000", "lo");
    fake.write("proc/net/ipv6_route", &table);
    assert_eq!(interface_to(&fake, "2001:db8::1").as_deref(), Some("eth1"));
    assert_eq!(interface_to(&fake, "2001:db9::1%eth0").as_deref(), Some("eth0"));
}

#[test]
fn ten_gigabits_less_headers() {
    let fake = Fake::new();
    fake.write("proc/net/route", ROUTES);
    fake.write_all("sys/class/net/eth1", &[("speed", "10000\n"), ("mtu", "1500\n")]);
    let found = remote(nfs("10.9.9.9", true), &fake.roots);
    let link = found.link.expect("a speed");
    assert_eq!(link.ceiling_bytes_per_s, 1_176_853_055);
    assert_eq!(link.arithmetic, "10000 Mb/s ÷ 8 × 1448/1538 (TCP, MTU 1500) = 1176 MB/s");
    assert_eq!(link.negotiated.value, "10000 Mb/s");
    fake.write("sys/class/net/eth1/mtu", "9000\n");
    let jumbo = remote(nfs("10.9.9.9", true), &fake.roots).link.expect("a speed");
    assert_eq!(jumbo.ceiling_bytes_per_s / 1_000_000, 1237);
    let rdma = remote(nfs("10.9.9.9", false), &fake.roots).link.expect("a speed");
    assert_eq!(rdma.arithmetic, "10000 Mb/s ÷ 8 = 1250 MB/s");
}

#[test]
fn an_unknown_speed_is_no_claim() {
    for speed in ["-1\n", "0\n", "4294967295\n", "garbage", ""] {
        let fake = Fake::new();
        fake.write("proc/net/route", ROUTES);
        fake.write_all("sys/class/net/eth1", &[("speed", speed), ("mtu", "1500\n")]);
        let found = remote(nfs("10.9.9.9", true), &fake.roots);
        assert_eq!(found.interface.map(|fact| fact.value).as_deref(), Some("eth1"));
        assert_eq!(found.link, None, "{speed:?}");
    }
    let fake = Fake::new();
    assert_eq!(remote(nfs("127.0.0.1", true), &fake.roots).link, None);
    assert_eq!(remote(nfs("server.example", true), &fake.roots).interface, None);
}

#[test]
fn a_bond_names_its_members() {
    let fake = Fake::new();
    fake.write("proc/net/route", &ROUTES.replace("eth1", "bond0"));
    fake.write_all("sys/class/net/bond0", &[("speed", "20000"), ("bonding/slaves", "eth5 eth6\n")]);
    let found = remote(nfs("10.9.9.9", true), &fake.roots);
    assert_eq!(found.members, ["eth5", "eth6"]);
    assert_eq!(found.link.map(|link| link.ceiling_bytes_per_s), Some(2_500_000_000));
}

proptest! {
    #[test]
    fn any_table_is_survived(text in "(?s).{0,200}", mtu in any::<u64>(), wire in any::<u64>()) {
        let fake = Fake::new();
        fake.write("proc/net/route", &text);
        fake.write("proc/net/ipv6_route", &text);
        for address in ["10.0.0.1", "2001:db8::1"] {
            let _ = interface_to(&fake, address);
        }
        let _ = of_payload(wire, mtu.max(IN_PACKET_BYTES + 1));
    }
}
