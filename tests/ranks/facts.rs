//! Facts that must hold after a command.
//!
//! | verb | words | holds if |
//! | --- | --- | --- |
//! | `exit` | a number | the exit code is this |
//! | `exit` | `refused`, `bad` | it is any but 0, with a sentence, before work or after it |
//! | `says`, `never` | text | the output has it, or not, whatever the case of letters |
//! | `place` | `file:line:column` | the output has it |
//! | `file` | path, size | the file has this size; sizes are products such as `4*64k` |
//! | `gone` | path | there is nothing of this name |
//! | `some` | prefix | an entry's name begins so |
//! | `files` | number | there are so many files besides those of the case and reports |
//! | `names` | paths | these are all of them |
//! | `row` | access, block, xfer (KiB), number | IOR's table has so many such rows, 1 if left out |
//! | `moved` | access, MiB | bandwidth × time of each row is this |
//! | `ops` | access, number | IOPS × transfer time of each row is this |
//! | `sum` | operation, `name=value`… | IOR's summary has such a row of 27 fields |
//! | `option` | name `:` value | IOR's options have it |
//! | `rate`, `none` | row | mdtest's block has a rate above 0 there, or has none |
//! | `phase` | name, number, `name=value`… | md-workbench has so many lines, each with these |
//! | `json` | file or `-`, pointer, value | the document is JSON and has this there |
//! | `csv` | file or `-`, rows, names of columns | the document is CSV with these |
//! | `labels` | labels | vdbench runs these, in this order; `-` is none |
//! | `run` | label `;` texts | the heading has all of them |
//! | `flat` | label, `column=value`… | all of the run's rows of the flatfile have this |
//! | `avg` | label, column, `low..high` | the run's average is in this range |
//! | `intervals` | label, number, average | the summary has so many, and such a label of averages |
//! | `width` | label, number | each interval in the summary is followed by so many numbers |
//! | `columns` | names | the flatfile's header line has these, in this order |
//! | `report` | names | vdbench's output folder has these files |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::corpus::{Case, Command, Fact};
use super::readers::{self, Row, Run};
use crate::support::Ran;

/// A command that has ended.
pub struct Outcome<'a> {
    /// The case that the command belongs to.
    pub case: &'a Case,
    /// Exit code and output.
    pub ran: &'a Ran,
    /// The case's directory.
    pub dir: &'a Path,
}

