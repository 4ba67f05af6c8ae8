//! Lines of a log.

use candor_record::Histogram;
use candor_record::histogram::{BUCKETS, bucket_low, bucket_middle};

/// Quantity in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Completion,
    Latency,
    Submission,
    Bandwidth,
    Iops,
    Histogram,
}

impl Kind {
    /// Each kind; the latency that counts comes first.
    pub const ALL: [Kind; 6] = [
        Kind::Completion,
        Kind::Submission,
        Kind::Latency,
        Kind::Bandwidth,
        Kind::Iops,
        Kind::Histogram,
    ];

    /// End of the names of its logs.
    pub fn end(self) -> &'static str {
        match self {
            Kind::Completion => "_clat",
            Kind::Submission => "_slat",
            Kind::Latency => "_lat",
            Kind::Bandwidth => "_bw",
            Kind::Iops => "_iops",
            Kind::Histogram => "_clat_hist",
        }
    }
}

/// One line.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// Job of the file that it is of, from 0.
    pub job: usize,
    /// Time in ms.
    pub at_ms: u64,
    /// Value in the unit of the kind.
    pub value: u64,
    /// Direction as fio numbers them: read, write, trim.
    pub op: u8,
    /// Bytes of the operation; 0 for a window.
    pub bytes: u64,
    /// Latencies of the window, in a log of histograms.
    pub histogram: Option<Box<Histogram>>,
}

/// Bins of a histogram: 29 groups of 64.
const BINS: usize = 29 * 64;
/// Coarsest way in which bins are put together, as a power of two.
const COARSENESS_MAX: u32 = 6;
/// Greatest count of a bin, far above that of any window, so that sums of all do not overflow.
const COUNT_MAX: u64 = 1 << 36;

impl Line {
    /// Reads a line. With `both`, the greatest value of the window stands behind its mean.
    pub fn read(text: &str, kind: Kind, both: bool) -> Result<Line, &'static str> {
        const NUMBER: &str = "a field is no number";
        let mut fields = text.split(',').map(str::trim);
        let mut number = || match fields.next() {
            None => Err("a line has at least 4 fields: time, value, direction, bytes"),
            Some(field) => field.parse::<u64>().map_err(|_| NUMBER),
        };
        let at_ms = number()?;
        let value = if kind == Kind::Histogram { 0 } else { number()? };
        if both {
            number()?;
        }
        let op = match number()? {
            op @ 0..=2 => op as u8,
            _ => return Err("a direction is 0 (read), 1 (write) or 2 (trim)"),
        };
        let bytes = number()?;
        let line = Line { job: 0, at_ms, value, op, bytes, histogram: None };
        if kind != Kind::Histogram {
            // A priority may be hexadecimal; nobody needs it.
            return Ok(line);
        }
        let bins = fields.map(|field| field.parse().map_err(|_| NUMBER));
        let histogram = Some(Box::new(histogram(&bins.collect::<Result<Vec<u64>, _>>()?)?));
        Ok(Line { histogram, bytes: 0, ..line })
    }
}

/// The histogram of a line: its bins are candor's buckets, several of them together.
fn histogram(bins: &[u64]) -> Result<Histogram, &'static str> {
    let Some(coarseness) = (0..=COARSENESS_MAX).find(|coarseness| BINS >> coarseness == bins.len())
    else {
        return Err("a histogram of fio 3 has 1856 bins, or a half, a quarter, … of them");
    };
    let mut counts = vec![0; BUCKETS];
    let middle = |bin: usize| (bin << coarseness) + (1 << coarseness) / 2;
    for (bin, count) in bins.iter().enumerate() {
        counts[middle(bin)] = *count;
    }
    if bins.iter().any(|count| *count > COUNT_MAX) {
        return Err("a count is larger than what any window holds");
    }
    let of = |bin: Option<usize>, ns: fn(usize) -> u64| bin.map(|bin| ns(middle(bin)));
    let least = of(bins.iter().position(|count| *count > 0), bucket_low).unwrap_or(u64::MAX);
    let greatest = of(bins.iter().rposition(|count| *count > 0), bucket_middle).unwrap_or(0);
    let sum =
        |(bucket, count): (usize, &u64)| u128::from(bucket_middle(bucket)) * u128::from(*count);
    let sum_ns = counts.iter().enumerate().map(sum).sum();
    Ok(Histogram::from_parts(counts, sum_ns, least, greatest))
}

