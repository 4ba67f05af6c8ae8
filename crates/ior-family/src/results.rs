//! Forms of results.

use candor_record::Latency;

use candor_front::{Object, Refused};

/// Form of the results as one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryFormat {
    /// The familiar text.
    #[default]
    Default,
    /// One JSON document.
    Json,
    /// One table of CSV.
    Csv,
}

impl SummaryFormat {
    /// The form that a word names.
    ///
    /// # Errors
    /// The word names none.
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

/// Kind of the bytes that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// The seed and the number of the word; each file of a task alike.
    #[default]
    Timestamp,
    /// The same, with the item in one word of 512.
    Offset,
    /// One word of the seed again and again, with the item in one word of 512.
    Incompressible,
    /// Words of a sequence that the seed, the task and the item begin.
    Random,
}

impl Packet {
    /// The kind that a word names by its first letter.
    ///
    /// # Errors
    /// The word names none.
    pub fn of(text: &str) -> Result<Packet, Refused> {
        match text.get(..1) {
            Some("t") => Ok(Packet::Timestamp),
            Some("o") => Ok(Packet::Offset),
            Some("i") => Ok(Packet::Incompressible),
            Some("r") => Ok(Packet::Random),
            _ => {
                let message = format!("`{text}` is no kind of data");
                Err(Refused::whole(text, message, "give o, i, t or r"))
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

/// Nanoseconds; a percentile stands there where ten samples lie beyond it.
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
