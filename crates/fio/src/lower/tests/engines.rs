//! Engines and what belongs to them.

use candor_plan::blocks::{
    Buffers, IoPriority, MemoryKind, Mmap, NvmeWrite, Pattern, PriorityClass, PriorityShare,
    ScsiWrite, Sg, UringCmd,
};
use candor_plan::units::Direction;
use candor_plan::{Burn, Bytes, Engine, Nanos, Target, Work};

use super::{blocks, diagnostics, job, lowered};
use crate::options::ENGINES;

/// The only job of a section with these lines.
fn one(lines: &str) -> candor_plan::Blocks {
    let lowered = lowered(&format!("[a]\nfilename=/tmp/full\n{lines}\n"));
    blocks(&lowered, 0, 0).clone()
}

#[test]
fn engines_by_fios_names() {
    let known = [
        ("sync", Engine::Sync),
        ("vsync", Engine::Vsync),
        ("psync", Engine::Psync),
        ("pvsync", Engine::PVSYNC),
        ("pvsync2", Engine::PVSYNC),
        ("libaio", Engine::LIBAIO),
        ("posixaio", Engine::Threads),
        ("io_uring", Engine::IO_URING),
        ("mmap", Engine::MMAP),
        ("splice", Engine::Splice),
        ("null", Engine::Null),
        ("page_fault", Engine::PageFault),
        ("io_uring_cmd", Engine::IO_URING_CMD),
        ("sg", Engine::SG),
    ];
    for (name, engine) in known {
        assert_eq!(one(&format!("ioengine={name}\nsize=1m")).engine, engine);
    }
    let falloc = lowered("[a]\nioengine=falloc\nrw=write\nsize=1m\ndirectory=/tmp\n");
    assert_eq!(blocks(&falloc, 0, 0).engine, Engine::Fallocate);
    assert_eq!(falloc.plan.targets[0].layout, candor_plan::Layout::Never);
    let refused = ENGINES.iter().filter(|engine| !engine.refused.is_empty());
    for name in refused.map(|engine| engine.name).chain(["libiao"]) {
        let error = &diagnostics(&format!("[a]\nioengine={name}\nsize=1m\n"))[0];
        // Scripts probe for these words.
        assert!(error.contains(&format!("engine {name} not loadable: ")), "{error}");
    }
}

#[test]
fn ranges_of_trims_mean_nothing_to_reads_and_writes() {
    let job = lowered("[a]\nioengine=null\nrw=randwrite\nnum_range=2\nsize=1m\n");
    let told: Vec<_> = job.notes.iter().map(|note| (&*note.asked, &*note.why)).collect();
    assert_eq!(told, [("num_range=2", "rw=randwrite has no trims")]);
}

#[test]
fn a_mix_of_a_job_that_only_reads_is_noted() {
    let job = lowered("[a]\nrw=read\nrwmixread=70\nsize=1m\n");
    let told: Vec<_> = job.notes.iter().map(|note| (&*note.asked, &*note.did)).collect();
    assert_eq!(told, [("rwmixread=70", "nothing")]);
    assert!(lowered("[a]\nrw=rw\nrwmixread=70\nsize=1m\n").notes.is_empty());
}

#[test]
fn what_single_engines_have() {
    let mapped = one("ioengine=mmap\ndirect=1");
    assert_eq!((mapped.engine, mapped.direct), (Engine::Mmap(Mmap { drop: true }), false));
    let ring = one("ioengine=io_uring\nforce_async=4\nnonvectored=0\nnowait=1\nuncached=1");
    let ring = ring.engine.uring().copied().expect("io_uring");
    assert_eq!((ring.force_async_every, ring.vectored), (4, true));
    assert!(ring.flags.nowait && ring.flags.dontcache);
    assert!(!ring.flags.atomic);
    let whole = one("ioengine=pvsync2\nrw=write\ndirect=1\natomic=1");
    let Engine::Pvsync(whole) = whole.engine else { panic!("pvsync") };
    assert!(whole.flags.atomic);
    assert!(!diagnostics("[a]\nrw=write\natomic=1\nsize=1m\n").is_empty());
    let polled = one("ioengine=pvsync2\ndirect=1\nhipri\nhipri_percentage=30");
    let Engine::Pvsync(polled) = polled.engine else { panic!("pvsync") };
    assert_eq!((polled.hipri, polled.hipri_percent), (true, Some(30)));
    // Without direct I/O the kernel takes no notice, and neither does fio.
    assert_eq!(one("ioengine=pvsync2\nhipri").engine, Engine::PVSYNC);
    let merged = one("ioengine=vsync\niodepth=8");
    assert_eq!((merged.depth, merged.batch_submit), (8, None));
}

