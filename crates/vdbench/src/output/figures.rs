//! Metrics of one or several intervals.

use candor_record::{CpuShares, Latency, Measurement, OpStats, Sample};

const NS_PER_MS: f64 = 1e6;

/// Operations of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their response times.
    pub sum_ns: u64,
    /// The longest response time.
    pub max_ns: u64,
    /// Sum of the squares of their response times, in ms².
    pub squares_ms2: f64,
}

impl Side {
    /// Adds operations.
    pub fn add(&mut self, other: &Side) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.squares_ms2 += other.squares_ms2;
    }

    /// Subtracts the first part; the maximum response time of the rest is unknown.
    fn less(&mut self, part: &Side) {
        self.ops = self.ops.saturating_sub(part.ops);
        self.bytes = self.bytes.saturating_sub(part.bytes);
        self.sum_ns = self.sum_ns.saturating_sub(part.sum_ns);
        self.squares_ms2 = (self.squares_ms2 - part.squares_ms2).max(0.0);
    }

    /// Mean response time in ms.
    pub fn response_ms(&self) -> f64 {
        per(self.sum_ns as f64 / NS_PER_MS, self.ops as f64)
    }

    /// Longest response time in ms.
    pub fn max_ms(&self) -> f64 {
        self.max_ns as f64 / NS_PER_MS
    }

    /// Standard deviation of the response times in ms.
    pub fn stddev_ms(&self) -> f64 {
        let mean = self.response_ms();
        (per(self.squares_ms2, self.ops as f64) - mean * mean).max(0.0).sqrt()
    }
}

/// A part of a whole; nothing of nothing.
fn per(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Work within some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The time.
    pub seconds: f64,
    /// Operations by their names.
    pub operations: Vec<(String, Side)>,
    /// Operations that are no part of the rate, such as opens around reads.
    pub others: Vec<(String, Side)>,
    /// The CPUs meanwhile.
    pub cpu: Option<CpuShares>,
}

impl Figures {
    /// Metrics of a job's sample; `counted` names the operations that the rate counts, if not all.
    pub fn of(sample: &Sample, counted: Option<&[&str]>) -> Figures {
        let side = |op: &candor_record::OpSample| {
            let mean_ms = per(op.latency_sum_ns as f64 / NS_PER_MS, op.ops as f64);
            // An interval too short for a distribution counts with its mean.
            let stddev_ms = op.latency_ns_stddev.unwrap_or(0) as f64 / NS_PER_MS;
            Side {
                ops: op.ops,
                bytes: op.bytes,
                sum_ns: op.latency_sum_ns,
                max_ns: op.latency_ns_max.unwrap_or((mean_ms * NS_PER_MS) as u64),
                squares_ms2: op.ops as f64 * (stddev_ms * stddev_ms + mean_ms * mean_ms),
            }
        };
        let (operations, others): (Vec<_>, Vec<_>) = sample
            .operations
            .iter()
            .partition(|op| counted.is_none_or(|counted| counted.contains(&op.name.as_str())));
        let named = |all: Vec<&candor_record::OpSample>| {
            all.into_iter().map(|op| (op.name.clone(), side(op))).collect()
        };
        Figures {
            seconds: sample.length_ns as f64 / 1e9,
            operations: named(operations),
            others: named(others),
            cpu: None,
        }
    }

    /// Of all that a job did.
    pub fn whole(measured: &Measurement, counted: Option<&[&str]>) -> Figures {
        let side = |op: &OpStats| {
            let latency = op.latency.as_ref();
            let of = |get: fn(&Latency) -> f64| latency.map_or(0.0, get);
            let (mean_ms, stddev_ms) =
                (of(|l| l.mean_ns) / NS_PER_MS, of(|l| l.stddev_ns) / NS_PER_MS);
            Side {
                ops: op.ops,
                bytes: op.bytes,
                sum_ns: (mean_ms * NS_PER_MS * op.ops as f64) as u64,
                max_ns: latency.map_or(0, |latency| latency.max_ns),
                squares_ms2: op.ops as f64 * (stddev_ms * stddev_ms + mean_ms * mean_ms),
            }
        };
        let (operations, others): (Vec<_>, Vec<_>) = measured
            .operations
            .iter()
            .partition(|op| counted.is_none_or(|counted| counted.contains(&&*op.name)));
        let named =
            |all: Vec<&OpStats>| all.into_iter().map(|op| (op.name.clone(), side(op))).collect();
        Figures {
            seconds: measured.elapsed_ns as f64 / 1e9,
            operations: named(operations),
            others: named(others),
            cpu: None,
        }
    }

