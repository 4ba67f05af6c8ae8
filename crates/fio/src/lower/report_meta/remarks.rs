//! fio's remarks about a section, before its result lines.

use std::path::Path;

use crate::lower::instance::Instance;
use crate::options::Method;
use crate::options::{self, Kind};

const SHARED: &str = "fio: multiple writers may overwrite blocks that belong to other jobs. \
    This can cause verification failures.\n";
const NEVER_READ: &str = "fio: verification read phase will never start because write phase uses \
    all of runtime\n";

/// The lines, as fio has them.
pub(in crate::lower) fn remarks(from: &Instance<'_>) -> String {
    match from.clone {
        0 => deprecated(from) + &verification(from) + &opened(from),
        _ => String::new(),
    }
}

/// Removed options that fio still accepts.
fn deprecated(from: &Instance<'_>) -> String {
    let given = from.options.given.iter().map(|(name, _)| name).filter(|name| {
        options::TABLE.find(name).is_some_and(|row| matches!(row.kind, Kind::Deprecated))
    });
    given.map(|name| format!("Option {name} is deprecated\n")).collect()
}

/// Number of files that `opendir` adds to the named ones.
fn opened(from: &Instance<'_>) -> String {
    let files = &from.options.files;
    let Some(directory) = files.opendir.as_deref().map(Path::new) else { return String::new() };
    let all = files.names.len() + from.host.files_below(directory).len();
    format!("fio: opendir added {all} files\n")
}

fn verification(from: &Instance<'_>) -> String {
    let options = from.options;
    let (verify, direction) = (&options.verify, options.rw.direction);
    if verify.method == Method::None || !verify.read_back || !direction.writes() {
        return String::new();
    }
    let shared = if options.runtime.clones > 1 && same_names(from) { SHARED } else { "" };
    let ends_by_time = options.runtime.time_based && options.runtime.runtime.0 > 0;
    let backlog = verify.backlog.is_some_and(|writes| writes > 0);
    let never = if ends_by_time && !direction.reads() && !backlog { NEVER_READ } else { "" };
    format!("{shared}{never}")
}

/// True if fio treats clones as users of the same files.
fn same_names(from: &Instance<'_>) -> bool {
    let files = &from.options.files;
    let words = ["$jobname", "$jobnum", "$filenum"];
    let apart = files.unique && words.iter().all(|word| files.format.contains(word));
    !files.names.is_empty() || !apart
}
