//! Each flag of `candor run` changes the plan, the run or the output.

use candor_front::Support;
use candor_front::evidence::{self, Claim, Outcome, Partners, Sources, partners};

use super::*;

const USUAL: &str = "--target /data/file --size 1g --rw randrw";

/// Further flags that examples need.
const PARTNERS: &Partners = &[
    (
        "--target /data/file --size 1g --engine io_uring --direct --depth 8",
        &[
            "batch-reap-max",
            "sqpoll",
            "sqpoll-cpu",
            "iopoll",
            "no-fixed-buffers",
            "no-fixed-files",
            "uring-nop",
            "batch-submit",
            "batch-reap",
        ],
    ),
    ("--target /data/file --size 1g --engine pvsync --direct", &["rwf"]),
    ("--target /data/file --size 1g --direct", &["huge-pages", "no-huge-pages"]),
    ("--target /data/file --size 1g --rw write", &["verify", "content"]),
    ("--target /data/file --size 1g --rw write --verify", &["verify-after", "verify-continue"]),
    ("--target /data/file --size 1g --rate-iops 100", &["arrival"]),
    ("--target /data/file --size 1g --workers 2 --cpus 0-1", &["split-cpus"]),
    ("--target /data/a --target /data/b --size 1g", &["per-target"]),
    ("--target /data/file --size 1g --rw write --seconds 1", &["until-full"]),
    ("--target /data/file --size 1g", &["like"]),
    (
        "--target s3://data/a --rw put",
        &[
            "addressing",
            "anonymous",
            "ca-file",
            "checksum",
            "create",
            "credentials",
            "endpoint",
            "expect-continue",
            "insecure",
            "objects",
            "part",
            "payload",
            "prefix-hash",
            "profile",
            "quick-ack",
            "region",
            "retries",
        ],
    ),
    ("--target s3://data/a --rw get", &["existing"]),
];

/// Values of flags whose kind does not give one.
const EXAMPLES: &[(&str, &str)] = &[
    ("access", "zipf:1.2"),
    ("advice", "random"),
    ("checksum", "sha256"),
    ("csv-of", "samples"),
    ("depth", "4"),
    ("engine", "libaio"),
    ("expect", "p99<10ms"),
    ("force", "sdz"),
    ("hosts-file", "/proc/sys/kernel/hostname"),
    ("mix", "read:80,write:20"),
    ("metrics", "9100"),
    ("numa", "0"),
    ("percentiles", "50,99"),
    ("range", "0-64m"),
    ("rw", "randread"),
    ("rwf", "dsync"),
    ("set", "depth=4"),
    ("share", "slice"),
    ("target", "/data/other"),
    ("think", "1ms"),
    ("workers", "3"),
];

/// Flags and what they take.
fn rows() -> Vec<(&'static str, flag::Takes)> {
    fn of<T>(groups: &[Group<T>]) -> impl Iterator<Item = (&'static str, flag::Takes)> {
        let flags = groups.iter().flat_map(|group| group.flags);
        flags.map(|flag| (flag.long, flag.takes))
    }
    let all = of(options::GROUPS).chain(of(bucket::SERVERS)).chain(of(SHIPPED)).chain(of(HOW));
    all.chain(of(hosts::FLAGS)).chain(of(output::OF_RUNS)).collect()
}

/// A value other than the default.
fn example(long: &str, takes: flag::Takes) -> Option<String> {
    let (flag::Takes::One(form) | flag::Takes::Many(form) | flag::Takes::Maybe(form)) = takes
    else {
        return None;
    };
    let known = EXAMPLES.iter().find(|(name, _)| *name == long).map(|(_, value)| *value);
    let of_form = match form {
        "SIZE" | "BYTES" | "SIZE[,SIZE…]" => "64k",
        "PCT" => "50",
        "TIME" => "2s",
        form if form.contains('|') => form.rsplit('|').next().unwrap_or_default(),
        "FILE" | "DIR" | "NAME" | "URL" | "HOST,…" | "COMMAND" => "x",
        _ => "4",
    };
    Some(known.unwrap_or(of_form).to_owned())
}

fn outcome(words: &[String]) -> Result<Outcome, String> {
    let matches = command().try_get_matches_from(&words[1..]).map_err(|error| error.to_string())?;
    let mut line = CommandLine::new(words);
    let (mut output, mut how) = (Output::default(), How::default());
    let mut problems = flag::apply(output::OF_RUNS, &matches, &mut line, &mut output);
    problems.extend(flag::apply(SHIPPED, &matches, &mut line, &mut how));
    problems.extend(how.apply(&matches, &mut line));
    let told = |problems: Vec<Problem>, source: &Source| {
        Err(candor_show::problems::text(&problems, source, false))
    };
    if !problems.is_empty() {
        return told(problems, &line.source);
    }
    let plan = match plan(how.like, &matches, &mut line) {
        Ok((plan, _)) => plan,
        Err(Unusable::Sentence(sentence)) => return Err(sentence),
        Err(Unusable::Plan(problems, source)) => return told(problems, &source),
    };
    let plan = match settings::apply(plan, &how.set, &mut line) {
        Ok((plan, _)) => plan,
        Err(problems) => return told(problems, &line.source),
    };
    let settings = format!("{:#?}", (plan, how, output));
    Ok(Outcome { settings, ..Outcome::default() })
}

/// Sources that run a plan, and those that act on the other flags.
const READERS: &[&str] = &[
    "blocks/src",
    "bytes/src",
    "candor/src/commands.rs",
    "candor/src/commands/run.rs",
    "candor/src/hosts",
    "candor/src/hosts.rs",
    "candor/src/output",
    "candor/src/output.rs",
    "compute/src",
    "engine/src",
    "entries/src",
    "memory/src",
    "objects/src",
    "s3/src",
    "run/src",
    "fleet/src",
    "show/src",
    "judge/src",
];

#[test]
fn every_flag_changes_the_plan_the_run_or_the_output() {
    let rows = rows();
    let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), READERS);
    let claims = rows.iter().map(|(long, _)| {
        // The help says that it is the default.
        let support = match *long {
            "buffered" => Support::Idle("it is the default"),
            _ => Support::Exact,
        };
        Claim { name: long, support }
    });
    let broken = evidence::broken_promises(claims, &sources, |claim, with| {
        let takes = rows.iter().find(|(long, _)| *long == claim.name).map(|(_, takes)| *takes);
        let beside = match partners(PARTNERS, claim.name) {
            "" => USUAL,
            words => words,
        };
        let own = format!("--{}", claim.name);
        let mut words: Vec<String> =
            format!("candor run {beside}").split(' ').map(str::to_owned).collect();
        if with {
            // A flag that is among its partners, other than a list, is replaced.
            if let Some(at) = words.iter().position(|word| *word == own && own != "--target") {
                words.drain(at..at + 2);
            }
            let value = takes.and_then(|takes| example(claim.name, takes));
            match (takes, value) {
                (Some(flag::Takes::Maybe(_)), Some(value)) => words.push(format!("{own}={value}")),
                (_, value) => words.extend([own].into_iter().chain(value)),
            }
        }
        outcome(&words)
    });
    assert!(broken.is_empty(), "{broken:#?}");
}
