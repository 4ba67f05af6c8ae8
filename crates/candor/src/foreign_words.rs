//! Options of other tools that people type from habit, and what says the same here.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

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
    ("time_based", "fio", "--seconds N, which goes on until then"),
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

/// The option to write instead of the one that an error is about, where another tool has that.
pub fn hint(error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = given.trim_start_matches('-').split('=').next()?.to_lowercase();
    let same = |word: &str| word == name || word.replace('_', "-") == name;
    let (word, tool, ours) = WORDS.iter().find(|(word, ..)| same(word))?;
    Some(format!("candor: {tool}'s {word} is {ours} of candor run\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::run;

    #[test]
    fn words_of_other_tools_are_understood_in_errors() {
        for (words, ours) in [
            (["run", "--numjobs=4", ""], "--workers"),
            (["run", "--time-based", ""], "--seconds"),
            (["run", "if=/dev/zero", "of=/data/file"], "--target"),
        ] {
            let error = run::command().try_get_matches_from(words).unwrap_err();
            let hint = hint(&error).unwrap();
            assert!(hint.contains(ours), "{hint}");
        }
        let error = run::command().try_get_matches_from(["run", "--nonsense"]).unwrap_err();
        assert_eq!(hint(&error), None);
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
