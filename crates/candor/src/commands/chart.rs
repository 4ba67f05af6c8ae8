//! `candor chart RUN…`: a picture of results.

use std::path::{Path, PathBuf};

use candor_chart::{Chart, Look, Theme};
use candor_plan::{PathText, path_of};
use candor_record::Report;
use candor_record::results::Results;
use candor_show::charts::{self, Kind, Run};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::commands::compare;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::picture::{self, Format};
use crate::{commands, exit, output, parse, screen, stored};

const ABOUT: &str = "Draw results as a picture: over time, percentiles, against load, bars";

const LONG_ABOUT: &str = "\
Draw results as a picture, SVG or PNG.

A run is a report of candor (FILE.json, or the directory of a run), or results of another tool: \
JSON and logs of fio, CSV and JSON of elbencho, JSON of iostat and sadf. Several runs share one \
picture. Without --kind, candor picks the picture that fits the runs: against load where it \
differs, over time where there are intervals, bars where there are several runs. --kind changes \
draws what `candor compare` finds: each figure's change from the first run to each other one, \
with its interval.

Numbers that are not the storage's are drawn and marked.";

/// Pictures of runs, and the one of their comparison.
#[derive(Clone, Copy)]
enum Picture {
    Runs(Kind),
    Changes,
}

/// The picture that was asked for.
#[derive(Default)]
struct Asked {
    out: Option<PathBuf>,
    picture: Option<Picture>,
    compare: candor_compare::Options,
    title: Option<String>,
    look: Look,
}

const KIND: Flag<Asked> = Flag {
    long: "kind",
    takes: Takes::One("KIND"),
    help: "timeline, latency-over-time, latency-heatmap, percentiles, histogram, depth (or \
           workers, or size), search, heatmap, bars or changes [default: fits the runs]",
    fields: &[],
    set: |asked, text| {
        let mut words: Vec<_> =
            Kind::WORDS.iter().map(|(word, kind)| (*word, Picture::Runs(*kind))).collect();
        words.push(("changes", Picture::Changes));
        put_some(&mut asked.picture, parse::one_of(text, &words))
    },
};

const ACROSS: Flag<Asked> = Flag {
    long: "across",
    takes: Takes::Many("NAME[,NAME…]"),
    help: compare::ACROSS,
    fields: &[],
    set: |asked, text| {
        compare::across(&mut asked.compare, text);
        Ok(())
    },
};

const TITLE: Flag<Asked> = Flag {
    long: "title",
    takes: Takes::One("TEXT"),
    help: "Title [default: derived from the runs]",
    fields: &[],
    set: |asked, text| put_some(&mut asked.title, Ok(text.to_owned())),
};

const WIDTH: Flag<Asked> = Flag {
    long: "width",
    takes: Takes::One("PIXELS"),
    help: "Width of the picture, 320 to 4000; a PNG has twice as many pixels [default: 960]",
    fields: &[],
    set: |asked, text| put(&mut asked.look.width, width(text)),
};

const DARK: Flag<Asked> = Flag {
    long: "dark",
    takes: Takes::Nothing,
    help: "Light on dark",
    fields: &[],
    set: |asked, _| put(&mut asked.look.theme, Ok(Theme::Dark)),
};

const GROUPS: &[Group<Asked>] =
    &[Group { title: "Picture", flags: &[KIND, ACROSS, TITLE, WIDTH, DARK] }];

fn width(text: &str) -> Result<f64, String> {
    let width = text.parse().ok().filter(|width| (320..=4000).contains(width));
    let width: u32 = width.ok_or_else(|| format!("`{text}` is no width from 320 to 4000"))?;
    Ok(f64::from(width))
}

/// The command line.
pub fn command() -> Command {
    let runs = Arg::new("RUN")
        .required(true)
        .action(ArgAction::Append)
        .help("Reports, directories of runs, or results of fio, elbencho, iostat or sadf");
    let out = Arg::new("out").short('o').long("out").value_name("FILE").required(true).help(
        "Write the picture to FILE; the extension selects the format: .svg or .png; - is SVG on \
         stdout",
    );
    Command::new("chart")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(runs)
        .arg(out)
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_SCREENS))
        .after_help(exit::HELP)
}

/// Draws, and gives the exit code.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut asked = Asked::default();
    if let Err(code) = commands::flags(output::OF_SCREENS, GROUPS, matches, &mut line, &mut asked) {
        return code;
    }
    let is_comparison = matches!(asked.picture, Some(Picture::Changes));
    if !is_comparison && !asked.compare.across.is_empty() {
        screen::error("--across is about a comparison: give --kind changes as well");
        return exit::USAGE;
    }
    asked.out = matches.get_one::<String>("out").map(|text| path_of(text));
    let out = asked.out.clone().unwrap_or_default();
    if out != Path::new("-")
        && let Err(refusal) = candor_files::claim(&out)
    {
        screen::error(&format!("--out {}: {refusal}", out.text()));
        return exit::REFUSED;
    }
    let format = match Format::of(&out) {
        Ok(format) => format,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let files: Vec<&String> = matches.get_many("RUN").into_iter().flatten().collect();
    let drawn =
        chart(&files, &asked).and_then(|chart| picture::write(&chart, format, &out, &asked.look));
    commands::exit_code(drawn)
}

/// The picture of the runs in these files.
fn chart(files: &[&String], asked: &Asked) -> Result<Chart, String> {
    let read: Vec<(Results, Option<Report>)> = files
        .iter()
        .map(|file| stored::results_with_report(file))
        .collect::<Result<_, String>>()?;
    let names = names(files, &read);
    let runs: Vec<Run<'_>> = read
        .iter()
        .zip(&names)
        .map(|((results, report), name)| Run { name, results, report: report.as_ref() })
        .collect();
    let chart = match asked.picture.unwrap_or_else(|| Picture::Runs(Kind::fitting(&runs))) {
        Picture::Runs(kind) => charts::chart(kind, &runs)?,
        Picture::Changes => {
            let named = names.iter().zip(&read);
            let named: Vec<_> =
                named.map(|(name, (results, _))| (name.clone(), results.clone())).collect();
            let compared = candor_compare::compare(&named, &asked.compare)?;
            charts::changes::comparison(&compared, &runs)?
        }
    };
    Ok(match &asked.title {
        Some(title) => Chart { title: title.clone(), ..chart },
        None => chart,
    })
}

/// Names that tell the runs from each other: their own, those of their files where these are
/// alike, their paths where those are too.
fn names(files: &[&String], read: &[(Results, Option<Report>)]) -> Vec<String> {
    let of_file = |file: &&String| {
        let stem = Path::new(file.as_str()).file_stem().unwrap_or_default();
        stem.text()
    };
    let own: Vec<String> = read.iter().map(|(results, _)| results.name.clone()).collect();
    let stems: Vec<String> = files.iter().map(of_file).collect();
    let are_distinct = |names: &[String]| {
        let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort();
        sorted.dedup();
        sorted.len() == names.len()
    };
    match () {
        () if are_distinct(&own) => own,
        () if are_distinct(&stems) => stems,
        () => files.iter().map(|file| (*file).clone()).collect(),
    }
}
