//! Definition of a rule.

use candor_record::{Finding, Limit, LimitClass};

use crate::observed::Observed;
use crate::setup::SetupFacts;
use crate::stage::Stage;

/// Explanation of a rule, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Name in the catalogue, such as `A1`.
    pub id: &'static str,
    /// Title of the finding, in five words or fewer.
    pub title: &'static str,
    /// How it comes about, how the rule recognises it, and what helps: one paragraph.
    pub explanation: &'static str,
}

/// One rule of the catalogue.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Explanation for people.
    pub text: RuleText,
    /// How deep its cause lies.
    pub stage: Stage,
    /// Class of the limit that it may name.
    pub limit: Option<LimitClass>,
    /// Evaluation before anything has run.
    pub before: Option<fn(&SetupFacts) -> Outcome>,
    /// Evaluation of a phase that ran.
    pub after: fn(&Observed) -> Outcome,
}

impl Rule {
    /// Evaluates the rule for a phase that ran.
    pub fn evaluate(&self, observed: &Observed) -> Outcome {
        self.titled((self.after)(observed))
    }

    /// Findings before anything has run.
    pub fn foresee(&self, setup: &SetupFacts) -> Vec<Finding> {
        match self.before.map(|before| self.titled(before(setup))) {
            Some(Outcome::Found(found)) => found,
            _ => Vec::new(),
        }
    }

    fn titled(&self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Found(found) = &mut outcome {
            for finding in found {
                let named = finding.limits.as_ref().map(Limit::class);
                debug_assert!(named.is_none() || named == self.limit, "{finding:?}");
                debug_assert_eq!(finding.rule, self.text.id, "{finding:?}");
                finding.title = self.text.title.into();
            }
        }
        outcome
    }
}

/// Result of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The rule does not apply, or all is well.
    Nothing,
    /// Findings of the rule.
    Found(Vec<Finding>),
    /// Facts that the rule lacked.
    NotEvaluated(String),
}

impl Outcome {
    /// One finding.
    pub fn one(finding: Finding) -> Outcome {
        Outcome::Found(vec![finding])
    }

    /// A rule that lacked facts.
    pub fn lacks(what: impl Into<String>) -> Outcome {
        Outcome::NotEvaluated(what.into())
    }
}

impl From<Vec<Finding>> for Outcome {
    fn from(findings: Vec<Finding>) -> Outcome {
        if findings.is_empty() { Outcome::Nothing } else { Outcome::Found(findings) }
    }
}
