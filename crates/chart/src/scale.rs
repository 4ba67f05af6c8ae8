//! Values to positions: an axis laid along a range of pixels.

use std::ops::Range;

use candor_record::Unit;
use candor_record::fmt::axis::{AxisUnit, short};

use crate::model::{Axis, Scale};
use crate::ticks;

/// Values beyond this have no place: no quantity of a benchmark comes near it.
const GREATEST: f64 = 1e30;
/// Values nearer to 0 are 0: steps between ticks have to be numbers.
const LEAST: f64 = 1e-30;

/// An axis at its place.
#[derive(Clone, Debug)]
pub struct Placed {
    scale: Scale,
    /// Least and greatest value.
    pub low: f64,
    pub high: f64,
    /// Pixels of the least and of the greatest value.
    pub from: f64,
    pub to: f64,
    /// Unit of the ticks.
    pub unit: AxisUnit,
    /// Values with ticks, and their texts.
    pub ticks: Vec<(f64, String)>,
}

/// How an axis takes the ends of its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// As they are: the axis ends with the data.
    Tight,
    /// Rounded outwards to the next tick.
    Round,
}

impl Placed {
    /// Lays an axis that has to hold these values along a range of pixels, with so many ticks.
    pub fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        pixels: Range<f64>,
        ticks_max: usize,
        ends: Ends,
    ) -> Placed {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| has_place(&axis.scale, *value)).map(without_epsilon) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = if axis.scale == Scale::Log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        let unit = AxisUnit { size: 1.0, name: String::new(), suffix: "" };
        let scale = axis.scale.clone();
        let Range { start: from, end: to } = pixels;
        let mut placed = Placed { scale, low, high, from, to, unit, ticks: Vec::new() };
        placed.finish(axis, ticks_max.max(2), ends);
        placed
    }

    fn finish(&mut self, axis: &Axis, ticks_max: usize, ends: Ends) {
        match &axis.scale {
            Scale::Linear | Scale::Elapsed => {
                (self.low, self.high) = (self.low.min(0.0), self.high.max(0.0));
                if self.low == self.high {
                    self.high = 1.0;
                }
                self.evenly(axis, ticks_max, ends);
            }
            Scale::Spread => {
                if self.low == self.high {
                    let pad = (self.low.abs() * 0.1).max(0.5);
                    (self.low, self.high) = (self.low - pad, self.high + pad);
                }
                self.evenly(axis, ticks_max, ends);
            }
            Scale::Log => self.by_logarithms(axis, ticks_max, ends),
            Scale::Times => self.by_times(axis, ticks_max),
            Scale::Nines => {
                (self.low, self.high) = (0.0, self.high.max(90.0));
                self.ticks = ticks::nines(self.high);
                self.unit.name = "%".into();
            }
            Scale::Date => {
                // Ticks are whole minutes, of which some have to be seen.
                if self.high - self.low < 240.0 {
                    (self.low, self.high) = (self.low - 120.0, self.high + 120.0);
                }
                self.ticks = ticks::dates(self.low, self.high, ticks_max);
            }
            Scale::Category(names) => {
                (self.low, self.high) = (-0.5, names.len().max(1) as f64 - 0.5);
                self.ticks = (0u32..).map(f64::from).zip(names.iter().cloned()).collect();
            }
        }
        if !axis.ticks.is_empty() {
            let (low, high) = (self.low, self.high);
            let within = axis.ticks.iter().filter(|(at, _)| *at >= low && *at <= high);
            self.ticks = within.cloned().collect();
        }
    }

    fn evenly(&mut self, axis: &Axis, ticks_max: usize, ends: Ends) {
        let greatest = self.low.abs().max(self.high.abs());
        let is_elapsed = axis.scale == Scale::Elapsed;
        self.unit = if is_elapsed {
            AxisUnit::of_elapsed(greatest)
        } else {
            AxisUnit::of(axis.unit, greatest)
        };
        let length = (self.high - self.low) / self.unit.size / ticks_max as f64;
        let is_sixty = is_elapsed && matches!(self.unit.name.as_str(), "s" | "min");
        let step = ticks::clock_step(length, is_sixty) * self.unit.size;
        if ends == Ends::Round {
            self.low = (self.low / step + 1e-6).floor() * step;
            self.high = (self.high / step - 1e-6).ceil() * step;
        }
        let tick = |at: f64| (at, self.unit.tick(at, step));
        self.ticks = ticks::multiples(self.low, self.high, step).into_iter().map(tick).collect();
    }

    fn by_logarithms(&mut self, axis: &Axis, ticks_max: usize, ends: Ends) {
        if ends == Ends::Tight {
            let pad = (self.high / self.low).powf(0.04).max(1.05);
            (self.low, self.high) = (self.low / pad, self.high * pad);
        } else {
            let power = |value: f64| 10f64.powf(value.log10().floor());
            let down = |value: f64| {
                let of = |factor: &f64| factor * power(value);
                [5.0, 2.0, 1.0].iter().map(of).find(|at| *at <= value * (1.0 + 1e-9))
            };
            let up = |value: f64| {
                let of = |factor: &f64| factor * power(value);
                [1.0, 2.0, 5.0, 10.0].iter().map(of).find(|at| *at >= value * (1.0 - 1e-9))
            };
            self.low = down(self.low).unwrap_or(self.low);
            self.high = up(self.high).unwrap_or(self.high);
        }
        if self.high / self.low < 1.2 {
            (self.low, self.high) = (self.low / 2.0, self.high * 2.0);
        }
        self.unit = AxisUnit::of(axis.unit, self.high);
        let ticks = match axis.unit {
            Unit::Bytes => ticks::binary(self.low, self.high, ticks_max),
            // Below each other there is room for twice as many as for even steps.
            _ if ends == Ends::Round => ticks::logarithmic(self.low, self.high, ticks_max * 2),
            _ => ticks::logarithmic(self.low, self.high, ticks_max),
        };
        self.ticks = ticks.into_iter().map(|at| (at, short(at, axis.unit))).collect();
    }

    /// From the tick below none, or the least change, to the one above the greatest.
    fn by_times(&mut self, axis: &Axis, ticks_max: usize) {
        let times = ticks::times(1.0 + self.low.min(0.0), 1.0 + self.high.max(0.0), ticks_max);
        let ends = |at: Option<&f64>, value: f64| at.map_or(value, |times| times - 1.0);
        (self.low, self.high) = (ends(times.first(), self.low), ends(times.last(), self.high));
        let text = |times: f64| {
            if times > 1.0 { format!("×{times}") } else { short(times - 1.0, axis.unit) }
        };
        self.ticks = times.iter().map(|at| (at - 1.0, text(*at))).collect();
    }

    /// The same axis along another range of pixels.
    pub fn at(self, from: f64, to: f64) -> Placed {
        Placed { from, to, ..self }
    }

    /// The pixel of a value; none where the axis has no place for it.
    pub fn place(&self, value: f64) -> Option<f64> {
        let of = |value| transformed(&self.scale, value);
        let (at, low, high) = (of(without_epsilon(value)), of(self.low), of(self.high));
        let share = (at - low) / (high - low);
        // A rounding error beyond an end is the end; anything further has no place.
        let is_within = share.is_finite() && (-1e-6..=1.0 + 1e-6).contains(&share);
        is_within.then(|| self.from + share.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// The pixel of the axis from which bars and areas grow.
    pub fn base(&self) -> f64 {
        self.place(0.0).unwrap_or(self.from)
    }

    /// The word for the scale in the data.
    pub fn word(scale: &Scale) -> &'static str {
        match scale {
            Scale::Linear => "linear",
            Scale::Spread => "spread",
            Scale::Log => "log",
            Scale::Times => "times",
            Scale::Nines => "nines",
            Scale::Elapsed => "elapsed",
            Scale::Date => "date",
            Scale::Category(_) => "category",
        }
    }
}

