use candor_plan::Nanos;
use proptest::prelude::*;

use super::*;

const BINARY: Units = Units { kb_base: 1024 };
const DECIMAL: Units = Units { kb_base: 1000 };

fn size(text: &str) -> Option<u64> {
    bytes(text, BINARY).ok().map(|read| read.value)
}

#[test]
fn sizes_are_what_fio_takes_them_for() {
    for (text, binary, decimal) in [
        ("4096", 4096, 4096),
        ("4k", 4096, 4000),
        ("4K", 4096, 4000),
        ("4kb", 4096, 4000),
        ("4kB", 4096, 4000),
        ("4b", 4, 4),
        ("4kib", 4000, 4096),
        ("4KiB", 4000, 4096),
        // Without the b fio drops the i.
        ("4ki", 4096, 4000),
        ("1mib", 1_000_000, 1 << 20),
        ("1m", 1 << 20, 1_000_000),
        ("1g", 1 << 30, 1_000_000_000),
        ("1t", 1 << 40, 1_000_000_000_000),
        ("1p", 1 << 50, 1_000_000_000_000_000),
        ("0x1000", 4096, 4096),
        ("0X1b", 27, 27),
        ("010", 10, 10),
        ("4k ", 4096, 4000),
        ("18446744073709551615", u64::MAX, u64::MAX),
    ] {
        assert_eq!(size(text), Some(binary), "{text}");
        assert_eq!(bytes(text, DECIMAL).map(|read| read.value), Ok(decimal), "{text}");
    }
}

#[test]
fn odd_but_documented_readings_are_remarked() {
    for (text, units, remarked) in [
        ("4KiB", BINARY, true),
        ("4ki", BINARY, true),
        ("4ki", DECIMAL, true),
        ("4KiB", DECIMAL, false),
        ("4k", BINARY, false),
        ("4kb", DECIMAL, false),
    ] {
        let remark = bytes(text, units).expect("it is a size").remark;
        assert_eq!(remark.is_some(), remarked, "{text}: {remark:?}");
        assert!(remark.is_none_or(|remark| remark.contains(text)), "{text}");
    }
}

#[test]
fn what_fio_misreads_is_refused_with_both_readings() {
    for (text, fio, meant) in [
        ("1.5k", "1", "1536"),
        ("1e3", "1", "1000"),
        ("4 KiB", "4", "4096"),
        ("4 k", "4", "4096"),
        ("1.5", "1", "1"),
        ("0x10k", "16", "16384"),
    ] {
        let refused = bytes(text, BINARY).expect_err(text);
        let takes = format!("fio takes it as {fio}");
        assert!(refused.message.contains(&takes), "{text}: {}", refused.message);
        assert!(refused.message.contains(meant), "{text}: {}", refused.message);
    }
    for (text, fio) in
        [("4x", "4"), ("1k-4k", "1024"), ("4kk", "4096"), ("4bk", "4"), ("4k,8k", "4096")]
    {
        let refused = bytes(text, BINARY).expect_err(text);
        let takes = format!("fio takes it as {fio}");
        assert!(refused.message.contains(&takes), "{text}: {}", refused.message);
    }
    for text in
        ["", "k", "-", "0x", "abc", "18446744073709551616", "99999999999999p", "-1", "(", "µ"]
    {
        assert!(bytes(text, BINARY).is_err(), "{text}");
    }
}

