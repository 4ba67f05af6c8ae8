//! Data validation and its journal, from general parameters and the command line.

use smart_default::SmartDefault;

use crate::values::{self, Unit};
use candor_front::Refused;

/// Data validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// Write blocks with keys, and compare them when they are read.
    pub is_on: bool,
    /// Read each block directly after it is written.
    pub read_after_write: bool,
    /// Skip the read of a block before it is rewritten.
    pub no_preread: bool,
    /// Keep the time of the last good access for corruption reports.
    pub time: bool,
    /// Ignore blocks of zeros.
    pub ignore_zero_reads: bool,
}

/// Journal of the validation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Journal {
    /// Keep a journal.
    pub is_on: bool,
    /// Start a run from the journal of an earlier run.
    pub recover: bool,
    /// Do not flush the journal after each record.
    pub no_flush: bool,
    /// Save keys only at the end.
    pub map_only: bool,
    /// End the run after the recovery.
    pub recover_only: bool,
    /// Skip reading all blocks during the recovery.
    pub skip_read_all: bool,
    /// Ignore the blocks of writes that were in flight.
    pub ignore_pending: bool,
    /// Maximum size of the journal in bytes.
    pub bytes_max: Option<u64>,
}

/// Reaction to errors of I/O and of data.
#[derive(Clone, Debug, PartialEq, Eq, SmartDefault)]
pub struct DataErrors {
    /// Number of errors that ends the run.
    #[default(50)]
    pub errors_max: u64,
    /// Seconds to wait for further errors.
    pub wait_s: u64,
    /// Command to run at the first error.
    pub command: Option<String>,
    /// Remove a lun after its first error.
    pub remove_device: bool,
}

/// Reads `validate=`.
///
/// # Errors
/// A word is unknown.
pub fn validation(text: &str) -> Result<Validation, Refused> {
    const WORDS: &[&str] =
        &["no", "yes", "read_after_write", "no_preread", "time", "ignore_zero_reads"];
    let mut validation = Validation { is_on: true, ..Validation::default() };
    let words = values::words(text)?;
    if words.iter().any(|word| values::abbreviated(word, &["no"]).is_some()) {
        return Ok(Validation::default());
    }
    for word in words {
        match values::abbreviated(&word, WORDS) {
            Some("yes") => {}
            Some("read_after_write") => validation.read_after_write = true,
            Some("no_preread") => validation.no_preread = true,
            Some("time") => validation.time = true,
            Some("ignore_zero_reads") => validation.ignore_zero_reads = true,
            _ => return Err(values::no_choice(text, &word, WORDS)),
        }
    }
    Ok(validation)
}

/// Reads `journal=`.
///
/// # Errors
/// A word is unknown.
pub fn journal(text: &str) -> Result<Journal, Refused> {
    const WORDS: &[&str] = &[
        "yes",
        "recover",
        "noflush",
        "maponly",
        "only",
        "skip_read_all",
        "ignore_pending",
        "max=",
    ];
    let mut journal = Journal { is_on: true, ..Journal::default() };
    for item in values::items(text, false)? {
        if item.text == "no" {
            return Ok(Journal::default());
        }
        if let Some(bytes) = item.text.strip_prefix("max=") {
            journal.bytes_max = Some(values::whole(bytes, Unit::Size, 1..=u64::MAX >> 1)?);
            continue;
        }
        match values::abbreviated(&item.text, WORDS) {
            Some("yes") => {}
            Some("recover") => journal.recover = true,
            Some("noflush") => journal.no_flush = true,
            Some("maponly") => journal.map_only = true,
            Some("only") => journal.recover_only = true,
            Some("skip_read_all") => journal.skip_read_all = true,
            Some("ignore_pending") => journal.ignore_pending = true,
            _ => return Err(values::no_choice(text, &item.text, WORDS)),
        }
    }
    Ok(journal)
}

/// Reads `data_errors=`: a number with optional seconds, a command, or `remove_device`.
///
/// # Errors
/// A number is invalid.
pub fn data_errors(text: &str) -> Result<DataErrors, Refused> {
    let words = values::words(text)?;
    let is_number =
        words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    if !is_number {
        let command = words.first().cloned().unwrap_or_default();
        let removes = values::abbreviated(&command, &["remove_device"]).is_some();
        let none = DataErrors::default();
        return Ok(if removes {
            DataErrors { errors_max: 10_000, remove_device: true, ..none }
        } else {
            DataErrors { errors_max: 0, command: Some(command), ..none }
        });
    }
    let numbers = values::numbers(text, Unit::Time)?;
    let wait_s = numbers.get(1).map_or(0.0, |wait| wait.max(0.0)) as u64;
    Ok(DataErrors { errors_max: numbers[0].max(0.0) as u64, wait_s, ..DataErrors::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_is_on_by_any_word_but_no() {
        let of = |text| validation(text).ok();
        let on = Validation { is_on: true, ..Validation::default() };
        assert_eq!(of("yes"), Some(on));
        assert_eq!(of("read"), Some(Validation { read_after_write: true, ..on }));
        assert_eq!(
            of("(yes,no_pre,time)"),
            Some(Validation { no_preread: true, time: true, ..on })
        );
        assert_eq!(of("(yes,no)"), Some(Validation::default()));
        assert_eq!(of("perhaps"), None);
    }

    #[test]
    fn journals_have_their_words() {
        let of = |text| journal(text).ok();
        let on = Journal { is_on: true, ..Journal::default() };
        assert_eq!(of("yes"), Some(on));
        assert_eq!(of("(recover,only)"), Some(Journal { recover: true, recover_only: true, ..on }));
        assert_eq!(of("max=1m"), Some(Journal { bytes_max: Some(1 << 20), ..on }));
        assert_eq!(of("no"), Some(Journal::default()));
        assert_eq!((of("never"), of("max=x")), (None, None));
    }

    #[test]
    fn errors_are_counted_or_run_a_command() {
        let of = |text| data_errors(text).ok();
        let none = DataErrors::default();
        assert_eq!(of("5"), Some(DataErrors { errors_max: 5, ..none.clone() }));
        assert_eq!(of("(5,10)"), Some(DataErrors { errors_max: 5, wait_s: 10, ..none.clone() }));
        let command = Some("stop.sh".to_owned());
        assert_eq!(of("stop.sh"), Some(DataErrors { errors_max: 0, command, ..none.clone() }));
        let removed = DataErrors { errors_max: 10_000, remove_device: true, ..none };
        assert_eq!(of("remove"), Some(removed));
    }
}
