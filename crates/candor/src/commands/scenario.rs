//! `candor scenario list|show|run`: shipped plans, each of a kind of application, with a page of
//! what it imitates and how to read it.

mod io500;

use std::path::PathBuf;

use candor_plan::bucket::Keys;
use candor_plan::units::SizeSpec;
use candor_plan::{Bucket, Bytes, Nanos, Plan, Problem, Tree, path_of, text};
use clap::{Arg, ArgMatches, Command};

use super::bucket::{self, Url};
use super::run::{self, like};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::hosts;
use crate::output;
use crate::parse::{decimal, seconds};
use crate::{commands, exit, screen};

/// The scenarios by their names.
pub const SCENARIOS: [(&str, &str); 13] = [
    ("small-files", include_str!("scenario/small-files.toml")),
    ("shared-file", include_str!("scenario/shared-file.toml")),
    ("imagenet-files", include_str!("scenario/imagenet-files.toml")),
    ("checkpoint-files", include_str!("scenario/checkpoint-files.toml")),
    ("mail", include_str!("scenario/mail.toml")),
    ("build-tree", include_str!("scenario/build-tree.toml")),
    ("database-log", include_str!("scenario/database-log.toml")),
    ("reread", include_str!("scenario/reread.toml")),
    ("three-phase", include_str!("scenario/three-phase.toml")),
    ("data-loader-s3", include_str!("scenario/data-loader-s3.toml")),
    ("checkpoint-s3", include_str!("scenario/checkpoint-s3.toml")),
    ("backup-s3", include_str!("scenario/backup-s3.toml")),
    ("lakehouse", include_str!("scenario/lakehouse.toml")),
];

/// The scenario whose amounts follow from its own results.
pub const IO500: &str = io500::NAME;

const ABOUT: &str = "Run a shipped plan of an application's I/O";

const LONG_ABOUT: &str = "\
Run a shipped plan of an application's I/O.

candor scenario list: all of them. candor scenario show NAME: what it imitates, how to read its \
results, and its plan, which can be kept in a file and changed. candor scenario run NAME \
DIRECTORY: runs it on new files in that directory, and removes them at the end. Scenarios of \
object stores run on s3://BUCKET/PREFIX instead of a directory. The amounts of io500 follow from \
what its first phases wrote, so it has no plan to show or change.";

/// Size and length of a scenario.
#[derive(Debug, Default)]
struct ScenarioOptions {
    scale: Option<f64>,
    time: Option<Nanos>,
}

const GROUPS: &[Group<ScenarioOptions>] = &[Group {
    title: "Scenario",
    flags: &[
        Flag {
            long: "scale",
            takes: Takes::One("FACTOR"),
            help: "Scale file sizes and file counts by FACTOR: 0.1, 10 [default: 1]",
            fields: &[],
            set: |options, text| match decimal(text)? {
                factor if factor > 0.0 && factor.is_finite() => {
                    put_some(&mut options.scale, Ok(factor))
                }
                _ => Err(format!("`{text}` is no factor above 0")),
            },
        },
        Flag {
            long: "seconds",
            takes: Takes::One("N"),
            help: "Time of each phase that has one",
            fields: &[],
            set: |options, text| put_some(&mut options.time, seconds(text)),
        },
    ],
}];

/// The command line.
pub fn command() -> Command {
    let actions = ["list", "show", "run"];
    let scenario = Command::new("scenario")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(Arg::new("ACTION").required(true).value_parser(actions).help("What to do"))
        .arg(Arg::new("NAME").help("One of those that list names"))
        .arg(Arg::new("DIRECTORY").help("Where its files are made, or s3://BUCKET/PREFIX"))
        .args(flag::args(GROUPS))
        .args(io500::args())
        .args(run::how_args())
        .args(flag::args(output::OF_RUNS))
        .after_help(exit::HELP);
    bucket::with_servers(scenario)
}

