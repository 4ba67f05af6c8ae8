//! The command line, and reading of everything that it names.

mod builtin;

use std::ffi::OsString;

use super::definitions::general::Repeat;
use super::definitions::validation::{Journal, Validation};
use super::file::{self, ParameterFile};
use super::kind::{Parameter, known, whole};
use super::lines::{Reader, Substitutes};
use candor_front::{
    Assignment, Diagnostic, Environment, Given, Group, Refused, Row, Scope, Span, Table, Texts,
    ValueKind as _, Word, enter,
};

/// The command line, as it was understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The command line, for the report.
    pub command: Vec<String>,
    /// Parameter files.
    pub files: Vec<Word>,
    /// A built-in parameter file.
    builtin: Option<builtin::Builtin>,
    /// Directory of the results.
    pub output: Option<String>,
    /// Nothing runs; the runs are listed.
    pub is_simulation: bool,
    /// Seconds per run, overriding the files.
    pub elapsed_s: Option<u64>,
    /// Seconds per interval, overriding the files.
    pub interval_s: Option<u64>,
    /// Seconds of warm-up, overriding the files.
    pub warmup_s: Option<u64>,
    /// Data validation, with its position.
    pub validation: Option<(Span, Validation)>,
    /// The journal.
    pub journal: Option<Journal>,
    /// Repeats of all runs.
    pub repeat: Option<Repeat>,
    /// Formats of file systems, overriding the runs.
    pub format: FormatWish,
    /// Megabytes are 10^6 bytes.
    pub is_decimal: bool,
    /// The run definition to begin with.
    pub first_rd: Option<String>,
    /// Position of the last option.
    at: Option<Span>,
}

/// Options about formats of file systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormatWish {
    /// The parameter file decides.
    #[default]
    AsWritten,
    /// `-c`: clean each anchor before its first use.
    Clean,
    /// `-cy`: each run has a format.
    Always,
    /// `-cn`: none has one.
    Never,
    /// `-co`: formats, and no runs.
    Only,
}

/// The command line and all that it names.
#[derive(Debug, Default)]
pub struct Reading {
    /// The options.
    pub options: Options,
    /// Options that were given.
    pub given: Given,
    /// Command line and parameter files.
    pub texts: Texts,
    /// The definitions.
    pub file: ParameterFile,
    /// Everything wrong.
    pub errors: Vec<Diagnostic>,
    /// Warnings about values that are read as vdbench does, but possibly not as meant.
    pub remarks: Vec<Diagnostic>,
    /// Action instead of a benchmark.
    pub instead: Option<Instead>,
    /// Index of the first text of a parameter file.
    first_file: usize,
}

/// Action instead of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
    /// The version.
    Version,
}

impl Reading {
    /// Names and contents of the parameter files, in the order read.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.texts.all.iter().skip(self.first_file);
        files.map(|text| (text.name.as_str(), text.text.as_str()))
    }
}

impl Scope for Reading {
    type Kind = Parameter<Options>;
    const TOOL: &'static str = "vdbench";
    const TABLE: Table<Parameter<Options>> = TABLE;

    fn given(&self) -> &Given {
        &self.given
    }

    fn at(&self) -> Span {
        Span { text: 0, start: 0, end: 0 }
    }

    fn name(&self) -> &str {
        "vdbench"
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }
}

/// Options without a value.
const NOTHING: &str = "";
/// A value that may be left out.
const MAYBE: &str = "[N]";

/// All options of the command line.
pub const TABLE: Table<Parameter<Options>> = Table(&[Group { title: "Command line", rows: ROWS }]);

fn seconds(text: &str) -> Result<Option<u64>, Refused> {
    match text.parse() {
        Ok(seconds @ 1..=100_000_000) => Ok(Some(seconds)),
        _ => Err(Refused::whole(text, format!("`{text}` is no number of seconds"), "give 60")),
    }
}

