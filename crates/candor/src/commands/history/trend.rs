//! `candor history trend`: one figure of the same work, run after run.

use std::path::{Path, PathBuf};

use candor_chart::Look;
use candor_derive::trend::Trends;
use candor_history::Work;
use candor_plan::{PathText, path_of};
use clap::{ArgMatches, Command};

use super::filter::{self, FILTER};
use super::with_index;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::picture::{self, Format};
use crate::{commands, output};

const LONG_ABOUT: &str = "\
Show a number of the same work from run to run, and the run in which it changed.

Work is the same if tool, host, target, phase, job, operation, every setting of the plan, sizes, \
filesystem, device and the limits of the control group are the same; other work has a separate \
trend. A change is reported where the figure left its level beyond the noise from run to run; \
runs that were cut short or are not the storage's numbers do not count.";

/// Options of a trend.
#[derive(Default)]
struct TrendOptions {
    work: Work,
    chart: Option<(PathBuf, Format)>,
}

const GROUPS: &[Group<TrendOptions>] = &[Group {
    title: "Trend",
    flags: &[
        Flag {
            long: "phase",
            takes: Takes::One("NAME"),
            help: "Only this phase",
            fields: &[],
            set: |options, text| put_some(&mut options.work.phase, Ok(text.into())),
        },
        Flag {
            long: "job",
            takes: Takes::One("NAME"),
            help: "Only this job",
            fields: &[],
            set: |options, text| put_some(&mut options.work.job, Ok(text.into())),
        },
        Flag {
            long: "operation",
            takes: Takes::One("NAME"),
            help: "Only this operation, such as read or fsync",
            fields: &[],
            set: |options, text| put_some(&mut options.work.operation, Ok(text.into())),
        },
        Flag {
            long: "chart",
            takes: Takes::One("FILE"),
            help: "Draw the trends into FILE, which ends in .svg or .png",
            fields: &[],
            set: |options, text| {
                let file = path_of(text);
                put_some(&mut options.chart, Format::of_file(&file).map(|format| (file, format)))
            },
        },
    ],
}];

pub fn command() -> Command {
    Command::new("trend")
        .about("Show a number from run to run, and where it changed")
        .long_about(LONG_ABOUT)
        .args(flag::args(FILTER))
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_LOOKS))
}

pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = TrendOptions::default();
    let read = filter::read(matches, &mut line).and_then(|filter| {
        let output = commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut options)?;
        Ok((filter, output))
    });
    let (filter, output) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    let found = with_index(|history, index| history.trends(index, &filter, &options.work));
    let shown = found.and_then(|trends| {
        if let Some((file, format)) = &options.chart {
            draw(&trends, file, *format)?;
        }
        output.show(
            || candor_show::json::history(&trends),
            |style| candor_show::history::trends(&trends, style),
        )
    });
    commands::exit_code(shown)
}

fn draw(trends: &Trends, file: &Path, format: Format) -> Result<(), String> {
    if trends.trends.is_empty() {
        return Err(format!("{} is not written: no work ran twice", file.text()));
    }
    picture::write(&candor_show::history::chart(trends), format, file, &Look::default())
}
