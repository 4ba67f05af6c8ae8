//! Splits: `4k/60:8k/40`, per direction.

use super::{Read, Refused, Units, Value, bytes, integer, list, parts};

/// A value and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The value, such as a size.
    pub value: u64,
    /// The percentage; `None` for an equal part of the rest.
    pub percent: Option<u32>,
}

/// Maximum number of entries per direction, as in fio.
const ENTRIES_MAX: usize = 64;

/// Sizes and their percentages: `4k/60:8k/40`, `4k/50:8k/`.
pub fn split(text: &str, units: Units) -> Value<Vec<Share>> {
    let (mut shares, mut sum, mut remark) = (Vec::new(), 0, None);
    for (start, part) in parts(text, |c| c == ':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let value = bytes(size.trim(), units).map_err(|refused| refused.behind(start))?;
        let percent = match percent.trim() {
            "" => None,
            percent => {
                let at = start + size.len() + 1;
                Some(self::percent(percent).map_err(|refused| refused.behind(at))?)
            }
        };
        sum += percent.unwrap_or(0);
        remark = remark.or(value.remark);
        shares.push(Share { value: value.value, percent });
    }
    if sum > 100 {
        let message = format!("the percentages of `{text}` add to {sum}");
        return Err(Refused::whole(text, message, "make them add to 100, or leave some out"));
    }
    if shares.len() > ENTRIES_MAX {
        let message = format!("`{text}` has {} entries", shares.len());
        return Err(Refused::whole(text, message, format!("give at most {ENTRIES_MAX}")));
    }
    Ok(Read { value: shares, remark })
}

/// Splits for reads, writes and trims, separated by commas; `None` leaves a direction as it is.
/// fio drops values after a third comma.
pub fn splits_by_direction(text: &str, units: Units) -> Value<[Option<Vec<Share>>; 3]> {
    let fourth = text.match_indices(',').nth(2).map_or(text.len(), |(at, _)| at);
    let (three, dropped) = text.split_at(fourth);
    let mut read = list::by_direction(three, &[','], |part| split(part, units))?;
    if !dropped.is_empty() && read.remark.is_none() {
        let remark = format!(
            "`{text}` is read as `{three}`: splits for reads, writes and trims; sizes of one \
             direction have colons between"
        );
        read.remark = Some(remark);
    }
    Ok(read)
}

fn percent(text: &str) -> Result<u32, Refused> {
    let plain = text.strip_suffix('%').unwrap_or(text);
    let number = integer(plain, Units::default()).ok().map(|read| read.value);
    let fits = number.and_then(|number| u32::try_from(number).ok()).filter(|n| *n <= 100);
    fits.ok_or_else(|| {
        let message = format!("`{text}` is not a whole percentage from 0 to 100");
        Refused::whole(text, message, "write SIZE/PERCENT, such as 4k/60")
    })
}
