//! Numbers in fio's short form: at most N digits, with a prefix.

/// By how much one prefix differs from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// 1000: k, M, G, …
    Decimal,
    /// 1024: Ki, Mi, Gi, …
    Binary,
}

impl Step {
    fn size(self) -> u64 {
        match self {
            Step::Decimal => 1000,
            Step::Binary => 1024,
        }
    }

    fn prefixes(self) -> [&'static str; 7] {
        match self {
            Step::Decimal => ["", "k", "M", "G", "T", "P", "E"],
            Step::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        }
    }
}

fn digits(value: u64) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

/// An integer with at most `most` digits and a prefix: 20240 in four digits is `20.2k`.
///
/// Shorter numbers stay unchanged. Longer ones are divided until they fit, with one decimal less
/// than there is space for.
pub(super) fn short(value: u64, most: u32, step: Step, unit: &str) -> String {
    let prefixes = step.prefixes();
    let (most, mut whole, mut rest, mut power) = (most.max(1) as usize, value, None, 0);
    while digits(whole) > most && whole >= step.size() && power + 1 < prefixes.len() {
        rest = Some(whole % step.size());
        whole /= step.size();
        power += 1;
    }
    let number = match rest {
        None => whole.to_string(),
        Some(rest) => with_rest(whole, rest as f64 / step.size() as f64, most),
    };
    format!("{number}{}{unit}", prefixes[power])
}

fn with_rest(whole: u64, rest: f64, most: usize) -> String {
    let decimals = |whole: u64| most.saturating_sub(digits(whole) + 1);
    let places = decimals(whole);
    let factor = 10f64.powi(places as i32);
    let rounded = (rest * factor).round();
    if rounded < factor {
        let text = format!("{whole}.{rounded:0places$}");
        return if places == 0 { whole.to_string() } else { text };
    }
    // Rounding up may add a digit.
    let whole = whole + 1;
    match decimals(whole) {
        0 => whole.to_string(),
        places => format!("{whole}.{:0places$}", 0),
    }
}

/// Units of rates and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units {
    /// `significant_figures`.
    pub digits: u32,
    /// Kind of the first prefix; the other follows in brackets.
    pub first: Step,
    /// Rates are in bits.
    pub bits: bool,
}

impl Units {
    /// Of a job's `kb_base`, `unit_base` and `significant_figures`.
    pub fn of(reporting: &crate::job::Reporting) -> Units {
        Units {
            digits: reporting.significant_figures,
            first: if reporting.kb_base == 1000 { Step::Decimal } else { Step::Binary },
            bits: reporting.unit_base == 1,
        }
    }

    fn other(self) -> Step {
        if self.first == Step::Binary { Step::Decimal } else { Step::Binary }
    }

    fn rate_in(self, bytes_per_s: f64, step: Step) -> String {
        let bytes = bytes_per_s as u64;
        if self.bits {
            short(bytes.saturating_mul(8), self.digits, step, "bit/s")
        } else {
            short(bytes, self.digits, step, "B/s")
        }
    }

    /// A rate, such as `78.9MiB/s`.
    pub fn rate(self, bytes_per_s: f64) -> String {
        self.rate_in(bytes_per_s, self.first)
    }

    /// A rate in the other kind of prefix, such as `82.7MB/s`.
    pub fn other_rate(self, bytes_per_s: f64) -> String {
        self.rate_in(bytes_per_s, self.other())
    }

    /// A size, such as `2828KiB`.
    pub fn size(self, bytes: u64) -> String {
        short(bytes, self.digits, self.first, "B")
    }

    /// A size in the other kind of prefix.
    pub fn other_size(self, bytes: u64) -> String {
        short(bytes, self.digits, self.other(), "B")
    }

    /// A count, such as `20.2k`.
    pub fn count(self, count: f64) -> String {
        short(count as u64, self.digits, Step::Decimal, "")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_look_like_fios() {
        // Each pair was printed by fio 3.33 itself.
        let four = |value, step, unit| short(value, 4, step, unit);
        assert_eq!(four(20_200, Step::Decimal, ""), "20.2k");
        assert_eq!(four(9057, Step::Decimal, ""), "9057");
        assert_eq!(four(2_951_184, Step::Decimal, ""), "2951k");
        assert_eq!(four(2828 * 1024, Step::Binary, "B"), "2828KiB");
        assert_eq!(four(1 << 20, Step::Binary, "B"), "1024KiB");
        assert_eq!(four(1 << 20, Step::Decimal, "B"), "1049kB");
        assert_eq!(four(65_536, Step::Binary, "B"), "64.0KiB");
        assert_eq!(four(82_738_995, Step::Binary, "B/s"), "78.9MiB/s");
        assert_eq!(four(36_263_206_912, Step::Binary, "B"), "33.8GiB");
        assert_eq!(four(8_388_608_000, Step::Decimal, "bit/s"), "8389Mbit/s");
        assert_eq!(short(1_048_576_000, 6, Step::Binary, "B/s"), "1000.0MiB/s");
        assert_eq!(short(1 << 20, 6, Step::Binary, "B"), "1024.0KiB");
        assert_eq!(short(3_853_100, 6, Step::Decimal, ""), "3853.1k");
        assert_eq!(short(155_891, 6, Step::Decimal, ""), "155891");
    }

    #[test]
    fn a_rest_that_rounds_up_carries() {
        assert_eq!(short(99_960, 4, Step::Decimal, ""), "100k");
        assert_eq!(short(19_990, 3, Step::Decimal, ""), "20k");
        assert_eq!(short(12_999_999, 6, Step::Decimal, ""), "13000k");
        assert_eq!(short(u64::MAX, 4, Step::Decimal, ""), "18.4E");
    }

    proptest! {
        #[test]
        fn the_number_can_be_read_back(value: u64, most in 2u32..10, binary: bool) {
            let step = if binary { Step::Binary } else { Step::Decimal };
            let text = short(value, most, step, "");
            let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let power = step.prefixes().iter().position(|p| *p == &text[end..]).unwrap();
            let factor = (step.size() as f64).powi(power as i32);
            let read = text[..end].parse::<f64>().unwrap() * factor;
            // At least half of the requested digits are significant.
            let off = (read - value as f64).abs() / (value as f64).max(1.0);
            prop_assert!(off <= 0.5 * 10f64.powi(-(most as i32 - 3).max(0)), "{value} as {text}");
        }
    }
}
