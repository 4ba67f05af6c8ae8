//! Verification: every injected corruption is found, and none where there is none.

use std::fs::File;
use std::os::unix::fs::FileExt;

use serde_json::Value;

use crate::support::{Scratch, candor, measured, shared_host};

/// Size of a verified block.
const BLOCK: usize = 4096;
/// Corruptions of each kind.
const EACH: u64 = 1000;
/// Blocks of the file: room for all kinds, and as many blocks that stay whole.
const BLOCKS: u64 = 16 * EACH;

/// Runs a plan of one job on the file, of all its bytes, with headers of that seed.
fn run(scratch: &Scratch, file: &str, seed: u64, mix: &str) -> (Option<i32>, Value) {
    let plan = format!(
        r#"
seed = {seed}
[[target]]
path = "{file}"
size = "{}k"
keep = true
overwrite = true
[[phase]]
[[phase.job]]
targets = ["target"]
[phase.job.work.blocks]
mix = "{mix}"
size = "64k"
verify = {{ seed = {seed}, continue_on_mismatch = true, unknown = "check" }}
durability = {{ fsync_at_end = {} }}
"#,
        BLOCKS * 4,
        mix == "write"
    );
    let plan = scratch.file("plan.toml", &plan);
    let (ran, report) = measured(scratch, &["run", &plan]);
    (ran.code, report.at("/phases/0/measurements/0/verify").clone())
}

/// Fills a file with verified blocks, all of them.
fn fill(scratch: &Scratch, file: &str, seed: u64) {
    let (code, _) = run(scratch, file, seed, "write");
    assert_eq!(code, Some(0));
}

/// Reads all of it once; exit code and what verification found.
fn look(scratch: &Scratch, file: &str, seed: u64) -> (Option<i32>, Value) {
    run(scratch, file, seed, "read")
}

/// Number of blocks of each kind of damage.
fn counts(found: &Value) -> [u64; 5] {
    ["flipped", "torn", "misdirected", "stale", "foreign"]
        .map(|kind| found[kind].as_u64().unwrap_or_else(|| panic!("no {kind} in {found}")))
}

/// The verified file as a thing to damage.
struct Victim(File);

impl Victim {
    fn open(path: &str) -> Victim {
        Victim(File::options().read(true).write(true).open(path).expect("the file is there"))
    }

    fn block(&self, number: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        self.0.read_exact_at(&mut block, number * BLOCK as u64).expect("a block is readable");
        block
    }

    fn put(&self, number: u64, block: &[u8]) {
        self.0.write_all_at(block, number * BLOCK as u64).expect("a block is writable");
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Vec<u8>)) {
        let mut block = self.block(number);
        change(&mut block);
        self.put(number, &block);
    }
}

/// The blocks that the nth kind of damage hits: never two kinds the same, spread over the file.
fn hit(kind: u64) -> impl Iterator<Item = u64> {
    (0..EACH).map(move |i| i * 16 + kind)
}

#[test]
fn a_thousand_flips_anywhere_in_a_block_are_found() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    fill(&scratch, &file, 1);
    let victim = Victim::open(&file);
    for (i, number) in hit(0).enumerate() {
        // Every bit of a byte, every part of a block behind its first sector.
        victim.change(number, |block| block[512 + i * 7 % (BLOCK - 512)] ^= 1 << (i % 8));
    }
    let (code, found) = look(&scratch, &file, 1);
    assert_eq!((code, counts(&found)), (Some(5), [EACH, 0, 0, 0, 0]));
    assert_eq!(found["blocks"], BLOCKS);
    // In the first sector, header included, what kind it looks like depends on the bit.
    for (i, number) in hit(1).enumerate() {
        victim.change(number, |block| block[i % 512] ^= 1 << (i / 7 % 8));
    }
    let (code, found) = look(&scratch, &file, 1);
    assert_eq!((code, counts(&found).iter().sum::<u64>()), (Some(5), 2 * EACH), "{found}");
}

#[test]
fn a_thousand_misdirected_blocks_are_found() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    fill(&scratch, &file, 1);
    let victim = Victim::open(&file);
    let numbers: Vec<u64> = hit(0).collect();
    for pair in numbers.chunks(2) {
        let (one, other) = (victim.block(pair[0]), victim.block(pair[1]));
        victim.put(pair[0], &other);
        victim.put(pair[1], &one);
    }
    let (code, found) = look(&scratch, &file, 1);
    assert_eq!((code, counts(&found)), (Some(5), [0, 0, EACH, 0, 0]));
    let first = &found["first"][0];
    assert_eq!(first["kind"], "misdirected", "{first}");
    assert!(first["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{first}");
}

