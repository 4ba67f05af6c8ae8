//! Buckets by themselves.

use std::collections::HashSet;

use super::entries::check_tree;
use super::{FILES_MAX, Found, PARTS_MAX};
use crate::bucket::{Addressing, Bucket, CredentialSource, Keys, Members, Protocol};
use crate::{Plan, PlanPath};

/// Longest key of S3.
const KEY_BYTES_MAX: usize = 1024;

pub(super) fn check(plan: &Plan, out: &mut Found) {
    let mut names = HashSet::new();
    if plan.buckets.len() > PARTS_MAX {
        let message = format!("{} buckets are more than {PARTS_MAX}", plan.buckets.len());
        out.error("parts-limit", PlanPath::root().key("bucket"), message, "use fewer buckets");
    }
    for (index, bucket) in plan.buckets.iter().enumerate() {
        let at = PlanPath::root().key("bucket").index(index);
        if bucket.name.is_empty() || !names.insert(bucket.name.as_str()) {
            let message = format!("the name `{}` is empty, or of another bucket too", bucket.name);
            out.error("bucket-name", at.key("name"), message, "give each bucket its own name");
        }
        if bucket.bucket.is_empty() && bucket.protocol != Protocol::Webdav {
            let message = format!("bucket {} has no name at the server", bucket.name);
            out.error("bucket-name", at.key("bucket"), message, "set bucket, such as \"data\"");
        }
        check_keys(bucket, &at, out);
        check_access(bucket, &at, out);
    }
}

fn check_keys(bucket: &Bucket, at: &PlanPath, out: &mut Found) {
    let at = at.key("keys");
    match &bucket.keys {
        Keys::Tree(tree) => check_tree(tree, &at.key("tree"), out),
        Keys::Members(members) => check_members(members, &at.key("members"), out),
        Keys::Existing(existing) if existing.first == Some(0) => {
            let message = "first is 0, so no object is listed";
            out.error("bucket-keys", at.key("existing").key("first"), message, "set 1 or more");
        }
        Keys::Existing(_) => {}
    }
}

fn check_members(members: &Members, at: &PlanPath, out: &mut Found) {
    let at = at.key("objects");
    if members.objects.is_empty() || members.objects.len() > FILES_MAX as usize {
        let count = members.objects.len();
        let message = format!("{count} objects are listed, not 1 to {FILES_MAX}");
        out.error("bucket-keys", at.clone(), message, "list objects, or use a tree");
    }
    let mut keys = HashSet::new();
    for (index, object) in members.objects.iter().enumerate() {
        let place = at.index(index);
        if object.name.is_empty() || object.name.len() > KEY_BYTES_MAX {
            let message = format!("a key has {} bytes, not 1 to 1024", object.name.len());
            out.error("bucket-keys", place.key("name"), message, "give another key");
        } else if !keys.insert(&object.name) {
            let message = format!("the key `{}` is listed twice", object.name);
            out.error("bucket-keys", place.key("name"), message, "list each object once");
        }
        if object.size.is_none() {
            let message = format!("the object `{}` has no size", object.name);
            out.error("bucket-keys", place.key("size"), message, "set size, such as \"1m\"");
        }
    }
}

fn check_access(bucket: &Bucket, at: &PlanPath, out: &mut Found) {
    if bucket.addressing == Addressing::VirtualHost && bucket.protocol != Protocol::S3 {
        let message = "only S3 has the bucket's name in the host's name";
        out.error("addressing", at.key("addressing"), message, "remove addressing");
    }
    if bucket.protocol != Protocol::S3 && bucket.endpoints.is_empty() {
        let message = format!("bucket {} has no server", bucket.name);
        out.error("endpoint", at.key("endpoints"), message, "set endpoints to the server's URL");
    }
    if let CredentialSource::Given(users) = &bucket.credentials
        && users.iter().any(String::is_empty)
    {
        let message = "an access key is empty";
        out.error("credentials", at.key("credentials"), message, "give each access key a name");
    }
}
