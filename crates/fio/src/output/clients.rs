//! Results of clients: each host in turn, then the sum.
//!
//! Each host ran all jobs, so its results are a complete report.

use candor_plan::PathText;
use candor_record::{Note, PhaseRecord, Report};

use super::figures::disks::disks_shown;
use super::figures::{self, Entry, Figures};
use super::moment::Moment;
use super::{json, normal, terse, terse_version, verdict};
use crate::job::{ClientName, FioJob, Format, LatencyGoal, Output, VerdictPlace};
use candor_front::{Object, Tree};

/// A note for each file that clients write at the same path of storage which they share: as with
/// fio, they write over each other there.
pub fn collisions(report: &Report, clients: &[ClientName]) -> Vec<Note> {
    let members = report.phases.first().into_iter().flat_map(|phase| &phase.hosts);
    let shared = members.filter_map(|host| host.member.as_ref()).find(|m| m.storage_of != m.index);
    let Some(shared) = shared else { return Vec::new() };
    let name = |index: u32| clients.get(index as usize).map_or("", |client| &client.name);
    let jobs = report.plan.phases.iter().flat_map(|phase| &phase.jobs);
    let written = jobs.filter(|job| job.work.destroys().is_some()).flat_map(|job| &job.targets);
    let mut paths: Vec<_> = written
        .filter_map(|target| report.plan.target(target))
        .map(|target| target.path.text())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
        .into_iter()
        .map(|path| Note {
            asked: path,
            did: format!(
                "{} and {} wrote the same file",
                name(shared.storage_of),
                name(shared.index)
            ),
            why:
                "each client runs the jobs by itself, and these clients see the same storage; give \
              each its own directory, or write it from one host"
                    .into(),
            place: None,
        })
        .collect()
}

/// Name of the sum.
const ALL: &str = "All clients";

/// The report of each host, without the common judgement.
pub fn of_hosts(report: &Report, hosts: usize) -> Vec<Report> {
    let bare = Report { plan: candor_plan::Plan::default(), phases: Vec::new(), ..report.clone() };
    let of_host = |number: usize| {
        let phase = |phase: &PhaseRecord| {
            let is_it = |index: u32| index as usize == number;
            let mut hosts = phase.hosts.iter();
            let host = hosts.find(|host| host.member.as_ref().is_some_and(|m| is_it(m.index)));
            // A single host has no number among several.
            let host = host
                .or_else(|| phase.hosts.first().filter(|host| number == 0 && host.member.is_none()))
                .cloned()
                .unwrap_or_default();
            let is_only = phase.hosts.len() == 1 && host.measurements.is_empty();
            let measurements =
                if is_only { phase.measurements.clone() } else { host.measurements.clone() };
            PhaseRecord {
                phase: phase.phase,
                name: phase.name.clone(),
                repeat: phase.repeat,
                search_step: phase.search_step,
                tried: phase.tried.clone(),
                measurements,
                hosts: vec![host],
                follow_ups: Vec::new(),
            }
        };
        Report { phases: report.phases.iter().map(phase).collect(), ..bare.clone() }
    };
    (0..hosts).map(of_host).collect()
}

/// Lines of a host, each after its name.
pub fn said(client: &ClientName, lines: &str) -> String {
    lines.lines().map(|line| format!("<{}> {line}\n", client.name)).collect()
}

/// Results in every requested format.
pub(super) fn write(report: &Report, jobs: &[FioJob], output: &Output, now: &Moment) -> String {
    let reports = of_hosts(report, output.clients.len());
    let hosts: Vec<Host<'_>> = reports
        .iter()
        .zip(&output.clients)
        .map(|(report, client)| Host { client, report, entries: figures::entries(report, jobs) })
        .collect();
    let job = all_clients(jobs);
    let sum = sum(&job, &hosts);
    let wanted = |format| output.formats.contains(&format);
    let mut text = String::new();
    if wanted(Format::Terse) || output.append_terse {
        let version = terse_version(output);
        for host in &hosts {
            text += &terse::document(host.report, &host.entries, version);
        }
        text += &terse::document(&Report::default(), &sum, version);
    }
    if wanted(Format::Json) || wanted(Format::JsonPlus) {
        text += &document(report, &hosts, &sum, output, now);
    }
    if wanted(Format::Normal) || output.formats.is_empty() {
        for host in &hosts {
            text += &said(host.client, "\n");
            text += normal::jobs(&host.entries, now).trim_start_matches('\n');
            text += &normal::groups(host.report, &host.entries);
        }
        let all = normal::jobs(&sum, now);
        let all = all.trim_start_matches('\n');
        text += &match output.verdict {
            VerdictPlace::Absent | VerdictPlace::Document => all.to_owned(),
            VerdictPlace::AtEnd => format!("{all}{}", verdict(report)),
        };
    }
    text
}

/// A host and its results.
struct Host<'a> {
    client: &'a ClientName,
    report: &'a Report,
    entries: Vec<Entry<'a>>,
}

/// The job that represents all jobs of all hosts.
fn all_clients(jobs: &[FioJob]) -> FioJob {
    let first = jobs.first().cloned().unwrap_or_default();
    FioJob {
        name: ALL.into(),
        description: None,
        group_id: 0,
        options: None,
        steady: None,
        latency_goal: LatencyGoal::default(),
        ..first
    }
}

/// The sum, if there are several entries.
fn sum<'a>(job: &'a FioJob, hosts: &[Host<'_>]) -> Vec<Entry<'a>> {
    let entries = || hosts.iter().flat_map(|host| &host.entries);
    if entries().count() < 2 {
        return Vec::new();
    }
    let mut figures = Figures::default();
    entries().for_each(|entry| figures.add_beside(&entry.figures));
    // No single process did it.
    figures.pid = 0;
    let jobs = entries().map(|entry| entry.jobs).sum();
    vec![Entry { job, last: job, reporting: job.reporting.clone(), jobs, figures }]
}

fn document(
    report: &Report,
    hosts: &[Host<'_>],
    sum: &[Entry<'_>],
    output: &Output,
    now: &Moment,
) -> String {
    let bins = output.formats.contains(&Format::JsonPlus);
    let named = |object: Object, client: &ClientName| {
        object.with("hostname", client.host.as_str()).with("port", u64::from(client.port))
    };
    let mut document = json::head(now);
    if let Some(global) = &output.global_options {
        let global: Tree = match hosts {
            [_] => json::options(global).into(),
            several => several
                .iter()
                .map(|host| {
                    global
                        .iter()
                        .fold(named(Object::default(), host.client), |object, (key, value)| {
                            object.with(key, value.as_str())
                        })
                })
                .collect::<Vec<_>>()
                .into(),
        };
        document.put("global options", global);
    }
    let mut stats = Vec::new();
    for Host { client, report, entries } in hosts {
        stats.extend(
            entries.iter().map(|entry| named(json::job(report, entry, entries, bins), client)),
        );
    }
    if let (Some(last), Some(entry)) = (hosts.last(), sum.first()) {
        stats.push(named(json::job(report, entry, sum, bins), last.client));
    }
    document.put("client_stats", stats);
    let disks = hosts.iter().flat_map(|host| {
        let disks = disks_shown(host.report, &host.entries);
        disks.into_iter().map(|disk| named(json::disk(&disk), host.client))
    });
    let disks: Vec<Object> = disks.collect();
    if !disks.is_empty() {
        document.put("disk_util", disks);
    }
    if output.verdict != VerdictPlace::Absent {
        document.put("candor", candor_front::verdict::tree(report));
    }
    super::tree::document(document)
}
