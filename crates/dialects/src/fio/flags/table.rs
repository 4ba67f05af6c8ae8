//! The table of flags: what a command line may say that is no option of a job.

use candor_plan::Nanos;

use super::{DebugKind, Eta, Flags, IdleKind, Instead};
use crate::fio::job::Format;
use crate::fio::values::{self, TimeUnit, Units};
use crate::kit::{Group, Plain, Refused, Row, Table, bare, row};

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

const NO_FLEET: &str = "candor does not drive other hosts yet; start it on each of them";

/// All flags, in the order in which help shows them. Those that store nothing are read together
/// with the jobs.
pub const TABLE: Table<Flag> = Table(&[Group { title: "Flags", rows: ROWS }]);

const ROWS: &[Row<Flag>] = &[
    row(
        "output",
        Flag::value("FILE"),
        |f, t| {
            f.output.file = Some(t.into());
            Ok(())
        },
        "write the results to FILE instead of standard output",
    )
    .letter('o'),
    row(
        "output-format",
        Flag::value("FORMS"),
        |f, t| formats(t).map(|formats| f.output.formats = formats),
        "forms of the results, separated by commas: normal, terse, json, json+",
    )
    .letter('F'),
    row(
        "minimal",
        Flag::SWITCH,
        |f, _| {
            f.output.formats = vec![Format::Terse];
            Ok(())
        },
        "the same as --output-format=terse",
    )
    .letter('m'),
    row(
        "append-terse",
        Flag::SWITCH,
        |f, _| {
            f.output.append_terse = true;
            Ok(())
        },
        "print the terse line after the other forms",
    )
    .letter('f'),
    row(
        "terse-version",
        Flag::value("N"),
        |f, t| terse_version(t).map(|version| f.output.terse_version = version),
        "version of the terse line, 2 to 5 (default 3)",
    )
    .letter('V'),
    row(
        "parse-only",
        Flag::SWITCH,
        |f, _| f.instead(Instead::ParseOnly),
        "read and check everything, run nothing",
    )
    .letter('P'),
    row(
        "showcmd",
        Flag::SWITCH,
        |f, _| f.instead(Instead::ShowCommand),
        "print job files as command lines, run nothing",
    )
    .letter('s'),
    bare("section", Flag::value("NAME"), "run only the section of that name; may be repeated")
        .letter('x'),
    row(
        "readonly",
        Flag::SWITCH,
        |f, _| {
            f.readonly = true;
            Ok(())
        },
        "refuse jobs that write or trim",
    )
    .letter('r'),
    row(
        "max-jobs",
        Flag::value("N"),
        |f, t| number(t).map(|number| f.jobs_max = Some(number)),
        "refuse more than N jobs, clones counted",
    )
    .letter('j'),
    row(
        "warnings-fatal",
        Flag::SWITCH,
        |f, _| {
            f.warnings_fatal = true;
            Ok(())
        },
        "refuse what would otherwise be remarked upon",
    )
    .letter('w'),
    row(
        "eta",
        Flag::value("WHEN"),
        |f, t| choice(t, t, "eta", &ETA).map(|eta| f.eta = eta),
        "show progress: always, never or auto (on a terminal)",
    )
    .letter('e'),
    row(
        "eta-newline",
        Flag::value("TIME"),
        |f, t| time(t, Nanos(1)).map(|time| f.eta_newline = Some(time)),
        "begin a new line of progress after each TIME",
    )
    .letter('E'),
    row(
        "eta-interval",
        Flag::value("TIME"),
        |f, t| time(t, ETA_INTERVAL_MIN).map(|time| f.eta_interval = Some(time)),
        "renew progress after each TIME, at least 250ms",
    )
    .letter('O'),
    row(
        "alloc-size",
        Flag::value("KB"),
        |f, t| number(t).map(|_| f.pools = Some(t.to_owned())),
        "size of fio's memory pools; candor has none to size",
    )
    .letter('a'),
    row("debug", Flag::value("TYPES"), debug, "tell about process, file, io, …; help lists them")
        .letter('d'),
    bare("aux-path", Flag::value("DIR"), "where files of verify_state_save and _load are")
        .letter('K'),
    row(
        "cmdhelp",
        Flag::maybe("OPTION"),
        |f, t| f.instead(Instead::CommandHelp(named(t))),
        "explain an option, or list all",
    )
    .letter('c'),
    row(
        "enghelp",
        Flag::maybe("ENGINE[,OPTION]"),
        |f, t| f.instead(Instead::EngineHelp(named(t))),
        "list engines, or the options of one",
    )
    .letter('i'),
    row(
        "version",
        Flag::SWITCH,
        |f, _| {
            f.instead = Some(Instead::Version);
            Ok(())
        },
        "print the version",
    )
    .letter('v'),
    row(
        "help",
        Flag::SWITCH,
        |f, _| {
            f.instead = Some(Instead::Help);
            Ok(())
        },
        "print this page",
    )
    .letter('h'),
    row(
        "status-interval",
        Flag::value("TIME"),
        |f, t| time(t, STATUS_INTERVAL_MIN).map(|time| f.status_interval = Some(time)),
        "print the results so far after each TIME",
    )
    .letter('L'),
    row(
        "bandwidth-log",
        Flag::SWITCH,
        |f, _| {
            f.bandwidth_log = true;
            Ok(())
        },
        "log the bandwidth of all jobs together",
    )
    .letter('b'),
    row(
        "inflate-log",
        Flag::value("FILE"),
        |f, t| f.instead(Instead::InflateLog(t.into())),
        "print what is in a compressed log",
    )
    .letter('X'),
    row(
        "crctest",
        Flag::maybe("SUMS"),
        |f, t| f.instead(Instead::CrcTest(named(t))),
        "measure the checksums used for verification",
    )
    .letter('G'),
    row(
        "cpuclock-test",
        Flag::SWITCH,
        |f, _| f.instead(Instead::ClockTest),
        "test whether the clocks of all CPUs tell one time",
    )
    .letter('T'),
    refused(
        "latency-log",
        'l',
        Flag::value("FILE"),
        "write latency logs",
        "it is deprecated: set write_lat_log in the jobs",
    ),
    row(
        "merge-blktrace-only",
        Flag::maybe("FILE"),
        |f, _| f.instead(Instead::MergeOnly),
        "merge the block traces of read_iolog as merge_blktrace_file says, run nothing",
    )
    .letter('A'),
    refused(
        "memcpytest",
        'M',
        Flag::maybe("TYPE"),
        "measure copying of memory",
        "candor does not measure the host's memory",
    ),
    row(
        "idle-prof",
        Flag::value("KIND"),
        idle,
        "show how idle CPUs are: system, percpu or calibrate",
    )
    .letter('I'),
    refused("server", 'S', Flag::maybe("ARGS"), "wait for jobs from another host", NO_FLEET),
    refused(
        "daemonize",
        'D',
        Flag::value("PIDFILE"),
        "go on as a server in the background",
        NO_FLEET,
    ),
    refused("client", 'C', Flag::value("HOST"), "run the jobs on another host", NO_FLEET),
    refused(
        "remote-config",
        'R',
        Flag::value("FILE"),
        "have the server read its own FILE",
        NO_FLEET,
    ),
    row(
        "trigger-file",
        Flag::value("FILE"),
        |f, t| {
            f.trigger.file = Some(t.into());
            Ok(())
        },
        "end all jobs and run the trigger once FILE exists",
    )
    .letter('W'),
    row(
        "trigger-timeout",
        Flag::value("TIME"),
        |f, t| time(t, Nanos(1)).map(|time| f.trigger.timeout = Some(time)),
        "end all jobs and run the trigger after TIME",
    )
    .letter('B'),
    row(
        "trigger",
        Flag::value("COMMAND"),
        |f, t| {
            f.trigger.command = Some(t.to_owned());
            Ok(())
        },
        "the command that a trigger runs",
    )
    .letter('H'),
    refused("trigger-remote", 'J', Flag::value("COMMAND"), "the same on another host", NO_FLEET),
];

/// The shortest renewal of progress that fio allows.
const ETA_INTERVAL_MIN: Nanos = Nanos(250_000_000);

/// The shortest time between results.
const STATUS_INTERVAL_MIN: Nanos = Nanos(2_000_000);

const ETA: [(&str, Eta); 3] = [("auto", Eta::Auto), ("always", Eta::Always), ("never", Eta::Never)];

/// None to only find out how long a unit of work takes.
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

/// One of some words; `part` is the part of the flag's value that is looked at.
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

/// A time of at least so much; seconds where no unit is given.
fn time(text: &str, min: Nanos) -> Result<Nanos, Refused> {
    let time = values::time(text, TimeUnit::Seconds)?.value;
    match time >= min {
        true => Ok(time),
        false => {
            let message = format!("`{text}` is too short");
            let remedy = format!("give at least {} ms", min.0.div_ceil(1_000_000));
            Err(Refused::whole(text, message, remedy))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
