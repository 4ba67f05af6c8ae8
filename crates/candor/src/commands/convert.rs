//! `candor convert JOB.fio`: what a foreign job file amounts to, as a plan of candor's own.

use std::ffi::OsString;

use candor_dialects::fio::lower;
use candor_dialects::fio::words::{self, Mistake, Texts};
use candor_plan::text;
use candor_record::Note;
use clap::{Arg, ArgMatches, Command};

use super::fio;
use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Print what a job file of fio amounts to, as a plan for candor run.

Words are those of a fio command line: job files, options, or both. Where the plan is not exactly \
what was asked, a comment says so.";

/// The command line.
pub fn command() -> Command {
    let words = Arg::new("WORDS").num_args(1..).required(true).help("Job files, or fio's options");
    Command::new("convert")
        .about("Print a job file of fio as a plan")
        .long_about(LONG_ABOUT)
        .arg(words.allow_hyphen_values(true).trailing_var_arg(true))
}

/// Prints it, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let words = matches.get_many::<String>("WORDS").into_iter().flatten();
    let argv: Vec<OsString> =
        std::iter::once("fio".into()).chain(words.map(OsString::from)).collect();
    let (written, mistakes) = words::read(&argv, &fio::option_names(), &mut fio::host::ThisWorld);
    if !mistakes.is_empty() {
        return refused(&mistakes, &written.texts);
    }
    if written.sections.is_empty() {
        let mistake = Mistake::nowhere("no-job", "there is no job in these words");
        return refused(&[mistake], &written.texts);
    }
    match lower::lower(&written, &lower::ThisHost) {
        Ok(lowered) => commands::printed(&commented(&text::write(&lowered.plan), &lowered.notes)),
        Err(mistakes) => refused(&mistakes, &written.texts),
    }
}

fn refused(mistakes: &[Mistake], texts: &Texts) -> u8 {
    mistakes.iter().for_each(|mistake| screen::error(&mistake.describe(texts)));
    exit::USAGE
}

/// The plan with a comment above the key that each note is about, or at the top.
fn commented(plan: &str, notes: &[Note]) -> String {
    let mut lines: Vec<String> = plan.lines().map(str::to_owned).collect();
    let mut top = Vec::new();
    for note in notes {
        let place = note.place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        let comment = format!("# {}: {}; {}{place}", note.asked, note.did, note.why);
        let comment = comment.replace('\n', " ");
        let key = format!("{} = ", note.did.rsplit('.').next().unwrap_or_default());
        match lines.iter().position(|line| line.starts_with(&key)) {
            Some(at) => lines.insert(at, comment),
            None => top.push(comment),
        }
    }
    top.into_iter().chain(lines).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_become_comments_beside_their_keys() {
        let note = |asked: &str, did: &str, place: Option<&str>| Note {
            asked: asked.into(),
            did: did.into(),
            why: "so".into(),
            place: place.map(str::to_owned),
        };
        let notes = [note("a=1", "blocks.depth", Some("f:2:1")), note("b=2", "left out", None)];
        assert_eq!(
            commented("[x]\ndepth = 4\nsize = 1\n", &notes),
            "# b=2: left out; so\n[x]\n# a=1: blocks.depth; so (f:2:1)\ndepth = 4\nsize = 1\n"
        );
    }
}
