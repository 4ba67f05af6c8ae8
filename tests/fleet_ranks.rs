//! IOR, mdtest, md-workbench and candor's own series on hosts that are named, without a launcher.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::support::fleet::Fleet;
use crate::support::{Ran, Report, Scratch, candor, check_sums, measured, shared_host};

/// Runs a tool on all hosts of a fleet, with these words behind candor's own.
fn on_hosts(fleet: &Fleet, tool: &str, ranks: &str, line: &str) -> Ran {
    let hosts = fleet.hosts();
    let own = [tool, "--ranks", ranks, "--keys", &fleet.keys, "--hosts", &hosts];
    candor(&own.into_iter().chain(line.split(' ')).collect::<Vec<_>>())
}

/// The output of a line that goes well.
fn told(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    &ran.out
}

#[test]
fn ior_on_named_hosts_is_what_a_launcher_would_start() {
    let fleet = Fleet::new(2);
    let file = fleet.scratch.path("f");
    let line = format!("-w -r -W -C -k -F -b 64k -t 16k -o {file}");
    let ran = on_hosts(&fleet, "ior", "4", &line);
    let out = told(&ran);
    for row in ["nodes               : 2", "tasks               : 4", "clients per node    : 2"] {
        assert!(out.contains(row), "{out}");
    }
    let mut files = fleet.scratch.entries();
    files.sort();
    let expected: Vec<String> = (0..4).map(|rank| format!("f.{rank:08}")).collect();
    assert_eq!(files, expected);
    // Files of an earlier run are known from the hosts, and go.
    let ran = on_hosts(&fleet, "ior", "4", &line.replace(" -k", ""));
    assert!(ran.out.contains("write") && ran.code == Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(fleet.scratch.entries(), [""; 0]);
    let uneven = on_hosts(&fleet, "ior", "5", &line);
    assert_eq!(uneven.code, Some(1));
    assert!(uneven.err.contains("5 ranks cannot be dealt to 2 hosts alike"), "{}", uneven.err);
}

#[test]
fn trees_of_mdtest_and_md_workbench_are_made_and_removed_on_the_hosts() {
    let fleet = Fleet::new(2);
    let directory = fleet.scratch.path("d/t");
    let line = |phases: &str| format!("-n 6 {phases} -d {directory}");
    let ran = on_hosts(&fleet, "mdtest", "4", &line("-F -u"));
    let out = told(&ran);
    assert!(out.contains("4 total task(s) on 2 node(s)"), "{out}");
    assert!(out.contains("Nodemap: 1100\n") && out.contains("4 tasks, 24 files"), "{out}");
    assert!(!fs::exists(&directory).expect("it can be looked at"), "the directory is left");
    let made = on_hosts(&fleet, "mdtest", "4", &line("-C"));
    told(&made);
    assert!(fs::exists(format!("{directory}/test-dir.0-0/mdtest_tree.0")).unwrap());
    let removed = on_hosts(&fleet, "mdtest", "4", &line("-r"));
    told(&removed);
    assert_eq!(fs::read_dir(&directory).expect("it was there").count(), 0);
    let logged = on_hosts(&fleet, "mdtest", "4", &line("-F -C --savePerOpDataCSV=x"));
    assert_eq!((logged.code, logged.err.contains("times of single operations")), (Some(1), true));
    let sets = fleet.scratch.path("sets");
    let line = format!("-1 -2 -3 -D 2 -P 4 -I 2 -S 1k -o {sets}");
    let ran = on_hosts(&fleet, "md-workbench", "4", &line);
    let out = told(&ran);
    assert!(out.contains("cleanup") && !fs::exists(&sets).unwrap(), "{out}");
}

/// Workers of each host in each phase.
fn workers(report: &Report) -> Vec<Vec<u64>> {
    let of_host = |host: &serde_json::Value| host["measurements"][0]["workers"].as_u64();
    report
        .list("/phases")
        .iter()
        .map(|phase| phase["hosts"].as_array().expect("hosts").iter().filter_map(of_host).collect())
        .collect()
}

#[test]
fn a_check_of_several_hosts_leaves_their_directory_as_it_was() {
    let (_host, fleet) = (shared_host(), Fleet::new(2));
    let hosts = fleet.hosts();
    let directory = fleet.scratch.dir();
    let words = ["--keys", &fleet.keys, "--hosts", &hosts, "--no-live"];
    let on = |words_of: &[&str]| measured(&fleet.scratch, &[words_of, &words].concat());
    let (ran, report) = on(&["check", &directory, "--seconds", "5", "--size", "32m"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(fleet.scratch.entries(), [""; 0], "files of candor's are left");
    assert!(workers(&report).iter().all(|hosts| hosts.len() == 2 && hosts[0] == hosts[1]));
    assert!(check_sums(&report) > 0);
    assert!(!ran.err.contains("laying out"), "each host makes its own file: {}", ran.err);
    let names: Vec<_> = report.list("/phases").iter().map(|phase| &phase["name"]).collect();
    let created = names.iter().position(|name| *name == "create, own directories");
    let created = &report.list("/phases")[created.expect("small files")]["measurements"][0];
    assert!(created["operations"]["create"]["failed"].as_u64() == Some(0), "{created}");
    // What is there already is read by all, each its part of the sequence.
    let file = fleet.scratch.random_file("present", 8 << 20);
    let (ran, report) = on(&["check", &file, "--seconds", "3"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(report.list("/plan/target")[0]["path"], file.as_str());
    assert_eq!(fleet.scratch.entries(), ["present"]);
}

#[test]
fn scenarios_and_trees_run_on_several_hosts() {
    let (_host, fleet) = (shared_host(), Fleet::new(2));
    let (hosts, directory) = (fleet.hosts(), fleet.scratch.dir());
    let words = ["--keys", &fleet.keys, "--hosts", &hosts, "--no-live"];
    let on = |words_of: &[&str]| measured(&fleet.scratch, &[words_of, &words].concat());
    let io500 = ["scenario", "run", "io500", &directory, "--stonewall", "0.2", "--ranks", "4"];
    let (ran, report) = on(&io500);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(fleet.scratch.entries(), [""; 0]);
    assert!(workers(&report).iter().all(|hosts| *hosts == [2, 2]), "{:?}", workers(&report));
    assert!(report.list("/phases").len() == 13 && ran.out.contains("[SCORE ] "), "{}", ran.out);
    check_sums(&report);
    let tree = fleet.scratch.path("tree");
    let (ran, report) = on(&["tree", &tree, "--workers", "2", "--levels", "1", "--files", "3"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(workers(&report).iter().all(|hosts| *hosts == [2, 2]));
    let uneven = candor(&[&io500[..7], &["3"], &words].concat());
    assert!(uneven.code == Some(2) && uneven.err.contains("3 ranks"), "{}", uneven.err);
}

/// A program in place of ssh whose hosts are all this one.
fn shell(scratch: &Scratch) -> String {
    let path = scratch.file("shell", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
    fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("a program");
    path
}

#[test]
fn agents_by_ssh_are_reached_by_either_kind_of_address() {
    let scratch = Scratch::new();
    let (file, ssh) = (scratch.path("f"), format!("--ssh={}", shell(&scratch)));
    let mut hosts = vec!["127.0.0.1"];
    if TcpListener::bind("[::1]:0").is_ok() {
        hosts.extend(["::1", "[::1]"]);
    }
    let line = ["-w", "-b", "64k", "-t", "16k", "-o", &file];
    for host in hosts {
        let own = ["ior", "--hosts", host, &ssh, "--ranks", "2"];
        let ran = candor(&[&own[..], &line].concat());
        assert!(told(&ran).contains("tasks               : 2"), "{host}: {}", ran.out);
    }
    let keys = ["ior", "--hosts", "127.0.0.1", &ssh, "--keys", "k"];
    let refused = candor(&[&keys[..], &line].concat());
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("agents that ssh starts get keys of this run"), "{}", refused.err);
    let nobody = candor(&["run", &ssh, "--target", &file, "--size", "64k", "--seconds", "1"]);
    assert_eq!((nobody.code, nobody.err.contains("no host is named")), (Some(2), true));
    assert_eq!(scratch.entries(), [""; 0]);
}
