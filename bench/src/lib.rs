//! Common parts of the bare loops: arguments, a clock, a histogram, one line of JSON at the end.
//!
//! A bare loop is the limit that candor is measured against: the system calls of the workload, a
//! clock and a histogram, and nothing else. Whatever stands here is therefore inlined into the
//! loop and does the least that still yields a latency distribution.

pub mod mixes;
pub mod stats;

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

const SUB_BUCKET_BITS: u32 = 6;
const BUCKETS: usize = 4096;

/// Command line: `PATH SECONDS [DEPTH] [BS] [REAP] [buffered]`.
pub struct Args {
    /// File or device to read.
    pub path: String,
    /// For how long.
    pub seconds: f64,
    /// Operations in flight.
    pub depth: usize,
    /// Bytes per operation.
    pub block: usize,
    /// Completions to wait for at a time; the others stay in flight.
    pub reap: usize,
    /// Through the page cache, for loops that can do both.
    pub buffered: bool,
}

impl Args {
    /// Reads the command line; a wrong one ends the process with the usage line.
    pub fn read(depth_default: usize) -> Args {
        let words: Vec<String> = std::env::args().skip(1).collect();
        Args::parse(&words, depth_default).unwrap_or_else(|| {
            eprintln!("usage: PATH SECONDS [DEPTH] [BS] [REAP] [buffered]");
            std::process::exit(2);
        })
    }

    fn parse(words: &[String], depth_default: usize) -> Option<Args> {
        let number = |at: usize, default| words.get(at).map_or(Some(default), |w| w.parse().ok());
        let path = words.first()?.clone();
        let seconds = words.get(1)?.parse().ok()?;
        let (depth, block) = (number(2, depth_default)?, number(3, 4096)?);
        let reap = number(4, 1)?;
        let sane = (1..=4096).contains(&depth) && (1..=depth).contains(&reap) && block > 0;
        let buffered = words.get(5).is_some_and(|w| w == "buffered");
        sane.then_some(Args { path, seconds, depth, block, reap, buffered })
    }

    /// Opens the path for reading, with flags such as `O_DIRECT`, and counts its blocks.
    pub fn open(&self, flags: i32) -> (File, Offsets) {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&self.path)
            .unwrap_or_else(|e| panic!("cannot open {}: {e}", self.path));
        let length = file.seek(SeekFrom::End(0)).expect("the path has a length");
        let blocks = length / self.block as u64;
        assert!(blocks > 0, "{} is shorter than one block", self.path);
        (file, Offsets::new(blocks, self.block as u64))
    }
}

/// Uniform random offsets, aligned to the block: xoshiro256++ and one multiplication.
pub struct Offsets {
    state: [u64; 4],
    blocks: u64,
    block: u64,
}

