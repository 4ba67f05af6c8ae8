//! Multipart uploads.

use std::fmt::Write;

use candor_http::{Method, Request};

use super::object::{ByteRange, Object, source};
use super::{document, flag, number, number_unless_zero, parameter};
use crate::checksum::{Algorithm, Sum};
use crate::headers::Headers;
use crate::xml;

/// Highest number of a part.
pub const MAX_PART: u32 = 10_000;

/// An open multipart upload.
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    /// The future object.
    pub object: Object<'a>,
    /// Id in the answer to [`create_upload`].
    pub id: &'a str,
}

impl Upload<'_> {
    fn begin(&self, request: &mut Request, method: Method, extra: &Headers) {
        self.object.begin(request, method, extra);
    }

    fn id(&self, request: &mut Request) {
        parameter(&mut request.target, "uploadId", self.id);
    }
}

/// Opens an upload. `extra` has the headers of the object.
pub fn create_upload(request: &mut Request, object: &Object, extra: &Headers) {
    object.begin(request, Method::Post, extra);
    flag(&mut request.target, "uploads");
}

/// Uploads a part, whose content [`crate::Login::upload`] adds. The first part has number 1.
pub fn put_part(request: &mut Request, upload: &Upload, part: u32, extra: &Headers) {
    upload.begin(request, Method::Put, extra);
    number(&mut request.target, "partNumber", part.into());
    upload.id(request);
}

/// Copies a range of an object into a part, on the server. `key` is in the bucket `bucket`.
pub fn copy_part(
    request: &mut Request,
    upload: &Upload,
    part: u32,
    bucket: &str,
    key: &str,
    range: Option<ByteRange>,
) {
    put_part(request, upload, part, &Headers::new());
    source(request, bucket, key);
    if let Some(range) = range.filter(|range| range.bytes > 0) {
        request.headers.push_str("x-amz-copy-source-range: ");
        range.write(&mut request.headers);
        request.headers.push_str("\r\n");
    }
}

/// A part that was uploaded.
#[derive(Clone, Copy, Debug)]
pub struct FinishedPart<'a> {
    /// Number.
    pub number: u32,
    /// `ETag` of the answer, with or without quotes.
    pub etag: &'a str,
    /// Checksum, if the upload was opened with an algorithm.
    pub sum: Option<Sum>,
}

/// Joins the parts, in ascending order, to the object. An answer with status 200 may be an error.
pub fn complete_upload<'a>(
    request: &mut Request,
    upload: &Upload,
    parts: impl IntoIterator<Item = FinishedPart<'a>>,
    extra: &Headers,
) {
    upload.begin(request, Method::Post, extra);
    upload.id(request);
    let own = &mut request.own;
    xml::root(own, "CompleteMultipartUpload");
    let mut text = String::new();
    for FinishedPart { number, etag, sum } in parts {
        xml::open(own, "Part");
        if let Some(sum) = sum {
            xml::leaf(own, element(sum.algorithm), sum.text().as_str());
        }
        text.clear();
        write!(text, "\"{}\"", etag.trim_matches('"')).expect("a string takes all text");
        xml::leaf(own, "ETag", &text);
        text.clear();
        write!(text, "{number}").expect("a string takes all text");
        xml::leaf(own, "PartNumber", &text);
        xml::close(own, "Part");
    }
    xml::close(own, "CompleteMultipartUpload");
    document(request);
}

/// Element of a part's checksum.
fn element(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Crc32 => "ChecksumCRC32",
        Algorithm::Crc32c => "ChecksumCRC32C",
        Algorithm::Crc64Nvme => "ChecksumCRC64NVME",
        Algorithm::Sha1 => "ChecksumSHA1",
        Algorithm::Sha256 => "ChecksumSHA256",
    }
}

/// Drops an upload and its parts.
pub fn abort_upload(request: &mut Request, upload: &Upload) {
    upload.begin(request, Method::Delete, &Headers::new());
    upload.id(request);
}

/// Lists the parts of an upload, `max` of them (the server's limit, 1000, if 0), after a number.
pub fn list_parts(request: &mut Request, upload: &Upload, after: u32, max: u32) {
    upload.begin(request, Method::Get, &Headers::new());
    number_unless_zero(&mut request.target, "max-parts", max);
    number_unless_zero(&mut request.target, "part-number-marker", after);
    upload.id(request);
}
