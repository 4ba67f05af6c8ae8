//! Figures of phases that ended: the report's.

use candor_record::{Finding, OpStats, PhaseRecord, Verdict};
use prometheus_client::registry::Registry;

use super::work::labels;
use crate::series::{Gauge, Series, seconds};

/// Series of results. Those of a phase that ran several times are of its last repeat.
#[derive(Debug)]
pub struct ResultSeries {
    operations: Series<Gauge>,
    bytes: Series<Gauge>,
    latency: Series<Gauge>,
    latency_mean: Series<Gauge>,
    verdict: Series<Gauge>,
    findings: Series<Gauge>,
}

impl ResultSeries {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> ResultSeries {
        let s = Some("seconds");
        let mut gauge = |name, unit, help| Series::new(registry, name, unit, help);
        ResultSeries {
            operations: gauge(
                "candor_result_operations_per_second",
                None,
                "Rate of operations of a phase that ended",
            ),
            bytes: gauge(
                "candor_result_bytes_per_second",
                None,
                "Rate of bytes of a phase that ended",
            ),
            latency: gauge(
                "candor_result_latency",
                s,
                "Percentiles of all latencies of a phase that ended; 0 is the least, 100 the \
                 greatest",
            ),
            latency_mean: gauge(
                "candor_result_latency_mean",
                s,
                "Mean of all latencies of a phase that ended",
            ),
            verdict: gauge("candor_phase_verdict", None, "1 for the verdict of a phase that ended"),
            findings: gauge("candor_finding", None, "1 for each finding of a phase that ended"),
        }
    }

    /// The verdict on a phase.
    pub fn judged(&self, phase: &str, verdict: Verdict) {
        let names = Verdict::ALL.map(Verdict::name);
        self.verdict.set_state(&[("phase", phase)], "verdict", &names, verdict.name());
    }

    /// A finding in a phase.
    pub fn found(&self, phase: &str, finding: &Finding) {
        let [rule, title] = [&finding.rule, &finding.title].map(String::as_str);
        let severity = finding.severity.name();
        let labels = [("phase", phase), ("rule", rule), ("title", title), ("severity", severity)];
        self.findings.set(&labels, Some(1.0));
    }

    /// A phase ended. A step of a search is no result.
    pub fn phase_done(&self, record: &PhaseRecord) {
        if record.search_step {
            return;
        }
        for measurement in &record.measurements {
            for stats in measurement.operations.iter().filter(|stats| stats.ops > 0) {
                self.result(&record.name, &measurement.job, stats);
            }
        }
    }

    fn result(&self, phase: &str, job: &str, stats: &OpStats) {
        let labels = labels(phase, job, &stats.name);
        self.operations.set(&labels, Some(stats.ops_per_s));
        self.bytes.set(&labels, Some(stats.bytes_per_s));
        let Some(latency) = &stats.latency else { return };
        self.latency_mean.set(&labels, Some(latency.mean_ns / 1e9));
        let ends = [(0.0, latency.min_ns), (100.0, latency.max_ns)];
        for (percentile, ns) in latency.percentiles.iter().chain(&ends) {
            let percentile = percentile.to_string();
            let [phase, job, operation] = labels;
            let labels = [phase, job, operation, ("percentile", percentile.as_str())];
            self.latency.set(&labels, Some(seconds(*ns)));
        }
    }
}
