//! From words to a command.

use std::ffi::OsString;

use candor_plan::PathText;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::commands::foreign::Tool;
use crate::commands::tools;
use crate::flag::CommandLine;
use crate::{commands, exit, foreign_words, screen, version};

const ABOUT: &str = "\
A storage benchmark that tells you whether to believe it; begin with: candor check DIRECTORY";

const LONG_ABOUT: &str = "\
A storage benchmark that tells you whether to believe it.

candor generates load, reads the counters of kernel and hardware meanwhile, and reports what the \
number means, what limits it, and what to try next. Begin with: candor check DIRECTORY";

const LICENSES: &str = "licenses";
const HELP_ALL: &str = "--help-all";

/// Commands whose options do not fit two screens.
const LONG: [&str; 11] = [
    "agent", "chart", "check", "compare", "history", "judge", "run", "scenario", "show", "tree",
    "watch",
];

/// Options of these commands that `--help` shows; `--help-all` and the manual page show all.
const COMMON: [&str; 63] = [
    "across",
    "allow",
    "allow-host-settings",
    "allow-programs",
    "bs",
    "by",
    "count",
    "csv",
    "depth",
    "direct",
    "dry-run",
    "endpoint",
    "engine",
    "evict",
    "expect",
    "fail-if",
    "fdatasync-every",
    "figure",
    "figures",
    "files",
    "fsync-end",
    "help",
    "hosts",
    "html",
    "interval",
    "iostat",
    "json",
    "keep",
    "kind",
    "last",
    "levels",
    "like",
    "listen",
    "live",
    "objects",
    "out",
    "overwrite",
    "phases",
    "pid",
    "quiet",
    "ramp",
    "rate-iops",
    "repeats",
    "require",
    "rounds",
    "run",
    "rw",
    "scale",
    "seconds",
    "set",
    "shared",
    "since",
    "size",
    "target",
    "title",
    "to",
    "verbose",
    "verdict",
    "verify",
    "width",
    "workers",
    "write",
    "write-device",
];

/// The command line as a whole.
pub fn command() -> Command {
    let tools: Vec<&str> = tools::TOOLS.iter().map(|tool| tool.name()).collect();
    Command::new("candor")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .version(version::short())
        .long_version(version::long(&tools))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .after_help(exit::HELP)
        .arg(
            Arg::new("licenses")
                .long(LICENSES)
                .action(ArgAction::SetTrue)
                .help("Print the licences of the packages that this binary contains"),
        )
        .subcommand(commands::check::command())
        .subcommand(commands::run::command())
        .subcommand(commands::tree::command())
        .subcommand(commands::scenario::command())
        .subcommand(commands::agent::command())
        .subcommand(commands::fleet::command())
        .subcommand(commands::inspect::command())
        .subcommand(commands::devices::command())
        .subcommand(commands::show::command())
        .subcommand(commands::judge::command())
        .subcommand(commands::chart::command())
        .subcommand(commands::history::command())
        .subcommand(commands::compare::command())
        .subcommand(commands::explain::command())
        .subcommand(commands::align::command())
        .subcommand(commands::trace::command())
        .subcommand(commands::cache::command())
        .subcommand(commands::watch::command())
        .subcommands(tools::TOOLS.iter().filter_map(|tool| tool.command()))
        .subcommand(commands::convert::command())
        .subcommand(commands::options::command())
        .subcommand(commands::completions::command())
        .subcommand(commands::man::command())
}

/// The same with help that fits two screens: of the longest commands, the common options in few
/// words.
fn with_short_help() -> Command {
    let whole = command().long_about(None::<&str>);
    let whole = whole.after_help(format!("Exit codes: candor {HELP_ALL}"));
    LONG.iter().fold(whole, |whole, name| {
        whole.mut_subcommand(name, |command| {
            let more = format!("All options and exit codes: candor {name} {HELP_ALL}");
            command.long_about(None::<&str>).mut_args(brief).after_help(more)
        })
    })
}

/// Length from which a clause ends at its first comma.
const BRIEF_MAX: usize = 50;
/// Length of the name of a value from which help would take two lines for each option.
const BRIEF_NAME_MAX: usize = 20;

