//! Where a figure is not the one that elbencho would print.

use super::PhaseResult;
use super::figures::EntryNoun;
use crate::elbencho::setup::{PathKind, PhaseKind};

/// One line for each difference that occurs in these results, below the table.
pub fn notes(results: &[PhaseResult<'_>]) -> String {
    let applies = |note: &&Note| results.iter().any(|result| (note.applies)(result));
    NOTES.iter().filter(applies).map(|note| format!("Note: {}\n", note.sentence)).collect()
}

/// A difference.
struct Note {
    applies: fn(&PhaseResult<'_>) -> bool,
    sentence: &'static str,
}

const NOTES: &[Note] = &[
    Note {
        applies: |result| {
            let is_shared = result.setup.path_kind == PathKind::File;
            let workers = result.setup.asked.run.threads;
            result.phase.kind == PhaseKind::RemoveFiles && is_shared && workers > 1
        },
        sentence: "RMFILES counts each file once; elbencho counts it once for each thread.",
    },
    Note {
        applies: |result| {
            let removes = [PhaseKind::RemoveFiles, PhaseKind::RemoveDirs];
            result.setup.asked.tree.no_delete_errors && removes.contains(&result.phase.kind)
        },
        sentence: "names that were not there are in no count; elbencho counts them as removed.",
    },
    Note {
        applies: |result| {
            let asked = &result.setup.asked.output;
            let shown = asked.latency || asked.percentiles || asked.histogram;
            let fills = result.setup.asked.data.variance_percent > 0;
            result.phase.kind == PhaseKind::Write && shown && fills
        },
        sentence: "latencies of writes leave out the time to fill blocks; elbencho's contain it.",
    },
    Note {
        applies: |result| {
            let shares = result.setup.listed.as_ref().is_some_and(|listed| listed.shared_files > 0);
            shares && result.figures.noun == Some(EntryNoun::Files)
        },
        sentence: "files above the share size are in all counts, once; elbencho leaves them out.",
    },
    Note {
        applies: |result| result.figures.first_is_unknown,
        sentence: "counts at the first thread's end are not known: FIRST DONE repeats the last.",
    },
];