impl Offsets {
    /// Offsets of `blocks` blocks of `block` bytes, seeded by the clock.
    pub fn new(blocks: u64, block: u64) -> Offsets {
        // SAFETY: reading the time-stamp counter has no preconditions.
        let mut seed = unsafe { core::arch::x86_64::_rdtsc() };
        let state = std::array::from_fn(|_| {
            // splitmix64 spreads one number over the state.
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Offsets { state, blocks, block }
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let bits = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        bits
    }

    /// The next offset.
    #[inline(always)]
    pub fn next_offset(&mut self) -> u64 {
        ((u128::from(self.bits()) * u128::from(self.blocks)) >> 64) as u64 * self.block
    }
}

/// Page-aligned memory for `count` blocks, touched, kept until the process ends.
pub fn buffers(count: usize, block: usize) -> Vec<*mut u8> {
    let layout = std::alloc::Layout::from_size_align(count * block, 4096).expect("a sane size");
    // SAFETY: the layout has a size above zero: depth and block are.
    let memory = unsafe { std::alloc::alloc(layout) };
    assert!(!memory.is_null(), "no memory for {count} buffers");
    // SAFETY: the memory was just allocated with this length.
    unsafe { memory.write_bytes(1, count * block) };
    // SAFETY: each address lies within that memory.
    (0..count).map(|i| unsafe { memory.add(i * block) }).collect()
}

/// Clock, histogram and CPU time of one loop.
pub struct Meter {
    buckets: Box<[u64; BUCKETS]>,
    started: Instant,
    started_ticks: u64,
    cpu: (f64, f64),
    /// The loop ends when [`Meter::now`] reaches it.
    pub deadline: u64,
}

impl Meter {
    /// Calibrates the clock and starts it.
    pub fn start(seconds: f64) -> Meter {
        let (began, began_ticks) = (Instant::now(), Meter::now());
        std::thread::sleep(Duration::from_millis(20));
        let ticks = (Meter::now() - began_ticks) as f64;
        let per_second = ticks / began.elapsed().as_secs_f64();
        let (cpu, started, started_ticks) = (cpu_seconds(), Instant::now(), Meter::now());
        let deadline = started_ticks + (seconds * per_second) as u64;
        Meter { buckets: Box::new([0; BUCKETS]), started, started_ticks, cpu, deadline }
    }

    /// The time-stamp counter.
    #[inline(always)]
    pub fn now() -> u64 {
        // SAFETY: reading the time-stamp counter has no preconditions.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    /// Counts one operation that took `ticks`: 64 buckets per power of two.
    #[inline(always)]
    pub fn record(&mut self, ticks: u64) {
        let shift = 63 - SUB_BUCKET_BITS - (ticks | 1 << SUB_BUCKET_BITS).leading_zeros();
        let bucket = ((shift as usize) << SUB_BUCKET_BITS) + (ticks >> shift) as usize;
        self.buckets[bucket & (BUCKETS - 1)] += 1;
    }

    /// The value below which a share of the operations lies, in ticks.
    fn quantile(&self, share: f64) -> u64 {
        let total: u64 = self.buckets.iter().sum();
        let mut left = (total as f64 * share).ceil() as u64;
        for (bucket, count) in self.buckets.iter().enumerate() {
            if *count >= left {
                let shift = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
                return ((bucket - (shift << SUB_BUCKET_BITS)) as u64) << shift;
            }
            left -= count;
        }
        0
    }

    /// Prints the result.
    pub fn finish(self) {
        let (elapsed, ticks) = (self.started.elapsed(), Meter::now() - self.started_ticks);
        let (user, system) = cpu_seconds();
        let (user, system) = (user - self.cpu.0, system - self.cpu.1);
        let ns_per_tick = elapsed.as_nanos() as f64 / ticks as f64;
        let ops: u64 = self.buckets.iter().sum();
        let ns = |share: f64| (self.quantile(share) as f64 * ns_per_tick).round() as u64;
        let line = serde_json::json!({
            "ops": ops,
            "elapsed_s": elapsed.as_secs_f64(),
            "iops": ops as f64 / elapsed.as_secs_f64(),
            "user_s": user,
            "system_s": system,
            "user_us_per_op": user * 1e6 / ops as f64,
            "p50_ns": ns(0.5),
            "p99_ns": ns(0.99),
        });
        println!("{line}");
    }
}

/// User and system CPU seconds of this process so far.
fn cpu_seconds() -> (f64, f64) {
    // SAFETY: all-zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_within_a_bucket_of_the_value() {
        for value in [0, 1, 63, 64, 127, 128, 1000, 12_345, 1 << 40] {
            let mut meter = Meter::start(0.0);
            meter.record(value);
            let found = meter.quantile(0.5);
            assert!(found <= value && value - found <= value / 64, "{value} became {found}");
        }
    }

    #[test]
    fn a_command_line_is_read_or_refused() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Args::parse(&words, 16)
        };
        let args = parse("/dev/x 2.5 32").expect("it is complete");
        assert!(args.depth == 32 && args.block == 4096 && args.reap == 1);
        assert!(parse("/dev/x").is_none() && parse("/dev/x 1 0").is_none());
        assert!(parse("/dev/x 1 4 4096 5").is_none());
    }

    #[test]
    fn offsets_cover_the_range_and_stay_inside() {
        let mut offsets = Offsets::new(10, 4096);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            seen[(offsets.next_offset() / 4096) as usize] += 1;
        }
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
    }
}
