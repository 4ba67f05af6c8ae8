use std::fmt::{Debug, Display};
use std::str::FromStr;

use proptest::prelude::*;

use serde::{Deserialize, Serialize};

use super::*;
use crate::tests::arbitrary::values;

fn reads<T>(table: &[(&str, T)])
where
    T: FromStr + PartialEq + Debug + Clone,
    T::Err: Debug + PartialEq,
{
    for (text, value) in table {
        assert_eq!(text.parse(), Ok(value.clone()), "{text}");
    }
}

/// Texts that are refused, each with a word that the refusal must contain.
fn refuses<T: FromStr<Err = UnitError> + Debug>(table: &[(&str, &str)]) {
    for (text, word) in table {
        let error = text.parse::<T>().expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
        assert!(error.contains("; "), "{text}: {error} names no remedy");
    }
}

#[test]
fn sizes() {
    reads(&[
        ("0", Bytes(0)),
        ("512", Bytes(512)),
        ("512b", Bytes(512)),
        ("512B", Bytes(512)),
        ("4k", Bytes(4096)),
        ("4K", Bytes(4096)),
        ("4ki", Bytes(4096)),
        ("4KiB", Bytes(4096)),
        ("4 KiB", Bytes(4096)),
        (" 4k ", Bytes(4096)),
        ("4kB", Bytes(4000)),
        ("4KB", Bytes(4000)),
        ("1.5k", Bytes(1536)),
        ("1.5kB", Bytes(1500)),
        ("0.001kB", Bytes(1)),
        ("1m", Bytes(1 << 20)),
        ("1g", Bytes(1 << 30)),
        ("1t", Bytes(1 << 40)),
        ("1p", Bytes(1 << 50)),
        ("16383p", Bytes(16383 << 50)),
        ("18446744073709551615", Bytes(u64::MAX)),
    ]);
    refuses::<Bytes>(&[
        ("", "empty"),
        ("  ", "empty"),
        ("k", "not a size"),
        ("-4k", "not a size"),
        ("+4k", "not a size"),
        ("4kk", "not a size"),
        ("4 k b", "not a size"),
        ("4bb", "not a size"),
        ("4.k", "not a size"),
        (".5k", "not a size"),
        ("1.2.3k", "not a size"),
        ("1..3k", "not a size"),
        ("4µ", "not a size"),
        ("1e3", "not a size"),
        ("0x10", "not a size"),
        ("0.1", "whole number"),
        ("1.0001k", "whole number"),
        ("16384p", "too large"),
        ("18446744073709551616", "too large"),
        ("99999999999999999999p", "too large"),
        ("999999999999999999999", "not a size"),
    ]);
}

#[test]
fn times() {
    let s = Nanos::from_secs;
    reads(&[
        ("0", Nanos(0)),
        ("0s", Nanos(0)),
        ("7ns", Nanos(7)),
        ("7us", Nanos(7000)),
        ("7µs", Nanos(7000)),
        ("7ms", Nanos(7_000_000)),
        ("1.5s", Nanos(1_500_000_000)),
        ("90s", s(90)),
        ("1m30s", s(90)),
        ("1m 30s", s(90)),
        ("2min", s(120)),
        ("1h", s(3600)),
        ("1d", s(86_400)),
        ("1d1h1m1s1ms1us1ns", Nanos(90_061_001_001_001)),
    ]);
    refuses::<Nanos>(&[
        ("", "empty"),
        ("30", "not a time"),
        ("s", "not a time"),
        ("30 parsecs", "not a time"),
        ("1m30", "not a time"),
        ("-1s", "not a time"),
        ("1S", "not a time"),
        ("0.5ns", "whole number"),
        ("1000000d", "too large"),
        ("213503d213503d", "too large"),
    ]);
    assert_eq!(s(u64::MAX), Nanos(u64::MAX));
}

#[test]
fn rates() {
    reads(&[
        ("100MB", BytesPerSec(100_000_000)),
        ("1GiB/s", BytesPerSec(1 << 30)),
        (" 1g/s ", BytesPerSec(1 << 30)),
    ]);
    reads(&[
        ("20000", OpsPerSec(20_000)),
        ("20k", OpsPerSec(20_000)),
        ("20K/s", OpsPerSec(20_000)),
        ("1.5M", OpsPerSec(1_500_000)),
        ("1m", OpsPerSec(1_000_000)),
    ]);
    refuses::<BytesPerSec>(&[("fast", "not a rate"), ("100MB/h", "not a rate"), ("/s", "rate")]);
    refuses::<OpsPerSec>(&[("1g", "not a rate"), ("0.1", "whole number"), ("", "empty")]);
}

