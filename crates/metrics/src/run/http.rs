//! HTTP requests of phases that ended.

use candor_record::PhaseRecord;
use candor_record::http::{HttpOp, HttpStats};
use prometheus_client::registry::Registry;

use super::work::labels;
use crate::series::{Count, Gauge, Series, seconds};

/// Value of the label `status` for requests without an answer.
const NO_ANSWER: &str = "none";

/// Series of HTTP requests. Samples have no such counts, so they change at the ends of phases.
#[derive(Debug)]
pub struct HttpSeries {
    requests: Series<Count>,
    retries: Series<Count>,
    failed: Series<Count>,
    connections: Series<Count>,
    first_byte: Series<Gauge>,
}

impl HttpSeries {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> HttpSeries {
        HttpSeries {
            requests: Series::new(
                registry,
                "candor_http_requests",
                None,
                "HTTP requests by status of the answer, retries included, of phases that ended; \
                 none without an answer",
            ),
            retries: Series::new(
                registry,
                "candor_http_retries",
                None,
                "Repeated HTTP requests of phases that ended",
            ),
            failed: Series::new(
                registry,
                "candor_http_failed_requests",
                None,
                "HTTP requests that failed, by class of the failure, of phases that ended",
            ),
            connections: Series::new(
                registry,
                "candor_http_connections",
                None,
                "Connections opened for HTTP requests of phases that ended",
            ),
            first_byte: Series::new(
                registry,
                "candor_http_first_byte",
                Some("seconds"),
                "Percentiles of the time from the last byte of a request to the first byte of its \
                 answer, of a phase that ended",
            ),
        }
    }

    /// Adds the requests of a phase.
    pub fn phase_done(&self, record: &PhaseRecord) {
        for measurement in &record.measurements {
            let Some(http) = &measurement.http else { continue };
            self.failures(&record.name, &measurement.job, http);
            http.operations
                .iter()
                .for_each(|op| self.operation(&record.name, &measurement.job, op));
        }
    }

    fn failures(&self, phase: &str, job: &str, http: &HttpStats) {
        let opened = http.connections.opened_before + http.connections.opened;
        self.connections.of(&[("phase", phase), ("job", job)]).inc_by(opened);
        for failure in &http.failures {
            let [phase, job, operation] = labels(phase, job, &failure.op);
            let class = ("class", failure.class.name());
            self.failed.of(&[phase, job, operation, class]).inc_by(failure.attempts);
        }
    }

    fn operation(&self, phase: &str, job: &str, op: &HttpOp) {
        let [phase, job, operation] = labels(phase, job, &op.name);
        let mut unanswered = op.attempts;
        for of in &op.statuses {
            let status = of.status.to_string();
            unanswered = unanswered.saturating_sub(of.answers);
            self.requests.of(&[phase, job, operation, ("status", &status)]).inc_by(of.answers);
        }
        if unanswered > 0 {
            self.requests.of(&[phase, job, operation, ("status", NO_ANSWER)]).inc_by(unanswered);
        }
        self.retries.of(&[phase, job, operation]).inc_by(op.retries);
        for (percentile, ns) in op.first_byte.iter().flat_map(|of| &of.percentiles) {
            let percentile = percentile.to_string();
            let labels = [phase, job, operation, ("percentile", percentile.as_str())];
            self.first_byte.set(&labels, Some(seconds(*ns)));
        }
    }
}