fn letters(text: &str, known: &str, each: &mut dyn FnMut(char)) -> Result<(), Refused> {
    for letter in text.chars() {
        if !known.contains(letter) {
            let message = format!("`{letter}` is none of the letters {known}");
            return Err(Refused::whole(text, message, "remove it"));
        }
        each(letter);
    }
    Ok(())
}

fn validation(options: &mut Options, text: &str) -> Result<(), Refused> {
    let mut found = Validation { is_on: true, ..Validation::default() };
    letters(text, "rwtz2", &mut |letter| match letter {
        'r' => found.read_after_write = true,
        'w' => found.no_preread = true,
        't' => found.time = true,
        'z' => found.ignore_zero_reads = true,
        // The number of the key's length is candor's own.
        _ => {}
    })?;
    options.validation = options.at.map(|at| (at, found));
    Ok(())
}

fn journal(options: &mut Options, text: &str) -> Result<(), Refused> {
    let mut found = Journal { is_on: true, ..Journal::default() };
    let mut validation = Validation { is_on: true, ..Validation::default() };
    letters(text, "rnmo2tsi", &mut |letter| match letter {
        'r' => found.recover = true,
        'n' => found.no_flush = true,
        'm' => found.map_only = true,
        'o' => (found.recover, found.recover_only) = (true, true),
        's' => found.skip_read_all = true,
        'i' => found.ignore_pending = true,
        't' => validation.time = true,
        _ => {}
    })?;
    options.journal = Some(found);
    options.validation = options.validation.or(options.at.map(|at| (at, validation)));
    Ok(())
}

fn repeat(options: &mut Options, text: &str) -> Result<(), Refused> {
    options.repeat = Some(match text {
        "" => Repeat::Endless,
        text => match text.parse() {
            Ok(times) if times > 0 => Repeat::Times(times),
            _ => Repeat::time(text).ok_or_else(|| {
                let remedy = "give a number of times, or a time such as 90s, 30m, 2h";
                Refused::whole(text, format!("`{text}` repeats nothing"), remedy)
            })?,
        },
    });
    Ok(())
}

fn format(options: &mut Options, text: &str) -> Result<(), Refused> {
    options.format = match text {
        "" => FormatWish::Clean,
        "y" => FormatWish::Always,
        "n" => FormatWish::Never,
        "o" => FormatWish::Only,
        _ => {
            let message = format!("`-c{text}` is no format");
            return Err(Refused::whole(text, message, "use -c, -cy, -cn or -co"));
        }
    };
    Ok(())
}

const ROWS: &[Row<Parameter<Options>>] = &[
    whole(
        "f",
        "FILE…",
        |options: &mut Options, text| {
            let at = options.at.unwrap_or(Span { text: 0, start: 0, end: 0 });
            options.files.push(Word { text: text.to_owned(), at });
            Ok(())
        },
        "parameter files, in this order; - is standard input",
    )
    .exact("", "parmfile"),
    whole(
        "o",
        "DIR",
        |options: &mut Options, text| {
            options.output = Some(text.to_owned());
            Ok(())
        },
        "directory of the results; DIR+ takes the next free number, DIR.tod the time of day",
    )
    .default("output")
    .exact("", "results+"),
    whole(
        "s",
        NOTHING,
        |options: &mut Options, _| {
            options.is_simulation = true;
            Ok(())
        },
        "list the runs, and run nothing",
    )
    .exact("", ""),
    whole(
        "e",
        "SECONDS",
        |options: &mut Options, text| seconds(text).map(|value| options.elapsed_s = value),
        "elapsed= of all runs",
    )
    .exact("stop.time", "60"),
    whole(
        "i",
        "SECONDS",
        |options: &mut Options, text| seconds(text).map(|value| options.interval_s = value),
        "interval= of all runs",
    )
    .exact("phase.interval", "5"),
    whole(
        "w",
        "SECONDS",
        |options: &mut Options, text| seconds(text).map(|value| options.warmup_s = value),
        "warmup= of all runs",
    )
    .exact("phase.ramp", "10"),
    whole("v", "[r][w][t][z]", validation, "data validation").exact("blocks.verify", "r"),
    whole("j", "[r][n][m][o][s][i]", journal, "data validation with a journal")
        .exact("blocks.verify", "r"),
    whole("l", "[N|TIME]", repeat, "repeat all runs N times, or for TIME").exact("repeats", "2"),
    whole(
        "c",
        "[y|n|o]",
        format,
        "remove old trees first; y: a format before each run, n: none, o: formats alone",
    )
    .exact("phase", ""),
    whole("t", "[1|2|f|d]", builtin::chosen, "a short built-in test, with a lun in /tmp")
        .exact("phase", ""),
    whole(
        "mb",
        NOTHING,
        |options: &mut Options, _| {
            options.is_decimal = true;
            Ok(())
        },
        "megabytes of 1000 times 1000 bytes",
    )
    .exact("", ""),
    known("m", MAYBE, "number of JVMs").idle("4", "there are no JVMs"),
    whole(
        "r",
        "RD",
        |options: &mut Options, text| {
            options.first_rd = Some(text.to_owned());
            Ok(())
        },
        "begin with that run definition",
    )
    .exact("phase", "rd2"),
    known("k", NOTHING, "statistics of Solaris").idle("", "candor runs on Linux"),
    known("p", "PORT", "port of slaves").idle("5570", "everything runs in one process"),
    known("d", "N", "debugging").idle("27", "it concerns vdbench's own code"),
];