/// A common option with the first clause of its help and its default; a rare one is hidden.
fn brief(arg: Arg) -> Arg {
    if arg.is_positional() {
        return arg;
    }
    if !COMMON.contains(&arg.get_id().as_str()) {
        return arg.hide(true);
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let (text, default) = match help.find(" [default") {
        Some(at) => help.split_at(at),
        None => (help.as_str(), ""),
    };
    let clause = text.split([';', ':']).next().unwrap_or(text);
    let clause = match clause.split_once(", ") {
        Some((first, _)) if clause.len() > BRIEF_MAX => first,
        _ => clause,
    };
    let names = arg.get_value_names().into_iter().flatten();
    let is_long = names.map(|name| name.len()).sum::<usize>() > BRIEF_NAME_MAX;
    let arg = if is_long { arg.value_name("KIND") } else { arg };
    arg.help_heading(None::<&str>).help(format!("{clause}{default}"))
}

/// Reads the words, does what they say, gives the exit code.
pub fn main(words: &[OsString]) -> u8 {
    if let Some((tool, words)) = in_foreign_clothes(words) {
        return (tool.main)(&words);
    }
    let words: Vec<String> = words.iter().map(|word| word.text()).collect();
    // Alone, for a command is required otherwise.
    if words.get(1..).is_some_and(|rest| rest == [format!("--{LICENSES}")]) {
        return commands::printed(include_str!(concat!(env!("OUT_DIR"), "/licenses")));
    }
    let wants_all = words.iter().take_while(|word| *word != "--").any(|word| word == HELP_ALL);
    let parsed = if wants_all {
        let plain =
            |word: &String| if word == HELP_ALL { "--help".to_owned() } else { word.clone() };
        command().try_get_matches_from(words.iter().map(plain))
    } else {
        with_short_help().try_get_matches_from(&words)
    };
    let matches = match parsed {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, words.get(1).map(String::as_str)),
    };
    let line = CommandLine::new(&words);
    match dispatch(&matches, line) {
        // Wherever a file for results was refused, its sentence has been shown.
        exit::TROUBLE | exit::USAGE if candor_files::has_refused() => exit::REFUSED,
        code => code,
    }
}

/// The tool whose words these are, and its command line: where candor is called as that tool, as
/// `candor fio`, `candor ior` and so on, or as `candor watch --iostat`.
fn in_foreign_clothes(words: &[OsString]) -> Option<(&'static Tool, Vec<OsString>)> {
    let is_iostat = |word: &OsString| word == "--iostat";
    let (program, rest) = words.split_first()?;
    if let Some(tool) = tools::called_as(program) {
        return Some((tool, words.to_vec()));
    }
    match rest {
        [command, ..] if tools::of_command(command).is_some() => {
            Some((tools::of_command(command)?, rest.to_vec()))
        }
        [command, rest @ ..] if command == "watch" && rest.iter().any(is_iostat) => {
            let rest = rest.iter().filter(|word| !is_iostat(word)).cloned();
            let words = std::iter::once("iostat".into()).chain(rest);
            Some((tools::find("iostat")?, words.collect()))
        }
        _ => None,
    }
}

fn dispatch(matches: &ArgMatches, line: CommandLine) -> u8 {
    match matches.subcommand() {
        Some(("check", matches)) => commands::check::main(matches, line),
        Some(("run", matches)) => commands::run::main(matches, line),
        Some(("tree", matches)) => commands::tree::main(matches, line),
        Some(("scenario", matches)) => commands::scenario::main(matches, line),
        Some(("agent", matches)) => commands::agent::main(matches, line),
        Some(("fleet", matches)) => commands::fleet::main(matches),
        Some(("inspect", matches)) => commands::inspect::main(matches, line),
        Some(("devices", matches)) => commands::devices::main(matches, line),
        Some(("show", matches)) => commands::show::main(matches, line),
        Some(("judge", matches)) => commands::judge::main(matches, line),
        Some(("chart", matches)) => commands::chart::main(matches, line),
        Some(("history", matches)) => commands::history::main(matches, line),
        Some(("compare", matches)) => commands::compare::main(matches, line),
        Some(("explain", matches)) => commands::explain::main(matches, line),
        Some(("watch", matches)) => commands::watch::main(matches, line),
        Some(("trace", matches)) => commands::trace::main(matches, line),
        Some(("align", matches)) => commands::align::main(matches, line),
        Some(("cache", matches)) => commands::cache::main(matches, line),
        Some(("convert", matches)) => commands::convert::main(matches),
        Some(("options", matches)) => commands::options::main(matches),
        Some(("completions", matches)) => commands::completions::main(matches, &command()),
        Some(("man", matches)) => commands::man::main(matches, command()),
        // The parser lets no other word through.
        _ => exit::USAGE,
    }
}

/// Help and version are data; everything else is a mistake of the caller's.
fn refuse(error: &clap::Error, command: Option<&str>) -> u8 {
    if error.use_stderr() {
        screen::tell(&foreign_words::refusal(error, command, &self::command()));
        return exit::USAGE;
    }
    match screen::data(&error.render().to_string()) {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_make_a_valid_command_line() {
        command().debug_assert();
    }

    #[test]
    fn short_help_lists_the_interval_of_watch() {
        let words = ["candor", "watch", "--help"];
        let help = with_short_help().try_get_matches_from(words).unwrap_err().to_string();
        assert!(help.contains("--interval "), "{help}");
    }

    #[test]
    fn mistyped_words_get_a_suggestion() {
        for (words, near) in [
            (&["candor", "chek", "/data"][..], "'check'"),
            (&["candor", "run", "--dept", "4"], "'--depth'"),
        ] {
            let error = command().try_get_matches_from(words).unwrap_err();
            assert!(error.to_string().contains(near), "{error}");
            assert!(error.use_stderr());
        }
    }
}
