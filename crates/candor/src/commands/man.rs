//! `candor man DIR`: a manual page for candor and for each of its commands.

use std::path::Path;

use candor_plan::{PathText, path_of};
use clap::{Arg, ArgMatches, Command};

use crate::{exit, screen};

const LONG_ABOUT: &str = "\
Write a manual page for candor and for each of its commands into a directory: candor.1, \
candor-run.1, … A directory man1 below $MANPATH makes `man candor-run` find them; \
`man -l DIR/candor-run.1` needs none.";

/// The command line.
pub fn command() -> Command {
    let dir = Arg::new("DIR").required(true);
    Command::new("man")
        .about("Write manual pages into a directory")
        .long_about(LONG_ABOUT)
        .arg(dir.help("The directory, which is made if it is not there"))
        .after_help(exit::HELP)
}

/// Writes the pages of `all`, the whole command line, and returns the exit code.
pub fn main(matches: &ArgMatches, all: Command) -> u8 {
    let dir = matches.get_one::<String>("DIR").map(|text| path_of(text)).unwrap_or_default();
    match write(&dir, all) {
        Ok(()) => exit::RAN,
        Err(cause) => {
            screen::error(&format!("pages cannot be written to {}: {cause}", dir.text()));
            exit::TROUBLE
        }
    }
}

fn write(dir: &Path, all: Command) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let mut all = all.disable_help_subcommand(true);
    all.build();
    page(&all, dir)
}

/// Writes the page of a command, and the pages of its commands.
fn page(command: &Command, dir: &Path) -> std::io::Result<()> {
    let mut shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown.try_for_each(|sub| page(sub, dir))?;
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    candor_files::replace(&dir.join(page.get_filename()), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn every_command_has_a_page_with_its_flags() {
        let dir = tempfile::tempdir().unwrap();
        let pages = dir.path().join("new/man1");
        write(&pages, cli::command()).unwrap();
        let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
        assert!(page("candor.1").contains(".TH"));
        let command = cli::command();
        for sub in command.get_subcommands() {
            let page = page(&format!("candor-{}.1", sub.get_name()));
            let shown = sub.get_arguments().filter(|arg| !arg.is_hide_set());
            for long in shown.filter_map(Arg::get_long) {
                // A hyphen that is no dash of typography has a backslash.
                let flag = format!("\\-\\-{}", long.replace('-', "\\-"));
                assert!(page.contains(&flag), "{}: no {flag}", sub.get_name());
            }
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(write(file.path(), cli::command()).is_err());
    }
}
