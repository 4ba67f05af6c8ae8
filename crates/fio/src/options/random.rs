//! Random offsets.

use candor_plan::units::PerDirection;

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, bounded, head, percent, word};
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choices, row};

choices! {
    /// `random_generator`.
    pub enum Generator {
        #[default]
        Tausworthe = "Tausworthe generator": "tausworthe",
        Lfsr = "LFSR: every block once without a map": "lfsr",
        Tausworthe64 = "64-bit Tausworthe generator": "tausworthe64",
    }
}

/// `random_distribution`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Uniform,
    /// Zipf with exponent and center.
    Zipf(f64, Option<f64>),
    /// Pareto with power and center.
    Pareto(f64, Option<f64>),
    /// Normal with deviation in percent of the range, and center.
    Normal(f64, Option<f64>),
    /// Percent of accesses to percent of the range, per direction.
    Zoned(PerDirection<Vec<(u64, u64)>>),
    /// Percent of accesses to a number of bytes, per direction.
    ZonedAbsolute(PerDirection<Vec<(u64, u64)>>),
    /// Numbers of blocks, in this order.
    Sequence(Vec<u64>),
}

/// Random offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Random {
    /// `randrepeat`: the same offsets in every run.
    pub repeat: bool,
    /// `randseed`.
    pub seed: u64,
    /// `norandommap`: blocks may repeat.
    pub no_map: bool,
    /// `random_generator`.
    pub generator: Generator,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `random_sequence_stride`: each pass of a sequence starts after the previous one.
    pub stride: bool,
    /// `percentage_random`.
    pub percent: PerDirection<u64>,
    /// `sprandom` and its options.
    pub precondition: Precondition,
}

/// Preconditioning of flash.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precondition {
    /// `sprandom`.
    pub on: bool,
    /// `spr_num_regions`.
    pub regions: u64,
    /// `spr_op`: over-provisioning, as a fraction of the size.
    pub spare: f64,
    /// `spr_cs`: size of the device's cache in bytes.
    pub cache: u64,
}

/// Choices of `random_distribution`.
const DISTRIBUTIONS: &[Choice] = &[
    word("random", "uniform"),
    word("zipf", "zipf:THETA[:CENTER], theta other than 1"),
    word("pareto", "pareto:POWER[:CENTER], power between 0 and 1"),
    word("normal", "normal:DEVIATION[:CENTER], in percent"),
    word("zoned", "zoned:ACCESSES/SIZE[:…], both in percent"),
    word("zoned_abs", "zoned_abs:ACCESSES/BYTES[:…]"),
    word("sequence", "sequence:BLOCK[,BLOCK…], block numbers in order"),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("randrepeat", Kind::Bool, |s, v| s.random.repeat = v.bool(),
        "use the same offsets in every run")
        .under("rw").default("1").exact("plan.seed", "0"),
    row(
        "allrandrepeat",
        Kind::Bool,
        // Newer versions of fio treat the name as an alias of `randrepeat`.
        |s, v| s.random.repeat = v.bool(),
        "use the same offsets in every run",
    )
    .under("rw")
    .default("1")
    .exact("plan.seed", "0"),
    row("randseed", Kind::Size(0), |s, v| s.random.seed = v.int(), "seed of all random numbers")
        .under("rw").default("0x89").exact("plan.seed", "7"),
    row("norandommap", Kind::Flag, |s, v| s.random.no_map = v.bool(),
        "allow repeated and missed blocks")
        .under("rw").exact("blocks.access", "1"),
    bare("softrandommap", Kind::Bool, "continue without a map if memory is short")
        .under("norandommap").default("0")
        .idle("1", "candor needs no memory to take every block once"),
    row("random_generator", Kind::Choice(Generator::CHOICES),
        |s, v| s.random.generator = v.of(Generator::ALL), "random number generator")
        .default("tausworthe").exact("blocks.access", "lfsr"),
    bare("random_distribution", Kind::Own("DISTRIBUTION[:…]", DISTRIBUTIONS, distribution),
        "distribution of random offsets")
        .default("random").exact("blocks.access", "zipf:1.2"),
    row("random_sequence_stride", Kind::Bool, |s, v| s.random.stride = v.bool(),
        "start each pass of a sequence after the previous one")
        .under("random_distribution").default("0")
        .when(|s| matches!(s.random.distribution, Distribution::Sequence(_)))
        .exact("blocks.access.list.advances", "1"),
    row("percentage_random", Kind::Ints(0, 100), |s, v| v.ints(&mut s.random.percent),
        "percent of random offsets; others are sequential")
        .default("100").exact("blocks.stay", "30"),
    bare("percentage_sequential", Kind::Deprecated, "no longer used")
        .idle("10", "fio has dropped it"),
    row("sprandom", Kind::Bool, |s, v| s.random.precondition.on = v.bool(),
        "precondition: write the physical capacity once, in a steady-state layout")
        .under("rw").default("0").exact("blocks.access.precondition", "1"),
    row("spr_num_regions", Kind::Int(1, MANY),
        |s, v| s.random.precondition.regions = v.int(), "number of regions of sprandom")
        .under("sprandom").default("100").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.regions", "50"),
    row("spr_op", Kind::Floats(0.0, 1.0, 1),
        |s, v| s.random.precondition.spare = v.floats().first().copied().unwrap_or_default(),
        "over-provisioning as a fraction of the size, between 0 and 1")
        .under("sprandom").default("0.15").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.spare_percent", "0.1"),
    row("spr_cs", Kind::Size(0), |s, v| s.random.precondition.cache = v.int(),
        "size of the device's cache; rewrites then follow one region later")
        .under("sprandom").default("0").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.rewrites_last", "1m"),
];

