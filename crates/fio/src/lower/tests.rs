//! Typical jobs, lowered.

mod engines;
mod files;
mod http;
mod pacing;
mod tool_examples;
mod zones;

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use candor_plan::{Blocks, Bytes, Job};

use super::{Lowered, lower};
use crate::ast::{Ast, FioEnvironment, Keyword};
use candor_front::{Diagnostic, Environment, ReadAs};
use candor_front::{Found, Host, Zoned};

/// A host without anything but what a test puts there.
#[derive(Default)]
pub(crate) struct Nowhere {
    pub found: HashMap<PathBuf, Found>,
    pub traces: HashMap<PathBuf, Vec<u8>>,
}

impl Nowhere {
    /// With something at a path.
    pub fn with(mut self, path: &str, found: Found) -> Self {
        self.found.insert(path.into(), found);
        self
    }

    /// With a trace at a path.
    pub fn with_trace(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.traces.insert(path.into(), bytes.into());
        self
    }
}

impl Host for Nowhere {
    fn found(&self, path: &Path) -> Found {
        self.found.get(path).copied().unwrap_or(Found::Nothing)
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        (node < 3).then(|| vec![node * 2, node * 2 + 1])
    }

    fn cpus(&self) -> Option<Vec<u32>> {
        Some((0..6).collect())
    }

    fn files_below(&self, directory: &Path) -> Vec<PathBuf> {
        let mut files: Vec<_> = self
            .found
            .keys()
            .filter(|path| path.starts_with(directory))
            .filter(|path| matches!(self.found[*path], Found::File(_)))
            .cloned()
            .collect();
        files.sort();
        files
    }

    fn entropy(&self) -> u64 {
        4711
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, most: usize) -> io::Result<Vec<u8>> {
        for (name, bytes) in [("long-pattern", 1 << 20), ("page-pattern", 4096)] {
            if path.ends_with(name) {
                return Ok(vec![7; bytes.min(most)]);
            }
        }
        let is_state = path.to_string_lossy().ends_with("-verify.state");
        let state = is_state.then(|| crate::state::tests::state(&[(0, 61440)]));
        state.ok_or(io::ErrorKind::NotFound.into())
    }

    fn zoned(&self, path: &Path) -> Option<Zoned> {
        let zoned = Zoned { zone_bytes: 64 << 20, open_max: Some(14) };
        (path == Path::new("/dev/zoned")).then_some(zoned)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead>> {
        let bytes = self.traces.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes.clone())))
    }

    fn clock_ms(&self, id: u32) -> Option<i64> {
        (id < 12).then_some(1_000_000 - i64::from(id))
    }

    fn device(&self, major: u32, minor: u32) -> Option<PathBuf> {
        ((major, minor) == (8, 0)).then(|| "/dev/a".into())
    }
}

/// An environment with one job file, and nothing else.
struct OneFile<'a>(&'a str);

impl Environment for OneFile<'_> {
    fn file(&mut self, path: &str) -> std::io::Result<Vec<u8>> {
        match path {
            "job.fio" => Ok(self.0.as_bytes().to_vec()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

impl FioEnvironment for OneFile<'_> {
    fn keyword(&self, _: Keyword) -> u64 {
        4
    }
}

/// The syntax tree of a job file.
pub(crate) fn syntax_tree(text: &str) -> (Ast, Vec<Diagnostic>) {
    let argv = ["fio".into(), "job.fio".into()];
    crate::read(&argv, &mut OneFile(text))
}

/// A job file, lowered.
pub(crate) fn lowered_on(text: &str, host: &dyn Host) -> Result<Lowered, Vec<String>> {
    let (ast, diagnostics) = syntax_tree(text);
    let described = |diagnostics: Vec<Diagnostic>| {
        diagnostics.iter().map(|diagnostic| diagnostic.describe(&ast.texts)).collect::<Vec<_>>()
    };
    if !diagnostics.is_empty() {
        return Err(described(diagnostics));
    }
    lower(&ast, host).map_err(described)
}

/// A job file that must be lowered, on a host with two devices and some files.
fn lowered(text: &str) -> Lowered {
    lowered_on(text, &some_host()).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:#?}"))
}

/// Devices of 1 GiB, a file of 1 MiB, /tmp.
fn some_host() -> Nowhere {
    Nowhere::default()
        .with("/dev/a", Found::Device(Some(1 << 30)))
        .with("/dev/b", Found::Device(Some(1 << 30)))
        .with("/tmp", Found::Directory)
        .with("/tmp/full", Found::File(1 << 20))
}

/// The errors of a job file that cannot be lowered.
fn diagnostics(text: &str) -> Vec<String> {
    lowered_on(text, &some_host()).map(|lowered| lowered.plan).expect_err(text)
}

fn job(lowered: &Lowered, phase: usize, job: usize) -> &Job {
    &lowered.plan.phases[phase].jobs[job]
}

fn blocks(lowered: &Lowered, phase: usize, nth: usize) -> &Blocks {
    job(lowered, phase, nth).blocks().expect("blocks")
}

const fn k(number: u64) -> Bytes {
    Bytes(number << 10)
}

#[test]
fn times_of_issue_need_a_log_that_has_them() {
    let refused = |more: &str| {
        let text = format!("[a]\nsize=1m\nlog_issue_time=1\n{more}");
        lowered_on(&text, &some_host()).err().unwrap_or_default().join("\n")
    };
    assert!(refused("").contains("set write_lat_log and log_offset=1"));
    assert!(refused("write_lat_log=x\n").contains("set write_lat_log"));
    assert_eq!(refused("write_lat_log=x\nlog_offset=1\n"), "");
}

#[test]
fn a_pattern_that_is_none_is_refused_without_verification_too() {
    for text in ["verify_pattern=0xzz", "verify_pattern='nosuch'", "verify_pattern=\"abc"] {
        assert!(!diagnostics(&format!("[a]\nsize=1m\n{text}\n")).is_empty(), "{text}");
    }
}

#[test]
fn a_pattern_of_blocks_that_overlap_is_one_of_the_file() {
    let pattern = |more: &str| {
        let text = format!("[a]\nsize=1m\nrw=randwrite\nbs=64k\nverify=pattern\n{more}\n");
        let pattern = blocks(&lowered(&text), 0, 0).content.pattern.clone();
        pattern.map(|pattern| pattern.to_string())
    };
    assert_eq!(pattern("verify_pattern=%o").as_deref(), Some("%o"));
    assert_eq!(pattern("verify_pattern=%o\nba=64k").as_deref(), Some("%o"));
    assert_eq!(pattern("verify_pattern=%o\nba=512").as_deref(), Some("%o/8"));
    assert_eq!(pattern("verify_pattern=0xab\nba=512").as_deref(), Some("ab"));
}

#[test]
fn gtod_reduce_leaves_logs_by_operation_empty() {
    let job = &lowered("[a]\nsize=1m\ngtod_reduce=1\nwrite_iops_log=x\n").jobs[0];
    assert!(!job.reporting.iops_by_operation && !job.reporting.bandwidth_by_operation);
    let job = &lowered("[a]\nsize=1m\ndisable_bw=1\nwrite_iops_log=x\n").jobs[0];
    assert!(job.reporting.iops_by_operation && !job.reporting.bandwidth_by_operation);
}
