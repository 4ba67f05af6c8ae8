//! Scripts pick rows of a tool's results by the words at their beginning. No line of a verdict
//! begins like a row of any tool, whatever the phases, devices and jobs are called.

use candor_fio as fio;
use candor_front::verdict;
use candor_ior as ior;
use candor_ior::output::Access;
use candor_md_workbench as md_workbench;
use candor_mdtest as mdtest;
use candor_mdtest::setup::Test;
use candor_record::requests::{RequestOp, RequestStats, Requests};
use candor_record::{
    Confidence, Finding, HostRecord, Judgement, Limit, Note, PhaseJudgement, PhaseRecord, Report,
    Severity,
};

/// Words that begin rows of tools whose names of rows are no list of their own.
#[rustfmt::skip]
const ROWS: &[&str] = &[
    // fio: jobs, directions, sections of a job, groups, disks; terse; progress.
    "read:", "write:", "trim:", "READ:", "WRITE:", "TRIM:", "read", "write", "bw", "iops", "slat",
    "clat", "lat", "cpu", "IO depths", "submit", "complete", "issued", "latency", "Run status",
    "Disk stats", "Starting", "Jobs:", "3;", "fio-",
    // elbencho: operations, and the cells of their table.
    "OPERATION", "MKDIRS", "WRITE", "STAT", "READ", "RMFILES", "RMDIRS", "RWMIX", "SYNC",
    "DROPCACHE", "Elapsed time", "IOPS", "Throughput", "Total", "Files", "Dirs", "CPU", "Latency",
    // IOR, mdtest and md-workbench besides their operations.
    "access", "remove", "Max Write", "Max Read", "Operation", "Summary", "Finished", "Began",
    "WARNING", "ERROR", "stonewalling", "SUMMARY", "--", "V-", "Continue stonewall", "precreate",
    "benchmark", "cleanup", "rank", "Test", "iteration",
    // vdbench: times, averages, runs.
    "avg_", "std_", "max_", "Starting RD", "Vdbench", "interval", "Miscellaneous", "Total of",
    // dd and iostat.
    "records in", "records out", "bytes", "0+0", "1+0", "Device", "avg-cpu", "Linux",
    // Devices, which iostat and fio name at the beginning of rows.
    "vda", "nvme0n1", "sda",
];

/// A report of phases with these names, which all say the same of a device.
fn report(names: &[String]) -> Report {
    fn finding(name: &String) -> Finding {
        Finding {
            rule: "A1".into(),
            title: "reads from the page cache".into(),
            sentence: format!("{name}: 3 of 4\n{name} was served by memory"),
            next: Some(format!("ior -o {name}")),
            severity: Severity::Wrong,
            confidence: Confidence::Certain,
            when: None,
            job: None,
            limits: None,
            measures: None,
            lost_share_max: None,
            evidence: Vec::new(),
            consequences: Vec::new(),
            advice: String::new(),
            changes: Vec::new(),
        }
    }
    fn phase(name: &str) -> PhaseRecord {
        PhaseRecord {
            name: name.to_owned(),
            hosts: vec![HostRecord { requests: Some(requests()), ..HostRecord::default() }],
            ..PhaseRecord::default()
        }
    }
    let judged = |name: &String| PhaseJudgement {
        findings: vec![finding(name)],
        limited_by: Some(Limit::PageCache),
        ..PhaseJudgement::default()
    };
    fn note(name: &String) -> Note {
        Note { asked: name.clone(), did: format!("{name}\n{name}"), why: name.clone(), place: None }
    }
    Report {
        phases: names.iter().map(|name| phase(name)).collect(),
        judgement: Judgement {
            phases: names.iter().map(judged).map(Some).collect(),
            headline: format!("not proven\n{}", names[0]),
            ..Judgement::default()
        },
        notes: names.iter().map(note).collect(),
        cut_short: Some(format!("stopped\n{}", names[0])),
        ..Report::default()
    }
}

fn requests() -> RequestStats {
    let of = |device: &str, direction| Requests {
        device: device.into(),
        direction,
        count: 4,
        bytes: 16384,
        sizes_4k: vec![(4096, 4)],
        sizes_log2: vec![(4096, 4)],
        starts_in_4k: vec![(0, 4)],
        ..Requests::default()
    };
    let requests = vec![of("vda", RequestOp::Read), of("nvme0n1", RequestOp::Write)];
    RequestStats { requests, ..RequestStats::default() }
}

#[test]
fn no_line_of_a_verdict_begins_like_a_row() {
    let of_family = Test::ALL.iter().map(|test| test.name());
    let of_family = of_family.chain([Access::Write, Access::Read].map(Access::word));
    let figures = [md_workbench::output::FIGURES, mdtest::output::FIGURES];
    let figures = figures.iter().flat_map(|of| of.iter().map(|(words, _)| *words));
    let rows = ROWS.iter().copied().chain(of_family).chain(figures);
    let rows: Vec<String> = rows.map(str::to_owned).collect();
    let report = report(&rows);
    let texts = [
        fio::output::verdict(&report),
        ior::output::verdict(&report),
        verdict::text(&report, mdtest::output::FIGURES),
        verdict::text(&report, md_workbench::output::FIGURES),
        // elbencho and vdbench.
        verdict::text(&report, &[]),
    ];
    for text in &texts {
        assert!(text.lines().filter(|line| line.contains("requests of")).count() > 50, "{text}");
        for line in text.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
            let like = rows.iter().find(|row| line.starts_with(row.as_str()));
            assert_eq!(like, None, "{line}");
        }
    }
    let of_mdtest = &texts[2];
    let said = of_mdtest.lines().filter(|line| !line.contains("try: "));
    for test in Test::ALL.iter().filter(|test| **test != Test::DirRead) {
        assert!(!said.clone().any(|line| line.contains(test.name())), "{}", test.name());
    }
}
