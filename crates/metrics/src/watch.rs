//! Looks of `candor watch` as metrics.

use std::sync::Arc;

use candor_record::Watched;
use candor_record::requests::RequestOp;
use prometheus_client::registry::Registry;

use crate::devices::DeviceSeries;
use crate::series::{Gauge, Series, seconds};

/// Activity of devices, look by look.
#[derive(Debug)]
pub struct WatchMetrics {
    registry: Arc<Registry>,
    host: String,
    devices: DeviceSeries,
    queue: Series<Gauge>,
    wait: Series<Gauge>,
}

impl WatchMetrics {
    /// Of the host of that name, before the first look.
    pub fn new(host: &str) -> WatchMetrics {
        let mut registry = Registry::default();
        let devices = DeviceSeries::new(&mut registry);
        let queue = Series::new(
            &mut registry,
            "candor_device_queue_mean_requests",
            None,
            "Requests under way or waiting in the last interval, on average",
        );
        let wait = Series::new(
            &mut registry,
            "candor_device_wait",
            Some("seconds"),
            "Mean time of the last interval's requests from their making to their end",
        );
        WatchMetrics { registry: Arc::new(registry), host: host.to_owned(), devices, queue, wait }
    }

    /// All metrics.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// Takes a look.
    pub fn take(&self, watched: &Watched) {
        for activity in &watched.devices {
            let (host, device) = (self.host.as_str(), activity.device.as_str());
            let labels = [("host", host), ("device", device)];
            for (direction, traffic) in activity.ways() {
                let requests = traffic.requests(watched.elapsed_s);
                let bytes = traffic.bytes(watched.elapsed_s);
                self.devices.add(host, device, RequestOp::name(direction), requests, bytes);
                let wait = (requests > 0).then(|| seconds(traffic.wait_mean_ns));
                let of = [labels[0], labels[1], ("direction", RequestOp::name(direction))];
                self.wait.set(&of, wait);
            }
            self.devices.set_utilisation(host, device, activity.busy);
            self.queue.set(&labels, Some(activity.queue_mean));
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Activity, Traffic};

    use super::*;
    use crate::Format;

    #[test]
    fn rates_of_looks_add_up_to_counts() {
        let metrics = WatchMetrics::new("here");
        let read = |requests: f64, elapsed_s: f64| Traffic {
            per_s: requests / elapsed_s,
            bytes_per_s: requests * 4096.0 / elapsed_s,
            wait_mean_ns: 2_000_000,
            ..Traffic::default()
        };
        for (requests, elapsed_s) in [(500.0, 0.3), (0.0, 0.7), (33.0, 1.1)] {
            let activity = Activity {
                device: "sda".into(),
                read: read(requests, elapsed_s),
                queue_mean: 1.5,
                busy: 0.5,
                ..Activity::default()
            };
            let devices = vec![activity];
            metrics.take(&Watched { elapsed_s, devices, ..Watched::default() });
            let text = Format::OpenMetrics.write(&metrics.registry());
            let wait = r#"candor_device_wait_seconds{host="here",device="sda",direction="read"} "#;
            let value = if requests > 0.0 { "0.002" } else { "NaN" };
            assert!(text.contains(&format!("{wait}{value}\n")), "{text}");
            assert!(!text.contains(r#"_wait_seconds{host="here",device="sda",direction="write""#));
        }
        insta::assert_snapshot!(Format::OpenMetrics.write(&metrics.registry()));
    }
}
