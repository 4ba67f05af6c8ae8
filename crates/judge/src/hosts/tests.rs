use candor_plan::blocks::Engine;
use candor_record::{Doubled, Limit, Severity, Verdict};

use crate::judge;
use crate::testcase::{MIB, TestCase, Workload, together};

fn honest() -> TestCase {
    TestCase::direct_write()
}

fn cold() -> TestCase {
    Workload { engine: Engine::Psync, direct: false, ..Workload::default() }.case()
}

#[test]
fn honest_hosts_are_as_believable_as_each_of_them() {
    let one = TestCase::direct(4096, 32, 1, 60_000.0);
    let mut one_judged = one.judge();
    let judged = together(&[one.clone(), one.clone(), one]).judge();
    assert_eq!((judged.verdict, judged.hosts.len()), (one_judged.verdict, 3), "{judged:#?}");
    let names: Vec<&str> = judged.hosts.iter().map(|of| of.host.as_str()).collect();
    assert_eq!(names, ["node-a", "node-b", "node-c"]);
    assert!(judged.headline.contains("180k reads/s of 4 KiB"), "{}", judged.headline);
    assert!(judged.headline.contains("on 3 hosts"), "{}", judged.headline);
    let (Some(Limit::Device { depth, .. }), Some(Limit::Device { depth: of_one, .. })) =
        (judged.limited_by, one_judged.limited_by.take())
    else {
        panic!("the device")
    };
    assert_eq!(depth, 3.0 * of_one);
}

#[test]
fn a_finding_that_hosts_share_is_told_once_with_their_names() {
    let slow = || TestCase::direct(4096, 32, 1, 60_000.0);
    let mut odd = slow();
    odd.plan.phases[0].jobs[0].name.clone_from(&slow().plan.phases[0].jobs[0].name);
    odd.measured().per_worker[0].run_wait_ns = Some(3_000_000_000);
    let alone = odd.judge().finding("B8").expect("one host starves").sentence.clone();
    let judged = together(&[slow(), odd.clone()]).judge();
    let starved = judged.finding("B8").expect("still");
    assert_eq!(starved.sentence, format!("On node-b: {alone}"));
    let judged = together(&[odd.clone(), odd]).judge();
    let all: Vec<_> = judged.findings.iter().filter(|finding| finding.rule == "B8").collect();
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].sentence, format!("On both hosts: {alone}"));
}

#[test]
fn the_verdict_is_no_better_than_that_of_the_worst_host() {
    let judged = together(&[cold(), TestCase::buffered_read(), cold()]).judge();
    assert_eq!(judged.verdict, Verdict::Wrong);
    let verdicts: Vec<Verdict> = judged.hosts.iter().map(|of| of.verdict).collect();
    assert_eq!(verdicts, [Verdict::Ok, Verdict::Wrong, Verdict::Ok]);
    let a21 = judged.finding("A21").expect("the cause");
    assert_eq!(a21.severity, Severity::Wrong);
    let followed = |rule: &str| a21.consequences.iter().any(|of| of.rule == rule);
    assert!(followed("A1") && followed("B20"), "{a21:#?}");
    assert_eq!(judged.finding("A1"), None, "it is told once");
    assert_eq!(judged.limited_by, None, "hosts with unlike limits have none together");
}

#[test]
fn a_slow_host_has_what_was_found_on_it_as_its_reason() {
    let fast = || TestCase::direct(4096, 32, 1, 60_000.0);
    let mut slow = TestCase::direct(4096, 32, 1, 20_000.0);
    slow.measured().per_worker[0].run_wait_ns = Some(7_000_000_000);
    let judged = together(&[fast(), fast(), slow]).judge();
    let b20 = judged.finding("B20").expect("it is slow");
    let reason = b20.consequences.iter().find(|of| of.rule == "B8").expect("why");
    assert!(reason.is_reason && reason.sentence.starts_with("On node-c: "), "{reason:?}");
    assert_eq!(judged.finding("B8"), None);
}

