//! Options and commands that people type from habit, and what says the same here.

use candor_plan::path_of;
use candor_plan::shell::quoted;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// Options of `candor run` for one of another tool: its name without dashes, the tool, and ours.
const WORDS: [(&str, &str, &str); 47] = [
    ("numjobs", "fio", "--workers N"),
    ("iodepth", "fio", "--depth N"),
    ("blocksize", "fio", "--bs SIZE"),
    ("ioengine", "fio", "--engine NAME"),
    ("filename", "fio", "--target PATH"),
    ("directory", "fio", "--target DIRECTORY"),
    ("filesize", "fio", "--size SIZE"),
    ("nrfiles", "fio", "--files N"),
    ("readwrite", "fio", "--rw WORD"),
    ("rwmixread", "fio", "--mix read:70,write:30"),
    ("rwmixwrite", "fio", "--mix read:70,write:30"),
    ("runtime", "fio", "--seconds N"),
    ("time_based", "fio", "--seconds N, which continues until then"),
    ("ramp_time", "fio", "--ramp TIME"),
    ("loops", "fio", "--passes N"),
    ("number_ios", "fio", "--ops N"),
    ("io_size", "fio", "--bytes SIZE"),
    ("rate_iops", "fio", "--rate-iops N"),
    ("thinktime", "fio", "--think TIME"),
    ("fsync", "fio", "--fsync-every N"),
    ("fdatasync", "fio", "--fdatasync-every N"),
    ("end_fsync", "fio", "--fsync-end"),
    ("invalidate", "fio", "--evict"),
    ("random_distribution", "fio", "--access zipf:1.2"),
    ("randseed", "fio", "--seed N"),
    ("cpus_allowed", "fio", "--cpus LIST"),
    ("buffer_compress_percentage", "fio", "--compressible PCT"),
    ("dedupe_percentage", "fio", "--duplicate PCT"),
    ("blockalign", "fio", "--align SIZE"),
    ("output", "fio", "--json FILE"),
    ("percentile_list", "fio", "--percentiles 50,99"),
    ("fill_device", "fio", "--until-full"),
    ("if", "dd", "--rw read --target PATH"),
    ("of", "dd", "--rw write --target PATH"),
    ("count", "dd", "--ops N"),
    ("oflag", "dd", "--direct"),
    ("conv", "dd", "--fsync-end"),
    ("threads", "elbencho", "--workers N"),
    ("block", "elbencho", "--bs SIZE"),
    ("timelimit", "elbencho", "--seconds N"),
    ("file-test-mode", "sysbench", "--rw WORD"),
    ("file-total-size", "sysbench", "--size SIZE"),
    ("file-num", "sysbench", "--files N"),
    ("file-block-size", "sysbench", "--bs SIZE"),
    ("file-fsync-freq", "sysbench", "--fsync-every N"),
    ("file-fsync-end", "sysbench", "--fsync-end"),
    ("file-io-mode", "sysbench", "--engine NAME"),
];

/// Commands that people try, and the one that does it.
const COMMANDS: [(&[&str], &str); 5] = [
    (&["bench", "benchmark", "measure", "test", "quick"], "candor check measures this directory"),
    (&["list", "ls", "lsblk", "disks", "device"], "candor devices lists the devices of this host"),
    (&["iostat", "top", "monitor"], "candor watch shows the activity of devices"),
    (&["info", "lshw"], "candor inspect PATH shows the devices under a path"),
    (&["report", "view", "open"], "candor show REPORT shows a stored report"),
];

/// The text for words that the parser refuses: its own text, followed by the correct words if these
/// are known; they replace the parser's guesses by spelling. `all` has all commands of candor.
pub fn refusal(error: &Error, command: Option<&str>, all: &Command) -> String {
    let text = error.render().to_string();
    let Some(hint) = hint(error, command, all) else { return text };
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("  tip: ")).collect();
    format!("{}\ncandor: {hint}\n", lines.join("\n").replace("\n\n\n", "\n\n"))
}