/// Lists, shows or runs.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let scenario = || named(word("NAME"));
    let done = match word("ACTION") {
        Some("run") if word("NAME") == Some(io500::NAME) => {
            return io500::main(word("DIRECTORY"), matches, line);
        }
        Some("show") if word("NAME") == Some(io500::NAME) => Ok(commands::printed(io500::PAGE)),
        Some("run") => scenario().and_then(|(name, shipped)| {
            if let Some(other) = io500::given(matches).first() {
                return Err(format!("--{other} is a flag of io500, which {name} does not have"));
            }
            let at = place(name, shipped, word("DIRECTORY"), matches)?;
            Ok(run(shipped, &at, matches, line))
        }),
        Some("show") => scenario().map(|(_, shipped)| commands::printed(shipped)),
        _ => Ok(commands::printed(&list())),
    };
    done.unwrap_or_else(|sentence| {
        screen::error(&sentence);
        exit::USAGE
    })
}

/// Names of the flags of scenarios with a plan that were given.
fn given(matches: &ArgMatches) -> Vec<&'static str> {
    flag::given(GROUPS, matches)
}

/// The scenario of that name.
fn named(name: Option<&str>) -> Result<(&'static str, &'static str), String> {
    let names = || pages().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let name = name.ok_or_else(|| format!("name a scenario: {}", names()))?;
    let found = SCENARIOS.into_iter().find(|(known, _)| *known == name);
    found.ok_or_else(|| format!("there is no scenario `{name}`; there are {}", names()))
}

/// Names of all scenarios, each with its page.
fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCENARIOS.into_iter().chain([(io500::NAME, io500::PAGE)])
}

/// Each scenario in a line.
fn list() -> String {
    let widest = pages().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, shipped): (&str, &str)| {
        let first = shipped.lines().next().and_then(|line| line.strip_prefix("# "));
        let about = first.and_then(|line| line.split([':', '.', ',']).next()).unwrap_or_default();
        format!("{name:widest$}  {about}\n")
    };
    pages().map(line).collect()
}

/// Where a scenario works.
enum At {
    /// New files in a directory.
    Directory(PathBuf),
    /// New objects in a bucket.
    Bucket(Url),
}

/// Where a scenario works, by the last argument.
fn place(
    name: &str,
    shipped: &str,
    given: Option<&str>,
    matches: &ArgMatches,
) -> Result<At, String> {
    let on_bucket = shipped.contains("\n[[bucket]]\n");
    let given = given.ok_or_else(|| {
        let place = if on_bucket { "bucket (s3://BUCKET/PREFIX)" } else { "directory" };
        format!("no {place} is given: name one after the scenario")
    })?;
    match (on_bucket, Url::read(given)) {
        (true, Some(url)) => return url.map(At::Bucket),
        (true, None) => {
            return Err(format!("{name} works on a bucket; write s3://BUCKET/PREFIX for {given}"));
        }
        (false, Some(_)) => {
            return Err(format!("{name} works on files; name a directory instead of {given}"));
        }
        (false, None) => {}
    }
    if let Some(flag) = flag::given(bucket::SERVERS, matches).first() {
        return Err(format!("--{flag} is for buckets, and {name} works on files; leave it out"));
    }
    let is_here = flag::given(hosts::FLAGS, matches).is_empty();
    if is_here && !path_of(given).is_dir() {
        return Err(format!("{given} is no directory; make it, or name another"));
    }
    Ok(At::Directory(path_of(given)))
}

/// Runs a scenario, and gives the exit code.
fn run(shipped: &str, at: &At, matches: &ArgMatches, line: CommandLine) -> u8 {
    run::drafted(matches, line, &like::comments(shipped), |line| {
        let (mut options, mut servers) = (ScenarioOptions::default(), Bucket::default());
        let mut problems = flag::apply(GROUPS, matches, line, &mut options);
        problems.extend(flag::apply(bucket::SERVERS, matches, line, &mut servers));
        if !problems.is_empty() {
            return Err(problems);
        }
        drafted(shipped, at, &options).map(|plan| served(plan, &servers))
    })
}

/// A shipped plan in its place.
fn drafted(shipped: &str, at: &At, options: &ScenarioOptions) -> Result<Plan, Vec<Problem>> {
    let (mut plan, _) = text::read("a shipped plan", shipped).map_err(|(problems, _)| problems)?;
    let factor = options.scale.unwrap_or(1.0);
    match at {
        At::Directory(directory) => {
            for target in &mut plan.targets {
                target.path = directory.join(&target.path);
                target.size = target.size.map(|size| scaled(size, factor));
                target.tree.iter_mut().for_each(|tree| scale(tree, factor));
            }
        }
        At::Bucket(url) => {
            let run = plan.name.replace(' ', "-");
            for bucket in &mut plan.buckets {
                let placed = url.on(bucket, &format!("{run}/{}/", bucket.name));
                *bucket = placed;
                if let Keys::Tree(tree) = &mut bucket.keys {
                    scale(tree, factor);
                }
            }
        }
    }
    for phase in &mut plan.phases {
        phase.stop.time = phase.stop.time.and(options.time.or(phase.stop.time));
    }
    Ok(plan)
}

