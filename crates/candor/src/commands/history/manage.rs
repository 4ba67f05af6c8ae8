//! Actions that change the history: tags, imports, pruning, repair.

use std::path::Path;
use std::time::SystemTime;

use candor_history::{Document, Filter, Imported, Kind, Note, Repaired, RunId, moment};
use candor_plan::{PathText, path_of};
use candor_record::REPORT_BYTES_MAX;
use candor_record::fmt::counted;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::filter::{self, FILTER};
use super::{now_unix_ms, run_arg, with_index};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::history::of_user;
use crate::screen::{self, Color};
use crate::{commands, exit, parse, stored};

/// Options of pruning.
#[derive(Default)]
struct PruneOptions {
    keep: Option<u64>,
    before_unix_ms: Option<i64>,
}

const PRUNE: &[Group<PruneOptions>] = &[Group {
    title: "Prune",
    flags: &[
        Flag {
            long: "keep",
            takes: Takes::One("N"),
            help: "Keep the newest N runs that match, and remove the others",
            fields: &[],
            set: |options, text| put_some(&mut options.keep, parse::number(text)),
        },
        Flag {
            long: "older-than",
            takes: Takes::One("TIME"),
            help: "Remove runs before then: an age such as 90d, or a day",
            fields: &[],
            set: |options, text| put_some(&mut options.before_unix_ms, moment(text, now_unix_ms())),
        },
    ],
}];

pub fn commands() -> [Command; 5] {
    let tag = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(run_arg())
            .arg(Arg::new("TAG").required(true).help("A word without blanks"))
    };
    [
        tag("tag", "Give a run a tag, which also protects it from candor history prune"),
        tag("untag", "Take a tag from a run"),
        Command::new("import")
            .about("Enter reports of candor, and results of fio, elbencho, iostat and sysstat")
            .arg(
                Arg::new("FILE")
                    .required(true)
                    .action(ArgAction::Append)
                    .help("A report, the directory of a run, or a file that another tool wrote"),
            ),
        Command::new("prune")
            .about("Remove old runs; those with a tag stay")
            .args(flag::args(PRUNE))
            .args(flag::args(FILTER)),
        Command::new("repair").about("Check all files of the history, and rebuild a damaged index"),
    ]
}

/// Gives a run a tag, or takes it away.
pub fn tag(matches: &ArgMatches, on: bool) -> u8 {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let (run, tag) = (word("RUN"), word("TAG"));
    let is_word = !tag.is_empty() && !tag.contains(char::is_whitespace);
    let Some(number) = run.parse::<RunId>().ok().filter(|_| is_word) else {
        screen::error(&if is_word {
            format!("`{run}` is no number of a run; candor history lists them")
        } else {
            format!("`{tag}` is no tag: a tag is a word without blanks")
        });
        return exit::USAGE;
    };
    let changed = with_index(|history, index| history.tag(index, number, tag, on));
    commands::exit_code(changed.map(|changed| {
        if !changed {
            screen::tell(&if on {
                format!("candor: run {number} has the tag {tag} already\n")
            } else {
                format!("candor: run {number} has no tag {tag}\n")
            });
        }
    }))
}

/// Enters files.
pub fn import(matches: &ArgMatches) -> u8 {
    let files = matches.get_many::<String>("FILE").into_iter().flatten();
    let mut code = exit::RAN;
    for file in files {
        match import_file(file) {
            Ok(sentence) => screen::tell(&format!("candor: {sentence}\n")),
            Err(sentence) => {
                screen::error(&sentence);
                code = exit::TROUBLE;
            }
        }
    }
    code
}

fn import_file(file: &str) -> Result<String, String> {
    let text = stored::text(file, REPORT_BYTES_MAX)?;
    let (kind, text) = if stored::is_report(&text) {
        (Kind::Report, text)
    } else {
        let results = stored::results(file)?;
        let text = serde_json::to_string(&results).map_err(|error| error.to_string())?;
        (Kind::Results, text)
    };
    let absolute = std::path::absolute(path_of(file)).unwrap_or(path_of(file));
    let note = Note {
        imported_from: Some(absolute.text()),
        file_unix_ms: Some(changed_unix_ms(&absolute)),
        ..Note::default()
    };
    let history = of_user()?;
    let imported = history.import(Document { kind, text: &text }, note, &mut super::tell);
    match imported.map_err(|why| format!("{file}: {why}"))? {
        Imported::Known(run) => Ok(format!("{file} is run {run} already")),
        Imported::As(kept) => match kept.unindexed {
            None => Ok(format!("{file} is run {}", kept.run)),
            Some(why) => Ok(format!("{file} is run {}, not listed yet: {why}", kept.run)),
        },
    }
}

/// Time of the last change of a file; now where it has none.
fn changed_unix_ms(path: &Path) -> i64 {
    let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let since = changed.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_else(now_unix_ms)
}

/// Removes old runs.
pub fn prune(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = PruneOptions::default();
    let filter = match filter::read(matches, &mut line) {
        Ok(filter) => filter,
        Err(code) => return code,
    };
    let problems = flag::apply(PRUNE, matches, &mut line, &mut options);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, Color::Auto);
        return exit::USAGE;
    }
    let PruneOptions { keep, before_unix_ms } = options;
    if keep.is_none() && before_unix_ms.is_none() {
        screen::error("no run is selected: give --keep N or --older-than TIME");
        return exit::USAGE;
    }
    let until_unix_ms = [filter.until_unix_ms, before_unix_ms].into_iter().flatten().min();
    let filter = Filter { until_unix_ms, ..filter };
    let pruned =
        with_index(|history, index| history.prune(index, &filter, keep.unwrap_or_default()));
    commands::exit_code(pruned.map(|runs| {
        screen::tell(&format!("candor: {} removed\n", counted(runs, "run")));
    }))
}

/// Looks at every part of the history.
pub fn repair() -> u8 {
    let repaired = of_user()
        .and_then(|history| history.repair(&mut super::tell).map_err(|why| why.to_string()));
    commands::exit_code(repaired.and_then(|Repaired { runs, unreadable }| match unreadable {
        0 => {
            screen::tell(&format!("candor: the history is in order, {}\n", counted(runs, "run")));
            Ok(())
        }
        _ => Err(format!(
            "{unreadable} of {} cannot be read; restore {} from a backup, or remove {}",
            counted(runs, "run"),
            if unreadable == 1 { "its document" } else { "their documents" },
            if unreadable == 1 { "it" } else { "them" },
        )),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_pruning_is_read() {
        let mut options = PruneOptions::default();
        for (flag, value) in PRUNE[0].flags.iter().zip(["10", "2026-11-01"]) {
            (flag.set)(&mut options, value).expect(value);
            assert!((flag.set)(&mut options, "some").is_err(), "--{}", flag.long);
        }
        assert_eq!((options.keep, options.before_unix_ms), (Some(10), Some(1_793_491_200_000)));
    }
}
