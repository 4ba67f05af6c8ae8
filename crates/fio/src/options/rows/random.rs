//! Random offsets.

use crate::job_options::{Distribution, Generator};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

/// Words before the colon of `random_distribution`.
const DISTRIBUTIONS: &[crate::job_options::Choice] = &[
    own::word("random", "all blocks alike"),
    own::word("zipf", "zipf:THETA[:CENTER], theta other than 1"),
    own::word("pareto", "pareto:POWER[:CENTER], power between 0 and 1"),
    own::word("normal", "normal:DEVIATION[:CENTER], in percent"),
    own::word("zoned", "zoned:ACCESSES/SIZE[:…], both in percent"),
    own::word("zoned_abs", "zoned_abs:ACCESSES/BYTES[:…]"),
    own::word("sequence", "sequence:BLOCK[,BLOCK…], numbers of blocks in their order"),
];

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("randrepeat", Kind::Bool, |s, v| s.random.repeat = v.bool(),
        "the same offsets in every run")
        .under("rw").default("1").exact("plan.seed", "0"),
    row(
        "allrandrepeat",
        Kind::Bool,
        // Newer versions take it for another name of `randrepeat`, as this does.
        |s, v| s.random.repeat = v.bool(),
        "the same offsets in every run",
    )
    .under("rw")
    .default("1")
    .exact("plan.seed", "0"),
    row("randseed", Kind::Size(0), |s, v| s.random.seed = v.int(), "seed of all that is drawn")
        .under("rw").default("0x89").exact("plan.seed", "7"),
    row("norandommap", Kind::Flag, |s, v| s.random.no_map = v.bool(),
        "blocks may come twice and others never")
        .under("rw").exact("blocks.access", "1"),
    bare("softrandommap", Kind::Bool, "continue without a map if memory is short")
        .under("norandommap").default("0")
        .idle("1", "candor needs no memory to take every block once"),
    row("random_generator", Kind::Choice(Generator::CHOICES),
        |s, v| s.random.generator = v.of(Generator::ALL), "where random numbers come from")
        .default("tausworthe").exact("blocks.access", "lfsr"),
    bare("random_distribution", Kind::Own("DISTRIBUTION[:…]", DISTRIBUTIONS, own::distribution),
        "how accesses are spread")
        .default("random").exact("blocks.access", "zipf:1.2"),
    row("random_sequence_stride", Kind::Bool, |s, v| s.random.stride = v.bool(),
        "each time through, a sequence begins as many blocks further on as it has")
        .under("random_distribution").default("0")
        .when(|s| matches!(s.random.distribution, Distribution::Sequence(_)))
        .exact("blocks.access.list.advances", "1"),
    row("percentage_random", Kind::Ints(0, 100), |s, v| v.ints(&mut s.random.percent),
        "percent of a random workload that is random; the rest continues in order")
        .default("100").exact("blocks.stay", "30"),
    bare("percentage_sequential", Kind::Deprecated, "no longer used")
        .idle("10", "fio has dropped it"),
    row("sprandom", Kind::Bool, |s, v| s.random.precondition.on = v.bool(),
        "write so that a device reaches its steady state sooner: its physical capacity once, with \
         blocks written again as many random writes would have left them")
        .under("rw").default("0").exact("blocks.access.precondition", "1"),
    row("spr_num_regions", Kind::Int(1, u32::MAX as u64),
        |s, v| s.random.precondition.regions = v.int(), "equal parts of what is written")
        .under("sprandom").default("100").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.regions", "50"),
    row("spr_op", Kind::Floats(0.0, 1.0, 1),
        |s, v| s.random.precondition.spare = v.floats().first().copied().unwrap_or_default(),
        "space of the device beyond its size, as a share of that: above 0 and below 1")
        .under("sprandom").default("0.15").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.spare_percent", "0.1"),
    row("spr_cs", Kind::Size(0), |s, v| s.random.precondition.cache = v.int(),
        "bytes of the device's cache; with one, blocks are written again a region later")
        .under("sprandom").default("0").when(|s| s.random.precondition.on)
        .exact("blocks.access.precondition.rewrites_last", "1m"),
];
