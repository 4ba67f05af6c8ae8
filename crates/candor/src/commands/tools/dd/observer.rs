//! The words on stderr while dd copies, and behind the copy.

use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

use candor_copy::{Counts, Flush, Notice, Observer, process};
use candor_dd::lines::{self, Transfer};
use candor_dd::options::{Options, Status};

use super::files::{Files, Name, cause};
use crate::screen;

/// Time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// Prints what is heard of a copy.
pub struct Closing<'a> {
    input: Name,
    output: Name,
    status: Status,
    survives_read_errors: bool,
    /// Lines that were longer than a record.
    truncated: &'a Cell<u64>,
    began: Instant,
    /// When the next line of progress is due.
    due: Duration,
    /// Length of the line of progress that the cursor stands behind.
    progress_length: usize,
}

impl<'a> Closing<'a> {
    pub fn new(options: &Options, files: &Files, truncated: &'a Cell<u64>) -> Closing<'a> {
        Closing {
            input: files.input_name.clone(),
            output: files.output_name.clone(),
            status: options.status,
            survives_read_errors: options.has("noerror"),
            truncated,
            began: Instant::now(),
            due: INTERVAL,
            progress_length: 0,
        }
    }

    /// Prints the closing lines.
    pub fn print(&mut self, counts: &Counts) {
        let text = lines::closing(&self.transfer(counts), self.status);
        self.put(&text);
    }

    fn transfer(&self, counts: &Counts) -> Transfer {
        Transfer {
            read: (counts.read_full, counts.read_partial),
            written: (counts.written_full, counts.written_partial),
            bytes: counts.bytes_written,
            truncated: self.truncated.get(),
            seconds: self.began.elapsed().as_secs_f64(),
        }
    }

    /// Prints lines below a line of progress.
    fn put(&mut self, text: &str) {
        let is_behind = std::mem::take(&mut self.progress_length) > 0;
        screen::tell(&format!("{}{text}", if is_behind { "\n" } else { "" }));
    }

    fn say(&mut self, sentence: &str) {
        self.put(&format!("dd: {sentence}\n"));
    }

    fn progress(&mut self, counts: &Counts) {
        let elapsed = self.began.elapsed();
        if elapsed < self.due {
            return;
        }
        self.due = elapsed + INTERVAL;
        let line = lines::progress(&self.transfer(counts));
        let width = self.progress_length;
        self.progress_length = line.len();
        screen::tell(&format!("\r{line:<width$}"));
    }
}

impl Observer for Closing<'_> {
    fn turn(&mut self, counts: &Counts) {
        if process::takes_info() {
            self.print(counts);
        }
        if let Some(signal) = process::interrupt() {
            self.print(counts);
            process::end_by(signal);
        }
        if self.status == Status::Progress {
            self.progress(counts);
        }
    }

    fn notice(&mut self, notice: Notice, counts: &Counts) {
        let of = |name: &Name, doing: &str, error: &io::Error| {
            format!("{doing} {}: {}", name.quoted(), cause(error))
        };
        let (input, output) = (&self.input, &self.output);
        let sentence = match &notice {
            Notice::ReadFailed(error) => of(input, "error reading", error),
            Notice::LostPlace(error) => of(input, "cannot continue after a bad block of", error),
            Notice::ShortRead(_) | Notice::SkippedLess if self.status == Status::None => return,
            Notice::ShortRead(bytes) => {
                let unit = if *bytes == 1 { "byte" } else { "bytes" };
                format!("warning: partial read ({bytes} {unit}); suggest iflag=fullblock")
            }
            Notice::SkippedLess => format!("{}: cannot skip to specified offset", input.plain()),
            Notice::CannotSkip(error) => {
                format!("{}: cannot skip: {}", input.plain(), cause(error))
            }
            Notice::CannotSeek(error) => {
                format!("{}: cannot seek: {}", output.plain(), cause(error))
            }
            Notice::GatheredWriteFailed(error) => of(output, "writing to", error),
            Notice::WriteFailed(error) => of(output, "error writing", error),
            Notice::TruncateFailed(error, bytes) => {
                let doing = format!("failed to truncate to {bytes} bytes in output file");
                of(output, &doing, error)
            }
            Notice::FlushFailed(error, Flush::Data) => of(output, "fdatasync failed for", error),
            Notice::FlushFailed(error, Flush::All) => of(output, "fsync failed for", error),
            Notice::InputPagesStay(error) => of(input, "failed to discard cache for:", error),
            Notice::OutputPagesStay(error) => of(output, "failed to discard cache for:", error),
        };
        self.say(&sentence);
        if matches!(notice, Notice::ReadFailed(_)) && self.survives_read_errors {
            self.print(counts);
        }
    }
}
