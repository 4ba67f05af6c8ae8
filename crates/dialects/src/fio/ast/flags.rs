//! The table of flags: what a command line may say that is no option of a job.

use Takes::{Maybe, Nothing, One};

/// A flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without dashes.
    pub name: &'static str,
    /// The letter that stands for it behind a single dash.
    pub letter: char,
    /// What it takes.
    pub takes: Takes,
    /// What it is for.
    pub help: &'static str,
    /// Why it is refused, where it is.
    pub refused: Option<&'static str>,
}

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// A value of this name.
    One(&'static str),
    /// A value of this name behind an equals sign, or nothing.
    Maybe(&'static str),
}

/// The flag of that name.
pub fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.name == name)
}

const fn flag(name: &'static str, letter: char, takes: Takes, help: &'static str) -> Flag {
    Flag { name, letter, takes, help, refused: None }
}

const fn refused(
    name: &'static str,
    letter: char,
    takes: Takes,
    help: &'static str,
    why: &'static str,
) -> Flag {
    Flag { name, letter, takes, help, refused: Some(why) }
}

const NO_FLEET: &str = "candor does not drive other hosts yet; start it on each of them";

/// All flags, in the order in which help shows them.
#[rustfmt::skip]
pub const FLAGS: &[Flag] = &[
    flag("output", 'o', One("FILE"), "write the results to FILE instead of standard output"),
    flag("output-format", 'F', One("FORMS"),
        "forms of the results, separated by commas: normal, terse, json, json+"),
    flag("minimal", 'm', Nothing, "the same as --output-format=terse"),
    flag("append-terse", 'f', Nothing, "print the terse line after the other forms"),
    flag("terse-version", 'V', One("N"), "version of the terse line, 2 to 5 (default 3)"),
    flag("parse-only", 'P', Nothing, "read and check everything, run nothing"),
    flag("showcmd", 's', Nothing, "print job files as command lines, run nothing"),
    flag("section", 'x', One("NAME"), "run only the section of that name; may be repeated"),
    flag("readonly", 'r', Nothing, "refuse jobs that write or trim"),
    flag("max-jobs", 'j', One("N"), "refuse more than N jobs, clones counted"),
    flag("warnings-fatal", 'w', Nothing, "refuse what would otherwise be remarked upon"),
    flag("eta", 'e', One("WHEN"), "show progress: always, never or auto (on a terminal)"),
    flag("eta-newline", 'E', One("TIME"), "begin a new line of progress after each TIME"),
    flag("eta-interval", 'O', One("TIME"), "renew progress after each TIME, at least 250ms"),
    flag("alloc-size", 'a', One("KB"), "size of fio's memory pools; candor has none to size"),
    flag("debug", 'd', One("TYPES"), "tell about process, file, io, …; help lists them"),
    flag("aux-path", 'K', One("DIR"), "where files of verify_state_save and _load are"),
    flag("cmdhelp", 'c', Maybe("OPTION"), "explain an option, or list all"),
    flag("enghelp", 'i', Maybe("ENGINE[,OPTION]"), "list engines, or the options of one"),
    flag("version", 'v', Nothing, "print the version"),
    flag("help", 'h', Nothing, "print this page"),
    flag("status-interval", 'L', One("TIME"), "print the results so far after each TIME"),
    flag("bandwidth-log", 'b', Nothing, "log the bandwidth of all jobs together"),
    flag("inflate-log", 'X', One("FILE"), "print what is in a compressed log"),
    flag("crctest", 'G', Maybe("SUMS"), "measure the checksums used for verification"),
    flag("cpuclock-test", 'T', Nothing, "test whether the clocks of all CPUs tell one time"),
    refused("latency-log", 'l', One("FILE"), "write latency logs",
        "it is deprecated: set write_lat_log in the jobs"),
    flag("merge-blktrace-only", 'A', Maybe("FILE"),
        "merge the block traces of read_iolog as merge_blktrace_file says, run nothing"),
    refused("memcpytest", 'M', Maybe("TYPE"), "measure copying of memory",
        "candor does not measure the host's memory"),
    flag("idle-prof", 'I', One("KIND"), "show how idle CPUs are: system, percpu or calibrate"),
    refused("server", 'S', Maybe("ARGS"), "wait for jobs from another host", NO_FLEET),
    refused("daemonize", 'D', One("PIDFILE"), "go on as a server in the background", NO_FLEET),
    refused("client", 'C', One("HOST"), "run the jobs on another host", NO_FLEET),
    refused("remote-config", 'R', One("FILE"), "have the server read its own FILE", NO_FLEET),
    flag("trigger-file", 'W', One("FILE"), "end all jobs and run the trigger once FILE exists"),
    flag("trigger-timeout", 'B', One("TIME"), "end all jobs and run the trigger after TIME"),
    flag("trigger", 'H', One("COMMAND"), "the command that a trigger runs"),
    refused("trigger-remote", 'J', One("COMMAND"), "the same on another host", NO_FLEET),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_unique() {
        for (nth, flag) in FLAGS.iter().enumerate() {
            let mut later = FLAGS[nth + 1..].iter();
            assert!(later.all(|other| other.name != flag.name && other.letter != flag.letter));
            assert!(find(flag.name).is_some_and(|found| found.letter == flag.letter));
        }
    }
}
