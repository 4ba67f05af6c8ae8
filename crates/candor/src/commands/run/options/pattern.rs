//! Directions, sizes and order of operations.

use candor_plan::blocks::Access;
use candor_plan::units::{Mix, PerDirection};

use crate::commands::run::access;
use crate::commands::run::draft::Draft;
use crate::commands::run::lists::Value;
use crate::commands::run::s3::Operations;
use crate::flag::{Flag, Takes, put, put_some};
use crate::parse::{one_of, percent, unit};

/// Directions, sizes and order of operations.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "rw",
        takes: Takes::One("WORD[,WORD…]"),
        help: "read, write, trim, rw, randread, …; of buckets get, put, get:70,put:30, …; a list \
               runs each",
        fields: &["phase[0].job[0].work.blocks.mix", "phase[0].job[0].work.blocks.access"],
        set: |draft, text| {
            if draft.is_s3() {
                return draft.take("rw", text, |text| Ok(Value::Ops(Operations::read(text)?)));
            }
            draft.take("rw", text, |word| {
                let (mix, access) = one_of(word, &KINDS)?;
                Ok(Value::Rw(mix, access))
            })
        },
    },
    Flag {
        long: "mix",
        takes: Takes::One("read:70,write:30"),
        help: "Shares of reads, writes and trims in percent",
        fields: &["phase[0].job[0].work.blocks.mix"],
        set: |draft, text| put(&mut draft.blocks.mix, unit(text)),
    },
    Flag {
        long: "bs",
        takes: Takes::One("SIZE[,SIZE…]"),
        help: "Bytes per operation: 4k, 4k-64k, 4k:60,64k:40; of buckets, per range; a list runs \
               each [default: 4k]",
        fields: &[
            "phase[0].job[0].work.blocks.size",
            "phase[0].job[0].work.objects.range",
            "phase[1].job[0].work.objects.range",
        ],
        set: |draft, text| {
            if draft.is_s3() {
                return draft.take("bs", text, |text| Ok(Value::Range(unit(text)?)));
            }
            draft.take("bs", text, |text| Ok(Value::Size(unit(text)?)))
        },
    },
    Flag {
        long: "access",
        takes: Takes::One("ORDER"),
        help: "zipf:1.2, pareto:0.2, normal:10, hot:80,10, permutation, backward, holes:64k, …",
        fields: &["phase[0].job[0].work.blocks.access"],
        set: |draft, text| put(&mut draft.blocks.access, access::access(text)),
    },
    Flag {
        long: "random-percent",
        takes: Takes::One("PCT"),
        help: "Share of operations that jump to a random place, in an ordered access",
        fields: &["phase[0].job[0].work.blocks.random_percent"],
        set: |draft, text| {
            put(&mut draft.blocks.random_percent, percent(text).map(PerDirection::all))
        },
    },
    Flag {
        long: "align",
        takes: Takes::One("SIZE"),
        help: "Offsets are multiples of it [default: the smallest size]",
        fields: &["phase[0].job[0].work.blocks.align"],
        set: |draft, text| put_some(&mut draft.blocks.align, unit(text).map(PerDirection::all)),
    },
    Flag {
        long: "range",
        takes: Takes::One("START-END"),
        help: "Part of each file or device to use, such as 0-50% or 1g-2g [default: all]",
        fields: &[
            "phase[0].job[0].work.blocks.range.start",
            "phase[0].job[0].work.blocks.range.length",
            "phase[0].job[0].work.blocks.range",
        ],
        set: |draft, text| put(&mut draft.blocks.range, access::range(text)),
    },
    Flag {
        long: "share",
        takes: Takes::One("HOW"),
        help: "How workers divide it: whole, slice, span, interleave, segments:BLOCK,N \
               [default: whole]",
        fields: &["phase[0].job[0].work.blocks.share"],
        set: |draft, text| put(&mut draft.blocks.share, access::share(text)),
    },
];

/// Values of `--rw`: directions, in order or at random.
/// Words of `--rw`.
pub const RW_WORDS: [&str; KINDS.len()] = {
    let mut words = [""; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        words[at] = KINDS[at].0;
        at += 1;
    }
    words
};

const KINDS: [(&str, (Mix, Access)); 8] = [
    ("read", (Mix::READ, Access::Sequential)),
    ("write", (Mix::WRITE, Access::Sequential)),
    ("trim", (Mix::TRIM, Access::Sequential)),
    ("rw", (HALF, Access::Sequential)),
    ("randread", (Mix::READ, Access::Random)),
    ("randwrite", (Mix::WRITE, Access::Random)),
    ("randtrim", (Mix::TRIM, Access::Random)),
    ("randrw", (HALF, Access::Random)),
];

const HALF: Mix = Mix { read: 50, write: 50, trim: 0 };
