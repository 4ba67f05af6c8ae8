//! What a rule is.

use candor_record::{Finding, Limit, LimitClass};

use crate::observed::Observed;
use crate::setup::SetupFacts;
use crate::stage::Stage;

/// What a person can read about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its name in the catalogue, such as `A1`.
    pub id: &'static str,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// How it comes about, how the rule recognises it, and what helps: one paragraph.
    pub explanation: &'static str,
}

/// One rule of the catalogue.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What a person can read about it.
    pub text: RuleText,
    /// How deep its cause lies.
    pub stage: Stage,
    /// What it may name as the limit of a result.
    pub limit: Option<LimitClass>,
    /// What it can say before anything has run.
    pub before: Option<fn(&SetupFacts) -> Outcome>,
    /// What it says about a phase that ran.
    pub after: fn(&Observed) -> Outcome,
}

impl Rule {
    /// Evaluates the rule for a phase that ran.
    pub fn evaluate(&self, observed: &Observed) -> Outcome {
        let outcome = (self.after)(observed);
        if let Outcome::Found(found) = &outcome {
            for finding in found {
                let named = finding.limits.as_ref().map(Limit::class);
                debug_assert!(named.is_none() || named == self.limit, "{finding:?}");
                debug_assert_eq!(finding.rule, self.text.id, "{finding:?}");
            }
        }
        outcome
    }
}

/// What came of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It does not apply, or all is well.
    Nothing,
    /// It found something.
    Found(Vec<Finding>),
    /// It lacked facts: these.
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
