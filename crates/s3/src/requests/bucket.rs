//! Requests for buckets.

use candor_http::{Method, Request};

use super::document;
use crate::headers::Headers;
use crate::site::{Place, Site};
use crate::xml;

/// Region whose name requests must not contain.
const FIRST_REGION: &str = "us-east-1";

/// Creates a bucket in the site's region. `extra` may have an ACL.
pub fn create_bucket(request: &mut Request, bucket: &Place, site: &Site, extra: &Headers) {
    request.method = Method::Put;
    bucket.path(&mut request.target);
    request.headers.push_str(extra.lines());
    if site.region == FIRST_REGION || site.region.is_empty() {
        return;
    }
    let own = &mut request.own;
    xml::root(own, "CreateBucketConfiguration");
    xml::leaf(own, "LocationConstraint", &site.region);
    xml::close(own, "CreateBucketConfiguration");
    document(request);
}

/// Reads the headers of a bucket: it exists, and the user may list it.
pub fn head_bucket(request: &mut Request, bucket: &Place) {
    request.method = Method::Head;
    bucket.path(&mut request.target);
}

/// Deletes an empty bucket.
pub fn delete_bucket(request: &mut Request, bucket: &Place) {
    request.method = Method::Delete;
    bucket.path(&mut request.target);
}

/// Lists the user's buckets; `root` is [`Site::root`].
pub fn list_buckets(request: &mut Request, root: &Place) {
    request.method = Method::Get;
    root.path(&mut request.target);
}
