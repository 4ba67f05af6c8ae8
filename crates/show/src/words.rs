//! The words for the values of the record, each in one place.

use candor_record::{
    Confidence, Ended, ExpectationResult, Finding, Limit, LimitClass, Severity, Verdict,
};

use crate::style::Tone;

/// The colour of a verdict.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Ok => Tone::Good,
        Verdict::Caution | Verdict::Unverified => Tone::Caution,
        Verdict::Wrong | Verdict::Corrupt => Tone::Bad,
    }
}

/// The tone of the result of an expectation.
pub(crate) fn expectation_tone(result: ExpectationResult) -> Tone {
    match result {
        ExpectationResult::Met => Tone::Good,
        ExpectationResult::CannotTell => Tone::Caution,
        ExpectationResult::NotMet => Tone::Bad,
    }
}

/// The meaning of a finding, with what it names.
pub(crate) fn meaning(finding: &Finding) -> String {
    let mut text = match finding.severity {
        Severity::Explains => "explains".to_owned(),
        Severity::Caution => "caution".to_owned(),
        Severity::Unverified => "cannot be verified".to_owned(),
        Severity::Wrong => "not the storage's number".to_owned(),
    };
    if let Some(what) = &finding.measures {
        text = format!("measures {what}");
    }
    // What was measured instead is also what set its pace.
    let limit = finding.limits.as_ref().map(Limit::to_string);
    let limit =
        limit.filter(|limit| finding.measures.is_none_or(|what| what.to_string() != *limit));
    match limit {
        Some(what) if finding.severity == Severity::Explains => format!("the limit: {what}"),
        Some(what) => format!("{text}; the limit: {what}"),
        None => text,
    }
}

/// The name of a class of limits.
pub(crate) fn class(class: LimitClass) -> &'static str {
    match class {
        LimitClass::Memory => "memory of this host",
        LimitClass::Plan => "the plan",
        LimitClass::Throttle => "a throttle",
        LimitClass::Cpu => "CPUs of this host",
        LimitClass::Load => "the load",
        LimitClass::Filesystem => "the filesystem",
        LimitClass::Link => "a link",
        LimitClass::Array => "an array",
        LimitClass::Device => "the device",
        LimitClass::Server => "the server",
        LimitClass::Candor => "candor itself",
    }
}

/// The colour of a severity.
pub(crate) fn severity_tone(severity: Severity) -> Tone {
    match severity {
        Severity::Explains => Tone::Good,
        Severity::Caution | Severity::Unverified => Tone::Caution,
        Severity::Wrong => Tone::Bad,
    }
}

/// How sure a finding is.
pub(crate) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Possible => "possible",
        Confidence::Likely => "likely",
        Confidence::Certain => "certain",
    }
}

/// Why a job ended before its time; none where it did not.
pub(crate) fn ended_early(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::Done | Ended::Time | Ended::Steady | Ended::Full => None,
        Ended::Interrupted => Some("interrupted"),
        Ended::Failed => Some("stopped by an error"),
        Ended::Stalled => Some("stopped because no operation completed"),
    }
}
