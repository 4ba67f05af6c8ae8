//! What a tool issued, from the log that `write_iolog` makes.

use std::collections::BTreeMap;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    /// read, write or trim.
    pub action: String,
    /// Name of the file.
    pub file: String,
    /// Bytes from its start.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// The operations of a log of version 2 or 3.
pub fn read(text: &str) -> Vec<Op> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Op> {
    let words: Vec<_> = line.split_whitespace().collect();
    let at = words.iter().position(|word| matches!(*word, "read" | "write" | "trim"))?;
    let [file, action, offset, length] = words.get(at.checked_sub(1)?..at + 3)? else {
        return None;
    };
    Some(Op {
        action: (*action).to_owned(),
        file: (*file).to_owned(),
        offset: offset.parse().ok()?,
        length: length.parse().ok()?,
    })
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
            *cells.entry((op.action.clone(), op.offset * PARTS / end)).or_insert(0.0) += 1.0;
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
        let op = |i| Op { action: "read".into(), file: "f".into(), offset: offset(i), length: 1 };
        (0..1000).map(op).collect()
    };
    assert!(alike(&ops(|i| i), &ops(|i| (i * 37) % 1000)));
    assert!(!alike(&ops(|i| i), &ops(|i| i * i / 1000)));
}
