//! Results of several hosts.

use candor_plan::units::Mix;
use candor_plan::{Blocks, Job, Phase, Plan, Target};
use candor_record::FleetMember;

use super::*;
use crate::job::ClientName;
use crate::output::clients;

/// Two hosts, the second of which wrote twice as much.
fn fleet() -> Report {
    let mut report = report(vec![measurement(0, 30)]);
    let host = report.phases[0].hosts[0].clone();
    let of = |index: u32, writes| HostRecord {
        member: Some(FleetMember { index, storage_of: 0, ..FleetMember::default() }),
        measurements: vec![measurement(0, writes)],
        ..host.clone()
    };
    report.phases[0].hosts = vec![of(0, 10), of(1, 20)];
    report
}

fn output(formats: &[Format]) -> Output {
    let client = |name: &str, port| ClientName { name: name.into(), host: "n".into(), port };
    let global_options = Some(vec![("bs".to_owned(), "4k".to_owned())]);
    let clients = vec![client("n (a)", 1), client("n (b)", 2)];
    Output { formats: formats.to_vec(), clients, global_options, ..Output::default() }
}

fn document(report: &Report, output: &Output) -> serde_json::Value {
    let text = write_at(report, &[job("mix", 1)], output, &now());
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_client_has_its_own_figures_and_all_their_sum() {
    let two = document(&fleet(), &output(&[Format::Json]));
    let stats = two["client_stats"].as_array().expect("a list");
    let all: Vec<_> = stats
        .iter()
        .map(|of| {
            let count = of["write"]["clat_ns"]["N"].as_u64().unwrap_or(0);
            (
                of["jobname"].to_string(),
                of["port"].as_u64(),
                of["write"]["total_ios"].as_u64(),
                count,
            )
        })
        .collect();
    let name = |name: &str| format!("\"{name}\"");
    assert_eq!(all[0], (name("mix"), Some(1), Some(10), 10));
    assert_eq!(all[1], (name("mix"), Some(2), Some(20), 20));
    assert_eq!(all[2], (name("All clients"), Some(2), Some(30), 30));
    assert_eq!(all.len(), 3);
    assert_eq!(two["global options"][1]["port"], 2);
    assert_eq!(two["global options"][0]["bs"], "4k");
    assert!(two.get("jobs").is_none() && two["candor"].is_object());
    assert!(stats[2].get("job options").is_none());
    let mut one = output(&[Format::Json]);
    one.clients.truncate(1);
    let one = document(&fleet(), &one);
    assert_eq!(one["client_stats"].as_array().map(Vec::len), Some(1), "no sum of one");
    assert_eq!(one["global options"]["bs"], "4k");
}

#[test]
fn text_names_the_host_before_its_jobs() {
    let text = write_at(&fleet(), &[job("mix", 1)], &output(&[]), &now());
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    let second = at("<n (b)> \nmix: (groupid=0, jobs=1)");
    assert!(at("<n (a)> \nmix: (groupid=0, jobs=1)") < second);
    assert!(second < at("\nAll clients: (groupid=0, jobs=2): err= 0"));
    assert!(at("\nAll clients") < at("\ncandor: "));
    let lines = write_at(&fleet(), &[job("mix", 1)], &output(&[Format::Terse]), &now());
    let names: Vec<_> = lines.lines().filter_map(|line| line.split(';').nth(2)).collect();
    assert_eq!(names, ["mix", "mix", "All clients"]);
}

#[test]
fn files_of_shared_storage_are_told_where_they_are_written() {
    let mut report = fleet();
    let blocks = |mix| Blocks { mix, ..Blocks::default() };
    let work = |target: &str, mix| Job {
        targets: vec![target.into()],
        work: blocks(mix).into(),
        ..Job::default()
    };
    let target = |name: &str| Target { name: name.into(), path: name.into(), ..Target::default() };
    let jobs = vec![work("w", Mix::WRITE), work("r", Mix::READ)];
    let phases = vec![Phase { jobs, ..Phase::default() }];
    report.plan = Plan { targets: vec![target("w"), target("r")], phases, ..Plan::default() };
    let notes = clients::collisions(&report, &output(&[]).clients);
    assert_eq!(notes.iter().map(|note| note.asked.as_str()).collect::<Vec<_>>(), ["w"]);
    assert!(notes[0].did.contains("n (a) and n (b)"), "{}", notes[0].did);
    report.phases[0].hosts[1].member.as_mut().expect("a member").storage_of = 1;
    assert!(clients::collisions(&report, &output(&[]).clients).is_empty());
}
