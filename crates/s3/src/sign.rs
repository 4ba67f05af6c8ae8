//! Signature version 4 in headers. Time is an argument. After the first request of a size, signing
//! allocates nothing.

use std::ops::Range;

use candor_http::Request;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::credentials::Credentials;
use crate::{dates, encode};

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

type HmacSha256 = Hmac<Sha256>;

/// SHA-256 of no bytes, in hexadecimal digits.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Value of `x-amz-content-sha256`: the promise of a signature about the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A request without a body.
    Empty,
    /// SHA-256 of the body.
    Hash([u8; 32]),
    /// The signature does not cover the body.
    Unsigned,
    /// Chunks without signatures, then a trailer.
    UnsignedTrailer,
    /// Chunks, each with a signature.
    Chunks,
    /// Chunks with signatures, then a trailer with a signature.
    ChunksTrailer,
}

impl Payload {
    /// The promise of a body that is sent as it is.
    pub fn of(body: &[u8]) -> Payload {
        Payload::Hash(Sha256::digest(body).into())
    }

    fn write(self, to: &mut String) {
        match self {
            Payload::Empty => to.push_str(EMPTY),
            Payload::Hash(hash) => encode::hex(to, &hash),
            Payload::Unsigned => to.push_str("UNSIGNED-PAYLOAD"),
            Payload::UnsignedTrailer => to.push_str("STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
            Payload::Chunks => to.push_str("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
            Payload::ChunksTrailer => to.push_str("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
        }
    }
}

/// Text that a signature is for.
#[derive(Clone, Copy)]
enum Link {
    Request,
    Chunk,
    Trailer,
}

/// Signs requests of one user for one region and service.
#[derive(Clone)]
pub struct Signer {
    credentials: Credentials,
    region: String,
    service: String,
    /// Key of the day of `scope`; none before the first request.
    key: Option<HmacSha256>,
    /// `20130524/us-east-1/s3/aws4_request`
    scope: String,
    /// `20130524T000000Z`, of the last request.
    stamp: String,
    /// Last signature in hexadecimal digits; the next one of a chain covers it.
    signature: String,
    /// Names of headers that are signed although they do not begin with `x-amz-`.
    more: &'static [&'static str],
    scratch: Scratch,
}

/// Buffers that keep their capacity between requests.
#[derive(Clone, Default)]
struct Scratch {
    payload: String,
    /// Signed headers, each as `name:value\n`.
    lines: String,
    /// Lines or parameters in canonical order.
    order: Vec<Range<usize>>,
    text: String,
}

impl Signer {
    /// A signer with the region and the service of the site.
    pub fn new(credentials: Credentials, region: &str, service: &str) -> Signer {
        Signer {
            credentials,
            region: region.to_owned(),
            service: service.to_owned(),
            key: None,
            scope: String::new(),
            stamp: String::new(),
            signature: String::new(),
            more: &[],
            scratch: Scratch::default(),
        }
    }

    /// Adds the headers of a signature. The signature covers method, target, host and the `x-amz-*`
    /// headers that the request has already.
    ///
    /// # Panics
    /// Panics if the time is after the year 9999.
    pub fn sign(&mut self, request: &mut Request, host: &str, payload: Payload, unix_s: u64) {
        self.set_time(unix_s);
        let Signer { credentials, scratch, stamp, .. } = self;
        scratch.payload.clear();
        payload.write(&mut scratch.payload);
        request.header("x-amz-content-sha256", &scratch.payload);
        request.header("x-amz-date", stamp);
        if let Some(token) = &credentials.session_token {
            request.header("x-amz-security-token", token.expose());
        }
        scratch.headers(&request.headers, host, self.more);
        scratch.canonical(request);
        let hash = Sha256::digest(scratch.text.as_bytes());
        self.seal(Link::Request, &hash);
        self.authorize(request);
    }

    /// Signature of the next chunk of the last signed request, in hexadecimal digits.
    pub(crate) fn chunk(&mut self, data: &[u8]) -> &str {
        self.seal(Link::Chunk, &Sha256::digest(data));
        &self.signature
    }

    /// Signature of the trailer after the last chunk; the line comes without its end.
    pub(crate) fn trailer(&mut self, line: &[u8]) -> &str {
        self.seal(Link::Trailer, &Sha256::new_with_prefix(line).chain_update(b"\n").finalize());
        &self.signature
    }

    /// Sets `signature`. The signature of a chunk or of a trailer covers the previous one.
    fn seal(&mut self, link: Link, hash: &[u8]) {
        let text = &mut self.scratch.text;
        text.clear();
        let (algorithm, chained) = match link {
            Link::Request => ("AWS4-HMAC-SHA256", &[][..]),
            Link::Chunk => ("AWS4-HMAC-SHA256-PAYLOAD", &[&self.signature, EMPTY][..]),
            Link::Trailer => ("AWS4-HMAC-SHA256-TRAILER", &[self.signature.as_str()][..]),
        };
        for line in [algorithm, &self.stamp, &self.scope].iter().chain(chained) {
            text.push_str(line);
            text.push('\n');
        }
        encode::hex(text, hash);
        let key = self.key.as_ref().expect("set_time sets the key");
        let signature = key.clone().chain_update(text.as_bytes()).finalize().into_bytes();
        self.signature.clear();
        encode::hex(&mut self.signature, &signature);
    }

    /// Sets time, scope and key; the last two change once a day.
    fn set_time(&mut self, unix_s: u64) {
        self.stamp.clear();
        dates::stamp(&mut self.stamp, unix_s);
        let day = &self.stamp[..dates::DAY_LENGTH];
        if self.key.is_some() && self.scope.starts_with(day) {
            return;
        }
        self.scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let secret = format!("AWS4{}", self.credentials.secret_key.expose());
        let mut key = keyed(secret.as_bytes());
        for part in self.scope.split('/') {
            key = keyed(&key.chain_update(part.as_bytes()).finalize().into_bytes());
        }
        self.key = Some(key);
    }

    fn authorize(&mut self, request: &mut Request) {
        let Signer { credentials, scope, signature, scratch, .. } = self;
        let headers = &mut request.headers;
        headers.push_str("authorization: AWS4-HMAC-SHA256 Credential=");
        headers.push_str(&credentials.access_key);
        headers.push('/');
        headers.push_str(scope);
        headers.push_str(",SignedHeaders=");
        scratch.names(headers);
        headers.push_str(",Signature=");
        headers.push_str(signature);
        headers.push_str("\r\n");
    }
}

fn keyed(key: &[u8]) -> HmacSha256 {
    HmacSha256::new_from_slice(key).expect("HMAC takes a key of any length")
}

impl Scratch {
    /// Sets `lines` and their `order`.
    fn headers(&mut self, headers: &str, host: &str, more: &[&str]) {
        self.lines.clear();
        self.order.clear();
        self.line("host", host);
        for line in headers.split_terminator("\r\n") {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let is_amz = name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("x-amz-"));
            if is_amz || more.iter().any(|more| more.eq_ignore_ascii_case(name)) {
                self.line(name, value);
            }
        }
        let lines = &self.lines;
        self.order
            .sort_unstable_by(|a, b| name_of(&lines[a.clone()]).cmp(name_of(&lines[b.clone()])));
    }

    /// Adds a header with one blank for each run of blanks in the value.
    fn line(&mut self, name: &str, value: &str) {
        let start = self.lines.len();
        self.lines.extend(name.chars().map(|c| c.to_ascii_lowercase()));
        self.lines.push(':');
        for (at, word) in value.split([' ', '\t']).filter(|word| !word.is_empty()).enumerate() {
            if at > 0 {
                self.lines.push(' ');
            }
            self.lines.push_str(word);
        }
        self.lines.push('\n');
        self.order.push(start..self.lines.len());
    }

    /// Appends the names of the signed headers.
    fn names(&self, to: &mut String) {
        for (at, line) in self.order.iter().enumerate() {
            if at > 0 {
                to.push(';');
            }
            to.push_str(name_of(&self.lines[line.clone()]));
        }
    }

    /// Sets `text` to the canonical request. `order` keeps the order of the headers.
    fn canonical(&mut self, request: &Request) {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str(request.method.name());
        text.push('\n');
        text.push_str(path);
        text.push('\n');
        self.query(query, &mut text);
        text.push('\n');
        for line in &self.order {
            text.push_str(&self.lines[line.clone()]);
        }
        text.push('\n');
        self.names(&mut text);
        text.push('\n');
        text.push_str(&self.payload);
        self.text = text;
    }

    /// Appends the parameters of a query, sorted by name, then by value.
    fn query(&mut self, query: &str, to: &mut String) {
        let headers = self.order.len();
        let mut start = 0;
        for parameter in query.split('&') {
            let end = start + parameter.len();
            if !parameter.is_empty() {
                self.order.push(start..end);
            }
            start = end + 1;
        }
        let parameters = &mut self.order[headers..];
        parameters.sort_unstable_by(|a, b| {
            Parameter::of(&query[a.clone()]).cmp(&Parameter::of(&query[b.clone()]))
        });
        for (at, range) in parameters.iter().enumerate() {
            if at > 0 {
                to.push('&');
            }
            let Parameter { name, value } = Parameter::of(&query[range.clone()]);
            to.push_str(name);
            to.push('=');
            to.push_str(value);
        }
        self.order.truncate(headers);
    }
}

/// One parameter of a query, in the order of signatures.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Parameter<'a> {
    name: &'a str,
    value: &'a str,
}

impl Parameter<'_> {
    fn of(text: &str) -> Parameter<'_> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        Parameter { name, value }
    }
}

fn name_of(line: &str) -> &str {
    line.split_once(':').map_or(line, |(name, _)| name)
}
