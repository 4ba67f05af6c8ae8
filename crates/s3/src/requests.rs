//! Operations to requests. Each function writes into a cleared request; [`crate::Login`] completes
//! it. Constant headers come from [`crate::Headers`].

mod list;
mod object;
#[cfg(test)]
mod tests;
mod upload;

use std::fmt::Write;

use candor_http::{Piece, Request};

use crate::encode;

pub use self::list::{ListQuery, list_objects};
pub use self::object::{ByteRange, Object, copy, delete, get, get_part, get_range, head, put};
pub use self::upload::{
    FinishedPart, MAX_PART, Upload, abort_upload, complete_upload, copy_part, create_upload,
    list_parts, put_part,
};

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
