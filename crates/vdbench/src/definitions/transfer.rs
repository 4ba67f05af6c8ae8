//! Sizes and offsets of operations: `xfersize=`, `seekpct=`, `stride=`, `range=`.

use smart_default::SmartDefault;

use crate::values::{self, Unit};
use candor_front::Refused;

/// Sector size; transfers are multiples of it.
pub const SECTOR: f64 = 512.0;

/// Bytes per operation.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub enum TransferSize {
    /// One size.
    #[default]
    Fixed(#[default = 4096] u64),
    /// Sizes with their percentages.
    Mixed(Vec<(u64, f64)>),
    /// Sizes from `min` to `max` in steps of `align`.
    Ranged {
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
        /// Step, and alignment of offsets.
        align: u64,
    },
}

impl TransferSize {
    /// Largest size.
    pub fn max(&self) -> u64 {
        match self {
            TransferSize::Fixed(size) => *size,
            TransferSize::Mixed(sizes) => sizes.iter().map(|(size, _)| *size).max().unwrap_or(0),
            TransferSize::Ranged { max, .. } => *max,
        }
    }

    /// Size in reports: the only one, or the first.
    pub fn first(&self) -> u64 {
        match self {
            TransferSize::Fixed(size) => *size,
            TransferSize::Mixed(sizes) => sizes.first().map_or(0, |(size, _)| *size),
            TransferSize::Ranged { min, .. } => *min,
        }
    }
}

/// Reads a size, sizes with percent, or minimum, maximum and step.
///
/// # Errors
/// The numbers have another form.
pub fn transfer_size(text: &str) -> Result<TransferSize, Refused> {
    let numbers = values::numbers(text, Unit::Size)?;
    let refused = |message: String, remedy: &str| Refused::whole(text, message, remedy);
    let sized = |size: f64| {
        if (1.0..=1e18).contains(&size) {
            Ok(size as u64)
        } else {
            Err(refused(format!("a size of {size} bytes cannot be moved"), "use 512 or more"))
        }
    };
    match numbers[..] {
        [size] => sized(size).map(TransferSize::Fixed),
        [min, max, align] => {
            if min >= max || align < SECTOR || align % SECTOR != 0.0 {
                let message = format!("`{text}` is no range of sizes");
                let remedy = "write (min,max,align): min below max, align a multiple of 512";
                return Err(refused(message, remedy));
            }
            Ok(TransferSize::Ranged { min: sized(min)?, max: sized(max)?, align: sized(align)? })
        }
        ref list if list.len() % 2 == 1 => {
            let remedy = "write sizes and percent in pairs, such as (4k,60,64k,40)";
            Err(refused(format!("`{text}` has {} numbers", list.len()), remedy))
        }
        ref list => {
            let total: f64 = list.chunks(2).map(|pair| pair[1]).sum();
            if total.round() != 100.0 || list.chunks(2).any(|pair| pair[1] < 0.0) {
                let message = format!("the shares of the sizes add up to {total} %, not to 100 %");
                return Err(refused(message, "change them"));
            }
            let pairs = list.chunks(2).map(|pair| Ok((sized(pair[0])?, pair[1])));
            pairs.collect::<Result<_, _>>().map(TransferSize::Mixed)
        }
    }
}

/// Order of offsets.
#[derive(Clone, Copy, Debug, PartialEq, SmartDefault)]
pub struct Seek {
    /// Percent of operations with a random offset.
    #[default(100.0)]
    pub random_percent: f64,
    /// End the run after one sequential pass.
    pub to_end: bool,
    /// Midpoint of a Poisson distribution of random offsets.
    pub poisson: Option<f64>,
}

impl Seek {
    /// The same with another percentage; a negative one is `eof`.
    pub fn with_percent(self, percent: f64) -> Seek {
        Seek { random_percent: percent.max(0.0), to_end: percent < 0.0, ..self }
    }

    /// Number in reports: -1 for `eof`.
    pub fn shown(&self) -> f64 {
        if self.to_end { -1.0 } else { self.random_percent }
    }

    /// True if no offset is random.
    pub fn is_sequential(&self) -> bool {
        self.random_percent == 0.0
    }
}

/// Default midpoint.
const POISSON_MIDPOINT: f64 = 3.0;

