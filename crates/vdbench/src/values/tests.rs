use proptest::prelude::*;

use super::*;

fn sizes(text: &str) -> Result<Vec<f64>, String> {
    numbers(text, Unit::Size).map_err(|refused| refused.message)
}

#[test]
fn numbers_have_units() {
    const K: f64 = 1024.0;
    for (text, value) in [
        ("8", 8.0),
        ("4k", 4.0 * K),
        ("4K", 4.0 * K),
        ("4kb", 4.0 * K),
        ("1.5m", 1.5 * K * K),
        ("2GB", 2.0 * K * K * K),
        ("1t", K * K * K * K),
        ("80%", -80.0),
        ("-80", -80.0),
        ("\"4k\"", 4.0 * K),
    ] {
        assert_eq!(sizes(text), Ok(vec![value]), "{text}");
    }
    for text in ["", "k", "4x", "4kk", "b", "1b", "4d", "4h", "nan", "inf", "1e3", "4 k", "(", "()"]
    {
        assert!(sizes(text).is_err(), "{text}");
    }
    let time = |text| number(text, Unit::Time).ok();
    assert_eq!(
        (time("90"), time("1m"), time("2h"), time("5s")),
        (Some(90.0), Some(60.0), Some(7200.0), Some(5.0))
    );
    assert_eq!((time("1k"), time("1mb"), time("50%")), (None, None, None));
}

#[test]
fn ranges_step_double_and_halve() {
    for (text, values) in [
        ("(1-4,1)", vec![1.0, 2.0, 3.0, 4.0]),
        ("(1-8,d)", vec![1.0, 2.0, 4.0, 8.0]),
        ("(1-10,d)", vec![1.0, 2.0, 4.0, 8.0]),
        ("(4k-1k,d)", vec![4096.0, 2048.0, 1024.0]),
        ("(0-100,50,7)", vec![0.0, 50.0, 100.0, 7.0]),
        ("(1,2,8-16,4)", vec![1.0, 2.0, 8.0, 12.0, 16.0]),
        ("(3-3,d)", vec![3.0]),
        ("(5)", vec![5.0]),
        ("(1,2", vec![1.0, 2.0]),
    ] {
        assert_eq!(sizes(text), Ok(values), "{text}");
    }
    for text in
        ["(1-10)", "(1-)", "(-5)", "(1-10,0)", "(0-8,d)", "(1-10,x)", "(1,x)", "(1-1000000,1)"]
    {
        assert!(sizes(text).is_err(), "{text}");
    }
    let refused = numbers("(4k,8x,1m)", Unit::Size).expect_err("no number");
    assert_eq!(refused.part, 4..6);
}

#[test]
fn names_go_upwards() {
    let of = |text| names(text).map_err(|refused| refused.message);
    assert_eq!(of("sd1"), Ok(vec!["sd1".into()]));
    assert_eq!(of("(sd1-sd3,x*)"), Ok(["sd1", "sd2", "sd3", "x*"].map(String::from).to_vec()));
    assert_eq!(of("(sd08-sd10)"), Ok(["sd08", "sd09", "sd10"].map(String::from).to_vec()));
    assert_eq!(of("(\"a-b\",c)"), Ok(["a-b", "c"].map(String::from).to_vec()));
    assert_eq!(of("a-b"), Ok(vec!["a-b".into()]), "no list, no range");
    for text in ["(sd3-sd1)", "(sd1-wd3)", "(sd-sd3)", "(a-b)", "(sd1-)", "(sd1-sd99999)"] {
        assert!(of(text).is_err(), "{text}");
    }
    assert!(matches("sd*", "sd10") && matches("*", "x") && matches("sd1", "sd1"));
    assert!(!matches("sd1", "sd10") && !matches("sd1*", "sd") && !matches("s*d", "sd"));
}

#[test]
fn words_are_one_or_several_and_choices_may_be_shortened() {
    assert_eq!(word("\"a b\"").as_deref(), Ok("a b"));
    assert!(word("(a,b)").is_err());
    assert_eq!(words("(a,\"b,c\")"), Ok(vec!["a".into(), "b,c".into()]));
    assert_eq!((yes("yes"), yes("N")), (Ok(true), Ok(false)));
    assert!(yes("maybe").is_err());
    assert_eq!(abbreviated("ran", &["sequential", "random"]), Some("random"));
    assert_eq!(abbreviated("", &["random"]), None);
    assert_eq!(divided("(100,4)", Unit::Size), Ok(25.0));
    assert_eq!(pair("(10,20)", Unit::Size), Ok([10.0, 20.0]));
    assert!(pair("10", Unit::Size).is_err() && divided("(1,0)", Unit::Size).is_err());
    assert_eq!(whole("8", Unit::Size, 1..=10), Ok(8));
    assert!(whole("11", Unit::Size, 1..=10).is_err() && whole("-1", Unit::Size, 0..=9).is_err());
}

#[test]
fn sizes_are_shown_as_headings_have_them() {
    for (value, shown) in
        [(32.0, "32"), (4096.0, "4k"), (1536.0, "1.500k"), (1048576.0, "1m"), (1.5, "1.5")]
    {
        assert_eq!(shown_size(value), shown);
    }
}

proptest! {
    #[test]
    fn ranges_hold_what_they_say(first in 0u32..500, steps in 1u32..50, step in 1u32..20) {
        let last = first + steps * step;
        let found = sizes(&format!("({first}-{last},{step})")).expect("a range");
        let wanted: Vec<f64> = (0..=steps).map(|nth| f64::from(first + nth * step)).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn doubling_ends_below_its_end_and_halving_goes_back(power in 0u32..20, above in 0u32..10) {
        let last = (1u64 << power) + u64::from(above).min((1 << power) - 1);
        let up = sizes(&format!("(1-{last},d)")).expect("doubling");
        prop_assert_eq!(up.len(), power as usize + 1);
        let mut down = sizes(&format!("({}-1,d)", 1u64 << power)).expect("halving");
        down.reverse();
        prop_assert_eq!(down, up);
    }

    #[test]
    fn whatever_is_written_is_read_or_refused_within_itself(text in "[()0-9a-z\",.%*-]{0,24}") {
        let sizes = numbers(&text, Unit::Size).err();
        let times = numbers(&text, Unit::Time).err();
        for refused in [sizes, times, names(&text).err()].into_iter().flatten() {
            prop_assert!(refused.part.end <= text.len(), "{refused:?}");
            prop_assert!(text.get(refused.part.clone()).is_some(), "{refused:?}");
        }
    }
}

#[test]
fn falling_ranges_are_their_first_number() {
    assert_eq!(numbers("(100-0,10)", Unit::Size), Ok(vec![100.0]));
    assert_eq!(numbers("(64k-16k,16k)", Unit::Size), Ok(vec![65536.0]));
    assert_eq!(numbers("(8-2,d)", Unit::Size), Ok(vec![8.0, 4.0, 2.0]), "halving goes down");
    assert!(numbers("(1-9,0)", Unit::Size).is_err());
    let first = |value: &str| first_of_falling(value, Unit::Size);
    assert_eq!([first("(100-0,10)"), first("(1,9-3,2)")], [Some(100.0), Some(9.0)]);
    assert_eq!([first("(8-2,d)"), first("(0-100,10)"), first("100"), first("(")], [None; 4]);
}
