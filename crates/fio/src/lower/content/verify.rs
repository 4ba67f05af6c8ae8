//! Headers in written blocks, and reading them back.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use candor_plan::blocks::{
    FileOrder, Fill, Format, HeaderVersion, LastWrite, Pattern, ReadBack, Sum, TrimWritten,
    UnknownBlocks, Verify, Written,
};
use candor_plan::units::{Direction, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, PathText};

use crate::job::{SavedWrites, StateFile};
use crate::lower::content::patterns;
use crate::lower::instance::Instance;
use crate::options::{self, ContinueOn, Method, VerifyPolicy};
use crate::state;
use candor_front::{Diagnostics, ReadAs};

pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    blocks: &mut Blocks,
    diagnostics: &mut Diagnostics,
) {
    let options = &from.options.verify;
    // An invalid pattern is reported even without verification.
    let text = options.pattern.as_deref();
    let pattern = text.map(|text| patterns::lower(from, "verify_pattern", text, diagnostics));
    let Some(mut format) = format(options.method) else { return };
    if blocks.engine == Engine::Null && format != Format::Nothing {
        let why = "ioengine=null moves no bytes";
        diagnostics.note(from, "verify", "blocks are read back, and nothing is compared", why);
        format = Format::Nothing;
    }
    let direction = from.options.rw.direction;
    let compares_pattern = matches!(format, Format::Pattern | Format::Acca(Sum::Pattern));
    if let Some(pattern) = pattern {
        fill_with(pattern, options.pattern_interval, blocks);
        if compares_pattern && overlaps(blocks) {
            place_in_file(from, blocks, diagnostics);
        }
    } else if compares_pattern {
        return diagnostics.refuse(
            from,
            "verify",
            "verify_pattern is the expected content, and is not set",
        );
    }
    if blocks.size.iter().any(|(_, size)| matches!(size, SizeSpec::Stepped(..))) {
        let why = "blocks of any number of bytes have no common interval to verify; give sizes \
                   that are multiples of the least one";
        return diagnostics.refuse(from, "bs_unaligned", why);
    }
    if format == Format::Acca(Sum::Sha512) {
        let why = "fio stores what its buffer held last: damage in the middle goes unseen";
        diagnostics.note(from, "verify", "headers as fio writes and checks them", why);
    }
    let reads_back = direction.writes() && (options.read_back || options.only);
    let backlog = options.backlog.filter(|_| !options.only).unwrap_or(0);
    blocks.verify = Some(Verify {
        interval: Bytes(interval(options.interval, blocks, format)),
        format,
        header_version: header_version(from, diagnostics),
        header_at: Bytes(options.offset.filter(|_| matches!(format, Format::Acca(_))).unwrap_or(0)),
        continue_on_mismatch: !options.fatal
            && matches!(from.options.errors.continue_on, ContinueOn::Verify | ContinueOn::All),
        // Mixed work may read unwritten blocks.
        reads: !direction.writes(),
        generations: options.header_seed && options.write_sequence,
        // fio treats every block that it reads as written.
        unknown: UnknownBlocks::Check,
        dry_run: dry_run(from, format, diagnostics),
        read_back: reads_back.then_some(ReadBack {
            only: options.only,
            every: backlog,
            batch: options.backlog_batch.filter(|_| backlog > 0).unwrap_or(0),
            // fio's time ends reading back too.
            after_time: false,
            trims: trims(options).filter(|_| !options.only),
        }),
        zeros_after_trim: options.trim_zero && trims(options).is_some(),
        last_writes: saved(from).map_or(0, |state| state.depth),
        written: options.state_load.then(|| loaded(from, blocks, diagnostics)).flatten(),
        dump: options.dump.then(|| PathBuf::from(".")),
        ..Verify::default()
    });
}

/// Fills blocks with a pattern that starts over after a number of bytes, 0 for never.
fn fill_with(pattern: Option<Pattern>, interval: u64, blocks: &mut Blocks) {
    let every = usize::try_from(interval).ok().and_then(NonZeroUsize::new);
    blocks.content.pattern = match every {
        Some(every) => pattern.map(|pattern| pattern.anew_every(every)),
        None => pattern,
    };
    blocks.content.fill = Fill::Pattern;
}

