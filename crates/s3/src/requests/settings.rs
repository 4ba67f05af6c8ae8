//! Tags, access control lists, versioning and locks.

use candor_http::{Method, Request};

use super::object::Object;
use super::{checked_document, flag};
use crate::headers::{Headers, LockMode, Retention, Tag};
use crate::site::Place;
use crate::xml;

/// A resource with tags and an access control list.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A bucket.
    Bucket(&'a Place),
    /// An object.
    Object(Object<'a>),
}

impl Subject<'_> {
    fn begin(&self, request: &mut Request, method: Method, setting: &str) {
        request.method = method;
        match self {
            Subject::Bucket(place) => place.path(&mut request.target),
            Subject::Object(Object { place, key, .. }) => place.key(&mut request.target, key),
        }
        flag(&mut request.target, setting);
        if let Subject::Object(object) = self {
            object.version(request);
        }
    }
}

/// Reads tags.
pub fn get_tags(request: &mut Request, subject: &Subject) {
    subject.begin(request, Method::Get, "tagging");
}

/// Replaces all tags.
pub fn put_tags(request: &mut Request, subject: &Subject, tags: &[Tag]) {
    subject.begin(request, Method::Put, "tagging");
    let own = &mut request.own;
    xml::root(own, "Tagging");
    xml::open(own, "TagSet");
    for Tag { name, value } in tags {
        xml::open(own, "Tag");
        xml::leaf(own, "Key", name);
        xml::leaf(own, "Value", value);
        xml::close(own, "Tag");
    }
    xml::close(own, "TagSet");
    xml::close(own, "Tagging");
    checked_document(request, None);
}

/// Removes all tags.
pub fn delete_tags(request: &mut Request, subject: &Subject) {
    subject.begin(request, Method::Delete, "tagging");
}

/// Reads an access control list.
pub fn get_acl(request: &mut Request, subject: &Subject) {
    subject.begin(request, Method::Get, "acl");
}

/// Replaces an access control list by [`Headers::acl`] or [`Headers::grant`].
pub fn put_acl(request: &mut Request, subject: &Subject, acl: &Headers) {
    subject.begin(request, Method::Put, "acl");
    request.headers.push_str(acl.lines());
}

/// State of a bucket's versioning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versioning {
    /// Versions were never kept.
    #[default]
    Never,
    /// Versions are kept.
    Enabled,
    /// Versions were kept in the past.
    Suspended,
}

/// Reads the state of versioning.
pub fn get_versioning(request: &mut Request, bucket: &Place) {
    Subject::Bucket(bucket).begin(request, Method::Get, "versioning");
}

/// Enables versioning, or suspends it: a bucket cannot return to [`Versioning::Never`].
pub fn put_versioning(request: &mut Request, bucket: &Place, state: Versioning) {
    Subject::Bucket(bucket).begin(request, Method::Put, "versioning");
    let status = match state {
        Versioning::Enabled => "Enabled",
        Versioning::Never | Versioning::Suspended => "Suspended",
    };
    let own = &mut request.own;
    xml::root(own, "VersioningConfiguration");
    xml::leaf(own, "Status", status);
    xml::close(own, "VersioningConfiguration");
    checked_document(request, None);
}

/// Reads the default lock of new objects.
pub fn get_lock(request: &mut Request, bucket: &Place) {
    Subject::Bucket(bucket).begin(request, Method::Get, "object-lock");
}

/// Sets the default lock of new objects: days after their creation.
pub fn put_lock(request: &mut Request, bucket: &Place, mode: LockMode, days: u32) {
    Subject::Bucket(bucket).begin(request, Method::Put, "object-lock");
    let own = &mut request.own;
    xml::root(own, "ObjectLockConfiguration");
    xml::leaf(own, "ObjectLockEnabled", "Enabled");
    xml::open(own, "Rule");
    xml::open(own, "DefaultRetention");
    xml::leaf(own, "Days", &days.to_string());
    xml::leaf(own, "Mode", mode.name());
    xml::close(own, "DefaultRetention");
    xml::close(own, "Rule");
    xml::close(own, "ObjectLockConfiguration");
    checked_document(request, None);
}

/// Protects an object until a time.
pub fn put_retention(request: &mut Request, object: &Object, retention: &Retention) {
    Subject::Object(*object).begin(request, Method::Put, "retention");
    let own = &mut request.own;
    xml::root(own, "Retention");
    xml::leaf(own, "Mode", retention.mode.name());
    xml::leaf(own, "RetainUntilDate", &retention.until);
    xml::close(own, "Retention");
    checked_document(request, None);
}
