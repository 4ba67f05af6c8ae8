use super::*;
use crate::text;

mod files;
mod flows;
mod ranks;
mod take;
mod window;

/// A plan around the given lines; nothing in it is wrong by itself.
fn plan(phase: &str, job: &str, blocks: &str) -> String {
    format!(
        "[[target]]\nname = \"disk\"\npath = \"/x\"\nsize = \"1m\"\n\
         [[target]]\nname = \"null\"\nkind = \"null\"\nsize = \"1m\"\n\
         [[phase]]\n{phase}\n[[phase.job]]\n{}{job}\n[phase.job.work.blocks]\n{blocks}\n",
        if job.contains("targets") { "" } else { "targets = [\"disk\"]\n" },
    )
}

fn found(text: &str) -> Vec<Problem> {
    match text::read("x", text) {
        Ok((plan, _)) => check(&plan),
        Err((problems, _)) => panic!("{text}\n{problems:#?}"),
    }
}

/// Rules that report the problems of a text.
fn rules(text: &str) -> Vec<&'static str> {
    found(text).iter().map(|problem| problem.rule).collect()
}

/// Where the lines of a case go.
#[derive(Clone, Copy)]
enum In {
    Phase,
    Job,
    Blocks,
}
use In::{Blocks as B, Job as J, Phase as P};

/// One rule that must speak, about one place below where the lines stand, and no other rule.
fn speaks(rule: &str, severity: Severity, place: &str, section: In, lines: &str) {
    let (text, at) = match section {
        P => (plan(lines, "", ""), "phase[0]"),
        J => (plan("", lines, ""), "phase[0].job[0]"),
        B => (plan("", "", lines), "phase[0].job[0].work.blocks"),
    };
    let problems = found(&text);
    let place = if place.is_empty() { at.to_owned() } else { format!("{at}.{place}") };
    let said: Vec<_> = problems.iter().map(|p| (p.rule, p.severity, p.place.as_str())).collect();
    assert_eq!(said, [(rule, severity, place.as_str())], "{lines}: {problems:#?}");
}

