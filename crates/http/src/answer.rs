//! The answer to a request, with its times.

use std::net::SocketAddr;

use rustix::io::Errno;

/// Times of one attempt, in ns since its start. A step that did not happen has no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// The host's name was looked up.
    pub lookup_ns: Option<u64>,
    /// The connection was made, in this attempt.
    pub connect_ns: Option<u64>,
    /// The TLS handshake was done, in this attempt.
    pub tls_ns: Option<u64>,
    /// The connection was ready for the request; 0 if it was kept from an earlier one.
    pub ready_ns: u64,
    /// The last byte of the head was passed to the kernel.
    pub head_sent_ns: Option<u64>,
    /// The last byte of the body was passed to the kernel.
    pub body_sent_ns: Option<u64>,
    /// The first byte of the answer arrived.
    pub first_byte_ns: Option<u64>,
    /// The answer's head was complete.
    pub head_ns: Option<u64>,
    /// The first byte of the answer's body arrived.
    pub first_body_ns: Option<u64>,
    /// The answer was complete, or the attempt failed.
    pub end_ns: u64,
}

/// Kind of a failure between client and server, below the level of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// The host's name has no address.
    Lookup,
    /// No connection was made, or not within the time limit.
    Connect,
    /// The TLS handshake failed, or the certificate is not trusted.
    Tls,
    /// No progress within the time limit, after the connect.
    Timeout,
    /// The peer reset or closed the connection before the answer was complete.
    Reset,
    /// The answer's body ended before the announced length.
    ShortBody,
    /// The answer violates HTTP.
    Malformed,
}

/// A failure of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind.
    pub kind: FaultKind,
    /// The kernel's error number, if one exists.
    pub errno: Option<i32>,
    /// Text for messages: the rule and the value.
    pub message: String,
}

impl Fault {
    /// A fault without an error of the kernel.
    pub fn new(kind: FaultKind, message: String) -> Fault {
        Fault { kind, errno: None, message }
    }

    /// A fault with an error of the kernel. `action`: the verb that failed, and its object.
    pub fn kernel(kind: FaultKind, action: &str, errno: Errno) -> Fault {
        let reason = std::io::Error::from(errno);
        let message = format!("{action}: {reason}");
        Fault { kind, errno: Some(errno.raw_os_error()), message }
    }
}

/// Answer of a slot. Buffers keep their capacity between answers.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Status of the answer; 0 without an answer.
    pub status: u16,
    /// Lines of the head after the status line, as they arrived.
    pub head: Vec<u8>,
    /// Body, if it was collected.
    pub body: Vec<u8>,
    /// Bytes of the body that arrived, after the transfer coding was removed.
    pub body_bytes: u64,
    /// Bytes that were sent, heads included, before encryption.
    pub sent_bytes: u64,
    /// Bytes that were received, heads included, after decryption.
    pub received_bytes: u64,
    /// Times.
    pub moments: Moments,
    /// Address of the server.
    pub peer: Option<SocketAddr>,
    /// Requests on this connection before this one.
    pub earlier_requests: u64,
    /// Kept connections that turned out to be closed, before this attempt was sent on a new one.
    pub reconnects: u32,
    /// Failure below the level of answers.
    pub fault: Option<Fault>,
}

impl Answer {
    /// Empties the answer and keeps its buffers.
    pub fn clear(&mut self) {
        let mut head = std::mem::take(&mut self.head);
        let mut body = std::mem::take(&mut self.body);
        head.clear();
        body.clear();
        *self = Answer { head, body, ..Answer::default() };
    }

    /// Value of a header, without blanks around it.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.split(|byte| *byte == b'\n');
        lines.find_map(|line| {
            let (key, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}