impl Outcome<'_> {
    /// Lines on facts that do not hold. What follows from another exit code is not told.
    pub fn differences(&self, command: &Command) -> impl Iterator<Item = String> {
        let exits: Vec<&Fact> = command.facts.iter().filter(|fact| fact.verb == "exit").collect();
        let ended = match exits[..] {
            [fact] => self.check(fact),
            _ => self.exit("0"),
        };
        let expected = exits.first().map_or("0", |fact| &fact.rest);
        let ended = ended.err().map(|got| format!("exit {expected}\n    got {got}"));
        let others = if ended.is_some() { &[][..] } else { &command.facts[..] };
        let line = |fact: &Fact| {
            let got = self.check(fact).err()?;
            Some(format!("{} {}\n    got {got}", fact.verb, fact.rest))
        };
        ended.into_iter().chain(others.iter().filter_map(line)).collect::<Vec<_>>().into_iter()
    }

    /// The sentence that says how the outcome differs from a fact.
    fn check(&self, fact: &Fact) -> Result<(), String> {
        let words: Vec<&str> = fact.rest.split_whitespace().collect();
        match (fact.verb.as_str(), &words[..]) {
            ("exit", [code]) => self.exit(code),
            ("says", _) => self.says(&fact.rest, true),
            ("never", _) => self.says(&fact.rest, false),
            ("place", [place]) => self.says(place, true),
            ("file", [path, size]) => self.file(path, size),
            ("gone", [path]) => wanted(!self.dir.join(path).exists(), "it is there"),
            ("some", [prefix]) => self.some(prefix),
            ("files", [number]) => is(self.files().len() as u64, bytes(number)),
            ("names", _) => self.names(&words),
            ("row", [access, block, xfer]) => self.row(access, block, xfer, 1),
            ("row", [access, block, xfer, n]) => self.row(access, block, xfer, bytes(n)),
            ("moved", [access, mib]) => self.product(access, ["bw", "total"], mib),
            ("ops", [access, number]) => self.product(access, ["IOPS", "wr/rd"], number),
            ("sum", [operation, pairs @ ..]) => self.summary(operation, pairs),
            ("option", _) => self.option(&fact.rest),
            ("rate", _) => self.rate(&fact.rest, true),
            ("none", _) => self.rate(&fact.rest, false),
            ("phase", [name, number, pairs @ ..]) => self.phase(name, number, pairs),
            ("json", [file, pointer, value]) => self.json(file, pointer, value),
            ("csv", [file, rows, names @ ..]) => self.csv(file, bytes(rows), names),
            ("labels", _) => self.labels(&words),
            ("run", _) => self.heading(&fact.rest),
            ("flat", [label, pairs @ ..]) => self.flat(label, pairs),
            ("avg", [label, column, range]) => self.average(label, column, range),
            ("intervals", [label, number, average]) => self.intervals(label, number, average),
            ("width", [label, number]) => self.width(label, number),
            ("columns", _) => self.columns(&words),
            ("report", _) => self.reports(&words),
            _ => Err("no such fact can be checked: see the table in facts.rs".to_owned()),
        }
    }

    fn said(&self) -> String {
        format!("{}\n{}", self.ran.out, self.ran.err)
    }

    fn exit(&self, code: &str) -> Result<(), String> {
        let got = self.ran.code;
        let is_right = match code {
            // 101 is a panic of Rust.
            "refused" | "bad" => {
                got.is_some_and(|code| code != 0 && code != 101) && has_sentence(self)
            }
            code => got == code.parse().ok(),
        };
        wanted(is_right, &format!("{got:?}: {}", tail(&self.said())))
    }

    fn says(&self, text: &str, is_wanted: bool) -> Result<(), String> {
        let has = squeezed(&self.said()).contains(&squeezed(text));
        wanted(has == is_wanted, &tail(&self.said()))
    }

    fn file(&self, path: &str, size: &str) -> Result<(), String> {
        let there = fs::metadata(self.dir.join(path));
        let there = there.map_err(|_| format!("it is not there, but {:?}", self.files()))?;
        is(there.len(), bytes(size))
    }

    fn some(&self, prefix: &str) -> Result<(), String> {
        let entries = fs::read_dir(self.dir).expect("the case's directory").flatten();
        let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        wanted(names.any(|name| name.starts_with(prefix)), "there is none")
    }

    /// Files below the directory, but for those of the case and of vdbench's reports.
    fn files(&self) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        below(self.dir, Path::new(""), &mut files);
        files.retain(|file| {
            let is_given = self.case.files.iter().any(|(name, _)| name == file);
            let is_control = file.ends_with(".file") && !file.contains("vdb_f");
            !(is_given || is_control || file.starts_with("output"))
        });
        files
    }

    fn names(&self, names: &[&str]) -> Result<(), String> {
        let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let files = self.files();
        wanted(files == names, &format!("{files:?}"))
    }

    fn rows(&self, access: &str) -> Result<Vec<Row>, String> {
        let table = readers::ior(&self.ran.out)?;
        let rows: Vec<Row> = table.rows.into_iter().filter(|row| row["access"] == access).collect();
        if rows.is_empty() {
            return Err(format!("there is no row of {access}: {}", tail(&self.said())));
        }
        Ok(rows)
    }

    fn row(&self, access: &str, block: &str, xfer: &str, count: u64) -> Result<(), String> {
        if count == 0 {
            return wanted(self.rows(access).is_err(), "there are such rows");
        }
        let rows = self.rows(access)?;
        let fits = |row: &&Row| close(&row["block"], block) && close(&row["xfer"], xfer);
        let found = rows.iter().filter(fits).count() as u64;
        wanted(found == count, &format!("{found} such rows of {rows:?}"))
    }

    fn product(&self, access: &str, columns: [&str; 2], expected: &str) -> Result<(), String> {
        let expected = number(expected);
        for row in self.rows(access)? {
            let [rate, time] = columns.map(|column| number(&row[column]));
            // Rates have two decimals and times six.
            let loose = 0.02 + 0.01 / rate.max(1e-9) + 1e-6 / time.max(1e-9);
            let product = rate * time;
            if (product / expected - 1.0).abs() > loose.min(0.5) {
                return Err(format!("{rate} × {time} = {product}"));
            }
        }
        Ok(())
    }

    fn summary(&self, operation: &str, pairs: &[&str]) -> Result<(), String> {
        let table = readers::ior(&self.ran.out)?;
        let fits = |row: &Row| row["Operation"] == operation && has_all(row, pairs);
        wanted(table.summary.iter().any(fits), &format!("{:?}", table.summary))
    }

    fn option(&self, pair: &str) -> Result<(), String> {
        let (name, value) = pair.split_once(':').expect("a name, a colon and a value");
        let (name, value) = (name.trim(), value.trim());
        let options = readers::ior(&self.ran.out)?.options;
        let found: Vec<_> = options.iter().filter(|(of, _)| of == name).collect();
        wanted(found.iter().any(|(_, is)| is == value), &format!("{found:?}"))
    }

    fn rate(&self, name: &str, is_wanted: bool) -> Result<(), String> {
        let rates = readers::mdtest_rates(&self.ran.out);
        let has = rates.get(name).is_some_and(|columns| columns[2] > 0.0);
        wanted(has == is_wanted, &format!("{rates:?}"))
    }

    fn phase(&self, name: &str, number: &str, pairs: &[&str]) -> Result<(), String> {
        let lines = readers::md_workbench(&self.ran.out, name)?;
        let holds = lines.iter().all(|line| has_all(line, pairs));
        wanted(holds && lines.len() as u64 == bytes(number), &format!("{lines:?}"))
    }

    fn document(&self, file: &str) -> Result<String, String> {
        match file {
            "-" => Ok(self.ran.out.clone()),
            file => fs::read_to_string(self.dir.join(file)).map_err(|error| error.to_string()),
        }
    }

    fn json(&self, file: &str, pointer: &str, value: &str) -> Result<(), String> {
        let document = self.document(file)?;
        let document: Value =
            serde_json::from_str(&document).map_err(|error| format!("no JSON: {error}"))?;
        let got = document.pointer(pointer);
        let text = got.map(|got| got.as_str().map_or(got.to_string(), str::to_owned));
        wanted(text.as_deref() == Some(value), &format!("{text:?}"))
    }

    fn csv(&self, file: &str, rows: u64, names: &[&str]) -> Result<(), String> {
        let document = self.document(file)?;
        let mut reader = csv::Reader::from_reader(document.as_bytes());
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        if let Some(name) = names.iter().find(|name| !header.iter().any(|of| of == **name)) {
            return Err(format!("no column {name} in {header:?}"));
        }
        let records: Result<Vec<_>, _> = reader.records().collect();
        is(records.map_err(|error| error.to_string())?.len() as u64, rows)
    }

    fn runs(&self) -> Vec<Run> {
        readers::runs(&self.ran.out)
    }

    fn labels(&self, labels: &[&str]) -> Result<(), String> {
        let runs = self.runs();
        let found: Vec<&str> = runs.iter().map(Run::label).collect();
        let labels = if labels == ["-"] { &[] } else { labels };
        wanted(found == labels, &format!("{found:?}; {}", tail(&self.ran.err)))
    }

    fn heading(&self, rest: &str) -> Result<(), String> {
        let mut texts = rest.split(';').map(squeezed);
        let label = texts.next().unwrap_or_default();
        let texts: Vec<String> = texts.collect();
        let runs = self.runs();
        let fits = |run: &Run| {
            let heading = format!("{} ", squeezed(&run.heading).replace(';', " ; "));
            squeezed(run.label()) == label
                && texts.iter().all(|text| heading.contains(&format!("{text} ")))
        };
        let headings: Vec<&str> = runs.iter().map(|run| run.heading.as_str()).collect();
        wanted(runs.iter().any(fits), &format!("{headings:?}; {}", tail(&self.ran.err)))
    }

    fn output(&self, name: &str) -> Result<String, String> {
        let path = self.dir.join("output").join(name);
        fs::read_to_string(path).map_err(|error| format!("output/{name}: {error}"))
    }

    fn flat_rows(&self, label: &str) -> Result<Vec<Row>, String> {
        let rows = readers::flatfile(&self.output("flatfile.html")?)?;
        let rows: Vec<Row> = rows.into_iter().filter(|row| row["Run"] == label).collect();
        if rows.is_empty() { Err("the flatfile has no row of it".to_owned()) } else { Ok(rows) }
    }

    fn flat(&self, label: &str, pairs: &[&str]) -> Result<(), String> {
        let rows = self.flat_rows(label)?;
        let odd = rows.iter().find(|row| !has_all(row, pairs));
        wanted(odd.is_none(), &format!("{odd:?}"))
    }

    fn average(&self, label: &str, column: &str, range: &str) -> Result<(), String> {
        let rows = self.flat_rows(label)?;
        let average = rows.iter().find(|row| row["Interval"].starts_with("avg"));
        let average = average.ok_or("the flatfile has no average of it")?;
        let value = average.get(column).ok_or("there is no such column")?;
        let (low, high) = range.split_once("..").expect("a range");
        let is_in = (number(low)..=number(high)).contains(&number(value));
        wanted(is_in, value)
    }

    fn summary_run(&self, label: &str) -> Result<Run, String> {
        let mut runs = readers::runs(&self.output("summary.html")?).into_iter();
        runs.find(|run| run.label() == label).ok_or("the summary has no such run".to_owned())
    }

    fn width(&self, label: &str, number: &str) -> Result<(), String> {
        let run = self.summary_run(label)?;
        let is_right = run.widths.iter().all(|width| *width as u64 == bytes(number));
        wanted(is_right, &format!("{:?}", run.widths))
    }

    fn columns(&self, names: &[&str]) -> Result<(), String> {
        let text = self.output("flatfile.html")?;
        let header = readers::flatfile_header(&text).unwrap_or_default();
        let places: Option<Vec<usize>> =
            names.iter().map(|name| header.iter().position(|of| of == name)).collect();
        wanted(places.is_some_and(|places| places.is_sorted()), &format!("{header:?}"))
    }

    fn intervals(&self, label: &str, number: &str, average: &str) -> Result<(), String> {
        let run = self.summary_run(label)?;
        let expected: Vec<u64> = (1..=bytes(number)).collect();
        let is_right = run.intervals == expected && run.averages == [average];
        wanted(is_right, &format!("{:?} {:?}", run.intervals, run.averages))
    }

    fn reports(&self, names: &[&str]) -> Result<(), String> {
        let missing: Vec<_> =
            names.iter().filter(|name| !self.dir.join("output").join(name).is_file()).collect();
        wanted(missing.is_empty(), &format!("{missing:?} are missing"))
    }
}

