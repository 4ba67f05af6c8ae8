//! What was written: the command line and the job files as words with their places.
//!
//! Nothing has a meaning yet. Whatever comes from outside (job files, environment variables, what
//! `$ncpus` stands for) is asked of a [`Environment`], so that everything here can be tested without one.

mod argv;
mod diagnostic;
mod expand;
pub mod flags;
mod job_file;
mod text;

use std::ffi::OsString;
use std::ops::Range;

pub use diagnostic::Diagnostic;
pub use text::{Span, Text, Texts};

/// What comes from outside.
pub trait Environment {
    /// What is in a file; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be read.
    fn file(&mut self, path: &str) -> std::io::Result<Vec<u8>>;

    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// What `$pagesize`, `$mb_memory` or `$ncpus` stands for.
    fn keyword(&self, keyword: Keyword) -> u64;
}

/// A word that stands for something about the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    /// `$pagesize`: bytes of a page of memory.
    PageSize,
    /// `$mb_memory`: mebibytes of memory.
    MemoryMib,
    /// `$ncpus`: CPUs that are online.
    Cpus,
}

/// What the command line must know about an option of a job to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName {
    /// The name, or an alias.
    pub name: &'static str,
    /// Whether it may stand without a value.
    pub bare: Bare,
}

/// Whether an option may stand without a value on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// It needs one, behind an equals sign or as the next word.
    Never,
    /// It may; a value stands behind an equals sign only.
    Always,
    /// Only where no word follows that could be one.
    Last,
}

/// Reads a command line, the program's name first, and the job files that it names.
///
/// Everything that could be read is in what is written, beside all diagnostics.
pub fn read(
    argv: &[OsString],
    names: &[OptionName],
    environment: &mut dyn Environment,
) -> (Ast, Vec<Diagnostic>) {
    let mut reading = Reading { ast: Ast::default(), diagnostics: Vec::new(), environment };
    let files = argv::read(&mut reading, argv, names);
    let wanted: Vec<String> = reading.ast.values("section").map(str::to_owned).collect();
    if !wanted.is_empty() {
        reading.ast.sections.retain(|section| wanted.contains(&section.name.text));
    }
    for (nth, file) in files.iter().enumerate() {
        job_file::read(&mut reading, file, nth, &wanted);
    }
    (reading.ast, reading.diagnostics)
}

/// What is read so far.
struct Reading<'a> {
    ast: Ast,
    diagnostics: Vec<Diagnostic>,
    environment: &'a mut dyn Environment,
}

/// True for a section that gives defaults: so does any whose name begins like this.
fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// A word and where it stands. Its text is what is meant: variables and keywords are replaced by
/// their values, comments and blanks around it are gone. [`Texts::snippet`] has what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub at: Span,
}

/// `name=value`, or a bare `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The option, as written: it may be an alias, an abbreviation, or unknown.
    pub name: Word,
    /// What it is set to; `None` for a bare option, an empty word for `name=`.
    pub value: Option<Word>,
}

impl Assignment {
    /// The place of the value, or of the name where there is none.
    pub fn value_at(&self) -> Span {
        self.value.as_ref().map_or(self.name.at, |value| value.at)
    }
}

/// Assignments that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where they were written. Options of a job file are read in an order of their own (units
    /// first), those of a command line as they stand.
    pub origin: Origin,
    /// The assignments, in the order written.
    pub assignments: Vec<Assignment>,
}

/// Where assignments were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a job file or what it includes.
    JobFile,
    /// On the command line.
    CommandLine,
}

/// A section: what one `[name]` or `--name` opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: Word,
    /// Which of [`Written::globals`] apply to it: those before it, of the same file. The first
    /// file has those of the command line as well.
    pub globals: Range<usize>,
    /// Its own options.
    pub own: Block,
    /// It is the first of a job file that is not the first: it waits for all before it.
    pub begins_file: bool,
}

/// Everything that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ast {
    /// Flags that are not options of a job, in the order written.
    pub flags: Vec<Given>,
    /// Blocks of defaults, in the order written.
    pub globals: Vec<Block>,
    /// The jobs: those of the command line first, then file by file.
    pub sections: Vec<Section>,
    /// The texts that all places point into.
    pub texts: Texts,
}

impl Ast {
    /// The blocks of defaults that apply to a section, in order.
    pub fn globals_of(&self, section: &Section) -> &[Block] {
        self.globals.get(section.globals.clone()).unwrap_or_default()
    }

    /// Whether a flag was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given.name == flag)
    }

    /// The values that a flag was given, in order.
    pub fn values(&self, flag: &str) -> impl Iterator<Item = &str> {
        let given = self.flags.iter().filter(move |given| given.name == flag);
        given.filter_map(|given| given.value.as_ref()).map(|word| word.text.as_str())
    }
}

/// A flag that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its full name, without dashes.
    pub name: &'static str,
    /// Where the flag stands.
    pub at: Span,
    /// What was given with it.
    pub value: Option<Word>,
}

#[cfg(test)]
mod tests;
