//! The values of elbencho's options: switches, numbers, sizes, lists with brackets.

use candor_front::Refused;

/// Largest number of words from the brackets of one word.
const WORDS_MAX: usize = 1_000_000;

/// A switch with a value: `--direct=false`.
///
/// # Errors
/// The word is neither true nor false.
pub fn switch(text: &str) -> Result<bool, Refused> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => {
            let remedy = "give true or false, or write the switch alone";
            Err(Refused::whole(text, format!("`{text}` is neither true nor false"), remedy))
        }
    }
}

/// A number without a unit.
///
/// # Errors
/// The word is no number, or one above `max`.
pub fn number(text: &str, max: u64) -> Result<u64, Refused> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.filter(|number| *number <= max).ok_or_else(|| {
        let message = if digits {
            format!("{text} is more than {max}")
        } else {
            format!("`{text}` is not a whole number")
        };
        Refused::whole(text, message, "give digits alone")
    })
}

/// A number of bytes, files or directories, with one letter as unit: `128k`; an empty text is 0.
///
/// # Errors
/// The word has another form, or the number does not fit in 64 bits.
pub fn size(text: &str) -> Result<u64, Refused> {
    const UNITS: &str = "kmgtpe";
    if text.is_empty() {
        return Ok(0);
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let mut letters = unit.chars();
    let power = match (letters.next(), letters.next()) {
        (None, _) => Some(0),
        (Some(letter), None) => UNITS.find(letter.to_ascii_lowercase()).map(|nth| nth as u32 + 1),
        _ => None,
    };
    let power = power.filter(|_| !digits.is_empty());
    let power = power.ok_or_else(|| no_size(text, format!("`{text}` is no size")))?;
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(1 << (10 * power)));
    bytes.ok_or_else(|| no_size(text, format!("{text} does not fit in 64 bits")))
}

fn no_size(text: &str, message: String) -> Refused {
    let remedy = "give digits and at most one of the letters K, M, G, T, P, E: powers of 1024";
    Refused::whole(text, message, remedy)
}

