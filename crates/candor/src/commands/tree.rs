//! `candor tree DIRECTORY`: files and directories by the thousand, made, seen, read and removed.

mod draft;
mod options;
pub mod suggest;
#[cfg(test)]
mod tests;

use candor_plan::{Plan, Problem, Source};
use clap::{Arg, ArgGroup, ArgMatches, Command};

use self::draft::Draft;
pub use self::options::GROUPS;
use super::run::{self, How, settings};
use crate::flag::{self, CommandLine};
use crate::{exit, output};

const ABOUT: &str = "Create, look up, read and remove many files and directories";

const LONG_ABOUT: &str = "\
Create, look up, read and remove many files and directories.

The tree is described by its shape: levels of directories, how many in each, how many files in \
them, and how long these are. Names are computed, so ten million files take no more memory than \
ten. Phases follow each other in this order, unless --phases names fewer: make (directories), \
create (files, with their bytes), stat, list, read, delete (files), remove (directories). \
Created files are removed at the end, unless --keep is given; other files are left alone.

Names may come from a list instead (--list), or be existing names (--existing), which are only \
looked up and read unless --phases permits more.

Four workers, each with ten directories of thirty files of 128 KiB:
candor tree /data --workers 4 --levels 1 --width 10 --files 30 --size 128k";

/// Options that name a list, in place of a shape.
const LISTED: &str = "listed";

/// The command line.
pub fn command() -> Command {
    Command::new("tree")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(Arg::new("DIRECTORY").required(true).help("Root of the tree; made if it is not there"))
        .args(flag::args(GROUPS))
        .args(run::how_args())
        .args(flag::args(output::OF_RUNS))
        .group(ArgGroup::new(LISTED).args(["list", "existing"]))
        .mut_args(|arg| match arg.get_id().as_str() {
            "levels" | "width" | "files" | "leaves-only" | "shared" | "size" => {
                arg.conflicts_with(LISTED)
            }
            "share-above" => arg.requires(LISTED),
            _ => arg,
        })
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    run::drafted(matches, line, &[], |line| drafted(matches, line))
}

/// The plan that the flags describe.
fn drafted(matches: &ArgMatches, line: &mut CommandLine) -> Result<Plan, Vec<Problem>> {
    let directory = matches.get_one::<String>("DIRECTORY").map(String::as_str);
    let mut draft = Draft::of(directory.unwrap_or_default());
    let problems = flag::apply(GROUPS, matches, line, &mut draft);
    if problems.is_empty() { Ok(draft.plan()) } else { Err(problems) }
}

/// The plan of a whole command line; none where it is no good one.
pub fn plan_of(words: &[String]) -> Option<(Plan, Source)> {
    let matches = command().try_get_matches_from(words.get(1..)?).ok()?;
    let mut line = CommandLine::new(words);
    let mut how = How::default();
    let mistakes = how.apply(&matches, &mut line);
    let plan = drafted(&matches, &mut line).ok()?;
    let (plan, _) = settings::apply(plan, &how.set, &mut line).ok()?;
    mistakes.is_empty().then_some((plan, line.source))
}
