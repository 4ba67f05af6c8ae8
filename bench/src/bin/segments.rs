//! Whether segments lie where the formula says, at full size: `segments CANDOR DIRECTORY [MIB]`.
//!
//! 64 ranks write `MIB` each (256) into one file, once segmented (one block of each rank) and once
//! interleaved (blocks of one operation), in words that tell rank and offset. Each byte of the file
//! is then compared with `offset(rank, s, j) = s·n·b + rank·b + j·t`, computed here. A table on
//! stdout; exit code 1 where a byte is not where it belongs.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

const RANKS: u64 = 64;
const TRANSFER: u64 = 1 << 20;
const SEED: u64 = 1234;
/// Bytes that stay free on the filesystem.
const SPARE_BYTES: u64 = 4 << 30;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, directory, mib @ ..] = &words[..] else {
        eprintln!("usage: segments CANDOR DIRECTORY [MIB]");
        std::process::exit(2);
    };
    let each = mib.first().map_or(256, |mib| mib.parse().expect("a number of MiB")) << 20;
    let (needed, free) = (RANKS * each + SPARE_BYTES, free_bytes(Path::new(directory)));
    if free < needed {
        eprintln!("{directory} has {free} bytes free, and {needed} are needed");
        std::process::exit(2);
    }
    println!("| layout | block | segments | bytes | written MiB/s | bytes that differ |");
    println!("|---|---:|---:|---:|---:|---:|");
    let file = Path::new(directory).join("candor-segments");
    let mut wrong = 0;
    for (layout, block) in [("segmented", each), ("interleaved", TRANSFER)] {
        let segments = each / block;
        let rate = write(candor, &file, block, segments, RANKS * each);
        let differ = differing(&file, block, segments);
        std::fs::remove_file(&file).expect("a file that can be removed");
        println!("| {layout} | {block} | {segments} | {} | {rate:.0} | {differ} |", RANKS * each);
        wrong += differ;
    }
    std::process::exit(i32::from(wrong > 0));
}

fn free_bytes(directory: &Path) -> u64 {
    let path = std::ffi::CString::new(directory.to_str().expect("text")).expect("no zero byte");
    // SAFETY: an all-zero record is valid, and the path ends with a zero byte.
    unsafe {
        let mut space: libc::statvfs = std::mem::zeroed();
        assert_eq!(libc::statvfs(path.as_ptr(), &raw mut space), 0, "a directory that is there");
        space.f_bavail * space.f_frsize
    }
}

/// Writes the file; the rate in MiB/s, opening, sync and closing included.
fn write(candor: &str, file: &Path, block: u64, segments: u64, size: u64) -> f64 {
    let plan = format!(
        "[[target]]\nname = \"shared\"\npath = \"{}\"\nkind = \"file\"\nsize = {size}\n\
         layout = \"never\"\nkeep = true\n[[phase]]\n[[phase.job]]\nworkers = {RANKS}\n\
         targets = [\"shared\"]\n[phase.job.work.blocks]\nmix = \"write\"\nsize = {TRANSFER}\n\
         opening = \"in_stages\"\ndurability.fsync_at_end = true\n\
         share = {{ segments = {{ block = {block}, count = {segments} }} }}\n\
         content = {{ fill = \"words\", words = {{ kind = \"offset\", seed = {SEED} }} }}\n",
        file.display()
    );
    let text = file.with_extension("toml");
    std::fs::write(&text, plan).expect("a plan");
    let ran =
        Command::new(candor).arg("run").arg(&text).args(["--json", "-", "--no-history"]).output();
    let ran = ran.expect("candor can be started");
    std::fs::remove_file(&text).expect("a plan that can be removed");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    let measured = &report["phases"][0]["measurements"][0];
    let elapsed_ns = measured["elapsed_ns"].as_f64().expect("a time");
    size as f64 / (1 << 20) as f64 / (elapsed_ns / 1e9)
}

/// Bytes of the file that are not those of the formula.
fn differing(path: &Path, block: u64, segments: u64) -> u64 {
    let mut file = File::open(path).expect("the file");
    let size = file.metadata().expect("its length").len();
    let (mut found, mut wanted) = (vec![0; TRANSFER as usize], vec![0; TRANSFER as usize]);
    let (mut differ, mut at) = (size.abs_diff(RANKS * block * segments), 0);
    let started = Instant::now();
    // The file in its own order: the rank of a place is what the formula gives backwards.
    for segment in 0..segments {
        for rank in 0..RANKS {
            for transfer in 0..block / TRANSFER {
                let offset = segment * RANKS * block + rank * block + transfer * TRANSFER;
                assert_eq!(offset, at, "the formula covers the file without a gap");
                words(&mut wanted, rank, offset);
                file.read_exact(&mut found).expect("a whole file");
                if found != wanted {
                    differ += found.iter().zip(&wanted).filter(|(a, b)| a != b).count() as u64;
                }
                at += TRANSFER;
            }
        }
    }
    eprintln!("compared {size} bytes in {:.0} s", started.elapsed().as_secs_f64());
    differ
}

/// The words of an operation of a rank.
fn words(bytes: &mut [u8], rank: u64, offset: u64) {
    for (index, word) in (0_u64..).zip(bytes.chunks_exact_mut(8)) {
        let low = match index % 512 {
            0 => u64::from((offset as u32).wrapping_mul((index / 512 + 1) as u32)),
            _ => SEED + index,
        };
        word.copy_from_slice(&(rank << 32 | low).to_ne_bytes());
    }
}
