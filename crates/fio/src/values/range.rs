//! Ranges: `1k-4k`, `1k:4k`.

use candor_plan::Nanos;

use super::time::{TimeUnit, time};
use super::{Read, Refused, Units, Value, by_direction, bytes, parts};

/// A range of sizes: its ends.
type Range = (u64, u64);

/// A range of sizes; a larger first bound is swapped.
pub fn range(text: &str, units: Units) -> Value<(u64, u64)> {
    match ends(text)? {
        Some((low, high)) => both(low, high, |end| bytes(end, units)),
        None => Err(Refused::whole(
            text,
            format!("`{text}` is one number where a range belongs"),
            format!("write {text}-{text}, or use the option that takes one number"),
        )),
    }
}

/// Ranges of sizes for reads, writes and trims; `None` leaves a direction as it is.
pub fn ranges_by_direction(text: &str, units: Units) -> Value<[Option<(u64, u64)>; 3]> {
    // The manual offers both separators.
    let read = by_direction(text, &[',', '/'], |part| range(part, units));
    read.or_else(|refused| shares_as_range(text, units).ok_or(refused))
}

/// `512/25:1k/25:4k/50` belongs to `bssplit`; fio reads the first two sizes as a range.
fn shares_as_range(text: &str, units: Units) -> Option<Read<[Option<Range>; 3]>> {
    let (first, rest) = text.split_once(':')?;
    let (first, share) = first.split_once('/')?;
    let _share: u8 = share.parse().ok()?;
    let second = rest.split([':', '/']).next()?;
    let (first, second) = (bytes(first, units).ok()?.value, bytes(second, units).ok()?.value);
    let (low, high) = (first.min(second), first.max(second));
    let remark = format!(
        "`{text}` has shares, and is read as {low}-{high} as fio does: `bssplit` takes shares"
    );
    Some(Read { value: [Some((low, high)); 3], remark: Some(remark) })
}

/// A time, or a range of times.
pub fn time_range(text: &str, default: TimeUnit) -> Value<(Nanos, Nanos)> {
    match ends(text)? {
        Some((low, high)) => both(low, high, |end| time(end, default)),
        None => time(text, default).map(|read| read.map(|one| (one, one))),
    }
}

/// A part and its start.
type End<'a> = (usize, &'a str);

/// The ends of a range; `None` if it is one value. Parentheses may hold a minus.
fn ends(text: &str) -> Result<Option<(End<'_>, End<'_>)>, Refused> {
    let mut depth = 0;
    let all = parts(text, |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && (c == '-' || c == ':')
    });
    match all[..] {
        [_] => Ok(None),
        [low, high] if !low.1.is_empty() && !high.1.is_empty() => Ok(Some((low, high))),
        [_, _] => Err(wrong(text, "an end is missing")),
        _ => Err(wrong(text, "it has more than two ends")),
    }
}

fn wrong(text: &str, why: &str) -> Refused {
    Refused::whole(text, format!("`{text}` is not a range: {why}"), "write LOW-HIGH, such as 1k-4k")
}

fn both<T: Ord>(low: End<'_>, high: End<'_>, read: impl Fn(&str) -> Value<T>) -> Value<(T, T)> {
    let of = |(start, text): End<'_>| {
        let blanks = text.len() - text.trim_start().len();
        read(text.trim()).map_err(|refused| refused.behind(start + blanks))
    };
    let (low, high) = (of(low)?, of(high)?);
    let remark = low.remark.or(high.remark);
    let value =
        if low.value <= high.value { (low.value, high.value) } else { (high.value, low.value) };
    Ok(Read { value, remark })
}
