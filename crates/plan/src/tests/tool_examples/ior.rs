//! `ior -t 1m -b 16m -s 16 -F -C -e` on 64 ranks, 16 on each of 4 nodes, so that the shift of -C
//! is 16: write, flush, then read what a rank of the next node wrote.

use std::collections::BTreeSet;

use crate::blocks::{Durability, SegmentDeal, Share};
use crate::rank::{Seat, data_rank};
use crate::units::{Mix, PerDirection, SizeSpec};
use crate::*;

const MIB: u64 = 1 << 20;

const TOML: &str = r#"
name = "ior -t 1m -b 16m -s 16 -F -C -e"

[[target]]
name = "testFile"
path = "/scratch/testFile"
kind = "file_set"
size = "256m"
files = 64
layout = "never"

[[phase]]
name = "write"
[[phase.job]]
name = "ior"
workers = 64
targets = ["testFile"]
sharing = "own"
[phase.job.work.blocks]
mix = "write"
size = "1m"
share = { segments = { block = "16m", count = 16 } }
durability = { fsync_at_end = true }

[[phase]]
name = "read"
[[phase.job]]
name = "ior"
workers = 64
targets = ["testFile"]
sharing = "own"
rank_shift = 16
[phase.job.work.blocks]
mix = "read"
size = "1m"
share = { segments = { block = "16m", count = 16 } }
"#;

fn phase(name: &str, mix: Mix, rank_shift: i64) -> Phase {
    let blocks = Blocks {
        mix,
        size: PerDirection::all(SizeSpec::Fixed(Bytes(MIB))),
        share: Share::Segments { block: Bytes(16 * MIB), count: 16, deal: SegmentDeal::ByRank },
        durability: Durability { fsync_at_end: mix == Mix::WRITE, ..Durability::default() },
        ..Blocks::default()
    };
    let job = Job {
        name: "ior".into(),
        workers: 64,
        targets: vec!["testFile".into()],
        sharing: Sharing::Own,
        rank_shift,
        work: blocks.into(),
        ..Job::default()
    };
    Phase { name: name.into(), jobs: vec![job], ..Phase::default() }
}

fn plan() -> Plan {
    let target = Target {
        name: "testFile".into(),
        path: "/scratch/testFile".into(),
        kind: TargetKind::FileSet,
        size: Some(Bytes(256 * MIB)),
        files: 64,
        layout: Layout::Never,
        ..Target::default()
    };
    Plan {
        name: "ior -t 1m -b 16m -s 16 -F -C -e".into(),
        targets: vec![target],
        phases: vec![phase("write", Mix::WRITE, 0), phase("read", Mix::READ, 16)],
        ..Plan::default()
    }
}

#[test]
fn a_file_per_process_is_read_by_another_node() {
    let plan = plan();
    super::walk(&plan, TOML, &[]);
    let [written, read] = [0, 1].map(|phase| files(plan.phases[phase].jobs[0].rank_shift));
    let distinct: BTreeSet<_> = written.iter().collect();
    assert_eq!(distinct.len(), 64, "each rank has its own file");
    assert_eq!(distinct, read.iter().collect(), "and every file is read once");
    for (rank, file) in (0..64).zip(&read) {
        assert_ne!(file / 16, rank / 16, "written on another node");
    }
    assert_eq!((read[0], read[63]), (16, 15));
}

/// File of each rank, whose data is `shift` ranks further on.
fn files(shift: i64) -> Vec<u64> {
    let seats = (0..64).map(|rank| Seat::of(Sharing::Own, data_rank(rank, 64, shift), 64, 64));
    seats.map(|seat| seat.file.expect("each rank has one")).collect()
}

fn offset(seat: Seat, segment: u64, transfer: u64) -> u64 {
    let dealt = seat.dealt(16 * MIB);
    dealt.start() + dealt.offset(segment * 16 * MIB + transfer * MIB)
}

#[test]
fn segments_lie_where_ior_puts_them() {
    // One rank per file: segment s, transfer j at s·b + j·t, and the file ends with the last one.
    let own = Seat::of(Sharing::Own, 5, 64, 64);
    assert_eq!(offset(own, 3, 2), 3 * 16 * MIB + 2 * MIB);
    assert_eq!(offset(own, 15, 15), 255 * MIB);
    // One file for all: s·n·b + r·b + j·t.
    let shared = Seat::of(Sharing::Shared, 5, 64, 1);
    assert_eq!(offset(shared, 3, 2), 3 * 64 * 16 * MIB + 5 * 16 * MIB + 2 * MIB);
}

#[test]
fn one_file_for_all_must_hold_all() {
    let mut plan = plan();
    plan.targets[0].files = 1;
    for phase in &mut plan.phases {
        phase.jobs[0].sharing = Sharing::Shared;
    }
    let rules: Vec<_> = check::check(&plan).iter().map(|p| p.rule).collect();
    assert_eq!(rules, ["segments", "segments"]);
    plan.targets[0].size = Some(Bytes(64 * 256 * MIB));
    assert_eq!(check::check(&plan), []);
}
