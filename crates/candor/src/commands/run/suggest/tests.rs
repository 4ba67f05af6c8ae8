//! Suggested commands, read back as a user's shell and candor read them.

use std::process::Command;

use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Phase, Problem};

use super::*;

/// Choices that look random and are the same in every run of the tests.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Flags with values that make sense on their own; an empty word is a flag that is not given.
const FLAGS: &[&[&str]] = &[
    &["--target /data/a", "--target /data/a --target /data/b", "--target=/data/it's"],
    &["--size 1g", "--size=64m", "--size 1g --files 3"],
    &[
        "--rw read",
        "--rw randread",
        "--rw randwrite",
        "--rw=randrw --mix read:70,write:30",
        "--rw write",
    ],
    &["", "--bs 4k", "--bs=4k:60,64k:40", "--bs 1m", "--bs 4k-64k"],
    &[
        "",
        "--engine psync",
        "--engine io_uring --sqpoll",
        "--engine=libaio",
        "--engine pvsync --rwf nowait",
    ],
    &["", "--depth 4", "--depth=32", "--depth 32 --batch-submit 8"],
    &["", "--direct", "--buffered", "--evict"],
    &["", "--workers 4", "--workers=2 --sharing own", "--workers 8 --cpus 0-1 --split-cpus"],
    &["", "--seconds 10", "--time=90s", "--seconds 5 --ramp 1s", "--bytes 1g"],
    &["", "--fsync-every 8", "--fsync-end", "--fdatasync-every 4"],
    &["", "--overwrite", "--layout allocate", "--name mine"],
    &["", "--verify", "--verify=8k --verify-continue", "--content fresh --compressible 30"],
    &["", "--rate-iops 10k --arrival poisson", "--think 1ms:10", "--range 0-50%"],
    &["", "--seed 7", "--access zipf:1.2", "--advice random", "--huge-pages"],
    &["", "--no-follow-ups", "--block-trace all", "--force sda", "--set stop.ops=1000"],
    &[
        "",
        "--json out.json --csv out.csv",
        "--run-dir=kept --quiet",
        "--color never --html out.html",
        "--metrics 9100 --metrics-wait 5 --csv out.csv --csv-of samples",
    ],
];

fn drawn(draws: &mut Draws) -> Vec<String> {
    let flags = FLAGS.iter().map(|choices| draws.pick(choices));
    let words = flags.flat_map(str::split_whitespace);
    ["candor", "run"].into_iter().chain(words).map(str::to_owned).collect()
}

/// Changes as findings propose them.
fn proposals(job: &str, phase: &str) -> Vec<Vec<Setting>> {
    let setting = |key: String, value: &str| Setting { key, value: value.to_owned() };
    let block = |key: &str, value| setting(format!("{job}.work.blocks.{key}"), value);
    vec![
        vec![block("depth", "16")],
        vec![block("direct", "true")],
        vec![block("hints.evict", "true")],
        vec![block("engine", "io_uring"), block("direct", "true"), block("depth", "64")],
        vec![block("size", "128k")],
        vec![block("durability.fsync_at_end", "true")],
        vec![block("durability.fsync_every", "16")],
        vec![setting(format!("{job}.workers"), "3")],
        vec![setting(format!("{phase}.stop.time"), "120s")],
        vec![setting("--block-trace".to_owned(), "auto")],
    ]
}

/// The words that a shell makes of a line.
fn shell(line: &str) -> Vec<String> {
    let script = format!("set -- {line}; printf '%s\\n' \"$@\"");
    // A run of another test ends all child processes of this process.
    let mut outputs = (0..10).map(|_| Command::new("sh").arg("-c").arg(&script).output().unwrap());
    let output = outputs.find(|output| output.status.success()).expect("a shell that ends");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The plan with the changes, by its keys alone.
fn changed(plan: &Plan, changes: &[Setting]) -> Plan {
    let keys = changes.iter().filter(|setting| !setting.key.starts_with("--"));
    keys.fold(plan.clone(), |plan, setting| {
        text::set(&plan, &setting.key, &setting.value).unwrap().0
    })
}

/// How a run is carried out, and the block tracer's mode as it was given.
fn tracing(words: &[String]) -> String {
    let matches = command().try_get_matches_from(&words[1..]).unwrap();
    matches.get_one::<String>("block-trace").cloned().unwrap_or_default()
}

#[test]
fn commands_by_flags_change_nothing_but_what_they_name() {
    let (mut draws, mut given, mut shown) = (Draws(13), 0, 0);
    while given < 100 {
        let words = drawn(&mut draws);
        let Some(plan) = read(&words) else { continue };
        if !check::can_run(&check::check(&plan)) {
            continue;
        }
        given += 1;
        for changes in proposals("phase[0].job[0]", "phase[0]") {
            let wanted = changed(&plan, &changes);
            let Some(line) = suggestion(&words, &plan, &changes) else {
                let refused = !check::can_run(&check::check(&wanted));
                assert!(refused || wanted == plan, "{words:?} {changes:?}");
                continue;
            };
            let made = shell(&line);
            let again = read(&made).unwrap_or_else(|| panic!("{line} is not understood"));
            assert!(is_same(&again, &wanted), "{line}\n{wanted:#?}");
            let traced = changes[0].key == "--block-trace";
            assert_eq!(tracing(&made) != tracing(&words), traced, "{line}");
            let outputs = ["out.", "kept", "--quiet", "--color", "--json", "--html", "--run-dir"];
            let outputs = outputs.into_iter().chain(["--metrics", "--csv"]);
            let kept: Vec<&str> = outputs.filter(|output| line.contains(output)).collect();
            assert!(kept.is_empty(), "{line}");
            shown += 1;
        }
    }
    assert!(shown > 400, "{shown} of {}", given * 10);
}

#[test]
fn a_plan_from_stdin_has_no_command() {
    let plan = read(&shell("candor run --target /d/f --rw read --size 1g")).unwrap();
    let change = Setting { key: "phase[0].job[0].work.blocks.direct".into(), value: "true".into() };
    let try_of = |file: &str| {
        let words = shell(&format!("candor run {file} --json out.json"));
        suggestion(&words, &plan, std::slice::from_ref(&change))
    };
    assert!(try_of("plan.toml").is_some_and(|line| line.contains("plan.toml")));
    for stdin in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        assert_eq!(try_of(stdin), None, "{stdin}");
    }
}

