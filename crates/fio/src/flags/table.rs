//! The table of flags: command-line options that are not job options.

use candor_plan::{Nanos, path_of};

use super::{DebugKind, Eta, Flags, IdleKind, Instead};
use crate::ast::Address;
use crate::job::Format;
use crate::values::{self, TimeUnit, Units};
use candor_front::{Group, Plain, Refused, Row, Set, Table, bare, row, store};

/// The values of flags.
type Flag = Plain<Flags>;

const fn refused(
    name: &'static str,
    letter: char,
    value: Flag,
    help: &'static str,
    why: &'static str,
) -> Row<Flag> {
    bare(name, value, help).letter(letter).refused("", why)
}

const NO_REMOTE_FILE: &str = "candor reads job files on the host where it starts; name the file \
                              after --client";
const NO_REMOTE_TRIGGER: &str = "servers run no commands of triggers; --trigger runs one here";

const fn flag(
    name: &'static str,
    letter: char,
    value: Flag,
    set: Set<Flags>,
    help: &'static str,
) -> Row<Flag> {
    row(name, value, set, help).letter(letter)
}

/// All flags, in the order of the help. Flags without setter are read together with the jobs.
pub const TABLE: Table<Flag> = Table(&[Group { title: "Flags", rows: ROWS }]);

