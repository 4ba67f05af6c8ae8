//! Typical job files, each lowered and looked at.

use candor_plan::blocks::{Access, Fill, LastWrite, OpenSync, Position, Range, StayAt, Zone};
use candor_plan::units::{Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Engine, Layout, Nanos, OpsPerSec, RampAmount, Stop, TargetKind};

use super::{blocks, diagnostics, job, k, lowered};

fn stop(text: &str) -> Stop {
    job(&lowered(text), 0, 0).stop.clone().unwrap_or_default()
}

fn from_start(length: u64) -> Range {
    Range { length: Some(Extent::Bytes(Bytes(length))), ..Range::default() }
}

#[test]
fn one_random_reader_of_a_file_that_is_laid_out() {
    let lowered = lowered("[r]\nrw=randread\nsize=1m\nbs=4k\n");
    let target = &lowered.plan.targets[0];
    assert_eq!((target.name.as_str(), target.size), ("r.0.0", Some(Bytes(1 << 20))));
    assert_eq!((target.layout, target.keep, target.overwrite), (Layout::Needed, true, true));
    let blocks = blocks(&lowered, 0, 0);
    assert_eq!((blocks.mix, &blocks.access), (Mix::READ, &Access::Permutation));
    assert_eq!((blocks.engine, blocks.depth, blocks.size.read.min()), (Engine::Psync, 1, k(4)));
    assert_eq!(blocks.range, from_start(1 << 20));
    assert_eq!(lowered.plan.seed, 0x89);
    assert!(lowered.notes.is_empty(), "{:?}", lowered.notes);
}

#[test]
fn an_amount_ends_a_job_unless_time_does() {
    let passes = |passes| Stop { passes: Some(passes), ..Stop::default() };
    assert_eq!(stop("[a]\nsize=1m\n"), passes(1));
    assert_eq!(stop("[a]\nsize=1m\nloops=3\n"), passes(3));
    let time = Some(Nanos::from_secs(10));
    assert_eq!(stop("[a]\nsize=1m\nruntime=10\n"), Stop { time, ..passes(1) });
    let by_time = Stop { time, ..Stop::default() };
    assert_eq!(stop("[a]\nsize=1m\nruntime=10\ntime_based\n"), by_time);
    // Time goes before a number of operations.
    assert_eq!(stop("[a]\nsize=1m\nruntime=10\ntime_based\nnumber_ios=3\n"), by_time);
    assert_eq!(stop("[a]\nsize=1m\nnumber_ios=3\n"), Stop { ops: Some(3), ..passes(1) });
    let until = |kib, count| {
        let least = Some(Extent::Bytes(k(kib)));
        Stop { bytes: Some(k(kib)), at_least: least, ..passes(count) }
    };
    let at_least = Some(Extent::Bytes(k(96)));
    for (rw, of) in [
        ("write", until(288, 3)),
        ("read", Stop { at_least, ..until(288, 3) }),
        ("randread", Stop { at_least, ..until(288, 3) }),
        ("write\nbs=24k", Stop { at_least, ..until(288, 3) }),
    ] {
        assert_eq!(stop(&format!("[a]\nsize=64k\nio_size=96k\nloops=3\nrw={rw}\n")), of, "{rw}");
    }
    // In fio 3.42, blocks read back count against io_size too if they are random, and less than a
    // block begins no pass. A sequence is read back once, at its end.
    for (io_size, count) in [("131k", 1), ("132k", 2), ("256k", 2), ("260k", 3), ("512k", 4)] {
        let text = format!("[a]\nrw=randwrite\nverify=md5\nsize=64k\nio_size={io_size}\n");
        assert_eq!(stop(&text), passes(count), "{io_size}");
    }
    let verified = "[a]\nverify=md5\nsize=64k\nio_size=96k\nrw=";
    for more in ["write\n", "write\ndo_verify=0\n", "randwrite\ndo_verify=0\n"] {
        assert_eq!(stop(&format!("{verified}{more}")), until(96, 1), "{more}");
    }
    // Bytes left out in holes are made up for, unless the last operation ends at the end.
    let holes = |size, at_least: Option<u64>| {
        let (bytes, at_least) = (Some(k(size)), at_least.map(|kib| Extent::Bytes(k(kib))));
        let text = format!("[a]\nrw=read:4k\nsize={size}k\n");
        assert_eq!(stop(&text), Stop { bytes, at_least, ..passes(1) });
    };
    holes(64, Some(64));
    holes(60, None);
    let by_bytes = Stop { bytes: Some(k(100)), ..Stop::default() };
    assert_eq!(stop("[a]\nrw=randread\nnorandommap\nsize=100k\n"), by_bytes);
    // Files may be larger than what is moved.
    let both = Stop { bytes: Some(k(8)), ..passes(1) };
    assert_eq!(stop("[a]\nsize=8k\nfilesize=12k\nnrfiles=3\n"), both);
}