/// A list with separators; brackets protect separators, and empty pieces are dropped.
pub fn split<'t>(text: &'t str, separators: &[char]) -> Vec<&'t str> {
    let mut depth = 0_u32;
    let pieces = text.split(|letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && separators.contains(&letter)
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Hosts of a list, with brackets expanded.
///
/// # Errors
/// A bracket is unpaired, or contains no numbers.
pub fn hosts(list: &str) -> Result<Vec<String>, Refused> {
    let named = split(list, &[',', ' ', '\t', '\n']).into_iter().map(expand);
    Ok(named.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Expands brackets: `f[1-3]`, `f[01,5-7]`; several groups multiply.
///
/// # Errors
/// A bracket is unpaired, or contains no numbers.
pub fn expand(word: &str) -> Result<Vec<String>, Refused> {
    let Some(open) = word.find('[') else {
        return if word.contains(']') { Err(unpaired(word)) } else { Ok(vec![word.to_owned()]) };
    };
    let (before, rest) = (&word[..open], &word[open + 1..]);
    let (group, behind) = rest.split_once(']').ok_or_else(|| unpaired(word))?;
    if before.contains(']') || group.contains('[') {
        return Err(unpaired(word));
    }
    let (numbers, behind) = (group_numbers(word, group)?, expand(behind)?);
    if numbers.len().saturating_mul(behind.len()) > WORDS_MAX {
        let message = format!("`{word}` expands to more than {WORDS_MAX} words");
        return Err(Refused::whole(word, message, "use a smaller range"));
    }
    let with = |number: &String| {
        behind.iter().map(|behind| format!("{before}{number}{behind}")).collect::<Vec<_>>()
    };
    Ok(numbers.iter().flat_map(with).collect())
}

fn unpaired(word: &str) -> Refused {
    let message = format!("`{word}` has a bracket without its other half");
    Refused::whole(word, message, "close it, or turn brackets in paths off with --nopathexp")
}

/// The numbers of a group: `1,3,05-07`. Leading zeros of a range's start set its width.
fn group_numbers(word: &str, group: &str) -> Result<Vec<String>, Refused> {
    let wrong = |why: &str| {
        let message = format!("`[{group}]` {why}");
        Refused::whole(word, message, "write numbers and ranges, such as [1,3,5-7]")
    };
    let parse = |digits: &str| number(digits, u64::MAX).map_err(|_| wrong("holds no numbers"));
    let mut numbers = Vec::new();
    for piece in group.split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (from, to) = (parse(first)?, parse(last)?);
        if to < from {
            return Err(wrong("has a range that ends before it begins"));
        }
        if to - from >= (WORDS_MAX - numbers.len().min(WORDS_MAX)) as u64 {
            return Err(wrong("holds too many numbers"));
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// The numbers of a list such as `0,[4-7]`, each at most `max`.
///
/// # Errors
/// A word of it is no number.
pub fn numbers(text: &str, max: u32) -> Result<Vec<u32>, Refused> {
    let mut all = Vec::new();
    for piece in split(text, &[',', '\n']) {
        for word in expand(piece)? {
            // `number` refuses numbers above `max`.
            all.push(number(&word, max.into())? as u32);
        }
    }
    if all.is_empty() {
        Err(Refused::whole(text, "no number is given", "name one, or all"))
    } else {
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_have_one_letter() {
        for (text, bytes) in [
            ("", 0),
            ("0", 0),
            ("128k", 128 << 10),
            ("4K", 4096),
            ("1g", 1 << 30),
            ("7", 7),
            ("15E", 15 << 60),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text).ok(), Some(bytes), "{text}");
        }
        let wrong = ["4KB", "4KiB", "1.5m", "4k-8k", "-1", "k", "16E", "4 k", "+4", "0x10", "4b"];
        for text in wrong {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn switches_take_words() {
        for (text, on) in [("on", true), ("TRUE", true), ("1", true), ("no", false), ("0", false)] {
            assert_eq!(switch(text).ok(), Some(on));
        }
        assert!(switch("").is_err() && switch("wr").is_err());
    }

    #[test]
    fn brackets_stand_for_several_words() {
        let expanded = |word| expand(word).unwrap_or_else(|refused| panic!("{}", refused.message));
        assert_eq!(expanded("/d/f[1-3]"), ["/d/f1", "/d/f2", "/d/f3"]);
        assert_eq!(expanded("[1,3,5-7]"), ["1", "3", "5", "6", "7"]);
        assert_eq!(expanded("f[08-11]"), ["f08", "f09", "f10", "f11"]);
        assert_eq!(expanded("[0-1]x[0,2]").len(), 4);
        assert_eq!(expanded("h[1-2]-[3-4]"), ["h1-3", "h1-4", "h2-3", "h2-4"]);
        assert_eq!(expanded("plain"), ["plain"]);
        for word in ["f[", "f]", "f[]", "f[3-1]", "f[a]", "f[1", "f[[1]]", "[0-99999999]", "[1-]"] {
            assert!(expand(word).is_err(), "{word}");
        }
        assert!(expand("[0-999][0-999][0-9]").is_err(), "more than anybody means");
    }

    #[test]
    fn commas_in_brackets_part_nothing() {
        assert_eq!(split("/a[1,2],/b@/c\n/d", &[',', '@', '\n']), ["/a[1,2]", "/b", "/c", "/d"]);
        assert_eq!(numbers("0,[4-6]", 100).ok(), Some(vec![0, 4, 5, 6]));
        assert!(numbers("", 9).is_err() && numbers("12", 9).is_err());
    }

    proptest! {
        /// Any text gives a value or a sentence.
        #[test]
        fn any_text_is_read_or_refused(text in "[-\\[\\]0-9,kKmE. ]{0,24}") {
            let refusals = [size(&text).err(), switch(&text).err(), expand(&text).err(),
                numbers(&text, 99).err(), number(&text, 9).err()];
            for refused in refusals.into_iter().flatten() {
                prop_assert!(!refused.message.is_empty() && !refused.remedy.is_empty());
                prop_assert!(refused.part.end <= text.len());
            }
        }

        /// A unit multiplies the number.
        #[test]
        fn units_multiply(number in 0..1_u64 << 40, unit in 0..2_usize) {
            let text = format!("{number}{}", ["k", "M"][unit]);
            prop_assert_eq!(size(&text).ok(), Some(number << (10 * (unit + 1))));
        }

        /// A range contains each number once, in order.
        #[test]
        fn ranges_are_whole(from in 0..500_u64, more in 0..500_u64) {
            let words = expand(&format!("[{from}-{}]", from + more)).unwrap();
            let wanted: Vec<String> = (from..=from + more).map(|n| n.to_string()).collect();
            prop_assert_eq!(words, wanted);
        }
    }
}
