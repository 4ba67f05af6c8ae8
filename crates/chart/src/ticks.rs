//! Round numbers along an axis.

/// The least of 1, 2, 2.5 and 5 times a power of ten that is not below a length.
pub fn nice_step(length: f64) -> f64 {
    if !length.is_finite() || length <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(length.log10().floor());
    [1.0, 2.0, 2.5, 5.0].iter().find(|of| *of * power >= length * (1.0 - 1e-9)).unwrap_or(&10.0)
        * power
}

/// Steps of clocks: within a minute and an hour they go by 60, within a day by 24.
pub fn clock_step(length: f64, is_sixty: bool) -> f64 {
    // Parts of a second are halves, fifths and tenths.
    const OF_SIXTY: [f64; 13] =
        [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 180.0];
    match OF_SIXTY.iter().find(|step| **step >= length).filter(|_| is_sixty && length > 0.05) {
        Some(step) => *step,
        None => nice_step(length),
    }
}

/// Multiples of a step within a range.
pub fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (from, to) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    if !(from.is_finite() && to.is_finite()) || to - from > 1000.0 || step <= 0.0 {
        return Vec::new();
    }
    (0..=(to - from) as u32).map(|nth| (from + f64::from(nth)) * step).collect()
}

/// 1, 2 and 5 times powers of ten within a range, or the powers of ten alone, as many as fit;
/// linear steps where the range is shorter than that.
pub fn logarithmic(low: f64, high: f64, ticks_max: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let of = |factors: &[f64], every: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(every);
        let all = powers.flat_map(|power| factors.iter().map(move |of| of * 10f64.powi(power)));
        all.filter(|value| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9)).collect()
    };
    let fine = of(&[1.0, 2.0, 5.0], 1);
    if fine.len() < 3 {
        return multiples(low, high, nice_step((high - low) / ticks_max.max(2) as f64));
    }
    if fine.len() <= ticks_max {
        return fine;
    }
    let coarse = (1..40).map(|every| of(&[1.0], every)).find(|ticks| ticks.len() <= ticks_max);
    coarse.unwrap_or_default()
}

/// How many times as much: 1, 2 and 5 times powers of ten that hold a range with one within it;
/// powers of ten alone where these are too many.
pub fn times(low: f64, high: f64, ticks_max: usize) -> Vec<f64> {
    let low = low.max(1e-31);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let holding = |factors: &[f64], every: i32| -> Vec<f64> {
        let powers = (first - every..=last + every).filter(|power| power % every == 0);
        let all = powers.flat_map(|power| factors.iter().map(move |of| of * 10f64.powi(power)));
        let all: Vec<f64> = all.collect();
        let from = all.partition_point(|at| *at <= low * (1.0 + 1e-9)).saturating_sub(1);
        let to = all.partition_point(|at| *at < high * (1.0 - 1e-9));
        all[from..=to.max(from + 1).min(all.len() - 1)].to_vec()
    };
    let fine = holding(&[1.0, 2.0, 5.0], 1);
    let mut coarser = (1..40).map(|every| holding(&[1.0], every));
    if fine.len() <= ticks_max.max(4) {
        fine
    } else {
        coarser.find(|ticks| ticks.len() <= ticks_max.max(4)).unwrap_or(fine)
    }
}

/// Powers of two within a range, as many as fit.
pub fn binary(low: f64, high: f64, ticks_max: usize) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let count = (last - first + 1).max(0) as usize;
    let every = count.div_ceil(ticks_max.max(1)).max(1);
    (first..=last).step_by(every).map(|power| 2f64.powi(power)).collect()
}

/// Percentiles that get a tick, up to the greatest.
pub fn nines(greatest: f64) -> Vec<(f64, String)> {
    let all = ["0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999"];
    let value = |text: &str| text.parse().unwrap_or(0.0);
    let within = all.into_iter().map(|text| (value(text), text.to_owned()));
    within.filter(|(value, _)| *value <= greatest + 1e-12).collect()
}