/// Options whose value can or must be the next word.
fn takes(name: &str) -> Value {
    match name {
        "f" | "o" | "e" | "i" | "w" | "r" | "p" | "d" => Value::Needed,
        "l" | "m" => Value::Number,
        _ => Value::Joined,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Joined, or the next word.
    Needed,
    /// Joined, or the next word if it starts with a digit.
    Number,
    /// Joined or none.
    Joined,
}

/// Reads a command line, the program's name first, and the files that it names.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    let mut reading = Reading::default();
    let words = enter(&mut reading.texts, argv);
    reading.options.command = words.iter().map(|word| word.text.clone()).collect();
    let (mut substitutes, mut extras) = (Substitutes::default(), Vec::<Word>::new());
    take(&mut reading, &words[1.min(words.len())..], &mut substitutes, &mut extras);
    if reading.instead.is_some() {
        return reading;
    }
    let options = &reading.options;
    if options.files.is_empty() && options.builtin.is_none() && reading.errors.is_empty() {
        let message = "no parameter file is given";
        let error = Diagnostic::nowhere("command-line", message);
        reading.errors.push(error.remedy("name one with -f FILE, or use -t for a short test"));
    }
    reading.first_file = reading.texts.all.len();
    read_files(&mut reading, environment, &mut substitutes, &extras);
    reading
}

/// Reads all words.
fn take(
    reading: &mut Reading,
    words: &[Word],
    substitutes: &mut Substitutes,
    extras: &mut Vec<Word>,
) {
    let mut words = words.iter().peekable();
    // More parameter files may follow -f.
    let mut in_files = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            "+" => {
                extras.extend(words.by_ref().cloned());
                return;
            }
            "-h" | "-?" | "--help" => reading.instead = Some(Instead::Help),
            "--version" => reading.instead = Some(Instead::Version),
            _ if text.starts_with('-') && text.len() > 1 => {
                in_files = dashed(reading, word, &mut words);
            }
            _ if text.contains('=') && !text.starts_with('=') => {
                if let Some((key, value)) = text.split_once('=') {
                    let start = word.at.end - value.len().min(word.at.end);
                    let at = Span { start, ..word.at };
                    substitutes.set(key, Word { text: value.to_owned(), at });
                }
            }
            _ if in_files => {
                reading.options.files.push(word.clone());
            }
            _ => {
                let message = format!("`{text}` is neither an option nor key=value");
                let error = Diagnostic::new(word.at, "command-line", text, message);
                reading.errors.push(error.remedy("name parameter files with -f"));
            }
        }
    }
}