#[test]
fn size_is_at_most_what_files_have() {
    let drawn = |more: &str| {
        let text = format!("[a]\nrw=randread\nnorandommap\nsize=128k\nfilesize=64k\n{more}");
        stop(&text).bytes
    };
    // As fio 3.33, which does 16, 14 and 32 operations of 4 KiB.
    assert_eq!(drawn(""), Some(k(64)));
    assert_eq!(drawn("offset=8k\n"), Some(k(56)));
    assert_eq!(drawn("nrfiles=2\n"), Some(k(128)));
    let strided = "[a]\nsize=64k\nfilesize=64k\noffset=8k\nzonemode=strided\nzonesize=8k\n\
                   zonerange=16k\n";
    assert_eq!(stop(strided).bytes, Some(k(56)));
}

#[test]
fn without_files_an_offset_in_percent_is_one_of_size() {
    let start = |text: &str| {
        let text = format!("[a]\nioengine=null\n{text}");
        blocks(&lowered(&text), 0, 0).range.start
    };
    let bytes = |number| Extent::Bytes(k(number));
    assert_eq!(start("size=256k\noffset=50%\n"), bytes(128));
    assert_eq!(start("size=128k\nnrfiles=2\noffset=50%\n"), bytes(32));
    assert_eq!(start("size=100k\noffset=33%\nbs=8k\n"), bytes(40));
    let none = diagnostics("[a]\nioengine=null\nfilesize=1m\noffset=50%\n");
    assert!(none[0].contains("(fio: you need to specify valid offset=)"), "{none:?}");
}

#[test]
fn ramps_and_delays() {
    let lowered = lowered(
        "[global]\nsize=1m\nramp_time=2s\n[a]\n[b]\nstartdelay=5\n[c]\nstonewall\nramp_time=3s\n",
    );
    assert_eq!(lowered.plan.phases[0].ramp, Nanos::from_secs(2));
    assert_eq!(lowered.plan.phases[1].ramp, Nanos::from_secs(3));
    assert_eq!(job(&lowered, 0, 1).delay, Nanos::from_secs(5));
}

#[test]
fn a_range_of_delays_gives_each_clone_its_own() {
    let lowered = lowered("[a]\nsize=1m\nnumjobs=4\nstartdelay=1-3\n");
    let delays: Vec<_> = (0..4).map(|nth| job(&lowered, 0, nth).delay).collect();
    let within = Nanos::from_secs(1)..=Nanos::from_secs(3);
    assert!(delays.iter().all(|delay| within.contains(delay)), "{delays:?}");
    assert!(delays.windows(2).any(|pair| pair[0] != pair[1]), "{delays:?}");
}

#[test]
fn stonewalls_make_phases_and_groups() {
    let lowered = lowered(
        "[global]\nsize=1m\n[a]\n[b]\nnew_group\n[c]\nstonewall\nnumjobs=2\n[d]\n[a]\nstonewall\n",
    );
    let phases: Vec<_> = lowered.plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(phases, ["a", "c", "a (2)"]);
    let seats: Vec<_> =
        lowered.jobs.iter().map(|j| (j.name.as_str(), j.phase, j.job, j.group_id)).collect();
    assert_eq!(
        seats,
        [
            ("a", 0, 0, 0),
            ("b", 0, 1, 1),
            ("c", 1, 0, 2),
            ("c", 1, 1, 2),
            ("d", 1, 2, 2),
            ("a", 2, 0, 3)
        ]
    );
    let names: Vec<_> = lowered.plan.phases[1].jobs.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["c.0", "c.1", "d"]);
}

