//! Directories, files and devices: sizes, offsets, engine, content.

use super::{
    Draft, Value, put, put_number, put_size, put_some_number, put_some_size, switch, value,
};
use crate::grammar::split;
use crate::options::{FileAdvice, FileLock, MapAdvice, RandomSource};
use candor_front::{Choice, Refused, Row, choose, store};

#[rustfmt::skip]
pub(super) const TREE: &[Row<Value>] = &[
    value("dirs", "N", |d, t| put_size(&mut d.options.tree.dirs, t),
        "directories of each worker; 0 puts files into the path itself")
        .letter('n').default("1").exact("target.tree.width", "3"),
    value("files", "N", |d, t| put_size(&mut d.options.tree.files, t),
        "files of each worker in each directory")
        .letter('N').default("1").exact("target.tree.items", "10"),
    switch("dirsharing", |d, t| put(&mut d.options.tree.dir_sharing, t),
        "all workers use the directories of worker 0").exact("target.tree.per_rank", "true"),
    switch("dirstats", |d, t| put(&mut d.options.tree.dir_stats, t),
        "count completed directories as well").exact("", "true"),
    switch("statinline", |d, t| put(&mut d.options.tree.stat_inline, t),
        "look each file up when it has been opened").exact("entries.steps", "true"),
    switch("readinline", |d, t| put(&mut d.options.tree.read_inline, t),
        "read each file back when it has been written").exact("entries.steps", "true"),
    switch("nodelerr", |d, t| put(&mut d.options.tree.no_delete_errors, t),
        "names that are gone are no error of a removal")
        .exact("stop.tolerate", "true"),
];

#[rustfmt::skip]
pub(super) const ACCESS: &[Row<Value>] = &[
    value("size", "SIZE", |d, t| put_some_size(&mut d.options.access.file_bytes, t),
        "bytes of each file; those that it has without this").letter('s')
        .exact("target.size", "1m"),
    value("block", "SIZE", |d, t| put_size(&mut d.options.access.block_bytes, t),
        "bytes per I/O").letter('b').default("1M").exact("blocks.size", "4k"),
    switch("rand", |d, t| put(&mut d.options.access.random, t), "random offsets")
        .exact("blocks.access", "true"),
    switch("norandalign", |d, t| put(&mut d.options.access.random_unaligned, t),
        "random offsets are no multiples of the block").exact("blocks.align", "true"),
    value("randamount", "SIZE", |d, t| put_some_size(&mut d.options.access.random_bytes, t),
        "bytes at random offsets, of all workers together").exact("stop.bytes", "64m"),
    value("randalgo", "WORD", random_source, "source of random offsets")
        .near("blocks.access", "fast", "offsets are drawn by candor's own generator"),
    switch("backward", |d, t| put(&mut d.options.access.backward, t),
        "from the end to the start").exact("blocks.access", "true"),
    switch("strided", |d, t| put(&mut d.options.access.strided, t),
        "workers take blocks in turn")
        .near("blocks.share", "true", "workers take turns in each file, not over all of them"),
    switch("nofdsharing", |d, t| put(&mut d.options.io.no_fd_sharing, t),
        "each worker opens the files for itself")
        .near("", "true", "workers have their own descriptors of one open file"),
    switch("trunc", |d, t| put(&mut d.options.io.truncate, t),
        "empty files when they are opened to be written")
        .exact("blocks.truncate_at_open", "true"),
    switch("trunctosize", |d, t| put(&mut d.options.io.truncate_to_size, t),
        "extend files to their size before").exact("target.layout", "true"),
    switch("preallocfile", |d, t| put(&mut d.options.io.preallocate, t),
        "allocate blocks of files before").exact("target.layout", "true"),
];

