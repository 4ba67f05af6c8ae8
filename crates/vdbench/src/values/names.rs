//! Names of definitions: lists, ranges such as `(sd1-sd9)`, and wildcards.

use super::list::{ITEMS_MAX, Item, items};
use candor_front::Refused;

/// Names of a list, with ranges written out.
///
/// # Errors
/// A range does not go upwards over names that differ in their last digits only.
pub fn names(value: &str) -> Result<Vec<String>, Refused> {
    let items = items(value, true)?;
    let mut found: Vec<String> = Vec::new();
    let mut rest = items.iter();
    while let Some(item) = rest.next() {
        if !item.is_dash {
            found.push(item.text.clone());
            continue;
        }
        let (Some(first), Some(last)) = (found.last().cloned(), rest.next()) else {
            let message = format!("the range in `{value}` is not complete");
            return Err(item.refused(value, message, REMEDY));
        };
        range(value, &first, last, &mut found)?;
    }
    Ok(found)
}

const REMEDY: &str = "write (sd1-sd9), or put a name that has a dash in quotes";

/// Adds the names after `first`, up to `last`.
fn range(value: &str, first: &str, last: &Item, found: &mut Vec<String>) -> Result<(), Refused> {
    let refused = |why: &str| {
        let message = format!("{first}-{} is no range: {why}", last.text);
        last.refused(value, message, REMEDY)
    };
    let (name, from) = numbered(first).ok_or_else(|| refused("a name ends with digits"))?;
    let (other, to) = numbered(&last.text).ok_or_else(|| refused("a name ends with digits"))?;
    if name != other {
        return Err(refused("the names differ before their digits"));
    }
    // Leading zeros of the first number set the width of all.
    let width = if from.starts_with('0') { from.len() } else { 0 };
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| refused("its numbers are large"));
    let (from, to) = (number(from)?, number(to)?);
    if from >= to {
        return Err(refused("it does not go upwards"));
    }
    if (to - from) as usize + found.len() > ITEMS_MAX {
        return Err(refused("it has too many names"));
    }
    found.extend((from + 1..=to).map(|number| format!("{name}{number:0width$}")));
    Ok(())
}

/// A name without its last digits, and these.
fn numbered(name: &str) -> Option<(&str, &str)> {
    let front = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[front.len()..];
    (!digits.is_empty()).then_some((front, digits))
}

/// True if a selection matches a name; `*` at the end matches anything.
pub fn matches(selection: &str, name: &str) -> bool {
    match selection.strip_suffix('*') {
        Some(front) => name.starts_with(front),
        None => selection == name,
    }
}