#[test]
fn waiting_for_one_job_of_several() {
    let text = "[global]\nsize=1m\n[a]\nnumjobs=2\n[b]\n[c]\nwait_for=a\n";
    let lowered = lowered(text);
    assert_eq!(lowered.plan.phases.len(), 1);
    assert_eq!(job(&lowered, 0, 3).after, ["a.0", "a.1"]);
    assert!(job(&lowered, 0, 2).after.is_empty());
    let errors = diagnostics("[global]\nsize=1m\n[first]\n[b]\nwait_for=fisrt\n");
    assert!(errors[0].contains("did you mean `first`?"), "{errors:?}");
}

#[test]
fn clones_have_files_of_their_own() {
    let lowered = lowered("[w]\nrw=write\nsize=1m\nnumjobs=3\ndirectory=/tmp\n");
    let paths: Vec<_> = lowered.plan.targets.iter().map(|t| t.path.display().to_string()).collect();
    // fio numbers clones from the last down.
    assert_eq!(paths, ["/tmp/w.0.0", "/tmp/w.2.0", "/tmp/w.1.0"]);
    assert_eq!(job(&lowered, 0, 2).targets, ["/tmp/w.1.0"]);
    let numbers: Vec<_> = lowered.jobs.iter().map(|job| (job.clone, job.number)).collect();
    assert_eq!(numbers, [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn clones_share_a_file_that_is_named() {
    let lowered =
        lowered("[w]\nrw=randwrite\nsize=1m\nnumjobs=3\nfilename=x\noffset_increment=1m\n");
    assert_eq!(lowered.plan.targets.len(), 1);
    assert_eq!(lowered.plan.targets[0].size, Some(Bytes(3 << 20)));
    let starts: Vec<_> = (0..3).map(|nth| blocks(&lowered, 0, nth).range.start).collect();
    let at = |mib: u64| Extent::Bytes(Bytes(mib << 20));
    assert_eq!(starts, [at(0), at(2), at(1)]);
}

#[test]
fn several_files_divide_the_size() {
    let lowered =
        lowered("[r]\nrw=read\nsize=40k\nnrfiles=3\nfilename_format=f.$filenum.$jobname\n");
    let names: Vec<_> = lowered.plan.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["f.0.r and 2 more"]);
    let set = &lowered.plan.targets[0];
    assert_eq!((set.files, set.file_of_set(2).0), (3, "f.2.r".into()));
    assert_eq!(blocks(&lowered, 0, 0).range, from_start(13653));
}

#[test]
fn colons_part_files_and_a_backslash_keeps_one() {
    let lowered = lowered("[r]\nrw=read\nfilename=/dev/a:/dev/b:x\\:y\nsize=30k\n");
    let names: Vec<_> = lowered.plan.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["/dev/a", "/dev/b", "x:y"]);
    assert_eq!(lowered.plan.targets[0].size, None, "a device is as large as it is");
}

#[test]
fn a_whole_device_needs_no_size() {
    let lowered =
        lowered("[r]\nfilename=/dev/a\nrw=randread\ndirect=1\nioengine=libaio\niodepth=32\n");
    let blocks = blocks(&lowered, 0, 0);
    assert_eq!(blocks.range, Range::default());
    assert_eq!((blocks.engine, blocks.depth, blocks.direct), (Engine::LIBAIO, 32, true));
    let batches = (blocks.batch_submit, blocks.batch_reap, blocks.batch_reap_max);
    assert_eq!(batches, (Some(1), 1, Some(1)));
}

#[test]
fn a_job_that_is_called_like_a_device_uses_it() {
    let lowered = lowered("[/dev/b]\nrw=read\nruntime=1\n");
    assert_eq!(lowered.plan.targets[0].name, "/dev/b");
}

#[test]
fn a_share_of_what_is_there() {
    let of_file = lowered("[r]\nfilename=/tmp/full\nsize=25%\noffset=50%\n");
    let range = &blocks(&of_file, 0, 0).range;
    assert_eq!(range.start, Extent::Bytes(k(512)));
    assert_eq!(range.length, Some(Extent::Percent(25.0)));
}

#[test]
fn a_group_has_percentiles_of_one_latency() {
    let text = |lines: &str| format!("[a]\nsize=1m\n[b]\nsize=1m\nlat_percentiles=1\n{lines}\n");
    assert!(diagnostics(&text("group_reporting"))[0].contains("differs from a"));
    lowered(&text("group_reporting\nnew_group"));
    lowered(&text(""));
}

#[test]
fn a_unit_behind_a_blank_is_read_and_noted() {
    let lowered = lowered("[a]\nfilename=/tmp/full\nbs = 8k\nruntime= 20\nrw = read\niodepth =4\n");
    assert_eq!(blocks(&lowered, 0, 0).size.read, SizeSpec::Fixed(k(8)));
    let [note] = &lowered.notes[..] else { panic!("{:?}", lowered.notes) };
    assert_eq!((note.asked.as_str(), note.place.as_deref()), ("bs= 8k", Some("job.fio:3:6")));
    assert!(note.why.ends_with("reads 8"), "{note:?}");
}

#[test]
fn a_mix_of_reads_and_writes_on_io_uring() {
    let lowered = lowered(
        "[global]\nioengine=io_uring\niodepth=64\ndirect=1\nfilename=/dev/a\n\
         runtime=60\ntime_based\n[mix]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40,8k/100\n\
         numjobs=4\ngroup_reporting\n",
    );
    assert_eq!(lowered.jobs.len(), 4);
    assert!(lowered.jobs.iter().all(|job| job.group_reporting && job.group_id == 0));
    let blocks = blocks(&lowered, 0, 3);
    assert_eq!(blocks.mix, Mix { read: 70, write: 30, trim: 0 });
    assert_eq!(blocks.size.read, SizeSpec::Weighted(vec![(k(4), 60), (k(64), 40)]));
    assert_eq!(blocks.size.write, SizeSpec::Fixed(k(8)));
    assert_eq!(
        lowered.global_options.as_ref().unwrap()[0],
        ("ioengine".to_owned(), "io_uring".to_owned())
    );
    let options = lowered.jobs[0].options.as_ref().expect("options");
    let names: Vec<_> = options.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rw", "rwmixread", "bssplit", "numjobs", "group_reporting"]);
    assert_eq!(options[4].1, "", "a bare one has no value");
}

#[test]
fn shares_of_sizes_that_are_blank_too_many_or_too_few() {
    let split = |value: &str| {
        let lowered = lowered(&format!("[a]\nrw=read\nsize=1m\nbssplit={value}\n"));
        blocks(&lowered, 0, 0).size.read.clone()
    };
    let weighted = |list: &[(u64, u8)]| {
        SizeSpec::Weighted(list.iter().map(|(size, percent)| (k(*size), *percent)).collect())
    };
    assert_eq!(split("4k/50:8k/:16k/"), weighted(&[(4, 50), (8, 25), (16, 25)]));
    assert_eq!(split("4k/60:8k/30"), weighted(&[(4, 60), (8, 40)]));
    assert_eq!(split("4k/100"), SizeSpec::Fixed(k(4)));
}

#[test]
fn sizes_per_direction_and_ranges() {
    let lowered =
        lowered("[a]\nrw=rw\nsize=1m\nbs=8k,16k\n[b]\nrw=read\nsize=1m\nbsrange=4k-16k\n");
    let first = &blocks(&lowered, 0, 0).size;
    assert_eq!((first.read.min(), first.write.min(), first.trim.min()), (k(8), k(16), k(16)));
    assert_eq!(blocks(&lowered, 0, 1).size.read, SizeSpec::Range(k(4), k(16)));
}

#[test]
fn orders_of_offsets() {
    let access = |text: &str| {
        let lowered = lowered(&format!("[a]\nsize=1m\n{text}\n"));
        blocks(&lowered, 0, 0).access.clone()
    };
    assert_eq!(access("rw=read"), Access::Sequential);
    assert_eq!(access("rw=write:12k"), Access::Holes { hole: k(12) });
    assert_eq!(access("rw=read:-8k"), Access::Back { step: k(8) });
    assert_eq!(access("rw=randwrite\nnorandommap"), Access::Random);
    assert_eq!(access("rw=randwrite\nba=16k"), Access::Random);
    assert_eq!(access("rw=randwrite\nnorandommap\nrandom_generator=lfsr"), Access::Permutation);
    let skewed = |value: &str| access(&format!("rw=randread\nrandom_distribution={value}"));
    assert_eq!(skewed("zipf:1.2"), Access::Zipf { theta: 1.2, center_percent: None });
    let center_percent = Some(25.0);
    assert_eq!(skewed("zipf:1.2:0.25"), Access::Zipf { theta: 1.2, center_percent });
    assert_eq!(skewed("pareto:0.3:0.25"), Access::Pareto { h: 0.3, center_percent });
    assert!(matches!(skewed("pareto:0.3"), Access::Pareto { center_percent: Some(_), .. }));
    let zone = |access_percent, percent| Zone { access_percent, size: Extent::Percent(percent) };
    let zones = |list: &[Zone]| Access::Zoned { zones: PerDirection::all(list.to_vec()) };
    assert_eq!(skewed("zoned:60/10:40/"), zones(&[zone(60.0, 10.0), zone(40.0, 90.0)]));
    let zone = |access_percent, kib| Zone { access_percent, size: Extent::Bytes(k(kib)) };
    let absolute = zones(&[zone(60.0, 40), zone(40.0, 100)]);
    assert_eq!(skewed("zoned_abs:60/40k:40/100k"), absolute);
}

#[test]
fn operations_that_stay_and_those_that_jump() {
    let of = |text: &str| {
        let lowered = lowered(&format!("[a]\nsize=1m\n{text}\n"));
        blocks(&lowered, 0, 0).clone()
    };
    let some = of("rw=randread\npercentage_random=30\nbs_is_seq_rand=1\nbs=4k,8k");
    assert_eq!((some.access, some.stay.percent.read), (Access::Permutation, 70));
    assert_eq!(
        (some.size.write, some.jump_size),
        (SizeSpec::Fixed(k(4)), Some(SizeSpec::Fixed(k(8))),)
    );
    let runs = of("rw=randrw:8\nrw_sequencer=identical").stay;
    assert_eq!((runs.run, runs.at, runs.percent.read), (8, StayAt::Start, 0));
    let only_random = of("rw=randread\nbs_is_seq_rand=1\nbs=4k,8k");
    assert_eq!(only_random.size, PerDirection::all(SizeSpec::Fixed(k(8))));
    let by_direction = of("rw=randrw\nbs=4k,8k").align.expect("an alignment each");
    assert_eq!((by_direction.read, by_direction.write), (k(4), k(8)));
    let pairs = of("rw=trimwrite");
    assert!(pairs.pairs && pairs.mix == Mix { read: 0, write: 50, trim: 50 });
    assert_eq!(of("rw=rw").position, Position::PerDirection);
}

#[test]
fn rates_of_one_direction_and_of_two() {
    let one = lowered("[a]\nrw=randread\nsize=1m\nrate_iops=1000\nrate_process=poisson\n");
    assert_eq!(blocks(&one, 0, 0).pace.ops, Some(OpsPerSec(1000)));
    let two = lowered("[a]\nrw=randrw\nsize=1m\nrate_iops=700,300\n");
    let rates = PerDirection { read: OpsPerSec(700), write: OpsPerSec(300), trim: OpsPerSec(0) };
    assert_eq!(blocks(&two, 0, 0).pace.per_direction, Some(rates));
}

#[test]
fn think_time_is_a_rest_after_some_operations() {
    let lowered = lowered("[a]\nsize=1m\nthinktime=500\nthinktime_blocks=8\n");
    let think = blocks(&lowered, 0, 0).pace.think.expect("think");
    assert_eq!((think.time, think.every, think.spin), (Nanos(500_000), 8, false));
}

#[test]
fn writes_that_are_made_durable() {
    let lowered = lowered("[a]\nrw=write\nsize=1m\nfsync=32\nend_fsync=1\nsync=dsync\n");
    let durability = blocks(&lowered, 0, 0).durability;
    assert_eq!((durability.fsync_every, durability.fsync_at_end), (32, true));
    assert_eq!(durability.open, OpenSync::Dsync);
}

#[test]
fn what_is_written() {
    let fill = |text: &str| {
        let lowered = lowered(&format!("[a]\nrw=write\nsize=1m\n{text}\n"));
        blocks(&lowered, 0, 0).content.clone()
    };
    assert_eq!(fill("").fill, Fill::Stamp);
    assert_eq!(fill("scramble_buffers=0").fill, Fill::Once);
    assert_eq!(fill("refill_buffers").fill, Fill::Fresh);
    assert_eq!(fill("zero_buffers=1").fill, Fill::Zero);
    assert_eq!(fill("buffer_compress_percentage=50").compressible_percent, 50);
    assert_eq!(fill("dedupe_percentage=30").duplicate_percent, 30);
}

#[test]
fn jobs_that_use_a_file_differently_have_targets_of_their_own() {
    let text = "[global]\nfilename=x\nsize=1m\n[w]\nrw=write\n[r]\nstonewall\nrw=read\nsize=2m\n";
    let lowered = lowered(text);
    let made: Vec<_> = lowered.plan.targets.iter().map(|t| (t.layout, t.size)).collect();
    let mib = |mib: u64| Some(Bytes(mib << 20));
    assert_eq!(made, [(Layout::Allocate, mib(1)), (Layout::Needed, mib(2))]);
    assert_eq!(blocks(&lowered, 0, 0).range, from_start(1 << 20));
}

#[test]
fn null_jobs_have_no_files() {
    let lowered = lowered("[a]\nioengine=null\nsize=1g\niodepth=16\n");
    assert_eq!(lowered.plan.targets[0].kind, TargetKind::Null);
    assert_eq!((blocks(&lowered, 0, 0).engine, blocks(&lowered, 0, 0).depth), (Engine::Null, 16));
    assert!(!diagnostics("[a]\nioengine=null\n").is_empty(), "it needs a size");
}

#[test]
fn cpus_are_shared_or_split() {
    let cpus = |policy: &str| -> Vec<Vec<u32>> {
        let text =
            format!("[a]\nsize=1m\nnumjobs=3\ncpus_allowed=0-1\ncpus_allowed_policy={policy}\n");
        let lowered = lowered(&text);
        (0..3).map(|nth| job(&lowered, 0, nth).placement.cpus.clone()).collect()
    };
    assert_eq!(cpus("shared"), vec![vec![0, 1]; 3]);
    assert_eq!(cpus("split"), [vec![0], vec![1], vec![0]]);
}

#[test]
fn seeds_repeat_or_do_not() {
    let seed = |text: &str| lowered(&format!("[a]\nrw=randread\nsize=1m\n{text}")).plan.seed;
    assert_eq!(seed(""), 0x89);
    assert_eq!(seed("randseed=7\n"), 7);
    assert_eq!(seed("randrepeat=0\n"), 4711);
    let two = lowered("[a]\nsize=1m\n[b]\nsize=1m\nrandseed=7\n");
    assert_eq!(two.notes.len(), 1, "{:?}", two.notes);
}

#[test]
fn mistakes_stand_where_they_were_written() {
    let errors = diagnostics("[a]\nrw=randraed\nsize=1m\n");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("job.fio:2:4: rw: `randraed` is not one of its values"),
        "{errors:?}"
    );
    let errors = diagnostics("[a]\nsize=1m\nioengine=libiao\n");
    assert!(
        errors[0].contains(
            "10: engine libiao not loadable: there is no ioengine `libiao`; did you mean"
        ),
        "{errors:?}"
    );
    let errors = diagnostics("[a]\nsize=1m\n\n bs = 2m\n");
    assert!(errors[0].starts_with("job.fio:4:7: operations of 2MiB do not fit"), "{errors:?}");
    let errors = diagnostics("[a]\nsize=1m\nhipri=1\n");
    assert!(errors[0].contains("`hipri` is an option of pvsync2, io_uring"), "{errors:?}");
}

