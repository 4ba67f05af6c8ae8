//! Histograms of response times.

use candor_record::Histogram as Counts;
use candor_record::histogram::bucket_middle;

use crate::definitions::general::Buckets;

/// Longest bar.
const BAR: usize = 50;

/// Response times of reads, of writes, and of all.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Of reads.
    pub reads: Option<Counts>,
    /// Of writes.
    pub writes: Option<Counts>,
    /// Of other operations on files.
    pub others: Option<Counts>,
}

impl Histogram {
    /// Adds others.
    pub fn add(&mut self, other: &Histogram) {
        merge(&mut self.reads, &other.reads);
        merge(&mut self.writes, &other.writes);
        merge(&mut self.others, &other.others);
    }

    fn all(&self) -> Option<Counts> {
        let mut all = self.reads.clone();
        merge(&mut all, &self.writes);
        merge(&mut all, &self.others);
        all
    }

    /// The tables.
    pub(super) fn text(&self, title: &str, buckets: &Buckets) -> String {
        let parts = [
            ("Reads", self.reads.clone()),
            ("Writes", self.writes.clone()),
            ("Other operations", self.others.clone()),
        ];
        let filled: Vec<_> =
            parts.into_iter().filter_map(|(of, counts)| Some((of, counts?))).collect();
        let mut text = String::new();
        if filled.len() > 1 {
            let all = if self.others.is_some() { "All operations" } else { "Reads and Writes" };
            text += &table(title, all, self.all().as_ref(), buckets);
        }
        for (of, counts) in &filled {
            text += &table(title, of, Some(counts), buckets);
        }
        text
    }
}

fn merge(mine: &mut Option<Counts>, theirs: &Option<Counts>) {
    match (mine.as_mut(), theirs) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (None, Some(theirs)) => *mine = Some(theirs.clone()),
        (_, None) => {}
    }
}

fn table(title: &str, of: &str, counts: Option<&Counts>, buckets: &Buckets) -> String {
    let Some(counts) = counts.filter(|counts| counts.count() > 0) else { return String::new() };
    let ends_ns = buckets.ends_us.iter().map(|us| us.saturating_mul(1000));
    let ends: Vec<u64> = ends_ns.chain([u64::MAX]).collect();
    let mut per_bucket = vec![0_u64; ends.len()];
    for (low, number) in counts.filled() {
        let at_ns = bucket_middle(low);
        per_bucket[ends.partition_point(|end| *end <= at_ns)] += number;
    }
    let all = counts.count() as f64;
    let shown = shown(&per_bucket, buckets.suppress);
    let mut text = format!("\n{title}: {of}\n\n");
    text += &format!(
        " {:>8}   {:>11} {:>12} {:>8} {:>8}\n",
        "min(ms)", "max(ms)", "count", "%", "cum%"
    );
    let (mut low_ms, mut so_far) = (0.0, 0_u64);
    for (nth, (end, number)) in ends.iter().zip(&per_bucket).enumerate() {
        so_far += number;
        let is_last = nth + 1 == ends.len();
        let high = if is_last { "max".to_owned() } else { format!("{:.3}", *end as f64 / 1e6) };
        if shown.contains(&nth) {
            let share = *number as f64 / all;
            text += &format!(
                " {low_ms:8.3} < {high:>11} {number:12} {:8.4} {:8.4}  {}\n",
                100.0 * share,
                100.0 * so_far as f64 / all,
                bar(share)
            );
        }
        low_ms = *end as f64 / 1e6;
    }
    text
}

/// Visible buckets.
fn shown(per_bucket: &[u64], suppress: bool) -> std::ops::Range<usize> {
    let first = per_bucket.iter().position(|number| *number > 0).unwrap_or(0);
    let last = per_bucket.iter().rposition(|number| *number > 0).unwrap_or(0);
    if suppress { first..last + 1 } else { 0..per_bucket.len() }
}

fn bar(share: f64) -> String {
    "+".repeat((share * BAR as f64).round() as usize)
}
