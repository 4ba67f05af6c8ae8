//! From assignments to settings.

use candor_plan::Nanos;

use super::kind::{Kind, Parsed};
use super::row::Row;
use super::{engine_names, find, names, value};
use crate::fio::ast::{Assignment, Ast, Block, Diagnostic, Origin, Section, Span};
use crate::fio::job_options::{GivenOption, JobOptions, KbBase};
use crate::fio::values::{Refused, Units};

/// What a section says, and what is to be said about how it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Its settings.
    pub options: JobOptions,
    /// Remarks on values that are read as fio does, but perhaps not as meant.
    pub remarks: Vec<(Span, String)>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a section: the defaults that apply to it, then its own options.
pub fn read(ast: &Ast, section: &Section) -> Reading {
    let mut reading = Reading::default();
    for block in ast.globals_of(section) {
        reading.block(block, false);
    }
    reading.block(&section.own, true);
    reading.late_directory();
    reading
}

impl Reading {
    fn block(&mut self, block: &Block, is_own: bool) {
        let mut assignments: Vec<_> = block.assignments.iter().collect();
        if block.origin == Origin::JobFile {
            // Units come first, and files when it is known where they lie.
            assignments.sort_by_key(|assignment| turn(&assignment.name.text));
        }
        if !is_own {
            // A job is called like its section, whatever its defaults are called.
            assignments.retain(|assignment| assignment.name.text != "name");
        }
        for (nth, assignment) in assignments.iter().enumerate() {
            let again = assignments[..nth].iter().any(|a| a.name.text == assignment.name.text);
            self.assign(assignment, again);
        }
        for assignment in &assignments {
            self.check_engine(assignment);
        }
    }

    fn assign(&mut self, assignment: &Assignment, again: bool) {
        let name = &assignment.name;
        let Some(row) = find(&name.text) else {
            let message = format!("there is no option `{}`", name.text);
            let diagnostic = Diagnostic::new(name.at, "unknown-option", &name.text, message);
            self.diagnostics
                .push(diagnostic.nearest(names()).remedy("`candor options fio` lists all"));
            return;
        };
        let units = Units { kb_base: kb_base(&self.options) };
        let text = assignment.value.as_ref().map(|value| value.text.as_str());
        let before = self.options.files.names.clone();
        match apply(row, &mut self.options, text, units) {
            Ok((parsed, remark)) => {
                // What is named twice in one place is added; elsewhere it takes the place of it.
                if row.name == "filename" && again {
                    self.options.files.names.splice(0..0, before);
                }
                if row.name == "filename" {
                    let files = &mut self.options.files;
                    files.beneath = files.directories.first().cloned();
                }
                let at = assignment.value_at();
                self.remarks.extend(remark.map(|remark| (at, remark)));
                let is_default = is_default(row, &parsed, text, units);
                let value = text.map(str::to_owned);
                let given = GivenOption { value, name_at: name.at, at, is_default };
                self.options.given.insert(row.name, given);
            }
            Err(refused) => self.diagnostics.push(diagnostic(row, assignment, &refused)),
        }
    }

    /// What `directory` says behind `filename` does not move the files that are named there.
    fn late_directory(&mut self) {
        let files = &self.options.files;
        let moved = files.beneath.as_ref() != files.directories.first();
        if let (true, false, Some(at)) =
            (moved, files.names.is_empty(), self.options.given.at("directory"))
        {
            let remark = "it is read behind filename, and does not apply to the files named there";
            self.remarks.push((at, remark.to_owned()));
        }
    }

    /// Options of single engines are known only where the engine is.
    fn check_engine(&mut self, assignment: &Assignment) {
        let Some(row) = find(&assignment.name.text).filter(|row| !row.engines.is_empty()) else {
            return;
        };
        let engine = engine_names::plain(&self.options.issue.engine);
        if row.engines.contains(&engine) || engine == "external" {
            return;
        }
        let (name, whose) = (&assignment.name, row.engines.join(", "));
        let message = format!("`{}` is an option of {whose}, and ioengine is {engine}", name.text);
        let remedy = format!("set ioengine={} beside it, or remove it", row.engines[0]);
        let diagnostic = Diagnostic::new(name.at, "engine-option", &name.text, message);
        self.diagnostics.push(diagnostic.remedy(remedy));
    }
}

/// Bytes in a "K".
pub(super) fn kb_base(options: &JobOptions) -> u32 {
    match options.statistics.kb_base {
        KbBase::Binary => 1024,
        KbBase::Decimal => 1000,
    }
}

/// When an option of a job file is read.
fn turn(name: &str) -> u8 {
    match name {
        "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => 0,
        "filename" | "filename_format" => 2,
        _ => 1,
    }
}

/// Reads a value and lets it enter the settings.
pub(super) fn apply(
    row: &Row,
    options: &mut JobOptions,
    text: Option<&str>,
    units: Units,
) -> Result<(Parsed, Option<String>), Refused> {
    let mut read = value::parse(&row.kind, text, units)?;
    if let Kind::Own(_, _, reader) = row.kind {
        read.remark = reader(options, text.unwrap_or_default(), units)?;
    }
    (row.put)(options, &read.value);
    Ok((read.value, read.remark))
}

/// True where a value says what holds without it.
fn is_default(row: &Row, parsed: &Parsed, text: Option<&str>, units: Units) -> bool {
    if let Kind::Own(_, _, reader) = row.kind {
        let mut options = JobOptions::default();
        let read = reader(&mut options, text.unwrap_or_default(), units);
        return read.is_ok() && options == JobOptions::default();
    }
    let default = match (row.kind, row.default) {
        (Kind::Flag | Kind::Bool, "") => Some(Parsed::Bool(false)),
        (Kind::Time(_), "") => Some(Parsed::Time(Nanos(0))),
        (_, "") => None,
        (_, text) => value::parse(&row.kind, Some(text), units).ok().map(|read| read.value),
    };
    default.as_ref() == Some(parsed)
}

/// A value that cannot be read, as a diagnostic at its place.
fn diagnostic(row: &Row, assignment: &Assignment, refused: &Refused) -> Diagnostic {
    let at = assignment.value_at();
    let text = assignment.value.as_ref().map_or("", |value| value.text.as_str());
    // Only a word that stands as it is meant can be pointed into.
    let at = match at.range().len() == text.len() && refused.part.end <= text.len() {
        true if !refused.part.is_empty() => {
            Span { start: at.start + refused.part.start, end: at.start + refused.part.end, ..at }
        }
        _ => at,
    };
    let word = text.get(refused.part.clone()).unwrap_or(text);
    let message = format!("{}: {}", row.name, refused.message);
    Diagnostic::new(at, "value", word, message).remedy(refused.remedy.clone())
}
