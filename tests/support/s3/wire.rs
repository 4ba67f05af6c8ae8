//! Messages of HTTP/1.1: heads, bodies, and where a body ends.

use std::io::{self, BufRead, Error, ErrorKind, Read};

/// Header lines that a head may have.
const HEADERS_MAX: usize = 100;

/// A header line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name, as it arrived.
    pub name: String,
    /// Value without blanks around it.
    pub value: String,
}

/// First line and headers of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// First line.
    pub start: String,
    /// Headers.
    pub headers: Vec<Header>,
}

/// Body of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Bytes on the wire.
    pub wire: Vec<u8>,
    /// Bytes without the transfer coding.
    pub content: Vec<u8>,
}

/// End of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After N bytes; 0 without a body.
    Length(u64),
    /// After a chunk of size 0.
    Chunked,
    /// At the end of the connection.
    UntilClose,
}

impl Head {
    /// Reads a head; none at the end of the connection.
    pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
        let mut start = String::new();
        if reader.read_line(&mut start)? == 0 {
            return Ok(None);
        }
        let mut lines = Vec::new();
        while !(lines.ends_with(b"\r\n\r\n") || lines == b"\r\n") {
            if reader.read_until(b'\n', &mut lines)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let mut space = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let parsed = httparse::parse_headers(&lines, &mut space).map_err(Error::other)?;
        let httparse::Status::Complete((_, parsed)) = parsed else {
            return Err(Error::other(format!("headers without an end after {start:?}")));
        };
        let headers = parsed.iter().map(|header| Header {
            name: header.name.to_owned(),
            value: String::from_utf8_lossy(header.value).trim().to_owned(),
        });
        Ok(Some(Head { headers: headers.collect(), start: start.trim_end().to_owned() }))
    }

    /// Value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| header.value.as_str())
    }

    /// Sets a header, in place of earlier ones with that name.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push(Header { name: name.to_owned(), value: value.to_owned() });
    }

    /// Removes a header.
    pub fn remove(&mut self, name: &str) {
        self.headers.retain(|header| !header.name.eq_ignore_ascii_case(name));
    }

    /// True if the connection ends after this message.
    pub fn closes(&self) -> bool {
        let connection = self.header("connection");
        connection.is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    /// Bytes on the wire.
    pub fn wire(&self) -> Vec<u8> {
        let headers = self.headers.iter();
        let lines = headers.map(|Header { name, value }| format!("{name}: {value}\r\n"));
        format!("{}\r\n{}\r\n", self.start, lines.collect::<String>()).into_bytes()
    }

    /// Status of an answer; 0 for a request.
    pub fn status(&self) -> u16 {
        let status = self.start.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
        status.and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// End of a request's body.
    pub fn request_framing(&self) -> Framing {
        self.announced().unwrap_or(Framing::Length(0))
    }

    /// End of the body of an answer to a method.
    pub fn answer_framing(&self, method: &str) -> Framing {
        match self.status() {
            _ if method == "HEAD" => Framing::Length(0),
            100..200 | 204 | 304 => Framing::Length(0),
            _ => self.announced().unwrap_or(Framing::UntilClose),
        }
    }

    fn announced(&self) -> Option<Framing> {
        if self.header("transfer-encoding").is_some() {
            return Some(Framing::Chunked);
        }
        self.header("content-length")?.parse().ok().map(Framing::Length)
    }
}

impl Body {
    /// A body without a transfer coding.
    pub fn plain(content: Vec<u8>) -> Body {
        Body { wire: content.clone(), content }
    }

    /// Reads a body.
    pub fn read(reader: &mut impl BufRead, framing: Framing) -> io::Result<Body> {
        let mut content = Vec::new();
        match framing {
            Framing::Length(length) => read_exactly(reader, length, &mut content)?,
            Framing::UntilClose => drop(reader.read_to_end(&mut content)?),
            Framing::Chunked => return Body::read_chunks(reader),
        }
        Ok(Body::plain(content))
    }

    fn read_chunks(reader: &mut impl BufRead) -> io::Result<Body> {
        let mut body = Body::default();
        loop {
            let line = body.wire.len();
            reader.read_until(b'\n', &mut body.wire)?;
            let parsed = httparse::parse_chunk_size(&body.wire[line..]);
            let Ok(httparse::Status::Complete((_, length))) = parsed else {
                return Err(Error::other("a chunk without a size"));
            };
            if length == 0 {
                break;
            }
            let data = body.wire.len();
            read_exactly(reader, length.saturating_add(2), &mut body.wire)?;
            body.content.extend_from_slice(&body.wire[data..body.wire.len() - 2]);
        }
        // Trailers end with an empty line.
        loop {
            let line = body.wire.len();
            reader.read_until(b'\n', &mut body.wire)?;
            if body.wire[line..].len() <= 2 {
                return Ok(body);
            }
        }
    }
}

fn read_exactly(reader: &mut impl BufRead, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let read = reader.take(length).read_to_end(into)?;
    if (read as u64) < length { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