/// Errors about blocks: rule, place, lines.
#[rustfmt::skip]
const BLOCKS: &[(&str, &str, &str)] = &[
    ("pre-read", "hints.pre_read", "hints = { pre_read = true, invalidate = true }"),
    ("truncate", "truncate_at_open", "truncate_at_open = true"),
    ("map-advice", "hints.map_advice", "hints.map_advice = \"hugepage\""),
    ("size", "size", "size = 0"),
    ("size", "size", "size = \"0k-4k\""),
    ("size", "size.write", "mix = \"read:50,write:50\"\nsize = { read = 4096, write = 0 }"),
    ("size-range", "size", "size = \"64k-4k\""),
    ("weights", "size", "size = \"4k:60,8k:30\""),
    ("weights", "size", "size = \"4k:60,8k:60\""),
    ("align", "align", "align = 0"),
    ("size-target", "size", "size = \"2m\""),
    ("size-target", "size", "size = \"512k\"\nrange.length = \"25%\""),
    ("range-start", "range.start", "range.start = \"1m\""),
    ("range-end", "range.length", "range = { start = \"512k\", length = \"513k\" }"),
    ("range-end", "range", "range = { start = \"60%\", length = \"50%\" }"),
    ("range-length", "range.length", "range.length = 0"),
    ("range-length", "range.length", "range.length = \"0%\""),
    ("share-size", "share", "share = \"interleave\"\nsize = \"4k-8k\""),
    ("share-size", "share",
     "share = { segments = { block = \"8k\", count = 1 } }\nsize = \"4k:50,8k:50\""),
    ("segments", "share", "share = { segments = { block = \"8k\", count = 129 } }"),
    ("segments", "share.segments.count", "share = { segments = { block = \"8k\", count = 0 } }"),
    ("segments", "share.segments.block", "share = { segments = { block = 0, count = 1 } }"),
    ("segment-block", "share.segments.block", "share = { segments = { block = 5000, count = 1 } }"),
    ("trace-share", "share", "access = { trace = { file = \"t\" } }\nshare = \"slice\""),
    ("trace-file", "access.trace.file", "access = { trace = { file = \"\" } }"),
    ("hole", "access.holes.hole", "access = { holes = { hole = 0 } }"),
    ("zipf", "access.zipf.theta", "access = { zipf = { theta = 0 } }"),
    ("zipf", "access.zipf.theta", "access = { zipf = { theta = 1 } }"),
    ("pareto", "access.pareto.h", "access = { pareto = { h = 0.0 } }"),
    ("pareto", "access.pareto.h", "access = { pareto = { h = 1 } }"),
    ("normal", "access.normal.deviation_percent",
     "access = { normal = { deviation_percent = 0 } }"),
    ("zoned", "access.zoned.zones", "access = { zoned = { zones = [] } }"),
    ("zoned", "access.zoned.zones",
     "access = { zoned = { zones = [{ access_percent = 100, size = \"90%\" }] } }"),
    ("zoned", "access.zoned.zones",
     "access = { zoned = { zones = [{ access_percent = 90, size = \"100%\" }] } }"),
    ("zoned", "access.zoned.zones[0].size",
     "access.zoned.zones = [{ access_percent = 50, size = \"0%\" },\n\
      { access_percent = 50, size = \"100%\" }]"),
    ("hot-band", "access.hot_band.hit_percent",
     "access.hot_band = { hit_percent = 101, start_percent = 0, length_percent = 10 }"),
    ("hot-band", "access.hot_band",
     "access.hot_band = { hit_percent = 90, start_percent = 95, length_percent = 10 }"),
    ("hot-band", "access.hot_band.length_percent",
     "access.hot_band = { hit_percent = 90, start_percent = 95, length_percent = 0 }"),
    ("list", "access.list.blocks", "access.list.blocks = []"),
    ("list", "access.list.blocks", "access.list.blocks = [0, 256]"),
    ("percent", "random_percent", "random_percent = 101"),
    ("random-percent", "random_percent", "random_percent = 10\naccess = \"random\""),
    ("zoned", "access.zoned.zones.write",
     "mix = \"read:50,write:50\"\naccess.zoned.zones.write = []\n\
      access.zoned.zones.read = [{ access_percent = 100, size = \"64k\" }]"),
    ("zoned", "access.zoned.zones",
     "access.zoned.zones = [{ access_percent = 50, size = \"64k\" },\n\
      { access_percent = 50, size = \"50%\" }]"),
    ("percent", "access.zipf.center_percent",
     "access = { zipf = { theta = 1.2, center_percent = 101 } }"),
    ("back", "access.back.step", "access = { back = { step = 0 } }"),
    ("pairs", "pairs", "pairs = true"),
    ("stay", "stay", "stay.run = 8"),
    ("stay", "stay.run", "access = \"random\"\nstay.run = 0"),
    ("percent", "stay.percent", "access = \"random\"\nstay.percent = 101"),
    ("jump-size", "jump_size", "jump_size = \"8k\""),
    ("windows", "windows.bytes", "windows = { length = \"64k\", bytes = 0 }"),
    ("windows", "windows.length", "windows = { length = \"1k\", bytes = \"1k\" }"),
    ("zones", "zones.length", "zones = { length = 0 }"),
    ("zones", "zones.length", "mix = \"write\"\nzones = { length = \"1k\" }"),
    ("zones", "zones.capacity", "zones = { length = \"1m\", capacity = \"2m\" }"),
    ("zones", "zones.capacity", "zones = { capacity = 0 }"),
    ("zones", "zones.gap", "zones = { length = \"1m\", gap = \"64k\" }"),
    ("zones", "zones.open_max", "zones = { open_max = 0 }"),
    ("zones", "zones.open_max_per_worker", "zones = { open_max_per_worker = 0 }"),
    ("percent", "zones.reset.above_percent",
     "zones.reset = { above_percent = 101, every = 1 }"),
    ("zones", "zones.reset.every", "zones.reset = { above_percent = 10, every = 0 }"),
    ("zones", "size", "mix = \"trim\"\nzones.length = \"1m\""),
    ("zones", "zones", "zones = {}\naccess = { trace = { file = \"t\" } }"),
    ("zones", "zones", "zones = {}\nwindows = { length = \"64k\", bytes = \"64k\" }"),
    ("zones", "zones", "zones = {}\nshare = \"slice\""),
    ("zones", "zones.recover_pointers", "mix = \"write\"\nzones = { recover_pointers = true }"),
    ("zones", "zones", "zones = {}\nverify = { read_back = { only = true } }\nmix = \"write\""),
    ("rotation", "rotation.every", "rotation.every = 0"),
    ("rotation", "rotation.at_once", "rotation.at_once = 0"),
    ("pareto", "rotation.order.pareto.h", "rotation.order = { pareto = { h = 2 } }"),
    ("size-range", "size", "size = \"4k-8k/0\""),
    ("permutation-align", "align", "access = \"permutation\"\nalign = 512"),
    ("depth", "depth", "depth = 0"),
    ("depth", "depth", "depth = 4097\nengine = \"null\""),
    ("batch", "batch_submit", "engine = \"null\"\ndepth = 8\nbatch_submit = 9"),
    ("batch", "batch_submit", "batch_submit = 0"),
    ("batch", "batch_reap", "batch_reap = 0"),
    ("batch", "batch_reap_max", "engine = \"null\"\ndepth = 8\nbatch_reap = 4\nbatch_reap_max = 2"),
    ("batch", "batch_reap", "engine = \"null\"\ndepth = 8\nbatch_reap = 9"),
    ("iopoll-direct", "engine.io_uring.iopoll", "engine.io_uring.iopoll = true"),
    ("sqpoll-cpu", "engine.io_uring.sqpoll_cpu", "engine.io_uring.sqpoll_cpu = 1"),
    ("cpu", "engine.io_uring.sqpoll_cpu",
     "engine.io_uring = { sqpoll = true, sqpoll_cpu = 10000 }"),
    ("uring-defer", "engine.io_uring.defer_taskrun",
     "engine.io_uring = { sqpoll = true, defer_taskrun = true }"),
    ("hipri-direct", "engine.pvsync.hipri", "engine.pvsync.hipri = true"),
    ("mmap-direct", "direct", "engine = \"mmap\"\ndirect = true"),
    ("hipri-percent", "engine.pvsync.hipri_percent",
     "direct = true\nengine.pvsync = { hipri = true, hipri_percent = 101 }"),
    ("hipri-percent", "engine.pvsync.hipri_percent", "engine.pvsync.hipri_percent = 50"),
    ("atomic-direct", "engine.pvsync.flags.atomic", "engine.pvsync.flags.atomic = true"),
    ("uring-vectored", "engine.io_uring.vectored",
     "engine.io_uring = { vectored = true, fixed_buffers = true }"),
    ("priorities", "priorities",
     "priorities = [{ op = \"read\", percent = 1, priority = { class = \"idle\" } }]"),
    ("priorities", "priorities",
     "engine = \"io_uring\"\npriorities = [{ op = \"read\", percent = 101, priority = {} }]"),
    ("priorities", "priorities[0].op",
     "engine = \"io_uring\"\npriorities = [{ op = \"trim\", percent = 1, priority = {} }]"),
    ("io-priority", "priorities[0].priority.level",
     "engine = \"io_uring\"\npriorities = [{ op = \"read\", percent = 1, priority.level = 8 }]"),
    ("buffers-offset", "buffers.offset", "buffers.offset = 4096"),
    ("buffers-file", "buffers.file", "buffers = { kind = \"shm\", file = \"/x\" }"),
    ("ftruncate-mix", "mix", "engine = \"ftruncate\""),
    ("passthrough", "direct", "engine = \"io_uring_cmd\""),
    ("passthrough", "direct", "engine = \"sg\""),
    ("passthrough", "durability.open",
     "engine = \"sg\"\ndirect = true\nmix = \"write\"\ndurability.open = \"sync\""),
    ("passthrough", "durability.range",
     "engine = \"sg\"\ndirect = true\nmix = \"write\"\n\
      durability.range = { every = 1, write = true }"),
    ("passthrough", "hints.evict", "engine = \"sg\"\ndirect = true\nhints.evict = true"),
    ("passthrough", "hints.write_life",
     "engine = \"io_uring_cmd\"\ndirect = true\nhints.write_life = \"short\""),
    ("passthrough", "zones", "engine = \"sg\"\ndirect = true\nzones = {}"),
    ("passthrough", "zones",
     "direct = true\nmix = \"write\"\nzones = {}\nengine.io_uring_cmd.write = \"zeroes\""),
    ("passthrough", "engine.io_uring_cmd.trim_ranges",
     "direct = true\nmix = \"trim\"\nengine.io_uring_cmd.trim_ranges = 0"),
    ("passthrough", "engine.io_uring_cmd.trim_ranges",
     "direct = true\nmix = \"trim\"\nengine.io_uring_cmd.trim_ranges = 257"),
    ("passthrough", "engine.io_uring_cmd.trim_ranges",
     "direct = true\nmix = \"write\"\nengine.io_uring_cmd.trim_ranges = 2"),
    ("passthrough", "engine.io_uring_cmd.trim_ranges",
     "direct = true\nmix = \"trim\"\nserialize_overlap = true\n\
      engine.io_uring_cmd.trim_ranges = 2"),
    ("passthrough", "engine.io_uring_cmd.write",
     "direct = true\nmix = \"write\"\nengine.io_uring_cmd.write = \"zeroes\"\nverify = {}"),
    ("passthrough", "engine.io_uring_cmd.deallocate",
     "direct = true\nmix = \"write\"\nengine.io_uring_cmd.deallocate = true"),
    ("passthrough", "engine.io_uring_cmd.protection.made_by_host",
     "direct = true\nmix = \"write\"\n\
      engine.io_uring_cmd = { write = \"verify\", protection.made_by_host = true }"),
    ("passthrough", "engine.sg.fua_writes",
     "direct = true\nmix = \"write\"\nengine.sg = { write = \"write_same\", fua_writes = true }"),
    ("passthrough", "engine.sg.stream", "direct = true\nmix = \"write\"\nengine.sg.stream = 3"),
    ("sqpoll-cpu", "engine.io_uring_cmd.sqpoll_cpu",
     "direct = true\nengine.io_uring_cmd.sqpoll_cpu = 1"),
    ("priorities", "priorities",
     "engine = \"sg\"\ndirect = true\n\
      priorities = [{ op = \"read\", percent = 1, priority = {} }]"),
    ("lock", "lock", "engine = \"null\"\nlock = \"exclusive\""),
    ("precondition", "access.precondition",
     "mix = \"read\"\naccess.precondition = { regions = 10, spare_percent = 15 }"),
    ("precondition", "access.precondition.spare_percent",
     "mix = \"write\"\naccess.precondition = { regions = 10, spare_percent = 100 }"),
    ("precondition", "access.precondition.regions",
     "mix = \"write\"\naccess.precondition = { regions = 0, spare_percent = 15 }"),
    ("bucket", "bucket", "bucket = \"b\""),
    ("bucket", "headers", "headers.metadata = 1"),
    ("page-fault", "mix", "engine = \"page_fault\"\nmix = \"trim\""),
    ("pace", "pace.ops", "pace.ops = 0"),
    ("pace", "pace.bytes", "pace.bytes = 0"),
    ("pace", "pace.bursts", "pace = { ops = 5, bursts = true }"),
    ("pace", "pace.steps", "pace.steps = [{ ops = 0, time = \"1s\" }]"),
    ("pace", "pace.steps", "pace.steps = [{ ops = 5, time = 0 }]"),
    ("pace", "pace.steps", "pace = { ops = 5, steps = [{ ops = 5, time = \"1s\" }] }"),
    ("arrival", "pace.arrival", "pace.arrival = \"poisson\""),
    ("think", "pace.think.every", "pace.think = { time = \"1ms\", every = 0 }"),
    ("think", "pace.think.every_time",
     "pace.think = { time = \"1ms\", every = 1, every_time = 0 }"),
    ("pace", "pace.bytes_per_direction", "pace.bytes_per_direction = 0"),
    ("interval", "pace.floor.cycle", "pace.floor = { ops = 10, cycle = 0 }"),
    ("flow", "pace.flow.weight", "pace.flow.weight = 0"),
    ("goal", "pace.goal.percentile",
     "pace.goal = { latency = \"1ms\", percentile = 101, window = \"1s\" }"),
    ("goal", "pace.goal.window", "pace.goal = { latency = \"1ms\", percentile = 99, window = 0 }"),
    ("time-limit", "pace.think.time", "pace.think = { time = \"367d\", every = 1 }"),
    ("interval", "measure.log.window", "measure.log.window = \"1us\""),
    ("interval", "measure.log.histogram", "measure.log.histogram = \"999us\""),
    ("log-peaks", "measure.log.peaks", "measure.log.peaks = true"),
    ("range", "durability.range.every", "mix = \"write\"\ndurability.range.write = true"),
    ("in-turn", "durability.in_turn", "mix = \"write\"\ndurability.in_turn = true"),
    ("percent", "content.compressible_percent", "content.compressible_percent = 101"),
    ("percent", "content.duplicate_percent", "content.duplicate_percent = 255"),
    ("verify-interval", "verify.interval", "verify.interval = 256"),
    ("verify-interval", "verify.interval", "verify.interval = 8192"),
    ("verify-interval", "verify.interval", "verify = {}\nsize = \"4k:50,6k:50\""),
    ("verify-interval", "verify.interval", "verify = {}\nalign = 512"),
    ("verify-interval", "verify.interval", "verify = {}\nsize = \"6k-60k\""),
    ("verify-interval", "verify.interval", "verify = { format.acca = \"sha512\", interval = 64 }"),
    ("verify-interval", "verify.interval", "verify = { format = \"nothing\", interval = 0 }"),
    ("verify-header", "verify.header_at", "verify.header_at = 512"),
    ("verify-header", "verify.header_at", "verify = { format.acca = \"md5\", header_at = 55 }"),
    ("verify-header", "verify.header_at", "verify = { format.acca = \"md5\", header_at = \"4k\" }"),
    ("no-pattern", "verify.format", "verify.format = \"pattern\""),
    ("no-pattern", "verify.format", "verify.format.acca = \"pattern\""),
    ("no-pattern", "content.fill", "content.fill = \"pattern\""),
    ("percent", "content.duplicates.working_set.percent",
     "content = { duplicate_percent = 5, duplicates.working_set.percent = 0 }"),
    ("read-back", "verify.read_back", "verify.read_back = {}"),
    ("read-back", "verify.read_back",
     "mix = \"read:50,write:50\"\nverify.read_back = {}\n\
      pace.per_direction = { read = 5, write = 5, trim = 5 }"),
    ("dry-run", "verify.dry_run", "verify = { dry_run = \"seed\" }"),
    ("dry-run", "verify.dry_run",
     "mix = \"write\"\nverify = { format.acca = \"md5\", dry_run = \"both\" }"),
    ("mismatches", "verify.mismatches_max", "verify.mismatches_max = 0"),
    ("before-write", "verify.read_before_write",
     "mix = \"write\"\nverify = { read_before_write = true, read_back.only = true }"),
    ("before-write", "verify.read_before_write",
     "mix = \"write\"\nverify = { read_before_write = true, format = \"nothing\" }"),
    ("before-write", "verify.read_before_write",
     "mix = \"write\"\nzones = {}\nverify.read_before_write = true"),
    ("journal", "verify.journal.directory", "mix = \"write\"\nverify.journal = {}"),
    ("journal", "verify.journal.ignore_pending",
     "mix = \"write\"\nverify.journal = { directory = \"/j\", ignore_pending = true }"),
    ("journal", "verify.journal",
     "mix = \"write\"\nverify = { format.acca = \"md5\", journal.directory = \"/j\" }"),
    ("journal", "verify.journal",
     "mix = \"write\"\nverify = { generations = false, journal.directory = \"/j\" }"),
    ("journal", "verify.journal",
     "mix = \"write:50,trim:50\"\nverify.journal.directory = \"/j\""),
    ("journal", "verify.journal",
     "mix = \"write\"\nzones = {}\nverify.journal.directory = \"/j\""),
    ("hot-sets", "content.hot_sets",
     "content = { fill = \"zero\", hot_sets = { unit = \"4k\", sets = [[1, 2]] } }"),
    ("hot-sets", "content.hot_sets", "content.hot_sets = { unit = 100, sets = [[1, 2]] }"),
    ("hot-sets", "content.hot_sets", "content.hot_sets = { unit = \"4k\", sets = [[1, 0]] }"),
    ("verify-content", "verify",
     "verify = {}\ncontent.hot_sets = { unit = \"4k\", sets = [[1, 2]] }"),
    ("verify-content", "verify", "verify = {}\ncontent.fill = \"zero\""),
    ("verify-content", "verify", "verify = {}\ncontent.fill = \"once\""),
    ("verify-content", "verify", "verify = {}\ncontent.compressible_percent = 50"),
    ("verify-content", "verify", "verify = {}\ncontent.duplicate_percent = 50"),
    ("verify-nothing", "verify", "verify = {}\nengine = \"null\""),
    ("share-target", "share", "share = \"slice\"\nsize = \"1m\""),
];

