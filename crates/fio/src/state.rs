//! State files: where the writing of a job ended, for a later verification.
//!
//! Numbers are little-endian. Header (24 bytes): version 3, length of the rest, its CRC-32C without
//! final inversion. The rest starts with 152 bytes: number of entries, depth (4 bytes), number of
//! files (4), issued writes, number of the job, the generator's state (56), the job's name (64). An
//! entry per completed write follows, latest first: file and offset.

use std::path::{Path, PathBuf};

use candor_plan::blocks::{Finished, Written};
use candor_plan::{Bytes, path_of};
use candor_record::{LastWrites, Measurement, Report};

use super::job::{FioJob, SavedWrites, StateFile};

const VERSION: u64 = 3;
const HEAD_BYTES: usize = 24;
const FIXED_BYTES: usize = 152;
const RANDOM_BYTES: usize = 56;
const NAME_BYTES: usize = 64;
const ENTRY_BYTES: usize = 16;
/// Marks unused bytes of the generator's state.
const OWN_MARK: &[u8; 8] = b"candor\0\0";
/// More than any file of state has.
pub(super) const BYTES_MAX: usize = 64 << 20;

/// The file of a job: `number` counts all jobs from 0.
pub(super) fn path(directory: Option<&str>, job: &str, number: u64) -> PathBuf {
    let name = format!("local-{}-{number}-verify.state", job.replace('/', "."));
    directory.map_or_else(PathBuf::new, path_of).join(path_of(&name))
}

/// Every file that is to be saved, with its bytes.
pub fn files<'a>(
    report: &'a Report,
    jobs: &'a [FioJob],
) -> impl Iterator<Item = (&'a Path, Vec<u8>)> + 'a {
    jobs.iter().filter_map(|job| {
        let file = job.state.as_ref()?;
        let measured = measured(report, job)?;
        let last = measured.verify.as_ref()?.last_writes.as_ref()?;
        Some((file.path.as_path(), encoded(job, file, &held(last, file.holds, measured))))
    })
}

fn measured<'a>(report: &'a Report, job: &FioJob) -> Option<&'a Measurement> {
    let phases = report.phases.iter().filter(|phase| phase.phase == job.phase);
    phases.filter_map(|phase| phase.measurements.get(job.job)).next_back()
}

/// Writes in a state. The final sync succeeded if only operations failed.
fn held(last: &LastWrites, holds: SavedWrites, measured: &Measurement) -> LastWrites {
    let flushed = || measured.errors.iter().all(|failure| failure.op.is_some());
    match holds {
        SavedWrites::Synced { at_end } if !(at_end && flushed()) => {
            LastWrites { issued: last.synced_issued, finished: last.synced.clone(), ..last.clone() }
        }
        _ => last.clone(),
    }
}

fn encoded(job: &FioJob, file: &StateFile, last: &LastWrites) -> Vec<u8> {
    let mut body = Vec::with_capacity(FIXED_BYTES + ENTRY_BYTES * last.finished.len());
    body.extend((last.finished.len() as u64).to_le_bytes());
    body.extend(file.depth.to_le_bytes());
    body.extend(last.files.to_le_bytes());
    body.extend(last.issued.to_le_bytes());
    body.extend(u64::from(job.number.saturating_sub(1)).to_le_bytes());
    body.resize(body.len() + RANDOM_BYTES - OWN_MARK.len(), 0);
    body.extend(OWN_MARK);
    // The last byte of a name stays 0.
    let name = job.name.as_bytes();
    body.extend(&name[..name.len().min(NAME_BYTES - 1)]);
    body.resize(FIXED_BYTES, 0);
    for write in &last.finished {
        body.extend(u64::from(write.file).to_le_bytes());
        body.extend(write.offset.to_le_bytes());
    }
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    for number in [VERSION, body.len() as u64, u64::from(crc32c(&body))] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(body);
    bytes
}

/// A file of state as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// End of writing.
    pub written: Written,
    /// candor wrote it, and so draws the same offsets again.
    pub own: bool,
}