fn wanted(holds: bool, got: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(got.to_owned()) }
}

fn is(got: u64, expected: u64) -> Result<(), String> {
    wanted(got == expected, &got.to_string())
}

/// True if the output says something that a person can read.
fn has_sentence(outcome: &Outcome) -> bool {
    outcome.ran.err.split_whitespace().count() + outcome.ran.out.split_whitespace().count() > 3
}

/// A number that is a product of sizes, such as `2*64k`.
fn bytes(text: &str) -> u64 {
    let factor = |factor: &str| {
        let end = factor.trim_end_matches(['k', 'm']);
        let unit = match &factor[end.len()..] {
            "k" => 1 << 10,
            "m" => 1 << 20,
            _ => 1,
        };
        end.parse::<u64>().unwrap_or_else(|_| panic!("`{text}` is no size")) * unit
    };
    text.split('*').map(factor).product()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Equal as numbers of two decimals, or of none where they are large.
fn close(got: &str, expected: &str) -> bool {
    if expected == "-" {
        return got == expected;
    }
    let (got, expected) = (number(got), number(expected));
    (got - expected).abs() <= if expected < 3600.0 { 0.006 } else { 0.5 }
}

/// True if a row has all of these `column=value`.
fn has_all(row: &Row, pairs: &[&str]) -> bool {
    pairs.iter().all(|pair| {
        let (name, value) = pair.rsplit_once('=').expect("a column, = and a value");
        row.get(name).is_some_and(|got| got == value || number(got) == number(value))
    })
}

/// Small letters with single blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The end of an output, on one line.
fn tail(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skip = line.chars().count().saturating_sub(400);
    line.chars().skip(skip).collect()
}

fn below(top: &Path, at: &Path, files: &mut BTreeSet<String>) {
    for entry in fs::read_dir(top.join(at)).into_iter().flatten().flatten() {
        let path: PathBuf = at.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(top, &path, files),
            _ => {
                files.insert(path.to_string_lossy().into_owned());
            }
        }
    }
}
