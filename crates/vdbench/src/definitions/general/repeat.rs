//! `loop=` and `-l`: repeats of all runs.

use crate::values;
use candor_front::Refused;

/// End of the repeats of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Repeat until the user stops.
    Endless,
    /// Number of repeats.
    Times(u64),
    /// Seconds after which no repeat starts.
    Seconds(u64),
}

/// Reads a number of repeats, or a time with `s`, `m` or `h`.
///
/// # Errors
/// The word is neither.
pub(super) fn repeat(text: &str) -> Result<Repeat, Refused> {
    let word = values::word(text)?;
    match word.parse() {
        Ok(times) if times > 0 => Ok(Repeat::Times(times)),
        _ => Repeat::time(&word).ok_or_else(|| {
            let remedy = "give a number of times, or a time such as 90s, 30m, 2h";
            Refused::whole(text, format!("`{word}` repeats nothing"), remedy)
        }),
    }
}

impl Repeat {
    /// Repeats for a time: seconds, or a number with suffix `s`, `m` or `h`.
    pub fn time(word: &str) -> Option<Repeat> {
        let (digits, factor) = match word.as_bytes().last()? {
            b's' => (&word[..word.len() - 1], 1),
            b'm' => (&word[..word.len() - 1], 60),
            b'h' => (&word[..word.len() - 1], 3600),
            _ => (word, 1),
        };
        let seconds: u64 = digits.parse().ok().filter(|number| *number > 0)?;
        seconds.checked_mul(factor).map(Repeat::Seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_times_or_a_time() {
        let of = |text| repeat(text).ok();
        assert_eq!(of("3"), Some(Repeat::Times(3)));
        assert_eq!(of("90s"), Some(Repeat::Seconds(90)));
        assert_eq!((of("2m"), of("1h")), (Some(Repeat::Seconds(120)), Some(Repeat::Seconds(3600))));
        assert_eq!((of("0"), of("x"), of("s")), (None, None, None));
        assert_eq!(Repeat::time("20"), Some(Repeat::Seconds(20)));
    }
}
