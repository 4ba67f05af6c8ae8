//! dd's lines about a copy in the C locale, and the duration of a copy.

use super::options::Status;

/// Progress of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Full and partial input blocks.
    pub read: (u64, u64),
    /// Full and partial output blocks.
    pub written: (u64, u64),
    /// Bytes written.
    pub bytes: u64,
    /// Lines longer than a record.
    pub truncated: u64,
    /// Time since the first block.
    pub seconds: f64,
}

/// The closing lines, according to the status level.
pub fn closing(transfer: &Transfer, status: Status) -> String {
    if status == Status::None {
        return String::new();
    }
    let Transfer { read, written, truncated, .. } = transfer;
    let mut text =
        format!("{}+{} records in\n{}+{} records out\n", read.0, read.1, written.0, written.1);
    match truncated {
        0 => {}
        1 => text.push_str("1 truncated record\n"),
        many => text.push_str(&format!("{many} truncated records\n")),
    }
    if status != Status::NoTransfer {
        let seconds = significant(transfer.seconds);
        text.push_str(&amounts(transfer, &seconds));
        text.push('\n');
    }
    text
}

/// The line of `status=progress`, which overwrites the previous one.
pub fn progress(transfer: &Transfer) -> String {
    amounts(transfer, &format!("{:.0}", transfer.seconds))
}

fn amounts(transfer: &Transfer, seconds: &str) -> String {
    let bytes = transfer.bytes;
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let human = match bytes {
        ..1000 => String::new(),
        1000..1024 => format!(" ({})", size(bytes, 1000)),
        _ => format!(" ({}, {})", size(bytes, 1000), size(bytes, 1024)),
    };
    format!("{bytes} {unit}{human} copied, {seconds} s, {}", rate(bytes, transfer.seconds))
}

const LETTERS: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];

fn suffix(base: u64, power: usize) -> String {
    match (base, power) {
        (_, 0) => "B".to_owned(),
        (1000, 1) => "kB".to_owned(),
        (1000, _) => format!("{}B", LETTERS[power]),
        _ => format!("{}iB", LETTERS[power]),
    }
}

/// A size in powers of 1000 (`kB`) or 1024 (`KiB`): two digits below ten, rounded half to even.
pub fn size(bytes: u64, base: u64) -> String {
    let (mut power, mut unit) = (0, 1_u128);
    while u128::from(bytes) >= unit * u128::from(base) {
        (power, unit) = (power + 1, unit * u128::from(base));
    }
    let tenths = rounded(u128::from(bytes) * 10, unit);
    if power > 0 && tenths < 100 {
        return format!("{}.{} {}", tenths / 10, tenths % 10, suffix(base, power));
    }
    match rounded(bytes.into(), unit) {
        whole if whole >= base.into() => format!("1.0 {}", suffix(base, power + 1)),
        whole => format!("{whole} {}", suffix(base, power)),
    }
}

fn rounded(amount: u128, unit: u128) -> u128 {
    let (whole, rest) = (amount / unit, amount % unit);
    let is_up = rest * 2 > unit || (rest * 2 == unit && whole % 2 == 1);
    whole + u128::from(is_up)
}

/// A rate in powers of 1000, at least in kB.
fn rate(bytes: u64, seconds: f64) -> String {
    if seconds <= 0.0 {
        return "Infinity B/s".to_owned();
    }
    let (mut amount, mut power) = (bytes as f64 / seconds / 1000.0, 1);
    while amount >= 1000.0 && power + 1 < LETTERS.len() {
        (amount, power) = (amount / 1000.0, power + 1);
    }
    let letter = if power == 1 { "k" } else { LETTERS[power] };
    let fine = format!("{amount:.1}");
    match fine.len() {
        ..=4 => format!("{fine} {letter}B/s"),
        _ => format!("{amount:.0} {letter}B/s"),
    }
}

/// A number with six significant digits, without trailing zeros.
fn significant(number: f64) -> String {
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_the_installed_tool_does() {
        for (bytes, decimal, binary) in [
            (1024, "1.0 kB", "1.0 KiB"),
            (1150, "1.2 kB", "1.1 KiB"),
            (1250, "1.2 kB", "1.2 KiB"),
            (1177, "1.2 kB", "1.1 KiB"),
            (1178, "1.2 kB", "1.2 KiB"),
            (8850, "8.8 kB", "8.6 KiB"),
            (8950, "9.0 kB", "8.7 KiB"),
            (9949, "9.9 kB", "9.7 KiB"),
            (9950, "10 kB", "9.7 KiB"),
            (10_500, "10 kB", "10 KiB"),
            (97_500, "98 kB", "95 KiB"),
            (98_500, "98 kB", "96 KiB"),
            (999_499, "999 kB", "976 KiB"),
            (999_500, "1.0 MB", "976 KiB"),
            (1_023_999, "1.0 MB", "1000 KiB"),
            (1_048_575, "1.0 MB", "1.0 MiB"),
            (59_703_296, "60 MB", "57 MiB"),
            (62_914_560_000, "63 GB", "59 GiB"),
        ] {
            assert_eq!((&*size(bytes, 1000), &*size(bytes, 1024)), (decimal, binary), "{bytes}");
        }
        assert_eq!(size(u64::MAX, 1000), "18 EB");
    }

    #[test]
    fn closing_lines() {
        let transfer = Transfer {
            read: (7287, 1),
            written: (116_608, 0),
            bytes: 59_703_296,
            truncated: 2,
            seconds: 0.042_797_4,
        };
        assert_eq!(
            closing(&transfer, Status::Default),
            "7287+1 records in\n116608+0 records out\n2 truncated records\n\
             59703296 bytes (60 MB, 57 MiB) copied, 0.0427974 s, 1.4 GB/s\n"
        );
        assert_eq!(closing(&transfer, Status::None), "");
        assert_eq!(closing(&transfer, Status::NoTransfer).lines().count(), 3);
        let line = |bytes, seconds| amounts(&Transfer { bytes, ..transfer }, &significant(seconds));
        assert!(line(0, 1.0).starts_with("0 bytes copied, 1 s, "));
        assert!(line(1, 1.0).starts_with("1 byte copied, "));
        assert!(line(1023, 1.0).starts_with("1023 bytes (1.0 kB) copied, "));
    }

    #[test]
    fn times_have_six_digits_and_rates_two() {
        for (number, text) in [
            (1.1287e-5, "1.1287e-05"),
            (0.000_247_898, "0.000247898"),
            (2.039_37, "2.03937"),
            (1.0, "1"),
            (1_234_567.0, "1.23457e+06"),
            (99.999_99, "100"),
            (0.103_755_4, "0.103755"),
        ] {
            assert_eq!(significant(number), text);
        }
        for (bytes, seconds, text) in [
            (0, 1.0, "0.0 kB/s"),
            (16, 0.000_247_898, "64.5 kB/s"),
            (1024, 2.9494e-5, "34.7 MB/s"),
            (9949, 2.6499e-5, "375 MB/s"),
            (1_048_576, 0.000_616_676, "1.7 GB/s"),
            (0, 0.0, "Infinity B/s"),
        ] {
            assert_eq!(rate(bytes, seconds), text);
        }
    }
}