/// The words to write instead of the words that an error is about.
fn hint(error: &Error, command: Option<&str>, all: &Command) -> Option<String> {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(given)) => Some(given.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => no_command(given(ContextKind::InvalidSubcommand)?),
        ErrorKind::UnknownArgument => no_option(given(ContextKind::InvalidArg)?, command?, all),
        _ => None,
    }
}

fn no_command(given: &str) -> Option<String> {
    if path_of(given).exists() {
        return Some(format!("candor check {} measures it", quoted(given)));
    }
    let (_, hint) = COMMANDS.iter().find(|(words, _)| words.contains(&given))?;
    Some((*hint).to_owned())
}

fn no_option(given: &str, command: &str, all: &Command) -> Option<String> {
    let name = given.trim_start_matches('-').split('=').next()?.to_lowercase();
    match command {
        "devices" if !given.starts_with('-') => {
            return Some(format!("candor inspect {} shows all of one device", quoted(given)));
        }
        "watch" if given.starts_with('-') && !given.starts_with("--") => {
            return Some(format!("candor watch --iostat {given} takes sysstat's options"));
        }
        _ => {}
    }
    let same = |word: &str| word == name || word.replace('_', "-") == name;
    let (word, tool, ours) = WORDS.iter().find(|(word, ..)| same(word))?;
    let owner = if has_all(all, command, ours) { command } else { "run" };
    Some(format!("{tool}'s {word} is {ours} of candor {owner}"))
}

/// True where a command has all the options in a hint.
fn has_all(all: &Command, command: &str, ours: &str) -> bool {
    let Some(command) = all.find_subcommand(command) else { return false };
    ours.split([' ', ','])
        .filter_map(|word| word.strip_prefix("--"))
        .all(|name| command.get_arguments().any(|arg| arg.get_long() == Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::commands::run;

    fn refused(words: &[&str]) -> String {
        let all = cli::command();
        let error = all.clone().try_get_matches_from(words).unwrap_err();
        refusal(&error, words.get(1).copied(), &all)
    }

    #[test]
    fn words_of_other_tools_are_understood_in_errors() {
        for (words, ours) in [
            (["candor", "run", "--numjobs=4", ""], "--workers N of candor run"),
            (["candor", "run", "--time-based", ""], "--seconds N, which continues"),
            (["candor", "run", "if=/dev/zero", "of=/data/file"], "--target PATH of candor run"),
            (["candor", "check", ".", "--runtime=5"], "--seconds N of candor check"),
            (["candor", "check", ".", "--iodepth=5"], "--depth N of candor run"),
            (["candor", "devices", "", "sda"], "candor inspect"),
            (["candor", "watch", "sda", "-x"], "candor watch --iostat -x"),
        ] {
            let text = refused(&words);
            assert!(text.contains(ours) && !text.contains("tip:"), "{text}");
        }
        let own = refused(&["candor", "run", "--dept", "4"]);
        assert!(own.contains("tip:") && !own.contains("candor:"), "{own}");
    }

    #[test]
    fn commands_that_people_try_name_the_one_that_does_it() {
        for (word, ours) in [
            ("/", "candor check / measures it"),
            ("bench", "candor check"),
            ("lsblk", "candor devices"),
        ] {
            let text = refused(&["candor", word]);
            assert!(text.contains(ours) && !text.contains("tip:"), "{text}");
        }
        assert!(!refused(&["candor", "nonsense"]).contains("candor:"));
        let command = cli::command();
        for (words, hint) in COMMANDS {
            assert!(words.iter().all(|word| command.find_subcommand(word).is_none()), "{words:?}");
            let ours = hint.split(' ').nth(1).and_then(|name| command.find_subcommand(name));
            assert!(ours.is_some(), "{hint}");
        }
    }

    /// None is an option of ours, and what is said instead is.
    #[test]
    fn hints_name_options_that_exist() {
        let command = run::command();
        let known = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        for (word, _, ours) in WORDS {
            assert!(!known(word), "{word}");
            let names = ours.split([' ', ',']).filter_map(|word| word.strip_prefix("--"));
            assert!(names.clone().count() > 0 && names.clone().all(known), "{ours}");
        }
    }
}
