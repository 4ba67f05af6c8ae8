//! The syntax tree: command line and job files as words with positions, without meaning.
//!
//! Files, environment variables and the values of keywords such as `$ncpus` come from a
//! [`FioEnvironment`], so that tests need no host.

mod argv;
mod clients;
mod expand;
mod job_file;

use std::ffi::OsString;
use std::ops::Range;

use candor_front::{Assignment, Diagnostic, Environment, Span, Spelling, Texts, Word};

pub use clients::{Address, Client, PORT};

/// Environment of a command line: files, variables and values of keywords.
pub trait FioEnvironment: Environment {
    /// The value of `$pagesize`, `$mb_memory` or `$ncpus`.
    fn keyword(&self, keyword: Keyword) -> u64;
}

/// A keyword for a property of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    /// `$pagesize`: bytes of a page of memory.
    PageSize,
    /// `$mb_memory`: mebibytes of memory.
    MemoryMib,
    /// `$ncpus`: CPUs that are online.
    Cpus,
}

/// The names that a command line may hold.
#[derive(Clone, Debug)]
pub struct Names {
    /// Flags of the command line, which are not job options.
    pub flags: Vec<Spelling>,
    /// Options of jobs.
    pub options: Vec<Spelling>,
}

/// Reads a command line, the program's name first, and the job files that it names.
///
/// The tree contains everything that could be read, in addition to all diagnostics.
pub fn read(
    argv: &[OsString],
    names: &Names,
    environment: &mut dyn FioEnvironment,
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

/// The syntax tree so far, and the diagnostics.
struct Reading<'a> {
    ast: Ast,
    diagnostics: Vec<Diagnostic>,
    environment: &'a mut dyn FioEnvironment,
}

/// True for a section of defaults, whose name starts with `global`.
fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Assignments that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Origin. Options of a job file are read in a special order (units first), options of a
    /// command line as written.
    pub origin: Origin,
    /// The assignments, in the order written.
    pub assignments: Vec<Assignment>,
}

/// Origin of assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A job file or a file that it includes.
    JobFile,
    /// On the command line.
    CommandLine,
}

/// A section: the assignments after one `[name]` or `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: Word,
    /// Indices of [`Written::globals`] that apply: earlier ones of the same file. The command
    /// line's apply to the first file.
    pub globals: Range<usize>,
    /// The section's own options.
    pub own: Block,
    /// True for the first section of every job file but the first: it waits for all before it.
    pub begins_file: bool,
}

/// Everything that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ast {
    /// Flags that are not options of a job, in the order written.
    pub flags: Vec<Given>,
    /// Blocks of defaults, in the order written.
    pub globals: Vec<Block>,
    /// Jobs: first from the command line, then file by file.
    pub sections: Vec<Section>,
    /// Hosts that run the jobs, in written order; empty for this host.
    pub clients: Vec<Client>,
    /// Texts of all positions.
    pub texts: Texts,
}

impl Ast {
    /// The blocks of defaults that apply to a section, in order.
    pub fn globals_of(&self, section: &Section) -> &[Block] {
        self.globals.get(section.globals.clone()).unwrap_or_default()
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
    /// The full name, without dashes.
    pub name: &'static str,
    /// Position of the flag.
    pub at: Span,
    /// The value given with the flag.
    pub value: Option<Word>,
}

#[cfg(test)]
mod tests;
