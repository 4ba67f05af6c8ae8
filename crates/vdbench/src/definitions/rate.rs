//! Rates (`iorate=`, `fwdrate=`) and the arrival of operations.

use crate::values::{self, Unit};
use candor_front::Refused;

/// Rate of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rate {
    /// No rate is given.
    #[default]
    Unset,
    /// As fast as possible.
    Max,
    /// Full speed first, then percentages of that rate.
    Curve,
    /// Operations per second; negative numbers are percent of the previous rate, infinity is as
    /// fast as possible.
    Each(Vec<f64>),
}

/// Reads a rate.
///
/// # Errors
/// The value is not `max`, `curve` or numbers.
pub fn rate(text: &str) -> Result<Rate, Refused> {
    let is_max = |item: &values::Item| item.text.eq_ignore_ascii_case("max");
    let items = values::items(text, false)?;
    let numbers = match items.as_slice() {
        [item] if is_max(item) => return Ok(Rate::Max),
        [item] if item.text.eq_ignore_ascii_case("curve") => return Ok(Rate::Curve),
        items if items.iter().any(is_max) => items
            .iter()
            .map(|item| {
                if is_max(item) {
                    Ok(f64::INFINITY)
                } else {
                    values::number(&item.text, Unit::Size)
                }
            })
            .collect::<Result<_, _>>()?,
        _ => values::numbers(text, Unit::Size)?,
    };
    Ok(Rate::Each(numbers))
}

/// Inter-arrival times of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// Exponential, as from many independent users.
    #[default]
    Exponential,
    /// Uniform between 0 and twice the mean.
    Uniform,
    /// Constant.
    Deterministic,
}

/// `distribution=` of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Inter-arrival times of operations.
    pub arrival: Arrival,
    /// Change the rate every second, by the list of `iorate`.
    pub variable: bool,
    /// Start all operations of a second at its start.
    pub spike: bool,
}

/// Reads the words of a distribution.
///
/// # Errors
/// A word is unknown.
pub fn distribution(text: &str) -> Result<Distribution, Refused> {
    const WORDS: &[&str] = &["exponential", "uniform", "deterministic", "variable", "spike"];
    let mut distribution = Distribution::default();
    for item in values::items(text, false)? {
        match values::abbreviated(&item.text, WORDS) {
            Some("exponential") => distribution.arrival = Arrival::Exponential,
            Some("uniform") => distribution.arrival = Arrival::Uniform,
            Some("deterministic") => distribution.arrival = Arrival::Deterministic,
            Some("variable") => distribution.variable = true,
            Some("spike") => (distribution.variable, distribution.spike) = (true, true),
            _ => return Err(values::no_choice(text, &item.text, WORDS)),
        }
    }
    Ok(distribution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_words_numbers_and_shares() {
        for (text, expected) in [
            ("max", Rate::Max),
            ("MAX", Rate::Max),
            ("(max)", Rate::Max),
            ("curve", Rate::Curve),
            ("100", Rate::Each(vec![100.0])),
            ("2k", Rate::Each(vec![2048.0])),
            ("(100-300,100)", Rate::Each(vec![100.0, 200.0, 300.0])),
            ("(50%,80%)", Rate::Each(vec![-50.0, -80.0])),
            ("-80", Rate::Each(vec![-80.0])),
            ("(100,max)", Rate::Each(vec![100.0, f64::INFINITY])),
        ] {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for text in ["", "fast", "(100,curve)"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn distributions_may_be_shortened() {
        let of = |text| distribution(text).ok();
        let det = Distribution { arrival: Arrival::Deterministic, ..Distribution::default() };
        assert_eq!(of("d"), Some(det));
        assert_eq!(of("(d,variable)"), Some(Distribution { variable: true, ..det }));
        let spike = Distribution { variable: true, spike: true, ..Distribution::default() };
        assert_eq!((of("spike"), of("normal")), (Some(spike), None));
    }
}