#[test]
fn commands_past_the_block_layer() {
    let ring = one("ioengine=io_uring_cmd\niodepth=4\nfixedbufs\nregisterfiles\nhipri\nwritefua=1");
    let expected = UringCmd {
        iopoll: true,
        fixed_buffers: Some(true),
        fixed_files: Some(true),
        fua_writes: true,
        ..UringCmd::DEFAULT
    };
    // fio sends them whatever it says of direct I/O, and tells no page cache of them.
    assert_eq!((ring.engine, ring.direct, ring.depth), (Engine::UringCmd(expected), true, 4));
    assert_eq!(ring.hints, candor_plan::blocks::Hints::default());
    let scsi = one("ioengine=sg\nsg_write_mode=verify\nreadfua=1\nwritefua=1");
    let expected = Sg { fua_reads: true, write: ScsiWrite::WriteAndVerify, ..Sg::DEFAULT };
    assert_eq!((scsi.engine, scsi.direct), (Engine::Sg(expected), true));
    let deep = lowered("[a]\nfilename=/tmp/full\nioengine=sg\niodepth=8\n");
    assert_eq!(deep.notes[0].did, "one command at a time");
    for (lines, refused) in [
        ("ioengine=io_uring_cmd\nnowait=1", "nowait=1 is not done"),
        ("ioengine=io_uring_cmd\nsync=1", "sync=1 is not done"),
        ("ioengine=io_uring\npi_act=0", "pi_act=0 is not done"),
        ("ioengine=io_uring\npi_chk=GUARD", "pi_chk=GUARD is not done"),
        ("ioengine=io_uring\nmd_per_io_size=64", "md_per_io_size=64 is not done"),
        ("ioengine=io_uring\nrw=randtrim\nnum_range=2", "num_range=2 is not done"),
        ("ioengine=io_uring_cmd\nrw=trimwrite\nnum_range=2", "num_range=2 is not done"),
        ("ioengine=io_uring_cmd\ncmd_type=scsi", "cmd_type=scsi is not done"),
        ("ioengine=sg\nsg_write_mode=same\nrw=write\nverify=md5", "verify=md5 is not done"),
        (
            "ioengine=io_uring_cmd\nwrite_mode=zeroes\nrw=write\nverify=md5",
            "verify=md5 is not done",
        ),
        ("ioengine=io_uring_cmd\nverify_mode=compare", "verify_mode=compare is not done"),
        ("ioengine=sg\nioscheduler=none", "ioscheduler=none is not done"),
    ] {
        let said = diagnostics(&format!("[a]\nfilename=/tmp/full\n{lines}\n")).join("\n");
        assert!(said.contains(refused), "{lines}: {said}");
    }
}

