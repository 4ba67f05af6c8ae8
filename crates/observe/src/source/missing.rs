//! The list of what could not be read, each thing once.

use candor_record::facts::Missing;

/// Collects what could not be read.
#[derive(Debug, Default)]
pub(crate) struct MissingFacts(Vec<Missing>);

impl MissingFacts {
    /// Notes that `what` is unknown; a second note about the same thing is dropped.
    pub(crate) fn note(
        &mut self,
        what: impl Into<String>,
        why: impl Into<String>,
        enable: impl Into<String>,
    ) {
        let missing = Missing { what: what.into(), why: why.into(), enable: enable.into() };
        if !self.0.iter().any(|seen| seen.what == missing.what) {
            self.0.push(missing);
        }
    }

    /// Passes a fact through, and notes it if it is absent.
    pub(crate) fn unless<T>(
        &mut self,
        fact: Option<T>,
        what: &str,
        why: &str,
        enable: &str,
    ) -> Option<T> {
        if fact.is_none() {
            self.note(what, why, enable);
        }
        fact
    }

    /// Everything noted, in order.
    pub(crate) fn into_list(self) -> Vec<Missing> {
        self.0
    }
}
