//! The flags of a command line: typed.

mod table;

use std::path::PathBuf;

use candor_plan::Nanos;

use super::ast::{Address, Ast, Given};
use super::job::Output;
use candor_front::{Diagnostic, Refused, Support};

pub use table::TABLE;

/// Requests of a command line in addition to its jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// Destination and formats of the results.
    pub output: Output,
    /// An action instead of running jobs.
    pub instead: Option<Instead>,
    /// Jobs that write are refused.
    pub readonly: bool,
    /// Remarks and notes are refused.
    pub warnings_fatal: bool,
    /// When to report progress.
    pub eta: Eta,
    /// Time after which progress continues on a new line.
    pub eta_newline: Option<Nanos>,
    /// Interval between two lines of progress.
    pub eta_interval: Option<Nanos>,
    /// Interval between two prints of the results so far.
    pub status_interval: Option<Nanos>,
    /// Conditions that end all jobs before their time.
    pub trigger: Trigger,
    /// Topics that are traced while jobs are read and run.
    pub debug: Vec<DebugKind>,
    /// Name prefix of the aggregate bandwidth logs, if requested.
    pub bandwidth_log: Option<String>,
    /// Requested size of memory pools, as written.
    pub pools: Option<String>,
    /// The idleness of CPUs is measured while jobs run.
    pub idle: Option<IdleKind>,
    /// Address to listen on instead of running jobs.
    pub server: Option<Address>,
    /// File for the process id of a server in the background.
    pub pid_file: Option<PathBuf>,
}

/// Format of CPU idleness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleKind {
    /// Of all together.
    System,
    /// Of each as well.
    PerCpu,
}

/// A topic of `--debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugKind {
    /// Jobs that begin and end.
    Process,
    /// Files to create and use.
    File,
    /// Operations and bytes.
    Io,
    /// Memory.
    Mem,
    /// Block traces.
    Blktrace,
    /// Blocks that were verified.
    Verify,
    /// The seed.
    Random,
    /// Options as they were read.
    Parse,
    /// Counters of devices.
    Diskutil,
    /// The plan.
    Job,
    /// Locks.
    Mutex,
    /// Profiles.
    Profile,
    /// The clock.
    Time,
    /// The network.
    Net,
    /// Rates.
    Rate,
    /// Compression of logs.
    Compress,
    /// Steadiness.
    Steadystate,
    /// The additional thread.
    Helperthread,
    /// Zones.
    Zbd,
}

impl DebugKind {
    /// All of them, by name and in fio's order.
    pub const ALL: [(&str, DebugKind); 19] = [
        ("process", DebugKind::Process),
        ("file", DebugKind::File),
        ("io", DebugKind::Io),
        ("mem", DebugKind::Mem),
        ("blktrace", DebugKind::Blktrace),
        ("verify", DebugKind::Verify),
        ("random", DebugKind::Random),
        ("parse", DebugKind::Parse),
        ("diskutil", DebugKind::Diskutil),
        ("job", DebugKind::Job),
        ("mutex", DebugKind::Mutex),
        ("profile", DebugKind::Profile),
        ("time", DebugKind::Time),
        ("net", DebugKind::Net),
        ("rate", DebugKind::Rate),
        ("compress", DebugKind::Compress),
        ("steadystate", DebugKind::Steadystate),
        ("helperthread", DebugKind::Helperthread),
        ("zbd", DebugKind::Zbd),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        DebugKind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// True if there is something to report.
    pub fn is_traced(self) -> bool {
        use DebugKind::{File, Io, Job, Parse, Process, Random, Verify};
        matches!(self, Process | File | Io | Verify | Random | Parse | Job)
    }

    /// The names, as `--debug=help` lists them.
    pub fn names() -> String {
        let names: Vec<&str> = DebugKind::ALL.iter().map(|(name, _)| *name).collect();
        format!("fio: dumping debug options:{},all\n", names.join(","))
    }
}

/// Conditions that end all jobs before their time, and the command that is run then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Once this file exists; it is removed.
    pub file: Option<PathBuf>,
    /// After this time.
    pub timeout: Option<Nanos>,
    /// A command for the shell.
    pub command: Option<String>,
}

/// When to report progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// An action instead of running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help is printed.
    Help,
    /// The version is printed.
    Version,
    /// Explain an option, or list all options.
    CommandHelp(Option<String>),
    /// List engines, or the options of one.
    EngineHelp(Option<String>),
    /// The lines of a compressed log are printed.
    InflateLog(PathBuf),
    /// The topics of `--debug` are listed.
    DebugHelp,
    /// Measure the named checksums, or all.
    CrcTest(Option<String>),
    /// The clocks of the CPUs are compared.
    ClockTest,
    /// The work that shows how idle CPUs are is measured.
    IdleCalibration,
    /// Job files are printed as command lines.
    ShowCommand,
    /// Everything is checked, and nothing run.
    ParseOnly,
    /// Block traces are merged, and nothing is run.
    MergeOnly,
}

impl Flags {
    /// Reads the flags in order. The first action other than a run decides, but help and version
    /// precede the rest.
    pub fn read(ast: &Ast) -> (Flags, Vec<Diagnostic>) {
        let mut flags = Flags::default();
        flags.output.terse_version = 3;
        let mut diagnostics = Vec::new();
        for given in &ast.flags {
            diagnostics.extend(flags.take(given).err().map(|error| *error));
        }
        (flags, diagnostics)
    }

