//! Lists of a bucket's content.

use candor_http::{Method, Request};

use super::{flag, number_unless_zero, parameter, parameter_unless_empty};
use crate::site::Place;

/// Choice of keys, and the start of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListQuery<'a> {
    /// Beginning of the keys; empty for all.
    pub prefix: &'a str,
    /// End of common prefixes, usually `/`; empty for none.
    pub delimiter: &'a str,
    /// Key before the first one.
    pub start_after: &'a str,
    /// Token of the previous page.
    pub token: &'a str,
    /// Keys of a page; the server's limit, 1000, if 0.
    pub max_keys: u32,
}

/// Lists keys (`ListObjectsV2`). Keys in the answer are URL-encoded.
pub fn list_objects(request: &mut Request, bucket: &Place, query: &ListQuery) {
    request.method = Method::Get;
    let target = &mut request.target;
    bucket.path(target);
    parameter_unless_empty(target, "continuation-token", query.token);
    parameter_unless_empty(target, "delimiter", query.delimiter);
    parameter(target, "encoding-type", "url");
    parameter(target, "list-type", "2");
    number_unless_zero(target, "max-keys", query.max_keys);
    parameter_unless_empty(target, "prefix", query.prefix);
    parameter_unless_empty(target, "start-after", query.start_after);
}

/// Choice of versions, and the start of a page. Names of the last page's end are in its answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct VersionsQuery<'a> {
    /// Beginning of the keys; empty for all.
    pub prefix: &'a str,
    /// End of common prefixes, usually `/`; empty for none.
    pub delimiter: &'a str,
    /// Last key of the previous page.
    pub after_key: &'a str,
    /// Last version of the previous page.
    pub after_version: &'a str,
    /// Versions of a page; the server's limit, 1000, if 0.
    pub max_keys: u32,
}

/// Lists versions and delete markers (`ListObjectVersions`).
pub fn list_versions(request: &mut Request, bucket: &Place, query: &VersionsQuery) {
    request.method = Method::Get;
    let target = &mut request.target;
    bucket.path(target);
    parameter_unless_empty(target, "delimiter", query.delimiter);
    parameter(target, "encoding-type", "url");
    parameter_unless_empty(target, "key-marker", query.after_key);
    number_unless_zero(target, "max-keys", query.max_keys);
    parameter_unless_empty(target, "prefix", query.prefix);
    parameter_unless_empty(target, "version-id-marker", query.after_version);
    flag(target, "versions");
}

/// Choice of open uploads, and the start of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct UploadsQuery<'a> {
    /// Beginning of the keys; empty for all.
    pub prefix: &'a str,
    /// Last key of the previous page.
    pub after_key: &'a str,
    /// Last upload of the previous page.
    pub after_upload: &'a str,
    /// Uploads of a page; the server's limit, 1000, if 0.
    pub max_uploads: u32,
}

/// Lists open multipart uploads.
pub fn list_uploads(request: &mut Request, bucket: &Place, query: &UploadsQuery) {
    request.method = Method::Get;
    let target = &mut request.target;
    bucket.path(target);
    parameter(target, "encoding-type", "url");
    parameter_unless_empty(target, "key-marker", query.after_key);
    number_unless_zero(target, "max-uploads", query.max_uploads);
    parameter_unless_empty(target, "prefix", query.prefix);
    parameter_unless_empty(target, "upload-id-marker", query.after_upload);
    flag(target, "uploads");
}
