//! Notes on metrics that differ from elbencho's.

use super::PhaseResult;
use super::figures::EntryNoun;
use crate::setup::{PathKind, PhaseKind};

/// Differences that occur in the results so far.
#[derive(Clone, Debug, Default)]
pub struct Notes([bool; NOTES.len()]);

impl Notes {
    /// Adds the differences of a result.
    pub fn add(&mut self, result: &PhaseResult<'_>) {
        for (noted, note) in self.0.iter_mut().zip(NOTES) {
            *noted |= (note.applies)(result);
        }
    }

    /// Lines to print below the table.
    pub fn text(&self) -> String {
        let noted = self.0.iter().zip(NOTES).filter(|(noted, _)| **noted);
        noted.map(|(_, note)| format!("Note: {}\n", note.sentence)).collect()
    }
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
            let workers = result.setup.asked.threads_of_all();
            result.phase.kind == PhaseKind::RemoveFiles && is_shared && workers > 1
        },
        sentence: "RMFILES counts each file once for each thread: all threads try to remove it.",
    },
    Note {
        applies: |result| {
            let removes = [PhaseKind::RemoveFiles, PhaseKind::RemoveDirs];
            result.setup.asked.tree.no_delete_errors && removes.contains(&result.phase.kind)
        },
        sentence: "with --nodelerr, counts of removals include names that were missing.",
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
        applies: |result| result.setup.asked.s3.requests.ignore_errors,
        sentence: "with --s3ignoreerrors, failed requests are in no count; elbencho counts them.",
    },
    Note {
        applies: |result| result.phase.kind.is_of_keys(),
        sentence: "IOPS and IO latency of lists and deletions count requests, each with many keys.",
    },
    Note {
        applies: |result| result.setup.store.is_some() && result.setup.asked.s3.access.insecure,
        sentence: "certificates of servers were not verified.",
    },
    Note {
        applies: |result| result.setup.asked.output.operations_log.is_some(),
        sentence: "each operation was logged: rates and latencies are those with --opslog.",
    },
    Note {
        applies: |result| result.figures.first_is_unknown,
        sentence: "counts at the first thread's end are not known: FIRST DONE repeats the last.",
    },
];
