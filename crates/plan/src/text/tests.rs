use proptest::prelude::*;

use super::*;
use crate::Source;
use crate::tests::arbitrary::values;

/// A plan with about one of everything, and many places for mistakes.
const GOOD: &str = r#"
version = 1
name = "database"
seed = 18446744073709551615

[[target]]
name = "data"
path = "/srv/data"   # µ
kind = "file_set"
size = "1g"
files = 4

[[phase]]
name = "fill"
[[phase.job]]
targets = ["data"]
sharing = "own"
workers = 4
work.blocks = { mix = "write", size = "1m", engine = "io_uring", depth = 8 }

[[phase]]
name = "serve"
stop = { time = "1m30s" }
ramp = "10s"

[[phase.job]]
name = "readers"
targets = ["data"]
[phase.job.work.blocks]
access = { zipf = { theta = 1.2 } }
size = { read = "4k:60,64k:40", write = "8k-16k" }
mix = "read:70,write:30"
hints.evict = true
pace = { ops = "20k", arrival = "poisson", think = { time = "1ms", every = 10 } }
"#;

/// The problems of a text, a line each.
fn problems(text: &str) -> String {
    lines(text, |problem, source| source.describe(problem) + "\n")
}

/// The problems of a text, each followed by its remedy.
fn remedies(text: &str) -> String {
    lines(text, |problem, source| {
        format!("{}\n  -> {}\n", source.describe(problem), problem.remedy)
    })
}

fn lines(text: &str, show: impl Fn(&Problem, &Source) -> String) -> String {
    match read("plan.toml", text) {
        Ok(_) => String::new(),
        Err((problems, source)) => problems.iter().map(|p| show(p, &source)).collect(),
    }
}

fn good() -> (Plan, Source) {
    match read("plan.toml", GOOD) {
        Ok(read) => read,
        Err((problems, _)) => panic!("{problems:#?}"),
    }
}

#[test]
fn a_good_text_is_read_with_its_places() {
    let (plan, source) = good();
    assert_eq!(plan.seed, u64::MAX);
    assert_eq!(plan.phases[1].jobs[0].name, "readers");
    for (place, text) in [
        ("target[0].path", "\"/srv/data\""),
        ("phase[0].job[0].work.blocks.depth", "8"),
        ("phase[1]", "[[phase]]"),
        ("phase[1].stop.time", "\"1m30s\""),
        ("phase[1].job[0].work.blocks", "[phase.job.work.blocks]"),
        ("phase[1].job[0].work.blocks.access.zipf.theta", "1.2"),
        ("phase[1].job[0].work.blocks.hints.evict", "true"),
        // Not given, so its place is the section where it would stand.
        ("phase[1].job[0].work.blocks.direct", "[phase.job.work.blocks]"),
    ] {
        let span = source.span(&PlanPath::from(place)).unwrap_or_else(|| panic!("{place}"));
        assert_eq!(&source.text[span], text, "{place}");
    }
    assert_eq!(source.position(&PlanPath::from("target[0].path")), Some((8, 8)));
}

