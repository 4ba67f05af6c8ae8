//! Requests of devices, whoever made them: the same names during runs and in `candor watch`.

use prometheus_client::registry::Registry;

use crate::series::{Count, Gauge, Series};

/// Series of devices.
#[derive(Debug)]
pub struct DeviceSeries {
    operations: Series<Count>,
    bytes: Series<Count>,
    utilisation: Series<Gauge>,
}

impl DeviceSeries {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> DeviceSeries {
        DeviceSeries {
            operations: Series::new(
                registry,
                "candor_device_operations",
                None,
                "Requests that the device completed, from all processes",
            ),
            bytes: Series::new(registry, "candor_device", Some("bytes"), "Bytes of these requests"),
            utilisation: Series::new(
                registry,
                "candor_device_utilisation",
                Some("ratio"),
                "Share of the last interval in which the device had any request",
            ),
        }
    }

    /// Adds requests of one direction.
    pub fn add(&self, host: &str, device: &str, direction: &str, requests: u64, bytes: u64) {
        let labels = [("host", host), ("device", device), ("direction", direction)];
        self.operations.of(&labels).inc_by(requests);
        self.bytes.of(&labels).inc_by(bytes);
    }

    /// Sets the share of time in which the device was busy.
    pub fn set_utilisation(&self, host: &str, device: &str, share: f64) {
        self.utilisation.set(&[("host", host), ("device", device)], Some(share));
    }
}
