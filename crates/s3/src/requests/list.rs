//! Lists of a bucket's content.

use candor_http::{Method, Request};

use super::{number_unless_zero, parameter};
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
    text(target, "continuation-token", query.token);
    text(target, "delimiter", query.delimiter);
    parameter(target, "encoding-type", "url");
    parameter(target, "list-type", "2");
    number_unless_zero(target, "max-keys", query.max_keys);
    text(target, "prefix", query.prefix);
    text(target, "start-after", query.start_after);
}

/// Adds a parameter unless it is empty.
fn text(target: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        parameter(target, name, value);
    }
}