#[test]
fn errors_in_blocks() {
    for &(rule, place, lines) in BLOCKS {
        // The last case is about two workers.
        if rule == "share-target" {
            let text = plan("", "workers = 2", lines);
            assert_eq!(found(&text)[0].rule, rule);
            // Slices begin at aligned places, so these are of 512 KiB or nothing.
            let lines = "share = \"slice\"\nalign = \"512k\"\nsize = \"4k\"";
            assert_eq!(found(&plan("", "workers = 3", lines))[0].rule, rule);
            assert_eq!(found(&plan("", "workers = 2", lines)), []);
        } else {
            speaks(rule, Severity::Error, place, B, lines);
        }
    }
}

#[test]
fn errors_in_phases_and_jobs() {
    #[rustfmt::skip]
    let cases = [
        ("workers", "workers", J, "workers = 0"),
        ("workers", "workers", J, "workers = 4097"),
        ("no-target", "targets", J, "targets = []"),
        ("unknown-target", "targets[0]", J, "targets = [\"dsik\"]"),
        ("null-target", "targets[0]", J, "targets = [\"null\"]"),
        ("rank-shift", "rank_shift", J, "rank_shift = 9223372036854775807"),
        ("split", "placement.split", J, "placement.split = true"),
        ("cpu", "placement.cpus[0]", J, "placement.cpus = [9999]"),
        ("numa-node", "placement.numa_node", J, "placement.numa_node = 9999"),
        ("nice", "threads.nice", J, "threads.nice = 20"),
        ("io-priority", "threads.io_priority.level", J, "threads.io_priority.level = 8"),
        ("thread-name", "threads.name", J, "threads.name = \"longer than fifteen\""),
        ("numa-node", "threads.memory", J, "threads.memory = { bind = [] }"),
        ("numa-node", "threads.memory", J, "threads.memory = { prefer = 9999 }"),
        ("control-group", "threads.control_group.name", J,
         "threads.control_group.name = \"../x\""),
        ("after", "after[0]", J, "name = \"a\"\nafter = [\"a\"]"),
        ("hook", "hooks.before.command", J, "hooks.before.command = \" \""),
        ("operations-log", "operations_log.file", J, "operations_log.file = \"\""),
        ("operations-log", "operations_log.file", J, "operations_log.file = \"/x\""),
        ("time-limit", "delay", J, "delay = \"400d\""),
        ("time-limit", "ramp", P, "ramp = \"400d\""),
        ("ramp", "ramp_amount.bytes", P, "ramp_amount.bytes = 0"),
        ("ramp", "ramp_amount", P, "ramp = \"1s\"\nramp_amount.bytes = \"1m\""),
        ("interval", "interval", P, "interval = \"10us\""),
        ("time-limit", "stop.time", P, "stop.time = \"400d\""),
        ("stop-zero", "stop.time", P, "stop.time = 0"),
        ("stop-zero", "stop.bytes", P, "stop.bytes = 0"),
        ("stop-zero", "stop.ops", P, "stop.ops = 0"),
        ("stop-zero", "stop.passes", J, "stop.passes = 0"),
        ("stop-zero", "stop.at_least", J, "stop.at_least = \"0%\""),
        ("stop-zero", "stop.min_time", P, "stop.min_time = 0"),
        ("min-time", "stop.min_time", J, "stop = { min_time = \"1s\", time = \"2s\" }"),
        ("steady", "stop.steady.snia.windows", P,
         "stop.steady.snia = { window = \"1m\", windows = 1 }"),
        ("steady", "stop.steady.agree.percent", J,
         "stop.steady.agree = { window = \"1s\", windows = 5, percent = 0.0 }"),
        ("steady", "stop.steady.hold.limit", J,
         "stop.steady.hold = { figure = \"ops\", fit = \"slope\", limit = -1, percent = true, \
          window = \"1s\", windows = 5 }"),
        ("repeats", "repeats", P, "repeats = 0"),
    ];
    for (rule, place, section, lines) in cases {
        speaks(rule, Severity::Error, place, section, lines);
    }
}

