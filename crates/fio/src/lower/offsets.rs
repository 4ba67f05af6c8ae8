//! Directions, block sizes, and the order of offsets.

pub(super) mod amounts;
pub(super) mod zones;

use candor_plan::blocks::{Access, FileOrder, Position, Rotation, Stay, StayAt, Windows, Zone};
use candor_plan::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes};

use super::instance::{Instance, mixed};
use super::names;
use crate::options::{Amount, Distribution, Generator, RwMode, Sequencer, Service, ZoneMode};
use crate::values::Share;
use candor_front::Diagnostics;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    blocks.mix = mix(from);
    blocks.pairs = from.options.rw.direction.trims_and_writes();
    blocks.size = sizes(from);
    blocks.rotation = rotation(from);
    blocks.windows = windows(from, diagnostics);
    blocks.zones = zones::lower(from, diagnostics);
    if from.options.rw.direction.is_random() {
        random(from, blocks, diagnostics);
    } else {
        ordered(from, blocks, diagnostics);
    }
}

fn mix(from: &Instance<'_>) -> Mix {
    let rw = &from.options.rw;
    match rw.direction {
        RwMode::Read | RwMode::RandRead => Mix::READ,
        RwMode::Write | RwMode::RandWrite => Mix::WRITE,
        RwMode::Trim | RwMode::RandTrim => Mix::TRIM,
        RwMode::ReadWrite | RwMode::RandReadWrite => {
            let read = rw.mix_read.min(100) as u8;
            Mix { read, write: 100 - read, trim: 0 }
        }
        RwMode::TrimWrite | RwMode::RandTrimWrite => Mix { read: 0, write: 50, trim: 50 },
    }
}

/// A split overrides a range, and a range overrides one size. By order, the sizes of reads are for
/// sequential operations, the sizes of writes for random ones.
fn sizes(from: &Instance<'_>) -> PerDirection<SizeSpec> {
    if from.options.blocks.by_order {
        let only_random = from.options.rw.direction.is_random() && !jumps_at_times(from);
        return PerDirection::all(size(
            from,
            if only_random { Direction::Write } else { Direction::Read },
        ));
    }
    let one = |op| size(from, op);
    PerDirection {
        read: one(Direction::Read),
        write: one(Direction::Write),
        trim: one(Direction::Trim),
    }
}

fn size(from: &Instance<'_>, op: Direction) -> SizeSpec {
    let options = &from.options.blocks;
    let split = options.split.as_ref().map(|split| split.of(op)).filter(|list| !list.is_empty());
    match (split, options.range.as_ref().map(|range| *range.of(op))) {
        (Some(list), _) => weights(list),
        (None, Some((low, high))) if low < high => {
            let (low, high) = (Bytes(low), Bytes(high));
            if options.unaligned {
                SizeSpec::Stepped(low, high, Bytes(1))
            } else {
                SizeSpec::Range(low, high)
            }
        }
        (None, Some((size, _))) => SizeSpec::Fixed(Bytes(size)),
        (None, None) => SizeSpec::Fixed(Bytes(*options.fixed.of(op))),
    }
}

/// Percentages with a sum of 100: empty values share the rest equally, and the last one receives
/// the remainder.
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

/// Choice of the next file. Distributions draw a file for each operation.
fn rotation(from: &Instance<'_>) -> Rotation {
    let files = &from.options.files;
    let parameter = |usual: f64| files.service.parameter.unwrap_or(usual);
    let order = match files.service.rule {
        Service::RoundRobin => FileOrder::RoundRobin,
        Service::Random => FileOrder::Random,
        Service::Sequential => FileOrder::Sequential,
        Service::Zipf => FileOrder::Zipf { theta: parameter(1.1) },
        Service::Pareto => FileOrder::Pareto { h: parameter(0.2) },
        Service::Normal => FileOrder::Normal { deviation_percent: parameter(10.0) },
    };
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Rotation {
        order,
        every: number(files.service.every.unwrap_or(1).max(1)),
        at_once: files.open.map(number).filter(|open| *open > 0),
    }
}

