//! Operations to requests. Each function writes into a cleared request; [`crate::Login`] completes
//! it. Constant headers come from [`crate::Headers`].

mod batch;
mod bucket;
mod list;
mod object;
mod settings;
#[cfg(test)]
mod tests;
mod upload;

use std::fmt::Write;

use candor_http::{Piece, Request};

pub use self::batch::{Key, delete_objects};
pub use self::bucket::{create_bucket, delete_bucket, head_bucket, list_buckets};
pub use self::list::{
    ListQuery, UploadsQuery, VersionsQuery, list_objects, list_uploads, list_versions,
};
pub use self::object::{ByteRange, Object, copy, delete, get, get_part, get_range, head, put};
pub use self::settings::{
    Subject, Versioning, delete_tags, get_acl, get_lock, get_tags, get_versioning, put_acl,
    put_lock, put_retention, put_tags, put_versioning,
};
pub use self::upload::{
    FinishedPart, MAX_PART, Upload, abort_upload, complete_upload, copy_part, create_upload,
    list_parts, put_part,
};
use crate::checksum::{Algorithm, Md5Sum};
use crate::encode;

/// Adds a parameter to the query.
fn parameter(target: &mut String, name: &str, value: &str) {
    flag(target, name);
    target.push('=');
    encode::value(target, value);
}

/// Adds a parameter with a number to the query.
fn number(target: &mut String, name: &str, value: u64) {
    flag(target, name);
    write!(target, "={value}").expect("a string takes all text");
}

/// Adds a parameter unless it is empty.
fn parameter_unless_empty(target: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        parameter(target, name, value);
    }
}

/// Adds a parameter without a value to the query. The path is encoded: a `?` begins the query.
fn flag(target: &mut String, name: &str) {
    let separator = if target.contains('?') { '&' } else { '?' };
    target.push(separator);
    target.push_str(name);
}

/// Adds the size of a page, or another number, unless it is 0.
fn number_unless_zero(target: &mut String, name: &str, value: u32) {
    if value > 0 {
        number(target, name, value.into());
    }
}

/// Makes the bytes in `own` the body.
fn document(request: &mut Request) {
    request.pieces.push(Piece::Own(0..request.own.len()));
}

/// Makes the bytes in `own` the body, with a checksum: MD5, or the algorithm.
fn checked_document(request: &mut Request, algorithm: Option<Algorithm>) {
    match algorithm {
        None => {
            let sum = Md5Sum::of(&request.own);
            request.header("content-md5", sum.text().as_str());
        }
        Some(algorithm) => {
            let sum = algorithm.of(&request.own);
            request.header("x-amz-sdk-checksum-algorithm", algorithm.name());
            request.header(algorithm.header(), sum.text().as_str());
        }
    }
    document(request);
}
