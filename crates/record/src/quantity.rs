//! Numbers with their unit.

use std::fmt::{Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fmt;

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// Operations per second.
    OpsPerS,
    /// Nanoseconds.
    Ns,
    /// Share of a whole, from 0 to 1.
    Share,
    /// Change as a share of what was: -0.03 is three percent less.
    Change,
    /// Degrees Celsius.
    Celsius,
    /// Number of things.
    Count,
    /// Quotient, or a mean number of things.
    Ratio,
    /// No number.
    Text,
}

/// A number, or a text where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The value.
    pub value: Value,
    /// Unit.
    pub unit: Unit,
}

impl Quantity {
    /// A number of that unit. A number that is none becomes the text `unknown`.
    pub fn new(value: f64, unit: Unit) -> Quantity {
        if value.is_finite() {
            Quantity { value: Value::Number(value), unit }
        } else {
            "unknown".into()
        }
    }

    /// Bytes.
    pub fn bytes(value: f64) -> Quantity {
        Quantity::new(value, Unit::Bytes)
    }

    /// Bytes per second.
    pub fn bytes_per_s(value: f64) -> Quantity {
        Quantity::new(value, Unit::BytesPerS)
    }

    /// Operations per second.
    pub fn ops_per_s(value: f64) -> Quantity {
        Quantity::new(value, Unit::OpsPerS)
    }

    /// Nanoseconds.
    pub fn ns(value: f64) -> Quantity {
        Quantity::new(value, Unit::Ns)
    }

    /// A share of a whole.
    pub fn share(value: f64) -> Quantity {
        Quantity::new(value, Unit::Share)
    }

    /// Degrees Celsius.
    pub fn celsius(value: f64) -> Quantity {
        Quantity::new(value, Unit::Celsius)
    }

    /// A number of things.
    pub fn count(value: f64) -> Quantity {
        Quantity::new(value, Unit::Count)
    }

    /// A quotient.
    pub fn ratio(value: f64) -> Quantity {
        Quantity::new(value, Unit::Ratio)
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Quantity {
        text.to_owned().into()
    }
}

impl From<String> for Quantity {
    fn from(text: String) -> Quantity {
        Quantity { value: Value::Text(text), unit: Unit::Text }
    }
}

/// The value as people read it, with its unit.
impl Display for Quantity {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(&self.value, self.unit))
    }
}

/// A value as people read it, with its unit.
pub fn text(value: &Value, unit: Unit) -> String {
    let number = match value {
        Value::Number(number) => *number,
        Value::Text(text) => return text.clone(),
    };
    match unit {
        Unit::Bytes => fmt::size(number),
        Unit::BytesPerS => fmt::rate(number),
        Unit::OpsPerS => fmt::iops(number),
        Unit::Ns => fmt::time(number),
        Unit::Share => fmt::percent(number),
        Unit::Change => fmt::change(number),
        Unit::Celsius => format!("{} °C", fmt::number(number)),
        Unit::Count => fmt::count(number),
        Unit::Ratio | Unit::Text => fmt::number(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_a_text() {
        for value in [f64::NAN, f64::INFINITY] {
            let quantity = Quantity::bytes(value);
            assert_eq!(
                (quantity.unit, quantity.value),
                (Unit::Text, Value::Text("unknown".into()))
            );
        }
    }

    #[test]
    fn each_unit_has_its_form() {
        let printed = |quantity: Quantity| text(&quantity.value, quantity.unit);
        assert_eq!(printed(Quantity::bytes(4096.0)), "4 KiB");
        assert_eq!(printed(Quantity::bytes_per_s(544e6)), "544 MB/s (519 MiB/s)");
        assert_eq!(printed(Quantity::ops_per_s(1010.0)), "1010 IOPS");
        assert_eq!(printed(Quantity::ns(326e3)), "326 µs");
        assert_eq!(printed(Quantity::share(0.43)), "43 %");
        assert_eq!(printed(Quantity::celsius(71.85)), "71.8 °C");
        assert_eq!(printed(Quantity::count(12_345.0)), "12.3k");
        assert_eq!(printed(Quantity::ratio(12_345.0)), "12345");
        assert_eq!(printed("none".into()), "none");
    }
}