#[rustfmt::skip]
const ROWS: &[Row<Flag>] = &[
    flag("output", 'o', Flag::value("FILE"), |f, t| store(&mut f.output.file, Some(path_of(t))),
        "write the results to FILE instead of standard output"),
    flag("output-format", 'F', Flag::value("FORMS"),
        |f, t| formats(t).map(|formats| f.output.formats = formats),
        "forms of the results, separated by commas: normal, terse, json, json+"),
    flag("minimal", 'm', Flag::SWITCH, |f, _| store(&mut f.output.formats, vec![Format::Terse]),
        "the same as --output-format=terse"),
    flag("append-terse", 'f', Flag::SWITCH, |f, _| store(&mut f.output.append_terse, true),
        "print the terse line after the other forms"),
    flag("terse-version", 'V', Flag::value("N"),
        |f, t| terse_version(t).map(|version| f.output.terse_version = version),
        "version of the terse line, 2 to 5 (default 3)"),
    flag("parse-only", 'P', Flag::SWITCH, |f, _| f.instead(Instead::ParseOnly),
        "read and check everything, run nothing"),
    flag("showcmd", 's', Flag::SWITCH, |f, _| f.instead(Instead::ShowCommand),
        "print job files as command lines, run nothing"),
    flag("section", 'x', Flag::value("NAME"), |_, _| Ok(()),
        "run only the section of that name; may be repeated"),
    flag("readonly", 'r', Flag::SWITCH, |f, _| store(&mut f.readonly, true),
        "refuse jobs that write or trim"),
    flag("max-jobs", 'j', Flag::value("N"), |_, _| Ok(()), "limit the number of jobs to N")
        .idle("4", "fio 3.42 ignores it, and limits the jobs of a run to 4096"),
    flag("warnings-fatal", 'w', Flag::SWITCH, |f, _| store(&mut f.warnings_fatal, true),
        "refuse what would otherwise be remarked upon"),
    flag("eta", 'e', Flag::value("WHEN"), |f, t| choice(t, t, "eta", &ETA).map(|eta| f.eta = eta),
        "show progress: always, never or auto (on a terminal)"),
    flag("eta-newline", 'E', Flag::value("TIME"),
        |f, t| time(t, Nanos(1)).map(|time| f.eta_newline = Some(time)),
        "begin a new line of progress after each TIME"),
    flag("eta-interval", 'O', Flag::value("TIME"),
        |f, t| time(t, ETA_INTERVAL_MIN).map(|time| f.eta_interval = Some(time)),
        "renew progress after each TIME, at least 250ms"),
    flag("alloc-size", 'a', Flag::value("KB"),
        |f, t| number(t).map(|_| f.pools = Some(t.to_owned())),
        "size of fio's memory pools; candor has none to size"),
    flag("debug", 'd', Flag::value("TYPES"), debug,
        "print details of process, file, io, …; help lists them"),
    flag("aux-path", 'K', Flag::value("DIR"), |_, _| Ok(()),
        "where files of verify_state_save and _load are"),
    flag("cmdhelp", 'c', Flag::maybe("OPTION"), |f, t| f.instead(Instead::CommandHelp(named(t))),
        "explain an option, or list all"),
    flag("enghelp", 'i', Flag::maybe("ENGINE[,OPTION]"),
        |f, t| f.instead(Instead::EngineHelp(named(t))), "list engines, or the options of one"),
    flag("version", 'v', Flag::SWITCH, |f, _| store(&mut f.instead, Some(Instead::Version)),
        "print the version"),
    flag("help", 'h', Flag::SWITCH, |f, _| store(&mut f.instead, Some(Instead::Help)),
        "print this page"),
    flag("status-interval", 'L', Flag::value("TIME"),
        |f, t| time(t, STATUS_INTERVAL_MIN).map(|time| f.status_interval = Some(time)),
        "print the results so far after each TIME"),
    flag("bandwidth-log", 'b', Flag::maybe("NAME"),
        |f, t| store(&mut f.bandwidth_log, Some(if t.is_empty() { AGGREGATE } else { t }.into())),
        "log the bandwidth of all jobs together, in NAME-read_bw.log and its kin (default agg)"),
    flag("inflate-log", 'X', Flag::value("FILE"), |f, t| f.instead(Instead::InflateLog(path_of(t))),
        "print what is in a compressed log"),
    flag("crctest", 'G', Flag::maybe("SUMS"), |f, t| f.instead(Instead::CrcTest(named(t))),
        "measure the checksums used for verification"),
    flag("cpuclock-test", 'T', Flag::SWITCH, |f, _| f.instead(Instead::ClockTest),
        "test whether the clocks of all CPUs agree"),
    refused("latency-log", 'l', Flag::value("FILE"), "write latency logs",
        "it is deprecated: set write_lat_log in the jobs"),
    flag("merge-blktrace-only", 'A', Flag::maybe("FILE"), |f, _| f.instead(Instead::MergeOnly),
        "merge the block traces of read_iolog into merge_blktrace_file, run nothing"),
    refused("memcpytest", 'M', Flag::maybe("TYPE"), "measure copying of memory",
        "candor does not measure the host's memory"),
    flag("idle-prof", 'I', Flag::value("KIND"), idle,
        "show how idle CPUs are: system, percpu or calibrate"),
    flag("server", 'S', Flag::maybe("ADDRESS"),
        |f, t| store(&mut f.server, Some(Address::read(t)?)),
        "serve the paths of $CANDOR_ALLOW to clients, by candor's own protocol; port 8765 by \
         default"),
    flag("daemonize", 'D', Flag::value("PIDFILE"),
        |f, t| store(&mut f.pid_file, Some(path_of(t))),
        "run the server in the background, with its process id in PIDFILE"),
    flag("client", 'C', Flag::value("HOST"), |_, _| Ok(()),
        "run the following job files on this host, or on the hosts of a file; may be repeated"),
    refused("remote-config", 'R', Flag::value("FILE"), "have the server read its own FILE",
        NO_REMOTE_FILE),
    flag("trigger-file", 'W', Flag::value("FILE"),
        |f, t| store(&mut f.trigger.file, Some(path_of(t))),
        "end all jobs and run the trigger once FILE exists"),
    flag("trigger-timeout", 'B', Flag::value("TIME"),
        |f, t| time(t, Nanos(1)).map(|time| f.trigger.timeout = Some(time)),
        "end all jobs and run the trigger after TIME"),
    flag("trigger", 'H', Flag::value("COMMAND"),
        |f, t| store(&mut f.trigger.command, Some(t.to_owned())),
        "the command that a trigger runs"),
    refused("trigger-remote", 'J', Flag::value("COMMAND"), "the same on another host",
        NO_REMOTE_TRIGGER),
];

/// The shortest renewal of progress that fio allows.
const ETA_INTERVAL_MIN: Nanos = Nanos(250_000_000);

/// The shortest time between results.
const STATUS_INTERVAL_MIN: Nanos = Nanos(2_000_000);

const ETA: [(&str, Eta); 3] = [("auto", Eta::Auto), ("always", Eta::Always), ("never", Eta::Never)];

/// Calibrate a unit of work only.
const IDLE_KINDS: [(&str, Option<IdleKind>); 3] =
    [("system", Some(IdleKind::System)), ("percpu", Some(IdleKind::PerCpu)), ("calibrate", None)];

const FORMATS: [(&str, Format); 6] = [
    ("normal", Format::Normal),
    ("terse", Format::Terse),
    ("minimal", Format::Terse),
    ("csv", Format::Terse),
    ("json", Format::Json),
    ("json+", Format::JsonPlus),
];

/// First part of the names of the logs of `--bandwidth-log`, unless that gives another.
const AGGREGATE: &str = "agg";

