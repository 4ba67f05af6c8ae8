//! Series of a metric, told apart by their labels, and no more of them than a server bears.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use prometheus_client::encoding::EncodeMetric;
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge as AnyGauge;
use prometheus_client::registry::{Registry, Unit};

/// Names and values of labels.
pub type Labels = Vec<(&'static str, String)>;
/// A number that goes up and down.
pub type Gauge = AnyGauge<f64, AtomicU64>;
/// A count.
pub type Count = Counter;
/// A sum of times or of other fractions.
pub type Sum = Counter<f64, AtomicU64>;

/// Series of one metric, at most. A run may have any number of phases and jobs: those beyond share
/// one series.
const SERIES_MAX: usize = 1000;
/// Bytes of a label's value; a name may be as long as its user likes.
const VALUE_BYTES_MAX: usize = 200;
/// Labels whose values come from the plan or the host, so that nobody knows how many there are.
const UNBOUNDED: &[&str] = &["phase", "job", "device", "host"];
/// Value of these in the series that the rest shares.
const REST: &str = "other";

/// All series of one metric.
#[derive(Debug)]
pub struct Series<M> {
    family: Family<Labels, M>,
    count: AtomicUsize,
}

impl<M> Series<M>
where
    M: Clone + Default + std::fmt::Debug + EncodeMetric + TypedMetric + Send + Sync + 'static,
{
    /// Registers a metric. Its unit becomes the end of its name.
    pub fn new(registry: &mut Registry, name: &str, unit: Option<&str>, help: &str) -> Series<M> {
        let family = Family::default();
        match unit {
            Some(unit) => {
                let unit = Unit::Other(unit.to_owned());
                registry.register_with_unit(name, help, unit, family.clone());
            }
            None => registry.register(name, help, family.clone()),
        }
        Series { family, count: AtomicUsize::new(0) }
    }

    /// The series of these labels.
    pub fn of(&self, labels: &[(&'static str, &str)]) -> M {
        let mut labels = owned(labels);
        if !self.has(&labels) && self.count.fetch_add(1, Relaxed) >= SERIES_MAX {
            let unbounded = labels.iter_mut().filter(|(name, _)| UNBOUNDED.contains(name));
            unbounded.for_each(|(_, value)| *value = REST.to_owned());
        }
        self.family.get_or_create_owned(&labels)
    }

    fn has(&self, labels: &Labels) -> bool {
        self.family.get(labels).is_some()
    }
}

impl Series<Gauge> {
    /// Sets a value. Where nothing was measured a series that was there says so, which is NaN.
    pub fn set(&self, labels: &[(&'static str, &str)], value: Option<f64>) {
        if value.is_some() || self.has(&owned(labels)) {
            self.of(labels).set(value.unwrap_or(f64::NAN));
        }
    }

    /// Sets the state of a thing: 1 for the one it is in, 0 for all others.
    pub fn set_state(
        &self,
        labels: &[(&'static str, &str)],
        name: &'static str,
        states: &[&str],
        state: &str,
    ) {
        for of in states {
            let mut labels = labels.to_vec();
            labels.push((name, of));
            self.set(&labels, Some(f64::from(u8::from(*of == state))));
        }
    }
}

fn owned(labels: &[(&'static str, &str)]) -> Labels {
    labels.iter().map(|(name, value)| (*name, cut(value))).collect()
}

/// A value that is no longer than a label's may be.
fn cut(value: &str) -> String {
    let end = value.floor_char_boundary(VALUE_BYTES_MAX);
    value[..end].to_owned()
}

/// Seconds of a time in ns.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Format;

    #[test]
    fn series_are_bounded_and_their_sums_are_not_lost() {
        let mut registry = Registry::default();
        let series = Series::<Count>::new(&mut registry, "made", None, "Made");
        for nth in 0..3000 {
            series.of(&[("phase", &nth.to_string()), ("operation", "read")]).inc();
        }
        let text = Format::OpenMetrics.write(&registry);
        assert_eq!(text.matches("operation=\"read\"").count(), SERIES_MAX + 1);
        let of = |phase| series.of(&[("phase", phase), ("operation", "read")]).get();
        assert_eq!((of("7"), of(REST), of("2999")), (1, 2000, 2000));
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = "ä".repeat(150);
        assert_eq!(cut(&format!("x{long}")), format!("x{}", "ä".repeat(99)));
    }

    #[test]
    fn a_gauge_that_was_never_measured_has_no_series() {
        let series =
            Series::<Gauge>::new(&mut Registry::default(), "wait", Some("seconds"), "Wait");
        series.set(&[("device", "sda")], None);
        assert!(!series.has(&owned(&[("device", "sda")])));
        series.set(&[("device", "sda")], Some(0.5));
        series.set(&[("device", "sda")], None);
        assert!(series.of(&[("device", "sda")]).get().is_nan());
    }
}
