//! `--metrics`: figures of what goes on, served to whoever scrapes them.

use std::net::SocketAddr;
use std::time::Duration;

use candor_metrics::{Endpoint, RunMetrics, WatchMetrics};
use candor_record::{Event, Watched};
use candor_run::Control;

use crate::output::Output;
use crate::screen;

/// Serves the events of a run, where that was asked for.
pub struct RunExporter {
    served: Option<(RunMetrics, Endpoint)>,
    wait: Duration,
    /// The run has ended and has a report.
    is_done: bool,
}

impl RunExporter {
    /// Listens where `--metrics` says.
    pub fn open(output: &Output) -> Result<RunExporter, String> {
        let metrics = output.metrics.map(|address| {
            let metrics = RunMetrics::default();
            let endpoint = Endpoint::open(address, metrics.registry())?;
            if !output.quiet {
                announce(&endpoint);
            }
            Ok::<_, String>((metrics, endpoint))
        });
        let wait = output.metrics_wait.unwrap_or_default();
        Ok(RunExporter { served: metrics.transpose()?, wait, is_done: false })
    }

    /// Takes an event.
    pub fn take(&mut self, event: &Event) {
        self.is_done |= matches!(event, Event::RunDone { .. });
        if let Some((metrics, _)) = &mut self.served {
            metrics.take(event);
        }
    }

    /// Ends serving, once the last figures were read or `--metrics-wait` is over; an interrupt ends
    /// it at once.
    pub fn close(self, control: &Control) {
        let Some((_, endpoint)) = self.served.filter(|_| self.is_done) else { return };
        endpoint.linger(self.wait, || control.is_stopped());
    }
}

/// Serves the looks of `candor watch`, where that was asked for.
pub struct WatchExporter(Option<(WatchMetrics, Endpoint)>);

impl WatchExporter {
    /// Listens there.
    pub fn open(address: Option<SocketAddr>) -> Result<WatchExporter, String> {
        let metrics = address.map(|address| {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let metrics = WatchMetrics::new(&host);
            let endpoint = Endpoint::open(address, metrics.registry())?;
            announce(&endpoint);
            Ok::<_, String>((metrics, endpoint))
        });
        Ok(WatchExporter(metrics.transpose()?))
    }

    /// Takes a look.
    pub fn take(&self, watched: &Watched) {
        if let Some((metrics, _)) = &self.0 {
            metrics.take(watched);
        }
    }
}

/// Tells where it listens, which nobody else knows where the port was 0.
fn announce(endpoint: &Endpoint) {
    screen::tell(&format!("candor: metrics are at http://{}/metrics\n", endpoint.address()));
}
