//! Where IOR's bytes and mdtest's names go, against formulas of their own.
//!
//! A word of IOR's data says which rank wrote it and, by `-l o`, at which offset its transfer
//! began. So the bytes on disk tell the layout, and a formula that shares no code with candor
//! tells what they must be.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::offsets::{Shape, Transfer, compare};
use crate::support::{Ran, Running, Scratch, shared_host};

/// A tool under its name, in an empty directory.
struct Tool {
    scratch: Scratch,
    name: &'static str,
}

impl Tool {
    fn new(name: &'static str) -> Tool {
        let scratch = Scratch::new();
        symlink(env!("CARGO_BIN_EXE_candor"), scratch.outside(name)).expect("a link");
        Tool { scratch, name }
    }

    fn run(&self, ranks: u64, line: &str) -> Ran {
        let mut command = Command::new(self.scratch.outside(self.name));
        command.args(line.split_whitespace()).current_dir(self.scratch.dir());
        command.env("CANDOR_RANKS", ranks.to_string()).env_remove("CANDOR_VERDICT");
        let ran = Running::start(&mut command, Stdio::null()).wait();
        assert_eq!(ran.code, Some(0), "{} {line}\n{}\n{}", self.name, ran.out, ran.err);
        ran
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.scratch.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

const SHAPES: [Shape; 8] = [
    Shape { ranks: 1, segments: 1, block: 65536, transfer: 65536 },
    Shape { ranks: 3, segments: 1, block: 49152, transfer: 4096 },
    Shape { ranks: 2, segments: 5, block: 8192, transfer: 8192 },
    Shape { ranks: 4, segments: 3, block: 12288, transfer: 4096 },
    Shape { ranks: 7, segments: 11, block: 47008, transfer: 47008 },
    Shape { ranks: 5, segments: 2, block: 8000, transfer: 1000 },
    Shape { ranks: 64, segments: 4, block: 4096, transfer: 1024 },
    Shape { ranks: 16, segments: 1, block: 24, transfer: 8 },
];

#[test]
fn bytes_of_a_shared_file_lie_where_the_formula_says() {
    let _host = shared_host();
    let ior = Tool::new("ior");
    for (shape, signature) in SHAPES.into_iter().zip(3..) {
        ior.run(shape.ranks, &format!("-w -k -l o -G {signature} -o f {}", shape.words()));
        compare(&ior.bytes("f"), shape, &shape.shared(), 'o', signature);
        fs::remove_file(ior.scratch.path("f")).expect("the file");
    }
}

#[test]
fn bytes_of_a_file_per_process_lie_where_the_formula_says() {
    let _host = shared_host();
    let ior = Tool::new("ior");
    for (shape, signature) in SHAPES.into_iter().zip(101..) {
        ior.run(shape.ranks, &format!("-w -F -k -l o -G {signature} -o f {}", shape.words()));
        for rank in 0..shape.ranks {
            let name = format!("f.{rank:08}");
            compare(&ior.bytes(&name), shape, &shape.own(rank), 'o', signature);
            fs::remove_file(ior.scratch.path(&name)).expect("the file");
        }
    }
}

#[test]
fn bytes_of_any_shape_lie_where_the_formula_says() {
    let _host = shared_host();
    let ior = Tool::new("ior");
    let mut state = 1u64;
    let mut below = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for signature in 1..=24 {
        let transfer = 8 * (1 + below(1500));
        let block = transfer * (1 + below(6));
        let shape = Shape { ranks: 1 + below(9), segments: 1 + below(5), block, transfer };
        let packet = ['o', 't', 'i', 'r'][below(4) as usize];
        let words = format!("-k -l {packet} -G {signature} -o f {}", shape.words());
        ior.run(shape.ranks, &format!("-w -W {words}"));
        compare(&ior.bytes("f"), shape, &shape.shared(), packet, signature);
        ior.run(shape.ranks, &format!("-w -F -r -R {words}"));
        for rank in 0..shape.ranks {
            let own = ior.bytes(&format!("f.{rank:08}"));
            compare(&own, shape, &shape.own(rank), packet, signature);
        }
    }
}

#[test]
fn every_type_of_data_is_made_as_the_tool_makes_it() {
    let _host = shared_host();
    let ior = Tool::new("ior");
    let shape = Shape { ranks: 3, segments: 2, block: 32768, transfer: 16384 };
    for packet in ['t', 'o', 'i', 'r'] {
        ior.run(3, &format!("-w -k -l {packet} -G 77 -o f {}", shape.words()));
        compare(&ior.bytes("f"), shape, &shape.shared(), packet, 77);
        ior.run(3, &format!("-R -l {packet} -G 77 -o f {}", shape.words()));
    }
}

#[test]
fn a_random_order_changes_nothing_of_where_bytes_lie() {
    let _host = shared_host();
    let ior = Tool::new("ior");
    let shape = Shape { ranks: 4, segments: 2, block: 65536, transfer: 4096 };
    ior.run(4, &format!("-w -z -F -k -l o -G 5 --random-offset-seed 9 -o f {}", shape.words()));
    for rank in 0..4 {
        compare(&ior.bytes(&format!("f.{rank:08}")), shape, &shape.own(rank), 'o', 5);
    }
    // In a shared file a slot belongs to any rank; the data says to which.
    ior.run(4, &format!("-w -z -k -l o -G 5 --random-offset-seed 9 -o g {}", shape.words()));
    let bytes = ior.bytes("g");
    let slots = bytes.chunks_exact(shape.transfer as usize).zip(0..);
    let transfers = slots.map(|(slot, nth)| {
        let word = u64::from_le_bytes(slot[8..16].try_into().expect("8 bytes"));
        Transfer { rank: word >> 32, offset: nth * shape.transfer }
    });
    let transfers: Vec<Transfer> = transfers.collect();
    assert!(transfers.iter().all(|transfer| transfer.rank < 4), "{transfers:?}");
    compare(&bytes, shape, &transfers, 'o', 5);
    let (first, second) = transfers.split_at(transfers.len() / 2);
    let ranks = |half: &[Transfer]| half.iter().map(|of| of.rank).collect::<Vec<_>>();
    assert_eq!(ranks(first), ranks(second), "each segment repeats the pattern");
}

/// A tree of mdtest: depth, branches, items of a task, and where they lie.
#[derive(Clone, Copy, Debug)]
struct Tree {
    depth: u32,
    branch: u64,
    items: u64,
    only_leaves: bool,
    own: bool,
}

/// Paths of items below the test's directory, by kind: `file` or `dir`.
fn items(tree: Tree, ranks: u64, kind: &str) -> BTreeSet<String> {
    let level = |depth: u32| tree.branch.pow(depth);
    let directories: u64 = (0..=tree.depth).map(level).sum();
    let holders = if tree.only_leaves { level(tree.depth) } else { directories };
    let each = tree.items / holders;
    let mut all = BTreeSet::new();
    for rank in 0..ranks {
        let base = if tree.own { format!("mdtest_tree.{rank}") } else { "mdtest_tree".to_owned() };
        for directory in 0..directories {
            let path = path_to(directory, tree.branch, &base);
            let is_leaf = directory + level(tree.depth) >= directories;
            if tree.only_leaves && !is_leaf {
                continue;
            }
            let numbers = (0..each).map(|nth| directory * each + nth);
            let names = numbers.map(|number| format!("{path}/{kind}.mdtest.{rank}.{number}"));
            all.extend(names);
        }
    }
    all
}

/// The path of a directory: the children of number `n` are `n·b + 1` to `n·b + b`.
fn path_to(directory: u64, branch: u64, base: &str) -> String {
    match directory {
        0 => format!("{base}.0"),
        _ => format!("{}/{base}.{directory}", path_to((directory - 1) / branch, branch, base)),
    }
}

/// Items on disk below a directory, by kind, with their paths from there.
fn on_disk(top: &Path, at: &str, kind: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(top.join(at)).expect("a directory").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
        if name.starts_with(&format!("{kind}.mdtest.")) {
            found.insert(path);
        } else if entry.path().is_dir() {
            on_disk(top, &path, kind, found);
        }
    }
}

const TREES: [Tree; 7] = [
    Tree { depth: 0, branch: 1, items: 10, only_leaves: false, own: false },
    Tree { depth: 0, branch: 1, items: 10, only_leaves: false, own: true },
    Tree { depth: 1, branch: 2, items: 50, only_leaves: false, own: false },
    Tree { depth: 2, branch: 3, items: 39, only_leaves: false, own: true },
    Tree { depth: 2, branch: 2, items: 13, only_leaves: true, own: false },
    Tree { depth: 3, branch: 2, items: 16, only_leaves: true, own: true },
    Tree { depth: 2, branch: 1, items: 9, only_leaves: false, own: true },
];

#[test]
fn names_of_items_are_those_of_the_tree() {
    let _host = shared_host();
    for tree in TREES {
        let Tree { depth, branch, items: each, .. } = tree;
        let (leaves, own) =
            (if tree.only_leaves { "-L" } else { "" }, if tree.own { "-u" } else { "" });
        let mdtest = Tool::new("mdtest");
        let words = format!("-C -n {each} -z {depth} -b {branch} {leaves} {own} -d out");
        mdtest.run(3, &words);
        for kind in ["file", "dir"] {
            let mut found = BTreeSet::new();
            on_disk(Path::new(&mdtest.scratch.path("out/test-dir.0-0")), "", kind, &mut found);
            assert_eq!(found, items(tree, 3, kind), "{tree:?}");
        }
        mdtest.run(3, &format!("-T -r -n {each} -z {depth} -b {branch} {leaves} {own} -d out"));
        assert!(!Path::new(&mdtest.scratch.path("out/test-dir.0-0")).exists(), "{tree:?}");
    }
}
