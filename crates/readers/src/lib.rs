//! Result files of other tools, as results that charts, comparisons and the history read.
//!
//! [`read`] recognises a file by its content: JSON of fio, elbencho, iostat and sar, CSV of
//! elbencho, logs of fio. A metric that the tool does not report is absent; remarks on the reading
//! are conditions of the results.
//!
//! ```
//! let error = candor_readers::read("run.json", b"no results").unwrap_err();
//! assert!(error.contains("run.json"));
//! ```

mod elbencho;
mod fio;
mod fio_logs;
mod intervals;
mod json;
mod sysstat;

use candor_plan::{PathText, path_of};
use candor_record::results::{Area, Condition, Results};
use jiff::Timestamp;

pub use fio_logs::{log_set, read_logs};

/// Reads the results in a file.
///
/// # Errors
/// A sentence with the name of the file, and the line where one is at fault.
pub fn read(name: &str, bytes: &[u8]) -> Result<Results, String> {
    let text = text(name, bytes)?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match first {
        _ if text.contains("\"fio version\"") => fio::read(name, text),
        _ if text.contains("\"sysstat\"") => sysstat::read(name, text),
        _ if text.contains("\"phase_type\"") => elbencho::read_json(name, text),
        _ if elbencho::is_csv(first) => elbencho::read_csv(name, text),
        _ if elbencho::is_live(first) => elbencho::read_live(name, text),
        _ if fio_logs::is_log(name, first) => read_logs(&[(name.to_owned(), bytes.to_vec())]),
        _ => Err(format!(
            "{name} holds no results that candor reads: these are reports of candor, JSON and logs \
             of fio, CSV and JSON of elbencho, and JSON of iostat and sadf"
        )),
    }
}

/// The bytes as text.
fn text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, String> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{name}:{line}: holds bytes that are no text (UTF-8)")
    })
}

/// Results of a tool as far as its file's name tells them.
fn begin(name: &str, tool: &str) -> Results {
    let path = path_of(name);
    let stem = path.file_stem().map(PathText::text);
    Results {
        tool: tool.to_owned(),
        name: stem.unwrap_or_else(|| name.to_owned()),
        conditions: vec![condition(Area::Tool, "tool", tool)],
        ..Results::default()
    }
}

/// A condition that decides what the results answer.
fn condition(area: Area, name: impl Into<String>, value: impl Into<String>) -> Condition {
    Condition { area, name: name.into(), value: value.into(), matters: true }
}

/// A remark on how the results were read.
fn remark(name: &str, value: impl Into<String>) -> Condition {
    Condition { matters: false, ..condition(Area::Tool, name, value) }
}

/// A moment in RFC 3339, in UTC.
fn moment(unix_ms: u64) -> Option<String> {
    let ms = i64::try_from(unix_ms).ok()?;
    Some(Timestamp::from_millisecond(ms).ok()?.to_string())
}

/// A moment with its offset from UTC, as elbencho and iostat write it, in ms since 1970.
fn unix_ms(text: &str) -> Option<u64> {
    let at = ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%dT%H:%M:%S%.f%:z"]
        .into_iter()
        .find_map(|format| Timestamp::strptime(format, text).ok())?;
    u64::try_from(at.as_millisecond()).ok()
}

/// Names that were given out; a name that is taken gets a number behind it.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn take(&mut self, name: &str) -> String {
        let numbered = |count: usize| format!("{name} ({count})");
        let free = |own: &String| !self.0.contains(own);
        let own = [name.to_owned()].into_iter().chain((2..).map(numbered)).find(free);
        let own = own.unwrap_or_default();
        self.0.push(own.clone());
        own
    }
}

#[cfg(test)]
mod tests;