    fn take(&mut self, given: &Given) -> Result<(), Box<Diagnostic>> {
        let Some(row) = TABLE.find(given.name) else { return Ok(()) };
        if let Support::Refused(why) = row.support {
            let message = format!("--{} cannot be done", row.name);
            let error = Diagnostic::new(given.at, "refused", row.name, message);
            return Err(Box::new(error.remedy(why)));
        }
        let text = given.value.as_ref().map_or("", |word| word.text.as_str());
        row.apply(self, Some(text)).map(|_| ()).map_err(|refused| {
            let at = given.value.as_ref().map_or(given.at, |word| word.at);
            let error = Diagnostic::new(at, "value", text, refused.message);
            Box::new(error.remedy(refused.remedy))
        })
    }

    fn instead(&mut self, what: Instead) -> Result<(), Refused> {
        self.instead.get_or_insert(what);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Format;
    use candor_front::{Span, Word};

    fn given(words: &[&str]) -> (Flags, Vec<String>) {
        let mut ast = Ast::default();
        ast.texts.add("command line", "fio");
        for word in words {
            let (name, value) = word.split_once('=').map_or((*word, None), |(n, v)| (n, Some(v)));
            let name = TABLE.find(name).expect("a flag").name;
            let at = Span { text: 0, start: 0, end: 3 };
            let value = value.map(|value| Word { text: value.to_owned(), at });
            ast.flags.push(Given { name, at, value });
        }
        let (flags, diagnostics) = Flags::read(&ast);
        (flags, diagnostics.iter().map(|diagnostic| diagnostic.describe(&ast.texts)).collect())
    }

    #[test]
    fn forms_of_output() {
        let (flags, diagnostics) = given(&["output-format=json+, normal,terse", "terse-version=5"]);
        assert_eq!(diagnostics, Vec::<String>::new());
        assert_eq!(flags.output.formats, [Format::JsonPlus, Format::Normal, Format::Terse]);
        assert_eq!(flags.output.terse_version, 5);
        assert_eq!(given(&["minimal"]).0.output.formats, [Format::Terse]);
        assert_eq!(given(&[]).0.output.terse_version, 3);
        let of = |words| given(words).0.output.file;
        assert_eq!(of(&["output=a", "output=b"]), Some("b".into()));
    }

    #[test]
    fn what_is_done_instead() {
        let of = |words| given(words).0.instead;
        assert_eq!(of(&["parse-only", "showcmd"]), Some(Instead::ParseOnly));
        assert_eq!(of(&["parse-only", "version"]), Some(Instead::Version));
        assert_eq!(of(&["cmdhelp=bs"]), Some(Instead::CommandHelp(Some("bs".into()))));
        assert_eq!(of(&["enghelp"]), Some(Instead::EngineHelp(None)));
        assert_eq!(of(&["readonly"]), None);
    }

    #[test]
    fn times_and_numbers() {
        let (flags, diagnostics) = given(&["eta-interval=5", "eta-newline=500ms", "max-jobs=x"]);
        assert_eq!(diagnostics, Vec::<String>::new());
        assert_eq!(flags.eta_interval, Some(Nanos(5_000_000_000)));
        assert_eq!(flags.eta_newline, Some(Nanos(500_000_000)));
    }

    #[test]
    fn what_is_reported_about() {
        let (flags, diagnostics) = given(&["debug=process,io", "bandwidth-log"]);
        assert_eq!(diagnostics, Vec::<String>::new());
        assert_eq!(flags.debug, [DebugKind::Process, DebugKind::Io]);
        assert_eq!(flags.bandwidth_log.as_deref(), Some("agg"));
        assert_eq!(given(&["bandwidth-log=x"]).0.bandwidth_log.as_deref(), Some("x"));
        assert_eq!(given(&["debug=all"]).0.debug.len(), DebugKind::ALL.len());
        assert_eq!(given(&["debug=help"]).0.instead, Some(Instead::DebugHelp));
        assert_eq!(given(&["crctest"]).0.instead, Some(Instead::CrcTest(None)));
    }

    #[test]
    fn values_that_make_no_sense_are_reported() {
        for (word, message) in [
            (
                "remote-config=file",
                "command line:1:1: --remote-config cannot be done; candor reads job files on the \
                 host where it starts; name the file after --client",
            ),
            (
                "output-format=jsn",
                "`jsn` is none of normal, terse, minimal, csv, json, json+; did you mean `json`",
            ),
            ("output-format=", "`` is none of"),
            ("eta=allways", "did you mean `always`"),
            ("terse-version=7", "`7` is no version of the terse line; give 2, 3, 4 or 5"),
            ("eta-newline=0", "`0` is too short; give at least 1 ms"),
            ("eta-newline=1.5", "which drops decimals"),
            ("status-interval=1ms", "`1ms` is too short; give at least 2 ms"),
            ("trigger-timeout=soon", "`soon` is not"),
            ("eta-interval=100ms", "`100ms` is too short; give at least 250 ms"),
            ("debug=foo", "`foo` is none of process, file"),
            ("server=sock:/x", "`sock:/x` is a socket of the filesystem; servers of candor"),
            ("alloc-size=many", "`many` is not a number"),
        ] {
            let (_, diagnostics) = given(&[word]);
            let first = diagnostics.first().unwrap_or_else(|| panic!("{word} is taken"));
            assert!(first.contains(message) && first.starts_with("command line:1:1: "), "{first}");
        }
    }
}
