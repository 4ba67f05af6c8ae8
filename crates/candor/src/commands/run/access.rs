//! The small languages of `--access`, `--range` and `--share`.

use candor_plan::blocks::{Access, Range, SegmentDeal, Share, TraceFile};
use candor_plan::units::Extent;
use candor_plan::{Bytes, Nanos, blocks::Think};

use crate::parse::{self, arguments, decimal, unit};

/// An order of offsets: `zipf:1.2`, `hot:80,10`.
pub fn access(text: &str) -> Result<Access, String> {
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name, Some(rest)),
        None => (text, None),
    };
    Ok(match name {
        "sequential" => bare(text, rest, Access::Sequential)?,
        "backward" => bare(text, rest, Access::Backward)?,
        "random" => bare(text, rest, Access::Random)?,
        "permutation" => bare(text, rest, Access::Permutation)?,
        "holes" => Access::Holes { hole: unit::<Bytes>(single(text, rest)?)? },
        "zipf" => Access::Zipf { theta: decimal(single(text, rest)?)?, center_percent: None },
        "pareto" => Access::Pareto { h: decimal(single(text, rest)?)?, center_percent: None },
        "normal" => Access::Normal {
            deviation_percent: decimal(single(text, rest)?)?,
            center_percent: None,
        },
        "hot" => hot(text, rest)?,
        // A path may hold commas.
        "trace" => Access::Trace(TraceFile::named(rest.unwrap_or_default())),
        _ => return Err(unknown(text, name)),
    })
}

fn unknown(text: &str, name: &str) -> String {
    let names = [
        "sequential",
        "backward",
        "random",
        "permutation",
        "holes",
        "zipf",
        "pareto",
        "normal",
        "hot",
        "trace",
    ];
    match candor_plan::nearest(name, names) {
        Some(near) => format!("`{text}` is not an order of offsets; did you mean {near}?"),
        None => format!("`{text}` is none of {}", names.join(", ")),
    }
}

fn bare(text: &str, rest: Option<&str>, access: Access) -> Result<Access, String> {
    match rest {
        None => Ok(access),
        Some(_) => Err(format!("`{text}` takes nothing after its name")),
    }
}

fn single<'a>(text: &'a str, rest: Option<&'a str>) -> Result<&'a str, String> {
    let [value] = arguments(text, rest)?;
    Ok(value)
}

/// `hot:HIT,LENGTH` or `hot:HIT,LENGTH,START`, all in percent.
fn hot(text: &str, rest: Option<&str>) -> Result<Access, String> {
    let with_start: Result<[&str; 3], _> = arguments(text, rest);
    let (hit, length, start) = match with_start {
        Ok([hit, length, start]) => (hit, length, start),
        Err(_) => {
            let [hit, length] = arguments(text, rest)?;
            (hit, length, "0")
        }
    };
    Ok(Access::HotBand {
        hit_percent: decimal(hit)?,
        start_percent: decimal(start)?,
        length_percent: decimal(length)?,
    })
}

/// A part of each file or device: `0-50%`, `1g-3g`, `10%-`.
pub fn range(text: &str) -> Result<Range, String> {
    let (start, end) = text.split_once('-').ok_or_else(|| {
        format!("`{text}` is not a range; write START-END, such as 0-50% or 1g-2g")
    })?;
    // In `0-50%` the start is a share too, though it does not say so.
    let start =
        if end.ends_with('%') && !start.ends_with('%') && start == "0" { "0%" } else { start };
    let start: Extent = unit(start)?;
    if end.is_empty() {
        return Ok(Range { start, ..Range::default() });
    }
    let backwards = || format!("`{text}` ends before it starts");
    let length = match (start, unit::<Extent>(end)?) {
        (Extent::Bytes(start), Extent::Bytes(end)) => {
            Extent::Bytes(Bytes(end.0.checked_sub(start.0).ok_or_else(backwards)?))
        }
        (Extent::Percent(start), Extent::Percent(end)) if end >= start => {
            Extent::Percent(end - start)
        }
        (Extent::Percent(_), Extent::Percent(_)) => return Err(backwards()),
        _ => return Err(format!("`{text}` mixes bytes and percent; use one of them")),
    };
    Ok(Range { start, length: Some(length), ..Range::default() })
}

/// How workers divide a range: `whole`, `slice`, `span`, `interleave`,
/// `segments:16m,16`.
pub fn share(text: &str) -> Result<Share, String> {
    if let Some(rest) = text.strip_prefix("segments:") {
        let [block, count] = arguments(text, Some(rest))?;
        let deal = SegmentDeal::ByRank;
        return Ok(Share::Segments { block: unit(block)?, count: parse::number(count)?, deal });
    }
    let words = [
        ("whole", Share::Whole),
        ("slice", Share::Slice),
        ("span", Share::Span),
        ("interleave", Share::Interleave),
    ];
    parse::one_of(text, &words)
}

/// Rest: `1ms` after each operation, `1ms:10` after every tenth.
pub fn think(text: &str) -> Result<Think, String> {
    let (time, every) = text.split_once(':').unwrap_or((text, "1"));
    Ok(Think { every: parse::number(every)?, ..Think::after_each(unit::<Nanos>(time)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders() {
        for (text, wanted) in [
            ("backward", Access::Backward),
            ("holes:64k", Access::Holes { hole: Bytes(65536) }),
            ("zipf:1.2", Access::Zipf { theta: 1.2, center_percent: None }),
            ("pareto:0.2", Access::Pareto { h: 0.2, center_percent: None }),
            ("normal:10", Access::Normal { deviation_percent: 10.0, center_percent: None }),
            (
                "hot:80,10",
                Access::HotBand { hit_percent: 80.0, start_percent: 0.0, length_percent: 10.0 },
            ),
            (
                "hot:80,10,45",
                Access::HotBand { hit_percent: 80.0, start_percent: 45.0, length_percent: 10.0 },
            ),
            ("trace:a,b", Access::Trace(TraceFile::named("a,b"))),
        ] {
            assert_eq!(access(text), Ok(wanted), "{text}");
        }
        for (text, wanted) in [
            ("zpif:1", "`zpif:1` is not an order of offsets; did you mean zipf?"),
            ("zipf", "`zipf` has 0 values after its name, not 1"),
            ("hot:1", "`hot:1` has 1 values after its name, not 2"),
            ("backward:1", "`backward:1` takes nothing after its name"),
        ] {
            assert_eq!(access(text).unwrap_err(), wanted);
        }
    }

    #[test]
    fn ranges() {
        let bytes = |n| Extent::Bytes(Bytes(n));
        for (text, start, length) in [
            ("0-50%", Extent::Percent(0.0), Some(Extent::Percent(50.0))),
            ("10%-30%", Extent::Percent(10.0), Some(Extent::Percent(20.0))),
            ("1g-3g", bytes(1 << 30), Some(bytes(2 << 30))),
            ("4k-", bytes(4096), None),
        ] {
            assert_eq!(range(text), Ok(Range { start, length, ..Range::default() }), "{text}");
        }
        for text in ["5", "3g-1g", "50%-10%", "1g-50%", "x-y"] {
            assert!(range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_and_rests() {
        assert_eq!(
            share("segments:16m,16"),
            Ok(Share::Segments { block: Bytes(1 << 24), count: 16, deal: SegmentDeal::ByRank })
        );
        assert!(share("slices").unwrap_err().contains("did you mean slice?"));
        let every = |every| Think { every, ..Think::after_each(Nanos(1_000_000)) };
        assert_eq!((think("1ms"), think("1ms:10")), (Ok(every(1)), Ok(every(10))));
    }
}
