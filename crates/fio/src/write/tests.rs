//! Plans as job files, and what fio has no words for.

use candor_plan::text;

use super::*;
use crate::lower::tests::Nowhere;
use candor_front::Found;

fn host() -> Nowhere {
    Nowhere::default().with("/data/f", Found::File(64 << 20))
}

/// A plan with a file and this phase.
fn plan(phase: &str) -> Plan {
    let target = "version = 2\n[[target]]\nname = \"f\"\npath = \"/data/f\"\nkind = \"file\"\n\
                  size = \"64m\"\nlayout = \"never\"\n";
    match text::read("plan", &format!("{target}{phase}")) {
        Ok((plan, _)) => plan,
        Err((problems, _)) => panic!("{phase}: {problems:?}"),
    }
}

fn written(phase: &str) -> Result<String, Vec<String>> {
    job_file(&plan(phase), &host())
}

#[test]
fn a_plan_is_a_job_file_of_the_same_work() {
    let text = written(
        "[[phase]]\nname = \"first\"\nstop = { time = \"4s\" }\nramp = \"1s\"\n\
         [[phase.job]]\ntargets = [\"f\"]\n\
         [phase.job.work.blocks]\nmix = \"read:70,write:30\"\naccess = \"random\"\n\
         direct = true\n\
         [[phase]]\nname = \"second\"\nstop = { passes = 1 }\n\
         [[phase.job]]\ntargets = [\"f\"]\nworkers = 2\n\
         [phase.job.work.blocks]\nmix = \"write\"\nsize = \"64k\"\nengine = \"io_uring\"\n\
         depth = 8\ndurability = { fsync_at_end = true }\n\
         pace = { ops = \"1000/s\", arrival = \"poisson\" }\n",
    );
    let expected = "\
[first]
filename=/data/f
size=67108864
rw=randrw
rwmixread=70
bs=4096
norandommap=1
ioengine=psync
direct=1
invalidate=0
fadvise_hint=0
refill_buffers=1
time_based
runtime=4s
ramp_time=1s

[second]
stonewall
filename=/data/f
size=67108864
rw=write
bs=65536
ioengine=io_uring
iodepth=8
iodepth_batch=8
iodepth_batch_complete_max=8
invalidate=0
fadvise_hint=0
end_fsync=1
refill_buffers=1
rate_iops=500
rate_process=poisson
numjobs=2
";
    assert_eq!(text.as_deref(), Ok(expected));
}

#[test]
fn kinds_of_work_have_their_words() {
    for work in [
        "access = \"permutation\"",
        "access = \"sequential\"\nsize = \"4k-64k\"",
        "access = \"random\"\nsize = \"4k:60,64k:40\"",
        "access = { zipf = { theta = 1.2 } }",
        "access = { pareto = { h = 0.2, center_percent = 91.0 } }\nmix = \"write\"",
        "mix = \"write\"\ndurability = { open = \"dsync\" }",
        "engine = \"libaio\"\ndepth = 4\ndirect = true",
        "engine = \"mmap\"",
        "range = { start = \"1m\", length = \"63m\" }",
        "hints = { invalidate = true, advice = \"random\" }\naccess = \"random\"",
        "pace = { bytes = \"10m/s\" }",
    ] {
        let text = written(&format!(
            "[[phase]]\nname = \"p\"\nstop = {{ time = \"5s\" }}\n[[phase.job]]\n\
             targets = [\"f\"]\n[phase.job.work.blocks]\n{work}\n"
        ));
        assert!(text.is_ok(), "{work}: {text:?}");
    }
}

#[test]
fn work_without_words_is_told_by_its_key() {
    for (work, part) in [
        ("mix = \"read:70,write:30\"\npace = { ops = \"1000/s\" }", "pace.ops: the plan has"),
        ("opening = \"in_phase\"", "blocks.opening: the plan has \"in_phase\", fio's words have"),
        ("share = \"slice\"", "blocks.share: the plan has \"slice\""),
        ("mix = \"write\"\ndurability = { fsync_every = 8 }", "durability.in_turn"),
        ("mix = \"write\"\ncontent = { fill = \"words\", words = { seed = 1 } }", "content"),
    ] {
        let told = written(&format!(
            "[[phase]]\nname = \"p\"\nstop = {{ time = \"5s\" }}\n[[phase.job]]\n\
             targets = [\"f\"]\n[phase.job.work.blocks]\n{work}\n"
        ));
        let told = told.expect_err(work).join("\n");
        assert!(told.contains(part), "{work}: {told}");
    }
    let names = "[[phase]]\nname = \"looks\"\n[[phase.job]]\ntargets = [\"f\"]\n\
                 [phase.job.work.entries]\nover = \"target_files\"\nsteps = [\"stat\"]\n";
    assert_eq!(written(names), Err(vec!["looks: fio's job files have no entries".to_owned()]));
}