/// Reads `random`, `seq`, `eof`, `poisson`, or a percentage.
///
/// # Errors
/// A word is unknown.
pub fn seek(text: &str) -> Result<Seek, Refused> {
    const WORDS: &[&str] = &["sequential", "eof", "random", "poisson"];
    let mut seek = Seek::default();
    for item in values::items(text, false)? {
        match values::abbreviated(&item.text, WORDS) {
            Some("sequential") => seek = seek.with_percent(0.0),
            Some("eof") if item.text.eq_ignore_ascii_case("eof") => seek = seek.with_percent(-1.0),
            Some("random") => seek = seek.with_percent(100.0),
            Some("poisson") => {
                seek = Seek { poisson: Some(POISSON_MIDPOINT), ..seek.with_percent(100.0) };
            }
            _ => match item.text.parse::<f64>() {
                Ok(number) if seek.poisson.is_some() && number > 0.0 => {
                    seek.poisson = Some(number);
                }
                Ok(number) if number == -1.0 || (0.0..=100.0).contains(&number) => {
                    seek = seek.with_percent(number);
                }
                Ok(number) => {
                    let message = format!("a share of {number} % is out of range");
                    return Err(item.refused(text, message, "give 0 to 100"));
                }
                Err(_) => return Err(values::no_choice(text, &item.text, WORDS)),
            },
        }
    }
    Ok(seek)
}

/// Range of a lun: percent up to 100 (200 for the end), or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LunRange {
    /// Start.
    pub low: f64,
    /// End.
    pub high: f64,
}

/// Reads a range.
///
/// # Errors
/// The value is not two ascending numbers.
pub fn range(text: &str) -> Result<LunRange, Refused> {
    let [low, high] = values::pair(text, Unit::Size)?;
    // A percent sign is optional for numbers up to 100.
    let (low, high) = (low.abs(), high.abs());
    let refused = |message: String, remedy: &str| Err(Refused::whole(text, message, remedy));
    if low >= high {
        return refused(format!("the range {low} to {high} is empty"), "let the second be greater");
    }
    if low <= 100.0 && high > 100.0 && high <= 200.0 && high - low >= 100.0 {
        let message = format!("the range from {low} % to {high} % is all of the lun, or more");
        return refused(message, "leave it out, or let it be less than 100 % long");
    }
    Ok(LunRange { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_a_mix_or_a_range() {
        let of = |text| transfer_size(text).ok();
        assert_eq!(of("16k"), Some(TransferSize::Fixed(16384)));
        let mixed = vec![(4096, 60.0), (65536, 40.0)];
        assert_eq!(of("(4k,60,64k,40)"), Some(TransferSize::Mixed(mixed)));
        let ranged = TransferSize::Ranged { min: 4096, max: 65536, align: 4096 };
        assert_eq!(of("(4k,64k,4k)"), Some(ranged));
        for text in [
            "0",
            "-4k",
            "(4k,60,64k)",
            "(4k,60,64k,30)",
            "(64k,4k,4k)",
            "(4k,8k,100)",
            "(4k,8k,1k,2k,1)",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn seeks_are_words_or_percent() {
        let of = |text| seek(text).ok().map(|seek| (seek.shown(), seek.poisson));
        assert_eq!(of("seq"), Some((0.0, None)));
        assert_eq!(of("eof"), Some((-1.0, None)));
        assert_eq!(of("random"), Some((100.0, None)));
        assert_eq!(of("30"), Some((30.0, None)));
        assert_eq!(of("-1"), Some((-1.0, None)));
        assert_eq!(of("(poisson,5)"), Some((100.0, Some(5.0))));
        assert_eq!(of("poisson"), Some((100.0, Some(3.0))));
        for text in ["120", "-2", "sometimes", ""] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_go_upwards_and_are_a_part() {
        assert_eq!(range("(10,20)"), Ok(LunRange { low: 10.0, high: 20.0 }));
        assert_eq!(range("(10%,20%)"), Ok(LunRange { low: 10.0, high: 20.0 }));
        assert_eq!(range("(90,110)"), Ok(LunRange { low: 90.0, high: 110.0 }));
        assert!(range("(1g,2g)").is_ok());
        for text in ["10", "(20,10)", "(0,150)", "(10,10)"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