#[test]
fn a_thousand_torn_blocks_are_found() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, earlier) = (scratch.path("file"), scratch.path("earlier"));
    fill(&scratch, &earlier, 1);
    fill(&scratch, &file, 2);
    let (victim, earlier) = (Victim::open(&file), Victim::open(&earlier));
    for (i, number) in hit(0).enumerate() {
        // The tail of the block is that of an earlier write, from one sector on to all but one.
        let at = 512 * (1 + i % 7);
        let old = earlier.block(number);
        assert_ne!(old, victim.block(number), "another seed writes other bytes");
        victim.change(number, |block| block[at..].copy_from_slice(&old[at..]));
    }
    let (code, found) = look(&scratch, &file, 2);
    assert_eq!(code, Some(5));
    assert_eq!(counts(&found).iter().sum::<u64>(), EACH, "{found}");
    assert_eq!(found["torn"], EACH, "{found}");
}

#[test]
fn a_thousand_foreign_blocks_are_found() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    fill(&scratch, &file, 2);
    let victim = Victim::open(&file);
    hit(0).for_each(|number| victim.put(number, &[0; BLOCK]));
    let (code, found) = look(&scratch, &file, 2);
    assert_eq!(counts(&found).iter().sum::<u64>(), EACH, "{found}");
    assert_eq!((code, counts(&found)), (Some(5), [0, 0, 0, 0, EACH]));
}

#[test]
fn a_thousand_blocks_of_an_earlier_run_are_found() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, earlier) = (scratch.path("file"), scratch.path("earlier"));
    fill(&scratch, &earlier, 1);
    fill(&scratch, &file, 2);
    let (victim, earlier) = (Victim::open(&file), Victim::open(&earlier));
    // A whole block of another run: right place, wrong write.
    hit(1).for_each(|number| victim.put(number, &earlier.block(number)));
    let (code, found) = look(&scratch, &file, 2);
    assert_eq!((code, counts(&found)), (Some(5), [0, 0, 0, EACH, 0]));
}

#[test]
fn a_block_of_a_run_with_another_seed_is_stale_where_the_user_expects_all_of_them() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    let verified = |rw: &str, seed: &str, verify: &str| {
        let words = ["run", "--target", &file, "--rw", rw, "--seed", seed, "--size", "1m"];
        candor(&[&words[..], &[verify, "--keep", "--overwrite", "--passes", "1"]].concat())
    };
    assert_eq!(verified("write", "1", "--verify").code, Some(0));
    assert_eq!(verified("read", "1", "--verify").code, Some(0));
    let ran = verified("read", "2", "--verify");
    assert_eq!(ran.code, Some(0), "no block is known to be of seed 2:\n{}", ran.out);
    assert!(ran.out.contains("nothing was verified: 256 blocks read"), "{}", ran.out);
    let ran = verified("read", "2", "--verify-all");
    assert_eq!(
        ran.code,
        Some(5),
        "a write of seed 2 that was lost would not be seen:\n{}",
        ran.out
    );
    assert!(ran.out.contains("stale"), "{}", ran.out);
}

