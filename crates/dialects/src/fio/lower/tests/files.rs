//! Files: how many, how large, how they come and go.

use candor_plan::{Bytes, Create, Layout, Target, TargetKind};

use super::{diagnostics, job, k, lowered, some_host};
use crate::fio::lower::Found;
use crate::fio::lower::tests::lowered_on;

fn targets(text: &str) -> Vec<Target> {
    lowered(text).plan.targets
}

#[test]
fn many_files_are_one_target() {
    let all = targets("[a]\nnrfiles=3\nsize=12k\ndirectory=/tmp\n");
    assert_eq!((all.len(), all[0].kind), (1, TargetKind::FileSet));
    assert_eq!(all[0].path, std::path::Path::new("/tmp"));
    let members: Vec<_> = all[0].members.iter().map(|m| (m.name.as_str(), m.size)).collect();
    assert_eq!(members, ["a.0.0", "a.0.1", "a.0.2"].map(|name| (name, Some(k(4)))));
    let ranged = targets("[a]\nnrfiles=50\nfilesize=4k-64k\nrw=randread\nbs=4k\n");
    let sizes: Vec<u64> = ranged[0].members.iter().map(|m| m.size.unwrap().0).collect();
    assert!(sizes.iter().all(|size| (4 << 10..=64 << 10).contains(size)), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size != sizes[0]), "{sizes:?}");
}

#[test]
fn files_apart_and_devices_have_targets_of_their_own() {
    let all = targets("[a]\nfilename=/tmp/x:/tmp/y:/dev/a:/dev/b:z\nsize=20k\n");
    let shapes: Vec<_> = all.iter().map(|t| (t.kind, t.members.len())).collect();
    let device = (TargetKind::Device, 0);
    assert_eq!(shapes, [(TargetKind::FileSet, 2), device, device, (TargetKind::File, 0)]);
}

#[test]
fn clones_share_targets_only_where_they_use_them_alike() {
    let text = "[global]\nfilename=/tmp/f\nsize=1m\n[w]\nrw=write\nnumjobs=8\n[r]\nrw=read\n";
    let plan = lowered(text).plan;
    let used: Vec<_> = plan.targets.iter().map(|t| (t.name.as_str(), t.layout)).collect();
    assert_eq!(used, [("/tmp/f", Layout::Allocate), ("/tmp/f (2)", Layout::Write)]);
    assert!(plan.targets.iter().all(|t| t.path == std::path::Path::new("/tmp/f")));
}

#[test]
fn how_files_come_and_go() {
    let one = |options: &str| targets(&format!("[a]\nsize=1m\n{options}\n")).remove(0);
    for (options, layout) in [
        ("rw=read", Layout::Write),
        ("rw=randrw", Layout::Write),
        ("rw=write", Layout::Allocate),
        ("rw=write\nfallocate=none", Layout::Never),
        ("rw=write\nfallocate=keep", Layout::Reserve),
        ("rw=write\nfallocate=truncate", Layout::Sparse),
        ("rw=write\noverwrite=1", Layout::Write),
        ("rw=write\ncreate_on_open=1", Layout::Never),
        ("rw=randrw\ncreate_on_open=1", Layout::Never),
        ("rw=randrw\ncreate_on_open=1\nioengine=libaio\niodepth=4", Layout::Sparse),
        ("rw=write\nfile_append=1", Layout::Never),
        ("rw=read\nallow_file_create=0", Layout::Never),
    ] {
        assert_eq!(one(options).layout, layout, "{options}");
    }
    let plain = one("rw=write");
    assert_eq!((plain.create, plain.keep, plain.remove), (Create::Parents, true, false));
    assert!(one("rw=write\nunlink=1").remove && one("rw=write\nfile_append=1").append);
    assert_eq!(one("allow_file_create=0").create, Create::Nothing);
    for (engine, create) in [("filestat", Create::Nothing), ("filecreate", Create::Parents)] {
        let named = one(&format!("ioengine={engine}\ncreate_on_open=1"));
        assert_eq!(named.create, create, "{engine}");
    }
    let full = lowered("[a]\nrw=write\nfill_device=1\n");
    assert!(full.plan.targets[0].size > Some(Bytes(1 << 60)));
    assert!(job(&full, 0, 0).stop.as_ref().unwrap().until_full);
}

