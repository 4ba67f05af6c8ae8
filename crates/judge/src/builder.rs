//! Writing a finding down, a piece at a time.

use candor_record::fmt;
use candor_record::{
    Confidence, Evidence, Finding, Limit, MeasuredInstead, Quantity, Setting, Severity, TimeRange,
};

use crate::command::Command;

/// A finding in the making.
pub struct FindingBuilder(Finding);

impl FindingBuilder {
    /// A finding with nothing but its sentence; certain until said otherwise. Its rule gives the
    /// title.
    pub fn new(rule: &str, severity: Severity, sentence: impl Into<String>) -> FindingBuilder {
        let mut sentence: String = sentence.into();
        // A share of nearly all or nothing is a text.
        if sentence.starts_with("more than ") || sentence.starts_with("less than ") {
            sentence = fmt::capital(&sentence);
        }
        FindingBuilder(Finding {
            rule: rule.into(),
            title: String::new(),
            severity,
            confidence: Confidence::Certain,
            when: None,
            job: None,
            limits: None,
            measures: None,
            sentence,
            lost_share_max: None,
            evidence: Vec::new(),
            consequences: Vec::new(),
            advice: String::new(),
            changes: Vec::new(),
            next: None,
        })
    }

    /// How sure it is.
    pub fn confidence(mut self, confidence: Confidence) -> FindingBuilder {
        self.0.confidence = confidence;
        self
    }

    /// The job it concerns.
    pub fn job(mut self, job: &str) -> FindingBuilder {
        self.0.job = Some(job.into());
        self
    }

    /// The moment at which it came about, in seconds since the start of the phase.
    pub fn at_s(mut self, at_s: f64) -> FindingBuilder {
        self.0.when = Some(TimeRange { from_ns: (at_s * 1e9).round() as u64, until_ns: None });
        self
    }

    /// The time during which it was so, in ns since the start of the phase.
    pub fn during(mut self, from_ns: u64, until_ns: u64) -> FindingBuilder {
        self.0.when = Some(TimeRange { from_ns, until_ns: Some(until_ns) });
        self
    }

    /// The limit of the result.
    pub fn limits(mut self, limit: Limit) -> FindingBuilder {
        self.0.limits = Some(limit);
        self
    }

    /// The share of the undisturbed rate that it took at most.
    pub fn lost_at_most(mut self, share: f64) -> FindingBuilder {
        self.0.lost_share_max = Some(share.clamp(0.0, 1.0));
        self
    }

    /// Sets the object that was measured instead of the target.
    pub fn measures(mut self, measured: MeasuredInstead) -> FindingBuilder {
        self.0.measures = Some(measured);
        self
    }

    /// A quantity it rests on, and where that was read.
    pub fn evidence(
        mut self,
        quantity: impl Into<String>,
        value: impl Into<Quantity>,
        source: impl Into<String>,
    ) -> FindingBuilder {
        self.0.evidence.push(Evidence::new(quantity, value, source));
        self
    }

    /// A quantity it rests on, where that is known.
    pub fn evidence_if<V: Into<Quantity>>(
        self,
        known: Option<(String, V, String)>,
    ) -> FindingBuilder {
        match known {
            Some((quantity, value, source)) => self.evidence(quantity, value, source),
            None => self,
        }
    }

    /// Sets the advice, and the run that tries it.
    pub fn advice(mut self, advice: impl Into<String>, command: Option<Command>) -> FindingBuilder {
        self.0.advice = advice.into();
        self.0.changes = command.map(Command::changes).unwrap_or_default();
        self
    }

    /// Adds settings that try the advice.
    pub fn changes(mut self, settings: Vec<Setting>) -> FindingBuilder {
        self.0.changes.extend(settings);
        self
    }

    /// The finding.
    pub fn done(self) -> Finding {
        self.0
    }
}