/// A value that may be missing.
fn named(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn formats(text: &str) -> Result<Vec<Format>, Refused> {
    text.split(',').map(|part| choice(text, part.trim(), "output-format", &FORMATS)).collect()
}

/// Kinds of events to trace.
fn debug(flags: &mut Flags, text: &str) -> Result<(), Refused> {
    if text == "help" {
        return flags.instead(Instead::DebugHelp);
    }
    let mut kinds = Vec::new();
    for part in text.split(',') {
        match part {
            "all" => kinds.extend(DebugKind::ALL.map(|(_, kind)| kind)),
            part => kinds.push(choice(text, part, "debug", &DebugKind::ALL)?),
        }
    }
    kinds.dedup();
    flags.debug.extend(kinds);
    Ok(())
}

fn idle(flags: &mut Flags, text: &str) -> Result<(), Refused> {
    match choice(text, text, "idle-prof", &IDLE_KINDS)? {
        None => flags.instead(Instead::IdleCalibration)?,
        kind => flags.idle = kind,
    }
    Ok(())
}

/// One of several choices; `part` is the part of the flag's value to match.
fn choice<T: Copy>(
    text: &str,
    part: &str,
    flag: &str,
    choices: &[(&str, T)],
) -> Result<T, Refused> {
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == part) {
        return Ok(*value);
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let near = candor_plan::nearest(part, names.iter().copied());
    let remedy = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
    let message = format!("--{flag}: `{part}` is none of {}", names.join(", "));
    Err(Refused::whole(text, message, remedy))
}

fn terse_version(text: &str) -> Result<u32, Refused> {
    let version = text.parse().ok().filter(|version| (2..=5).contains(version));
    version.ok_or_else(|| {
        let message = format!("--terse-version: `{text}` is no version of the terse line");
        Refused::whole(text, message, "give 2, 3, 4 or 5")
    })
}

fn number(text: &str) -> Result<u64, Refused> {
    Ok(values::bytes(text, Units::default())?.value)
}

/// A time with a minimum; the default unit is seconds.
fn time(text: &str, min: Nanos) -> Result<Nanos, Refused> {
    let read = values::time(text, TimeUnit::Seconds)?;
    if let Some(remark) = read.remark {
        // A flag has no notes.
        return Err(Refused::whole(text, remark, "write a whole number with a unit"));
    }
    let time = read.value;
    if time >= min {
        Ok(time)
    } else {
        let message = format!("`{text}` is too short");
        let remedy = format!("give at least {} ms", min.0.div_ceil(1_000_000));
        Err(Refused::whole(text, message, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_front::Support;
    use candor_front::evidence::{self, Claim, Outcome, Sources};

    #[test]
    fn names_and_letters_are_unique() {
        let all: Vec<_> = TABLE.rows().collect();
        for (nth, flag) in all.iter().enumerate() {
            let mut later = all[nth + 1..].iter();
            assert!(later.all(|other| other.name != flag.name && other.letter != flag.letter));
            let letter = flag.letter.expect("a letter");
            assert!(TABLE.by_letter(letter).is_some_and(|found| found.name == flag.name));
        }
    }

    /// A value other than the default.
    fn example(name: &str) -> &'static str {
        match name {
            "output-format" => "json",
            "terse-version" | "alloc-size" | "max-jobs" => "4",
            "eta" => "never",
            "debug" => "io",
            "idle-prof" => "percpu",
            "status-interval" => "9",
            name if name.ends_with("timeout") || name.starts_with("eta-") => "9",
            _ => "x",
        }
    }

    /// Flags that are read together with the jobs: selection of jobs, directory of state files,
    /// hosts. The reader's tests cover them.
    const WITH_JOBS: [&str; 3] = ["section", "aux-path", "client"];

    #[test]
    fn every_flag_does_what_its_row_states() {
        let readers = [
            "candor/src/commands/tools/fio.rs",
            "candor/src/commands/tools/fio",
            "fio/src/output.rs",
            "fio/src/output",
        ];
        let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), &readers);
        let rows = TABLE.rows().filter(|flag| !WITH_JOBS.contains(&flag.name));
        let claims = rows.map(|flag| Claim { name: flag.name, support: flag.support });
        let broken = evidence::broken_promises(claims, &sources, |claim, with| {
            let flag = TABLE.find(claim.name).expect("a flag");
            let mut flags = Flags::default();
            if let Support::Refused(why) = flag.support
                && with
            {
                return Err(format!("{}: {why}", flag.name));
            }
            if with {
                flag.apply(&mut flags, Some(example(flag.name))).map_err(|no| no.message)?;
            }
            Ok(Outcome {
                effects: format!("{:?}", flags.instead.take()),
                settings: format!("{flags:#?}"),
                ..Outcome::default()
            })
        });
        assert!(broken.is_empty(), "{broken:#?}");
    }
}