#[test]
fn a_slow_link_explains_its_slow_host() {
    let on = |mbit, mib| TestCase::direct(MIB, 8, 1, mib).on_nfs(mbit);
    let judged = together(&[on(10_000, 700.0), on(1000, 110.0), on(10_000, 700.0)]).judge();
    let d11 = judged.finding("D11").expect("its link");
    assert!(d11.consequences.iter().any(|of| of.rule == "B20"), "{d11:#?}");
    assert_eq!(judged.finding("B20"), None);
}

#[test]
fn agents_of_one_kernel_count_its_devices_once() {
    let one = || TestCase::direct(4096, 16, 1, 20_000.0);
    let mut case = together(&[one(), one()]);
    case.member(1).kernel_of = 0;
    // Both agents see the requests of both, and are charged for their own.
    for host in &mut case.record.hosts {
        let disk = &mut host.after.devices[0].1;
        disk.reads *= 2;
        disk.read_sectors *= 2;
    }
    let judged = case.judge();
    let heavy: Vec<&str> = judged
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Explains)
        .map(|finding| finding.rule.as_str())
        .collect();
    assert_eq!(heavy, ["G17"], "{judged:#?}");
    assert_eq!(judged.hosts.len(), 2);
    case.member(1).kernel_of = 1;
    assert!(case.judge().tells("F10"), "apart they would blame each other");
}

#[test]
fn ceilings_add_up_unless_hosts_share_the_device() {
    fn element(case: &TestCase) -> (String, Option<f64>, Option<f64>) {
        let ceiling = case.judge().ceilings.remove(0);
        (ceiling.element, ceiling.bytes_per_s, ceiling.used.map(|used| (used * 100.0).round()))
    }
    let on_server = || TestCase::direct(MIB, 8, 1, 500.0).on_nfs(10_000);
    let two = together(&[on_server(), on_server()]);
    let (name, most, used) = element(&two);
    assert_eq!((name.as_str(), used), ("network of eth1 on both hosts", Some(45.0)));
    assert_eq!(most, Some(2.0 * 1_176_850_000.0));
    let on_disk = || TestCase::direct(MIB, 8, 1, 200.0).sata(600_000_000);
    let mut two = together(&[on_disk(), on_disk()]);
    let (name, most, used) = element(&two);
    assert_eq!(name, "SATA link of sda, shared by both hosts");
    assert_eq!((most, used), (Some(600e6), Some(70.0)));
    two.member(1).storage_of = 1;
    assert_eq!(element(&two).1, Some(1200e6));
}

#[test]
fn follow_ups_of_all_hosts_are_compared_with_the_whole() {
    let one = || TestCase::direct(4096, 4, 1, 20_000.0).seconds(10, |_| 20_000.0);
    let mut case = together(&[one(), one()]);
    for depth in [8, 16] {
        case.follow_up(candor_record::Change::MoreDepth, 1, depth, 80_000.0);
    }
    let judged = judge(&case.case());
    let Some(Limit::Load { doubled, times }) = judged.limited_by else { panic!("{judged:#?}") };
    assert_eq!((doubled, (times * 10.0).round()), (Doubled::Depth(8), 20.0));
    assert!(judged.follow_ups[0].contains("2 times"), "{:?}", judged.follow_ups);
}

#[test]
fn facts_that_one_host_lacks_are_told_with_its_name() {
    let mut blind = honest();
    blind.host.after.cpu = None;
    let mut seeing = honest();
    for snapshot in [&mut seeing.host.before, &mut seeing.host.after] {
        snapshot.cpu = Some(candor_record::CpuTimes::default());
    }
    let judged = together(&[seeing, blind]).judge();
    let lacked = judged.not_evaluated.iter().find(|of| of.rule == "B9").expect("B9 lacks it");
    assert!(lacked.lacked.ends_with(", on node-b"), "{lacked:?}");
}
