//! Answers to multipart uploads and copies.

use candor_http::Answer;

use super::{AnswerError, Answered, Collect, number, read, unquoted};
use crate::xml::Element;

/// Reads the id of a new upload.
///
/// # Errors
/// An error of the server; a body without an id.
pub fn upload_id(answer: &Answer) -> Answered<String> {
    let NewUpload { id } = read(answer)?;
    if id.is_empty() {
        let error = AnswerError::malformed(answer, NewUpload::ROOT, "<UploadId> is missing");
        return Err(Box::new(error));
    }
    Ok(id)
}

#[derive(Default)]
struct NewUpload {
    id: String,
}

impl Collect for NewUpload {
    const ROOT: &'static str = "InitiateMultipartUploadResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        if element.name == "UploadId" {
            self.id = element.text.to_owned();
        }
        Ok(())
    }
}

/// Reads the ETag, without quotes, of an object whose upload was completed.
///
/// # Errors
/// An error of the server, with any status; another body.
pub fn completed(answer: &Answer) -> Answered<String> {
    read::<Completed>(answer).map(|Completed { etag }| etag)
}

#[derive(Default)]
struct Completed {
    etag: String,
}

impl Collect for Completed {
    const ROOT: &'static str = "CompleteMultipartUploadResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        if element.name == "ETag" {
            self.etag = unquoted(element.text);
        }
        Ok(())
    }
}

/// Reads the ETag, without quotes, of a copied object.
///
/// # Errors
/// An error of the server, with any status; another body.
pub fn copied(answer: &Answer) -> Answered<String> {
    read::<Copied>(answer).map(|Copied { etag }| etag)
}

#[derive(Default)]
struct Copied {
    etag: String,
}

impl Collect for Copied {
    const ROOT: &'static str = "CopyObjectResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        if element.name == "ETag" {
            self.etag = unquoted(element.text);
        }
        Ok(())
    }
}

/// A part in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPart {
    /// Number.
    pub number: u32,
    /// ETag without quotes.
    pub etag: String,
    /// Bytes.
    pub size: u64,
}

/// A page of a list of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartsPage {
    /// Parts.
    pub parts: Vec<ListedPart>,
    /// More pages follow: after the number of the last part.
    pub is_truncated: bool,
}

/// Reads the answer to [`crate::requests::list_parts`].
///
/// # Errors
/// An error of the server; a body that is no such page.
pub fn list_parts(answer: &Answer) -> Answered<PartsPage> {
    read::<PartsReader>(answer).map(|PartsReader { page, .. }| page)
}

#[derive(Default)]
struct PartsReader {
    page: PartsPage,
    current: ListedPart,
}

impl Collect for PartsReader {
    const ROOT: &'static str = "ListPartsResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let PartsReader { page, current } = self;
        match (element.parent, element.name) {
            ("Part", "PartNumber") => current.number = number(element)?,
            ("Part", "ETag") => current.etag = unquoted(element.text),
            ("Part", "Size") => current.size = number(element)?,
            (Self::ROOT, "Part") => page.parts.push(std::mem::take(current)),
            (Self::ROOT, "IsTruncated") => page.is_truncated = element.text.trim() == "true",
            _ => {}
        }
        Ok(())
    }
}