    /// All but the first part of it.
    pub fn less(mut self, part: &Figures) -> Figures {
        self.seconds = (self.seconds - part.seconds).max(0.0);
        let both = [(&mut self.operations, &part.operations), (&mut self.others, &part.others)];
        for (all, parts) in both {
            for (name, side) in all {
                if let Some((_, part)) = parts.iter().find(|(known, _)| known == name) {
                    side.less(part);
                }
            }
        }
        self
    }

    /// True without operations.
    pub fn is_empty(&self) -> bool {
        self.operations.iter().chain(&self.others).all(|(_, side)| side.ops == 0)
    }

    /// Adds metrics of the same time.
    pub fn beside(&mut self, other: &Figures) {
        self.seconds = self.seconds.max(other.seconds);
        self.add(other);
    }

    /// Adds metrics of the following time.
    pub fn then(&mut self, next: &Figures) {
        let seconds = self.seconds + next.seconds;
        self.cpu = match (self.cpu, next.cpu) {
            (Some(mine), Some(theirs)) => Some(joined(mine, self.seconds, theirs, next.seconds)),
            (mine, theirs) => mine.or(theirs),
        };
        self.seconds = seconds;
        self.add(next);
    }

    fn add(&mut self, other: &Figures) {
        let both = [(&mut self.operations, &other.operations), (&mut self.others, &other.others)];
        for (all, theirs) in both {
            for (name, side) in theirs {
                match all.iter_mut().find(|(known, _)| known == name) {
                    Some((_, mine)) => mine.add(side),
                    None => all.push((name.clone(), *side)),
                }
            }
        }
    }

    /// Operations of that name.
    pub fn of_name(&self, name: &str) -> Side {
        let mut all = self.operations.iter().chain(&self.others);
        let found = all.find(|(known, _)| known == name);
        found.map_or_else(Side::default, |(_, side)| *side)
    }

    /// All operations.
    pub fn all(&self) -> Side {
        let mut all = Side::default();
        self.operations.iter().for_each(|(_, side)| all.add(side));
        all
    }

    /// Operations per second.
    pub fn rate(&self) -> f64 {
        per(self.all().ops as f64, self.seconds)
    }

    /// Megabytes per second, of that many bytes.
    pub fn megabytes(&self, megabyte: f64) -> f64 {
        per(self.all().bytes as f64 / megabyte, self.seconds)
    }

    /// Mean bytes of an operation.
    pub fn bytes_per_io(&self) -> f64 {
        let all = self.all();
        per(all.bytes as f64, all.ops as f64)
    }

    /// Share of reads in percent.
    pub fn read_percent(&self) -> f64 {
        100.0 * per(self.of_name("read").ops as f64, self.all().ops as f64)
    }

    /// Mean number of operations in flight.
    pub fn queue_depth(&self) -> f64 {
        per(self.all().sum_ns as f64 / 1e9, self.seconds)
    }
}

/// CPU time of two times together.
fn joined(mine: CpuShares, mine_s: f64, theirs: CpuShares, theirs_s: f64) -> CpuShares {
    let of = |mine: f64, theirs: f64| per(mine * mine_s + theirs * theirs_s, mine_s + theirs_s);
    CpuShares {
        user: of(mine.user, theirs.user),
        system: of(mine.system, theirs.system),
        iowait: of(mine.iowait, theirs.iowait),
        idle: of(mine.idle, theirs.idle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(seconds: f64, reads: &[f64], writes: &[f64]) -> Figures {
        let side = |times_ms: &[f64]| Side {
            ops: times_ms.len() as u64,
            bytes: 4096 * times_ms.len() as u64,
            sum_ns: (times_ms.iter().sum::<f64>() * NS_PER_MS) as u64,
            max_ns: (times_ms.iter().copied().fold(0.0, f64::max) * NS_PER_MS) as u64,
            squares_ms2: times_ms.iter().map(|ms| ms * ms).sum(),
        };
        let operations = vec![("read".to_owned(), side(reads)), ("write".to_owned(), side(writes))];
        Figures { seconds, operations, ..Figures::default() }
    }

    #[test]
    fn averages_are_those_of_all_operations() {
        let mut both = figures(1.0, &[1.0, 3.0], &[]);
        both.then(&figures(1.0, &[5.0], &[7.0]));
        assert_eq!((both.rate(), both.read_percent()), (2.0, 75.0));
        let all = both.all();
        assert_eq!((all.response_ms(), all.max_ms()), (4.0, 7.0));
        assert!((all.stddev_ms() - 5.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!((both.bytes_per_io(), both.queue_depth()), (4096.0, 0.008));
        assert_eq!(both.megabytes(4096.0), 2.0);
    }

    #[test]
    fn nothing_has_no_rate() {
        let none = Figures::default();
        assert_eq!((none.rate(), none.read_percent(), none.bytes_per_io()), (0.0, 0.0, 0.0));
        assert_eq!(none.all().stddev_ms(), 0.0);
    }
}
