//! Values of parameters: numbers with units, lists with ranges, names with wildcards.

mod list;
mod names;
mod number;

use std::ops::RangeInclusive;

pub use list::{Item, items};
pub use names::{matches, names};
pub use number::{Unit, first_of_falling, number, numbers, shown_size};

use candor_front::Refused;

/// One word.
///
/// # Errors
/// The value is a list.
pub fn word(text: &str) -> Result<String, Refused> {
    let items = items(text, false)?;
    match &items[..] {
        [item] => Ok(item.text.clone()),
        _ => {
            let message = format!("`{text}` are {} values", items.len());
            Err(Refused::whole(text, message, "give one"))
        }
    }
}

/// Words of a list.
///
/// # Errors
/// A quote or a parenthesis is not closed.
pub fn words(text: &str) -> Result<Vec<String>, Refused> {
    Ok(items(text, false)?.into_iter().map(|item| item.text).collect())
}

/// Reads `yes` or `no`; the first letter is enough.
///
/// # Errors
/// The word is neither.
pub fn yes(text: &str) -> Result<bool, Refused> {
    match word(text)?.to_ascii_lowercase().chars().next() {
        Some('y') => Ok(true),
        Some('n') => Ok(false),
        _ => {
            Err(Refused::whole(text, format!("`{text}` is neither yes nor no"), "write yes or no"))
        }
    }
}

/// A whole number within bounds.
///
/// # Errors
/// The value is none, or out of the bounds.
pub fn whole(text: &str, unit: Unit, bounds: RangeInclusive<u64>) -> Result<u64, Refused> {
    let value = number(text, unit)?;
    let (min, max) = bounds.into_inner();
    let fits = value.is_finite() && value >= min as f64 && value <= max as f64;
    if fits {
        // The bounds keep it within 64 bits.
        Ok(value as u64)
    } else {
        let remedy = format!("give {min} to {max}");
        Err(Refused::whole(text, format!("{text} is out of range"), remedy))
    }
}

/// Two numbers.
///
/// # Errors
/// The value is not a pair.
pub fn pair(text: &str, unit: Unit) -> Result<[f64; 2], Refused> {
    let found = numbers(text, unit)?;
    found.try_into().map_err(|found: Vec<f64>| {
        let message = format!("`{text}` has {} values", found.len());
        Refused::whole(text, message, "give two, such as (10,20)")
    })
}

/// Two numbers, or one: the second divides the first (`size=(100g,4)` is a quarter).
///
/// # Errors
/// The value has more numbers, or the divisor is not above 0.
pub fn divided(text: &str, unit: Unit) -> Result<f64, Refused> {
    match numbers(text, unit)?[..] {
        [value] => Ok(value),
        [value, by] if by >= 1.0 => Ok(value / by),
        _ => Err(Refused::whole(text, format!("`{text}` is no number"), "give one number")),
    }
}

/// Finds the first choice with this prefix of at least `min` letters.
pub fn abbreviated<'c>(word: &str, choices: &[&'c str]) -> Option<&'c str> {
    let word = word.to_ascii_lowercase();
    choices.iter().copied().find(|choice| !word.is_empty() && choice.starts_with(word.as_str()))
}

/// Refuses a word that is not among the choices.
pub fn no_choice(text: &str, word: &str, choices: &[&str]) -> Refused {
    let near = candor_plan::nearest(word, choices.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    let message = format!("`{word}` is not one of its values");
    Refused::whole(text, message, format!("{near}It takes {}", choices.join(", ")))
}

#[cfg(test)]
mod tests;
