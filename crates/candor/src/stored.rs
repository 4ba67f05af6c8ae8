//! Reports that were kept: by `--json`, or in the directory of a run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use candor_record::REPORT_BYTES_MAX;
use clap::Arg;

use crate::run_dir;

/// The argument that names one.
pub fn arg() -> Arg {
    Arg::new("REPORT")
        .required(true)
        .help("A report as --json writes it, or the directory of a run; - reads it from stdin")
}

/// Reads the report at a path by one of the two ways in which reports are read.
pub fn load<R>(file: &str, read: impl FnOnce(&str) -> Result<R, String>) -> Result<R, String> {
    let text = text(file, REPORT_BYTES_MAX)?;
    read(&text).map_err(|why| format!("{file} cannot be used: {why}"))
}

/// The text at a path, of a run's report where that is a directory, or of stdin for `-`.
pub fn text(file: &str, bytes_max: u64) -> Result<String, String> {
    let mut text = String::new();
    let path = Path::new(file);
    let path = if path.is_dir() { path.join(run_dir::JSON) } else { path.to_owned() };
    let read = match file {
        "-" => std::io::stdin().take(bytes_max + 1).read_to_string(&mut text),
        _ => File::open(&path).and_then(|open| open.take(bytes_max + 1).read_to_string(&mut text)),
    };
    match read {
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
        Ok(bytes) if bytes as u64 > bytes_max => {
            Err(format!("{} has more than {bytes_max} bytes", path.display()))
        }
        Ok(_) => Ok(text),
    }
}