#[test]
fn a_file_of_no_size_fails_when_its_job_begins() {
    let target = targets("[a]\nfilename=/tmp/none\nrw=read\n").remove(0);
    assert_eq!((target.size, target.create, target.layout), (None, Create::Nothing, Layout::Never));
    let there = targets("[a]\nfilename=/tmp/full\nrw=read\n").remove(0);
    assert_eq!((there.size, there.create), (None, Create::Parents));
}

#[test]
fn all_files_of_a_directory() {
    let found = || some_host().with("/tmp/sub/small", Found::File(100));
    let files = |lines: &str| {
        let lowered = lowered_on(&format!("[a]\nopendir=/tmp\nrw=randread\n{lines}"), &found());
        lowered.expect("lowered").plan.targets
    };
    let [only] = &files("")[..] else { panic!("one file is long enough") };
    assert_eq!((only.path.to_str(), only.size), (Some("/tmp/full"), None));
    let both = files("size=128k\n");
    let sizes = |target: &Target| (target.path.clone(), target.size);
    let share = Some(k(64));
    assert_eq!(
        both.iter().map(sizes).collect::<Vec<_>>(),
        [("/tmp/full".into(), share), ("/tmp/sub/small".into(), share)]
    );
    let errors = lowered_on("[a]\nopendir=/nowhere\nrw=read\n", &some_host()).unwrap_err();
    assert!(errors[0].contains("/nowhere is not a directory"), "{errors:?}");
    assert_eq!(some_host().found.get(std::path::Path::new("/tmp")), Some(&Found::Directory));
}

#[test]
fn commands_and_preparation() {
    let all = lowered("[a]\nsize=1m\nexec_prerun=echo hi\ncreate_only=1\n");
    let job = job(&all, 0, 0);
    let before = job.hooks.before.as_ref().unwrap();
    assert_eq!(
        (before.command.as_str(), before.output.as_deref()),
        ("echo hi", Some("a.prerun.txt"))
    );
    assert!(job.prepare_only && job.hooks.after.is_none());
}

/// They are counted before any is named.
#[test]
fn more_files_than_can_be_named_are_refused_at_once() {
    assert_eq!(
        diagnostics("[a]\nnrfiles=4096\nnumjobs=4096\nsize=1g\n"),
        ["job.fio:2:9: with these there are 16777216 files, more than 1048576; use \
             fewer, or fewer clones"]
    );
}

#[test]
fn what_is_said_before_a_section() {
    let remarks = |options: &str| {
        let text = format!("[a]\nrw=write\nsize=1m\n{options}\n");
        lowered(&text).jobs.iter().map(|job| job.shape.remarks.clone()).collect::<String>()
    };
    let shared = "fio: multiple writers may overwrite";
    for (options, says) in [
        ("verify=crc32c\nnumjobs=2\nfilename=x", true),
        ("verify=crc32c\nnumjobs=2\nunique_filename=0", true),
        ("verify=crc32c\nnumjobs=2\nfilename_format=$jobnum.$filenum", true),
        ("verify=crc32c\nnumjobs=2", false),
        ("verify=crc32c\nfilename=x", false),
        ("verify=crc32c\nnumjobs=2\nfilename=x\ndo_verify=0", false),
        ("numjobs=2\nfilename=x", false),
    ] {
        let said = remarks(options);
        assert_eq!(said.matches(shared).count(), usize::from(says), "{options}: {said}");
    }
    let never = "fio: verification read phase will never start";
    for (options, says) in [
        ("verify=crc32c\ntime_based\nruntime=1", true),
        ("verify=crc32c\nruntime=1", false),
        ("verify=crc32c\ntime_based\nruntime=1\nrw=randrw", false),
        ("verify=crc32c\ntime_based\nruntime=1\nverify_backlog=4", false),
    ] {
        let said = remarks(options);
        assert_eq!(said.starts_with(never), says, "{options}: {said}");
    }
    assert_eq!(remarks("verifysort=0"), "Option verifysort is deprecated\n");
    let host = some_host()
        .with("/d", Found::Directory)
        .with("/d/x", Found::File(4096))
        .with("/d/y", Found::File(4096));
    let opened = lowered_on("[a]\nopendir=/d\nnumjobs=2\n", &host).unwrap();
    assert_eq!(opened.jobs[0].shape.remarks, "fio: opendir added 2 files\n");
    assert_eq!(opened.jobs[1].shape.remarks, "");
}
