//! Speed of the checksums of verification on this host, as fio's `--crctest` prints it.

use std::time::{Duration, Instant};

use candor_bytes::verify::checksums::{SUM_BYTES_MAX, Summer};
use candor_plan::blocks::Sum;

/// As much is summed at once.
const BUFFER_BYTES: usize = 128 << 10;
/// For so long.
const TIME: Duration = Duration::from_millis(100);

/// The sums, in fio's order and with its names.
const SUMS: [(&str, Sum); 14] = [
    ("md5", Sum::Md5),
    ("crc64", Sum::Crc64),
    ("crc32", Sum::Crc32),
    ("crc32c", Sum::Crc32c),
    ("crc16", Sum::Crc16),
    ("crc7", Sum::Crc7),
    ("sha1", Sum::Sha1),
    ("sha256", Sum::Sha256),
    ("sha512", Sum::Sha512),
    ("xxhash", Sum::Xxhash),
    ("sha3-224", Sum::Sha3_224),
    ("sha3-256", Sum::Sha3_256),
    ("sha3-384", Sum::Sha3_384),
    ("sha3-512", Sum::Sha3_512),
];

/// The names of all sums, one per line.
pub fn names() -> String {
    SUMS.iter().map(|(name, _)| format!("{name}\n")).collect()
}

/// Measures the sums named, separated by commas, or all; a line for each, given to `show` as it
/// comes.
///
/// # Errors
/// A name that is none.
pub fn measure(kinds: Option<&str>, mut show: impl FnMut(&str)) -> Result<(), String> {
    let named = |name: &str| kinds.is_none_or(|kinds| kinds.split(',').any(|kind| kind == name));
    let known = |kind: &&str| SUMS.iter().any(|(name, _)| name == kind);
    if let Some(wrong) = kinds.into_iter().flat_map(|kinds| kinds.split(',')).find(|k| !known(k)) {
        return Err(format!("unknown hash `{wrong}`. Available:"));
    }
    for (name, sum) in SUMS.into_iter().filter(|(name, _)| named(name)) {
        // Two tabs unless the name fills the first.
        let tabs = if name.len() < 8 { "\t\t" } else { "\t" };
        show(&format!("{name}:{tabs}{:8.2} MiB/sec\n", mib_per_s(sum)));
    }
    Ok(())
}

fn mib_per_s(sum: Sum) -> f64 {
    let summer = Summer::new(sum);
    let data: Vec<u8> = (0..BUFFER_BYTES).map(|at| (at * 7 + at / 251) as u8).collect();
    let mut out = [0; SUM_BYTES_MAX];
    let room = &mut out[..sum.room_bytes() as usize];
    let began = Instant::now();
    let mut bytes = 0;
    while began.elapsed() < TIME {
        summer.write(&data, room);
        std::hint::black_box(&*room);
        bytes += data.len();
    }
    bytes as f64 / (1 << 20) as f64 / began.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_sums_are_measured() {
        let mut lines = Vec::new();
        measure(Some("sha3-224,crc7"), |line| lines.push(line.to_owned())).expect("both are known");
        assert_eq!(lines.len(), 2);
        for (line, begin) in lines.iter().zip(["crc7:\t\t", "sha3-224:\t"]) {
            let rate = line.strip_prefix(begin).and_then(|rest| rest.strip_suffix(" MiB/sec\n"));
            assert!(rate.is_some_and(|rate| rate.trim().parse::<f64>().is_ok_and(|r| r > 0.0)));
        }
        let wrong = measure(Some("md5,md4"), |_| {}).expect_err("md4 is none of them");
        assert_eq!(wrong, "unknown hash `md4`. Available:");
    }
}
