//! Faults between a client and a server.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};

use super::wire::{Body, Head};

/// Treatment of one request by the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None: the server's answer reaches the client byte for byte.
    Pass,

    /// 503 SlowDown in place of the server.
    SlowDown {
        /// Header `Retry-After`, in seconds.
        retry_after_s: Option<u32>,
    },
    /// 429 in place of the server.
    TooManyRequests,
    /// 500 in place of the server.
    InternalError,
    /// 404 NoSuchKey in place of the server.
    NotFound,
    /// 301 PermanentRedirect in place of the server.
    Moved {
        /// Header `x-amz-bucket-region`.
        region: &'static str,
    },
    /// 200 with an error document as body, in place of the server, as for CompleteMultipartUpload
    /// and CopyObject.
    ErrorInside200,

    /// A reset of the connection in place of an answer; the server does not get the request.
    ResetBeforeAnswer,
    /// The head of the answer and half of its body, then a reset.
    ResetInBody,
    /// The answer without its last bytes, then the end of the connection.
    ShortBody {
        /// Missing bytes.
        missing: usize,
    },
    /// The end of the connection after the answer, which does not announce it.
    CloseAfter,
    /// The end of the connection after the answer, which announces it.
    AnnounceClose,

    /// Wrong `x-amz-checksum-…` headers of the answer.
    WrongChecksum,
    /// A wrong byte in the middle of the answer's body.
    FlippedByte,
    /// The header `Date` differs from the clock.
    DateSkew {
        /// Seconds that are added to the clock.
        seconds: i64,
    },
    /// Headers of a cache that answered: `Via`, `Age`, `X-Cache`.
    Cached,

    /// The answer waits before its first byte.
    LateFirstByte {
        /// Time that the answer waits.
        delay: Duration,
    },
    /// Head and body of the answer in two writes, with Nagle's algorithm.
    TwoWrites,
    /// Interim answers with status 100 and no reason, before the request's body is read.
    Continues {
        /// Number of interim answers.
        count: usize,
    },
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Status line and headers.
    pub head: Head,
    /// Body.
    pub body: Body,
}

impl Answer {
    /// An error document of S3.
    fn error(status: &str, code: &str) -> Answer {
        let document = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <Error><Code>{code}</Code><Message>injected</Message>\
             <RequestId>FAULT</RequestId></Error>"
        );
        let head = Head { start: format!("HTTP/1.1 {status}"), headers: Vec::new() };
        let mut answer = Answer { head, body: Body::plain(document.into_bytes()) };
        answer.head.set("Content-Type", "application/xml");
        answer.head.set("Content-Length", &answer.body.content.len().to_string());
        answer.head.set("x-amz-request-id", "FAULT");
        answer
    }

    /// Replaces the transfer coding by a length.
    fn remove_coding(&mut self) {
        if self.head.header("transfer-encoding").is_some() {
            self.head.remove("transfer-encoding");
            self.head.set("Content-Length", &self.body.content.len().to_string());
            self.body.wire.clone_from(&self.body.content);
        }
    }
}

impl Fault {
    /// The answer in place of the server's.
    pub(super) fn own_answer(&self) -> Option<Answer> {
        let mut answer = match self {
            Fault::SlowDown { .. } => Answer::error("503 Slow Down", "SlowDown"),
            Fault::TooManyRequests => Answer::error("429 Too Many Requests", "TooManyRequests"),
            Fault::InternalError => Answer::error("500 Internal Server Error", "InternalError"),
            Fault::NotFound => Answer::error("404 Not Found", "NoSuchKey"),
            Fault::Moved { .. } => Answer::error("301 Moved Permanently", "PermanentRedirect"),
            Fault::ErrorInside200 => Answer::error("200 OK", "InternalError"),
            // Nothing of it is sent.
            Fault::ResetBeforeAnswer => Answer::default(),
            _ => return None,
        };
        match self {
            Fault::SlowDown { retry_after_s: Some(seconds) } => {
                answer.head.set("Retry-After", &seconds.to_string());
            }
            Fault::Moved { region } => answer.head.set("x-amz-bucket-region", region),
            _ => {}
        }
        Some(answer)
    }

    /// Changes the server's answer.
    pub(super) fn change(&self, answer: &mut Answer) {
        match self {
            Fault::Pass => return,
            Fault::AnnounceClose => answer.head.set("Connection", "close"),
            Fault::WrongChecksum => set_wrong_checksum(&mut answer.head),
            Fault::FlippedByte => {
                let middle = answer.body.content.len() / 2;
                answer.remove_coding();
                if let Some(byte) = answer.body.wire.get_mut(middle) {
                    *byte = !*byte;
                }
            }
            Fault::DateSkew { seconds } => {
                let date = Timestamp::now() + SignedDuration::from_secs(*seconds);
                let text = DateTimePrinter::new().timestamp_to_rfc9110_string(&date);
                answer.head.set("Date", &text.expect("a date"));
            }
            Fault::Cached => {
                answer.head.set("Via", "1.1 cache");
                answer.head.set("Age", "120");
                answer.head.set("X-Cache", "HIT");
            }
            _ => {}
        }
        answer.remove_coding();
    }
}

/// Changes the first letter of each checksum; adds a checksum if there is none.
fn set_wrong_checksum(head: &mut Head) {
    let mut found = false;
    for header in &mut head.headers {
        let name = header.name.to_ascii_lowercase();
        if name.starts_with("x-amz-checksum-") && name != "x-amz-checksum-type" {
            let first = if header.value.starts_with('A') { "B" } else { "A" };
            header.value.replace_range(..1, first);
            found = true;
        }
    }
    if !found {
        head.set("x-amz-checksum-crc32c", "AAAAAA==");
    }
}