#[test]
fn sizes_of_operations() {
    let (k4, k64) = (Bytes(4 << 10), Bytes(64 << 10));
    reads(&[
        ("4k", SizeSpec::Fixed(k4)),
        ("4k-64k", SizeSpec::Range(k4, k64)),
        (" 4k - 64k ", SizeSpec::Range(k4, k64)),
        ("4k:60,64k:40", SizeSpec::Weighted(vec![(k4, 60), (k64, 40)])),
        ("4k : 60 % , 64k:40%", SizeSpec::Weighted(vec![(k4, 60), (k64, 40)])),
        ("4k:100", SizeSpec::Weighted(vec![(k4, 100)])),
    ]);
    refuses::<SizeSpec>(&[
        ("", "empty"),
        ("4k-", "is missing"),
        ("-4k", "is missing"),
        ("-", "is missing"),
        ("4k-8k-16k", "not a size"),
        ("4k,8k", "no weights"),
        ("4k:60,8k", "no weight"),
        ("4k:60,", "no weight"),
        ("4k:", "not a percentage"),
        (":50", "not a size"),
        ("4k:101", "not a percentage"),
        ("4k:+5", "not a percentage"),
        ("4k:5%%", "not a percentage"),
        ("4k:256", "not a percentage"),
        ("4k-8k:50", "mixes"),
        ("4q:50", "`4q` is not a size"),
    ]);
    let weighted = SizeSpec::Weighted(vec![(k64, 40), (k4, 60)]);
    assert_eq!((weighted.min(), weighted.max()), (k4, k64));
    assert_eq!(SizeSpec::Weighted(Vec::new()).max(), Bytes(0));
}

#[test]
fn mixes() {
    reads(&[
        ("read", Mix::READ),
        ("write", Mix::WRITE),
        ("trim", Mix::TRIM),
        ("read:100", Mix::READ),
        ("read:70,write:30", Mix { read: 70, write: 30, trim: 0 }),
        ("write:30, read:70", Mix { read: 70, write: 30, trim: 0 }),
        ("read:0,write:100", Mix::WRITE),
        ("read:50,write:25,trim:25", Mix { read: 50, write: 25, trim: 25 }),
    ]);
    refuses::<Mix>(&[
        ("", "empty"),
        ("reed", "`reed` is not read"),
        ("read,write", "no share"),
        ("read:70", "adds up to 70"),
        ("read:70,write:40", "adds up to 110"),
        ("read:70,read:30", "twice"),
        ("read:1,read:1,read:1,read:97", "too many"),
        ("read:-5,write:105", "not a percentage"),
    ]);
    assert!(!Mix::READ.destroys() && Mix::TRIM.destroys());
}

#[test]
fn extents() {
    reads(&[
        ("1g", Extent::Bytes(Bytes(1 << 30))),
        ("50%", Extent::Percent(50.0)),
        (" 12.5 % ", Extent::Percent(12.5)),
        ("0%", Extent::Percent(0.0)),
        ("100%", Extent::Percent(100.0)),
    ]);
    refuses::<Extent>(&[
        ("101%", "not a share"),
        ("-1%", "not a share"),
        ("NaN%", "not a share"),
        ("inf%", "not a share"),
        ("%", "not a share"),
        ("half", "not a size"),
    ]);
    assert_eq!(Extent::Percent(50.0).of(Bytes(4097)), Bytes(2048));
    // The float of this whole is larger by one.
    for whole in [u64::MAX, (1 << 53) + 3] {
        assert_eq!(Extent::Percent(100.0).of(Bytes(whole)), Bytes(whole));
    }
}

