//! What a tool issued, from a log of its latencies.

use std::collections::BTreeMap;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    /// 0 for a read, 1 for a write, 2 for a trim.
    pub direction: u64,
    /// Bytes from the start of its file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// The operations of a log: lines of time, latency, direction, length and offset.
pub fn read(text: &str) -> Vec<Op> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Op> {
    let words: Vec<u64> =
        line.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>().ok()?;
    let [_, _, direction, length, offset, ..] = words[..] else { return None };
    Some(Op { direction, offset, length })
}

/// Parts of the offset range that are counted.
const PARTS: u64 = 8;

/// True if two runs may be draws of the same distribution over directions and parts of the range:
/// chi-square of two samples, at a probability of one in 10,000 for a false alarm.
pub fn alike(left: &[Op], right: &[Op]) -> bool {
    let end =
        left.iter().chain(right).map(|op| op.offset + op.length).max().unwrap_or(0).max(PARTS);
    let count = |ops: &[Op]| {
        let mut cells = BTreeMap::new();
        for op in ops {
            *cells.entry((op.direction, op.offset * PARTS / end)).or_insert(0.0) += 1.0;
        }
        cells
    };
    let (left, right): (BTreeMap<_, f64>, BTreeMap<_, f64>) = (count(left), count(right));
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
    // Wilson and Hilferty: chi-square is nearly normal as a cube root; 3.72 leaves 1 in 10,000.
    let degrees = f64::max(cells - 1.0, 1.0);
    let spread = 2.0 / (9.0 * degrees);
    chi < degrees * (1.0 - spread + 3.72 * spread.sqrt()).powi(3)
}

#[test]
fn a_different_distribution_is_noticed() {
    let ops = |offset: fn(u64) -> u64| -> Vec<Op> {
        let op = |i| Op { direction: 0, offset: offset(i), length: 1 };
        (0..1000).map(op).collect()
    };
    assert!(alike(&ops(|i| i), &ops(|i| (i * 37) % 1000)));
    assert!(!alike(&ops(|i| i), &ops(|i| i * i / 1000)));
}
