//! `candor completions SHELL`: completion of commands and flags, as a script for a shell.

use candor_plan::Engine;
use candor_show::charts::Kind;
use candor_show::csv::Table;
use clap::{Arg, ArgMatches, Command};
use clap_complete::shells::{Bash, Fish, Zsh};
use clap_complete::{Generator, generate};

use crate::commands::{run, scenario};
use crate::{commands, exit};

/// A shell, and the script for it.
type Shell = (&'static str, fn(&Command) -> String);

/// Shells for which there is a script.
const SHELLS: [Shell; 3] = [
    ("bash", |all| script(Bash, all)),
    ("zsh", |all| script(Zsh, all)),
    ("fish", |all| script(Fish, all) + &fish_words(all)),
];

/// The command line.
pub fn command() -> Command {
    Command::new("completions")
        .about("Print a script that completes commands and flags in a shell")
        .arg(Arg::new("SHELL").required(true).value_parser(SHELLS.map(|(name, _)| name)))
        .after_help(
            "Where the scripts go:\n  \
             bash: ~/.local/share/bash-completion/completions/candor\n  \
             zsh:  a directory of $fpath, as _candor\n  \
             fish: ~/.config/fish/completions/candor.fish",
        )
}

/// Prints the script for `all`, the whole command line, and returns the exit code.
pub fn main(matches: &ArgMatches, all: &Command) -> u8 {
    let given = matches.get_one::<String>("SHELL");
    match SHELLS.iter().find(|(name, _)| given.is_some_and(|given| given == name)) {
        Some((_, script)) => commands::printed(&script(all)),
        // The parser lets no other word through.
        None => exit::USAGE,
    }
}

fn script(shell: impl Generator, all: &Command) -> String {
    let mut bytes = Vec::new();
    let mut command = completed(all);
    generate(shell, &mut command, "candor", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The command line with the words that values may be.
fn completed(all: &Command) -> Command {
    all.clone().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| with_words(&name, arg))
    })
}

/// Words that follow a command, which the generator leaves out for fish.
fn fish_words(all: &Command) -> String {
    let command = completed(all);
    let line = |sub: &Command| -> Option<String> {
        let values = sub.get_positionals().flat_map(Arg::get_possible_values);
        let words: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        let condition = format!("__fish_candor_using_subcommand {}", sub.get_name());
        let line = format!("complete -c candor -n \"{condition}\" -f -a \"{}\"\n", words.join(" "));
        (!words.is_empty()).then_some(line)
    };
    command.get_subcommands().filter_map(line).collect()
}

/// The option with the words that its value may be: those that its name lists (`auto|all|off`), or
/// those of a table.
fn with_words(command: &str, arg: Arg) -> Arg {
    let known = words_of(command, arg.get_id().as_str());
    if !known.is_empty() {
        return arg.value_parser(known);
    }
    let names = arg.get_value_names().unwrap_or_default();
    let words: Vec<String> =
        names.iter().flat_map(|name| name.split('|')).map(str::to_owned).collect();
    if words.len() > names.len() { arg.value_parser(words) } else { arg }
}

/// Words of a value whose name does not list them.
fn words_of(command: &str, id: &str) -> Vec<&'static str> {
    match (command, id) {
        ("run", "engine") => Engine::ALL.map(|engine| engine.name()).to_vec(),
        ("run", "rw") => run::RW_WORDS.to_vec(),
        ("run", "access") => vec!["sequential", "random", "permutation", "backward"],
        ("scenario", "NAME") => {
            let names = scenario::SCENARIOS.iter().map(|(name, _)| *name);
            names.chain([scenario::IO500]).collect()
        }
        ("chart", "kind") => {
            let words = Kind::WORDS.iter().map(|(word, _)| *word);
            words.chain(["changes"]).collect()
        }
        (_, "csv-of") => Table::ALL.map(Table::name).to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;
    use crate::cli;

    #[test]
    fn every_command_and_flag_is_in_every_script() {
        let command = cli::command();
        for (shell, script) in SHELLS {
            let script = script(&command);
            for sub in command.get_subcommands() {
                assert!(script.contains(sub.get_name()), "{shell}: no {}", sub.get_name());
                for long in sub.get_arguments().filter_map(Arg::get_long) {
                    assert!(script.contains(long), "{shell}: no --{long}");
                }
            }
        }
    }

    /// Words that bash offers once its shell has read the script.
    fn offered(words: &[&str]) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("candor");
        std::fs::write(&file, script(Bash, &cli::command())).unwrap();
        let last = words.len() - 1;
        let line = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={last}; _candor candor '{}' '{}'; \
             echo \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.join(" "),
            words[last],
            words[last - 1]
        );
        let output = process::Command::new("bash").args(["--norc", "-c", &line]).output().ok()?;
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn bash_completes_commands_flags_and_shells() {
        for (words, expected) in [
            (&["candor", "che"][..], "check\n"),
            (&["candor", "run", "--dep"], "--depth\n"),
            (&["candor", "completions", "f"], "fish\n"),
            (&["candor", "run", "--engine", "liba"], "libaio\n"),
            (&["candor", "run", "--rw", "randw"], "randwrite\n"),
            (&["candor", "check", "--csv-of", "samp"], "samples\n"),
            (&["candor", "scenario", "run", "mai"], "mail\n"),
        ] {
            match offered(words) {
                Some(offered) => assert_eq!(offered, expected, "{words:?}"),
                None => return println!("skipped: there is no bash"),
            }
        }
    }
}
