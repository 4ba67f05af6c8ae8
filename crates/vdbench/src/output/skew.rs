//! `skew.html`: the share of the work that each lun, workload and host had.

use super::Figures;

/// Deviation in percent of all work that triggers a warning.
pub(super) const DIFFERENCE_MAX: f64 = 1.0;

/// A part of the work.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub name: String,
    /// Requested share in percent.
    pub asked: Option<f64>,
    pub figures: Figures,
}

/// The table of luns, workloads or hosts.
pub(super) fn table(of: &str, parts: &[Part], megabyte: f64) -> String {
    let all: f64 = parts.iter().map(|part| part.figures.rate()).sum();
    let mut text = format!("\nCalculated versus requested workload skew, by {of}:\n\n");
    let heads = [
        [of, "i/o", "MB/sec", "bytes", "resp", "skew", "skew", "skew"],
        ["", "rate", "", "i/o", "time", "requested", "observed", "delta"],
    ];
    for [name, rate, megabytes, bytes, response, asked, observed, delta] in heads {
        text += &format!(
            "{name:<16} {rate:>10} {megabytes:>8} {bytes:>8} {response:>8} {asked:>9} \
             {observed:>9} {delta:>7}\n"
        );
    }
    for part in parts {
        let observed = observed(part, all);
        let (asked, delta) = match part.asked {
            Some(asked) => (format!("{asked:8.2}%"), format!("{:6.2}%", observed - asked)),
            None => ("n/a".to_owned(), "n/a".to_owned()),
        };
        text += &format!(
            "{:<16} {:10.2} {:8.2} {:8.0} {:8.3} {asked:>9} {observed:8.2}% {delta:>7}\n",
            part.name,
            part.figures.rate(),
            part.figures.megabytes(megabyte),
            part.figures.bytes_per_io(),
            part.figures.all().response_ms(),
        );
    }
    text
}

/// Largest deviation from the requested shares in percent, and its job.
pub(super) fn greatest(parts: &[Part]) -> Option<(&str, f64)> {
    let all: f64 = parts.iter().map(|part| part.figures.rate()).sum();
    let off = parts
        .iter()
        .filter_map(|part| Some((part.name.as_str(), (observed(part, all) - part.asked?).abs())));
    off.max_by(|one, other| one.1.total_cmp(&other.1))
}

fn observed(part: &Part, all: f64) -> f64 {
    if all > 0.0 { 100.0 * part.figures.rate() / all } else { 0.0 }
}
