//! One request of a slot. All buffers keep their capacity between requests.

use std::fmt;
use std::ops::Range;

/// Method of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Content of a resource.
    #[default]
    Get,
    /// Headers of a resource.
    Head,
    /// New content of a resource.
    Put,
    /// An action with a body.
    Post,
    /// Removal of a resource.
    Delete,
}

impl Method {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A piece of a body, in the order of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of [`Request::own`].
    Own(Range<usize>),
    /// Bytes of the slot's buffer, which the caller supplies in each turn.
    Slot(Range<usize>),
}

/// Destination of an answer's body if the answer has a status below 300. Bodies of other answers
/// are collected, up to a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Into {
    /// The answer's own buffer, for documents that are parsed.
    #[default]
    Answer,
    /// The slot's buffer, from its start.
    Slot,
    /// Nothing: bytes are counted and dropped.
    Nothing,
}

/// A request. `Host` and `Content-Length` are headers that the sender of the request writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path and query in their encoded form.
    pub target: String,
    /// Header lines, each with its end: `name: value\r\n`.
    pub headers: String,
    /// Bytes of a body that the request itself owns.
    pub own: Vec<u8>,
    /// Body; empty for a request without one.
    pub pieces: Vec<Piece>,
    /// Destination of the answer's body.
    pub into: Into,
}

impl Request {
    /// Empties the request and keeps its buffers.
    pub fn clear(&mut self) {
        self.method = Method::Get;
        self.target.clear();
        self.headers.clear();
        self.own.clear();
        self.pieces.clear();
        self.into = Into::Answer;
    }

    /// Adds a header.
    pub fn header(&mut self, name: &str, value: &str) {
        for text in [name, ": ", value, "\r\n"] {
            self.headers.push_str(text);
        }
    }

    /// Bytes of the body on the wire.
    pub fn length(&self) -> usize {
        let bytes = self.pieces.iter().map(|piece| match piece {
            Piece::Own(range) | Piece::Slot(range) => range.len(),
        });
        bytes.sum()
    }
}
