//! Directories, files and devices: sizes, offsets, engine, content.

use super::{Options, Row, put, put_number, put_size, put_some_number, put_some_size, switch};
use crate::grammar::split;
use crate::options::{FileAdvice, FileLock, MapAdvice, RandomSource};
use candor_front::{Choice, Refused, choose, store, store_text};

#[rustfmt::skip]
pub(super) const TREE: &[Row] = &[
    Row::value("dirs", "N", |o, t| put_size(&mut o.tree.dirs, t),
        "Use N directories per worker; 0 puts files into the path").letter('n').default("1")
        .exact("target.tree.width", "3"),
    Row::value("files", "N", |o, t| put_size(&mut o.tree.files, t),
        "Use N files per worker in each directory").letter('N').default("1")
        .exact("target.tree.items", "10"),
    switch("dirsharing", |o, t| put(&mut o.tree.dir_sharing, t),
        "Let all workers use the directories of worker 0").exact("target.tree.per_rank", "true"),
    switch("dirstats", |o, t| put(&mut o.tree.dir_stats, t),
        "Count completed directories in addition").exact("", "true"),
    switch("statinline", |o, t| put(&mut o.tree.stat_inline, t), "Stat each file after its open")
        .exact("entries.steps", "true"),
    switch("readinline", |o, t| put(&mut o.tree.read_inline, t),
        "Read each file back after its write").exact("entries.steps", "true"),
    switch("nodelerr", |o, t| put(&mut o.tree.no_delete_errors, t),
        "Ignore missing names in removals").exact("stop.tolerate", "true"),
];

#[rustfmt::skip]
pub(super) const ACCESS: &[Row] = &[
    Row::value("size", "SIZE", |o, t| put_some_size(&mut o.access.file_bytes, t),
        "Use files of SIZE bytes [default: their current size]").letter('s')
        .exact("target.size", "1m"),
    Row::value("block", "SIZE", |o, t| put_size(&mut o.access.block_bytes, t),
        "Transfer SIZE bytes per I/O").letter('b').default("1M").exact("blocks.size", "4k"),
    switch("rand", |o, t| put(&mut o.access.random, t), "Use random offsets")
        .exact("blocks.access", "true"),
    switch("norandalign", |o, t| put(&mut o.access.random_unaligned, t),
        "Do not align random offsets to the block size").exact("blocks.align", "true"),
    Row::value("randamount", "SIZE", |o, t| put_some_size(&mut o.access.random_bytes, t),
        "Transfer SIZE bytes at random offsets, over all workers").exact("stop.bytes", "64m"),
    Row::value("randalgo", "WORD", random_source, "Select the source of random offsets")
        .near("blocks.access", "fast", "candor's own generator draws the offsets"),
    switch("backward", |o, t| put(&mut o.access.backward, t), "Access files from end to start")
        .exact("blocks.access", "true"),
    switch("strided", |o, t| put(&mut o.access.strided, t), "Let workers take blocks in turn")
        .near("blocks.share", "true", "workers take turns in each file, not over all files"),
    switch("nofdsharing", |o, t| put(&mut o.io.no_fd_sharing, t),
        "Let each worker open the files itself")
        .near("", "true", "workers have their own descriptors of one open file"),
    switch("trunc", |o, t| put(&mut o.io.truncate, t), "Truncate files at open for writes")
        .exact("blocks.truncate_at_open", "true"),
    switch("trunctosize", |o, t| put(&mut o.io.truncate_to_size, t),
        "Extend files to their size at open").exact("target.layout", "true"),
    switch("preallocfile", |o, t| put(&mut o.io.preallocate, t), "Allocate blocks of files at open")
        .exact("target.layout", "true"),
];

#[rustfmt::skip]
pub(super) const ENGINE: &[Row] = &[
    Row::value("iodepth", "N", |o, t| put_number(&mut o.io.depth, t, 1..=1 << 15),
        "Keep N I/Os of each worker in flight").default("1").exact("blocks.depth", "4"),
    switch("direct", |o, t| put(&mut o.io.direct, t), "Bypass the page cache")
        .exact("blocks.direct", "true"),
    switch("nodiocheck", |o, t| put(&mut o.io.no_alignment_check, t),
        "Skip the alignment check of direct I/O")
        .near("", "true", "the kernel's refusal is reported instead"),
    switch("mmap", |o, t| put(&mut o.io.mmap, t), "Map files instead of reading them")
        .exact("blocks.engine", "true"),
    Row::value("madv", "LIST", |o, t| advice(t, MAP_ADVICE).map(|all| o.io.map_advice = all),
        "Advise on mappings: seq, rand, willneed, dontneed, hugepage, nohugepage")
        .exact("blocks.hints.map_advice", "seq,hugepage"),
    Row::value("fadv", "LIST", |o, t| advice(t, FILE_ADVICE).map(|all| o.io.file_advice = all),
        "Advise on files: seq, rand, willneed, dontneed, noreuse")
        .exact("blocks.hints.advice", "seq,willneed"),
    Row::value("flock", "WORD", file_lock, "Lock each I/O: range or full")
        .near("blocks.lock", "range", "workers exclude each other like processes; each has one I/O \
              in flight"),
    Row::value("limitread", "SIZE", |o, t| put_size(&mut o.io.read_limit_bytes_per_s, t),
        "Limit each worker's reads to SIZE bytes per second").default("0")
        .near("blocks.pace", "8m", "the rate is smooth, not in bursts of one second"),
    Row::value("limitwrite", "SIZE", |o, t| put_size(&mut o.io.write_limit_bytes_per_s, t),
        "Limit each worker's writes to SIZE bytes per second").default("0")
        .near("blocks.pace", "8m", "the rate is smooth, not in bursts of one second"),
];

