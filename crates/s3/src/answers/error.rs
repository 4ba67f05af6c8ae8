//! Errors that servers answer.

use std::fmt;
use std::time::Duration;

use candor_http::Answer;

use super::Collect;
use crate::dates;
use crate::xml::{Document, Element};

mod remedies;
#[cfg(test)]
mod tests;

/// Longest text of a body that is no document of S3, in a message.
const MAX_TEXT: usize = 200;

/// Class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The server limits the rate: 429, 509, `SlowDown`, or 503 with `Retry-After`.
    Throttled,
    /// The server failed: 5xx.
    Server,
    /// Object, bucket, version or upload does not exist: 404.
    Missing,
    /// Login or rights are not sufficient: 401, 403.
    Denied,
    /// The clocks of client and server differ too much.
    Clock,
    /// The bucket is in another region or at another endpoint: 3xx.
    Redirected,
    /// A condition of the request is false: 412, 304.
    Precondition,
    /// The server refuses the request: other 4xx.
    Client,
    /// The status is 2xx, and the body is an error.
    InsideSuccess,
    /// The body is not the document of the operation.
    Malformed,
}

/// An error of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// Class.
    pub class: Class,
    /// Status.
    pub status: u16,
    /// Code of S3, such as `NoSuchKey`; empty if the body has none.
    pub code: String,
    /// Message of the server.
    pub message: String,
    /// Bucket or key as the server names it.
    pub resource: String,
    /// Id of the request in the server's logs.
    pub request_id: String,
    /// Region of the bucket.
    pub region: Option<String>,
    /// Wait time that the server requests before the next attempt.
    pub retry_after: Option<Duration>,
}

impl AnswerError {
    /// The error of an answer.
    pub fn of(answer: &Answer) -> AnswerError {
        let Body { code, mut message, resource, mut request_id, mut region } =
            Body::read(&answer.body).unwrap_or_else(|| Body::of_text(&answer.body));
        if request_id.is_empty() {
            request_id = answer.header("x-amz-request-id").unwrap_or_default().to_owned();
        }
        if message.is_empty() {
            message = status_text(answer.status).to_owned();
        }
        if let Some(other) = answer.header("x-amz-bucket-region") {
            region = Some(other.to_owned());
        }
        let (status, retry_after) = (answer.status, retry_after(answer));
        let class = class(status, &code, retry_after.is_some());
        AnswerError { class, status, code, message, resource, request_id, region, retry_after }
    }

    /// The error in the body of an answer with status 200.
    pub(super) fn inside_success(answer: &Answer) -> AnswerError {
        AnswerError { class: Class::InsideSuccess, ..AnswerError::of(answer) }
    }

    /// A body that is not the document `root`.
    pub(super) fn malformed(answer: &Answer, root: &str, reason: &str) -> AnswerError {
        AnswerError {
            class: Class::Malformed,
            status: answer.status,
            code: String::new(),
            message: format!("the body is no {root}: {reason}"),
            resource: String::new(),
            request_id: answer.header("x-amz-request-id").unwrap_or_default().to_owned(),
            region: None,
            retry_after: None,
        }
    }

    /// True if the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        let by_code = matches!(self.code.as_str(), "SlowDown" | "RequestTimeout" | "InternalError");
        by_code || matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
    }

    /// Remedy for a common error, as a sentence.
    pub fn remedy(&self) -> Option<String> {
        remedies::of(self)
    }
}

impl fmt::Display for AnswerError {
    /// Status, code, message and request id in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AnswerError { status, code, message, resource, request_id, .. } = self;
        write!(f, "HTTP {status}")?;
        if !code.is_empty() {
            write!(f, " {code}")?;
        }
        write!(f, ": {}", message.trim_end_matches('.'))?;
        if !resource.is_empty() {
            write!(f, " ({resource})")?;
        }
        if !request_id.is_empty() {
            write!(f, ", request {request_id}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AnswerError {}

fn class(status: u16, code: &str, has_wait: bool) -> Class {
    match (status, code) {
        (200..=299, _) => Class::InsideSuccess,
        (429 | 509, _) | (_, "SlowDown" | "TooManyRequests" | "RequestLimitExceeded") => {
            Class::Throttled
        }
        (503, _) if has_wait => Class::Throttled,
        (_, "RequestTimeTooSkewed") => Class::Clock,
        (304 | 412, _) => Class::Precondition,
        (300..=399, _) => Class::Redirected,
        (404, _) => Class::Missing,
        (401 | 403, _) => Class::Denied,
        (500.., _) => Class::Server,
        _ => Class::Client,
    }
}

/// Wait time in `Retry-After`: seconds, or a date, which is compared with `Date` of the answer.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = answer.header("retry-after")?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = dates::parse_http(text)?;
    let now = server_time(answer)?;
    Some(Duration::from_secs(until.saturating_sub(now)))
}

/// Time of the server when it answered, in seconds since 1970.
pub fn server_time(answer: &Answer) -> Option<u64> {
    dates::parse_http(answer.header("date")?)
}

/// Content of an `Error` document.
#[derive(Default)]
struct Body {
    code: String,
    message: String,
    resource: String,
    request_id: String,
    region: Option<String>,
}

impl Collect for Body {
    const ROOT: &'static str = "Error";

    fn take(&mut self, element: &Element<'_>) -> Result<(), String> {
        let text = element.text.trim();
        match element.name {
            "Code" => self.code = text.to_owned(),
            "Message" => self.message = text.to_owned(),
            "Resource" | "Key" | "BucketName" if self.resource.is_empty() => {
                self.resource = text.to_owned();
            }
            "RequestId" => self.request_id = text.to_owned(),
            "Region" => self.region = Some(text.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

impl Body {
    /// The document, up to its first defect; none if the body is another document.
    fn read(bytes: &[u8]) -> Option<Body> {
        let mut document = Document::new(bytes).ok()?;
        if document.root() != Body::ROOT {
            return None;
        }
        let mut body = Body::default();
        while let Ok(Some(element)) = document.next() {
            body.take(&element).ok()?;
        }
        Some(body)
    }

    /// The first line of a text. Pages of HTML give no message.
    fn of_text(bytes: &[u8]) -> Body {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT)]);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.filter(|line| !line.starts_with('<')).unwrap_or_default();
        let clean = line.chars().filter(|c| !c.is_control());
        Body { message: clean.collect(), ..Body::default() }
    }
}

/// Message for a status without a message, as in answers to HEAD.
fn status_text(status: u16) -> &'static str {
    match status {
        301 | 302 | 307 | 308 => "redirected",
        304 => "not modified",
        400 => "bad request",
        401 => "login required",
        403 => "forbidden",
        404 => "not found",
        405 => "method not allowed",
        408 => "request timeout",
        409 => "conflict",
        412 => "precondition failed",
        416 => "range not satisfiable",
        429 => "too many requests",
        500 => "internal error",
        501 => "not implemented",
        502 => "bad gateway",
        503 => "service unavailable",
        504 => "gateway timeout",
        _ => "no message",
    }
}