#[test]
fn a_value_of_a_sweep_is_tried_alone() {
    let words =
        shell("candor run --target /d/f --rw randread --depth=1,4,16 --bs 4k,64k --size 1g");
    let plan = read(&words).unwrap();
    assert_eq!(plan.phases.len(), 6);
    let try_of = |key: &str, value: &str| {
        let change = Setting { key: key.into(), value: value.into() };
        suggestion(&words, &plan, &[change])
    };
    let depth_16 = plan.phases.iter().position(|phase| {
        let blocks = phase.jobs[0].blocks().unwrap();
        blocks.depth == 16 && blocks.size.read == SizeSpec::Fixed(Bytes(65536))
    });
    let job = format!("phase[{}].job[0]", depth_16.unwrap());
    assert_eq!(
        try_of(&format!("{job}.work.blocks.direct"), "true").unwrap(),
        "candor run --target /d/f --rw randread --size 1g --bs 64k --depth 16 --direct"
    );
    assert_eq!(
        try_of(&format!("{job}.work.blocks.depth"), "64").unwrap(),
        "candor run --target /d/f --rw randread --size 1g --bs 64k --depth 64"
    );
    let first = try_of("phase[0].stop.time", "30s").unwrap();
    let engine = plan.phases[0].jobs[0].blocks().unwrap().engine.name();
    let alone = "candor run --target /d/f --rw randread --size 1g --bs 4k --depth 1";
    assert_eq!(first, format!("{alone} --engine {engine} --time 30s"));
    let all = try_of("target[0].size", "2g").unwrap();
    assert!(all.contains("--depth=1,4,16"), "{all}");
}

/// A plan of several phases and jobs, made of drawn runs.
fn large_plan(draws: &mut Draws) -> Plan {
    let mut plan = Plan::default();
    for phase in 0..1 + draws.below(3) {
        let mut jobs = Vec::new();
        for job in 0..1 + draws.below(3) {
            let Some(one) = read(&drawn(draws)) else { continue };
            let named = |name: &str| format!("{name}-{phase}-{job}");
            let targets = one.targets.into_iter();
            plan.targets.extend(targets.map(|t| Target { name: named(&t.name), ..t }));
            let first = one.phases.into_iter().flat_map(|phase| phase.jobs).next().unwrap();
            let targets = first.targets.iter().map(|name| named(name)).collect();
            jobs.push(Job { name: named("job"), targets, ..first });
        }
        let name = format!("phase {phase}");
        plan.phases.push(Phase { name, jobs, ..Phase::default() });
    }
    plan
}

#[test]
fn commands_for_plan_files_set_nothing_but_what_they_name() {
    let words: Vec<String> =
        ["candor", "run", "my plan.toml", "--json=x"].map(str::to_owned).into();
    let (mut draws, mut given, mut shown) = (Draws(7), 0, 0);
    while given < 100 {
        let plan = large_plan(&mut draws);
        if !check::can_run(&check::check(&plan)) {
            continue;
        }
        given += 1;
        let phase = draws.below(plan.phases.len());
        let job = draws.below(plan.phases[phase].jobs.len());
        let phase = format!("phase[{phase}]");
        for changes in proposals(&format!("{phase}.job[{job}]"), &phase) {
            let wanted = changed(&plan, &changes);
            let Some(line) = suggestion(&words, &plan, &changes) else {
                let refused = !check::can_run(&check::check(&wanted));
                assert!(refused || wanted == plan, "{changes:?}");
                continue;
            };
            let made = shell(&line);
            assert_eq!(made[..3], words[..3], "{line}");
            let matches = command().try_get_matches_from(&made[1..]).unwrap();
            let (mut line_of, mut how) = (CommandLine::new(&made), How::default());
            assert_eq!(how.apply(&matches, &mut line_of), [] as [Problem; 0]);
            let (again, set) = settings::apply(plan.clone(), &how.set, &mut line_of).unwrap();
            assert_eq!(again, wanted, "{line}");
            let keys = changes.iter().filter(|setting| !setting.key.starts_with("--"));
            assert!(set.len() <= keys.count(), "{line}");
            shown += 1;
        }
    }
    assert!(shown > 400, "{shown} of {}", given * 10);
}