/// Rules that report problems of a job whose engine is http.
fn http(job: &str, bucket: &str, blocks: &str) -> Vec<&'static str> {
    let text = plan("", job, &format!("engine = \"http\"\n{blocks}"));
    let mut found = rules(&format!("[[bucket]]\nname = \"b\"\nbucket = \"b\"\n{bucket}\n{text}"));
    found.dedup();
    found
}

/// The same with a target and the bucket.
fn of_bucket(bucket: &str, blocks: &str) -> Vec<&'static str> {
    http("targets = [\"null\"]", bucket, &format!("bucket = \"b\"\n{blocks}"))
}

#[test]
fn objects_of_blocks_are_in_a_bucket() {
    let null = "targets = [\"null\"]";
    assert_eq!(of_bucket("", ""), [""; 0]);
    assert_eq!(http(null, "", ""), ["no-bucket"]);
    assert_eq!(http(null, "", "bucket = \"c\""), ["no-bucket"]);
    assert_eq!(http("", "", "bucket = \"b\""), ["http-target"]);
    assert_eq!(of_bucket("", "mix = \"write\""), ["bucket-keep"]);
    assert_eq!(of_bucket("", "mix = \"trim\""), ["bucket-keep"]);
    assert_eq!(of_bucket("keep = true", "mix = \"write\""), [""; 0]);
    assert_eq!(of_bucket("prefix = \"{hash:2}\"", ""), ["bucket-keys"]);
    assert_eq!(of_bucket("", "direct = true"), ["http"]);
    assert_eq!(of_bucket("", "headers.retention = { compliance = false, days = 1 }"), ["http"]);
    let range = "engine = { http = { object_mode = \"range\" } }\nbucket = \"b\"\nmix = \"write\"";
    let text = plan("", null, range);
    let bucket = "[[bucket]]\nname = \"b\"\nbucket = \"b\"\nkeep = true\n";
    let found = found(&format!("{bucket}{text}"));
    let told: Vec<_> = found.iter().map(|of| (of.rule, of.severity)).collect();
    assert_eq!(told, [("object-mode", Severity::Warning)]);
}

