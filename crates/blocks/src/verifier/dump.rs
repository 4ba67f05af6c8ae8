//! Dumps of mismatching blocks into files, for the analysis of the damage.

use std::path::{Path, PathBuf};

use candor_plan::PathText;
use candor_plan::blocks::{Content as ContentPlan, Fill, Pattern};

use candor_bytes::content::{Content, Origin, pool};
use candor_bytes::verify::Form;
use candor_bytes::verify::fio_header::FioHeader;

/// Writes the received bytes and, if known, the expected bytes. Returns a phrase that names the
/// files. A block with a bad header has no `expected`, and a dump of another kind.
pub fn dump(stem: &Path, received: &[u8], expected: Option<Option<Vec<u8>>>) -> String {
    let Some(expected) = expected else { return put(stem, "hdr_fail", received) };
    let received = put(stem, "received", received);
    match expected {
        None => format!("{received}; expected data cannot be made again"),
        Some(bytes) => received + &put(stem, "expected", &bytes),
    }
}

fn put(stem: &Path, kind: &str, bytes: &[u8]) -> String {
    let mut name = stem.as_os_str().to_owned();
    name.push(format!(".{kind}"));
    let path = PathBuf::from(name);
    match candor_files::replace(&path, bytes) {
        Ok(()) => {
            let name = path.file_name().unwrap_or_default().text();
            format!("; {kind} data dumped as {name}")
        }
        Err(error) => format!("; {kind} data not dumped as {}: {error}", path.text()),
    }
}

/// Position of a block in a read.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Offset of the read.
    pub read_offset: u64,
    /// Distance of the block from the start of the read.
    pub at: usize,
}

/// Expected bytes of a block with a correct header, computed from the header's seed or from the
/// pattern. None if the bytes do not have the header's checksum, because another program wrote
/// them.
pub fn expected(
    form: &Form,
    plan: &ContentPlan,
    seed: u64,
    block: &[u8],
    position: Position,
) -> Option<Vec<u8>> {
    let Position { read_offset, at } = position;
    let acca = match form {
        Form::Own | Form::Nothing => return None,
        Form::Pattern(pattern) => return Some(of_pattern(pattern, position, block.len())),
        Form::Words(words) => {
            let mut bytes = vec![0; block.len()];
            words.fill(&mut bytes, read_offset + at as u64);
            return Some(bytes);
        }
        Form::Acca(acca, _) => acca,
    };
    let made = match (&plan.pattern, plan.fill) {
        (Some(pattern), Fill::Pattern) => of_pattern(pattern, position, block.len()),
        _ => {
            let origin = Origin { seed, plan_seed: seed, rank: 0, reads: true, blocks: 0 };
            let content = Content::new(plan.clone(), pool(seed), &origin);
            let mut bytes = vec![0; block.len()];
            content.keyed(&mut bytes, FioHeader::seed_in(block), read_offset);
            bytes
        }
    };
    acca.with_header_of(block, made)
}

fn of_pattern(pattern: &Pattern, position: Position, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; position.at + length];
    pattern.fill(&mut bytes, position.read_offset);
    bytes.split_off(position.at)
}