#[test]
fn options_of_nvme_commands() {
    let checked = one("ioengine=io_uring_cmd\npi_chk=GUARD,APPTAG\napptag=0x17\napptag_mask=255");
    let Engine::UringCmd(UringCmd { protection, .. }) = checked.engine else { panic!("commands") };
    assert!(protection.check_guard && protection.check_tag && !protection.check_reference);
    assert_eq!((protection.tag, protection.tag_mask), (0x17, 255));
    let stream =
        one("ioengine=sg\nrw=write\nsg_write_mode=write_stream\nstream_id=9\nwritefua=1\nhipri");
    let expected =
        Sg { write: ScsiWrite::Stream, stream: 9, fua_writes: true, hipri: true, ..Sg::DEFAULT };
    assert_eq!(stream.engine, Engine::Sg(expected));
    let zeroes = one("ioengine=io_uring_cmd\nrw=write\nwrite_mode=zeroes\ndeac=1");
    let expected = UringCmd { write: NvmeWrite::Zeroes, deallocate: true, ..UringCmd::DEFAULT };
    assert_eq!(zeroes.engine, Engine::UringCmd(expected));
    let own = one("ioengine=io_uring_cmd\npi_act=0\nmd_per_io_size=64");
    let Engine::UringCmd(own) = own.engine else { panic!("commands") };
    assert_eq!((own.protection.made_by_host, own.metadata_bytes), (true, Some(Bytes(64))));
    let ranged = one("ioengine=io_uring_cmd\nrw=randtrim\nnum_range=8");
    let expected = UringCmd { trim_ranges: 8, ..UringCmd::DEFAULT };
    assert_eq!(ranged.engine, Engine::UringCmd(expected));
    for lines in [
        "fdp=1",
        "dataplacement=fdp",
        "data_placement=streams",
        "plid_select=random",
        "fdp_pli_select=random",
        "plids=0,1",
        "fdp_pli=0,1",
        "dp_scheme=/tmp/scheme",
    ] {
        let text = format!("[a]\nfilename=/tmp/full\nioengine=io_uring_cmd\n{lines}\n");
        let said = diagnostics(&text).join("\n");
        assert!(said.contains("no placement identifiers yet"), "{lines}: {said}");
    }
    // What says nothing beside the default is no option that is not done.
    assert_eq!(one("ioengine=io_uring_cmd\ncmd_type=nvme\npi_act=1").engine, Engine::IO_URING_CMD);
}

#[test]
fn priorities_by_share_and_by_size() {
    let priority = |class, level| IoPriority { class, level, hint: 0 };
    let shares = one("ioengine=libaio\ndirect=1\ncmdprio_percentage=20,5\ncmdprio=3").priorities;
    let share = |op, percent, level| PriorityShare {
        op,
        size: None,
        percent,
        priority: priority(PriorityClass::Realtime, level),
    };
    assert_eq!(shares, [share(Direction::Read, 20, 3), share(Direction::Write, 5, 3)]);
    let lines = "ioengine=io_uring\ncmdprio_bssplit=4k/50:64k/10/2/7\ncmdprio_class=3";
    let shares = one(lines).priorities;
    let of = |op, size, percent, class, level| PriorityShare {
        op,
        size: Some(Bytes(size)),
        percent,
        priority: priority(class, level),
    };
    let both = |op| {
        [of(op, 4096, 50, PriorityClass::Idle, 0), of(op, 65536, 10, PriorityClass::BestEffort, 7)]
    };
    assert_eq!(shares, [both(Direction::Read), both(Direction::Write)].concat());
}

#[test]
fn burning_a_share_of_a_cpu() {
    let text = "[a]\nioengine=cpuio\ncpuload=20\ncpuchunks=1000\n[b]\nfilename=/tmp/full\n";
    let lowered = lowered(text);
    assert!(job(&lowered, 0, 0).background && !job(&lowered, 0, 1).background);
    let burn = Burn { chunk: Nanos(1_000_000), rest: Nanos(4_000_000), sort: false };
    assert_eq!(job(&lowered, 0, 0).work, burn.into());
    assert!(diagnostics("[a]\nioengine=cpuio\n")[0].contains("cpuload"));
}

#[test]
fn cpus_of_several_nodes() {
    let cpus = |lines: &str| {
        let text = format!("[a]\nfilename=/tmp/full\n{lines}\n");
        job(&lowered(&text), 0, 0).placement.clone()
    };
    assert_eq!(cpus("numa_cpu_nodes=0,2").cpus, [0, 1, 4, 5]);
    assert_eq!(cpus("numa_cpu_nodes=0,2\ncpus_allowed=1-4").cpus, [1, 4]);
    let one = cpus("numa_cpu_nodes=1");
    assert_eq!((one.cpus, one.numa_node), (vec![], Some(1)));
    let wrong = |lines: &str| diagnostics(&format!("[a]\nfilename=/tmp/full\n{lines}\n")).remove(0);
    assert!(wrong("numa_cpu_nodes=0-9").contains("has not all"));
    assert!(wrong("numa_cpu_nodes=0,1\ncpus_allowed=5").contains("none of the CPUs"));
}