/// All lines of a log. Jobs that share a file follow each other: where time goes back in one
/// direction, the next job begins.
pub fn read_all(name: &str, text: &str, kind: Kind) -> Result<Vec<Line>, String> {
    let filled = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    // With both values of a window the third field is no direction.
    let third = |line: &str| line.split(',').nth(2).and_then(|field| field.trim().parse().ok());
    let is_value = |line: &str| third(line).is_some_and(|value: u64| value > 2);
    let both = kind != Kind::Histogram && filled().any(|(_, line)| is_value(line));
    let mut latest = [0; 3];
    let (mut job, mut lines) = (0, Vec::new());
    for (nth, text) in filled() {
        let line = Line::read(text, kind, both)
            .map_err(|why| format!("{name}:{}: is no line of a log of fio: {why}", nth + 1))?;
        let op = usize::from(line.op);
        if line.at_ms < latest[op] {
            job += 1;
            latest = [0; 3];
        }
        latest[op] = line.at_ms;
        lines.push(Line { job, ..line });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_columns_of_all_versions() {
        let read = |text, both| Line::read(text, Kind::Latency, both);
        let line = |bytes| Line { job: 0, at_ms: 500, value: 800, op: 1, bytes, histogram: None };
        for text in ["500, 800, 1, 4096", "500, 800, 1, 4096, 0x4004", "500,800,1,4096,8192,0,77"] {
            assert_eq!(read(text, false), Ok(line(4096)), "{text}");
        }
        assert_eq!(read("500, 800, 900, 1, 0, 0", true), Ok(line(0)));
        for (text, word) in
            [("500, 800", "4 fields"), ("a, 1, 1, 1", "number"), ("1,1,3,1", "0 (r")]
        {
            assert!(read(text, false).expect_err(text).contains(word), "{text}");
        }
    }

    #[test]
    fn jobs_that_share_a_file_are_told_apart_by_their_time() {
        let text = "500, 1, 0, 0\n500, 1, 1, 0\n1000, 1, 0, 0\n\n400, 1, 0, 0\n900, 1, 1, 0\n";
        let lines = read_all("a_bw.log", text, Kind::Bandwidth).expect("a log");
        let jobs: Vec<usize> = lines.iter().map(|line| line.job).collect();
        assert_eq!(jobs, [0, 0, 0, 1, 1]);
        let fault = read_all("a_bw.log", "1, 1, 0, 0\n\nx\n", Kind::Bandwidth).expect_err("x");
        assert!(fault.starts_with("a_bw.log:3: is no line of a log"), "{fault}");
    }

    #[test]
    fn bins_are_buckets_however_coarse() {
        for coarseness in [0, 3, 6] {
            let mut bins = vec![0; BINS >> coarseness];
            let bin = candor_record::histogram::bucket_of(100_000) >> coarseness;
            bins[bin] = 7;
            let text: String = bins.iter().map(|count| format!(", {count}")).collect();
            let line = Line::read(&format!("500, 0, 4096{text}"), Kind::Histogram, false);
            let histogram = line.expect("a line").histogram.expect("a histogram");
            assert_eq!(histogram.count(), 7);
            let median = histogram.quantile(0.5).expect("latencies").0;
            assert!(median.abs_diff(100_000) < 100_000 >> (6 - coarseness), "{median}");
        }
        assert!(histogram(&[0; 1216]).is_err());
    }
}