/// The plan with the settings of servers for its buckets.
fn served(mut plan: Plan, servers: &Bucket) -> Plan {
    for bucket in &mut plan.buckets {
        let Bucket { name, bucket: at, prefix, keys, .. } = bucket.clone();
        *bucket = Bucket { name, bucket: at, prefix, keys, ..servers.clone() };
    }
    plan
}

/// A tree with a multiple of its bytes: more or fewer items, or the size of a single one.
fn scale(tree: &mut Tree, factor: f64) {
    let (items, size) = (&mut tree.items, &mut tree.file_size);
    let count = *items as f64 * factor;
    match size {
        SizeSpec::Fixed(size) if *items == 1 || count < 1.0 => {
            *size = scaled(*size, count);
            *items = 1;
        }
        _ => *items = (count.round() as u64).max(1),
    }
}

/// So many times as much, in whole MiB: every operation of the scenarios fits into that.
fn scaled(size: Bytes, factor: f64) -> Bytes {
    const MIB: f64 = (1 << 20) as f64;
    Bytes(((size.0 as f64 * factor / MIB).round().max(1.0) * MIB) as u64)
}

#[cfg(test)]
mod tests {
    use candor_plan::check;

    use std::path::Path;

    use super::*;

    /// A place for a scenario.
    fn at(shipped: &str) -> At {
        if shipped.contains("[[bucket]]") {
            At::Bucket(Url { bucket: "data".into(), prefix: "a/".into() })
        } else {
            At::Directory("/data".into())
        }
    }

    #[test]
    fn scenarios_say_what_they_imitate_and_how_to_read_them() {
        for (name, shipped) in SCENARIOS {
            let plan = drafted(shipped, &at(shipped), &ScenarioOptions::default());
            let plan = plan.unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
            let found = check::check(&plan);
            assert!(found.is_empty(), "{name}: {found:#?}");
            match plan.buckets.first() {
                Some(bucket) => {
                    let begin = format!("a/{name}/{}/", bucket.name);
                    assert_eq!(bucket.prefix.to_string(), begin);
                }
                None => assert_eq!(plan.targets[0].path, Path::new("/data").join(name), "{name}"),
            }
            assert!(shipped.contains("\n# Results: "), "{name}");
            let all = shipped.lines().filter(|line| line.starts_with('#')).count();
            assert_eq!(like::comments(shipped).len(), all, "{name}");
            assert!(list().contains(&format!("{name} ")), "{}", list());
        }
    }

    #[test]
    fn sizes_and_times_can_be_others() {
        let options = ScenarioOptions { scale: Some(0.1), time: Some(Nanos(5)) };
        let of = |name: &str| {
            let (_, shipped) = named(Some(name)).expect("a scenario");
            drafted(shipped, &at(shipped), &options).expect("a plan")
        };
        let three = of("three-phase");
        assert_eq!(three.targets[0].size, Some(Bytes(205 << 20)));
        let times: Vec<_> = three.phases.iter().map(|phase| phase.stop.time).collect();
        assert_eq!(times, [None, Some(Nanos(5)), Some(Nanos(5))], "filling takes its time");
        let saved = of("checkpoint-files").targets[0].tree.clone().expect("a tree");
        assert_eq!((saved.items, saved.file_size), (1, SizeSpec::Fixed(Bytes(26 << 20))));
        for (name, items, mib) in [("lakehouse", 1, 102), ("data-loader-s3", 6, 8)] {
            let Keys::Tree(tree) = &of(name).buckets[0].keys else { panic!("{name}") };
            let size = SizeSpec::Fixed(Bytes(mib << 20));
            assert_eq!((tree.items, &tree.file_size), (items, &size), "{name}");
        }
        assert_eq!(of("small-files").targets[0].tree.as_ref().map(|tree| tree.items), Some(25));
        assert!(named(Some("none")).is_err_and(|why| why.contains("small-files, shared-file")));
        assert!(named(None).is_err());
    }
}
