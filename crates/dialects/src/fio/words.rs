//! What was written: the command line and the job files as words with their places.
//!
//! Nothing has a meaning yet. Whatever comes from outside (job files, environment variables, what
//! `$ncpus` stands for) is asked of a [`World`], so that everything here can be tested without one.

mod mistake;
mod text;

pub use mistake::Mistake;
pub use text::{At, Text, Texts};

/// A word and where it stands. Its text is what is meant: variables and keywords are replaced by
/// their values, comments and blanks around it are gone. [`Texts::written`] has what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub at: At,
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
    pub fn value_at(&self) -> At {
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
    /// How many of [`Written::globals`] come before it, and so apply to it.
    pub globals: usize,
    /// Its own options.
    pub own: Block,
    /// It is the first of a job file that is not the first: it waits for all before it.
    pub begins_file: bool,
}

/// Everything that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Flags that are not options of a job, in the order written.
    pub flags: Vec<Given>,
    /// Blocks of defaults, in the order written.
    pub globals: Vec<Block>,
    /// The jobs: those of the command line first, then file by file.
    pub sections: Vec<Section>,
    /// The texts that all places point into.
    pub texts: Texts,
}

impl Written {
    /// The blocks of defaults that apply to a section, in order.
    pub fn globals_of(&self, section: &Section) -> &[Block] {
        &self.globals[..section.globals.min(self.globals.len())]
    }
}

/// A flag that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its full name, without dashes.
    pub name: &'static str,
    /// Where the flag stands.
    pub at: At,
    /// What was given with it.
    pub value: Option<Word>,
}