#[rustfmt::skip]
pub(super) const DATA: &[Row] = &[
    Row::value("blockvarpct", "PERCENT",
        |o, t| put_number(&mut o.data.variance_percent, t, 0..=100),
        "Fill PERCENT of each block with new random bytes").default("100")
        .near("blocks.content", "0", "random bytes are generated outside the measured time; the \
              rest of a block is zero"),
    Row::value("blockvaralgo", "WORD", |_, t| choose(t, ALGORITHMS).map(|_| ()),
        "Select the source of random bytes")
        .idle("fast", "one generator makes random bytes outside the measured time"),
    Row::value("verify", "SALT", |o, t| put_number(&mut o.data.verify_salt, t, 0..=u64::MAX),
        "Write words of offset and SALT, and verify them on reads").default("0")
        .exact("blocks.verify", "1"),
    switch("verifydirect", |o, t| put(&mut o.data.verify_direct, t),
        "Read each block back after its write").exact("blocks.verify.read_back", "true"),
];

#[rustfmt::skip]
pub(super) const MIX: &[Row] = &[
    Row::value("rwmixpct", "PERCENT", |o, t| put_some_number(&mut o.mix.read_percent, t, 0..=100),
        "Read PERCENT of the blocks in the write phase").exact("blocks.mix", "70"),
    Row::value("rwmixthr", "N", |o, t| put_some_number(&mut o.mix.read_threads, t, 0..=1 << 16),
        "Let N workers read in the write phase").exact("job.part", "1"),
    Row::value("rwmixthrpct", "PERCENT",
        |o, t| put_number(&mut o.mix.read_threads_percent, t, 0..=99),
        "Limit these workers to PERCENT of the bytes, with --infloop").default("0")
        .exact("pace.flow", "70"),
];

#[rustfmt::skip]
pub(super) const LISTS: &[Row] = &[
    Row::value("treefile", "FILE", |o, t| store_text(&mut o.list.tree_file, t),
        "Use the list of directories and files in FILE").exact("target.listing.file", "f"),
    Row::value("treescan", "DIR", |o, t| store_text(&mut o.list.tree_scan, t),
        "Scan DIR, and write its list to the file of --treefile").exact("", "d"),
    Row::value("sharesize", "SIZE", |o, t| put_some_size(&mut o.list.share_bytes, t),
        "Share files above SIZE among all workers [default: 32 blocks]")
        .near("target.listing.share_above", "8m", "such files form one range with a slice for each \
              worker"),
    Row::value("treeroundup", "SIZE", |o, t| put_size(&mut o.list.round_up_bytes, t),
        "Round file sizes up to a multiple of SIZE").default("0")
        .exact("target.listing.round_up", "4k"),
    switch("treerand", |o, t| put(&mut o.list.shuffled, t), "Shuffle the files")
        .near("target.listing.shuffled", "true", "the order is the same in each run"),
    switch("treeroundrob", |o, t| put(&mut o.list.round_robin, t),
        "Deal files to workers in turn, regardless of size").exact("target.listing.deal", "true"),
];

const fn word(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

const ALGORITHMS: &[Choice] = &[
    word("fast", "least work"),
    word("balanced", "better bits"),
    word("balanced_single", "better bits, one generator"),
    word("strong", "best bits"),
];

fn random_source(options: &mut Options, text: &str) -> Result<(), Refused> {
    choose(text, ALGORITHMS)?;
    store(&mut options.access.random_source, RandomSource::Drawn)
}

const LOCKS: &[Choice] = &[word("range", "the bytes of the block"), word("full", "the whole file")];

fn file_lock(options: &mut Options, text: &str) -> Result<(), Refused> {
    options.io.lock = match choose(text, LOCKS)? {
        0 => FileLock::Range,
        _ => FileLock::Full,
    };
    Ok(())
}

const FILE_ADVICE: &[(&str, FileAdvice)] = &[
    ("seq", FileAdvice::Sequential),
    ("rand", FileAdvice::Random),
    ("willneed", FileAdvice::WillNeed),
    ("dontneed", FileAdvice::DontNeed),
    ("noreuse", FileAdvice::NoReuse),
];

const MAP_ADVICE: &[(&str, MapAdvice)] = &[
    ("seq", MapAdvice::Sequential),
    ("rand", MapAdvice::Random),
    ("willneed", MapAdvice::WillNeed),
    ("dontneed", MapAdvice::DontNeed),
    ("hugepage", MapAdvice::HugePage),
    ("nohugepage", MapAdvice::NoHugePage),
];

fn advice<T: Copy>(text: &str, known: &[(&'static str, T)]) -> Result<Vec<T>, Refused> {
    let one = |piece: &str| {
        known.iter().find(|(word, _)| *word == piece).map(|(_, advice)| *advice).ok_or_else(|| {
            let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
            let message = format!("`{piece}` is no such advice");
            Refused::whole(text, message, format!("it takes {}", words.join(", ")))
        })
    };
    split(text, &[',']).into_iter().map(one).collect()
}
