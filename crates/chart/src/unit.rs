//! Titles and texts of an axis in its unit.

use candor_record::Unit;
use candor_record::fmt::axis::{AxisUnit, short};

use crate::model::{Axis, Scale};

/// The title of an axis with the unit of its ticks.
pub fn title(axis: &Axis, unit: &AxisUnit) -> String {
    match (axis.label.as_str(), unit_name(axis, unit)) {
        ("", name) => name.to_owned(),
        (label, "") => label.to_owned(),
        (label, name) => format!("{label} ({name})"),
    }
}

/// The name of the unit, where ticks do not bring it themselves.
fn unit_name<'a>(axis: &Axis, unit: &'a AxisUnit) -> &'a str {
    match axis.scale {
        Scale::Log | Scale::Times => "",
        // `IOPS` has its second in its name.
        _ if axis.unit == Unit::OpsPerS && axis.label.ends_with("IOPS") => "",
        _ => &unit.name,
    }
}

/// A value of an axis in a sentence, with its unit.
pub fn value_text(axis: &Axis, value: f64) -> String {
    match &axis.scale {
        Scale::Category(names) => {
            let index = value.round();
            let name = (index >= 0.0).then(|| names.get(index as usize)).flatten();
            name.cloned().unwrap_or_default()
        }
        Scale::Nines => format!("p{value}"),
        Scale::Elapsed => short(value, Unit::Ns),
        _ => short(value, axis.unit),
    }
}