/// `PARAMETER` or `PARAMETER:CENTER`.
fn parameter(text: &str, rest: Option<&str>) -> Result<(Option<f64>, Option<f64>), Refused> {
    let Some(rest) = rest else { return Ok((None, None)) };
    let numbers = values::floats(rest)?.value;
    match numbers[..] {
        [one] => Ok((Some(one), None)),
        [one, center] if (0.0..=1.0).contains(&center) => Ok((Some(one), Some(center))),
        [_, center] => {
            let message = format!("the center {center} is not within 0 to 1");
            Err(Refused::whole(text, message, "give a share of the file, such as 0.5"))
        }
        _ => {
            let message = format!("`{rest}` has more than two numbers");
            Err(Refused::whole(text, message, "give a parameter, and a center if need be"))
        }
    }
}

fn distribution(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, rest) = head(text);
    s.random.distribution = match name.trim() {
        "random" => Distribution::Uniform,
        "zipf" => {
            let (theta, center) = parameter(text, rest)?;
            let theta = theta.unwrap_or(1.1);
            let fits = theta > 0.0 && theta != 1.0;
            Distribution::Zipf(bounded(text, theta, fits, "above 0 and other than 1")?, center)
        }
        "pareto" => {
            let (h, center) = parameter(text, rest)?;
            let h = h.unwrap_or(0.2);
            let fits = h > 0.0 && h < 1.0;
            Distribution::Pareto(bounded(text, h, fits, "between 0 and 1")?, center)
        }
        "normal" | "gauss" => {
            let (deviation, center) = parameter(text, rest)?;
            let deviation = deviation.unwrap_or(0.0);
            let fits = (0.0..100.0).contains(&deviation);
            Distribution::Normal(bounded(text, deviation, fits, "0 to below 100")?, center)
        }
        "zoned" => Distribution::Zoned(zones(text, rest, percent)?),
        "zoned_abs" => Distribution::ZonedAbsolute(zones(text, rest, |part| {
            values::bytes(part, units).map(|read| read.value)
        })?),
        "sequence" => Distribution::Sequence(sequence(text, rest)?),
        _ => {
            let words = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence"];
            let near =
                candor_plan::nearest(name, words).map(|near| format!("did you mean {near}?"));
            let remedy = near.unwrap_or_else(|| format!("it takes {}", words.join(", ")));
            return Err(Refused::whole(text, format!("`{name}` is no distribution"), remedy));
        }
    };
    Ok(None)
}

/// Reads numbers of blocks, separated by commas.
fn sequence(text: &str, rest: Option<&str>) -> Result<Vec<u64>, Refused> {
    const MOST: usize = 64;
    let remedy = "write sequence:2,0,1, for example";
    let wrong = |message: String| Refused::whole(text, message, remedy);
    let rest = rest.ok_or_else(|| wrong(format!("`{text}` names no blocks")))?;
    let blocks = rest
        .split(',')
        .map(|word| {
            word.trim().parse().map_err(|_| wrong(format!("`{word}` is no number of a block")))
        })
        .collect::<Result<Vec<u64>, _>>()?;
    match blocks.len() {
        1..=MOST => Ok(blocks),
        many => Err(wrong(format!("{many} blocks are more than {MOST}"))),
    }
}

/// Reads `ACCESSES/SIZE` per zone and direction. Empty values share the rest.
fn zones(
    text: &str,
    rest: Option<&str>,
    size: impl Fn(&str) -> Result<u64, Refused>,
) -> Result<PerDirection<Vec<(u64, u64)>>, Refused> {
    let rest = rest.ok_or_else(|| {
        let message = format!("`{text}` names no zones");
        Refused::whole(text, message, "write zoned:60/10:30/20:10/70")
    })?;
    let mut lists: Vec<Vec<(u64, u64)>> = Vec::new();
    for part in rest.split(',') {
        let lines = part.split(':').map(|line| {
            let (accesses, bytes) = line.split_once('/').ok_or_else(|| {
                Refused::whole(text, format!("`{line}` has no size"), "write ACCESSES/SIZE")
            })?;
            let accesses = Some(accesses.trim()).filter(|text| !text.is_empty());
            let bytes = Some(bytes.trim()).filter(|text| !text.is_empty());
            Ok((accesses.map(percent).transpose()?, bytes.map(&size).transpose()?))
        });
        lists.push(shared_out(text, &lines.collect::<Result<Vec<_>, Refused>>()?)?);
    }
    let last = lists.last().cloned().unwrap_or_default();
    let nth = |n: usize| lists.get(n).cloned().unwrap_or_else(|| last.clone());
    Ok(PerDirection { read: nth(0), write: nth(1), trim: nth(2) })
}

/// Fills empty values with equal shares of the rest of 100.
fn shared_out(
    text: &str,
    lines: &[(Option<u64>, Option<u64>)],
) -> Result<Vec<(u64, u64)>, Refused> {
    let left = |given: Vec<Option<u64>>| {
        let sum: u64 = given.iter().flatten().sum();
        let blanks = given.iter().filter(|value| value.is_none()).count() as u64;
        (sum, 100_u64.saturating_sub(sum).checked_div(blanks).unwrap_or(0))
    };
    let (sum, each) = left(lines.iter().map(|line| line.0).collect());
    let (_, size_each) = left(lines.iter().map(|line| line.1).collect());
    if sum + each * lines.iter().filter(|line| line.0.is_none()).count() as u64 > 100 {
        let message = format!("the accesses of `{text}` add up to {sum} %");
        return Err(Refused::whole(text, message, "let them add up to 100"));
    }
    Ok(lines.iter().map(|(a, b)| (a.unwrap_or(each), b.unwrap_or(size_each))).collect())
}