#[test]
fn bytes_of_others_are_unknown_and_not_corrupt() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    let bytes: Vec<u8> =
        (0..4u32 << 18).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    std::fs::write(&file, bytes).expect("written");
    let fixed = ["run", "--target", &file, "--overwrite", "--rw", "randrw", "--bs", "4k"];
    let (ran, report) = measured(&scratch, &[&fixed[..], &["--verify", "--ops", "500"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let found = report.at("/phases/0/measurements/0/verify");
    assert_eq!(counts(found), [0; 5], "{found}");
    assert!(found["unknown"].as_u64() > Some(100), "{found}");
    // Lines end anywhere.
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("unknown, not verified"), "{}", ran.out);
}

#[test]
fn an_intact_file_has_no_false_ones_whatever_the_engine() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    fill(&scratch, &file, 1);
    for words in [
        "--engine psync",
        "--engine pvsync --bs 4k",
        "--engine libaio --depth 8 --direct",
        "--engine io_uring --depth 16 --direct",
        "--engine io_uring --depth 4 --access permutation --bs 8k",
        "--engine mmap --bs 16k",
        "--workers 4 --share slice",
    ] {
        let words: Vec<_> = words.split(' ').collect();
        // The last of two sizes counts for none of these: each says at most one.
        let fixed = ["run", "--target", &file, "--rw", "read", "--verify"];
        let (ran, report) = measured(&scratch, &[&fixed[..], &words].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
        let found = report.at("/phases/0/measurements/0/verify");
        assert_eq!(counts(found), [0; 5], "{words:?}: {found}");
        assert_eq!(found["blocks"], BLOCKS, "{words:?}");
    }
}

#[test]
fn mixed_work_with_overwrites_has_no_false_ones() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for words in [
        "--engine psync",
        "--engine io_uring --depth 16 --direct",
        "--engine libaio --depth 8 --direct --bs 4k:50,16k:50",
    ] {
        let file = scratch.path("own");
        let fixed = ["run", "--target", &file, "--size", "8m", "--rw", "randrw", "--verify"];
        let words: Vec<_> = words.split(' ').collect();
        let (ran, report) = measured(&scratch, &[&fixed[..], &words, &["--ops", "20000"]].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {} {}", ran.err, report.told());
        let found = report.at("/phases/0/measurements/0/verify");
        assert_eq!(counts(found), [0; 5], "{words:?}: {found}");
        assert!(found["blocks"].as_u64() > Some(1000), "{words:?}: {found}");
    }
}

#[test]
fn the_first_wrong_block_ends_the_run_unless_reported_otherwise() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    fill(&scratch, &file, 1);
    let victim = Victim::open(&file);
    for number in [100, 15000] {
        victim.change(number, |block| block[2000] ^= 1);
    }
    let fixed = ["run", "--target", &file, "--rw", "read", "--bs", "4k", "--verify"];
    let (ran, report) = measured(&scratch, &fixed);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    let first = ran.out.lines().next();
    assert_eq!(first, Some("Corrupt data: 1 of 101 blocks read differ from the data written."));
    assert_eq!(report.verdict(), "corrupt");
    let found = report.at("/phases/0/measurements/0/verify");
    assert_eq!(found["flipped"], 1, "{found}");
    assert_eq!(found["first"][0]["offset"], 100 * BLOCK, "{found}");
    let cut = report.words("/cut_short");
    assert!(cut.contains(&file), "does not say where: {cut}");
    assert!(ran.out.contains("flipped"), "{}", ran.out);
}

#[test]
fn a_run_that_only_writes_verifies_nothing_and_says_so() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("file");
    let words = ["run", "--target", &file, "--size", "8m", "--rw", "randwrite", "--bs", "8k"];
    let (ran, report) = measured(&scratch, &[&words[..], &["--verify"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("nothing was verified: this run only wrote"), "{}", ran.out);
    assert!(ran.out.contains("--verify-after") && !ran.out.contains("as written"), "{}", ran.out);
    assert_eq!(report.at("/phases/0/measurements/0/verify/blocks"), 0);
}

#[test]
fn what_a_run_wrote_is_verified_afterwards() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for words in [
        "--rw write --bs 64k",
        "--rw randwrite --bs 8k --seconds 1 --depth 8 --engine io_uring --direct",
    ] {
        let file = scratch.path("file");
        let fixed = ["run", "--target", &file, "--size", "8m", "--verify-after"];
        let words: Vec<_> = words.split(' ').collect();
        let (ran, report) = measured(&scratch, &[&fixed[..], &words].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
        assert!(ran.out.contains("all match the written data"), "{}", ran.out);
        let job = report.at("/phases/0/measurements/0");
        assert_eq!(counts(&job["verify"]), [0; 5], "{words:?}");
        let (blocks, wrote) = (job["verify"]["blocks"].as_u64(), &job["operations"]["write"]);
        match words[1] {
            // All of the file was written, so all is read back, each block once.
            "write" => assert_eq!(blocks, Some(2048), "{job}"),
            _ => {
                assert!(
                    blocks > Some(0) && blocks <= wrote["ops"].as_u64().map(|n| 2 * n),
                    "{job}"
                );
            }
        }
    }
}
