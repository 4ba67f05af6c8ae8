//! elbencho's results: CSV (`--csvfile`), JSON (`--jsonfile`), and the CSV of a run that goes on
//! (`--livecsv`).
//!
//! Figures are those when the last worker ended, which are of all the work.

mod json_lines;
mod live;
mod table;

use candor_plan::work::Figure;
use candor_record::results::{JobResults, Load, OpResults, PhaseResults};

use super::Names;
pub use json_lines::read_json;
pub use live::{is_live, read_live};
pub use table::{is_csv, read_csv};

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Name and figure of the I/O of a phase, if it is one that moves bytes.
fn io(phase: &str) -> Option<(&'static str, Figure)> {
    let writes = ["WRITE", "RWMIX", "MIX-T"].iter().any(|begin| phase.starts_with(begin));
    match phase {
        _ if writes => Some(("write", Figure::Write)),
        _ if phase.starts_with("READ") => Some(("read", Figure::Read)),
        _ => None,
    }
}

/// Name and figure of the entries of a phase: calls have candor's names, whole files are items.
fn entries(phase: &str) -> (String, Figure) {
    let name = match phase {
        "MKDIRS" => "mkdir",
        "STAT" => "stat",
        "RMFILES" => "unlink",
        "RMDIRS" => "rmdir",
        _ if io(phase).is_some() => return ("item".to_owned(), Figure::Item),
        _ => return (phase.to_lowercase(), Figure::Names),
    };
    (name.to_owned(), Figure::Names)
}

/// Figures of the work of a phase, or of the reads of a mix.
#[derive(Clone, Debug, Default, PartialEq)]
struct Side {
    /// Of files, directories, buckets or objects.
    entries: OpResults,
    /// Of blocks.
    io: OpResults,
}

/// The operations of a phase that occurred.
fn operations(phase: &str, main: Side, read: Option<Side>) -> Vec<OpResults> {
    let named = |(operation, figure), of: OpResults| OpResults { operation, figure, ..of };
    let owned = |(name, figure): (&str, Figure)| (name.to_owned(), figure);
    let mut all = Vec::new();
    all.extend(io(phase).map(|as_io| named(owned(as_io), main.io)));
    all.push(named(entries(phase), main.entries));
    if let Some(read) = read {
        all.push(named(owned(("read", Figure::Read)), read.io));
        all.push(named(("read items".to_owned(), Figure::Item), read.entries));
    }
    all.retain(|op| {
        let any =
            [op.ops_per_s, op.bytes_per_s, op.bytes.map(|n| n as f64), op.ops.map(|n| n as f64)];
        any.into_iter().flatten().any(|figure| figure > 0.0)
    });
    all
}

/// Phases of a file, which may be of many runs: those of one name and load are repeats.
#[derive(Default)]
struct Phases {
    names: Names,
    /// Phase as the tool calls it, load and targets, name that was given out, and repeats so far.
    known: Vec<(String, Load, String, u32)>,
    all: Vec<PhaseResults>,
}

impl Phases {
    fn push(&mut self, start_unix_ms: Option<u64>, job: JobResults, phase: &str) {
        let known =
            self.known.iter_mut().find(|(name, load, ..)| name == phase && *load == job.load);
        let (name, repeat) = match known {
            Some((_, _, name, repeats)) => {
                *repeats += 1;
                (name.clone(), *repeats)
            }
            None => {
                let name = self.names.take(phase);
                self.known.push((phase.to_owned(), job.load.clone(), name.clone(), 0));
                (name, 0)
            }
        };
        let jobs = vec![job];
        self.all.push(PhaseResults {
            name,
            repeat,
            start_unix_ms,
            jobs,
            ..PhaseResults::default()
        });
    }
}

/// The word of an access, as candor has it.
fn access(phase: &str, random: bool) -> Option<String> {
    let prefix = if random { "rand" } else { "" };
    let percent = phase.strip_prefix("RWMIX").and_then(|percent| percent.parse::<u8>().ok());
    match (io(phase)?, percent) {
        (_, Some(50)) => Some(format!("{prefix}rw")),
        (_, Some(read @ 0..=100)) => {
            let mix = candor_plan::units::Mix { read, write: 100 - read, trim: 0 };
            Some(format!("{prefix}rw {mix}"))
        }
        ((name, _), _) => Some(format!("{prefix}{name}")),
    }
}
