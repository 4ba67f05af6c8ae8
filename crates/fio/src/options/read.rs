//! Reads assignments into the options of a job.

use candor_record::Note;

use super::{ENGINES, TABLE, defaults, engine, engine_names};
use crate::ast::{Ast, Block, Origin, Section};
use crate::options::JobOptions;
use candor_front::{Assignment, Diagnostic, Texts};

/// Options of a section, with warnings and errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Options.
    pub options: JobOptions,
    /// Warnings about values that are read as fio does, but possibly not as meant.
    pub remarks: Vec<Diagnostic>,
    /// Errors.
    pub errors: Vec<Diagnostic>,
}

/// Reads a section: first the defaults that apply to it, then its own options.
pub fn read(ast: &Ast, section: &Section) -> Reading {
    let mut reading = Reading { options: defaults(), ..Reading::default() };
    for block in ast.globals_of(section) {
        reading.block(block, false);
    }
    reading.block(&section.own, true);
    reading.late_directory();
    reading.hint_at_variables(&ast.texts);
    reading
}

const LIST: &str = "`candor options fio` lists all";

impl Reading {
    fn block(&mut self, block: &Block, is_own: bool) {
        let mut assignments: Vec<_> = block.assignments.iter().collect();
        if block.origin == Origin::JobFile {
            // Units are read first, file names last, when their directory is known.
            assignments.sort_by_key(|assignment| turn(&assignment.name.text));
        }
        if !is_own {
            // The section names a job; `name` of its defaults does not.
            assignments.retain(|assignment| assignment.name.text != "name");
        }
        for assignment in &assignments {
            self.assign(assignment);
        }
        for assignment in &assignments {
            self.check_engine(assignment);
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let assigned = match TABLE.assign(assignment, &mut self.options, LIST) {
            Ok(assigned) => assigned,
            Err(error) => return self.errors.push(*error),
        };
        self.remarks.extend(assigned.remark);
        self.options.given.insert(assigned.row.name, assigned.given);
    }

    /// Warns that `directory` after `filename` does not apply to these files.
    fn late_directory(&mut self) {
        let files = &self.options.files;
        let at = self.options.given.at("directory");
        if let Some(at) = at.filter(|_| {
            files.names.iter().any(|file| file.beneath.as_ref() != files.directories.first())
        }) {
            let remark = "the option comes after filename, and does not apply to the files named \
                          there";
            self.remarks.push(Diagnostic::warning(at, "directory", remark));
        }
    }

    /// Explains an empty value by its variable.
    fn hint_at_variables(&mut self, texts: &Texts) {
        for error in self.errors.iter_mut().filter(|error| error.word.is_empty()) {
            let snippet = error.at.map_or("", |at| texts.snippet(at));
            if snippet.contains("${") {
                error.hint = format!("found `{snippet}`: is it set?");
            }
        }
    }

    /// Refuses options of an engine that is not selected.
    fn check_engine(&mut self, assignment: &Assignment) {
        let row = TABLE.find(&assignment.name.text).filter(|row| !row.engines.is_empty());
        let Some(row) = row else { return };
        let engine = engine_names::plain(&self.options.issue.engine);
        if row.engines.contains(&engine) || engine == "external" {
            return;
        }
        let (name, whose) = (&assignment.name, row.engines.join(", "));
        let message = format!("`{}` is an option of {whose}, and ioengine is {engine}", name.text);
        let remedy = format!("also set ioengine={}, or remove it", row.engines[0]);
        let diagnostic = Diagnostic::new(name.at, "engine-option", &name.text, message);
        self.errors.push(diagnostic.remedy(remedy));
    }
}

/// Order in which options of a job file are read.
fn turn(name: &str) -> u8 {
    match name {
        "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => 0,
        "filename" | "filename_format" => 2,
        _ => 1,
    }
}

/// An error per option that candor refuses. An engine that is refused also refuses its
/// options.
pub fn refusals(options: &JobOptions) -> Vec<Diagnostic> {
    let engine = engine_refusal(options);
    let spare = engine.is_some();
    let refusals = TABLE.refusals(options, &options.given, |row| spare && !row.engines.is_empty());
    engine.into_iter().chain(refusals).collect()
}

/// A note per option whose effect differs from fio.
pub fn notes(options: &JobOptions, texts: &Texts) -> Vec<Note> {
    TABLE.notes(options, &options.given, texts)
}

/// The error of an engine that is unknown or refused.
fn engine_refusal(options: &JobOptions) -> Option<Diagnostic> {
    let name = options.issue.engine.trim();
    let at = options.given.at("ioengine")?;
    // Probes search for this message of fio to test for an engine.
    let not_loadable = format!("engine {name} not loadable");
    let Some(engine) = engine(name) else {
        let names = ENGINES.iter().map(|engine| engine.name);
        let message = format!("{not_loadable}: there is no ioengine `{name}`");
        return Some(
            Diagnostic::new(at, "engine", name, message).nearest(names).remedy("see --enghelp"),
        );
    };
    let message = format!("{not_loadable}: {}", engine.refused);
    let diagnostic = Diagnostic::new(at, "unsupported", name, message);
    (!engine.refused.is_empty()).then(|| diagnostic.remedy("use psync, libaio or io_uring"))
}
