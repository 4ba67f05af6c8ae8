//! How long, and how fast.

use candor_plan::blocks::Arrival;

use crate::commands::run::access;
use crate::commands::run::draft::Draft;
use crate::flag::{Flag, Takes, put, put_some};
use crate::parse::{number, one_of, seconds, unit};

/// How long, and how fast.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "time",
        takes: Takes::One("TIME"),
        help: "Stop after TIME: 90s, 5m, or seconds [default: after one pass over the target]",
        fields: &["phase[0].stop.time"],
        set: |draft, text| put_some(&mut draft.phase.stop.time, seconds(text)),
    },
    Flag {
        long: "seconds",
        takes: Takes::One("N"),
        help: "Stop after N seconds, such as 30 or 1.5; the same as --time",
        fields: &["phase[0].stop.time"],
        set: |draft, text| put_some(&mut draft.phase.stop.time, seconds(text)),
    },
    Flag {
        long: "bytes",
        takes: Takes::One("SIZE"),
        help: "Stop each worker after SIZE bytes",
        fields: &["phase[0].stop.bytes"],
        set: |draft, text| put_some(&mut draft.phase.stop.bytes, unit(text)),
    },
    Flag {
        long: "ops",
        takes: Takes::One("N"),
        help: "Stop each worker after N operations",
        fields: &["phase[0].stop.ops"],
        set: |draft, text| put_some(&mut draft.phase.stop.ops, number(text)),
    },
    Flag {
        long: "passes",
        takes: Takes::One("N"),
        help: "Stop each worker after N passes over its share",
        fields: &["phase[0].stop.passes"],
        set: |draft, text| put_some(&mut draft.phase.stop.passes, number(text)),
    },
    Flag {
        long: "repeats",
        takes: Takes::One("N"),
        help: "Repeat N times; report mean, standard deviation and 95 % confidence interval",
        fields: &["repeats"],
        set: |draft, text| put_some(&mut draft.repeats, number(text)),
    },
    Flag {
        long: "until-full",
        takes: Takes::Nothing,
        help: "Write until no space is left, or to the end of the device: one pass, and no error",
        fields: &["phase[0].stop.until_full"],
        set: |draft, _| {
            let stop = &mut draft.phase.stop;
            // A device is full at its end.
            stop.passes = stop.passes.or(Some(1));
            put(&mut stop.until_full, Ok(true))
        },
    },
    Flag {
        long: "continue-on-error",
        takes: Takes::Nothing,
        help: "Continue after an I/O error, and count it",
        fields: &["phase[0].stop.continue_on_error"],
        set: |draft, _| put(&mut draft.phase.stop.continue_on_error, Ok(true)),
    },
    Flag {
        long: "ramp",
        takes: Takes::One("TIME"),
        help: "Time at the start that runs but is not counted, such as 1s",
        fields: &["phase[0].ramp"],
        set: |draft, text| put(&mut draft.phase.ramp, unit(text)),
    },
    Flag {
        long: "interval",
        takes: Takes::One("TIME"),
        help: "Length of the sampling intervals [default: 1s]",
        fields: &["phase[0].interval"],
        set: |draft, text| put(&mut draft.phase.interval, unit(text)),
    },
    Flag {
        long: "rate-iops",
        takes: Takes::One("N"),
        help: "Operations per second of all workers together, such as 10k",
        fields: &["phase[0].job[0].work.blocks.pace.ops"],
        set: |draft, text| put_some(&mut draft.blocks.pace.ops, unit(text)),
    },
    Flag {
        long: "rate",
        takes: Takes::One("BYTES"),
        help: "Bytes per second of all workers together, such as 100MB",
        fields: &["phase[0].job[0].work.blocks.pace.bytes"],
        set: |draft, text| put_some(&mut draft.blocks.pace.bytes, unit(text)),
    },
    Flag {
        long: "arrival",
        takes: Takes::One("fixed|poisson"),
        help: "Gaps between operations under a rate [default: fixed]",
        fields: &["phase[0].job[0].work.blocks.pace.arrival"],
        set: |draft, text| {
            let words = [("fixed", Arrival::Fixed), ("poisson", Arrival::Poisson)];
            put(&mut draft.blocks.pace.arrival, one_of(text, &words))
        },
    },
    Flag {
        long: "think",
        takes: Takes::One("TIME[:N]"),
        help: "Sleep for TIME after each operation, or after every N operations",
        fields: &["phase[0].job[0].work.blocks.pace.think"],
        set: |draft, text| put_some(&mut draft.blocks.pace.think, access::think(text)),
    },
];