#[test]
fn many_mistakes_are_reported_at_once() {
    let text = r#"name = "bad"
sed = 7
repeats = "twice"

[[target]]
name = disk
pth = "/tmp/x"
kind = "dev"
size = "4q"

[[phase]]
ramp = 5
stop = { time = "10 parsecs", ops = -1 }

[[phase.job]]
targets = ["disk", 3]
rank_shift = 1.5

[phase.job.work.blocks]
dept = 32
access = { zpif = { theta = 1.1 } }
size = { raed = "4k" }
mix = "read:70,write:20"
random_percent = 300
pace = { think = { time = "soon" } }

[[phase.job]]
workers = 3
workers = 4

[phase.job.work.blocks]
access = "zipf"
size = "4k-"
engine = "iouring"
hints = true
"#;
    insta::assert_snapshot!(problems(text), @r#"
    plan.toml:2:1: unknown key `sed`; did you mean `seed`?
    plan.toml:3:11: `repeats` is a whole number from 0 to 4294967295, not "twice"
    plan.toml:6:8: `disk` is not in quotes
    plan.toml:7:1: unknown key `pth`; did you mean `path`?
    plan.toml:8:8: `kind` cannot be `dev`
    plan.toml:9:8: size: `4q` is not a size
    plan.toml:12:8: `ramp` is a time with its unit, such as "30s", not 5
    plan.toml:13:17: time: `10 parsecs` is not a time
    plan.toml:13:37: `ops` is a whole number of 0 or more, not -1
    plan.toml:16:20: an entry of `targets` is a text in quotes, not 3
    plan.toml:17:14: `rank_shift` is a whole number, not 1.5
    plan.toml:20:1: unknown key `dept`; did you mean `depth`?
    plan.toml:21:12: unknown key `zpif`; did you mean `zipf`?
    plan.toml:22:10: unknown key `raed`; did you mean `read`?
    plan.toml:23:7: mix: `read:70,write:20` adds up to 90 %, not to 100 %
    plan.toml:24:18: `random_percent` is a whole number from 0 to 255, not 300
    plan.toml:25:27: time: `soon` is not a time
    plan.toml:29:1: `workers` is given twice
    plan.toml:32:10: access = "zipf" needs the settings of zipf
    plan.toml:33:8: size: one end of the range `4k-` is missing
    plan.toml:34:10: `engine` cannot be `iouring`; did you mean `io_uring`?
    plan.toml:35:9: `hints` is a table, not true
    "#);
}

#[test]
fn a_structural_error_hides_only_what_follows_it() {
    let text = "sed = 1\n[[target]\nname = \"x\"\nnonsense = 3\n";
    insta::assert_snapshot!(problems(text), @r##"
    plan.toml:1:1: unknown key `sed`; did you mean `seed`?
    plan.toml:2:10: unclosed array table
    "##);
    let text = "depht = 1\nname = [\"x\",\nseed = 2\n[[phase]]\nx = 1\n";
    insta::assert_snapshot!(problems(text), @r##"
    plan.toml:1:1: unknown key `depht`
    plan.toml:2:8: `name` is a text in quotes, not a list
    plan.toml:3:6: unexpected `=` in array
    "##);
}

#[test]
fn names_of_files_say_what_can_stand_in_them() {
    let text = "[[target]]\nname = \"a\"\nfile_name = \"job.{rank}.{number}\"\n";
    insta::assert_snapshot!(remedies(text), @"
    plan.toml:3:13: file_name: `job.{rank}.{number}` has the unknown field `{rank}`
      -> write `{number}`, `{number:06}` with zeros in front, or `{{` for a brace
    ");
}

#[test]
fn common_slips_get_fitting_sentences() {
    let text = r#"
phase = [3]
[target]
name = "x"
"#;
    insta::assert_snapshot!(remedies(text), @r##"
    plan.toml:2:10: an entry of `phase` is a table, not 3
      -> write { … }
    plan.toml:3:1: `target` is a list, not a table
      -> write [[target]], with two brackets
    "##);
    let text = r#"
[[phase]]
stop = ["1s"]
[[phase.job]]
work.blocks = { hints = [true], access = { zipf = [1.2] } }
"#;
    insta::assert_snapshot!(remedies(text), @"
    plan.toml:3:8: `stop` is a table, not a list
      -> write stop = { … }
    plan.toml:5:25: `hints` is a table, not a list
      -> write hints = { … }
    plan.toml:5:51: `zipf` is a table, not a list
      -> write zipf = { … }
    ");
    let text = r#"
name =
[[phase]]
[[phase.job]]
[phase.job.work.blocks]
direct = "yes"
depth = "8"
size = 1.5k
engine = 3
access = { random = {}, backward = {} }
share = { }
range = { start = "101%" }
random_percent = {}
batch_submit = 9999999999999
"#;
    insta::assert_snapshot!(remedies(text), @r#"
    plan.toml:2:7: a key has no value
      -> write a value after the =
    plan.toml:6:10: `direct` is true or false, not "yes"
      -> write true or false
    plan.toml:7:9: `depth` is a whole number from 0 to 4294967295, not "8"
      -> write it without quotes
    plan.toml:8:11: invalid float
      -> sizes and times need quotes
    plan.toml:9:10: `engine` is the name of an engine, or a table of one engine with its options, not 3
      -> write it in quotes, as in the example
    plan.toml:10:10: `access` is given more than once
      -> name one choice
    plan.toml:11:9: `share` is empty
      -> name one choice
    plan.toml:12:19: start: `101%` is not a share
      -> write a percentage from 0% to 100%
    plan.toml:13:18: random_percent: the table is empty
      -> give read, write or trim a value
    plan.toml:14:16: `batch_submit` is a whole number from 0 to 4294967295, not 9999999999999
      -> write a smaller number
    "#);
}

#[test]
fn numbers_and_dates_that_no_key_takes_are_named() {
    let text = r#"
seed = 18446744073709551616
name = 2026-11-27
[[phase]]
[[phase.job]]
work.blocks = { access = { zipf = { theta = nan } } }
"#;
    insta::assert_snapshot!(remedies(text), @"
    plan.toml:2:8: seed: the number has more than 64 bits
      -> write a smaller number
    plan.toml:3:8: name: a date has no use here
      -> write it in quotes if it is a text
    plan.toml:6:45: theta: the number is not finite
      -> write a finite number
    ");
}

#[test]
fn a_newer_version_is_refused_with_one_sentence() {
    let text = "version = 3\nnovelty = true\n";
    insta::assert_snapshot!(remedies(text), @r##"
    plan.toml:1:11: the plan is of version 3, and this candor reads versions up to 2
      -> run it with the candor that wrote it, or a newer one
    "##);
}

#[test]
fn what_is_written_is_short() {
    let (plan, _) = good();
    insta::assert_snapshot!(write(&plan), @r##"
    version = 1
    name = "database"
    seed = 18446744073709551615

    [[target]]
    name = "data"
    path = "/srv/data"
    kind = "file_set"
    size = "1GiB"
    files = 4

    [[phase]]
    name = "fill"

    [[phase.job]]
    name = "job"
    workers = 4
    targets = ["data"]
    sharing = "own"

    [phase.job.work.blocks]
    mix = "write"
    size = "1MiB"
    depth = 8
    engine = "io_uring"

    [[phase]]
    name = "serve"
    stop = { time = "90s" }
    ramp = "10s"

    [[phase.job]]
    name = "readers"
    targets = ["data"]

    [phase.job.work.blocks]
    mix = "read:70,write:30"
    access = { zipf = { theta = 1.2 } }
    size = { read = "4KiB:60,64KiB:40", write = "8KiB-16KiB" }
    hints = { evict = true }
    pace = { ops = "20000/s", arrival = "poisson", think = { time = "1ms", every = 10 } }
    "##);
}

#[test]
fn optional_sections_stay_even_if_all_in_them_is_default() {
    let text = "[[target]]\ntree = {}\n[[phase]]\n[[phase.job]]\nstop = {}\n\
                work.blocks = { verify = {} }\n[[phase.job]]\nwork.entries = {}\n";
    let plan = read("x", text).expect("it is good").0;
    assert_eq!(read("y", &write(&plan)).expect("what was written").0, plan);
    insta::assert_snapshot!(write(&plan), @r#"
    version = 2

    [[target]]
    name = "target"

    [target.tree]

    [[phase]]
    name = "phase"

    [[phase.job]]
    name = "job"
    stop = {}

    [phase.job.work.blocks]
    verify = {}

    [[phase.job]]
    name = "job"

    [phase.job.work.entries]
    "#);
}

/// Problems of a job with these lines.
fn job(lines: &str) -> String {
    remedies(&format!("[[phase]]\n[[phase.job]]\n{lines}"))
}

#[test]
fn a_job_without_work_and_one_with_two_kinds_are_reported() {
    insta::assert_snapshot!(job(""), @"
    plan.toml:2:1: `job` needs `work`
      -> add a section such as [phase.job.work.blocks]
    ");
    insta::assert_snapshot!(job("work.blocks = {}\nwork.burn = {}"), @"
    plan.toml:3:1: `work` is given more than once
      -> name one choice
    ");
    insta::assert_snapshot!(job("blocks = {}"), @"
    plan.toml:3:1: unknown key `blocks`
      -> known here: name, workers, targets, sharing, rank_shift, rank_order, wants_cache, allows_cache, placement, threads, delay, after, prepare_only, only_on, part, background, on_done, hooks, operations_log, stop, work
    ");
}

#[test]
fn an_option_that_is_all_zero_is_still_there() {
    let text = "[[phase]]\n[[phase.job]]\n[phase.job.work.blocks]\n\
                pace.think = { time = 0, every = 0 }\n";
    let plan = read("x", text).expect("it is good").0;
    assert_eq!(read("y", &write(&plan)).expect("what was written").0, plan, "{}", write(&plan));
}

fn deep(open: &str, close: &str) -> String {
    let levels = TEXT_BYTES_MAX / 2 / (open.len() + close.len());
    format!("a = {}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn long_and_deep_texts_are_refused_quickly() {
    let dotted = format!("{}b = 1", "a.".repeat(TEXT_BYTES_MAX / 4));
    let lines = "x = 1\n".repeat(10_000);
    let keys: String = (0..10_000).map(|i| format!("k{i} = 1\n")).collect();
    let long = " ".repeat(TEXT_BYTES_MAX + 1);
    for text in [deep("[", "]"), deep("{a=", "}"), dotted, lines, keys, long] {
        let Err((problems, _)) = read("x", &text) else { panic!("it was read") };
        assert!((1..=PROBLEMS_MAX).contains(&problems.len()));
    }
}

#[cfg(unix)]
#[test]
fn paths_that_are_no_text_are_read_back() {
    let (mut plan, _) = good();
    plan.targets[0].path = crate::path_of("/\u{efff}");
    assert!(to_json(&plan).contains("/\u{efff}"));
    let (again, _) = read("again", &write(&plan)).expect("its own text");
    assert_eq!(again.targets[0].path.as_os_str().as_encoded_bytes(), b"/\xff");
}

/// Whatever is read gives a plan or problems with places, and never a panic.
fn holds(text: &str) {
    match read("any", text) {
        Ok((plan, source)) => {
            assert_eq!(source.text, text);
            crate::check::check(&plan);
            let again = read("again", &write(&plan)).map(|(plan, _)| plan);
            // A number that is not equal to itself makes a plan that is not either.
            if plan == plan.clone() && !to_json(&plan).contains("null,\"") {
                assert_eq!(again.ok(), Some(plan), "{text}");
            }
        }
        Err((problems, source)) => {
            assert!(!problems.is_empty());
            for problem in problems {
                let place = &problem.place;
                assert!(source.span(place).is_some() || *place == PlanPath::root(), "{problem:?}");
                let (line, column) = source.position(place).unwrap_or((1, 1));
                let shown = text.split('\n').nth(line - 1).expect("the line exists");
                assert!(column <= shown.chars().count() + 1, "{problem:?}");
                assert!(!problem.message.is_empty() && !problem.remedy.is_empty());
            }
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_texts_are_survived(text in "\\PC{0,200}") {
        holds(&text);
    }

    #[test]
    fn texts_of_toml_letters_are_survived(text in "[a-c\\[\\]{}=.,\"'#0-9 \n\\\\_µ-]{0,80}") {
        holds(&text);
    }

    #[test]
    fn mutated_texts_are_survived(
        cuts in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..12, "[\\[\\]{}=.,\"#0-9a-z\n µ]{0,4}"),
            1..6,
        )
    ) {
        let mut text: Vec<char> = GOOD.chars().collect();
        for (at, length, with) in cuts {
            let start = at.index(text.len() + 1);
            let end = (start + length).min(text.len());
            text.splice(start..end, with.chars());
        }
        holds(&text.into_iter().collect::<String>());
    }

    #[test]
    fn plans_survive_toml_and_json(plan in values::<Plan>(8000)) {
        let toml = write(&plan);
        let back = read("written", &toml).map(|(plan, _)| plan);
        prop_assert_eq!(back.map_err(|e| e.0), Ok(plan.clone()), "{}", toml);
        let json = serde_json::from_str::<Plan>(&to_json(&plan));
        prop_assert_eq!(json.map_err(|error| error.to_string()), Ok(plan.clone()));
        for problem in crate::check::check(&plan) {
            prop_assert!(!problem.message.is_empty() && !problem.remedy.is_empty());
        }
    }
}
