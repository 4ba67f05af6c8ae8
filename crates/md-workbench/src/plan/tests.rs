mod rows;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use candor_plan::entries::{Entries, Step};
use candor_plan::{Nanos, Stonewall, check};
use proptest::prelude::*;

use super::*;
use crate::options::read;
use candor_front::ReadAs;
use candor_front::evidence::{Surroundings, sentences};

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> Duration {
        Duration::from_secs(1000)
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, _: usize) -> io::Result<Vec<u8>> {
        match path.to_str() {
            Some("known") => Ok(b"pos: 7\n".to_vec()),
            Some("garbage") => Ok(b"7\n".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn reading(line: &str) -> Reading {
    let words = ["md-workbench"].into_iter().chain(line.split_whitespace());
    read(&words.map(OsString::from).collect::<Vec<_>>(), &mut Surroundings::default())
}

fn lowered(line: &str) -> Result<Lowered, Vec<String>> {
    let reading = reading(line);
    if !reading.errors.is_empty() {
        return Err(sentences(&reading.errors, &reading.texts));
    }
    lower(&reading, &TestHost).map_err(|errors| sentences(&errors, &reading.texts))
}

fn good(line: &str) -> Lowered {
    let lowered = lowered(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}"));
    let errors: Vec<_> =
        check::check(&lowered.plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert_eq!(errors, [], "{line}");
    lowered
}

fn entries(lowered: &Lowered, nth: usize) -> &Entries {
    lowered.plan.phases[nth].jobs[0].entries().expect("entries")
}

#[test]
fn phases_come_in_order() {
    let names = |line: &str| {
        good(line).plan.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>()
    };
    let all = "precreate of sets, precreate, benchmark 1, benchmark 2, cleanup, cleanup of sets";
    assert_eq!(names("-R 2").join(", "), all);
    assert_eq!(names("-2 -R 1 --run-info-file known"), ["benchmark"]);
    assert_eq!(names("-1"), ["precreate of sets", "precreate"]);
    assert_eq!(names("-3 --start-item 4"), ["cleanup", "cleanup of sets"]);
    let waits = good("-2 -T -R 2 --run-info-file known");
    assert_eq!(waits.plan.phases[8].name, "benchmark 2, waiting 0");
    let factors: Vec<f64> = waits.phases.iter().map(|bench| bench.waiting).collect();
    assert_eq!(factors.len(), 16);
    assert_eq!(factors[..8], [0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0]);
    let think = |nth| entries(&waits, nth).pace.think.map(|think| think.relative);
    assert_eq!((think(0), think(5)), (None, Some(1.0)));
}

#[test]
fn a_benchmark_moves_the_window_on() {
    use Step::*;
    let lowered = good("--ranks 3 -D 2 -P 9 -I 4 -O 2 -S 10");
    let made = entries(&lowered, 1);
    assert_eq!(made.steps, [Create, Write, Close]);
    assert_eq!(made.window.clone().map(|window| window.moves()), Some(false));
    let bench = entries(&lowered, 2);
    let window = bench.window.as_ref().expect("a window");
    assert_eq!(bench.steps, [Stat, Open, Read, Close, Unlink]);
    assert_eq!(window.enter, [Create, Write, Close]);
    assert_eq!((bench.first, window.rank_step, window.start), (Some(8), 2, 0));
    let later = good("--ranks 3 -D 2 -2 --run-info-file known");
    let window = entries(&later, 0).window.clone().expect("a window");
    assert_eq!((window.start, later.setup.start), (14, 7), "7 objects of both sets");
    let reads = good("-2 --read-only --start-item 3 -S 0");
    assert_eq!(entries(&reads, 0).steps, [Stat, Open, Close]);
    assert_eq!(entries(&reads, 0).window.clone().map(|window| window.moves()), Some(false));
}

#[test]
fn names_are_rank_set_and_number() {
    let lowered = good("--ranks 2 -D 2 -P 3 -o /d");
    let target = lowered.plan.target("sets").expect("a target");
    let tree = target.tree.as_ref().expect("a tree");
    let (part, names) = (tree.part(1, 2), tree.names());
    assert_eq!(
        [0, 1, 2, 7].map(|nth| {
            let mut path = Vec::new();
            names.write_directory(&part.item(nth), &mut path);
            names.write_item(&part.item(nth), &mut path);
            String::from_utf8(path).expect("text")
        }),
        ["/1_0/file-0", "/1_1/file-0", "/1_0/file-1", "/1_1/file-3"]
    );
    // Words identify an object by its number times the number of sets, plus its set.
    assert_eq!(names.slot(&part.item(7)), 3 * 2 + 1);
}

#[test]
fn time_that_is_up_carries_all_to_the_furthest_count() {
    for line in ["-w 5 -W", "-w 5"] {
        let lowered = good(line);
        let stop = lowered.plan.phases[2].jobs[0].stop.clone().expect("a stop");
        assert_eq!((stop.time, stop.stonewall), (Some(Nanos::from_secs(5)), Stonewall::WearOut));
        let noted = lowered.notes.iter().any(|note| note.did.contains("furthest"));
        assert_eq!(noted, !line.contains('W'), "{line}");
    }
    let first = good("-w 5 -W").plan.phases[1].jobs[0].stop.clone().expect("a stop");
    assert_eq!(first.time, None);
}

#[test]
fn failures_end_the_first_phase_alone() {
    let goes_on = |line: &str| {
        let phases = good(line).plan.phases;
        [0, 2].map(|nth: usize| {
            phases[nth].jobs[0].stop.as_ref().is_some_and(|s| s.continue_on_error)
        })
    };
    assert_eq!(goes_on(""), [false, true]);
    assert_eq!(goes_on("--ignore-precreate-errors"), [true, true]);
}

#[test]
fn impossible_requests_are_refused() {
    for (line, part) in [
        ("-2", "md-workbench.status cannot be read, or has no line `pos: NUMBER`"),
        ("-2 -w 1 --run-info-file known", "add -W"),
        ("-2 -X --run-info-file known", "give -G in both runs"),
        ("-X -S 0", "objects have no bytes"),
        ("-T -t 1", "-T sets the waiting times itself"),
        ("--read-only -I 10 -P 9", "give -I at most as large as -P"),
        ("--latency-all", "add -L PREFIX"),
        ("--posix.odirect", "no multiple of 512"),
        ("-S 2147483647", "more than the kernel moves at once"),
        ("-D 100000 -P 100000", "more than 4 billion"),
        ("-T -R 1000", "8000 benchmarks are more than"),
        ("-o=", "o needs a value"),
    ] {
        let errors = lowered(line).expect_err(line);
        assert!(errors.iter().any(|error| error.contains(part)), "{line}: {errors:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any valid request gives a plan that can run.
    #[test]
    fn plans_can_run(
        [ranks, sets, objects, steps] in [1..9_u32, 1..9_u32, 1..99_u32, 1..199_u32],
        [offset, start, size] in [0..9_u32, 0..9_u32, 0..5000_u32],
        phases in "(-1|-12|-123|-2|-23|-3)",
    ) {
        let line = format!(
            "--ranks {ranks} -D {sets} -P {objects} -I {steps} -O {offset} -S {size} {phases} \
             --start-item {} -R 2",
            start + 1
        );
        let lowered = good(&line);
        prop_assert_eq!(lowered.phases.len(), lowered.plan.phases.len());
        prop_assert_eq!(lowered.setup.start, u64::from(start) + 1);
    }
}
