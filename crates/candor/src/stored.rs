//! Results that were kept: reports by `--json` or in the directory of a run, and files of other
//! tools.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use candor_files::Use;
use candor_plan::{PathText, path_of};
use candor_record::results::Results;
use candor_record::{REPORT_BYTES_MAX, Report};
use clap::Arg;

use crate::{history, run_dir, screen};

/// The argument that names one.
pub fn arg() -> Arg {
    Arg::new("REPORT").required(true).help(
        "A report as --json writes it, the directory of a run, or history:NUMBER; - reads it \
             from stdin",
    )
}

/// Reads the report at a path by one of the two ways in which reports are read.
pub fn load<R>(file: &str, read: impl FnOnce(&str) -> Result<R, String>) -> Result<R, String> {
    let text = text(file, REPORT_BYTES_MAX)?;
    read(&text).map_err(|why| format!("{file} cannot be used: {why}"))
}

/// The results at a path: a report, the directory of a run, or a file of another tool. A log of fio
/// brings the logs beside it that are of the same job.
///
/// # Errors
/// A sentence with the path, and the line where one is at fault.
pub fn results(file: &str) -> Result<Results, String> {
    Ok(results_with_report(file)?.0)
}

/// The same, with the report that the results are from, where they are from one.
///
/// # Errors
/// As [`results`].
pub fn results_with_report(file: &str) -> Result<(Results, Option<Report>), String> {
    let text = match text(file, REPORT_BYTES_MAX) {
        Ok(text) => text,
        // A run of the history may be another tool's.
        Err(why) => return Ok((history::results(file).unwrap_or(Err(why))?, None)),
    };
    if is_report(&text) || path_of(file).is_dir() {
        let report =
            candor_record::read(&text).map_err(|why| format!("{file} cannot be used: {why}"))?;
        return Ok((candor_derive::results(&report), Some(report)));
    }
    let logs = candor_readers::log_set(file);
    let logs = logs.iter().filter(|log| *log == file || path_of(log).is_file());
    let logs: Vec<(String, Vec<u8>)> = logs
        .map(|log| Ok((log.clone(), self::text(log, REPORT_BYTES_MAX)?.into_bytes())))
        .collect::<Result<_, String>>()?;
    let results = if logs.is_empty() {
        candor_readers::read(file, text.as_bytes())
    } else {
        candor_readers::read_logs(&logs)
    };
    Ok((results?, None))
}

/// True for the text of a report, whatever its version.
pub fn is_report(text: &str) -> bool {
    text.contains("\"report_version\"")
}

/// True for a file that is no report. What comes by stdin, or cannot be read, is taken for one.
pub fn is_of_another_tool(file: &str) -> bool {
    let is_file = file != "-" && !path_of(file).is_dir();
    let in_history = || history::results(file).is_some_and(|results| results.is_ok());
    is_file && text(file, REPORT_BYTES_MAX).map_or_else(|_| in_history(), |text| !is_report(&text))
}

/// The text at a path, of a run's report where that is a directory, of a run of the
/// history for `history:42`, or of stdin for `-`.
pub fn text(file: &str, bytes_max: u64) -> Result<String, String> {
    if let Some(document) = history::document(file) {
        return document;
    }
    let mut bytes = Vec::new();
    let path = path_of(file);
    let path = if path.is_dir() { path.join(run_dir::JSON) } else { path };
    if file != "-" {
        let used = candor_files::uses(&path, Use::Input);
        used.map_err(|refusal| format!("{}: {refusal}", path.text()))?;
        if is_named_pipe(&path) {
            screen::tell(&format!("candor: {} is a pipe; waiting for its writer\n", path.text()));
        }
    }
    let read = match file {
        "-" => std::io::stdin().take(bytes_max + 1).read_to_end(&mut bytes),
        _ => File::open(&path).and_then(|open| open.take(bytes_max + 1).read_to_end(&mut bytes)),
    };
    let name = path.text();
    match read {
        Err(error) => Err(format!("{name} cannot be read: {error}")),
        Ok(length) if length as u64 > bytes_max => {
            Err(format!("{name} has more than {bytes_max} bytes"))
        }
        Ok(_) => String::from_utf8(bytes).map_err(|wrong| {
            let (line, column) = place(wrong.as_bytes(), wrong.utf8_error().valid_up_to());
            format!(
                "{name} is no text at line {line}, column {column}: reports and results that \
                 candor reads are JSON, CSV or logs in UTF-8"
            )
        }),
    }
}

/// True for a pipe with a name of its own, whose writer may never come. (A shell's `<(…)` has one.)
fn is_named_pipe(path: &Path) -> bool {
    let is_descriptor = path.starts_with("/dev/fd") || path.starts_with("/proc");
    !is_descriptor && path.metadata().is_ok_and(|file| file.file_type().is_fifo())
}

/// Line and column of a byte, from 1; all bytes before it are text.
fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_text_has_a_line_and_a_column() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"a = 1\n\xc3\xa4 = \xff\n").unwrap();
        let why = text(file.path().to_str().unwrap(), 100).unwrap_err();
        assert!(why.contains("is no text at line 2, column 5"), "{why}");
        assert_eq!(place(b"", 0), (1, 1));
    }
}