#[test]
fn a_file_that_names_an_engine_that_is_lacking_still_parses() {
    let text = "[a]\nioengine=rbd\nrbdname=x\npool=y\n[b]\nverify=crc32c\nrw=write\nsize=1m\n";
    let (ast, errors) = super::syntax_tree(text);
    let readings =
        ast.sections.iter().flat_map(|section| crate::options::read(&ast, section).errors);
    assert!(errors.is_empty() && readings.count() == 0);
    let errors = diagnostics("[a]\nioengine=rbd\nrbdname=x\npool=y\n");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn shares_of_a_file_begin_at_the_next_block() {
    let start = |text: &str, nth| {
        let lowered = lowered(&format!("[r]\nfilename=/tmp/full\n{text}\n"));
        blocks(&lowered, 0, nth).range.start
    };
    let at = |bytes| Extent::Bytes(Bytes(bytes));
    assert_eq!(start("offset=33%", 0), at(348_160));
    assert_eq!(start("offset=33%\noffset_align=64k", 0), at(393_216));
    assert_eq!(start("offset=10k", 0), at(10_240));
    assert_eq!(start("offset=50%\noffset_increment=10%\nnumjobs=2", 1), at(630_784));
    assert_eq!(start("offset_increment=33%\nnumjobs=2", 1), at(348_160));
}

#[test]
fn a_share_of_the_size_is_moved() {
    let bytes = |text: &str| stop(&format!("[r]\nfilename=/tmp/full\n{text}\n")).bytes;
    assert_eq!(bytes("io_size=25%"), Some(k(256)));
    assert_eq!(bytes("size=512k\nio_size=25%"), Some(k(128)));
    assert_eq!(bytes("size=50%\nio_size=25%"), Some(k(128)));
    assert_eq!(bytes("offset=50%\nio_size=50%"), Some(k(256)));
}

#[test]
fn files_that_are_named_again_are_added() {
    let names = |text: &str| lowered(text).plan.phases[0].jobs[0].targets.clone();
    assert_eq!(names("[r]\nfilename=/dev/a\nfilename=/dev/b\n"), ["/dev/a", "/dev/b"]);
    assert_eq!(names("[global]\nfilename=/dev/a\n[r]\nfilename=/dev/b\n"), ["/dev/a", "/dev/b"]);
    assert_eq!(names("[global]\nfilename=/dev/a\n[r]\nfilename=/dev/a\n"), ["/dev/a", "/dev/a"]);
}

#[test]
fn a_listed_order_has_up_to_64_blocks() {
    let of =
        |list: &str| format!("[a]\nsize=1m\nrw=randread\nrandom_distribution=sequence:{list}\n");
    let many = (0..65).map(|nth| nth.to_string()).collect::<Vec<_>>().join(",");
    for (list, why) in [("", "is no number"), ("1,x", "`x` is no"), (&*many, "65 blocks are more")]
    {
        let found = diagnostics(&of(list));
        assert!(found[0].contains(why), "{list}: {found:?}");
    }
    // The last of 256 blocks is number 255.
    assert!(diagnostics(&of("256"))[0].contains("block 256 of the list ends at"));
    let lowered = lowered(&of("255,0"));
    let list = |advances| Access::List { blocks: vec![255, 0], advances };
    assert_eq!(blocks(&lowered, 0, 0).access, list(false));
}

#[test]
fn an_amount_ends_a_ramp_of_a_job_or_of_its_group() {
    let amount = |text: &str| lowered(text).plan.phases[0].ramp_amount;
    let of = |bytes: Bytes, together| Some(RampAmount { bytes, together });
    let job = "size=1m\nrw=read\nnumjobs=2\nramp_size=64k";
    assert_eq!(amount(&format!("[a]\n{job}\n")), of(k(64), false));
    assert_eq!(amount(&format!("[a]\n{job}\ngroup_reporting\n")), of(k(64), true));
    assert_eq!(amount("[a]\nsize=1m\nrw=read\n"), None);
    let both = diagnostics(&format!("[a]\n{job}\nramp_time=1\n"));
    assert!(both[0].contains("by time or by an amount"), "{both:?}");
    let two = lowered(&format!("[a]\n{job}\n[b]\n{job}\nramp_size=1m\n"));
    assert_eq!(two.plan.phases[0].ramp_amount, of(k(1024), false));
    assert!(
        two.notes.iter().any(|note| note.did.contains("each job has moved 1MiB")),
        "{:?}",
        two.notes
    );
}

#[test]
fn the_last_write_is_looked_for_where_an_option_says_so() {
    let by = |lines: &str| {
        let text = format!("[a]\nsize=1m\nverify=crc32c\n{}\n", lines.replace(' ', "\n"));
        let lowered = lowered(&text);
        blocks(&lowered, 0, 0).verify.as_ref().expect("verified").dry_run
    };
    let only = "rw=randwrite verify_only";
    assert_eq!(by(only), None);
    assert_eq!(by(&format!("{only} verify_write_sequence=1")), Some(LastWrite::Number));
    assert_eq!(by(&format!("{only} verify_header_seed=1")), Some(LastWrite::Seed));
    let both = "verify_write_sequence=1 verify_header_seed=1";
    assert_eq!(by(&format!("{only} {both}")), Some(LastWrite::Both));
    assert_eq!(by(&format!("{only} {both} time_based runtime=1")), None);
    assert_eq!(by(&format!("{only} {both} io_size=2m")), None);
    assert_eq!(by(&format!("{only} {both} io_size=2m norandommap")), Some(LastWrite::Both));
    assert_eq!(by(&format!("rw=randwrite {both}")), None, "what a job writes it knows");
    assert_eq!(by(&format!("rw=read {both}")), Some(LastWrite::Seed));
}

#[test]
fn preconditioning_is_one_pass_of_its_own_length() {
    let lowered = lowered("[a]\nsize=1m\nrw=randwrite\nsprandom=1\nspr_op=0.07\nspr_cs=8k\n");
    let Access::Precondition { regions: 100, spare_percent, rewrites_last: true } =
        blocks(&lowered, 0, 0).access
    else {
        panic!("{:?}", blocks(&lowered, 0, 0).access)
    };
    assert!((spare_percent - 7.0).abs() < 1e-9);
    let stop = job(&lowered, 0, 0).stop.clone().unwrap_or_default();
    assert_eq!((stop.passes, stop.bytes, stop.at_least), (Some(1), None, None));
}

#[test]
fn a_region_of_preconditioning_holds_the_cache() {
    let regions = |more: &str| {
        let lowered = lowered(&format!("[a]\nsize=64m\nrw=randwrite\nsprandom=1\n{more}"));
        match blocks(&lowered, 0, 0).access {
            Access::Precondition { regions, .. } => (regions, lowered.notes.len()),
            _ => (0, 0),
        }
    };
    assert_eq!(regions("spr_cs=64k\n"), (100, 0));
    assert_eq!(regions("spr_cs=16m\n"), (4, 1));
    assert_eq!(regions("spr_cs=16m\nspr_num_regions=2\n"), (2, 0));
    let all = diagnostics("[a]\nsize=64m\nrw=randwrite\nsprandom=1\nspr_cs=1g\n");
    assert!(all[0].contains("leaves no region"), "{all:?}");
}
