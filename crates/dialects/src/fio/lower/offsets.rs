//! Directions, block sizes, and the order of offsets.

use candor_plan::blocks::{Access, Zone};
use candor_plan::units::{Mix, Op, PerOp, SizeSpec};
use candor_plan::{Blocks, Bytes};

use super::{Instance, Told};
use crate::fio::settings::{Direction, Distribution};
use crate::fio::values::Share;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, told: &mut Told) {
    blocks.mix = mix(from, told);
    blocks.size = sizes(from);
    match from.settings.rw.direction.is_random() {
        true => random(from, blocks, told),
        false => blocks.access = ordered(from, blocks, told),
    }
    if blocks.access.is_random() {
        blocks.align = align(from, blocks.mix, told);
    }
}

fn mix(from: &Instance<'_>, told: &mut Told) -> Mix {
    let rw = &from.settings.rw;
    match rw.direction {
        Direction::Read | Direction::RandRead => Mix::READ,
        Direction::Write | Direction::RandWrite => Mix::WRITE,
        Direction::Trim | Direction::RandTrim => Mix::TRIM,
        Direction::ReadWrite | Direction::RandReadWrite => {
            let read = rw.mix_read.min(100) as u8;
            Mix { read, write: 100 - read, trim: 0 }
        }
        Direction::TrimWrite | Direction::RandTrimWrite => {
            told.refuse(from, "rw", "trims that each precede a write are not built yet");
            Mix { read: 0, write: 50, trim: 50 }
        }
    }
}

/// A split goes before a range, and a range before one size.
fn sizes(from: &Instance<'_>) -> PerOp<SizeSpec> {
    let said = &from.settings.blocks;
    let one = |op: Op| {
        let split = said.split.as_ref().map(|split| split.of(op)).filter(|list| !list.is_empty());
        match (split, said.range.as_ref().map(|range| *range.of(op))) {
            (Some(list), _) => weights(list),
            (None, Some((low, high))) if low < high => SizeSpec::Range(Bytes(low), Bytes(high)),
            (None, Some((size, _))) => SizeSpec::Fixed(Bytes(size)),
            (None, None) => SizeSpec::Fixed(Bytes(*said.fixed.of(op))),
        }
    };
    PerOp { read: one(Op::Read), write: one(Op::Write), trim: one(Op::Trim) }
}

/// Shares that add up to 100: what is blank takes equal parts of what the others leave, and what
/// is missing at the end goes to the last.
fn weights(list: &[Share]) -> SizeSpec {
    let given: u32 = list.iter().filter_map(|share| share.percent).sum();
    let blanks = list.iter().filter(|share| share.percent.is_none()).count() as u32;
    let each = 100_u32.saturating_sub(given).checked_div(blanks).unwrap_or(0);
    let mut left = 100;
    let mut weights: Vec<(Bytes, u8)> = Vec::new();
    for share in list {
        let percent = share.percent.unwrap_or(each).min(left);
        left -= percent;
        weights.push((Bytes(share.value), percent as u8));
    }
    if let Some(last) = weights.last_mut() {
        last.1 += left as u8;
    }
    weights.retain(|(_, percent)| *percent > 0);
    match weights[..] {
        [(size, _)] => SizeSpec::Fixed(size),
        _ => SizeSpec::Weighted(weights),
    }
}

fn ordered(from: &Instance<'_>, blocks: &Blocks, told: &mut Told) -> Access {
    match from.settings.rw.suffix {
        None | Some(0) => Access::Sequential,
        Some(hole) if hole > 0 => Access::Holes { hole: Bytes(hole.unsigned_abs()) },
        Some(back) => {
            if one_size(blocks).is_none_or(|size| back.unsigned_abs() != size.0 * 2) {
                let why = "going backwards is done without gaps only: by twice the block size";
                told.refuse(from, "rw", why);
            }
            Access::Backward
        }
    }
}

/// The one size of all operations, where there is one.
fn one_size(blocks: &Blocks) -> Option<Bytes> {
    let mut used = Op::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0);
    let first = blocks.size.of(used.next()?);
    match first {
        SizeSpec::Fixed(size) if used.all(|op| blocks.size.of(op) == first) => Some(*size),
        _ => None,
    }
}

fn random(from: &Instance<'_>, blocks: &mut Blocks, told: &mut Told) {
    let said = &from.settings.random;
    if from.settings.rw.suffix.is_some_and(|every| every > 1) {
        told.refuse(from, "rw", "some operations in order between jumps are not built yet");
    }
    let mut percents = said.percent.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    if percents.any(|(_, percent)| *percent < 100) {
        // The rest goes on in order, so it is the order that is left now and then.
        let share = |op: Op| (*said.percent.of(op)).min(100) as u8;
        blocks.random_percent =
            PerOp { read: share(Op::Read), write: share(Op::Write), trim: share(Op::Trim) };
        blocks.access = Access::Sequential;
        return;
    }
    blocks.access = match &said.distribution {
        Distribution::Uniform => uniform(from, blocks, told),
        distribution => skewed(from, distribution, told),
    };
}

/// With a map every block comes once per pass.
fn uniform(from: &Instance<'_>, blocks: &Blocks, told: &mut Told) -> Access {
    if from.settings.random.no_map {
        return Access::Random;
    }
    if one_size(blocks).is_some() {
        return Access::Permutation;
    }
    let did = "blocks may come twice, as with norandommap";
    let why = "taking every block once is done for blocks of one size";
    told.note(from, "rw", did, why);
    Access::Random
}

fn skewed(from: &Instance<'_>, distribution: &Distribution, told: &mut Told) -> Access {
    let option = "random_distribution";
    let centered = matches!(
        distribution,
        Distribution::Zipf(_, Some(_))
            | Distribution::Pareto(_, Some(_))
            | Distribution::Normal(_, Some(_))
    );
    if centered {
        told.refuse(from, option, "a center other than the usual one is not built yet");
    }
    match distribution {
        Distribution::Zipf(theta, _) => Access::Zipf { theta: *theta },
        Distribution::Pareto(h, _) => Access::Pareto { h: *h },
        Distribution::Normal(deviation, _) => Access::Normal { deviation_percent: *deviation },
        Distribution::Zoned(zones) if zones.read == zones.write && zones.write == zones.trim => {
            let zone = |(access, size): &(u64, u64)| Zone {
                access_percent: *access as f64,
                size_percent: *size as f64,
            };
            Access::Zoned { zones: zones.read.iter().map(zone).collect() }
        }
        Distribution::Zoned(_) => {
            told.refuse(from, option, "zones that differ by direction are not built yet");
            Access::Random
        }
        Distribution::ZonedAbsolute(_) => {
            told.refuse(from, option, "zones of so many bytes are not built yet");
            Access::Random
        }
        Distribution::Uniform | Distribution::Sequence => Access::Random,
    }
}

fn align(from: &Instance<'_>, mix: Mix, told: &mut Told) -> Option<Bytes> {
    let said = from.settings.blocks.align.as_ref()?;
    let mut used = Op::ALL.into_iter().filter(|op| mix.of(*op) > 0).map(|op| *said.of(op));
    let first = used.next()?;
    if used.any(|other| other != first) {
        told.refuse(from, "ba", "alignments that differ by direction are not built yet");
    }
    Some(Bytes(first)).filter(|align| align.0 > 0)
}
