//! Events of a run as metrics.

mod http;
mod progress;
mod results;
mod work;

use std::sync::Arc;

use candor_record::{Event, HostSample};
use prometheus_client::registry::Registry;

use self::http::HttpSeries;
use self::progress::ProgressSeries;
use self::results::ResultSeries;
use self::work::WorkSeries;
use crate::devices::DeviceSeries;
use crate::series::{Gauge, Series};

/// A run, as far as its events told.
#[derive(Debug)]
pub struct RunMetrics {
    registry: Arc<Registry>,
    progress: ProgressSeries,
    work: WorkSeries,
    results: ResultSeries,
    http: HttpSeries,
    devices: DeviceSeries,
    requests_in_flight: Series<Gauge>,
    cpu_busy: Series<Gauge>,
}

impl Default for RunMetrics {
    fn default() -> RunMetrics {
        let mut registry = Registry::default();
        let progress = ProgressSeries::new(&mut registry);
        let work = WorkSeries::new(&mut registry);
        let results = ResultSeries::new(&mut registry);
        let http = HttpSeries::new(&mut registry);
        let devices = DeviceSeries::new(&mut registry);
        let requests_in_flight = Series::new(
            &mut registry,
            "candor_device_requests_in_flight",
            None,
            "Requests in flight at the end of the last interval",
        );
        let cpu_busy = Series::new(
            &mut registry,
            "candor_cpu_busy",
            Some("ratio"),
            "Busy share of all CPUs in the last interval",
        );
        let registry = Arc::new(registry);
        RunMetrics {
            registry,
            progress,
            work,
            results,
            http,
            devices,
            requests_in_flight,
            cpu_busy,
        }
    }
}

impl RunMetrics {
    /// All metrics.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// Takes an event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::RunStarted { name, phases, .. } => self.progress.run_started(name, *phases),
            Event::Preparing { phase, step, bytes_done, bytes_total, .. } => {
                self.progress.preparing(phase, *step, *bytes_done, *bytes_total);
            }
            Event::PhaseStarted { phase, expected_ns, .. } => {
                self.work.begin();
                self.progress.phase_started(phase, *expected_ns);
            }
            Event::Sampled { phase, in_ramp, samples, hosts } => {
                self.progress.set(phase, if *in_ramp { "ramp" } else { "running" });
                hosts.iter().for_each(|host| self.host(host));
                // The report leaves the ramp out as well.
                if !in_ramp {
                    samples.iter().for_each(|sample| self.work.sample(phase, sample));
                }
            }
            Event::PhaseJudged { phase, verdict, .. } => self.results.judged(phase, *verdict),
            Event::Found { phase, finding } => self.results.found(phase, finding),
            Event::PhaseDone { record } => {
                self.work.settle(record);
                self.results.phase_done(record);
                self.http.phase_done(record);
                self.progress.phase_done(&record.name);
            }
            Event::RunDone { verdict, .. } => self.progress.run_done(*verdict),
            // Sentences, and moments that no scrape would meet.
            Event::WorkerDone { .. }
            | Event::Interim { .. }
            | Event::Warned { .. }
            | Event::Noted { .. } => {}
        }
    }

    fn host(&self, host: &HostSample) {
        self.cpu_busy.set(&[("host", &host.host)], host.cpu_busy);
        for of in &host.devices {
            let (host, device) = (&host.host, &of.device);
            self.devices.add(host, device, "read", of.reads, of.bytes_read);
            self.devices.add(host, device, "write", of.writes, of.bytes_written);
            self.devices.set_utilisation(host, device, of.utilisation);
            let labels = [("host", host.as_str()), ("device", device)];
            self.requests_in_flight.set(&labels, Some(of.in_flight as f64));
        }
    }
}

#[cfg(test)]
mod tests;
