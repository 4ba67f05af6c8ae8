//! `--json-stream`: a line of JSON for each second of a run, for programs.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_plan::PathText;
use candor_record::stream::StreamLine;
use candor_record::{Event, Report};
use candor_run::RunError;
use candor_show::json;

use crate::output::Output;
use crate::{screen, version};

/// Writes the lines of a run, where they are wanted.
pub struct Streamer(Option<Sink>);

enum Sink {
    Stdout,
    File(File),
}

impl Streamer {
    /// Opens the place that `--json-stream` names.
    ///
    /// # Errors
    /// A sentence if it cannot be written.
    pub fn open(output: &Output) -> Result<Streamer, String> {
        Ok(Streamer(match &output.json_stream {
            None => None,
            Some(file) if file == Path::new("-") => Some(Sink::Stdout),
            Some(file) => {
                let opened = candor_files::stream(file);
                Some(Sink::File(
                    opened.map_err(|error| format!("--json-stream {}: {error}", file.text()))?,
                ))
            }
        }))
    }

    /// Writes the line of an event.
    pub fn take(&mut self, event: &Event) {
        if self.0.is_some()
            && let Some(line) = StreamLine::of(event, &version::short(), unix_ms())
        {
            self.write(&line);
        }
    }

    /// Writes the last line.
    pub fn close(mut self, result: &Result<Report, RunError>) {
        let (verdict, interrupted, error) = match result {
            Ok(report) => {
                let verdict = report.judgement.verdict;
                (Some(verdict), report.interrupted, report.cut_short.clone())
            }
            Err(error) => (None, false, Some(error.to_string())),
        };
        self.write(&StreamLine::End { unix_ms: unix_ms(), verdict, interrupted, error });
    }

    fn write(&mut self, line: &StreamLine) {
        let Ok(text) = json::stream_line(line) else { return };
        let written = match &mut self.0 {
            None => return,
            Some(Sink::Stdout) => screen::stream(&text),
            // In one call, so that a reader never sees half a line.
            Some(Sink::File(file)) => {
                file.write_all(text.as_bytes()).map(|()| true).map_err(|error| error.to_string())
            }
        };
        match written {
            Ok(true) => {}
            // A reader that stops early is no error.
            Ok(false) => self.0 = None,
            Err(why) => {
                screen::tell(&format!("candor: --json-stream ends: {why}\n"));
                self.0 = None;
            }
        }
    }
}

fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