#[test]
fn long_texts_are_shortened_in_messages() {
    let error = "µ".repeat(10_000).parse::<Bytes>().expect_err("no size").to_string();
    assert!(error.chars().count() < 250 && error.contains('…'), "{error}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    size: PerDirection<SizeSpec>,
}

fn per_direction(read: u64, write: u64, trim: u64) -> PerDirection<SizeSpec> {
    PerDirection { read, write, trim }.map(|bytes| SizeSpec::Fixed(Bytes(bytes)))
}

#[test]
fn one_value_or_a_table_of_directions() {
    for (text, value, written) in [
        ("size = 4096", per_direction(4096, 4096, 4096), "size = \"4KiB\"\n"),
        ("size = \"4k\"", per_direction(4096, 4096, 4096), "size = \"4KiB\"\n"),
        ("size = { write = \"8k\" }", per_direction(8192, 8192, 8192), "size = \"8KiB\"\n"),
        (
            "size = { trim = 1, read = 2 }",
            per_direction(2, 2, 1),
            "[size]\nread = \"2B\"\ntrim = \"1B\"\n",
        ),
        (
            "size = { trim = 1, write = 2 }",
            per_direction(2, 2, 1),
            "[size]\nread = \"2B\"\ntrim = \"1B\"\n",
        ),
    ] {
        let holder: Holder = toml::from_str(text).expect(text);
        assert_eq!(holder, Holder { size: value }, "{text}");
        assert_eq!(toml::to_string(&holder).expect(text), written, "{text}");
    }
    for text in ["size = {}", "size = true", "size = [1]", "size = { sync = 1 }", "size = -1"] {
        assert!(toml::from_str::<Holder>(text).is_err(), "{text}");
    }
}

#[test]
fn percentages_per_direction_keep_to_their_type() {
    assert_eq!(serde_json::from_str("7").ok(), Some(PerDirection::all(7_u8)));
    assert_eq!(serde_json::from_str("{\"write\":9}").ok(), Some(PerDirection::all(9_u8)));
    assert_eq!(serde_json::from_str("0.5").ok(), Some(PerDirection::all(0.5)));
    for wrong in ["256", "\"7\"", "{\"read\":-1}"] {
        assert!(serde_json::from_str::<PerDirection<u8>>(wrong).is_err(), "{wrong}");
    }
}

fn round_trips<T>(value: &T) -> Result<(), TestCaseError>
where
    T: FromStr + Display + PartialEq + Debug,
    T::Err: Debug + PartialEq,
{
    let text = value.to_string();
    let back = text.parse::<T>();
    prop_assert_eq!(back.as_ref(), Ok(value), "{}", text);
    Ok(())
}

proptest! {
    #[test]
    fn numbers_survive_their_text(number: u64, shift in 0u32..64, scale in 0u32..20) {
        for number in [number, number >> shift << shift, number / 10u64.pow(scale)] {
            round_trips(&Bytes(number))?;
            round_trips(&Nanos(number))?;
            round_trips(&BytesPerSec(number))?;
            round_trips(&OpsPerSec(number))?;
        }
    }

    #[test]
    fn specifications_survive_their_text(
        size in values::<SizeSpec>(100), mix in values::<Mix>(10), extent in values::<Extent>(20)
    ) {
        round_trips(&size)?;
        round_trips(&mix)?;
        round_trips(&extent)?;
    }

    #[test]
    fn no_text_causes_panic(
        text in "\\PC{0,40}|[0-9.kKmibB:,%a-z /-]{0,30}|[0-9]{0,60}[a-zµ]{0,3}"
    ) {
        let remedies = [
            text.parse::<Bytes>().err(),
            text.parse::<Nanos>().err(),
            text.parse::<BytesPerSec>().err(),
            text.parse::<OpsPerSec>().err(),
            text.parse::<Extent>().err(),
            text.parse::<SizeSpec>().err(),
            text.parse::<Mix>().err(),
        ];
        for error in remedies.into_iter().flatten() {
            prop_assert!(error.to_string().contains("; "), "{}: {}", text, error);
        }
    }
}

#[test]
fn cpu_lists_of_kernel_and_people() {
    assert_eq!(cpu_list("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
    assert_eq!(cpu_list(" 5 - 6, 1 "), Ok(vec![5, 6, 1]));
    assert_eq!(cpu_list(""), Ok(vec![]));
    for (text, part) in [("0-3,x", "x"), ("3-1", "3-1"), ("1,", ""), ("0-9999", "0-9999")] {
        assert_eq!(cpu_list(text), Err(part));
    }
}

proptest! {
    /// The CPUs of any ranges come back, whether each is written as a range or number by number.
    #[test]
    fn a_cpu_list_is_what_its_ranges_hold(
        ranges in proptest::collection::vec((0_u32..8000, 0_u32..100), 0..8),
    ) {
        let held: Vec<u32> = ranges.iter().flat_map(|(at, more)| *at..=at + more).collect();
        let short: Vec<_> = ranges.iter().map(|(at, more)| format!("{at}-{}", at + more)).collect();
        let long: Vec<_> = held.iter().map(u32::to_string).collect();
        let (short, long) = (short.join(","), long.join(","));
        prop_assert_eq!(cpu_list(&short), Ok(held.clone()));
        prop_assert_eq!(cpu_list(&long), Ok(held));
    }

    /// Any text is a list or has a part that is none.
    #[test]
    fn any_text_is_a_cpu_list_or_names_its_wrong_part(text in "[0-9x, -]{0,20}") {
        if let Err(part) = cpu_list(&text) {
            prop_assert!(text.split(',').any(|of| of == part));
        }
    }
}
