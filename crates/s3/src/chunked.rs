//! The aws-chunked coding of bodies: heads of chunks around ranges of the slot's buffer.
//!
//! ```text
//! HEXSIZE[;chunk-signature=64 digits]CRLF data CRLF … 0[;chunk-signature=…]CRLF
//! [x-amz-checksum-…:base64CRLF [x-amz-trailer-signature:64 digitsCRLF]] CRLF
//! ```

use std::io::Write;

use candor_http::{Piece, Request};

use crate::checksum::Sum;
use crate::sign::Signer;

/// Smallest chunk, except the last one, that S3 accepts.
pub const MIN_CHUNK: usize = 8 << 10;

/// Adds the chunks of the slot's `data` to a request. With a signer, the request is the last one
/// that the signer signed, and each chunk gets a signature.
///
/// # Panics
/// Panics if `chunk` is 0.
pub fn frame(
    request: &mut Request,
    data: &[u8],
    chunk: usize,
    mut signer: Option<&mut Signer>,
    trailer: Option<&Sum>,
) {
    let mut start = 0;
    for part in data.chunks(chunk) {
        head(request, part, signer.as_deref_mut());
        request.pieces.push(Piece::Slot(start..start + part.len()));
        start += part.len();
        own(request, b"\r\n");
    }
    head(request, &[], signer.as_deref_mut());
    if let Some(sum) = trailer {
        let start = request.own.len();
        own(request, sum.algorithm.header().as_bytes());
        own(request, b":");
        own(request, sum.text().as_str().as_bytes());
        let end = request.own.len();
        own(request, b"\r\n");
        if let Some(signer) = signer {
            let signature = signer.trailer(&request.own[start..end]);
            own(request, b"x-amz-trailer-signature:");
            own(request, signature.as_bytes());
            own(request, b"\r\n");
        }
    }
    own(request, b"\r\n");
}

/// Adds the head of a chunk.
fn head(request: &mut Request, data: &[u8], signer: Option<&mut Signer>) {
    let start = request.own.len();
    write!(request.own, "{:x}", data.len()).expect("a vector takes all bytes");
    let end = request.own.len();
    add_own(request, start, end);
    if let Some(signer) = signer {
        own(request, b";chunk-signature=");
        own(request, signer.chunk(data).as_bytes());
    }
    own(request, b"\r\n");
}

/// Adds bytes that the request owns.
fn own(request: &mut Request, bytes: &[u8]) {
    let start = request.own.len();
    request.own.extend_from_slice(bytes);
    add_own(request, start, start + bytes.len());
}

/// Adds a range of `own`, as part of the last piece if the range follows it.
fn add_own(request: &mut Request, start: usize, end: usize) {
    match request.pieces.last_mut() {
        Some(Piece::Own(last)) if last.end == start => last.end = end,
        _ => request.pieces.push(Piece::Own(start..end)),
    }
}
