//! Answers about buckets, and about the removal of many objects.

use candor_http::Answer;

use super::{Answered, Collect, check, read};
use crate::xml::Element;

/// Result of the creation of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The bucket is new.
    New,
    /// The bucket existed, and the user owns it.
    Owned,
    /// The bucket existed. Some servers do not state the owner: a list shows the user's access.
    Existing,
}

/// Reads the answer to [`crate::requests::create_bucket`]. An existing bucket is no error.
///
/// # Errors
/// Another error of the server.
pub fn created(answer: &Answer) -> Answered<Created> {
    let Err(error) = check(answer) else { return Ok(Created::New) };
    match error.code.as_str() {
        "BucketAlreadyOwnedByYou" => Ok(Created::Owned),
        "BucketAlreadyExists" => Ok(Created::Existing),
        _ => Err(error),
    }
}

/// Reads the names of the user's buckets.
///
/// # Errors
/// An error of the server; another body.
pub fn list_buckets(answer: &Answer) -> Answered<Vec<String>> {
    read::<Buckets>(answer).map(|Buckets { names }| names)
}

#[derive(Default)]
struct Buckets {
    names: Vec<String>,
}

impl Collect for Buckets {
    const ROOT: &'static str = "ListAllMyBucketsResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        if (element.parent, element.name) == ("Bucket", "Name") {
            self.names.push(element.text.to_owned());
        }
        Ok(())
    }
}

/// An object that was not removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyError {
    /// Key.
    pub key: String,
    /// Version, if the request named one.
    pub version: String,
    /// Code of S3, such as `AccessDenied`.
    pub code: String,
    /// Message of the server.
    pub message: String,
}

/// Reads the failed keys of [`crate::requests::delete_objects`]; all other keys were removed.
///
/// # Errors
/// An error of the server for the whole request; another body.
pub fn failed_keys(answer: &Answer) -> Answered<Vec<KeyError>> {
    read::<Removal>(answer).map(|Removal { failed, .. }| failed)
}

#[derive(Default)]
struct Removal {
    failed: Vec<KeyError>,
    current: KeyError,
}

impl Collect for Removal {
    const ROOT: &'static str = "DeleteResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let Removal { failed, current } = self;
        match (element.parent, element.name) {
            ("Error", "Key") => current.key.push_str(element.text),
            ("Error", "VersionId") => current.version.push_str(element.text),
            ("Error", "Code") => current.code.push_str(element.text.trim()),
            ("Error", "Message") => current.message.push_str(element.text),
            (Self::ROOT, "Error") => failed.push(std::mem::take(current)),
            _ => {}
        }
        Ok(())
    }
}