/// Environment variable that selects the version of headers by the version of fio.
const HEADERS: &str = "CANDOR_VERIFY_HEADERS";

fn header_version(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> HeaderVersion {
    match from.host.variable(HEADERS).as_deref() {
        None | Some("" | "3.42") => HeaderVersion::V1,
        Some("3.33") => HeaderVersion::Unversioned,
        Some(other) => {
            let message = format!("{HEADERS} is `{other}`, no version of headers");
            diagnostics.wrong(from, "verify", message, "set it to 3.42 or 3.33, or unset it");
            HeaderVersion::V1
        }
    }
}

/// How a job that only reads finds the last write to each block. fio does so only with an option
/// for it.
fn dry_run(
    from: &Instance<'_>,
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<LastWrite> {
    let (options, given) = (&from.options.verify, &from.options.given);
    let writes = from.options.rw.direction.writes();
    if !matches!(format, Format::Acca(_)) || (writes && !options.only) {
        return None;
    }
    let by_seed = options.header_seed && given.has("verify_header_seed");
    let by_number = writes && options.write_sequence && given.has("verify_write_sequence");
    let by = match (by_seed, by_number) {
        (true, true) => LastWrite::Both,
        (true, false) => LastWrite::Seed,
        (false, true) => LastWrite::Number,
        (false, false) => return None,
    };
    let is_drawn = from.options.rw.direction.is_random() && from.options.random.no_map;
    let may_repeat = from.options.area.io_size.is_some() && !is_drawn;
    let why = match (from.options.runtime.time_based, may_repeat) {
        _ if options.state_load => return Some(by),
        (true, _) => "where time ended the writes is known from their state alone",
        (_, true) => "how often io_size wrote a block is known from the state of the writes alone",
        _ => return Some(by),
    };
    let option = if by_seed { "verify_header_seed" } else { "verify_write_sequence" };
    diagnostics.note(from, option, "blocks of any write are accepted", why);
    None
}

/// Some of the writes are trimmed: none without `trim_backlog`.
fn trims(options: &options::Verify) -> Option<TrimWritten> {
    let every = options.trim_backlog.filter(|every| *every > 0)?;
    let percent = options.trim_percent.min(100) as u8;
    let batch = options.trim_backlog_batch.unwrap_or(0);
    (percent > 0).then_some(TrimWritten { percent, every, batch })
}

/// State file of a job, if it writes verifiable data.
pub(in crate::lower) fn saved(from: &Instance<'_>) -> Option<StateFile> {
    let options = &from.options.verify;
    // A verification without writes leaves the loaded state unchanged.
    let saves = options.state_save && !(options.only && options.state_load);
    let saves = saves && options.method != Method::None && from.options.rw.direction.writes();
    saves.then(|| StateFile {
        path: state::path(from.aux_path, from.name, from.number),
        depth: u32::try_from(from.options.issue.depth).unwrap_or(u32::MAX).max(1),
        holds: match options.policy {
            VerifyPolicy::Completed => SavedWrites::Completed,
            VerifyPolicy::Fsynced => {
                let sync = &from.options.durability;
                SavedWrites::Synced { at_end: sync.at_end || sync.on_close }
            }
        },
    })
}

/// The state that this job was saved with.
fn loaded(from: &Instance<'_>, blocks: &Blocks, diagnostics: &mut Diagnostics) -> Option<Written> {
    let path = state::path(from.aux_path, from.name, from.number);
    let wrong = |why: String| format!("the state in {} cannot be used: {why}", path.text());
    let bytes = match from.host.first_bytes(&path, ReadAs::State, state::BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(cause) => {
            let remedy = "write the data with verify_state_save=1 first, in a job of this name";
            let message = wrong(format!("it cannot be read: {cause}"));
            diagnostics.wrong(from, "verify_state_load", message, remedy);
            return None;
        }
    };
    let draws = from.options.rw.direction.is_random()
        || blocks.rotation.order == FileOrder::Random
        || blocks.size.iter().any(|(_, size)| !matches!(size, SizeSpec::Fixed(_)));
    match state::decoded(&bytes) {
        Ok(loaded) if draws && !loaded.own => {
            let message = wrong("another program drew the offsets or sizes of that job".into());
            let remedy = "verify with that program, or without verify_state_load";
            diagnostics.wrong(from, "verify_state_load", message, remedy);
            None
        }
        Ok(loaded) => Some(loaded.written),
        Err(why) => {
            diagnostics.wrong(from, "verify_state_load", wrong(why), "write the data again");
            None
        }
    }
}

fn format(method: Method) -> Option<Format> {
    Some(match method {
        Method::None => return None,
        Method::Pattern => Format::Pattern,
        Method::Null => Format::Nothing,
        Method::PatternHeader => Format::Acca(Sum::Pattern),
        Method::Meta => Format::Acca(Sum::None),
        Method::Md5 => Format::Acca(Sum::Md5),
        Method::Crc64 => Format::Acca(Sum::Crc64),
        Method::Crc32 => Format::Acca(Sum::Crc32),
        Method::Crc32c => Format::Acca(Sum::Crc32c),
        Method::Crc16 => Format::Acca(Sum::Crc16),
        Method::Crc7 => Format::Acca(Sum::Crc7),
        Method::Sha1 => Format::Acca(Sum::Sha1),
        Method::Sha256 => Format::Acca(Sum::Sha256),
        Method::Sha512 => Format::Acca(Sum::Sha512),
        Method::Sha3_224 => Format::Acca(Sum::Sha3_224),
        Method::Sha3_256 => Format::Acca(Sum::Sha3_256),
        Method::Sha3_384 => Format::Acca(Sum::Sha3_384),
        Method::Sha3_512 => Format::Acca(Sum::Sha3_512),
        Method::Xxhash => Format::Acca(Sum::Xxhash),
    })
}

/// Has a pattern of several bytes begin at offsets in the file.
fn place_in_file(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let Some(pattern) = blocks.content.pattern.take_if(|pattern| pattern.len() > 1) else { return };
    let did = "the pattern begins at offsets in the file, not with each block";
    let why = "blocks at random offsets may replace parts of other blocks";
    diagnostics.note(from, "verify_pattern", did, why);
    blocks.content.pattern = Some(pattern.in_file());
}

/// True if a random block may replace a part of another one.
fn overlaps(blocks: &Blocks) -> bool {
    let align = blocks.align.map_or(0, |align| align.write.0);
    blocks.access.is_random()
        && sizes(&blocks.size.write)
            .into_iter()
            .any(|size| align > 0 && !align.is_multiple_of(size))
}

/// The requested interval, else the smallest block. If it does not divide every block, and no
/// interval was requested, the largest divisor of all blocks and their alignment.
fn interval(requested: Option<u64>, blocks: &Blocks, format: Format) -> u64 {
    let used = Direction::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0);
    let mut sizes: Vec<u64> = used.flat_map(|op| sizes(blocks.size.of(op))).collect();
    let least = sizes.iter().copied().min().unwrap_or(4096);
    if requested.is_none() {
        sizes.extend(blocks.align.iter().map(|align| align.write.0).filter(|align| *align > 0));
    }
    // A pattern begins with each block and has no header to put at intervals.
    let requested =
        requested.filter(|_| format != Format::Pattern).unwrap_or(least).min(least).max(1);
    let divides = |interval: u64| sizes.iter().all(|size| size.is_multiple_of(interval));
    if divides(requested) {
        requested
    } else {
        sizes.iter().copied().reduce(gcd).unwrap_or(requested)
    }
}

fn sizes(spec: &SizeSpec) -> Vec<u64> {
    match spec {
        SizeSpec::Weighted(list) => list.iter().map(|(size, _)| size.0).collect(),
        spec => vec![spec.min().0, spec.max().0],
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
