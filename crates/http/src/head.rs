//! Status line and headers of an answer.

use crate::answer::{Fault, FaultKind};

/// Most headers of an answer.
const HEADERS: usize = 128;

/// End of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After this number of bytes.
    Length(u64),
    /// After the last chunk.
    Chunked,
    /// At the end of the connection.
    UntilClose,
}

/// Parts of a head that decide how to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Status.
    pub status: u16,
    /// The connection may serve another request.
    pub keep_alive: bool,
    /// End of the body, if the answer has one.
    pub framing: Framing,
}

/// Reads a head that ends with an empty line. `None`: only empty lines so far.
pub fn parse(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let mut config = httparse::ParserConfig::default();
    config.allow_spaces_after_header_name_in_responses(true);
    match config.parse_response(&mut response, bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(malformed(format!("the answer's head: {error}"))),
    }
    let status = response.code.expect("a complete head has a status");
    let mut fields = Fields { keep_alive: response.version == Some(1), ..Fields::default() };
    for header in response.headers.iter() {
        fields.add(header)?;
    }
    Ok(Some(fields.head(status)))
}

/// Headers about the connection and the body.
#[derive(Default)]
struct Fields {
    keep_alive: bool,
    length: Option<u64>,
    chunked: bool,
}

impl Fields {
    fn add(&mut self, header: &httparse::Header<'_>) -> Result<(), Fault> {
        if header.name.eq_ignore_ascii_case("content-length") {
            for value in tokens(header.value) {
                let length = length(value)?;
                if self.length.is_some_and(|earlier| earlier != length) {
                    return Err(malformed("the answer has two different lengths".to_owned()));
                }
                self.length = Some(length);
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            for coding in tokens(header.value).filter(|coding| *coding != b"identity") {
                if !coding.eq_ignore_ascii_case(b"chunked") || self.chunked {
                    let name = String::from_utf8_lossy(coding);
                    return Err(malformed(format!("transfer coding \"{name}\" is not supported")));
                }
                self.chunked = true;
            }
        } else if header.name.eq_ignore_ascii_case("connection") {
            for option in tokens(header.value) {
                if option.eq_ignore_ascii_case(b"close") {
                    self.keep_alive = false;
                } else if option.eq_ignore_ascii_case(b"keep-alive") {
                    self.keep_alive = true;
                }
            }
        }
        Ok(())
    }

    fn head(&self, status: u16) -> Head {
        let framing = match self.length {
            _ if self.chunked => Framing::Chunked,
            Some(length) => Framing::Length(length),
            None => Framing::UntilClose,
        };
        // Both headers together may hide a second answer.
        let is_ambiguous = self.chunked && self.length.is_some();
        Head { status, keep_alive: self.keep_alive && !is_ambiguous, framing }
    }
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn length(value: &[u8]) -> Result<u64, Fault> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let length = text.parse().ok().filter(|_| digits);
    length.ok_or_else(|| {
        let value = String::from_utf8_lossy(value);
        malformed(format!("the answer's Content-Length \"{value}\" is not a number"))
    })
}

/// Fault of an answer that violates HTTP.
pub fn malformed(message: String) -> Fault {
    Fault::new(FaultKind::Malformed, message)
}
