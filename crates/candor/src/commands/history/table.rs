//! `candor history export`: all figures as a table for other programs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use candor_record::fmt::counted;
use clap::{ArgGroup, ArgMatches, Command};

use super::filter::{self, FILTER};
use super::with_index;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::screen::{self, Color};
use crate::{commands, exit};

/// Files to write.
#[derive(Default)]
struct Draft {
    csv: Option<PathBuf>,
    parquet: Option<PathBuf>,
}

const GROUPS: &[Group<Draft>] = &[Group {
    title: "Export",
    flags: &[
        Flag {
            long: "csv",
            takes: Takes::One("FILE"),
            help: "Write comma-separated values to FILE; - is stdout",
            fields: &[],
            set: |draft, text| put_some(&mut draft.csv, Ok(text.into())),
        },
        Flag {
            long: "parquet",
            takes: Takes::One("FILE"),
            help: "Write Parquet to FILE",
            fields: &[],
            set: |draft, text| put_some(&mut draft.parquet, Ok(text.into())),
        },
    ],
}];

pub fn command() -> Command {
    Command::new("export")
        .about("Write every figure of the runs as a row of a table")
        .args(flag::args(GROUPS))
        .args(flag::args(FILTER))
        .group(ArgGroup::new("format").args(["csv", "parquet"]).required(true))
}

pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut draft = Draft::default();
    let filter = match filter::read(matches, &mut line) {
        Ok(filter) => filter,
        Err(code) => return code,
    };
    let problems = flag::apply(GROUPS, matches, &mut line, &mut draft);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, Color::Auto);
        return exit::USAGE;
    }
    let exported = match (&draft.csv, &draft.parquet) {
        (Some(file), _) if file.as_os_str() == "-" => {
            with_index(|_, index| index.export_csv(&filter, ToReader(io::stdout())).map(|_| None))
        }
        (Some(file), _) => create(file).and_then(|open| {
            with_index(|_, index| index.export_csv(&filter, BufWriter::new(&open)).map(Some))
        }),
        (None, Some(file)) => create(file).and_then(|open| {
            with_index(|_, index| index.export_parquet(&filter, BufWriter::new(&open)).map(Some))
        }),
        // The parser asks for one of both.
        _ => return exit::USAGE,
    };
    commands::exit_code(exported.map(|rows| {
        if let Some(rows) = rows {
            screen::tell(&format!("candor: {} written\n", counted(rows, "row")));
        }
    }))
}

fn create(file: &PathBuf) -> Result<File, String> {
    File::create(file).map_err(|error| format!("{} cannot be written: {error}", file.display()))
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
