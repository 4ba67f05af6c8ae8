//! Result formats.

use candor_record::Latency;

use candor_front::{Object, Refused};

/// Format of the results as one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryFormat {
    /// The text that mdtest or md-workbench prints.
    #[default]
    Default,
    /// One JSON document.
    Json,
    /// One table of CSV.
    Csv,
}

impl SummaryFormat {
    /// The format that a word names.
    ///
    /// # Errors
    /// The word names no type.
    pub fn of(text: &str) -> Result<SummaryFormat, Refused> {
        match text.to_ascii_lowercase().as_str() {
            "default" => Ok(SummaryFormat::Default),
            "json" => Ok(SummaryFormat::Json),
            "csv" => Ok(SummaryFormat::Csv),
            _ => {
                let message = format!("`{text}` is no form of results");
                Err(Refused::whole(text, message, "give default, JSON or CSV"))
            }
        }
    }
}

/// A number as C's `%e` writes it: `1.234560e+03`.
pub fn exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

/// A latency as an object, in ns; percentiles with at least ten samples beyond them are included.
pub fn latency_object(latency: &Latency) -> Object {
    let mut object = Object::default()
        .with("count", latency.count)
        .with("min_ns", latency.min_ns)
        .with("mean_ns", latency.mean_ns)
        .with("max_ns", latency.max_ns);
    for (percentile, ns) in &latency.percentiles {
        object.put(format!("p{percentile}_ns"), *ns);
    }
    object
}
