//! Writing a finding down, a piece at a time.

use candor_record::{Confidence, Evidence, Finding, Severity};

use crate::fmt;

/// A finding in the making.
pub struct FindingBuilder(Finding);

impl FindingBuilder {
    /// A finding with nothing but its sentence; certain until said otherwise.
    pub fn new(rule: &str, severity: Severity, sentence: impl Into<String>) -> FindingBuilder {
        let mut sentence: String = sentence.into();
        // A share of nearly all or nothing is told in words.
        if sentence.starts_with("more than ") || sentence.starts_with("less than ") {
            sentence = fmt::capital(&sentence);
        }
        FindingBuilder(Finding {
            rule: rule.into(),
            severity,
            confidence: Confidence::Certain,
            job: None,
            limits: None,
            measures: None,
            sentence,
            evidence: Vec::new(),
            advice: String::new(),
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

    /// What limits the result.
    pub fn limits(mut self, limits: impl Into<String>) -> FindingBuilder {
        self.0.limits = Some(limits.into());
        self
    }

    /// What was measured instead.
    pub fn measures(mut self, measures: impl Into<String>) -> FindingBuilder {
        self.0.measures = Some(measures.into());
        self
    }

    /// A number it rests on.
    pub fn evidence(
        mut self,
        what: impl Into<String>,
        value: impl Into<String>,
        from: impl Into<String>,
    ) -> FindingBuilder {
        self.0.evidence.push(Evidence::new(what, value, from));
        self
    }

    /// A number it rests on, where it is known.
    pub fn evidence_if(self, known: Option<(String, String, String)>) -> FindingBuilder {
        match known {
            Some((what, value, from)) => self.evidence(what, value, from),
            None => self,
        }
    }

    /// What to do, and the command that tries it.
    pub fn advice(mut self, advice: impl Into<String>, next: Option<String>) -> FindingBuilder {
        self.0.advice = advice.into();
        self.0.next = next;
        self
    }

    /// The finding.
    pub fn done(self) -> Finding {
        self.0
    }
}
