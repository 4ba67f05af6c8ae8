//! Bytes that are written: compression, deduplication, patterns.

use std::io;
use std::path::Path;

use candor_plan::blocks::{Content, Duplicates, Fill, HotSets, Pattern};
use candor_plan::{Bytes, path_of};

use super::Request;
use crate::definitions::dedup::{Dedup, FlipFlop, SETS_PERCENT};
use candor_front::{Diagnostics, ReadAs};

/// Default of `dedupunit=`.
const DEDUP_UNIT: u64 = 128 << 10;

/// Longest file of a pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Content of written blocks, from general parameters, a lun and a loop.
pub(super) fn content(
    request: &Request<'_>,
    of_lun: &Dedup,
    compression_ratio: f64,
    block_bytes: u64,
    out: &mut Diagnostics,
) -> Content {
    let general = request.file.general();
    let mut content = Content::default();
    if let Some(file) = &general.options.pattern {
        match pattern(request, file) {
            Ok(pattern) => {
                (content.fill, content.pattern) = (Fill::Pattern, Some(pattern));
            }
            Err(sentence) => {
                let remedy = "name a file of 1 byte to 256 KiB, or a directory that has `default`";
                out.wrong(&general.in_texts(request.texts), "pattern", sentence, remedy);
            }
        }
        return content;
    }
    content.compressible_percent = saved_percent(compression_ratio);
    let dedup = joined(&general.options.dedup, of_lun);
    let Some(ratio) = dedup.ratio.filter(|ratio| *ratio > 1.0) else { return content };
    content.duplicate_percent = saved_percent(ratio);
    let sets = dedup.sets.unwrap_or(-SETS_PERCENT);
    let scope = general.in_texts(request.texts);
    let percent = if sets < 0.0 {
        -sets
    } else {
        let why = "a working set is a share of the lun in candor's content";
        out.note(&scope, "dedupsets", "a working set of 5 % of the lun", why);
        SETS_PERCENT
    };
    let shared = dedup.across.unwrap_or(true);
    content.duplicates =
        Duplicates::WorkingSet { percent: percent.round().clamp(1.0, 100.0) as u8, shared };
    if let Some(unit) = dedup.unit.filter(|unit| *unit != block_bytes) {
        let why = format!(
            "blocks that repeat are whole operations of {block_bytes} bytes, not units of {unit}"
        );
        out.note(&scope, "dedupunit", "blocks.content.duplicates", &why);
    }
    if dedup.flip_flop == FlipFlop::No {
        let why = "a unique block that is written again has new bytes, as with dedupflipflop=yes";
        out.note(&scope, "dedupratio", "blocks.content", why);
    }
    if dedup.flip_flop == FlipFlop::Hot {
        let why = "blocks of hot sets have the same bytes each time; remove it";
        out.refuse(&scope, "dedupflipflop", why);
    }
    content.hot_sets = (!dedup.hot_sets.is_empty()).then(|| HotSets {
        unit: Bytes(dedup.unit.unwrap_or(DEDUP_UNIT)),
        sets: dedup.hot_sets.iter().map(|(sets, blocks)| [*sets as u32, *blocks as u32]).collect(),
    });
    content
}

/// Deduplication of a lun; missing settings come from the general parameters.
pub(super) fn joined(general: &Dedup, of_lun: &Dedup) -> Dedup {
    Dedup {
        ratio: of_lun.ratio.or(general.ratio),
        unit: of_lun.unit.or(general.unit),
        sets: of_lun.sets.or(general.sets),
        hot_sets: if of_lun.hot_sets.is_empty() {
            general.hot_sets.clone()
        } else {
            of_lun.hot_sets.clone()
        },
        flip_flop: match of_lun.flip_flop {
            FlipFlop::No => general.flip_flop,
            own => own,
        },
        across: of_lun.across.or(general.across),
        max_key: of_lun.max_key.or(general.max_key),
    }
}

/// Share of the bytes that a ratio saves, in whole percent.
fn saved_percent(ratio: f64) -> u8 {
    (100.0 * (1.0 - 1.0 / ratio.max(1.0))).round() as u8
}

/// The bytes of a file, and one more than a pattern may have.
fn pattern_bytes(request: &Request<'_>, path: &Path) -> io::Result<Vec<u8>> {
    request.host.first_bytes(path, ReadAs::Input, PATTERN_BYTES_MAX + 1)
}

/// The bytes of a file, or of the file `default` in a directory.
fn pattern(request: &Request<'_>, file: &str) -> Result<Pattern, String> {
    let path = path_of(file);
    let bytes = pattern_bytes(request, &path);
    let bytes = bytes.or_else(|_| pattern_bytes(request, &path.join("default")));
    let bytes = bytes.map_err(|why| format!("pattern={file} cannot be read: {why}"))?;
    let length = bytes.len();
    if length > PATTERN_BYTES_MAX {
        return Err(format!("pattern={file} has more than {PATTERN_BYTES_MAX} bytes"));
    }
    let pattern = Pattern::empty().then(&bytes).finish();
    pattern.ok_or_else(|| format!("pattern={file} has {length} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_shares_that_are_saved() {
        let of =
            |ratios: &[f64]| ratios.iter().map(|ratio| saved_percent(*ratio)).collect::<Vec<_>>();
        assert_eq!(of(&[1.0, 2.0, 4.0, 1.5, 1e6]), [0, 50, 75, 33, 100]);
    }

    #[test]
    fn luns_go_before_general_parameters() {
        let general = Dedup { ratio: Some(2.0), sets: Some(-10.0), ..Dedup::default() };
        let lun = Dedup {
            ratio: Some(4.0),
            flip_flop: FlipFlop::Yes,
            hot_sets: vec![(10, 2)],
            ..Dedup::default()
        };
        let both = joined(&general, &lun);
        assert_eq!(
            (both.ratio, both.sets, both.flip_flop, both.hot_sets),
            (Some(4.0), Some(-10.0), FlipFlop::Yes, vec![(10, 2)])
        );
    }
}