/// As seen with fio 3.33: `numjobs=128*1`, `runtime=1.9s`, `bs=4k-64k`, `percentile_list=50,90`.
#[test]
fn what_fio_reads_plainly_is_followed_with_a_remark() {
    fn seen<T: PartialEq + std::fmt::Debug>(read: Value<T>, value: &T, other: &str) {
        let read = read.expect("fio reads it");
        let remark = read.remark.expect("both readings are named");
        assert!(remark.contains(other), "{other}: {remark}");
        assert_eq!(read.value, *value, "{remark}");
    }
    seen(count("128*1", BINARY), &128, "stops at `*`; as arithmetic it would be 128");
    seen(count("40+20", BINARY), &40, "it would be 60");
    seen(count("1s", BINARY), &1, "no 1 seconds");
    seen(bytes("4k;8k", BINARY), &4096, "stops at `;`");
    let seconds = |text| time(text, TimeUnit::Seconds);
    seen(seconds("40+20"), &Nanos::from_secs(40), "it would be 60s");
    seen(seconds("1.5s"), &Nanos::from_secs(1), "looks like 1500ms");
    seen(seconds("1.5"), &Nanos::from_secs(1), "looks like 1500ms");
    seen(seconds("0.5m"), &Nanos(0), "looks like 30s");
    seen(floats("50:90,99:99.9"), &vec![50.0, 90.0, 99.9], "50:90:99:99.9");
    seen(cpus("0:1"), &vec![0], "`0-1`");
    let by = |text| numbers_by_direction(text, |part| bytes(part, BINARY));
    let some = |values: [u64; 3]| values.map(Some);
    seen(by("4k-64k"), &some([4096, 65536, 65536]), "`4k,64k`");
    seen(by("4k:64k"), &some([4096, 65536, 65536]), "`4k,64k`");
    seen(by("4k:8k-64k"), &some([4096, 8192, 65536]), "`4k,8k,64k`");
    assert_eq!(by("4k,8k"), Ok(Read::plain(some([4096, 8192, 8192]))));
    for wrong in ["1-2-3-4", "-1", "4k-x", "4k:8k,16k"] {
        assert!(by(wrong).is_err(), "{wrong}");
    }
    for wrong in ["*2", "x*2", "1.5*2", "s", "1.5"] {
        assert!(count(wrong, BINARY).is_err(), "{wrong}");
    }
    for wrong in ["1.5x", "1.s", ".5s", "1.5.5s"] {
        assert!(seconds(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn signs_and_switches() {
    let int = |text| integer(text, BINARY).map(|read| read.value).ok();
    assert_eq!(
        (int("-5"), int("-1k"), int("+7"), int("--1")),
        (Some(-5), Some(-1024), Some(7), None)
    );
    assert_eq!(boolean("0").map(|read| read.value), Ok(false));
    assert_eq!(boolean("0x1").map(|read| read.value), Ok(true));
    for wrong in ["2", "true", "yes", "", "1k", "-1"] {
        assert!(boolean(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn amounts_may_depend_on_the_target() {
    let of = |text| amount(text, BINARY).map(|read| read.value).ok();
    assert_eq!(of("10%"), Some(Amount::Percent(10)));
    assert_eq!(of("4z"), Some(Amount::Zones(4)));
    assert_eq!(of("1g"), Some(Amount::Bytes(1 << 30)));
    for wrong in ["10.5%", "%", "z", "10%%", "10 %", "-1%", "4294967296%"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
    let refused = amount("10.5%", BINARY).expect_err("decimals");
    assert!(refused.message.contains("fio takes it as 10"), "{}", refused.message);
}

#[test]
fn arithmetic_in_parentheses() {
    for (text, value) in [
        ("(4*1024)k", 4 << 20),
        ("(4k*2)", 8192),
        ("(1+2)*3", 9),
        ("(2^10)", 1024),
        ("(2^3^2)", 512),
        ("(10/4)", 2),
        ("(10%3)", 1),
        ("( 8k + ( 2 ^ 10 ) )", 9216),
        ("(1.5k)", 1536),
        ("(2 - -3)", 5),
        ("(0x10)k", 16384),
        ("(1kib)", 1000),
    ] {
        assert_eq!(size(text), Some(value), "{text}");
    }
    for wrong in [
        "(4K+1",
        "(5-9)",
        "()",
        "(1/0)",
        "(1%0)",
        "(2^999)",
        "(1)(2)",
        "(1x)",
        "(0-1)^0.5",
        "(1..2)",
    ] {
        assert!(bytes(wrong, BINARY).is_err(), "{wrong}");
    }
    assert_eq!(time("(2s+1)", TimeUnit::Seconds).map(|read| read.value), Ok(Nanos(2_000_001_000)));
    assert!(bytes(&"(".repeat(100_000), BINARY).is_err());
    assert!(bytes(&format!("(1{})", "^1".repeat(100_000)), BINARY).is_err());
}

#[test]
fn sums_without_parentheses_are_only_sums_of_plain_numbers() {
    let sum = |text| plain_arithmetic(text).map(Result::ok);
    assert_eq!(sum("8*7976"), Some(Some(63808)));
    assert_eq!(sum("8 / 3 + 1"), Some(Some(3)));
    assert_eq!(sum("2*"), Some(None));
    for no_sum in ["7976", "/data/2-x", "7976m", "", "-5"] {
        assert_eq!(sum(no_sum), None, "{no_sum}");
    }
}

#[test]
fn times_take_the_unit_of_their_option() {
    for (text, default, micros) in [
        ("10", TimeUnit::Seconds, 10_000_000),
        ("10", TimeUnit::Micros, 10),
        ("10s", TimeUnit::Micros, 10_000_000),
        ("1S", TimeUnit::Micros, 1_000_000),
        ("5m", TimeUnit::Seconds, 300_000_000),
        ("1h", TimeUnit::Seconds, 3_600_000_000),
        ("1d", TimeUnit::Seconds, 86_400_000_000),
        ("100ms", TimeUnit::Seconds, 100_000),
        ("100msec", TimeUnit::Seconds, 100_000),
        ("5us", TimeUnit::Seconds, 5),
        ("5usec", TimeUnit::Seconds, 5),
        ("10sec", TimeUnit::Seconds, 10_000_000),
    ] {
        assert_eq!(time(text, default).map(|read| read.value), Ok(Nanos(micros * 1000)), "{text}");
    }
    assert!(time("10sec", TimeUnit::Seconds).is_ok_and(|read| read.remark.is_some()));
    assert!(time("10s", TimeUnit::Seconds).is_ok_and(|read| read.remark.is_none()));
}

#[test]
fn times_that_fio_misreads_are_refused_with_both_readings() {
    for (text, fio, meant) in [
        ("1m500ms", "1us", "60500ms"),
        ("1m30s", "1us", "90s"),
        ("1min", "1us", "60s"),
        ("10seconds", "10us", "10s"),
        ("2hours", "2us", "7200s"),
    ] {
        let refused = time(text, TimeUnit::Seconds).expect_err(text);
        let takes = format!("fio takes it as {fio},");
        assert!(refused.message.contains(&takes), "{text}: {}", refused.message);
        assert!(refused.message.contains(meant), "{text}: {}", refused.message);
    }
    for wrong in ["", "s", "-5", "1k", "10z", "10%", "1ns", "1 parsec", "999999999999999999d"] {
        assert!(time(wrong, TimeUnit::Seconds).is_err(), "{wrong}");
    }
}

#[test]
fn ranges_have_two_ends_in_either_order() {
    let of = |text| range(text, BINARY).map(|read| read.value).ok();
    for text in ["1k-4k", "1k:4k", "4k-1k", "1k - 4k"] {
        assert_eq!(of(text), Some((1024, 4096)), "{text}");
    }
    assert_eq!(of("(2-1)k-4k"), Some((1024, 4096)));
    for wrong in ["1k", "1k-", "-4k", "1k-4k-8k", "1.5k-4k", "", "-"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
    let refused = range("1k-1.5k", BINARY).expect_err("decimals");
    assert_eq!(&"1k-1.5k"[refused.part], "1.5k");
    let seconds = |text| time_range(text, TimeUnit::Seconds).map(|read| read.value).ok();
    let second = 1_000_000_000;
    assert_eq!(seconds("1-5"), Some((Nanos(second), Nanos(5 * second))));
    assert_eq!(seconds("5s:1s"), Some((Nanos(second), Nanos(5 * second))));
    assert_eq!(seconds("3"), Some((Nanos(3 * second), Nanos(3 * second))));
}

#[test]
fn a_value_that_no_comma_follows_covers_the_rest() {
    let of =
        |text| by_direction(text, &[','], |part| bytes(part, BINARY)).map(|read| read.value).ok();
    let some = |values: [u64; 3]| Some(values.map(|value| (value > 0).then_some(value)));
    for (text, values) in [
        ("8k", [8192, 8192, 8192]),
        ("8k,", [8192, 0, 0]),
        ("8k,32k", [8192, 32768, 32768]),
        ("8k,32k,", [8192, 32768, 0]),
        (",8k", [0, 8192, 8192]),
        (",8k,", [0, 8192, 0]),
        ("1k, 2k ,4k", [1024, 2048, 4096]),
        (",,8k", [0, 0, 8192]),
    ] {
        assert_eq!(of(text), some(values), "{text}");
    }
    for wrong in ["", "1,2,3,4", "4k,bla"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
    let refused = by_direction("4k, bla", &[','], |part| bytes(part, BINARY)).expect_err("bla");
    assert_eq!(&"4k, bla"[refused.part], "bla");
    let ranges = ranges_by_direction("1k-4k/8k-16k", BINARY).map(|read| read.value);
    let second = Some((8192, 16384));
    assert_eq!(ranges, Ok([Some((1024, 4096)), second, second]));
}

#[test]
fn splits_behind_a_third_comma_are_dropped_with_a_remark() {
    let read = splits_by_direction("512/10,1536/10,2560/10,3584/10", BINARY).expect("a split");
    let sizes: Vec<_> = read.value.iter().flatten().map(|list| list[0].value).collect();
    assert_eq!(sizes, [512, 1536, 2560]);
    assert!(read.remark.expect("a remark").contains("is read as `512/10,1536/10,2560/10`"));
    assert_eq!(splits_by_direction("4k/50,8k/50,", BINARY).expect("a split").remark, None);
}

#[test]
fn splits_share_what_is_left() {
    let of = |text| split(text, BINARY).map(|read| read.value).ok();
    let share = |value, percent| Share { value, percent };
    assert_eq!(of("4k/60:8k/40"), Some(vec![share(4096, Some(60)), share(8192, Some(40))]));
    assert_eq!(
        of("4k/50:8k/:16k"),
        Some(vec![share(4096, Some(50)), share(8192, None), share(16384, None)])
    );
    for wrong in
        ["4k/60:8k/50", "4k/101", "4k/-1", "4k/x", ":4k/50", "4k/50:", "4kx/10", "4k/1.5", ""]
    {
        assert_eq!(of(wrong), None, "{wrong}");
    }
    assert_eq!(of(&vec!["4k/"; 65].join(":")), None);
    let refused = split("4k/60:8k/4x", BINARY).expect_err("percent");
    assert_eq!(&"4k/60:8k/4x"[refused.part], "4x");
    let by = splits_by_direction("4k/50:8k/50,16k/", BINARY).map(|read| read.value).unwrap();
    assert_eq!(by[2], Some(vec![share(16384, None)]));
}

#[test]
fn lists_of_numbers() {
    assert_eq!(floats("99.9:99.99:1").map(|read| read.value), Ok(vec![99.9, 99.99, 1.0]));
    for wrong in ["x", "99.9x", "", "1:", "inf", "1e3", ",2"] {
        assert!(floats(wrong).is_err(), "{wrong}");
    }
    assert_eq!(cpus("3,0-1").map(|read| read.value), Ok(vec![0, 1, 3]));
    for wrong in ["", "3-1", "x", "0-99999999", "1,", ":1"] {
        assert!(cpus(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn patterns_are_the_bytes_that_fio_writes() {
    let of = |text| match pattern(text).map(|read| read.value).as_deref() {
        Ok([PatternPart::Bytes(bytes)]) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        other => format!("{other:?}"),
    };
    // As seen in files that fio 3.33 wrote.
    for (text, bytes) in [
        ("0x1234", "1234"),
        ("0xabc", "0abc"),
        ("0x0012", "0012"),
        ("0XAB", "ab"),
        ("0x123456789abcdef0112233445566", "123456789abcdef0112233445566"),
        ("123", "7b"),
        ("256", "0001"),
        ("-1", "ffffffff"),
        ("-300", "d4feffff"),
        ("010", "0a"),
        ("5 6", "0506"),
        ("\"ab\"0x12", "616212"),
        ("1\"a\"", "0161"),
        ("\"abcd\"-120xdead", "61626364f4ffffffdead"),
        ("70x000x1f0x00", "07001f00"),
        ("\"a'b\"", "612762"),
        ("0", "00"),
    ] {
        assert_eq!(of(text), bytes, "{text}");
    }
    let parts = pattern("0xff%o'/some/file'").map(|read| read.value);
    let file = PatternPart::File("/some/file".to_owned());
    assert_eq!(parts, Ok(vec![PatternPart::Bytes(vec![255]), PatternPart::Offset, file]));
    for wrong in
        ["", "ab", "\"ab", "0x", "\"\"", "0x12zz", "%x", "2147483648", "0x12,0x34", "-", "é"]
    {
        assert!(pattern(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn a_size_is_its_number_times_its_unit(number in 0u64..1 << 20, unit in 0usize..6) {
        let (letters, power) = [("", 0), ("k", 1), ("m", 2), ("g", 3), ("T", 4), ("b", 0)][unit];
        let text = format!("{number}{letters}");
        let expected = u128::from(number) * 1024u128.pow(power);
        prop_assert_eq!(size(&text).map(u128::from), u64::try_from(expected).ok().map(u128::from));
        prop_assert_eq!(size(&format!("({text})")), size(&text));
        prop_assert_eq!(size(&format!("{number:#x}")), Some(number));
    }

    #[test]
    fn sums_are_exact(a in 0i128..1 << 40, b in 1i128..1 << 20, c in 0i128..1 << 20) {
        let of = |text: String| plain_arithmetic(&text).and_then(Result::ok);
        prop_assert_eq!(of(format!("{a}+{b}*{c}")), Some(a + b * c));
        prop_assert_eq!(of(format!("({a}-{c})/{b}")), Some((a - c) / b));
        prop_assert_eq!(of(format!("{a}%{b}-{c}")), Some(a % b - c));
    }

    #[test]
    fn garbage_is_read_or_refused(text in "\\PC{0,40}") {
        everything(&text)?;
    }

    #[test]
    fn what_looks_like_a_value_is_read_or_refused(text in "[-+0-9a-z%.,:/()^ '\"]{0,24}") {
        everything(&text)?;
    }
}

/// Every parser takes the text or refuses it, and then names a part of it.
fn everything(text: &str) -> Result<(), TestCaseError> {
    fn holds<T>(text: &str, value: Value<T>) -> Result<(), TestCaseError> {
        let Err(refused) = value else { return Ok(()) };
        prop_assert!(!refused.message.is_empty());
        prop_assert!(text.get(refused.part.clone()).is_some(), "{:?} of {text}", refused.part);
        Ok(())
    }
    for units in [BINARY, DECIMAL] {
        holds(text, bytes(text, units))?;
        holds(text, integer(text, units))?;
        holds(text, count(text, units))?;
        holds(text, numbers_by_direction(text, |part| bytes(part, units)))?;
        holds(text, amount(text, units))?;
        holds(text, range(text, units))?;
        holds(text, ranges_by_direction(text, units))?;
        holds(text, splits_by_direction(text, units))?;
    }
    for unit in [TimeUnit::Seconds, TimeUnit::Micros] {
        holds(text, time(text, unit))?;
        holds(text, time_range(text, unit))?;
    }
    holds(text, boolean(text))?;
    holds(text, floats(text))?;
    holds(text, cpus(text))?;
    holds(text, pattern(text))?;
    plain_arithmetic(text).map_or(Ok(()), |sum| holds(text, sum.map(Read::plain)))
}

#[test]
fn a_bracket_that_nothing_opened_changes_nothing() {
    let read = bytes("64k)", BINARY).expect("a size");
    assert_eq!((read.value, read.remark.is_some()), (65536, true));
    assert!(bytes("4x)", BINARY).is_err());
    assert!(bytes(")", BINARY).is_err());
}

#[test]
fn shares_where_a_range_belongs_are_read_as_fio_does() {
    let read = ranges_by_direction("512/25:1k:25:2k", BINARY).expect("a range");
    assert_eq!((read.value, read.remark.is_some()), ([Some((512, 1024)); 3], true));
    for wrong in ["512/x:1k", "512/25", "512:1k:2k", "512/25:x"] {
        assert!(ranges_by_direction(wrong, BINARY).is_err(), "{wrong}");
    }
}
