//! Progress: rates since the last line, and lines that are renewed in place.

use std::time::{Duration, Instant};

use candor_plan::units::{Direction, PerDirection};
use candor_record::JobSample;

use crate::screen;

/// The counts of the samples since the last line.
#[derive(Debug, Default)]
pub struct Counts {
    ops: PerDirection<u64>,
    bytes: PerDirection<u64>,
    length_ns: u64,
}

impl Counts {
    /// Adds the samples of an interval, one per job.
    pub fn add(&mut self, samples: &[JobSample]) {
        // The first covers the longest time.
        self.length_ns += samples.first().map_or(0, |first| first.sample.length_ns);
        for sample in samples.iter().map(|of| &of.sample) {
            // What has no direction, such as names made, counts with the reads.
            let directed: u64 = Direction::ALL.into_iter().map(|op| sample.ops(op)).sum();
            self.ops.read += sample.ops_done() - directed;
            for op in Direction::ALL {
                *self.ops.of_mut(op) += sample.ops(op);
                *self.bytes.of_mut(op) += sample.bytes(op);
            }
        }
    }

    /// True where no time is counted.
    pub fn is_empty(&self) -> bool {
        self.length_ns == 0
    }

    /// Operations and bytes per second.
    pub fn rates(&self) -> [PerDirection<f64>; 2] {
        let seconds = self.length_ns as f64 / 1e9;
        [&self.ops, &self.bytes].map(|counts| PerDirection {
            read: counts.read as f64 / seconds,
            write: counts.write as f64 / seconds,
            trim: counts.trim as f64 / seconds,
        })
    }
}

/// A line on stdout that is renewed in place.
#[derive(Debug)]
pub struct Line {
    interval: Duration,
    newline: Option<Duration>,
    /// When the line was written last, and when a line was ended last.
    written: Option<Instant>,
    ended: Instant,
    width: usize,
}

impl Line {
    /// A line that is renewed after each interval, and goes on in a new line after each `newline`.
    pub fn new(interval: Duration, newline: Option<Duration>) -> Line {
        Line { interval, newline, written: None, ended: Instant::now(), width: 0 }
    }

    /// True where it is time to renew the line.
    pub fn is_due(&self) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= self.interval)
    }

    /// Renews the line.
    pub fn renew(&mut self, line: &str) {
        let end = match self.newline.filter(|time| self.ended.elapsed() >= *time) {
            Some(_) => {
                self.ended = Instant::now();
                '\n'
            }
            None => '\r',
        };
        // The rest of a longer line would stand behind this one.
        say(&format!("{line:<width$}{end}", width = self.width));
        self.width = if end == '\n' { 0 } else { line.len() };
        self.written = Some(Instant::now());
    }

    /// Ends the line, so that what follows begins on one of its own.
    pub fn end(&self) {
        if self.written.is_some() {
            say("\n");
        }
    }
}

/// That nobody reads progress is no reason to stop.
fn say(text: &str) {
    let _ = screen::renewed(text);
}

#[cfg(test)]
mod tests {
    use candor_record::Sample;

    use super::*;

    fn sample(reads: u64) -> JobSample {
        let mut sample = Sample { length_ns: 500_000_000, ..Sample::default() };
        sample.of_mut(Direction::Read).ops = reads;
        JobSample { sample, ..JobSample::default() }
    }

    #[test]
    fn samples_of_one_interval_count_its_time_once() {
        let mut counts = Counts::default();
        assert!(counts.is_empty());
        counts.add(&[sample(3), sample(1)]);
        let [ops, bytes] = counts.rates();
        assert_eq!((ops.read, ops.write, bytes.read), (8.0, 0.0, 0.0));
        counts.add(&[sample(0)]);
        assert_eq!(counts.rates()[0].read, 4.0);
    }

    #[test]
    fn a_line_is_due_at_first_and_after_its_interval() {
        let mut line = Line::new(Duration::from_secs(3600), None);
        assert!(line.is_due());
        line.written = Some(Instant::now());
        assert!(!line.is_due());
        line.interval = Duration::ZERO;
        assert!(line.is_due());
    }
}
