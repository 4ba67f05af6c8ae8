//! Removal of many objects by one request.

use candor_http::{Method, Request};

use super::{checked_document, flag};
use crate::checksum::Algorithm;
use crate::site::Place;
use crate::xml;

/// An object to remove.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// Key.
    pub key: &'a str,
    /// Version; the latest version if none.
    pub version: Option<&'a str>,
}

/// Removes up to 1000 objects. The answer contains failed keys only. The body's checksum is MD5, or
/// the algorithm.
pub fn delete_objects<'a>(
    request: &mut Request,
    bucket: &Place,
    keys: impl IntoIterator<Item = Key<'a>>,
    checksum: Option<Algorithm>,
) {
    request.method = Method::Post;
    bucket.path(&mut request.target);
    flag(&mut request.target, "delete");
    let own = &mut request.own;
    xml::root(own, "Delete");
    for Key { key, version } in keys {
        xml::open(own, "Object");
        xml::leaf(own, "Key", key);
        if let Some(version) = version {
            xml::leaf(own, "VersionId", version);
        }
        xml::close(own, "Object");
    }
    xml::leaf(own, "Quiet", "true");
    xml::close(own, "Delete");
    checked_document(request, checksum);
}
