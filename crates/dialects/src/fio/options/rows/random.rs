//! Random offsets.

use crate::fio::job_options::{Distribution, Generator};
use crate::fio::options::kind::{Kind, Row};
use crate::fio::options::own;
use crate::kit::{bare, row};

/// Words before the colon of `random_distribution`.
const DISTRIBUTIONS: &[crate::fio::job_options::Choice] = &[
    own::word("random", "all blocks alike"),
    own::word("zipf", "zipf:THETA[:CENTER], theta other than 1"),
    own::word("pareto", "pareto:POWER[:CENTER], power between 0 and 1"),
    own::word("normal", "normal:DEVIATION[:CENTER], in percent"),
    own::word("zoned", "zoned:ACCESSES/SIZE[:…], both in percent"),
    own::word("zoned_abs", "zoned_abs:ACCESSES/BYTES[:…]"),
    own::word("sequence", "sequence:BLOCK[,BLOCK…], numbers of blocks in their order"),
];

#[rustfmt::skip]
pub(in crate::fio::options) const ROWS: &[Row] = &[
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
    bare("softrandommap", Kind::Bool, "go on without a map where there is no memory for it")
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
        "percent of a random workload that is random; the rest goes on in order")
        .default("100").exact("blocks.stay", "30"),
    bare("percentage_sequential", Kind::Deprecated, "no longer used")
        .idle("10", "fio has dropped it"),
    bare("sprandom", Kind::Bool, "write so that a device reaches its steady state sooner")
        .under("rw").default("0").refused("1", "this kind of preconditioning is not built"),
    bare("spr_num_regions", Kind::Int(0, u32::MAX as u64), "regions of sprandom")
        .under("sprandom")
        .default("100")
        .refused("50", "this kind of preconditioning is not built"),
    bare("spr_op", Kind::Floats(0.0, 1e9, 1), "spare space of the device, for sprandom")
        .under("sprandom").default("0.15")
        .refused("0.1", "this kind of preconditioning is not built"),
    bare("spr_cs", Kind::Size(0), "cache of the device, for sprandom")
        .under("sprandom").default("0").refused("1m", "this kind of preconditioning is not built"),
];
