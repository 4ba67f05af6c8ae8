//! `candor history export`: all figures as a table for other programs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use candor_files::Replacement;
use candor_history::{Error, Index};
use candor_plan::{PathText, path_of};
use candor_record::fmt::counted;
use clap::{ArgGroup, ArgMatches, Command};

use super::filter::{self, FILTER};
use super::with_index;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::screen::{self, Color};
use crate::{commands, exit};

/// Files to write.
#[derive(Default)]
struct TableOptions {
    csv: Option<PathBuf>,
    parquet: Option<PathBuf>,
}

const GROUPS: &[Group<TableOptions>] = &[Group {
    title: "Export",
    flags: &[
        Flag {
            long: "csv",
            takes: Takes::One("FILE"),
            help: "Write comma-separated values to FILE; - is stdout",
            fields: &[],
            set: |options, text| put_some(&mut options.csv, Ok(path_of(text))),
        },
        Flag {
            long: "parquet",
            takes: Takes::One("FILE"),
            help: "Write Parquet to FILE",
            fields: &[],
            set: |options, text| put_some(&mut options.parquet, Ok(path_of(text))),
        },
    ],
}];

pub fn command() -> Command {
    Command::new("export")
        .about("Write every number of the runs as a row of a table")
        .args(flag::args(GROUPS))
        .args(flag::args(FILTER))
        .group(ArgGroup::new("format").args(["csv", "parquet"]).required(true))
}

pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = TableOptions::default();
    let filter = match filter::read(matches, &mut line) {
        Ok(filter) => filter,
        Err(code) => return code,
    };
    let problems = flag::apply(GROUPS, matches, &mut line, &mut options);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, Color::Auto);
        return exit::USAGE;
    }
    let exported = match (&options.csv, &options.parquet) {
        (Some(file), _) if file.as_os_str() == "-" => {
            with_index(|_, index| index.export_csv(&filter, ToReader(io::stdout())).map(|_| None))
        }
        (Some(file), _) => to_file(file, |index, out| index.export_csv(&filter, out)),
        (None, Some(file)) => to_file(file, |index, out| index.export_parquet(&filter, out)),
        // The parser asks for one of both.
        _ => return exit::USAGE,
    };
    commands::exit_code(exported.map(|rows| {
        if let Some(rows) = rows {
            screen::tell(&format!("candor: {} written\n", counted(rows, "row")));
        }
    }))
}

/// Writes a file whole; gives the number of rows.
fn to_file(
    file: &Path,
    export: impl Fn(&Index, &mut Replacement) -> Result<u64, Error>,
) -> Result<Option<u64>, String> {
    let failed = |why| Error::Export(format!("{} cannot be written: {why}", file.text()));
    // An index that turns out to be damaged is made again, and the file with it.
    with_index(|_, index| {
        let mut out = candor_files::create(file).map_err(failed)?;
        let rows = export(index, &mut out)?;
        out.commit().map_err(failed)?;
        Ok(Some(rows))
    })
}

/// Stdout; that nobody reads to the end (`| head`) is no error.
struct ToReader(io::Stdout);

impl Write for ToReader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
