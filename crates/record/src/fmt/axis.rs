//! Numbers along an axis: one unit for all of them, as many digits as their distance needs.

use super::{BINARY, COUNTS, DECIMAL, TIMES, Units};
use crate::{Unit, Value};

/// Units of the time since a start, with the least time that each is used from.
const ELAPSED: [(f64, f64, &str); 5] = [
    (0.0, 1e3, "µs"),
    (5e6, 1e6, "ms"),
    (2e9, 1e9, "s"),
    (180e9, 60e9, "min"),
    (10_800e9, 3_600e9, "h"),
];

/// The unit of all numbers of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisUnit {
    /// Values of the quantity's own unit in one of this.
    pub size: f64,
    /// Name, for the title of the axis; empty where there is none.
    pub name: String,
    /// Letters behind each number, such as the `k` of `100k`.
    pub suffix: &'static str,
}

impl AxisUnit {
    /// The unit in which the greatest value of an axis has 1 to 999.
    pub fn of(unit: Unit, greatest: f64) -> AxisUnit {
        let of = |size, name: &str, suffix| AxisUnit { size, name: name.trim().into(), suffix };
        match unit {
            Unit::Bytes => {
                let (size, name) = largest(&BINARY, greatest);
                of(size, name, "")
            }
            Unit::BytesPerS => {
                let (size, name) = largest(&DECIMAL, greatest);
                of(size, &format!("{name}/s"), "")
            }
            Unit::Ns => {
                let (size, name) = largest(&TIMES, greatest);
                of(size, name, "")
            }
            Unit::OpsPerS | Unit::Count => {
                // Ten thousand is where sentences begin to shorten as well.
                let (size, suffix) = largest(&COUNTS, if greatest < 1e4 { 1.0 } else { greatest });
                of(size, if unit == Unit::OpsPerS { "per second" } else { "" }, suffix)
            }
            Unit::Share | Unit::Change => of(0.01, "%", ""),
            Unit::Celsius => of(1.0, "°C", ""),
            Unit::Ratio | Unit::Text => of(1.0, "", ""),
        }
    }

    /// The unit of a time since a start that goes on to `greatest` ns.
    pub fn of_elapsed(greatest: f64) -> AxisUnit {
        let (_, size, name) =
            ELAPSED.iter().rev().find(|(from, ..)| greatest >= *from).unwrap_or(&ELAPSED[0]);
        AxisUnit { size: *size, name: (*name).into(), suffix: "" }
    }

    /// A value in this unit, of an axis whose numbers are `step` apart.
    pub fn tick(&self, value: f64, step: f64) -> String {
        let (value, step) = (value / self.size, (step / self.size).abs());
        // 0.25 takes two digits after the point, 0.1 takes one, 500 takes none.
        let decimals = (0..9)
            .find(|decimals| {
                let shifted = step * 10f64.powi(*decimals as i32);
                (shifted - shifted.round()).abs() < 1e-6 * shifted.max(1.0)
            })
            .unwrap_or(9);
        let text = format!("{value:.decimals$}");
        let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
        if is_zero { "0".into() } else { format!("{text}{}", self.suffix) }
    }
}

fn largest(units: &'static Units, greatest: f64) -> (f64, &'static str) {
    *units.iter().rev().find(|(size, _)| greatest.abs() / size >= 0.999_5).unwrap_or(&units[0])
}

/// A value with its unit, as short as a picture needs it: `544 MB/s`, `146k`, `326 µs`.
pub fn short(value: f64, unit: Unit) -> String {
    match unit {
        _ if !value.is_finite() => "unknown".into(),
        Unit::BytesPerS => super::rate_decimal(value),
        Unit::OpsPerS => super::count(value),
        _ => super::value(&Value::Number(value), unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_serves_an_axis() {
        let rate = AxisUnit::of(Unit::BytesPerS, 544e6);
        let ticks = [0.0, 200e6, 400e6].map(|value| rate.tick(value, 200e6));
        assert_eq!((rate.name.as_str(), ticks), ("MB/s", ["0", "200", "400"].map(String::from)));
        let ops = AxisUnit::of(Unit::OpsPerS, 1.2e6);
        assert_eq!(ops.tick(750_000.0, 250_000.0), "0.75M");
        assert_eq!(AxisUnit::of(Unit::OpsPerS, 9000.0).tick(5000.0, 2500.0), "5000");
        let time = AxisUnit::of(Unit::Ns, 3.4e6);
        assert_eq!((time.name.as_str(), time.tick(2.5e6, 0.5e6)), ("ms", "2.5".into()));
        assert_eq!(AxisUnit::of(Unit::Share, 1.0).tick(0.25, 0.25), "25");
        assert_eq!(AxisUnit::of(Unit::Bytes, 3e9).name, "GiB");
    }

    #[test]
    fn time_since_a_start_goes_by_minutes_and_hours() {
        let names = [1e4, 5e8, 10e9, 179e9, 1800e9, 20_000e9];
        let names = names.map(|greatest| AxisUnit::of_elapsed(greatest).name);
        assert_eq!(names, ["µs", "ms", "s", "s", "min", "h"]);
    }

    #[test]
    fn values_are_those_of_sentences() {
        assert_eq!(short(544e6, Unit::BytesPerS), "544 MB/s");
        assert_eq!(short(146_484.0, Unit::OpsPerS), "146k");
        assert_eq!(short(326e3, Unit::Ns), "326 µs");
        assert_eq!(short(f64::NAN, Unit::Ns), "unknown");
    }
}
