//! The columns: titles, widths, and sources of the values.

use candor_record::DiskCounters;

use super::figures::{Activity, ratio};
use super::options::{Options, Unit};

/// One column of devices.
pub(super) struct Column {
    /// The title; `#` is a placeholder for the unit.
    title: &'static str,
    /// Width in characters, without the preceding blank.
    pub width: usize,
    pub value: fn(&Activity) -> Value,
}

/// A value and its format.
pub(super) enum Value {
    /// A plain number.
    Plain(f64),
    /// Sectors per second, printed in the unit.
    Sectors(f64),
    /// Sectors, printed as an integer in the unit.
    Total(u64),
    /// Sectors per request, always printed in kB.
    Size(f64),
    /// Percent.
    Percent(f64),
}

impl Column {
    pub fn title(&self, options: &Options) -> String {
        let unit = match options.unit {
            Unit::Kilo => "kB",
            Unit::Mega => "MB",
            Unit::Sector if options.extended => "sec",
            Unit::Sector => "Blk",
        };
        self.title.replace('#', unit)
    }

    /// The key in JSON.
    pub fn key(&self, options: &Options) -> String {
        self.title(options).replace('%', "")
    }
}

/// The column blocks of a text; several blocks only for `--pretty`.
pub(super) fn of_text(options: &Options) -> &'static [&'static [Column]] {
    match (options.extended, options.short) {
        (true, true) => &[EXTENDED_SHORT],
        (true, false) => &[READ, WRITE, DISCARD, REST],
        (false, true) => &[BASIC_SHORT],
        (false, false) => &[BASIC],
    }
}

/// The columns of JSON, in key order.
pub(super) fn of_json(options: &Options) -> Vec<&'static Column> {
    if !options.extended {
        return BASIC.iter().collect();
    }
    if options.short {
        return EXTENDED_SHORT.iter().collect();
    }
    // JSON puts the directions of one metric next to each other; flushes have a rate and a wait.
    let directions: [&[Column]; 3] = [READ, WRITE, DISCARD];
    let mut columns = Vec::new();
    for figure in [RATE, AMOUNT, MERGES, MERGED, WAIT, SIZE] {
        columns.extend(directions.iter().map(|columns| &columns[figure]));
        match figure {
            RATE => columns.push(&REST[0]),
            WAIT => columns.push(&REST[1]),
            _ => {}
        }
    }
    columns.extend(&REST[2..]);
    columns
}

// Positions in the columns of a direction.
const RATE: usize = 0;
const AMOUNT: usize = 1;
const MERGES: usize = 2;
const MERGED: usize = 3;
const WAIT: usize = 4;
const SIZE: usize = 5;

const fn column(title: &'static str, width: usize, value: fn(&Activity) -> Value) -> Column {
    Column { title, width, value }
}

const BASIC: &[Column] = &[
    column("tps", 8, |did| rate(did, did.requests())),
    column("#_read/s", 12, |did| amount(did, did.counted.read_sectors)),
    column("#_wrtn/s", 12, |did| amount(did, did.counted.write_sectors)),
    column("#_dscd/s", 12, |did| amount(did, did.counted.discard_sectors)),
    column("#_read", 10, |did| Value::Total(did.counted.read_sectors)),
    column("#_wrtn", 10, |did| Value::Total(did.counted.write_sectors)),
    column("#_dscd", 10, |did| Value::Total(did.counted.discard_sectors)),
];

const BASIC_SHORT: &[Column] = &[
    column("tps", 8, |did| rate(did, did.requests())),
    column("#_read/s", 12, |did| amount(did, did.counted.read_sectors)),
    column("#_w+d/s", 12, |did| amount(did, written_or_discarded(&did.counted))),
    column("#_read", 10, |did| Value::Total(did.counted.read_sectors)),
    column("#_w+d", 10, |did| Value::Total(written_or_discarded(&did.counted))),
];

const READ: &[Column] = &[
    column("r/s", 7, |did| rate(did, did.counted.reads)),
    column("r#/s", 9, |did| amount(did, did.counted.read_sectors)),
    column("rrqm/s", 8, |did| rate(did, did.counted.read_merges)),
    column("%rrqm", 6, |did| merged(did.counted.read_merges, did.counted.reads)),
    column("r_await", 7, |did| wait(did.counted.read_ms, did.counted.reads)),
    column("rareq-sz", 8, |did| size(did.counted.read_sectors, did.counted.reads)),
];

const WRITE: &[Column] = &[
    column("w/s", 7, |did| rate(did, did.counted.writes)),
    column("w#/s", 9, |did| amount(did, did.counted.write_sectors)),
    column("wrqm/s", 8, |did| rate(did, did.counted.write_merges)),
    column("%wrqm", 6, |did| merged(did.counted.write_merges, did.counted.writes)),
    column("w_await", 7, |did| wait(did.counted.write_ms, did.counted.writes)),
    column("wareq-sz", 8, |did| size(did.counted.write_sectors, did.counted.writes)),
];

const DISCARD: &[Column] = &[
    column("d/s", 7, |did| rate(did, did.counted.discards)),
    column("d#/s", 9, |did| amount(did, did.counted.discard_sectors)),
    column("drqm/s", 8, |did| rate(did, did.counted.discard_merges)),
    column("%drqm", 6, |did| merged(did.counted.discard_merges, did.counted.discards)),
    column("d_await", 7, |did| wait(did.counted.discard_ms, did.counted.discards)),
    column("dareq-sz", 8, |did| size(did.counted.discard_sectors, did.counted.discards)),
];

const REST: &[Column] = &[
    column("f/s", 7, |did| rate(did, did.counted.flushes)),
    column("f_await", 7, |did| wait(did.counted.flush_ms, did.counted.flushes)),
    column("aqu-sz", 7, |did| Value::Plain(did.queue())),
    column("%util", 6, |did| Value::Percent(did.busy_percent())),
];

const EXTENDED_SHORT: &[Column] = &[
    column("tps", 8, |did| rate(did, did.requests())),
    column("#/s", 9, |did| amount(did, did.sectors())),
    column("rqm/s", 8, |did| {
        let c = &did.counted;
        rate(did, c.read_merges + c.write_merges + c.discard_merges)
    }),
    column("await", 7, |did| {
        let c = &did.counted;
        wait(c.read_ms + c.write_ms + c.discard_ms, did.requests())
    }),
    column("areq-sz", 8, |did| size(did.sectors(), did.requests())),
    column("aqu-sz", 7, |did| Value::Plain(did.queue())),
    column("%util", 6, |did| Value::Percent(did.busy_percent())),
];

fn rate(did: &Activity, count: u64) -> Value {
    Value::Plain(did.per_second(count))
}

fn amount(did: &Activity, sectors: u64) -> Value {
    Value::Sectors(did.per_second(sectors))
}

fn merged(merges: u64, requests: u64) -> Value {
    Value::Percent(Activity::merged_percent(merges, requests))
}

fn wait(ms: u64, requests: u64) -> Value {
    Value::Plain(ratio(ms as f64, requests))
}

fn size(sectors: u64, requests: u64) -> Value {
    Value::Size(ratio(sectors as f64, requests))
}

fn written_or_discarded(counted: &DiskCounters) -> u64 {
    counted.write_sectors + counted.discard_sectors
}