#[test]
fn a_cache_that_is_wanted_is_there() {
    for (blocks, word) in [
        ("direct = true", "direct"),
        ("hints.evict = true", "evict"),
        ("engine = \"null\"", "meets none"),
    ] {
        let found = found(&plan("", "wants_cache = true", blocks));
        let about = found.iter().find(|problem| problem.rule == "wants-cache").expect(word);
        assert!(about.message.contains(word), "{about:?}");
    }
    assert_eq!(found(&plan("", "wants_cache = true", "")), []);
}

#[test]
fn warnings() {
    #[rustfmt::skip]
    let cases = [
        ("depth-sync", "depth", B, "depth = 32"),
        ("depth-sync", "depth", B, "engine = \"pvsync\"\ndepth = 2"),
        ("depth-sync", "depth", B, "engine = \"mmap\"\ndepth = 2"),
        ("libaio-buffered", "direct", B, "engine = \"libaio\""),
        ("size-range", "size", B, "size = \"4k-10k\""),
        ("dontcache-direct", "engine.pvsync.flags.dontcache", B,
         "direct = true\nengine.pvsync.flags.dontcache = true"),
        ("mmap-open", "durability.open", B,
         "engine = \"mmap\"\nmix = \"write\"\ndurability.open = \"dsync\""),
        ("direct-alignment", "size", B, "direct = true\nsize = 1000"),
        ("direct-alignment", "size", B, "direct = true\nsize = \"1000-4000\""),
        ("direct-alignment", "size", B, "direct = true\nsize = \"512:50,1000:50\""),
        ("direct-alignment", "align", B, "direct = true\nalign = 100"),
        ("direct-alignment", "range.start", B, "direct = true\nrange.start = 100"),
        ("direct-alignment", "access.holes.hole", B,
         "direct = true\naccess = { holes = { hole = 1 } }"),
        ("fsync-reads", "durability", B, "durability.fsync_every = 1"),
        ("think", "pace.think.time", B, "pace.think = { time = 0, every = 1 }"),
        ("zero-content", "content", B,
         "content = { fill = \"zero\", compressible_percent = 10 }"),
        ("verify-race", "verify", B,
         "verify = {}\nmix = \"read:50,write:50\"\naccess = \"random\"\n\
          engine = \"io_uring\"\ndepth = 8"),
        ("duplicate-target", "targets[1]", J, "targets = [\"disk\", \"disk\"]"),
        ("duplicate-cpu", "placement.cpus[1]", J, "placement.cpus = [1, 1]"),
        ("rank-shift", "rank_shift", J, "rank_shift = 1\nsharing = \"own\""),
        ("rank-shift", "rank_shift", J, "rank_shift = 1\nworkers = 4"),
    ];
    for (rule, place, section, lines) in cases {
        speaks(rule, Severity::Warning, place, section, lines);
    }
}

