//! A tool: its description, and the steps from a command line to a session.

use std::ffi::OsString;
use std::path::Path;

use candor_plan::{Plan, PlanPath};

use super::{Coverage, Diagnostic, Environment, Host, Schedule, Session, Texts};

/// Description of a tool.
pub struct About {
    /// Name of the command, and of a link to candor.
    pub name: &'static str,
    /// Line in the list of commands.
    pub summary: &'static str,
    /// A command line of candor for the README.
    pub example: &'static str,
    /// Help of the tool's options; empty if the tool prints it itself.
    pub help: fn() -> String,
    /// Page of the tool as Markdown. candor replaces [`RANKS`] by its own options.
    pub page: fn() -> String,
    /// Number of options that work.
    pub coverage: fn() -> Coverage,
}

/// Position of candor's own options on the page of a tool that MPI launches.
pub const RANKS: &str = "{RANKS}";

/// A tool that needs nothing but a plan's run.
pub trait Tool {
    /// Description.
    const ABOUT: &'static About;
    /// A command line as read.
    type Reading;
    /// Everything that follows from it.
    type Work: Work;

    /// The command line for a file, by its name and its first bytes; none for a file of another
    /// tool.
    fn of_file(_file: &str, _begin: &str) -> Option<Vec<OsString>> {
        None
    }

    /// Reads a command line, the program's name first.
    ///
    /// # Errors
    /// Text instead of a run, or the mistakes.
    fn read(
        argv: &[OsString],
        environment: &mut dyn Environment,
        nodes: Option<&Nodes>,
    ) -> Result<Self::Reading, Answer>;

    /// Makes a plan.
    ///
    /// # Errors
    /// Text instead of a run, or the mistakes.
    fn lower(reading: Self::Reading, host: &dyn Host) -> Result<Self::Work, Answer>;
}

/// A plan, and everything that turns its records into the tool's results.
pub trait Work {
    /// The plan.
    fn plan(&self) -> &Plan;

    /// The command line, for the report.
    fn command(&self) -> &[String];

    /// Differences between plan and request, each at a position of the plan.
    fn comments(&self) -> Vec<(PlanPath, String)>;

    /// The file of the results, if they do not go to stdout.
    fn results_file(&self) -> Option<&Path> {
        None
    }

    /// Text instead of a run.
    fn instead(&self, _host: &dyn Host, _nodes: Option<&Nodes>) -> Option<String> {
        None
    }

    /// Begins a run on this host or on several.
    fn run<'a>(&'a self, host: &dyn Host, nodes: Option<&Nodes>) -> Running<'a>;
}

/// A run of a tool.
pub struct Running<'a> {
    /// The tool's part.
    pub session: Box<dyn Session + 'a>,
    /// The order of phases; none for all phases of the plan.
    pub schedule: Option<Box<dyn Schedule>>,
}

impl<'a> Running<'a> {
    /// A run of all phases of the plan.
    pub fn whole_plan(session: impl Session + 'a) -> Running<'a> {
        Running { session: Box::new(session), schedule: None }
    }
}

/// Answer to a command line that runs nothing.
pub enum Answer {
    /// Text for stdout.
    Text(String),
    /// Mistakes, with the texts that they point into.
    Refused(Vec<Diagnostic>, Texts),
}

/// Hosts that run the ranks of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Number of hosts.
    pub count: u32,
    /// Ranks on each of them.
    pub ranks_each: u32,
    /// Name of the first host, if this host need not be among them.
    pub elsewhere: Option<String>,
}

impl Nodes {
    /// True if other hosts have the files.
    pub fn are_elsewhere(nodes: Option<&Nodes>) -> bool {
        nodes.is_some_and(|nodes| nodes.elsewhere.is_some())
    }
}
