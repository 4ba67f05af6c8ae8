//! Files: how many, how large, how they come and go.

use candor_plan::{Bytes, Create, Layout, Target, TargetKind};

use super::{diagnostics, job, k, lowered, some_host};
use crate::lower::tests::lowered_on;
use candor_front::Found;

fn targets(text: &str) -> Vec<Target> {
    lowered(text).plan.targets
}

#[test]
fn many_files_are_one_target() {
    let all = targets("[a]\nnrfiles=3\nsize=12k\ndirectory=/tmp\n");
    assert_eq!((all.len(), all[0].kind, all[0].files), (1, TargetKind::FileSet, 3));
    assert_eq!(all[0].path, std::path::Path::new("/tmp"));
    assert_eq!((named(&all[0]).as_str(), all[0].size), ("a.0.{number}", Some(k(4))));
    assert_eq!(all[0].file_of_set(2), ("/tmp/a.0.2".into(), Some(k(4))));
    let ranged = targets("[a]\nnrfiles=50\nfilesize=4k-64k\nrw=randread\nbs=4k\n");
    let sizes: Vec<u64> = ranged[0].members.iter().map(|m| m.size.unwrap().0).collect();
    assert!(sizes.iter().all(|size| (4 << 10..=64 << 10).contains(size)), "{sizes:?}");
    assert!(sizes.iter().any(|size| *size != sizes[0]), "{sizes:?}");
}