/// A plan whose target has 16 GiB.
fn large(blocks: &str) -> String {
    plan("", "", blocks).replace("\"1m\"", "\"16g\"")
}

#[test]
fn operations_are_as_large_as_one_call() {
    for fits in ["size = \"1536m\"", "mix = \"trim\"\nsize = \"3g\""] {
        assert_eq!(found(&large(fits)), [], "{fits}");
    }
    for (more, message) in [
        ("size = \"2g\"", "the size 2GiB is more than 2097148KiB in one operation"),
        ("mix = \"trim\"\nsize = \"4g\"", "the size 4GiB is more than 4194300KiB"),
        ("mix = \"write:50,trim:50\"\nsize = \"3g\"", "the size 3GiB is more than 2097148KiB"),
    ] {
        let found = found(&large(more));
        let is_told = matches!(&found[..], [one] if one.message.starts_with(message));
        assert!(is_told, "{more}: {found:?}");
    }
}

#[test]
fn sound_plans_are_left_in_peace() {
    for (job, blocks) in [
        ("", ""),
        (
            "",
            "mix = \"write\"\ncontent.compressible_percent = 50\n\
             verify = { unknown = \"ignore\", read_before_write = true, mismatches_max = 50 }",
        ),
        ("", "mix = \"write\"\nverify.journal = { directory = \"/j\", recover = true }"),
        ("", "direct = true\nengine = \"libaio\"\ndepth = 32\nbatch_submit = 32\nbatch_reap = 16"),
        (
            "workers = 32",
            "access = \"random\"\nmix = \"read:70,write:30\"\nverify = {}\
                          \nshare = \"slice\"",
        ),
        ("workers = 4", "share = { segments = { block = \"64k\", count = 4 } }"),
        ("workers = 4\nsharing = \"own\"\nrank_shift = 1", "share = \"slice\""),
        ("", "access = { zipf = { theta = 0.99 } }\nsize = \"4k-64k\""),
        ("", "direct = true\nengine.io_uring = { iopoll = true, sqpoll = true }"),
        ("", "mix = \"trim\"\nsize = \"64k\""),
        ("", "mix = \"write\"\nsize = { read = 0, write = \"4k\" }"),
        ("", "random_percent = 10\naccess = \"backward\"\njump_size = \"8k\""),
        ("", "access = \"permutation\"\nsize = \"4k-8k\"\nstay = { percent = 50, run = 8 }"),
        ("", "mix = \"write:50,trim:50\"\npairs = true\nposition = \"per_direction\""),
        ("", "windows = { length = \"64k\", bytes = \"32k\", gap = \"4k\" }\nsize = \"4k-512k\""),
        ("", "zones = { length = \"1m\", capacity = \"1m\", gap = \"2m\", open_max = 3 }"),
        ("", "rotation = { order = \"sequential\", every = 8, at_once = 2 }\nsize = \"1k-4k/1\""),
        ("", "access.zoned.zones.read = [{ access_percent = 100, size = \"64k\" }]"),
        ("", "range = { start = \"50%\", length = \"50%\" }"),
        ("targets = [\"null\"]", "engine = \"null\""),
        ("targets = [\"null\"]", "engine.io_uring.nop = true"),
        ("", "access = { trace = { file = \"t\" } }"),
        (
            "",
            "access.zoned.zones = [{ access_percent = 33.3, size = \"50%\" },\n\
              { access_percent = 66.6, size = \"50%\" }]",
        ),
    ] {
        let problems = found(&plan("", job, blocks));
        assert_eq!(problems, [], "{job}\n{blocks}");
    }
}

/// Rules of plans and targets, each as a whole text.
/// Each text has, among others, the error of that rule at that place.
fn errors_in(cases: &[(&str, &str, &str)]) {
    for (rule, place, text) in cases {
        let problems = found(text);
        let has = problems.iter().any(|p| p.rule == *rule && p.place.as_str() == *place);
        assert!(has, "{rule} {place}: {problems:#?}");
    }
}