/// Reads a file of state; a sentence if it is none.
pub(super) fn decoded(bytes: &[u8]) -> Result<Loaded, String> {
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).and_then(|field| field.try_into().ok()).map(u64::from_le_bytes)
    };
    let body = bytes
        .get(HEAD_BYTES..)
        .filter(|body| body.len() >= FIXED_BYTES)
        .ok_or_else(|| format!("it ends after {} bytes", bytes.len()))?;
    let head = |at| number(bytes, at).unwrap_or(0);
    if head(0) != VERSION {
        return Err(format!("it is of version {}, and {VERSION} is known", head(0)));
    }
    if head(8) != body.len() as u64 {
        return Err(format!("{} bytes follow its head, not {}", body.len(), head(8)));
    }
    if head(16) != u64::from(crc32c(body)) {
        return Err("its checksum does not match".into());
    }
    let (first, depths) = (number(body, 0).unwrap_or(0), number(body, 8).unwrap_or(0));
    let entries = &body[FIXED_BYTES..];
    if first.checked_mul(ENTRY_BYTES as u64) != Some(entries.len() as u64) {
        return Err(format!("it has {} bytes of {first} entries", entries.len()));
    }
    let mark = 32 + RANDOM_BYTES;
    Ok(Loaded {
        written: Written {
            ops: number(body, 16).unwrap_or(0),
            window: depths & u64::from(u32::MAX),
            finished: entries
                .chunks_exact(ENTRY_BYTES)
                .map(|entry| Finished {
                    file: u32::try_from(number(entry, 0).unwrap_or(0)).unwrap_or(u32::MAX),
                    offset: Bytes(number(entry, 8).unwrap_or(0)),
                })
                .collect(),
        },
        own: &body[mark - OWN_MARK.len()..mark] == OWN_MARK,
    })
}

fn crc32c(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

#[cfg(test)]
pub(super) mod tests {
    use candor_record::{FinishedWrite, IoFailure};
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn state(finished: &[(u32, u64)]) -> Vec<u8> {
        let job = FioJob { name: "w".into(), number: 1, ..FioJob::default() };
        let file = StateFile { depth: 4, ..StateFile::default() };
        let finished = finished
            .iter()
            .map(|(file, offset)| FinishedWrite { file: *file, offset: *offset })
            .collect();
        encoded(
            &job,
            &file,
            &LastWrites { issued: 16, files: 1, finished, ..LastWrites::default() },
        )
    }

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let bytes = state(&[(0, 61440), (1, 4096)]);
        assert_eq!(bytes.len(), 176 + 32);
        let loaded = decoded(&bytes).expect("a state");
        assert!(loaded.own);
        assert_eq!((loaded.written.ops, loaded.written.window), (16, 4));
        let places: Vec<_> = loaded.written.finished.iter().map(|f| (f.file, f.offset.0)).collect();
        assert_eq!(places, [(0, 61440), (1, 4096)]);
        assert_eq!(path(Some("d"), "a/b", 3), Path::new("d/local-a.b-3-verify.state"));
        assert_eq!(path(None, "a", 0), Path::new("local-a-0-verify.state"));
    }

    #[test]
    fn a_state_may_hold_what_was_synced_alone() {
        let write = |offset| FinishedWrite { file: 0, offset };
        let last = LastWrites {
            issued: 9,
            files: 1,
            finished: vec![write(8)],
            synced_issued: 4,
            synced: vec![write(3)],
        };
        let mut measured = Measurement::default();
        let issued = |holds, measured: &Measurement| held(&last, holds, measured).issued;
        assert_eq!(issued(SavedWrites::Completed, &measured), 9);
        let synced = held(&last, SavedWrites::Synced { at_end: false }, &measured);
        assert_eq!((synced.issued, &synced.finished[..]), (4, &[write(3)][..]));
        let at_end = SavedWrites::Synced { at_end: true };
        assert_eq!(issued(at_end, &measured), 9);
        measured.errors.push(IoFailure {
            op: None,
            path: "f".into(),
            offset: 0,
            errno: 5,
            message: "Input/output error".into(),
            count: 1,
        });
        assert_eq!(issued(at_end, &measured), 4);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let mut damaged = state(&[(0, 1)]);
        damaged[180] ^= 1;
        let mut older = state(&[]);
        older[0] = 2;
        let cases = [
            (Vec::new(), "it ends after 0 bytes"),
            (damaged, "checksum"),
            (older, "of version 2"),
            ([state(&[]), vec![0]].concat(), "153 bytes follow its head, not 152"),
        ];
        for (bytes, message) in cases {
            let why = decoded(&bytes).expect_err("no state");
            assert!(why.contains(message), "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = decoded(&bytes);
            // The same with a correct header.
            let mut whole = Vec::new();
            for number in [VERSION, bytes.len() as u64, u64::from(crc32c(&bytes))] {
                whole.extend(number.to_le_bytes());
            }
            whole.extend(&bytes);
            let _ = decoded(&whole);
        }
    }
}
