//! Pages of versions and of open uploads.

use candor_http::Answer;

use super::list::decode;
use super::{Answered, Collect, number, read, unquoted};
use crate::xml::Element;

/// A version in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key.
    pub key: String,
    /// Id; `null` for objects from the time before versioning.
    pub version: String,
    /// No later version exists.
    pub is_latest: bool,
    /// The version is a marker of a removal, without content.
    pub is_delete_marker: bool,
    /// Bytes of the content.
    pub size: u64,
    /// ETag without quotes.
    pub etag: String,
}

/// A page of a list of versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionsPage {
    /// Versions and delete markers, in the order of the answer.
    pub versions: Vec<ListedVersion>,
    /// Beginnings of keys up to the delimiter.
    pub prefixes: Vec<String>,
    /// More pages follow.
    pub is_truncated: bool,
    /// Key for [`crate::requests::VersionsQuery::after_key`].
    pub next_key: String,
    /// Version for [`crate::requests::VersionsQuery::after_version`].
    pub next_version: String,
}

/// Reads the answer to [`crate::requests::list_versions`].
///
/// # Errors
/// An error of the server; a body that is no such page.
pub fn list_versions(answer: &Answer) -> Answered<VersionsPage> {
    let VersionsReader { mut page, is_encoded, .. } = read::<VersionsReader>(answer)?;
    if is_encoded {
        let keys = page.versions.iter_mut().map(|listed| &mut listed.key);
        decode(keys.chain(&mut page.prefixes).chain([&mut page.next_key]));
    }
    Ok(page)
}

#[derive(Default)]
struct VersionsReader {
    page: VersionsPage,
    current: ListedVersion,
    is_encoded: bool,
}

impl Collect for VersionsReader {
    const ROOT: &'static str = "ListVersionsResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let VersionsReader { page, current, is_encoded } = self;
        let text = element.text;
        match (element.parent, element.name) {
            (Self::ROOT, "Version" | "DeleteMarker") => {
                current.is_delete_marker = element.name == "DeleteMarker";
                page.versions.push(std::mem::take(current));
            }
            ("Version" | "DeleteMarker", name) => match name {
                "Key" => current.key.push_str(text),
                "VersionId" => current.version.push_str(text),
                "IsLatest" => current.is_latest = text.trim() == "true",
                "Size" => current.size = number(element)?,
                "ETag" => current.etag = unquoted(text),
                _ => {}
            },
            ("CommonPrefixes", "Prefix") => page.prefixes.push(text.to_owned()),
            (Self::ROOT, "IsTruncated") => page.is_truncated = text.trim() == "true",
            (Self::ROOT, "NextKeyMarker") => page.next_key = text.to_owned(),
            (Self::ROOT, "NextVersionIdMarker") => page.next_version = text.to_owned(),
            (Self::ROOT, "EncodingType") => *is_encoded = text.trim() == "url",
            _ => {}
        }
        Ok(())
    }
}

/// An open upload in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenUpload {
    /// Key.
    pub key: String,
    /// Id.
    pub id: String,
}

/// A page of a list of open uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadsPage {
    /// Uploads.
    pub uploads: Vec<OpenUpload>,
    /// More pages follow.
    pub is_truncated: bool,
    /// Key for [`crate::requests::UploadsQuery::after_key`].
    pub next_key: String,
    /// Upload for [`crate::requests::UploadsQuery::after_upload`].
    pub next_upload: String,
}

/// Reads the answer to [`crate::requests::list_uploads`].
///
/// # Errors
/// An error of the server; a body that is no such page.
pub fn list_uploads(answer: &Answer) -> Answered<UploadsPage> {
    let UploadsReader { mut page, is_encoded, .. } = read::<UploadsReader>(answer)?;
    if is_encoded {
        let keys = page.uploads.iter_mut().map(|upload| &mut upload.key);
        decode(keys.chain([&mut page.next_key]));
    }
    Ok(page)
}

#[derive(Default)]
struct UploadsReader {
    page: UploadsPage,
    current: OpenUpload,
    is_encoded: bool,
}

impl Collect for UploadsReader {
    const ROOT: &'static str = "ListMultipartUploadsResult";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let UploadsReader { page, current, is_encoded } = self;
        let text = element.text;
        match (element.parent, element.name) {
            ("Upload", "Key") => current.key.push_str(text),
            ("Upload", "UploadId") => current.id.push_str(text),
            (Self::ROOT, "Upload") => page.uploads.push(std::mem::take(current)),
            (Self::ROOT, "IsTruncated") => page.is_truncated = text.trim() == "true",
            (Self::ROOT, "NextKeyMarker") => page.next_key = text.to_owned(),
            (Self::ROOT, "NextUploadIdMarker") => page.next_upload = text.to_owned(),
            (Self::ROOT, "EncodingType") => *is_encoded = text.trim() == "url",
            _ => {}
        }
        Ok(())
    }
}
