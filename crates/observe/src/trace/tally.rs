//! Counts of a program for a device, a direction and an owner: an array of numbers of 8 bytes, and
//! what they mean.

use candor_record::requests::{Issuer, RequestOp, Requests};

/// Numbers of one tally.
pub const NUMBERS: usize = 928;

// Where each begins, in numbers.
pub const COUNT: usize = 0;
pub const BYTES: usize = 1;
pub const OFF_PHYSICAL: usize = 2;
pub const OFF_OPTIMAL: usize = 3;
/// Sum of all that [`LATENCIES`] holds; in the line of the cache that each completion counts in.
pub const LATENCY_NS: usize = 4;
/// One for each of [`FLAGS`].
pub const FLAGGED: usize = 5;
/// By sectors of 512 bytes behind a multiple of 4 KiB.
pub const STARTS: usize = 16;
pub const SEQUENTIAL: usize = 24;
pub const PLACED: usize = 25;
pub const SPLITS: usize = 26;
pub const LENGTH_OFF_4K: usize = 27;
/// Bytes of the requests of [`PLACED`].
pub const PLACED_BYTES: usize = 28;
/// By the power of two.
pub const SIZES_LOG2: usize = 32;
/// By the power of two of bytes.
pub const SEEKS: usize = 96;
/// By steps of 4 KiB.
pub const SIZES_4K: usize = 160;
/// By quarters of powers of two of ns.
pub const LATENCIES: usize = 416;
pub const DEVICE_LATENCIES: usize = 672;

/// Steps of a histogram of sizes by 4 KiB, the last of which has all that is larger.
pub const STEPS_4K: usize = 256;
/// Steps of a histogram of latencies.
pub const QUARTERS: usize = 256;

/// Flags of a request: the name shown and that of its bit in the kernel's `req_flag_bits`.
pub const FLAGS: [(&str, &str); 6] = [
    ("sync", "__REQ_SYNC"),
    ("meta", "__REQ_META"),
    ("fua", "__REQ_FUA"),
    ("preflush", "__REQ_PREFLUSH"),
    ("readahead", "__REQ_RAHEAD"),
    ("background", "__REQ_BACKGROUND"),
];

/// Numbers of requests by whose they are.
#[derive(Clone, Copy, Debug)]
pub struct Owners<T> {
    pub others: T,
    pub own: T,
}

impl<T> Owners<T> {
    /// Those of our own, or of others.
    pub fn of(&mut self, own: bool) -> &mut T {
        if own { &mut self.own } else { &mut self.others }
    }
}

impl Owners<[u64; NUMBERS]> {
    /// True where nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.others == [0; NUMBERS] && self.own == [0; NUMBERS]
    }
}

/// The counts of all requests by name, without who issued them. Where `is_own_known`, those of our
/// own stand in them once more.
pub fn read_all(
    device: &str,
    direction: RequestOp,
    numbers: &Owners<[u64; NUMBERS]>,
    is_own_known: bool,
) -> Requests {
    let mut sums = numbers.others;
    sums.iter_mut().zip(numbers.own).for_each(|(sum, own)| *sum = sum.wrapping_add(own));
    let own = is_own_known.then(|| Box::new(read(device, direction, &numbers.own)));
    Requests { own, ..read(device, direction, &sums) }
}

/// Requests that we issued, as the tally of ours has them: those with a place.
pub fn own_issuer(numbers: &Owners<[u64; NUMBERS]>, pid: u32) -> Option<Issuer> {
    let (count, bytes) = (numbers.own[PLACED], numbers.own[PLACED_BYTES]);
    (count > 0).then(|| {
        let command = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
        Issuer { pid, command: command.trim_end().to_owned(), count, bytes }
    })
}

/// The counts by name.
fn read(device: &str, direction: RequestOp, numbers: &[u64]) -> Requests {
    let flagged = FLAGS.iter().zip(&numbers[FLAGGED..]);
    let flagged = flagged.filter(|(_, count)| **count > 0);
    Requests {
        device: device.to_owned(),
        direction,
        count: numbers[COUNT],
        bytes: numbers[BYTES],
        counted: None,
        sizes_log2: steps(&numbers[SIZES_LOG2..][..64], |i| 1 << i),
        sizes_4k: steps(&numbers[SIZES_4K..][..STEPS_4K], |i| (i as u64 + 1) * 4096),
        starts_in_4k: steps(&numbers[STARTS..][..8], |i| i as u64 * 512),
        off_physical_sector: numbers[OFF_PHYSICAL],
        off_optimal: numbers[OFF_OPTIMAL],
        length_off_4k: numbers[LENGTH_OFF_4K],
        flags: flagged.map(|((name, _), count)| ((*name).to_owned(), *count)).collect(),
        placed: numbers[PLACED],
        sequential: numbers[SEQUENTIAL],
        splits: numbers[SPLITS],
        merged: None,
        seeks: steps(&numbers[SEEKS..][..64], |i| 1 << i),
        latency_ns_sum: numbers[LATENCY_NS],
        latency_ns: steps(&numbers[LATENCIES..][..QUARTERS], quarter),
        device_latency_ns: steps(&numbers[DEVICE_LATENCIES..][..QUARTERS], quarter),
        issuers: Vec::new(),
        own: None,
    }
}

/// Steps of a histogram that have counts, by their lowest values.
fn steps(counts: &[u64], floor: impl Fn(usize) -> u64) -> Vec<(u64, u64)> {
    let counts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    counts.map(|(i, count)| (floor(i), *count)).collect()
}

/// The floor of a quarter of a power of two.
fn quarter(i: usize) -> u64 {
    let (power, quarters) = (i / 4, i as u64 % 4 + 4);
    ((u128::from(quarters) << power) / 4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_reported_by_what_they_count() {
        let mut numbers = [0; NUMBERS];
        numbers[COUNT] = 3;
        numbers[SIZES_4K] = 2;
        numbers[SIZES_4K + 255] = 1;
        numbers[SIZES_LOG2 + 9] = 1;
        numbers[STARTS + 7] = 1;
        numbers[LATENCIES + 4 * 10 + 3] = 5;
        numbers[FLAGGED + 2] = 1;
        let seen = read("sda", RequestOp::Write, &numbers);
        assert_eq!(seen.sizes_4k, [(4096, 2), (1 << 20, 1)]);
        assert_eq!(seen.sizes_log2, [(512, 1)]);
        assert_eq!(seen.starts_in_4k, [(3584, 1)]);
        assert_eq!(seen.latency_ns, [(1792, 5)]);
        assert_eq!(seen.flags, [("fua".to_owned(), 1)]);
    }

    #[test]
    fn nothing_overlaps() {
        let parts = [
            (COUNT, 5),
            (FLAGGED, FLAGS.len()),
            (STARTS, 8),
            (SEQUENTIAL, 5),
            (SIZES_LOG2, 64),
            (SEEKS, 64),
            (SIZES_4K, STEPS_4K),
            (LATENCIES, QUARTERS),
            (DEVICE_LATENCIES, QUARTERS),
        ];
        assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        assert_eq!(DEVICE_LATENCIES + QUARTERS, NUMBERS);
    }
}