fn named(target: &Target) -> String {
    target.file_name.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_million_files_are_a_few_words() {
    let all = targets("[a]\nnrfiles=1000000\nfilesize=4k\ndirectory=/tmp\n");
    let [set] = &all[..] else { panic!("{} targets", all.len()) };
    assert_eq!((set.files, named(set).as_str()), (1_000_000, "a.0.{number}"));
    let null = targets("[a]\nioengine=null\nnrfiles=5000\nsize=1g\ndirectory=/tmp\n");
    assert_eq!((null.len(), null[0].files, null[0].kind), (1, 5000, TargetKind::Null));
    assert_eq!(null[0].file_of_set(4999).0, std::path::Path::new("/tmp/a.0.4999"));
}

/// Bytes that do not divide into blocks make the first files a block longer.
#[test]
fn files_that_differ_by_a_block_are_two_sets() {
    let all = targets("[a]\nnrfiles=2000\nsize=4001999\nbs=512\n");
    let sets: Vec<_> = all.iter().map(|t| (t.first_file, t.files, t.size)).collect();
    assert_eq!(sets, [(0, 3, Some(Bytes(2512))), (3, 1997, Some(Bytes(2000)))]);
    assert_eq!(all[1].name, "a.0.3 and 1996 more");
}

#[test]
fn names_of_sets() {
    for (format, path, name) in [
        ("$filenum", ".", "{number}"),
        ("{$jobname}.$filenum.$filenum", ".", "{{a}}.{number}.{number}"),
        ("/x.$filenum", "/", "x.{number}"),
        ("d/$jobnum/e$filenum/f$clientuid", "d/0", "e{number}/f"),
        ("../$filenumber$x", "..", "{number}ber$x"),
    ] {
        let all = targets(&format!("[a]\nnrfiles=3\nsize=12k\nfilename_format={format}\n"));
        assert_eq!((all.len(), all[0].path.to_str()), (1, Some(path)), "{format}");
        assert_eq!(named(&all[0]), name, "{format}");
    }
    for format in ["same", "$filenum/../x", "$filenum//x"] {
        let all = targets(&format!("[a]\nnrfiles=3\nsize=12k\nfilename_format={format}\n"));
        assert!(all.iter().all(|target| target.file_name.is_none()), "{format}: {all:?}");
    }
}

#[test]
fn numbered_files_that_are_there_and_devices_among_them() {
    let host = some_host().with("/tmp/a.0.1", Found::File(4096));
    let host = host.with("/tmp/a.0.2", Found::File(4096)).with("/tmp/a.0.3", Found::Device(None));
    let on = |lines: &str| {
        let text = format!("[a]\ndirectory=/tmp\nnrfiles=6\nrw=read\nbs=4k\n{lines}\n");
        lowered_on(&text, &host).expect("lowered").plan.targets
    };
    let shapes = |all: &[Target]| -> Vec<_> {
        all.iter().map(|t| (t.first_file, t.files, t.kind, t.create)).collect()
    };
    let (set, file, device) = (TargetKind::FileSet, TargetKind::File, TargetKind::Device);
    let (makes, not) = (Create::Parents, Create::Nothing);
    assert_eq!(
        shapes(&on("size=24k")),
        [(0, 1, file, makes), (1, 2, set, makes), (0, 1, device, makes), (4, 2, set, makes)]
    );
    // Without a size, only those that are there have one.
    assert_eq!(
        shapes(&on("")),
        [(0, 1, file, not), (1, 2, set, makes), (0, 1, device, makes), (4, 2, set, not)]
    );
}

#[test]
fn the_end_of_a_set_of_an_earlier_job_is_known() {
    let text = "[global]\nfilename_format=f.$filenum\nnrfiles=4\n[w]\nrw=write\nfilesize=64k\n\
                [r]\nstonewall\nrw=randrw\nfile_append=1\nsize=32k\n";
    let lowered = lowered(text);
    let blocks = job(&lowered, 1, 0).blocks().expect("blocks");
    assert_eq!(blocks.range.start, candor_plan::units::Extent::Bytes(k(64)));
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
    assert_eq!(used, [("/tmp/f", Layout::Allocate), ("/tmp/f (2)", Layout::Needed)]);
    assert!(plan.targets.iter().all(|t| t.path == std::path::Path::new("/tmp/f")));
}

#[test]
fn how_files_come_and_go() {
    let one = |options: &str| targets(&format!("[a]\nsize=1m\n{options}\n")).remove(0);
    for (options, layout) in [
        ("rw=read", Layout::Needed),
        ("rw=randrw", Layout::Needed),
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
fn a_file_that_another_job_makes_may_be_read_when_it_is_opened() {
    let of = |jobs: &str| lowered(&format!("[global]\nfilename=n\ncreate_on_open=1\n{jobs}"));
    let layouts =
        |jobs: &str| of(jobs).plan.targets.iter().map(|target| target.layout).collect::<Vec<_>>();
    assert_eq!(layouts("[r]\nsize=1m\nrw=read\n"), [Layout::Never]);
    let both = "[w]\nsize=1m\nrw=write\n[r]\nsize=1m\nrw=read\n";
    assert_eq!(layouts(both), [Layout::Never, Layout::Sparse]);
    let queue = of("[r]\nsize=1m\nrw=read\nioengine=libaio\n");
    assert_eq!(queue.plan.targets[0].layout, Layout::Sparse);
    assert!(queue.notes.iter().any(|note| note.did.contains("read as zeros")), "{:?}", queue.notes);
}

#[test]
fn files_that_hold_no_operation_are_left_out_unless_all_are() {
    let host = || some_host().with("small", Found::File(64 << 10)).with("tiny", Found::File(1));
    let of = |names: &str| {
        let text = format!("[a]\nfilename={names}\nbs=128k\nrw=read\n");
        lowered_on(&text, &host()).expect("lowered")
    };
    let some = of("small:/tmp/full:tiny");
    let paths: Vec<_> = some.plan.targets.iter().map(|target| target.path.to_str()).collect();
    assert_eq!(paths, [Some("/tmp/full")]);
    let [note] = &some.notes[..] else { panic!("{:?}", some.notes) };
    assert_eq!(note.did, "left out, because they hold less than 128KiB: small, tiny");
    assert_eq!(of("small:tiny").plan.targets[0].members.len(), 2);
}

/// Beside other jobs, one whose files hold no operation fails alone, when it begins.
#[test]
fn a_job_of_small_files_leaves_others_alone() {
    let small = "[a]\nsize=256k\nnrfiles=4\nbs=128k\nrw=write\n";
    assert!(diagnostics(small)[0].contains("do not fit into the 64KiB"));
    assert_eq!(lowered(&format!("{small}[b]\nsize=64k\nrw=write\n")).plan.phases[0].jobs.len(), 2);
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
    let share = Some(k(64));
    assert_eq!(
        both.iter().map(|target| (target.path.clone(), target.size)).collect::<Vec<_>>(),
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
fn more_files_than_can_be_listed_or_opened_are_refused_at_once() {
    assert_eq!(
        diagnostics("[a]\nnrfiles=4096\nnumjobs=4096\nfilesize=4k-8k\n"),
        ["job.fio:2:9: with these there are 16777216 files to list, more than 1048576; use \
             fewer, or fewer clones"]
    );
    assert_eq!(
        diagnostics("[a]\nnrfiles=2000000000\nsize=1g\n"),
        ["job.fio:2:9: 2000000000 files are more than 1048576; use fewer"]
    );
    let names = "[a]\nnrfiles=2000000\nfilesize=4k\nioengine=filestat\n";
    assert_eq!(targets(names)[0].files, 2_000_000);
}

#[test]
fn remarks_before_a_section() {
    let remarks = |options: &str| {
        let text = format!("[a]\nrw=write\nsize=1m\n{options}\n");
        lowered(&text).jobs.iter().map(|job| job.shape.remarks.clone()).collect::<String>()
    };
    let shared = "fio: multiple writers may overwrite";
    for (options, reported) in [
        ("verify=crc32c\nnumjobs=2\nfilename=x", true),
        ("verify=crc32c\nnumjobs=2\nunique_filename=0", true),
        ("verify=crc32c\nnumjobs=2\nfilename_format=$jobnum.$filenum", true),
        ("verify=crc32c\nnumjobs=2", false),
        ("verify=crc32c\nfilename=x", false),
        ("verify=crc32c\nnumjobs=2\nfilename=x\ndo_verify=0", false),
        ("numjobs=2\nfilename=x", false),
    ] {
        let text = remarks(options);
        assert_eq!(text.matches(shared).count(), usize::from(reported), "{options}: {text}");
    }
    let never = "fio: verification read phase will never start";
    for (options, reported) in [
        ("verify=crc32c\ntime_based\nruntime=1", true),
        ("verify=crc32c\nruntime=1", false),
        ("verify=crc32c\ntime_based\nruntime=1\nrw=randrw", false),
        ("verify=crc32c\ntime_based\nruntime=1\nverify_backlog=4", false),
    ] {
        let text = remarks(options);
        assert_eq!(text.starts_with(never), reported, "{options}: {text}");
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

#[test]
fn files_that_are_mapped_have_their_length() {
    for (fallocate, layout) in [
        ("none", Layout::Needed),
        ("keep", Layout::Needed),
        ("truncate", Layout::Sparse),
        ("native", Layout::Allocate),
    ] {
        let text = format!("[a]\nioengine=mmap\nrw=write\nsize=1m\nfallocate={fallocate}\n");
        assert_eq!(lowered(&text).plan.targets[0].layout, layout, "{fallocate}");
    }
}

#[test]
fn files_are_laid_out_before_a_writer_that_leaves_a_rest() {
    for (words, layout) in [
        ("rw=write\noverwrite=1\nio_size=128k", Layout::Write),
        ("rw=rw\nrwmixread=0\nbs=8k", Layout::Write),
        ("rw=rw\nrwmixread=50", Layout::Needed),
    ] {
        let lowered = lowered(&format!("[a]\nsize=100k\n{words}\n"));
        assert_eq!(lowered.plan.targets[0].layout, layout, "{words}");
    }
}

#[test]
fn blocks_of_any_number_of_bytes_are_not_verified_and_the_option_is_named() {
    let text = |more: &str| format!("[a]\nfilename=f\nsize=1m\nrw=write\nbs_unaligned\n{more}");
    let of = |more: &str| lowered_on(&text(more), &some_host());
    let refused = of("bsrange=1k-9k\nverify=crc32c\n").expect_err("no common interval");
    assert!(refused.iter().any(|said| said.contains("bs_unaligned")), "{refused:#?}");
    assert!(of("bs=8k\nverify=crc32c\n").is_ok(), "one size has an interval");
    assert!(of("bsrange=1k-9k\n").is_ok(), "nothing is verified");
}