/// Days of a range of seconds since 1970, with their names: days, months or years.
pub fn dates(low: f64, high: f64, ticks_max: usize) -> Vec<(f64, String)> {
    const DAY: f64 = 86_400.0;
    const STEPS: [i64; 10] = [1, 2, 7, 14, 31, 61, 92, 183, 366, 1830];
    let ticks_max = ticks_max.max(1) as f64;
    if high - low < DAY {
        let step = clock_step((high - low) / 60.0 / ticks_max, true).max(1.0) * 60.0;
        return multiples(low, high, step).into_iter().map(|at| (at, time_of_day(at))).collect();
    }
    let (first, last) = ((low / DAY).ceil() as i64, (high / DAY).floor() as i64);
    let fits = |step: &&i64| ((last - first) as f64 / **step as f64) < ticks_max;
    let step = *STEPS.iter().find(fits).unwrap_or(&36_600);
    let months = match step {
        0..31 => None,
        step => Some((step / 30).clamp(1, 1200)),
    };
    let at = |day: i64| day as f64 * DAY;
    let is_tick = |day: &i64| match months {
        None => (day - first) % step == 0,
        Some(months) => {
            let (year, month, of_month) = civil(*day);
            of_month == 1 && (year * 12 + month - 1) % months == 0
        }
    };
    let name = |day: i64| {
        let (year, month, of_month) = civil(day);
        match months {
            None => format!("{year}-{month:02}-{of_month:02}"),
            Some(_) => format!("{year}-{month:02}"),
        }
    };
    (first..=last.min(first + 200_000)).filter(is_tick).map(|day| (at(day), name(day))).collect()
}

fn time_of_day(at: f64) -> String {
    let minutes = (at / 60.0).round() as i64;
    format!("{:02}:{:02}", minutes.div_euclid(60).rem_euclid(24), minutes.rem_euclid(60))
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar.
fn civil(day: i64) -> (i64, i64, i64) {
    // Eras of 400 years that begin in March, so that leap days come last.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_round() {
        let steps = [0.9, 1.1, 2.2, 3.0, 7.0, 130.0, 0.0, f64::NAN].map(nice_step);
        assert_eq!(steps, [1.0, 2.0, 2.5, 5.0, 10.0, 200.0, 1.0, 1.0]);
        assert_eq!([3.0, 12.0, 45.0].map(|of| clock_step(of, true)), [5.0, 15.0, 60.0]);
        assert_eq!(multiples(0.0, 1.0, 0.25), [0.0, 0.25, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn logarithms_thin_out() {
        assert_eq!(logarithmic(50.0, 500.0, 6), [50.0, 100.0, 200.0, 500.0]);
        assert_eq!(logarithmic(1.0, 1e6, 7), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(logarithmic(1.0, 1e6, 4), [1.0, 100.0, 1e4, 1e6]);
        assert_eq!(
            binary(4096.0, 1_048_576.0, 5),
            [4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0]
        );
    }

    #[test]
    fn times_hold_their_range_and_one() {
        assert_eq!(times(0.6, 15.0, 8), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(times(0.6, 254.0, 5), [0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(times(1.0, 1.0, 5), [1.0, 2.0]);
    }

    #[test]
    fn days_have_their_names() {
        let days = [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_780, (2026, 11, 23))];
        for (day, name) in days {
            assert_eq!(civil(day), name);
        }
        let names = |from: f64, days: f64, max| -> Vec<String> {
            dates(from, from + days * 86_400.0, max).into_iter().map(|(_, name)| name).collect()
        };
        let november = 20_780.0 * 86_400.0;
        assert_eq!(names(november, 3.0, 2), ["2026-11-23", "2026-11-25"]);
        assert_eq!(names(november, 90.0, 4), ["2026-12", "2027-01", "2027-02"]);
        assert_eq!(names(november + 36_000.0, 0.1, 3), ["10:00", "11:00", "12:00"]);
    }

    proptest! {
        #[test]
        fn ticks_lie_within_and_are_few(
            low in 1e-3f64..1e12,
            factor in 1.01f64..1e9,
            max in 2usize..12,
        ) {
            let high = low * factor;
            for ticks in [logarithmic(low, high, max), binary(low, high, max)] {
                prop_assert!(ticks.len() <= max * 3);
                prop_assert!(ticks.iter().all(|at| *at >= low * 0.999 && *at <= high * 1.001));
                prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            }
            let step = nice_step((high - low) / max as f64);
            prop_assert!(multiples(low, high, step).len() <= max + 1);
            prop_assert!(dates(low, high.min(low + 1e10), max).len() <= max + 2);
        }
    }
}
