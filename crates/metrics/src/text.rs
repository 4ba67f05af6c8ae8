//! The two texts in which metrics are handed out.

use std::collections::HashMap;

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

/// A format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The older format of Prometheus, for readers that ask for nothing else.
    Classic,
}

impl Format {
    /// The format that an `Accept` header allows.
    pub fn accepted(accept: &str) -> Format {
        if accept.contains("application/openmetrics-text") {
            Format::OpenMetrics
        } else {
            Format::Classic
        }
    }

    /// The format, as headers name it.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Classic => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// All metrics of a registry.
    pub fn write(self, registry: &Registry) -> String {
        let mut open = String::new();
        // A text in memory takes whatever is written.
        let _ = text::encode(&mut open, registry);
        let open = ordered(&open);
        match self {
            Format::OpenMetrics => open,
            Format::Classic => classic(&open),
        }
    }
}

/// The same with the samples of each metric in the order of their labels, so that two scrapes stand
/// beside each other.
fn ordered(open: &str) -> String {
    let mut lines: Vec<&str> = open.lines().collect();
    let is_about = |line: &str| line.starts_with('#');
    for samples in lines.chunk_by_mut(|a, b| is_about(a) == is_about(b)) {
        if !is_about(samples[0]) {
            samples.sort_unstable();
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The older format calls a metric as its samples are called, and knows neither units nor an end.
fn classic(open: &str) -> String {
    let type_of = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        let (name, kind) = (name.to_owned(), kind.to_owned());
        Some((name, kind))
    };
    let kinds: HashMap<String, String> = open.lines().filter_map(type_of).collect();
    let mut text = String::new();
    for line in open.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "EOF"] | ["#", "UNIT", ..] => {}
            ["#", word, name, rest] => {
                let (suffix, rest) = match (kinds.get(name).map(String::as_str), word) {
                    (Some("counter"), _) => ("_total", rest),
                    (Some("info"), "TYPE") => ("_info", "gauge"),
                    (Some("info"), _) => ("_info", rest),
                    _ => ("", rest),
                };
                text.push_str(&format!("# {word} {name}{suffix} {rest}\n"));
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}
