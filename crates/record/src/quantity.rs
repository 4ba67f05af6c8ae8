//! Numbers with their unit.

use std::fmt::{Display, Formatter};

use crate::{Unit, Value, fmt};

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
        f.write_str(&fmt::value(&self.value, self.unit))
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
        assert_eq!(Quantity::bytes(4096.0).to_string(), "4 KiB");
        assert_eq!(Quantity::bytes_per_s(544e6).to_string(), "544 MB/s (519 MiB/s)");
        assert_eq!(Quantity::ops_per_s(1010.0).to_string(), "1010 IOPS");
        assert_eq!(Quantity::ns(326e3).to_string(), "326 µs");
        assert_eq!(Quantity::share(0.43).to_string(), "43 %");
        assert_eq!(Quantity::celsius(71.85).to_string(), "71.8 °C");
        assert_eq!(Quantity::count(12_345.0).to_string(), "12.3k");
        assert_eq!(Quantity::ratio(12_345.0).to_string(), "12345");
        assert_eq!(Quantity::from("none").to_string(), "none");
    }
}