#[test]
fn a_program_with_its_arguments() {
    let text = "[x y]\nioengine=exec\nprogram=/bin/echo\narguments=%n for  %r s\nruntime=3\n";
    let lowered = lowered(text);
    let Work::Program(program) = &job(&lowered, 0, 0).work else { panic!("a program") };
    assert_eq!(program.command, ["/bin/echo", "x", "y", "for", "3", "s"]);
    assert_eq!(program.output.as_deref(), Some(std::path::Path::new("x y.stdout")));
    assert!(diagnostics("[a]\nioengine=exec\n")[0].contains("program"));
}

#[test]
fn buffers_of_every_kind() {
    let of = |lines: &str| one(lines).buffers;
    assert_eq!(of("mem=malloc"), Buffers::default());
    assert_eq!(of("mem=shm").kind, MemoryKind::Shm);
    assert!(of("mem=mmaphuge").huge && of("mem=shmhuge").huge);
    let shared = of("mem=mmapshared:/tmp/b\niomem_align=512\nlockmem=1m");
    assert_eq!((shared.kind, shared.offset), (MemoryKind::Shared, Bytes(512)));
    assert_eq!(shared.lock, Some(Bytes(1 << 20)));
    assert_eq!(shared.file.as_deref(), Some(std::path::Path::new("/tmp/b")));
}

#[test]
fn names_are_made_looked_at_and_removed() {
    use candor_plan::entries::{Over, Step};
    let known = [
        ("filecreate", Over::TargetFiles, Step::Create),
        ("filestat\nstat_type=statx", Over::TargetFiles, Step::Statx),
        ("filedelete", Over::TargetFiles, Step::Unlink),
        ("dircreate", Over::TargetDirectories, Step::Mkdir),
        ("dirstat", Over::TargetDirectories, Step::Stat),
        ("dirdelete", Over::TargetDirectories, Step::Rmdir),
    ];
    for (name, over, step) in known {
        let text = format!("[a]\nrw=write\nfilesize=4k\nnrfiles=9\nioengine={name}\n");
        let lowered = lowered(&text);
        let job = job(&lowered, 0, 0);
        let entries = job.entries().expect("entries");
        assert_eq!(
            (entries.over, &entries.steps[..], job.blocks().is_none()),
            (over, &[step][..], true)
        );
        assert_eq!(lowered.jobs[0].counted_as, Some(Direction::Write));
        let named: u64 = lowered.plan.targets.iter().map(Target::files_named).sum();
        assert_eq!(named, 9);
    }
}

#[test]
fn a_pattern_longer_than_its_room_is_noted() {
    let long = lowered("[a]\nsize=1m\nrw=write\nbuffer_pattern=0x01'/tmp/long-pattern'\n");
    assert_eq!(long.notes.len(), 1, "{:?}", long.notes);
    assert_eq!(long.notes[0].did, "the first 262143 bytes of `/tmp/long-pattern`, over and over");
    let whole = lowered("[a]\nsize=1m\nrw=write\nbuffer_pattern=0x01'/tmp/page-pattern'\n");
    let pattern = blocks(&whole, 0, 0).content.pattern.as_ref().map(Pattern::len);
    assert_eq!((pattern, &whole.notes[..]), (Some(4097), &[][..]));
}

#[test]
fn cpus_that_the_host_has_not_are_reported() {
    let on = |cpus: &str| format!("[a]\nsize=1m\ncpus_allowed={cpus}\n");
    let some = lowered(&on("4-7"));
    assert_eq!(job(&some, 0, 0).placement.cpus, [4, 5]);
    assert_eq!(some.notes[0].did, "runs on [4, 5], the listed CPUs that the host has");
    assert_eq!(lowered(&on("0-5")).notes, []);
    assert!(diagnostics(&on("6,7"))[0].contains("the host has none of these CPUs"));
}

#[test]
fn an_alignment_turns_the_map_off_whatever_draws() {
    use candor_plan::blocks::Access;
    for generator in ["tausworthe", "lfsr"] {
        let text =
            format!("[a]\nrw=randwrite\nbs=16k\nba=4k\nrandom_generator={generator}\nsize=1m\n");
        assert_eq!(blocks(&lowered(&text), 0, 0).access, Access::Random, "{generator}");
    }
}
