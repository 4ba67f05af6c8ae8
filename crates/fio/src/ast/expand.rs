//! Replaces keywords by values: `${VARIABLE}`, `$pagesize`, `$mb_memory`, `$ncpus`.

use super::{FioEnvironment, Keyword};
use crate::values;

const KEYWORDS: [(&str, Keyword); 3] = [
    ("$pagesize", Keyword::PageSize),
    ("$mb_memory", Keyword::MemoryMib),
    ("$ncpus", Keyword::Cpus),
];

/// A value with its variables replaced. One that is not set is replaced by nothing; `$NAME`
/// without braces stays as it is.
pub(super) fn variables(text: &str, environment: &dyn FioEnvironment) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        result.push_str(&rest[..start]);
        let name = &rest[start + 2..start + length];
        result.push_str(&environment.variable(name).unwrap_or_default());
        rest = &rest[start + length + 1..];
    }
    result.push_str(rest);
    result
}

/// Replaces the keywords of a value, and computes a resulting expression such as `8*$mb_memory`.
///
/// # Errors
/// The expression cannot be computed.
pub(super) fn keywords(
    text: &str,
    environment: &dyn FioEnvironment,
) -> Result<String, values::Refused> {
    let mut result = text.to_owned();
    for (word, keyword) in KEYWORDS {
        if result.contains(word) {
            result = result.replace(word, &environment.keyword(keyword).to_string());
        }
    }
    if result == text {
        return Ok(result);
    }
    match values::plain_arithmetic(&result) {
        // Parentheses may contain units, which the reader of the value knows.
        Some(sum) if !result.starts_with('(') => sum.map(|sum| sum.to_string()),
        _ => Ok(result),
    }
}
