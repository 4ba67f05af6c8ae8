//! Operands drawn at random, given to the installed dd and to candor's.

use std::collections::BTreeMap;

use super::*;

/// Copies that are compared.
const COPIES: u32 = 300;

/// Choices from a seed, so that a failure can be had again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const SIZES: [&str; 11] = ["1", "3", "7", "16", "100", "512", "1k", "2x9", "1kB", "4K", "1b"];
const CONVERSIONS: [&str; 16] = [
    "ascii",
    "ebcdic",
    "ibm",
    "block",
    "unblock",
    "lcase",
    "ucase",
    "sparse",
    "swab",
    "sync",
    "notrunc",
    "noerror",
    "excl",
    "nocreat",
    "fsync",
    "fdatasync",
];
const INPUT_FLAGS: [&str; 6] =
    ["fullblock", "count_bytes", "skip_bytes", "nocache", "noatime", "nonblock"];
const OUTPUT_FLAGS: [&str; 6] = ["append", "seek_bytes", "dsync", "sync", "nocache", "direct"];
const DISTANCES: [&str; 9] = ["0", "1", "2", "5", "3B", "11B", "2x2", "0x3", "100"];
const MISTAKES: [&str; 12] = [
    "bs=0",
    "bs=x",
    "foo=1",
    "foo",
    "conv=foo",
    "iflag=x",
    "oflag=fullblock",
    "status=y",
    "count=-1",
    "skip=1q",
    "seek=99999999999999999999",
    "conv=",
];

/// Operands of a copy from `a` to `b`, or of a pipe.
fn operands(dice: &mut Dice) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    fn list(dice: &mut Dice, words: &[&str]) -> String {
        let many = 1 + dice.below(2);
        (0..many).map(|_| dice.of(words)).collect::<Vec<_>>().join(",")
    }
    for (name, often) in [("bs", 2), ("ibs", 3), ("obs", 3), ("cbs", 3)] {
        if dice.one_in(often) {
            all.push(format!("{name}={}", dice.of(&SIZES)));
        }
    }
    for (name, often) in [("skip", 4), ("iseek", 12), ("seek", 4), ("oseek", 12), ("count", 3)] {
        if dice.one_in(often) {
            all.push(format!("{name}={}", dice.of(&DISTANCES)));
        }
    }
    for (name, words, often) in [
        ("conv", &CONVERSIONS[..], 2),
        ("conv", &CONVERSIONS, 3),
        ("iflag", &INPUT_FLAGS, 4),
        ("oflag", &OUTPUT_FLAGS, 5),
    ] {
        if dice.one_in(often) {
            let list = list(dice, words);
            all.push(format!("{name}={list}"));
        }
    }
    if dice.one_in(8) {
        all.push(format!("status={}", dice.of(&["none", "noxfer", "progress"])));
    }
    if dice.one_in(12) {
        let at = dice.below(all.len() + 1);
        all.insert(at, dice.of(&MISTAKES).to_owned());
    }
    all
}

/// False for what the installed tool does in a way of its own, on purpose or not: an output is cut
/// off before the bytes that `seek` in bytes passes over, closing lines are missing where a flush
/// fails behind another fault, and reads of a pipe that do not wait depend on the moment.
fn compares(operands: &[String], case: &Case) -> bool {
    let has = |word: &str| operands.iter().any(|operand| operand.contains(word));
    let seeks_bytes = operands.iter().any(|operand| {
        operand.contains("seek=") && operand.contains('B') || operand.contains("seek_bytes")
    });
    let flushes_pipe = (has("conv=") && has("sync")) && !has("of=b");
    !(seeks_bytes || flushes_pipe || (case.is_piped && has("nonblock")))
}

/// Everything that a copy leaves behind.
#[derive(Debug, PartialEq)]
struct Left {
    code: Option<i32>,
    out: Vec<u8>,
    lines: Vec<String>,
    files: BTreeMap<String, Vec<u8>>,
}

/// Copies with that dd, in a directory of its own.
fn left(program: &str, dir: &str, operands: &[String], case: &Case) -> Left {
    fs::create_dir_all(dir).expect("a directory");
    let write =
        |name: &str, bytes: &[u8]| fs::write(format!("{dir}/{name}"), bytes).expect("written");
    write("a", &case.input);
    match &case.output {
        Some(bytes) => write("b", bytes),
        None => drop(fs::remove_file(format!("{dir}/b"))),
    }
    let words: Vec<&str> = operands.iter().map(String::as_str).collect();
    let command = of(program, &words, dir);
    let output = if case.is_piped {
        fed(command, &case.input)
    } else {
        let mut command = command;
        command.output().expect("dd starts")
    };
    let files = fs::read_dir(dir).expect("a directory").flatten().map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("read"))
    });
    Left {
        code: output.status.code(),
        lines: lines(&output),
        files: files.collect(),
        out: output.stdout,
    }
}

struct Case {
    input: Vec<u8>,
    output: Option<Vec<u8>>,
    is_piped: bool,
}

fn case(dice: &mut Dice) -> Case {
    let length = [0, 1, 40, 511, 512, 1000, 5000][dice.below(7)];
    let kind = dice.below(3);
    let byte = |dice: &mut Dice, nth: usize| match kind {
        0 => dice.below(256) as u8,
        1 => *b"aB \n\nxyz  "[..].get(dice.below(10)).unwrap_or(&b' '),
        _ => u8::from(nth % 700 > 600),
    };
    let input = (0..length).map(|nth| byte(dice, nth)).collect();
    let output = dice.one_in(2).then(|| vec![b'#'; dice.below(3000)]);
    // A pipe hands over what fits it in one piece, so short reads are the same for both.
    Case { input, output, is_piped: dice.one_in(3) }
}

#[test]
fn random_copies_are_those_of_the_installed_dd() {
    let Some(installed) = installed() else { return };
    let dd = Dd::new();
    // Each of many small writes may wait for a disk.
    let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("room");
    let path = |name: &str| memory.path().join(name).display().to_string();
    let mut dice = Dice(1);
    for nth in 0..COPIES {
        let (case, mut operands) = (case(&mut dice), operands(&mut dice));
        if !case.is_piped {
            operands.push("if=a".to_owned());
        }
        if !dice.one_in(4) {
            operands.push("of=b".to_owned());
        }
        if !compares(&operands, &case) {
            continue;
        }
        let [theirs, ours] = [(installed, "theirs"), (dd.link.as_str(), "ours")]
            .map(|(program, dir)| left(program, &path(dir), &operands, &case));
        assert_eq!(
            (&ours.lines, ours.code),
            (&theirs.lines, theirs.code),
            "copy {nth}: {} bytes, piped {}: dd {}",
            case.input.len(),
            case.is_piped,
            operands.join(" ")
        );
        assert!(ours == theirs, "copy {nth} has other bytes: dd {}", operands.join(" "));
    }
}
