//! Options that say which runs a command is about.

use candor_history::{Filter, moment};
use candor_plan::{PathText, path_of};
use candor_record::Verdict;
use candor_record::results::FigureKind;
use clap::ArgMatches;

use super::now_unix_ms;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::screen::{self, Color};
use crate::{exit, parse};

/// Verdicts by their words.
const VERDICTS: [(&str, Verdict); 5] = [
    ("ok", Verdict::Ok),
    ("caution", Verdict::Caution),
    ("unverified", Verdict::Unverified),
    ("wrong", Verdict::Wrong),
    ("corrupt", Verdict::Corrupt),
];

/// Which runs.
pub const FILTER: &[Group<Filter>] = &[Group {
    title: "Runs",
    flags: &[
        Flag {
            long: "target",
            takes: Takes::One("PATH"),
            help: "Only runs on this path or below it, or on the device of this name",
            fields: &[],
            set: |filter, text| put_some(&mut filter.target, Ok(target(text))),
        },
        Flag {
            long: "name",
            takes: Takes::One("TEXT"),
            help: "Only runs with TEXT in their name (case-insensitive)",
            fields: &[],
            set: |filter, text| put_some(&mut filter.name, Ok(text.into())),
        },
        Flag {
            long: "tag",
            takes: Takes::One("TAG"),
            help: "Only runs with this tag",
            fields: &[],
            set: |filter, text| put_some(&mut filter.tag, Ok(text.into())),
        },
        Flag {
            long: "host",
            takes: Takes::One("NAME"),
            help: "Only runs of this host",
            fields: &[],
            set: |filter, text| put_some(&mut filter.host, Ok(text.into())),
        },
        Flag {
            long: "tool",
            takes: Takes::One("TOOL"),
            help: "Only runs of this tool, such as candor or fio, with its version or without",
            fields: &[],
            set: |filter, text| put_some(&mut filter.tool, Ok(text.into())),
        },
        Flag {
            long: "verdict",
            takes: Takes::One("ok|caution|unverified|wrong|corrupt"),
            help: "Only runs with this verdict",
            fields: &[],
            set: |filter, text| put_some(&mut filter.verdict, parse::one_of(text, &VERDICTS)),
        },
        Flag {
            long: "since",
            takes: Takes::One("TIME"),
            help: "Only runs from then on: 2026-11-01, 2026-11-01T12:30 (UTC), or an age such as \
                   30d, 12h",
            fields: &[],
            set: |filter, text| put_some(&mut filter.since_unix_ms, moment(text, now_unix_ms())),
        },
        Flag {
            long: "until",
            takes: Takes::One("TIME"),
            help: "Only runs before then",
            fields: &[],
            set: |filter, text| put_some(&mut filter.until_unix_ms, moment(text, now_unix_ms())),
        },
        Flag {
            long: "figure",
            takes: Takes::One("FIGURE"),
            help: "Only runs with this number, and show it: iops, bandwidth, mean (latency), or a \
                   percentile such as p99 [default: bandwidth of large blocks, IOPS of others]",
            fields: &[],
            set: |filter, text| put_some(&mut filter.figure, FigureKind::parse(text)),
        },
    ],
}];

/// A path as runs have it; the name of a device stays as it is.
fn target(text: &str) -> String {
    let is_path = text.contains('/') || path_of(text).exists();
    let absolute = std::path::absolute(path_of(text)).ok().filter(|_| is_path);
    absolute.map_or(text.to_owned(), |path| path.text())
}

/// Reads them; the exit code where one makes no sense.
pub fn read(matches: &ArgMatches, line: &mut CommandLine) -> Result<Filter, u8> {
    let mut filter = Filter::default();
    let problems = flag::apply(FILTER, matches, line, &mut filter);
    if problems.is_empty() {
        Ok(filter)
    } else {
        screen::problems(&problems, &line.source, Color::Auto);
        Err(exit::USAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_sets_its_part_of_the_filter() {
        let values = [
            ("target", "/data"),
            ("name", "a"),
            ("tag", "a"),
            ("host", "a"),
            ("tool", "fio"),
            ("verdict", "wrong"),
            ("since", "30d"),
            ("until", "2026-11-01"),
            ("figure", "p99.9"),
        ];
        let flags = || FILTER.iter().flat_map(|group| group.flags);
        assert_eq!(flags().map(|flag| flag.long).collect::<Vec<_>>(), values.map(|(long, _)| long));
        for (flag, (_, value)) in flags().zip(values) {
            let mut filter = Filter::default();
            (flag.set)(&mut filter, value).expect(value);
            assert!(filter != Filter::default(), "--{}", flag.long);
        }
        for (long, wrong) in [("verdict", "good"), ("since", "soon"), ("figure", "speed")] {
            let flag = flags().find(|flag| flag.long == long).expect("it is in the table");
            let told = (flag.set)(&mut Filter::default(), wrong).expect_err(wrong);
            assert!(told.contains(wrong), "{told}");
        }
    }

    #[test]
    fn paths_are_absolute_and_devices_are_names() {
        assert_eq!([target("sdq"), target("/a/b")], ["sdq", "/a/b"]);
        assert!(target("./x").starts_with('/') && target("src").ends_with("/src"));
    }
}
