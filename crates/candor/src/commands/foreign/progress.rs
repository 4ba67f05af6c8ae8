//! Progress: rates since the last line, and lines that are renewed in place.

use std::time::{Duration, Instant};

use candor_plan::units::{Direction, PerDirection};
use candor_record::Sample;

use crate::screen;

/// The counts of the samples since the last line.
#[derive(Debug, Default)]
pub struct Counts {
    ops: PerDirection<u64>,
    bytes: PerDirection<u64>,
    length_ns: u64,
    tick_ns: u64,
}

impl Counts {
    /// True for the first sample of an interval. The samples of one interval come one job after
    /// the other, so that all of the interval before is counted then.
    pub fn begins_interval(&self, sample: &Sample) -> bool {
        sample.at_ns != self.tick_ns
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &Sample) {
        if self.begins_interval(sample) {
            self.tick_ns = sample.at_ns;
            self.length_ns += sample.length_ns;
        }
        // What has no direction, such as names made, counts with the reads.
        let directed: u64 = Direction::ALL.into_iter().map(|op| sample.ops(op)).sum();
        self.ops.read += sample.ops_done() - directed;
        for op in Direction::ALL {
            *self.ops.of_mut(op) += sample.ops(op);
            *self.bytes.of_mut(op) += sample.bytes(op);
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

    /// Begins again behind the samples so far.
    pub fn restart(&mut self) {
        *self = Counts { tick_ns: self.tick_ns, ..Counts::default() };
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
    let _ = screen::data(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ns: u64, reads: u64) -> Sample {
        let mut sample = Sample { at_ns, length_ns: 500_000_000, ..Sample::default() };
        sample.of_mut(Direction::Read).ops = reads;
        sample
    }

    #[test]
    fn samples_of_one_interval_count_its_time_once() {
        let mut counts = Counts::default();
        assert!(counts.is_empty());
        counts.add(&sample(500, 3));
        assert!(!counts.begins_interval(&sample(500, 1)));
        counts.add(&sample(500, 1));
        assert!(counts.begins_interval(&sample(1000, 0)));
        let [ops, bytes] = counts.rates();
        assert_eq!((ops.read, ops.write, bytes.read), (8.0, 0.0, 0.0));
        counts.restart();
        assert!(counts.is_empty() && !counts.begins_interval(&sample(500, 1)));
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
