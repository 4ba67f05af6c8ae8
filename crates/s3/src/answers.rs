//! Answers to values. Each reader checks the status, and that the body is the expected document: a
//! body may be an error although the status is 200.

mod bucket;
mod error;
mod list;
mod settings;
#[cfg(test)]
mod tests;
mod upload;
mod versions;

use candor_http::Answer;

pub use self::bucket::{Created, KeyError, created, failed_keys, list_buckets};
pub use self::error::{AnswerError, Class, server_time};
pub use self::list::{ListPage, Listed, list_objects};
pub use self::settings::{Acl, Grant, Lock, LockTime, acl, lock, tags, versioning};
pub use self::upload::{ListedPart, PartsPage, completed, copied, list_parts, upload_id};
pub use self::versions::{
    ListedVersion, OpenUpload, UploadsPage, VersionsPage, list_uploads, list_versions,
};
use crate::xml::{Document, Element};

/// A value, or an error of the server.
pub type Answered<T> = Result<T, Box<AnswerError>>;

/// Checks the status of an answer whose body has no document.
///
/// # Errors
/// A status of 300 or above.
pub fn check(answer: &Answer) -> Answered<()> {
    if (200..300).contains(&answer.status) {
        return Ok(());
    }
    Err(Box::new(AnswerError::of(answer)))
}

/// ETag of an answer, without quotes.
pub fn etag(answer: &Answer) -> Option<&str> {
    let text = answer.header("etag")?;
    Some(text.strip_prefix("W/").unwrap_or(text).trim_matches('"'))
}

/// A value that collects the elements of a document.
trait Collect: Default {
    /// Name of the root.
    const ROOT: &'static str;

    /// Takes an element that ended.
    ///
    /// # Errors
    /// A sentence: the text breaks the element's rule.
    fn take(&mut self, element: &Element<'_>) -> Result<(), String>;
}

/// Reads the document of an answer.
fn read<T: Collect>(answer: &Answer) -> Answered<T> {
    check(answer)?;
    match collect(&answer.body) {
        Ok(value) => Ok(value),
        Err(Defect::IsError) => Err(Box::new(AnswerError::inside_success(answer))),
        Err(Defect::Malformed(reason)) => {
            Err(Box::new(AnswerError::malformed(answer, T::ROOT, &reason)))
        }
    }
}

/// A body is not the expected document.
enum Defect {
    /// The body is an error of the server.
    IsError,
    /// Reason, as a sentence.
    Malformed(String),
}

impl From<String> for Defect {
    fn from(reason: String) -> Defect {
        Defect::Malformed(reason)
    }
}

fn collect<T: Collect>(body: &[u8]) -> Result<T, Defect> {
    let mut document = Document::new(body)?;
    if document.root() == "Error" {
        return Err(Defect::IsError);
    }
    if document.root() != T::ROOT {
        return Err(Defect::Malformed(format!("found <{}>", document.root())));
    }
    let mut value = T::default();
    while let Some(element) = document.next()? {
        value.take(&element)?;
    }
    Ok(value)
}

/// Number in an element.
fn number<T: std::str::FromStr>(element: &Element<'_>) -> Result<T, String> {
    let Element { name, text, .. } = element;
    text.trim().parse().map_err(|_| format!("<{name}> is not a number: {text:?}"))
}

/// Text of an element without the quotes around it.
fn unquoted(text: &str) -> String {
    text.trim().trim_matches('"').to_owned()
}