fn next(command: &[&str], plan: &Plan, key: &str, value: &str) -> Option<String> {
    let changes = vec![Setting { key: key.into(), value: value.into() }];
    let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    suggestion(&words, plan, &changes)
}

const DEPTH: &str = "phase[0].job[0].work.blocks.depth";

#[test]
fn one_change_to_a_command_of_many_words() {
    let words = "candor run --target /data/f --size 1g --rw randrw --mix read:70,write:30 --bs 4k \
                 --engine io_uring --depth=8 --direct --overwrite --seconds 10 --json r.json";
    let words: Vec<&str> = words.split(' ').collect();
    let plan = read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap();
    assert_eq!(
        next(&words, &plan, DEPTH, "32").unwrap(),
        "candor run --target /data/f --size 1g --rw randrw --mix read:70,write:30 --bs 4k \
         --engine io_uring --direct --overwrite --seconds 10 --depth 32"
    );
    assert_eq!(
        next(&["candor", "run", "my.toml"], &plan, "phase[0].stop.time", "60s").unwrap(),
        "candor run my.toml --set time=60s"
    );
    let words = "candor run --target /data/f --size 1g --rw write --open-sync=dsync --seconds 9";
    let words: Vec<&str> = words.split(' ').collect();
    let plan = read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap();
    let open = "phase[0].job[0].work.blocks.durability.open";
    assert_eq!(
        next(&words, &plan, open, "none").unwrap(),
        "candor run --target /data/f --size 1g --rw write --seconds 9",
        "a default takes no flag"
    );
    assert_eq!(next(&["fio", "job.fio"], &plan, DEPTH, "32"), None, "fio has words of its own");
}

#[test]
fn what_would_be_refused_is_not_shown() {
    let words = ["candor", "run", "--target", "/data/f", "--size", "1g", "--rw", "write", "--keep"];
    let plan = read(&words.map(str::to_owned)).unwrap();
    assert_eq!(next(&words, &plan, DEPTH, "2"), None, "the file that it kept is not overwritten");
    let words = ["candor", "run", "--target", "/data/f", "--rw", "read", "--bs", "3000"];
    let plan = read(&words.map(str::to_owned)).unwrap();
    assert_eq!(next(&words, &plan, DEPTH, "0"), None, "a depth of 0 is no plan");
}

#[test]
fn shipped_plans_change_by_their_flags() {
    let depth = "phase[0].job[0].work.blocks.depth";
    for (name, key, value, wanted) in [
        ("database", "phase[0].stop.time", "30s", "--time 30s"),
        ("backup", "phase[0].stop.time", "30s", "--time 30s"),
        ("database", depth, "64", "--seconds 1 --set"),
    ] {
        let words = format!("candor run --like {name} --target /data --size 1g --seconds 1");
        let words: Vec<&str> = words.split(' ').collect();
        let plan = read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap();
        let line = next(&words, &plan, key, value).unwrap_or_default();
        assert!(line.contains(wanted), "{name} {key}: {line}");
        assert_eq!(line.contains("--seconds 1"), wanted.contains("--seconds"), "{line}");
    }
}

#[test]
fn a_step_of_a_series_is_a_run_of_its_own() {
    let made = "--target /data/candor-check.7 --size 4g --rw randread --bs 4k --engine io_uring \
                --depth 1 --direct --seconds 8";
    let words: Vec<String> =
        ["candor", "run"].into_iter().chain(made.split_whitespace()).map(str::to_owned).collect();
    let plan = read(&words).unwrap();
    let series = ["candor", "check", "/data"];
    assert_eq!(
        next(&series, &plan, DEPTH, "32").unwrap(),
        "candor run --target /data --size 4GiB --rw randread --bs 4KiB --workers 1 \
         --engine io_uring --direct --seconds 8 --depth 32",
        "the file was removed, so another is made in its directory"
    );
}

#[test]
fn a_device_that_a_series_was_forced_to_write_is_forced_again() {
    let made = "--target /dev/vdz --size 1g --rw randwrite --bs 4k --engine io_uring --depth 1 \
                --direct --overwrite --seconds 8";
    let words: Vec<String> =
        ["candor", "run"].into_iter().chain(made.split_whitespace()).map(str::to_owned).collect();
    let mut plan = read(&words).unwrap();
    plan.targets[0].layout = Layout::Never;
    for force in [&["--force", "vdz"][..], &["--force=vdz"]] {
        let series = [&["candor", "check", "/dev/vdz", "--write"], force].concat();
        let line = next(&series, &plan, DEPTH, "32").unwrap();
        assert!(line.ends_with(" --overwrite --seconds 8 --force vdz --depth 32"), "{line}");
    }
}
