//! elbencho's options of several services.

use std::fs;

use crate::support::elbencho::{Elbencho, last, stderr};
use crate::support::fleet::{Agent, keys};
use crate::support::shared_host;

#[test]
fn services_share_a_data_set_or_have_one_each() {
    let _host = shared_host();
    let elbencho = Elbencho::new();
    let (keys, directory) = (keys(&elbencho.scratch, "keys"), elbencho.scratch.dir());
    let agents = [0, 1].map(|_| Agent::start(&keys, &["--allow", &directory]));
    let hosts = agents.each_ref().map(|agent| agent.address.as_str()).join(",");
    let file = elbencho.path("f");
    let run = |more: &str| {
        let line = format!("--hosts {hosts} -t 2 -s 1m -b 64k {more} {file}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = elbencho.command(&words).env("CANDOR_KEYS", &keys).output().expect("elbencho");
        (String::from_utf8_lossy(&ran.stdout).into_owned(), stderr(&ran), ran.status.code())
    };
    let (shared, err, code) = run("-w");
    assert_eq!((err.as_str(), code), ("", Some(0)), "{shared}");
    assert_eq!(last(&shared, "WRITE", "Total MiB"), "1");
    assert!(!shared.contains("Svc ping"), "{shared}");
    let json = elbencho.scratch.outside("results.json");
    let (own, err, code) = run(&format!("-w -r --rand --nosvcshare --svcping --jsonfile {json}"));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{own}");
    for phase in ["WRITE", "READ"] {
        assert_eq!(last(&own, phase, "Total MiB"), "2", "{own}");
    }
    let pings: Vec<&str> = own.lines().filter(|line| line.contains("Svc ping us")).collect();
    assert_eq!(pings.len(), 2, "{own}");
    assert!(agents.iter().all(|agent| pings[0].contains(&format!("{}=", agent.address))));
    assert_eq!(fs::metadata(&file).map(|file| file.len()).ok(), Some(1 << 20));
    let results = fs::read_to_string(json).expect("results");
    assert!(results.contains("\"shared_service_paths\":\"false\""), "{results}");
    let (dry, _, _) = run("-w --nosvcshare --dryrun");
    assert!(dry.contains("* Bytes per service:  1048576 | 1 MiB | 0 GiB\n"), "{dry}");
    assert!(dry.contains("* Bytes total:        2097152 | 2 MiB | 0 GiB\n"), "{dry}");
}
