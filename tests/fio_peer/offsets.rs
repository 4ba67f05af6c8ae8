//! Operations that a tool issued, from a log of its latencies.

use std::collections::BTreeMap;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Direction {
    /// 0 for a read, 1 for a write, 2 for a trim.
    pub direction: u64,
    /// Bytes from the start of its file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// The operations of a log: lines of time, latency, direction, length and offset.
pub fn read(text: &str) -> Vec<Direction> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Direction> {
    let words: Vec<u64> =
        line.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>().ok()?;
    let [_, _, direction, length, offset, ..] = words[..] else { return None };
    Some(Direction { direction, offset, length })
}

/// Parts of the offset range that are counted.
const PARTS: u64 = 8;

/// True if two runs may be draws of the same distribution, at a probability of one in 10,000 for a
/// false alarm each: over directions and parts of the range (chi-square of two samples), and over
/// going on behind the last operation of a direction and jumping (binomial).
///
/// An operation that goes on tells nothing new of where operations are, so that only the others are
/// counted by part: what hangs together would look like another distribution.
pub fn alike(left: &[Direction], right: &[Direction]) -> bool {
    let end =
        left.iter().chain(right).map(|op| op.offset + op.length).max().unwrap_or(0).max(PARTS);
    let count = |ops: &[Direction]| {
        let mut cells = BTreeMap::new();
        for op in jumps(ops) {
            *cells.entry((op.direction, op.offset * PARTS / end)).or_insert(0.0) += 1.0;
        }
        cells
    };
    let in_order = [left, right].map(|ops| (ops.len() - jumps(ops).len()) as f64);
    alike_shares(in_order, [left.len() as f64, right.len() as f64])
        && alike_cells(&count(left), &count(right))
}

/// Operations that do not begin where the last one of their direction ended.
fn jumps(ops: &[Direction]) -> Vec<&Direction> {
    let mut ends = BTreeMap::new();
    let jumps = ops.iter().filter(|op| {
        let last = ends.insert(op.direction, op.offset + op.length);
        last != Some(op.offset)
    });
    jumps.collect()
}

/// One in 10,000 draws of the normal distribution is farther off than this, on one side.
const FAR: f64 = 3.72;

/// Share of operations that may go on in one tool only: where a block is taken already, fio slides
/// to the next free one, so that the last of a pass often follow each other.
const SLIDES: f64 = 0.03;

/// True if both may be the same share of those that there are.
fn alike_shares(counts: [f64; 2], of: [f64; 2]) -> bool {
    let all = of[0] + of[1];
    if of[0] == 0.0 || of[1] == 0.0 {
        return of[0] == of[1];
    }
    let share = (counts[0] + counts[1]) / all;
    let spread = (share * (1.0 - share) * (1.0 / of[0] + 1.0 / of[1])).sqrt();
    (counts[0] / of[0] - counts[1] / of[1]).abs() <= FAR * spread + SLIDES
}

type Cells = BTreeMap<(u64, u64), f64>;

fn alike_cells(left: &Cells, right: &Cells) -> bool {
    let (n, m): (f64, f64) = (left.values().sum(), right.values().sum());
    if n == 0.0 || m == 0.0 {
        return n == m;
    }
    let mut chi = 0.0;
    let mut cells = 0.0;
    let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
    for key in keys {
        let (a, b) = (left.get(key).unwrap_or(&0.0), right.get(key).unwrap_or(&0.0));
        chi += ((m / n).sqrt() * a - (n / m).sqrt() * b).powi(2) / (a + b);
        cells += 1.0;
    }
    // Wilson and Hilferty: chi-square is nearly normal as a cube root.
    let degrees = f64::max(cells - 1.0, 1.0);
    let spread = 2.0 / (9.0 * degrees);
    chi < degrees * (1.0 - spread + FAR * spread.sqrt()).powi(3)
}

#[test]
fn a_different_distribution_is_noticed() {
    fn ops(offset: fn(u64) -> u64) -> Vec<Direction> {
        (0..1000).map(|i| Direction { direction: 0, offset: offset(i), length: 1 }).collect()
    }
    let even = ops(|i| (i * 37) % 1000);
    assert!(alike(&ops(|i| (i * 191) % 1000), &even));
    assert!(!alike(&even, &ops(|i| ((i * 37) % 1000).pow(2) / 1000)));
    assert!(!alike(&even, &ops(|i| i)), "in order");
    fn runs(of: u64) -> Vec<Direction> {
        (0..1000)
            .map(|i| Direction { direction: 0, offset: (i / of * 370 + i % of) % 1000, length: 1 })
            .collect()
    }
    assert!(alike(&runs(2), &runs(2)) && !alike(&runs(2), &runs(3)));
}