fn windows(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<Windows> {
    let zones = &from.options.zones;
    match zones.mode {
        ZoneMode::None if zones.size > 0 => {
            let message = "zones have a size, but zonemode is none".to_owned();
            let known_as = "--zonemode=none and --zonesize are not compatible";
            let remedy = "set zonemode=strided, or remove zonesize";
            diagnostics.wrong_known_as(from, "zonesize", message, known_as, remedy);
            return None;
        }
        ZoneMode::None | ZoneMode::Zbd => return None,
        ZoneMode::Strided => {}
    }
    let gap = match zones::in_bytes(from, zones.skip, "zoneskip", diagnostics) {
        Amount::Bytes(bytes) => bytes,
        _ => {
            diagnostics.refuse(from, "zoneskip", "only bytes and zones can be left out");
            0
        }
    };
    if zones.size == 0 {
        diagnostics.refuse(from, "zonemode", "zones need a zonesize");
        return None;
    }
    let length = if zones.range == 0 { zones.size } else { zones.range };
    Some(Windows { length: Bytes(length), bytes: Bytes(zones.size), gap: Bytes(gap) })
}

/// Each direction goes through the files by itself.
fn ordered(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    if from.options.random.precondition.on {
        let message = "preconditioning writes at random".to_owned();
        diagnostics.wrong_known_as(from, "sprandom", message, NEEDED, "set rw=randwrite");
    }
    if from.options.rw.direction.is_mixed() {
        blocks.position = Position::PerDirection;
    }
    blocks.access = match from.options.rw.suffix {
        None | Some(0) => Access::Sequential,
        Some(hole) if hole > 0 => Access::Holes { hole: Bytes(hole.unsigned_abs()) },
        Some(back) => {
            if from.options.area.offset != Amount::Bytes(0) {
                let did = "the first operation is at the offset, as without one";
                diagnostics.note(from, "rw", did, "fio starts elsewhere after an offset");
            }
            Access::Back { step: Bytes(back.unsigned_abs()) }
        }
    };
}

/// True if some operations are random and others sequential.
fn jumps_at_times(from: &Instance<'_>) -> bool {
    let percents = from.options.random.percent;
    let mix = mix(from);
    let runs = from.options.rw.suffix.is_some_and(|every| every > 1);
    runs || percents.iter().any(|(op, percent)| mix.of(op) > 0 && *percent < 100)
}

fn random(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let options = &from.options.random;
    blocks.access = match &options.distribution {
        _ if options.precondition.on => precondition(from, blocks, diagnostics),
        Distribution::Uniform => uniform(from, blocks),
        distribution => skewed(from, distribution, diagnostics),
    };
    blocks.align = align(from, blocks);
    if !jumps_at_times(from) {
        return;
    }
    let stays = |op: Direction| 100 - (*options.percent.of(op)).min(100) as u8;
    let run = from.options.rw.suffix.unwrap_or(1).clamp(1, u32::MAX.into()) as u32;
    blocks.stay = Stay {
        percent: PerDirection {
            read: stays(Direction::Read),
            write: stays(Direction::Write),
            trim: stays(Direction::Trim),
        },
        run,
        at: match from.options.rw.sequencer {
            Sequencer::Sequential => StayAt::End,
            Sequencer::Identical => StayAt::Start,
        },
    };
    if from.options.blocks.by_order {
        blocks.jump_size = Some(size(from, Direction::Write));
    }
}

/// With a map each block occurs once per pass; lfsr does so without a map for blocks of one size. A
/// separate alignment disables the map.
fn uniform(from: &Instance<'_>, blocks: &Blocks) -> Access {
    let options = &from.options.random;
    let is_aligned = from.options.blocks.align.is_some();
    let lfsr = options.generator == Generator::Lfsr && one_size(blocks) && !is_aligned;
    let mapped = !options.no_map && !is_aligned && !from.options.zones.write_remainder;
    if lfsr || mapped { Access::Permutation } else { Access::Random }
}

/// Options that preconditioning requires.
const NEEDED: &str = "sprandom requires random write, random_generator=lfsr, norandommap=1";

/// Preconditioning draws every block once, and some again: only the generator lfsr without a map
/// suits it.
fn precondition(from: &Instance<'_>, blocks: &Blocks, diagnostics: &mut Diagnostics) -> Access {
    let (options, given) = (&from.options.random, &from.options.given);
    let mut wrong = |option: &str, message: &str, known_as: &str, remedy: &str| {
        diagnostics.wrong_known_as(from, option, message.to_owned(), known_as, remedy);
    };
    if from.options.rw.direction != RwMode::RandWrite || !one_size(blocks) {
        let message = "preconditioning writes blocks of one size at random, and does nothing else";
        wrong("sprandom", message, NEEDED, "set rw=randwrite and one bs");
    }
    if given.has("random_generator") && options.generator != Generator::Lfsr {
        let known_as = "sprandom requires random_generator=lfsr";
        wrong("random_generator", "preconditioning needs lfsr", known_as, "set it to lfsr");
    }
    if given.has("norandommap") && !options.no_map {
        let known_as = "sprandom requires norandommap=1";
        let message = "preconditioning writes blocks again, which a map forbids";
        wrong("norandommap", message, known_as, "remove norandommap=0");
    }
    if options.distribution != Distribution::Uniform {
        let message = "preconditioning has its own distribution";
        wrong("random_distribution", message, "", "remove random_distribution");
    }
    let spare_percent = options.precondition.spare * 100.0;
    if !(spare_percent > 0.0 && spare_percent < 100.0) {
        wrong("spr_op", "spr_op is not above 0 and below 1", "", "set 0.07 to 0.28");
    }
    Access::Precondition {
        regions: regions(from, diagnostics),
        spare_percent,
        rewrites_last: options.precondition.cache > 0,
    }
}

/// Regions of preconditioning: none is smaller than the device's cache, if the written size is
/// known.
fn regions(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> u32 {
    let options = &from.options.random.precondition;
    let asked = u32::try_from(options.regions).unwrap_or(u32::MAX);
    let known = match from.options.area.size {
        Some(Amount::Bytes(bytes)) => Some(bytes),
        _ => names::first(from).and_then(|path| from.host.found(&path).bytes()),
    };
    let Some(bytes) = known.filter(|_| options.cache > 0) else { return asked };
    let most = (bytes as f64 * (1.0 + options.spare) / options.cache as f64) as u32;
    if most == 0 {
        let message = "a cache that holds all that is written leaves no region".to_owned();
        diagnostics.wrong(from, "spr_cs", message, "set size, or a smaller spr_cs");
    } else if most < asked {
        let why = "a region is no smaller than the cache";
        diagnostics.note(from, "spr_num_regions", &format!("{most} regions"), why);
    }
    asked.min(most.max(1))
}

/// True if all operations have one size.
fn one_size(blocks: &Blocks) -> bool {
    let mut used = Direction::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0);
    let first = used.next().map(|op| blocks.size.of(op));
    let fixed = matches!(first, Some(SizeSpec::Fixed(_)));
    fixed && used.all(|op| Some(blocks.size.of(op)) == first)
}

fn skewed(
    from: &Instance<'_>,
    distribution: &Distribution,
    diagnostics: &mut Diagnostics,
) -> Access {
    let percent = |share: f64| share * 100.0;
    let zones = |zones: &PerDirection<Vec<(u64, u64)>>, size: fn(u64) -> Extent| {
        let of = |op| {
            zones
                .of(op)
                .iter()
                .map(|zone| Zone { access_percent: zone.0 as f64, size: size(zone.1) })
                .collect()
        };
        Access::Zoned {
            zones: PerDirection {
                read: of(Direction::Read),
                write: of(Direction::Write),
                trim: of(Direction::Trim),
            },
        }
    };
    match distribution {
        Distribution::Zipf(theta, center) => {
            Access::Zipf { theta: *theta, center_percent: center.map(percent) }
        }
        Distribution::Pareto(h, center) => {
            // A center scatters offsets like zipf; fio draws one by default.
            let drawn = mixed(from.options.random.seed) % 100;
            let center = center.map_or(drawn as f64, percent);
            Access::Pareto { h: *h, center_percent: Some(center) }
        }
        Distribution::Normal(deviation, center) => {
            let did = "blocks near the center are the popular ones";
            diagnostics.note(from, "random_distribution", did, "fio scatters them over the file");
            Access::Normal { deviation_percent: *deviation, center_percent: center.map(percent) }
        }
        Distribution::Zoned(list) => {
            zones(&to_the_end(list), |percent| Extent::Percent(percent as f64))
        }
        Distribution::ZonedAbsolute(list) => zones(list, |bytes| Extent::Bytes(Bytes(bytes))),
        Distribution::Sequence(blocks) => {
            Access::List { blocks: blocks.clone(), advances: from.options.random.stride }
        }
        Distribution::Uniform => Access::Random,
    }
}

/// Zones in percent, with an empty last zone if they end before the file.
fn to_the_end(zones: &PerDirection<Vec<(u64, u64)>>) -> PerDirection<Vec<(u64, u64)>> {
    let mut zones = zones.clone();
    for op in Direction::ALL {
        let sum: u64 = zones.of(op).iter().map(|(_, size)| size).sum();
        if sum < 100 && !zones.of(op).is_empty() {
            zones.of_mut(op).push((0, 100 - sum));
        }
    }
    zones
}

/// Random offsets are multiples of an alignment, or else of the direction's smallest block.
fn align(from: &Instance<'_>, blocks: &Blocks) -> Option<PerDirection<Bytes>> {
    let options = from.options.blocks.align;
    let of = |op: Direction| match options.as_ref().map(|align| *align.of(op)) {
        Some(align) if align > 0 => Bytes(align),
        _ => blocks.size.of(op).min(),
    };
    let align = PerDirection {
        read: of(Direction::Read),
        write: of(Direction::Write),
        trim: of(Direction::Trim),
    };
    let used = align.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    let alike = used.into_iter().all(|(_, align)| *align == blocks.smallest());
    (!alike).then_some(align)
}
