//! Bytes and objects over time, on a grid of segments that begins in 1970.

use std::collections::VecDeque;

use super::Request;
use crate::report::{Segment, SegmentCounts};

/// Most segments of all series of a file together: some 300 MB.
const SEGMENTS_MAX: usize = 1 << 22;

/// Segments that series may still add.
pub struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { left: SEGMENTS_MAX }
    }
}

/// Segments from the earliest request to the latest.
#[derive(Default)]
pub struct Series {
    /// Number of the first segment.
    base: i64,
    cells: VecDeque<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    bytes: f64,
    objects: f64,
    errors: u64,
    counts: SegmentCounts,
}

impl Series {
    /// Adds a request to the segments that it overlaps.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn add(
        &mut self,
        request: &Request<'_>,
        segment_ns: u64,
        budget: &mut Budget,
    ) -> Result<(), String> {
        // A length above i64::MAX makes one segment of all times.
        let length = i64::try_from(segment_ns).unwrap_or(i64::MAX);
        let first = request.start_ns.div_euclid(length);
        let last = request.end_ns.div_euclid(length);
        self.reach(first, budget)?;
        self.reach(last, budget)?;
        let from = (first - self.base) as usize;
        let to = (last - self.base) as usize;
        self.cells[from].counts.started += 1;
        self.cells[to].counts.ended += 1;
        if !request.error.is_empty() {
            self.cells[to].errors += 1;
            return Ok(());
        }
        if from == to {
            let cell = &mut self.cells[from];
            cell.counts.full += 1;
            cell.bytes += request.bytes as f64;
            cell.objects += request.objects as f64;
            return Ok(());
        }
        let whole = request.latency_ns() as f64;
        for (nth, cell) in self.cells.range_mut(from..=to).enumerate() {
            let start = i128::from(first + nth as i64) * i128::from(length);
            let end = (start + i128::from(length)).min(i128::from(request.end_ns));
            let share = (end - start.max(i128::from(request.start_ns))) as f64 / whole;
            cell.counts.partial += 1;
            cell.bytes += request.bytes as f64 * share;
            cell.objects += request.objects as f64 * share;
        }
        Ok(())
    }

    /// Makes the series contain a segment.
    fn reach(&mut self, number: i64, budget: &mut Budget) -> Result<(), String> {
        if self.cells.is_empty() {
            self.base = number;
        }
        let before = self.base.saturating_sub(number).max(0);
        let end = self.base + self.cells.len() as i64;
        let after = number.saturating_sub(end).saturating_add(1).max(0);
        let more = usize::try_from(before.max(after)).unwrap_or(usize::MAX);
        let Some(left) = budget.left.checked_sub(more) else {
            return Err(format!(
                "makes more than {SEGMENTS_MAX} segments; check its times, or give longer \
                 segments with --analyze.dur"
            ));
        };
        budget.left = left;
        (0..before).for_each(|_| self.cells.push_front(Cell::default()));
        (0..after).for_each(|_| self.cells.push_back(Cell::default()));
        self.base = self.base.min(number);
        Ok(())
    }

    /// The whole segments between two times in which the series has requests.
    pub fn segments(&self, from_ns: i64, to_ns: i64, segment_ns: u64) -> Vec<Segment> {
        let length = i64::try_from(segment_ns).unwrap_or(i64::MAX);
        let is_begun = from_ns.rem_euclid(length) > 0;
        let first = from_ns.div_euclid(length) + i64::from(is_begun);
        let end = to_ns.div_euclid(length);
        let cells = self.cells.iter().zip(self.base..);
        let inside = cells.filter(|(_, number)| (first..end).contains(number));
        let segments = inside.map(|(cell, number)| Segment {
            start_ns: number.saturating_mul(length),
            bytes: cell.bytes,
            objects: cell.objects,
            errors: cell.errors,
            counts: Some(cell.counts),
        });
        segments.collect()
    }
}