/// Reads an option and its value; true if more parameter files may follow.
fn dashed<'a>(
    reading: &mut Reading,
    word: &Word,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a Word>>,
) -> bool {
    let text = word.text.as_str();
    let Some((row, joined)) = option(&text[1..]) else {
        let error = Diagnostic::new(word.at, "option", text, format!("`{text}` is no option"));
        let names: Vec<String> = TABLE.names().map(|name| format!("-{name}")).collect();
        reading.errors.push(error.nearest(names.iter().map(String::as_str)));
        return false;
    };
    let start = word.at.end - joined.len().min(word.at.end);
    let joined = (!joined.is_empty())
        .then(|| Word { text: joined.to_owned(), at: Span { start, ..word.at } });
    let takes = takes(row.name);
    let value = joined.or_else(|| {
        words
            .next_if(|next| match takes {
                Value::Needed => next.text == "-" || !next.text.starts_with('-'),
                Value::Number => next.text.starts_with(|c: char| c.is_ascii_digit()),
                Value::Joined => false,
            })
            .cloned()
    });
    if value.is_none() && takes == Value::Needed {
        let message = format!("-{} needs a value", row.name);
        let error = Diagnostic::new(word.at, row.name, text, message);
        reading.errors.push(error.remedy(format!("write -{} {}", row.name, row.kind.form())));
        return false;
    }
    assign(reading, row, word, value);
    row.name == "f"
}

/// The option with the longest name that starts a word, and the rest of the word.
fn option(word: &str) -> Option<(&'static Row<Parameter<Options>>, &str)> {
    let fits = TABLE.rows().filter(|row| word.starts_with(row.name));
    let row = fits.max_by_key(|row| row.name.len())?;
    Some((row, &word[row.name.len()..]))
}

fn assign(
    reading: &mut Reading,
    row: &'static Row<Parameter<Options>>,
    word: &Word,
    value: Option<Word>,
) {
    reading.options.at = Some(word.at);
    let name = Word { text: row.name.to_owned(), at: word.at };
    let assignment = Assignment { name, value };
    match TABLE.assign(&assignment, &mut reading.options, "see vdbench --help") {
        Ok(assigned) => reading.given.insert(assigned.row.name, assigned.given),
        Err(error) => reading.errors.push(*error),
    }
}

/// Reads the parameter files.
fn read_files(
    reading: &mut Reading,
    environment: &mut dyn Environment,
    substitutes: &mut Substitutes,
    extras: &[Word],
) {
    let options = &reading.options;
    let mut lines = {
        let builtin = options.builtin.map(|builtin| builtin.text(environment));
        let mut environment = builtin::WithBuiltin { environment, text: builtin };
        let mut reader = Reader::new(&mut environment, &mut reading.texts, substitutes);
        if options.builtin.is_some() {
            reader.file(builtin::NAME, None);
        }
        for file in &options.files {
            reader.file(&file.text, Some(file.at));
        }
        let joined = extras.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(",");
        let place = extras.first().zip(extras.last()).map(|(first, last)| first.at.to(last.at));
        reader.finish(place.map(|place| (joined.as_str(), place)))
    };
    lines.errors.extend(substitutes.unused());
    let read = file::read(lines);
    (reading.file, reading.remarks) = (read.file, read.remarks);
    reading.errors.extend(read.errors);
    for rd in &mut reading.file.rds.all {
        let (asked, rd) = (&reading.options, &mut rd.options);
        rd.elapsed_s = asked.elapsed_s.unwrap_or(rd.elapsed_s);
        rd.interval_s = asked.interval_s.unwrap_or(rd.interval_s);
        rd.warmup_s = asked.warmup_s.unwrap_or(rd.warmup_s);
    }
    if let Some(first) = &reading.options.first_rd {
        let rds = &mut reading.file.rds.all;
        match rds.iter().position(|rd| rd.name.text == *first) {
            Some(nth) => drop(rds.drain(..nth)),
            None => {
                let error = Diagnostic::nowhere("option", format!("-r {first} names no rd="));
                let names: Vec<String> = rds.iter().map(|rd| rd.name.text.clone()).collect();
                reading.errors.push(error.nearest(names.iter().map(String::as_str)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
