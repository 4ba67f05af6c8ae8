//! IOR's command line on all hosts of a launcher, and all that must come of it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::offsets::{Shape, compare};
use super::{Ran, Report, Scratch, check_sums};

/// Kind and number of the data, which tells who wrote it and where.
const DATA: (char, u64) = ('o', 7);

/// Phases of the command line: a write, its check, and a read that checks.
const PHASES: u64 = 3;

/// A command line of IOR for a number of hosts, each with a number of ranks.
pub struct LaunchedIor {
    /// Directory of the file, in which the launcher works.
    pub scratch: Scratch,
    /// Words of the command line, the program first.
    pub words: Vec<String>,
    /// File with candor's own report.
    pub json: String,
    hosts: u64,
    shape: Shape,
}

impl LaunchedIor {
    /// One that writes a shared file and reads it in an order: `-C` is that of the next host.
    pub fn new(hosts: u64, ranks_per_host: u64, order: &str) -> LaunchedIor {
        let scratch = Scratch::new();
        let (link, json) = (scratch.outside("ior"), scratch.outside("report.json"));
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        let ranks = hosts * ranks_per_host;
        let shape = Shape { ranks, segments: 2, block: 32 << 10, transfer: 4 << 10 };
        let (kind, number) = DATA;
        let (shape_words, file) = (shape.words(), scratch.path("f"));
        let line =
            format!("{link} -w -W -r -R {order} -k -l {kind} -G {number} -o {file} {shape_words}");
        let words = line.split_whitespace().map(str::to_owned).collect();
        LaunchedIor { scratch, words, json, hosts, shape }
    }

    /// Checks that a run went well and left nothing: one table, each host with its own counts, sums
    /// that are theirs, and each byte where IOR's formula has it.
    pub fn check(&self, ran: &Ran) {
        let LaunchedIor { hosts, shape, .. } = *self;
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        for line in [
            format!("nodes               : {hosts}"),
            format!("tasks               : {}", shape.ranks),
        ] {
            assert!(ran.out.contains(&line), "no {line}: {}{}", ran.out, ran.err);
        }
        assert_eq!(ran.out.matches("TestID").count(), 1, "one process writes: {}", ran.out);
        let mut notes = ran.out.lines().filter(|line| line.trim_start().starts_with("note: "));
        assert!(hosts == 1 || !notes.any(|note| note.contains("host")), "{}", ran.out);
        let report = Report::read(&self.json).expect("candor's own report");
        self.check_counts(&report);
        if hosts > 1 && self.words.iter().any(|word| word == "-C") {
            let shift = report.number("/plan/phase/2/job/0/rank_shift");
            assert_eq!(shift as u64, shape.ranks / hosts, "reads are those of the next host");
        }
        let bytes = fs::read(self.scratch.path("f")).expect("the file");
        compare(&bytes, shape, &shape.shared(), DATA.0, DATA.1);
        assert_eq!(self.scratch.entries(), ["f"], "the launch leaves nothing");
        fs::remove_file(self.scratch.path("f")).expect("the file");
    }

    fn check_counts(&self, report: &Report) {
        let LaunchedIor { hosts, shape, .. } = *self;
        let transfers = shape.shared().len() as u64;
        let phases = report.list("/phases");
        assert_eq!(phases.len() as u64, PHASES);
        let check = |of: &Value, transfers: u64| {
            // Files are opened and closed as well.
            let operations = &of["measurements"][0]["operations"];
            let sum = |key: &str| -> u64 {
                ["read", "write"].iter().filter_map(|name| operations[name][key].as_u64()).sum()
            };
            let expected = (transfers, transfers * shape.transfer);
            assert_eq!((sum("ops"), sum("bytes")), expected, "{}", of["host"]);
        };
        phases.iter().for_each(|phase| check(phase, transfers));
        if hosts == 1 {
            return;
        }
        assert!(check_sums(report) >= PHASES * transfers);
        for phase in phases {
            let of_hosts = phase["hosts"].as_array().expect("hosts");
            assert_eq!(of_hosts.len() as u64, hosts);
            for (index, host) in of_hosts.iter().enumerate() {
                assert_eq!(host["member"]["index"], index, "{}", host["member"]);
                check(host, transfers / hosts);
            }
        }
    }
}