/// The value, or 0 if it is closer to 0 than [`LEAST`].
fn without_epsilon(value: f64) -> f64 {
    if value.abs() < LEAST { 0.0 } else { value }
}

/// Whether a value can lie on a scale.
fn has_place(scale: &Scale, value: f64) -> bool {
    match scale {
        Scale::Log => (LEAST..=GREATEST).contains(&value),
        Scale::Times => (LEAST..=GREATEST).contains(&(1.0 + value)),
        Scale::Nines => (0.0..100.0).contains(&value),
        // Three thousand years from now.
        Scale::Date => value.abs() <= 1e11,
        _ => value.abs() <= GREATEST,
    }
}

/// The value as the scale counts it.
fn transformed(scale: &Scale, value: f64) -> f64 {
    match scale {
        Scale::Log => value.log10(),
        Scale::Times => value.ln_1p(),
        Scale::Nines => -(1.0 - value / 100.0).log10(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn placed(axis: &Axis, values: &[f64], ends: Ends) -> Placed {
        Placed::new(axis, values.iter().copied(), 100.0..500.0, 5, ends)
    }

    #[test]
    fn the_smallest_numbers_are_none() {
        for scale in [Scale::Linear, Scale::Spread, Scale::Elapsed] {
            for unit in [Unit::Share, Unit::Ns] {
                let axis = placed(&Axis::new("", unit, scale.clone()), &[5e-324], Ends::Round);
                assert!(axis.low.is_finite() && axis.high > axis.low, "{axis:?}");
                assert!(axis.place(5e-324).is_some(), "{axis:?}");
                let values = [2.6e-33, -1.8e-28];
                let axis = placed(&Axis::new("", unit, scale.clone()), &values, Ends::Tight);
                assert_eq!(axis.place(values[0]), axis.place(0.0), "{axis:?}");
            }
        }
    }

    fn texts(placed: &Placed) -> Vec<&str> {
        placed.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero_and_end_round() {
        let rate = placed(&Axis::linear("", Unit::BytesPerS), &[312e6, 488e6], Ends::Round);
        assert_eq!(texts(&rate), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!((rate.place(0.0), rate.place(500e6)), (Some(100.0), Some(500.0)));
        assert_eq!(rate.place(600e6), None);
        let spread = Axis::new("", Unit::Celsius, Scale::Spread);
        assert_eq!(texts(&placed(&spread, &[40.0, 49.0], Ends::Round))[0], "40");
    }

    #[test]
    fn nines_are_as_far_apart_as_each_other() {
        let axis = placed(&Axis::nines(), &[0.0, 99.99], Ends::Tight);
        assert_eq!(texts(&axis), ["0", "50", "90", "99", "99.9", "99.99"]);
        let at = |p| axis.place(p).unwrap();
        assert!(((at(99.0) - at(90.0)) - (at(99.9) - at(99.0))).abs() < 1e-6);
        assert_eq!(axis.place(100.0), None);
    }

    #[test]
    fn logarithmic_ticks_bring_their_units() {
        let axis = placed(&Axis::log("", Unit::Ns), &[62e3, 31e6], Ends::Round);
        assert_eq!(texts(&axis).len(), 10);
        assert_eq!(texts(&axis)[..3], ["50 µs", "100 µs", "200 µs"]);
        assert_eq!(axis.place(0.0), None);
        let sizes = placed(&Axis::log("", Unit::Bytes), &[4096.0, 1048576.0], Ends::Tight);
        assert_eq!(texts(&sizes), ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]);
    }

    #[test]
    fn a_half_is_as_far_as_twice() {
        let axis = Axis::new("", Unit::Change, Scale::Times);
        let axis = placed(&axis, &[-0.4, 0.05, 14.0], Ends::Round);
        assert_eq!(texts(&axis), ["-90 %", "0 %", "×10", "×100"]);
        let at = |change| axis.place(change).expect("a place");
        assert!((at(0.0) - at(-0.5) - (at(1.0) - at(0.0))).abs() < 1e-6);
        assert_eq!(axis.place(-1.0), None);
    }

    #[test]
    fn dates_close_to_each_other_have_whole_minutes_around_them() {
        const NOON: f64 = 20_780.0 * 86_400.0 + 12.0 * 3600.0;
        for seconds in [0.0, 1.0, 239.0] {
            let values = [NOON + 10.0, NOON + 10.0 + seconds];
            let axis = placed(&Axis::new("", Unit::Ns, Scale::Date), &values, Ends::Tight);
            let names = texts(&axis);
            assert!(names.len() > 2, "{seconds} s apart: {names:?}");
            assert!(names.windows(2).all(|two| two[0] < two[1]), "{names:?}");
            assert!(values.iter().all(|at| axis.place(*at).is_some()), "{seconds} s apart");
        }
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_within(
            values in prop::collection::vec(prop::num::f64::ANY, 0..9),
        ) {
            for scale in [Scale::Linear, Scale::Spread, Scale::Log, Scale::Times, Scale::Nines,
                Scale::Elapsed, Scale::Date, Scale::Category(vec!["a".into(), "b".into()])] {
                for ends in [Ends::Tight, Ends::Round] {
                    let axis = Axis::new("", Unit::Ns, scale.clone());
                    let placed = placed(&axis, &values, ends);
                    for value in values.iter().filter(|value| has_place(&scale, **value)) {
                        let at = placed.place(*value);
                        let is_named = matches!(scale, Scale::Category(_));
                        prop_assert!(is_named || at.is_some(), "{value} on {scale:?}");
                        prop_assert!(at.is_none_or(|at| (100.0..=500.0).contains(&at)));
                    }
                    prop_assert!(placed.ticks.len() < 40, "{:?}", placed.ticks);
                }
            }
        }
    }
}
