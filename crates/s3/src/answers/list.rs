//! Pages of lists.

use candor_http::Answer;

use super::{Answered, Collect, number, read, unquoted};
use crate::encode;
use crate::xml::Element;

/// An object in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Key.
    pub key: String,
    /// Bytes of the content.
    pub size: u64,
    /// ETag without quotes.
    pub etag: String,
}

/// A page of a list of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// Objects.
    pub objects: Vec<Listed>,
    /// Beginnings of keys up to the delimiter.
    pub prefixes: Vec<String>,
    /// More pages follow.
    pub is_truncated: bool,
    /// Token of the next page.
    pub next_token: Option<String>,
}

/// Reads the answer to [`crate::requests::list_objects`].
///
/// # Errors
/// An error of the server; a body that is no such page.
pub fn list_objects(answer: &Answer) -> Answered<ListPage> {
    let PageReader { mut page, is_encoded, .. } = read::<PageReader>(answer)?;
    if is_encoded {
        let keys = page.objects.iter_mut().map(|listed| &mut listed.key);
        decode(keys.chain(&mut page.prefixes));
    }
    Ok(page)
}

/// Replaces URL-encoded texts by their meaning.
pub(super) fn decode<'a>(texts: impl Iterator<Item = &'a mut String>) {
    for text in texts.filter(|text| text.contains(['%', '+'])) {
        *text = encode::decoded(text);
    }
}

#[derive(Default)]
struct PageReader {
    page: ListPage,
    current: Listed,
    is_encoded: bool,
}

impl Collect for PageReader {
    const ROOT: &'static str = "ListBucketResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let PageReader { page, current, is_encoded } = self;
        match (element.parent, element.name) {
            ("Contents", "Key") => current.key.push_str(element.text),
            ("Contents", "Size") => current.size = number(element)?,
            ("Contents", "ETag") => current.etag = unquoted(element.text),
            (_, "Contents") => page.objects.push(std::mem::take(current)),
            ("CommonPrefixes", "Prefix") => page.prefixes.push(element.text.to_owned()),
            (Self::ROOT, "IsTruncated") => page.is_truncated = element.text.trim() == "true",
            (Self::ROOT, "NextContinuationToken") => {
                page.next_token = Some(element.text.to_owned());
            }
            (Self::ROOT, "EncodingType") => *is_encoded = element.text.trim() == "url",
            _ => {}
        }
        Ok(())
    }
}
