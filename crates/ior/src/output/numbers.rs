//! Numbers as IOR prints them.

/// Bytes of a mebibyte.
pub(super) const MIB: f64 = (1 << 20) as f64;

/// Bytes of a kibibyte.
pub(super) const KIB: f64 = 1024.0;

/// A cell of the table: ten columns and a blank; six decimals below 1, two below 3600, else none.
pub(super) fn cell(number: f64) -> String {
    let precision = match number {
        number if number < 0.0 => return "   -       ".to_owned(),
        number if number < 1.0 => 6,
        number if number < 3600.0 => 2,
        _ => 0,
    };
    format!("{number:<10.precision$} ")
}

/// A number of bytes in a fitting unit, as an integer if exact.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let unit = UNITS.into_iter().find(|(unit, _)| number >= *unit);
    match unit {
        Some((unit, name)) if number.is_multiple_of(unit) => format!("{} {name}", number / unit),
        Some((unit, name)) => format!("{:.2} {name}", number as f64 / unit as f64),
        None => format!("{number} bytes"),
    }
}

/// A number with up to nine decimals, without trailing zeros.
pub(super) fn decimal(number: f64) -> String {
    let text = format!("{number:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// A number with an exponent of at least two digits: `1.2345678901e-03`.
pub(super) fn scientific(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_ten_columns_and_a_blank() {
        for (number, text) in [
            (284.166, "284.17     "),
            (0.0351064, "0.035106   "),
            (11530.1, "11530      "),
            (3599.994, "3599.99    "),
            (0.0, "0.000000   "),
            (-1.0, "   -       "),
        ] {
            assert_eq!(cell(number), text);
        }
    }

    #[test]
    fn bytes_have_a_unit_from_a_mebibyte_on() {
        for (number, text) in [
            (262_144, "262144 bytes"),
            (1 << 20, "1 MiB"),
            (100 << 20, "100 MiB"),
            (3 << 19, "1.50 MiB"),
            (16 << 30, "16 GiB"),
            (1 << 40, "1 TiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn small_numbers_are_not_rounded_to_nothing() {
        assert_eq!([0.000_000_123, 5.0, 0.25, 0.0].map(decimal), ["0.000000123", "5", "0.25", "0"]);
        assert_eq!(scientific(0.001_234_567_890_1, 10), "1.2345678901e-03");
        assert_eq!(scientific(0.0, 8), "0.00000000e+00");
        assert_eq!(scientific(1.5e120, 6), "1.500000e+120");
    }
}
