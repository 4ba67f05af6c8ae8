//! Loops of a run definition: one run per value.

use super::Rd;
use crate::definitions::fwd::FileOperation;
use crate::values::{self, Unit};
use candor_front::Refused;

/// Parameter of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// Bytes per operation.
    TransferSize,
    /// Operations in flight of each lun, or threads of a workload.
    Threads,
    /// Percent of reads.
    ReadPercent,
    /// Percent of reads in the hit area.
    ReadHitPercent,
    /// Percent of writes in the hit area.
    WriteHitPercent,
    /// Percent of random offsets; -1 is `eof`.
    SeekPercent,
    /// Bytes of the hit area.
    HitArea,
    /// Compression ratio.
    CompressionRatio,
    /// Depth of the tree.
    Depth,
    /// Width of the tree.
    Width,
    /// Files in each directory.
    Files,
    /// Size of files.
    FileSize,
    /// Bytes of all files.
    TotalSize,
    /// Working set in bytes.
    WorkingSet,
    /// Operation on files.
    Operation,
    /// Rate of operations on luns.
    IoRate,
    /// Rate of operations on files.
    FwdRate,
}

impl LoopKind {
    /// Name in headings.
    pub fn shown(self) -> &'static str {
        match self {
            LoopKind::TransferSize => "xfersize",
            LoopKind::Threads => "threads",
            LoopKind::ReadPercent => "rdpct",
            LoopKind::ReadHitPercent => "rhpct",
            LoopKind::WriteHitPercent => "whpct",
            LoopKind::SeekPercent => "seekpct",
            LoopKind::HitArea => "hitarea",
            LoopKind::CompressionRatio => "comp",
            LoopKind::Depth => "depth",
            LoopKind::Width => "width",
            LoopKind::Files => "files",
            LoopKind::FileSize => "sizes",
            LoopKind::TotalSize => "totalsize",
            LoopKind::WorkingSet => "wss",
            LoopKind::Operation => "operation",
            LoopKind::IoRate => "iorate",
            LoopKind::FwdRate => "fwdrate",
        }
    }

    /// Minimum and maximum.
    fn bounds(self) -> [f64; 2] {
        const ANY: f64 = 1e18;
        match self {
            LoopKind::TransferSize | LoopKind::Depth | LoopKind::Width => [1.0, ANY],
            LoopKind::Files | LoopKind::CompressionRatio => [1.0, ANY],
            LoopKind::Threads => [0.0, 65_536.0],
            LoopKind::ReadPercent | LoopKind::ReadHitPercent => [0.0, 100.0],
            LoopKind::WriteHitPercent => [0.0, 100.0],
            LoopKind::SeekPercent => [-1.0, 100.0],
            LoopKind::HitArea | LoopKind::FileSize => [0.0, ANY],
            LoopKind::WorkingSet | LoopKind::TotalSize => [-100.0, ANY],
            LoopKind::Operation | LoopKind::IoRate | LoopKind::FwdRate => [-1000.0, ANY],
        }
    }
}

/// Values of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopValues {
    /// Numbers; negative ones are percent.
    Numbers(Vec<f64>),
    /// Operations on files.
    Operations(Vec<FileOperation>),
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Parameter of the loop.
    pub kind: LoopKind,
    /// Values, in order.
    pub values: LoopValues,
}

/// Adds an inner loop; it replaces an earlier loop over the same parameter.
pub(super) fn put(rd: &mut Rd, added: Loop) {
    rd.loops.retain(|known| known.kind != added.kind);
    rd.loops.push(added);
}

/// Reads numbers and adds a loop over them.
pub(super) fn add(rd: &mut Rd, kind: LoopKind, text: &str) -> Result<(), Refused> {
    let numbers = match kind {
        LoopKind::SeekPercent => seeks(text)?,
        _ => values::numbers(text, Unit::Size)?,
    };
    let [min, max] = kind.bounds();
    if let Some(wrong) = numbers.iter().find(|number| !(min..=max).contains(*number)) {
        let message = format!("{}={wrong} is out of range", kind.shown());
        return Err(Refused::whole(text, message, format!("give {min} to {max}")));
    }
    put(rd, Loop { kind, values: LoopValues::Numbers(numbers) });
    Ok(())
}

/// Percent of random offsets, as numbers or words.
fn seeks(text: &str) -> Result<Vec<f64>, Refused> {
    const WORDS: &[&str] = &["sequential", "random", "eof"];
    let items = values::items(text, false)?;
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    if !items.iter().any(|item| is_word(&item.text)) {
        return values::numbers(text, Unit::Size);
    }
    items
        .iter()
        .map(|item| match values::abbreviated(&item.text, WORDS) {
            Some("sequential") => Ok(0.0),
            Some("random") => Ok(100.0),
            Some("eof") => Ok(-1.0),
            _ => item.text.parse().map_err(|_| values::no_choice(text, &item.text, WORDS)),
        })
        .collect()
}

/// Compressed sizes in percent, as ratios with three decimals.
pub(super) fn add_compression(rd: &mut Rd, text: &str) -> Result<(), Refused> {
    let percents = values::numbers(text, Unit::Size)?;
    if percents.iter().any(|percent| !(*percent > 0.0 && *percent <= 100.0)) {
        let message = format!("`{text}` has a share that no data can have");
        return Err(Refused::whole(text, message, "give percent above 0 and up to 100"));
    }
    let values = LoopValues::Numbers(
        percents.into_iter().map(|percent| (100_000.0 / percent).round() / 1000.0).collect(),
    );
    put(rd, Loop { kind: LoopKind::CompressionRatio, values });
    Ok(())
}

/// Operations on files.
pub(super) fn add_operations(rd: &mut Rd, text: &str) -> Result<(), Refused> {
    let operations = super::operations(text)?;
    put(rd, Loop { kind: LoopKind::Operation, values: LoopValues::Operations(operations) });
    Ok(())
}
