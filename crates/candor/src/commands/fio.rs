//! `candor fio …`, and the binary called as `fio`: candor in fio's clothes.
//!
//! What programs rely on: nothing on stderr when all went well, results on stdout or in the file of
//! `--output`, the number of failed jobs as exit code.

mod asker;
mod cpus;
mod crctest;
mod debug;
mod failures;
mod forbidden;
mod hooks;
pub mod host;
mod instead;
mod laying;
mod logs;
mod progress;
mod run;
mod verdict;

use std::ffi::OsString;
use std::io::Write;

use candor_dialects::fio::ast::{self, Ast, Diagnostic, Texts};
use candor_dialects::fio::flags::{Flags, Instead};
use candor_dialects::fio::lower;
use candor_dialects::fio::options;
use candor_dialects::fio::show_command;
use candor_record::Note;
use clap::{Arg, Command};

use self::debug::Debug;
use crate::screen;

/// Bad input, a refusal, a missing file: whatever keeps jobs from starting.
const WRONG: u8 = 1;
/// So many diagnostics are told; the rest is counted.
const TOLD_MAX: usize = 20;

/// The command line, for the help; the words themselves never pass through it.
pub fn command() -> Command {
    Command::new("fio")
        .about("Run fio's job files and command lines, with fio's output and exit codes")
        .disable_help_flag(true)
        .arg(Arg::new("WORDS").num_args(0..).allow_hyphen_values(true).trailing_var_arg(true))
}

/// True if the binary was called by this name, however long the path to it.
pub fn is_called(program: &OsString) -> bool {
    std::path::Path::new(program).file_name().is_some_and(|name| name == "fio")
}

/// Reads the words, the first of which is `fio`, does what they say, gives the exit code.
pub fn main(argv: &[OsString]) -> u8 {
    let (ast, mut diagnostics) =
        ast::read(argv, &options::option_names(), &mut host::HostEnvironment);
    let (flags, wrong) = Flags::read(&ast);
    diagnostics.extend(wrong);
    // Who asks for help may well have made diagnostics.
    if let Some(Instead::Help | Instead::Version) = flags.instead {
        return instead::main(&flags);
    }
    if !diagnostics.is_empty() {
        return tell(&diagnostics, &ast.texts, &flags);
    }
    match flags.instead {
        None | Some(Instead::ParseOnly | Instead::ShowCommand | Instead::MergeOnly) => {
            jobs(&ast, &flags, argv)
        }
        Some(_) => instead::main(&flags),
    }
}

/// Runs the jobs, or only checks or shows them.
fn jobs(ast: &Ast, flags: &Flags, argv: &[OsString]) -> u8 {
    let parse_only = flags.instead == Some(Instead::ParseOnly);
    if ast.sections.is_empty() && !parse_only {
        let diagnostic = Diagnostic::nowhere("no-job", "No job(s) defined");
        let diagnostic = diagnostic.remedy("name a job file, or begin a job with --name=NAME");
        return tell(&[diagnostic], &ast.texts, flags);
    }
    if flags.instead == Some(Instead::ShowCommand) {
        return instead::printed(&show_command::lines(ast));
    }
    let diagnostics = forbidden::by_flags(ast, flags);
    if !diagnostics.is_empty() {
        return tell(&diagnostics, &ast.texts, flags);
    }
    if parse_only {
        let debug = Debug::new(&flags.debug);
        return instead::printed(&(debug.begin() + &debug.words(ast)));
    }
    let mut lowered = match lower::lower(ast, &lower::ThisHost) {
        Ok(lowered) => lowered,
        Err(diagnostics) => return tell(&diagnostics, &ast.texts, flags),
    };
    let mut diagnostics = forbidden::notes(&lowered.notes, flags);
    diagnostics.extend(forbidden::by_work(&lowered, flags));
    if !diagnostics.is_empty() {
        return tell(&diagnostics, &ast.texts, flags);
    }
    if flags.readonly {
        lowered.make_nothing();
    }
    if let Some(size) = &flags.pools {
        lowered.notes.push(Note {
            asked: format!("--alloc-size={size}"),
            did: "nothing".into(),
            why: "candor takes memory as it needs it and has no pools to size".into(),
            place: None,
        });
    }
    if let Err(sentence) = logs::merged(&lowered.merged) {
        complain(&[sentence], flags);
        return WRONG;
    }
    if flags.instead == Some(Instead::MergeOnly) {
        return 0;
    }
    run::main(ast, lowered, flags, argv)
}

/// Tells what is wrong, on stderr and in the file of `--output` as fio does; gives the exit code.
fn tell(diagnostics: &[Diagnostic], texts: &Texts, flags: &Flags) -> u8 {
    let mut lines: Vec<String> =
        diagnostics.iter().map(|diagnostic| diagnostic.describe(texts)).collect();
    if lines.len() > TOLD_MAX {
        let rest = lines.len() - TOLD_MAX;
        lines.truncate(TOLD_MAX);
        lines.push(format!("and {rest} more"));
    }
    complain(&lines, flags);
    WRONG
}

/// Tells sentences on stderr, and in the file of `--output` where there is one.
fn complain(sentences: &[String], flags: &Flags) {
    let text: String = sentences.iter().map(|sentence| format!("fio: {sentence}\n")).collect();
    screen::tell(&text);
    if let Some(file) = &flags.output.file {
        let opened = std::fs::File::create(file);
        // That it cannot be written is not worth another complaint: stderr has it all.
        let _ = opened.and_then(|mut open| open.write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_called_by_name_whatever_the_path() {
        for (program, called) in [
            ("fio", true),
            ("/usr/local/bin/fio", true),
            ("./fio", true),
            ("candor", false),
            ("/fio/candor", false),
            ("fio2", false),
            ("", false),
        ] {
            assert_eq!(is_called(&program.into()), called, "{program}");
        }
    }
}
