//! Requests for one object. Put, get, head and delete fit S3, Swift and WebDAV.

use std::fmt::Write;

use candor_http::{Into, Method, Request};

use super::{number, parameter};
use crate::encode;
use crate::headers::Headers;
use crate::site::Place;

/// An object in requests.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// The bucket.
    pub place: &'a Place,
    /// Key within the bucket.
    pub key: &'a str,
    /// Id of a version; the latest version if none.
    pub version: Option<&'a str>,
}

impl Object<'_> {
    /// Begins a request for the object.
    pub(super) fn begin(&self, request: &mut Request, method: Method, extra: &Headers) {
        request.method = method;
        self.place.key(&mut request.target, self.key);
        request.headers.push_str(extra.lines());
    }

    pub(super) fn version(&self, request: &mut Request) {
        if let Some(version) = self.version {
            parameter(&mut request.target, "versionId", version);
        }
    }
}

/// Bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// Offset of the first byte.
    pub first: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl ByteRange {
    /// Writes `bytes=0-9`; an empty range at the start of the file has no such form.
    pub(super) fn write(self, to: &mut String) {
        let last = self.first.saturating_add(self.bytes - 1);
        write!(to, "bytes={}-{last}", self.first).expect("a string takes all text");
    }
}

/// Uploads content, which [`crate::Login::upload`] adds.
pub fn put(request: &mut Request, object: &Object, extra: &Headers) {
    object.begin(request, Method::Put, extra);
}

/// Reads an object into the slot's buffer.
pub fn get(request: &mut Request, object: &Object, extra: &Headers) {
    object.begin(request, Method::Get, extra);
    object.version(request);
    request.into = Into::Slot;
}

/// Reads a range. A range of 0 bytes is a read of the whole object, since an empty object refuses
/// ranges.
pub fn get_range(request: &mut Request, object: &Object, range: ByteRange, extra: &Headers) {
    get(request, object, extra);
    if range.bytes > 0 {
        request.headers.push_str("range: ");
        range.write(&mut request.headers);
        request.headers.push_str("\r\n");
    }
}

/// Reads one part of a multipart object; the first part has number 1.
pub fn get_part(request: &mut Request, object: &Object, part: u32, extra: &Headers) {
    get(request, object, extra);
    number(&mut request.target, "partNumber", part.into());
}

/// Reads the headers of an object. With a part, the answer has the size of that part and the number
/// of parts.
pub fn head(request: &mut Request, object: &Object, part: Option<u32>, extra: &Headers) {
    object.begin(request, Method::Head, extra);
    object.version(request);
    if let Some(part) = part {
        number(&mut request.target, "partNumber", part.into());
    }
}

/// Deletes an object, or one version of it.
pub fn delete(request: &mut Request, object: &Object, extra: &Headers) {
    object.begin(request, Method::Delete, extra);
    object.version(request);
}

/// Copies `key` of the bucket `bucket` to an object, on the server.
pub fn copy(request: &mut Request, to: &Object, bucket: &str, key: &str, extra: &Headers) {
    to.begin(request, Method::Put, extra);
    source(request, bucket, key);
}

/// Writes the source of a copy.
pub(super) fn source(request: &mut Request, bucket: &str, key: &str) {
    let headers = &mut request.headers;
    headers.push_str("x-amz-copy-source: /");
    encode::path(headers, bucket);
    headers.push('/');
    encode::path(headers, key);
    headers.push_str("\r\n");
}
