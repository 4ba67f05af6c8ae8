//! Numbers with units, and lists of them with ranges, doubling and halving.

use super::list::{ITEMS_MAX, Item, items};
use candor_front::Refused;

/// Meaning of the letters after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `k`, `m`, `g`, `t` are powers of 1024 (also `kb`, `mb`, …); `%` makes a share, which is kept
    /// as a negative number.
    Size,
    /// `m` are minutes and `h` hours; without a letter, seconds.
    Time,
}

/// A number.
///
/// # Errors
/// The value is none, or a list.
pub fn number(value: &str, unit: Unit) -> Result<f64, Refused> {
    match numbers(value, unit)?[..] {
        [number] => Ok(number),
        ref several => {
            let message = format!("`{value}` are {} numbers", several.len());
            Err(Refused::whole(value, message, "give one"))
        }
    }
}

/// Numbers of a list with expanded ranges: `(1-10,1)`, `(1-64,d)`, `(64k-1k,d)`. Of a range with
/// descending steps, such as `(100-0,10)`, vdbench uses only the first number.
///
/// # Errors
/// An item is no number, or a range has no step.
pub fn numbers(value: &str, unit: Unit) -> Result<Vec<f64>, Refused> {
    let items = items(value, true)?;
    let mut found: Vec<f64> = Vec::new();
    let mut rest = items.iter();
    while let Some(item) = rest.next() {
        if !item.is_dash {
            found.push(one(value, item, unit)?);
            continue;
        }
        let first = found.last().copied();
        let (Some(first), Some(last), Some(step)) = (first, rest.next(), rest.next()) else {
            let message = format!("the range in `{value}` is not complete");
            let remedy = "write first, last and step, such as (1-10,1), or (1-64,d) for doubling";
            return Err(item.refused(value, message, remedy));
        };
        let last = one(value, last, unit)?;
        range(value, first, last, step, unit, &mut found)?;
    }
    Ok(found)
}

/// The first number of a range that goes down in steps, and so is all of it; none in other values.
pub fn first_of_falling(value: &str, unit: Unit) -> Option<f64> {
    let items = items(value, true).ok()?;
    let number = |item: &Item| one(value, item, unit).ok();
    items.windows(4).find_map(|of| match of {
        [first, dash, last, step] if dash.is_dash => {
            let (first, last) = (number(first)?, number(last)?);
            number(step).filter(|_| last < first).map(|_| first)
        }
        _ => None,
    })
}

/// Adds the rest of a range after `first`.
fn range(
    value: &str,
    first: f64,
    last: f64,
    step: &Item,
    unit: Unit,
    found: &mut Vec<f64>,
) -> Result<(), Refused> {
    let next: Box<dyn Fn(f64) -> f64> = match step.text.as_str() {
        "d" | "D" if first > 0.0 && last > first => Box::new(|at| at * 2.0),
        "d" | "D" if last > 0.0 && first > last => Box::new(|at| at / 2.0),
        "d" | "D" if first == last => return Ok(()),
        "d" | "D" => {
            let message = "a range that doubles begins and ends above 0".to_owned();
            return Err(step.refused(value, message, "write (1-64,d), for example"));
        }
        _ => {
            let by = one(value, step, unit)?;
            if by <= 0.0 {
                let message = format!("the range {first} to {last} has no steps of {by}");
                let remedy = "give a step above 0, or halve it: (64-1,d)";
                return Err(step.refused(value, message, remedy));
            }
            if last < first {
                return Ok(());
            }
            Box::new(move |at| at + by)
        }
    };
    let is_within = |at: f64| if last >= first { at <= last } else { at >= last };
    let mut at = next(first);
    while is_within(at) {
        if found.len() >= ITEMS_MAX {
            let message = format!("the range has more than {ITEMS_MAX} values");
            return Err(step.refused(value, message, "use a larger step"));
        }
        found.push(at);
        at = next(at);
    }
    Ok(())
}

/// The number of an item.
fn one(value: &str, item: &Item, unit: Unit) -> Result<f64, Refused> {
    let refused = || {
        let message = format!("`{}` is no number", item.text);
        let remedy = match unit {
            Unit::Size => "give digits, optionally followed by k, m, g, t or %",
            Unit::Time => "give seconds, or digits with m for minutes or h for hours",
        };
        item.refused(value, message, remedy)
    };
    let text = item.text.to_ascii_lowercase();
    let with_b = text.strip_suffix('b').filter(|front| front.len() >= 2 && unit == Unit::Size);
    let text = with_b.unwrap_or(&text);
    let plain = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
        text.parse::<f64>().ok().filter(|number| is_plain && number.is_finite())
    };
    if let (Some(number), None) = (plain(text), with_b) {
        return Ok(number);
    }
    let last = text.chars().next_back().ok_or_else(refused)?;
    let front = &text[..text.len() - last.len_utf8()];
    let factor = match (unit, last) {
        (Unit::Size, 'k') => 1024.0,
        (Unit::Size, 'm') => 1024.0 * 1024.0,
        (Unit::Size, 'g') => 1024.0 * 1024.0 * 1024.0,
        (Unit::Size, 't') => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        (Unit::Size, '%') => -1.0,
        (Unit::Time, 's') => 1.0,
        (Unit::Time, 'm') => 60.0,
        (Unit::Time, 'h') => 3600.0,
        _ => return Err(refused()),
    };
    Ok(plain(front).ok_or_else(refused)? * factor)
}

/// A number as vdbench shows it in headings: `4k`, `1.5m`, `32`.
pub fn shown_size(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [
        (1024.0 * 1024.0 * 1024.0 * 1024.0, "t"),
        (1024.0 * 1024.0 * 1024.0, "g"),
        (1024.0 * 1024.0, "m"),
        (1024.0, "k"),
    ];
    let Some((unit, letter)) = UNITS.into_iter().find(|(unit, _)| value >= *unit) else {
        return format!("{value}");
    };
    let number = format!("{:.3}", value / unit);
    format!("{}{letter}", number.strip_suffix(".000").unwrap_or(&number))
}