#[test]
fn errors_in_plans_and_targets() {
    #[rustfmt::skip]
    let cases = [
        ("no-targets", "", ""),
        ("no-phases", "", "[[target]]\npath = \"/x\""),
        ("no-jobs", "phase[0]", "[[target]]\npath = \"/x\"\n[[phase]]"),
        ("repeats", "repeats", "repeats = 0"),
        ("target-name", "target[1].name", "[[target]]\npath = \"/x\"\n[[target]]\npath = \"/y\""),
        ("target-name", "target[0].name", "[[target]]\nname = \"\"\npath = \"/x\""),
        ("target-path", "target[0].path", "[[target]]\nsize = \"1m\""),
        ("target-size", "target[0].size", "[[target]]\npath = \"/x\"\nsize = 0"),
        ("target-size", "target[0].size", "[[target]]\npath = \"/x\"\nsize = \"9000p\""),
        ("target-size", "target[0]", "[[target]]\nkind = \"null\""),
        ("scheduler", "target[0].scheduler", "[[target]]\npath = \"/x\"\nscheduler = \"none\""),
        ("remove", "target[0].remove", "[[target]]\npath = \"/x\"\nremove = true"),
        ("tree-shape", "target[0]", "[[target]]\npath = \"/x\"\nkind = \"tree\""),
        ("tree-shape", "target[0].tree", "[[target]]\npath = \"/x\"\nkind = \"file\"\ntree = {}"),
        ("tree-name", "target[0].tree.item_name",
         "[[target]]\npath = \"/x\"\ntree = { items = 2, item_name = \"f\" }"),
        ("tree-name", "target[0].tree.directory_name",
         "[[target]]\npath = \"/x\"\ntree = { directory_name = \"a/{child}\" }"),
        ("tree-name", "target[0].tree.root_name",
         "[[target]]\npath = \"/x\"\ntree = { per_rank = true, root_name = \"..\" }"),
        ("tree-width", "target[0].tree.width",
         "[[target]]\npath = \"/x\"\ntree = { depth = 1, width = 0 }"),
        ("tree-limit", "target[0].tree.depth", "[[target]]\npath = \"/x\"\ntree = { depth = 65 }"),
        ("tree-limit", "target[0].tree",
         "[[target]]\npath = \"/x\"\ntree = { depth = 64, width = 4294967295 }"),
        ("tree-limit", "target[0].tree.items",
         "[[target]]\npath = \"/x\"\n\
          tree = { depth = 2, width = 9, items = 18446744073709551615 }"),
        ("blocks-on-tree", "phase[0].job[0].targets[0]",
         "[[target]]\nkind = \"tree\"\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\"]\nwork.blocks = {}"),
        ("entries-target", "phase[0].job[0].targets[0]",
         "[[target]]\nkind = \"file\"\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\"]\nwork.entries = {}"),
        ("steady", "phase[0].stop.steady.agree.percent",
         "[[phase]]\nstop.steady.agree = { window = \"1s\", windows = 5, percent = 0 }"),
        ("steady", "phase[0].stop.steady.agree.windows",
         "[[phase]]\nstop.steady.agree = { window = \"1s\", windows = 1, percent = 1 }"),
        ("steady", "phase[0].stop.steady.snia.window",
         "[[phase]]\nstop.steady.snia = { window = 0, windows = 5 }"),
        ("wear-out-time", "phase[0].stop.stonewall", "[[phase]]\nstop.stonewall = \"wear_out\""),
        ("duplicate-name", "phase[1].name", "[[phase]]\nname = \"x\"\n[[phase]]\nname = \"x\""),
        ("workers", "phase[0]",
         "[[phase]]\n[[phase.job]]\nwork.blocks = {}\nworkers = 4000\n\
          [[phase.job]]\nwork.blocks = {}\nworkers = 4000"),
        ("buffers", "phase[0].job[0].work.blocks.depth",
         "[[phase]]\n[[phase.job]]\nworkers = 4096\nwork.blocks = { depth = 4096, size = \"1m\" }"),
    ];
    errors_in(&cases);
}

#[test]
fn errors_in_other_kinds_of_work() {
    #[rustfmt::skip]
    let cases = [
        ("program", "phase[0].job[0].work.program.command",
         "[[phase]]\n[[phase.job]]\nwork.program = {}"),
        ("burn", "phase[0].job[0].work.burn.chunk",
         "[[phase]]\n[[phase.job]]\nwork.burn.chunk = 0"),
        ("entries-target", "phase[0].job[0].targets[1]",
         "[[target]]\nname = \"a\"\npath = \"/a\"\nkind = \"tree\"\ntree = {}\n\
          [[target]]\nname = \"b\"\npath = \"/b\"\nkind = \"tree\"\ntree.items = 2\n\
          [[phase]]\n[[phase.job]]\ntargets = [\"a\", \"b\"]\n\
          work.entries = { steps = [\"stat\"] }"),
        ("entries-step", "phase[0].job[0].work.entries.steps[0]",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { over = \"directories\", steps = [\"unlink\"] }"),
        ("entries-step", "phase[0].job[0].work.entries.steps[1]",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"mkdir\", \"unlink\"] }"),
        ("entries-order", "phase[0].job[0].work.entries.select",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { over = \"directories\", steps = [\"rmdir\"], select = \"random\" }"),
        ("entries-order", "phase[0].job[0].work.entries.depth",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { over = \"directories\", steps = [\"mkdir\"], depth = 2 }"),
        ("entries-mix", "phase[0].job[0].work.entries.steps",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], \
          mix = [{ weight = 1, steps = [\"stat\"] }] }"),
        ("entries-mix", "phase[0].job[0].work.entries.mix[0].weight",
         "[[phase]]\n[[phase.job]]\nwork.entries.mix = [{ weight = 0, steps = [\"stat\"] }]"),
        ("depth-sync", "phase[0].job[0].work.entries.depth",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"truncate\"], depth = 2 }"),
        ("depth-sync", "phase[0].job[0].work.entries.depth",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], depth = 2, engine = \"calls\" }"),
        ("depth", "phase[0].job[0].work.entries.items_at_once",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], items_at_once = 2 }"),
        ("entries-pace", "phase[0].job[0].work.entries.pace.floor",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], pace.floor = {} }"),
        ("verify-unused", "phase[0].job[0].work.entries.verify",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], verify = {} }"),
        ("verify-interval", "phase[0].job[0].work.entries.size",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], size = 1000, verify = {} }"),
        ("no-pattern", "phase[0].job[0].work.entries.content.fill",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"create\", \"write\", \"close\"], content.fill = \"pattern\" }"),
        ("not-yet-loader", "phase[0].job[0].work.entries.loader",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], \
          loader = { batch = 1, prefetch = 1, compute = \"1ms\" } }"),
        ("no-steps", "phase[0].job[0].work.entries.steps",
         "[[phase]]\n[[phase.job]]\nwork.entries = {}"),
        ("entries-open", "phase[0].job[0].work.entries.steps",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\"] }"),
        ("entries-open", "phase[0].job[0].work.entries.steps[0]",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"read\", \"close\"] }"),
        ("entries-open", "phase[0].job[0].work.entries.steps[1]",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"open\", \"close\"] }"),
        ("syncfs-unused", "phase[0].job[0].work.entries.syncfs_at_end",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], syncfs_at_end = true }"),
        ("loader", "phase[0].job[0].work.entries.loader.batch",
         "[[phase]]\n[[phase.job]]\n\
          work.entries.loader = { batch = 0, prefetch = 1, compute = 0 }"),
    ];
    are_among(&cases);
}