#[rustfmt::skip]
pub(super) const ENGINE: &[Row<Value>] = &[
    value("iodepth", "N", |d, t| put_number(&mut d.options.io.depth, t, [1, 1 << 15]),
        "I/Os in flight of each worker").default("1").exact("blocks.depth", "4"),
    switch("direct", |d, t| put(&mut d.options.io.direct, t), "bypass the page cache")
        .exact("blocks.direct", "true"),
    switch("nodiocheck", |d, t| put(&mut d.options.io.no_alignment_check, t),
        "do not look whether direct I/O is aligned")
        .near("", "true", "the kernel's refusal is reported instead"),
    switch("mmap", |d, t| put(&mut d.options.io.mmap, t), "map files instead of reading them")
        .exact("blocks.engine", "true"),
    value("madv", "LIST", |d, t| advice(t, MAP_ADVICE).map(|all| d.options.io.map_advice = all),
        "advice about mappings, in turn: seq, rand, willneed, dontneed, hugepage, nohugepage")
        .exact("blocks.hints.map_advice", "seq,hugepage"),
    value("fadv", "LIST", |d, t| advice(t, FILE_ADVICE).map(|all| d.options.io.file_advice = all),
        "advice about files, given in turn: seq, rand, willneed, dontneed, noreuse")
        .exact("blocks.hints.advice", "seq,willneed"),
    value("flock", "WORD", file_lock, "lock around each I/O: range or full")
        .near("blocks.lock", "range", "workers exclude each other, as processes do; each has one \
              I/O in flight"),
    value("limitread", "SIZE", |d, t| put_size(&mut d.options.io.read_limit_bytes_per_s, t),
        "bytes per second that each worker reads at most").default("0")
        .near("blocks.pace", "8m", "the rate is held smoothly, not by bursts of a second"),
    value("limitwrite", "SIZE", |d, t| put_size(&mut d.options.io.write_limit_bytes_per_s, t),
        "bytes per second that each worker writes at most").default("0")
        .near("blocks.pace", "8m", "the rate is held smoothly, not by bursts of a second"),
];

#[rustfmt::skip]
pub(super) const DATA: &[Row<Value>] = &[
    value("blockvarpct", "PERCENT",
        |d, t| put_number(&mut d.options.data.variance_percent, t, [0, 100]),
        "share of each block with new random bytes").default("100")
        .near("blocks.content", "0", "random bytes are made outside of the measured time; the \
              rest of a block is zero"),
    value("blockvaralgo", "WORD", |_, t| choose(t, ALGORITHMS).map(|_| ()),
        "source of random bytes")
        .idle("fast", "random bytes are made outside of the measured time, by one generator"),
    value("verify", "SALT", |d, t| put_number(&mut d.options.data.verify_salt, t, [0, u64::MAX]),
        "write words of offset and salt, and compare them on reads").default("0")
        .exact("blocks.verify", "1"),
    switch("verifydirect", |d, t| put(&mut d.options.data.verify_direct, t),
        "read each block back when it has been written").exact("blocks.verify.read_back", "true"),
];

#[rustfmt::skip]
pub(super) const MIX: &[Row<Value>] = &[
    value("rwmixpct", "PERCENT",
        |d, t| put_some_number(&mut d.options.mix.read_percent, t, [0, 100]),
        "share of blocks of the write phase that are read").exact("blocks.mix", "70"),
    value("rwmixthr", "N",
        |d, t| put_some_number(&mut d.options.mix.read_threads, t, [0, 1 << 16]),
        "workers that read in the write phase").exact("job.part", "1"),
    value("rwmixthrpct", "PERCENT",
        |d, t| put_number(&mut d.options.mix.read_threads_percent, t, [0, 99]),
        "share of bytes that those workers read, with --infloop").default("0")
        .exact("pace.flow", "70"),
];

#[rustfmt::skip]
pub(super) const LISTS: &[Row<Value>] = &[
    value("treefile", "FILE", |d, t| store(&mut d.options.list.tree_file, Some(t.to_owned())),
        "list of directories and files, which takes the place of -n, -N and -s")
        .exact("target.listing.file", "f"),
    value("treescan", "DIR", |d, t| store(&mut d.options.list.tree_scan, Some(t.to_owned())),
        "write such a list of a directory into the file of --treefile, before any phase")
        .exact("", "d"),
    value("sharesize", "SIZE", |d, t| put_some_size(&mut d.options.list.share_bytes, t),
        "files above it are cut among all workers; 32 blocks, also for 0")
        .near("target.listing.share_above", "8m",
            "such files form one range, of which each worker has a slice"),
    value("treeroundup", "SIZE", |d, t| put_size(&mut d.options.list.round_up_bytes, t),
        "sizes of files are rounded up to a multiple of it").default("0")
        .exact("target.listing.round_up", "4k"),
    switch("treerand", |d, t| put(&mut d.options.list.shuffled, t), "shuffle the files")
        .near("target.listing.shuffled", "true", "the order is the same in each run"),
    switch("treeroundrob", |d, t| put(&mut d.options.list.round_robin, t),
        "workers take files in turn, instead of balanced by bytes")
        .exact("target.listing.deal", "true"),
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

fn random_source(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    choose(text, ALGORITHMS)?;
    store(&mut draft.options.access.random_source, RandomSource::Drawn)
}

const LOCKS: &[Choice] = &[word("range", "the bytes of the block"), word("full", "the whole file")];

fn file_lock(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    draft.options.io.lock = match choose(text, LOCKS)? {
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