#[test]
fn errors_in_bytes_of_small_files() {
    #[rustfmt::skip]
    let cases = [
        ("depth-sync", "phase[0].job[0].work.entries.depth",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], depth = 2, engine = \"mmap\" }"),
        ("depth-sync", "phase[0].job[0].work.entries.depth",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"create\", \"ftruncate\", \"close\"], depth = 2 }"),
        ("mmap-direct", "phase[0].job[0].work.entries.direct",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], direct = true, engine = \"mmap\" }"),
        ("engine-unused", "phase[0].job[0].work.entries.engine",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], engine = \"libaio\" }"),
        ("libaio-buffered", "phase[0].job[0].work.entries.direct",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], engine = \"libaio\" }"),
        ("entries-by-call", "phase[0].job[0].work.entries.advice",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], advice = \"random\", depth = 2 }"),
        ("entries-by-call", "phase[0].job[0].work.entries.lock",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          lock = \"posix_file\", engine = \"io_uring\" }"),
        ("lock", "phase[0].job[0].work.entries.lock",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          lock = \"posix_file\", engine = \"libaio\" }"),
        ("lock", "phase[0].job[0].work.entries.lock",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], lock = \"exclusive\" }"),
        ("map-advice", "phase[0].job[0].work.entries.map_advice",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], map_advice = \"hugepage\" }"),
        ("word-unused", "phase[0].job[0].work.entries.read_percent",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], read_percent = 50 }"),
        ("word-unused", "phase[0].job[0].work.entries.advice",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], advice = \"random\" }"),
        ("read-percent", "phase[0].job[0].work.entries.read_percent",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"create\", \"write\", \"close\"], read_percent = 101 }"),
        ("truncate", "phase[0].job[0].work.entries.truncate_at_open",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], truncate_at_open = true }"),
        ("word-unused", "phase[0].job[0].work.entries.align",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size = 4096, align = 512 }"),
        ("align", "phase[0].job[0].work.entries.align",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size = 4096, access = \"random\", align = 0 }"),
        ("direct-alignment", "phase[0].job[0].work.entries.align",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size = 4096, direct = true, access = \"random\", align = 8 }"),
        ("align", "phase[0].job[0].work.entries.align",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          access = \"random\", align = 8 }"),
        ("verify-interval", "phase[0].job[0].work.entries.verify.interval",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size = 4096, access = \"random\", align = 8, verify.interval = 512 }"),
        ("entries-access", "phase[0].job[0].work.entries.access",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], access = { zipf = { theta = 1.2 } } }"),
        ("verify-unused", "phase[0].job[0].work.entries.verify.read_back",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], verify.read_back = true }"),
        ("verify-unwritten", "phase[0].job[0].work.entries.verify",
         "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"create\", \"write\", \"close\"], access = \"random\", verify = {} }"),
    ];
    are_among(&cases);
}

/// Each rule is broken at the place in the text.
fn are_among(cases: &[(&str, &str, &str)]) {
    for (rule, place, text) in cases {
        let problems = found(text);
        let said = problems.iter().any(|p| p.rule == *rule && p.place.as_str() == *place);
        assert!(said, "{rule} {place}: {problems:#?}");
    }
}

#[test]
fn what_only_code_can_build_is_found_too() {
    let (mut plan, _) = text::read("x", &plan("", "", "")).expect("it is good");
    plan.version = 0;
    if let Some(blocks) = plan.phases[0].jobs[0].blocks_mut() {
        blocks.mix = crate::units::Mix { read: 50, write: 0, trim: 0 };
        blocks.size = crate::units::PerDirection::all(crate::units::SizeSpec::Weighted(Vec::new()));
    }
    let rules: Vec<_> = check(&plan).iter().map(|p| p.rule).collect();
    assert_eq!(rules, ["version", "weights", "mix"]);
    assert!(!can_run(&check(&plan)));
}

#[test]
fn sentences() {
    let text = plan(
        "",
        "workers = 2\ntargets = [\"dsik\", \"disk\"]",
        "depth = 32\nsize = \"1m\"\nalign = 100\ndirect = true\nshare = \"slice\"\n\
         engine = \"mmap\"\nmix = \"trim\"\npace.ops = 0",
    );
    let lines: Vec<_> = found(&text)
        .iter()
        .map(|p| format!("{:?} {}: {}\n  -> {}\n", p.severity, p.rule, p.message, p.remedy))
        .collect();
    insta::assert_snapshot!(lines.concat(), @r#"
    Error unknown-target: there is no target dsik; did you mean disk?
      -> write disk
    Warning direct-alignment: align 100B is not a multiple of 512 bytes, as direct I/O needs on most filesystems
      -> use a multiple of 512 (better 4k), or direct = false
    Error share-target: 2 slices of 1048600B do not fit into the 1MiB that are used of target disk
      -> use fewer or smaller ones, or a size of at least 2097200B
    Warning depth-sync: mmap keeps one operation in flight per worker; depth 32 has no effect
      -> set workers = 64, or engine = "io_uring"
    Error mmap-direct: mmap works on the page cache and cannot be direct
      -> set direct = false, or engine.mmap.drop = true instead
    Error pace: the rate is 0 operations per second
      -> give a rate above 0, or remove it for full speed
    "#);
}
