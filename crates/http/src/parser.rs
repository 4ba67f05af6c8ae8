//! Answers from bytes, however they are split. No clock, no socket.

use std::ops::Range;

use crate::answer::{Answer, Fault, FaultKind};
use crate::chunks::Chunks;
use crate::head::{self, Framing, Head, malformed};
use crate::request::Into;

/// Longest head.
pub const HEAD_LIMIT: usize = 64 * 1024;
/// Longest body that is collected.
pub const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// Bytes that are collected of an error's body; later ones are dropped.
pub const ERROR_LIMIT: usize = 64 * 1024;
/// Most interim answers (1xx) to one request.
const INTERIM_LIMIT: u32 = 100;
/// Smallest rest of a chunk that is received directly.
const DIRECT_CHUNK: u64 = 16 * 1024;
/// Most bytes of empty lines before an answer.
const BLANK_LIMIT: usize = 16;
/// First status whose body is always collected.
const FIRST_ERROR: u16 = 300;

/// Position within an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    Length(u64),
    Chunked(Chunks),
    UntilClose,
    Done,
}

/// Body bytes that a caller may receive without the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// No bytes.
    Nothing,
    /// Into this range of the slot's buffer.
    Slot(Range<usize>),
    /// At most this number, to be dropped.
    Drop(u64),
}

/// Reads one answer. [`Parser::begin`] starts the next.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    stage: Stage,
    into: Into,
    without_body: bool,
    keep_alive: bool,
    interim: u32,
    /// Bytes of the head that were searched for its end.
    searched: usize,
}

impl Parser {
    /// Starts an answer. `without_body`: the request's method was HEAD or CONNECT.
    pub fn begin(&mut self, into: Into, without_body: bool) {
        *self = Parser { into, without_body, ..Parser::default() };
    }

    /// The answer is complete.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// The head of the final answer is complete.
    pub fn has_head(&self) -> bool {
        self.stage != Stage::Head
    }

    /// Interim answers (1xx) so far.
    pub fn interim(&self) -> u32 {
        self.interim
    }

    /// The connection may serve another request.
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Reads bytes into the answer and the slot's buffer. Returns the bytes that belong to this
    /// answer, fewer than given only if the answer is complete.
    pub fn feed(
        &mut self,
        input: &[u8],
        answer: &mut Answer,
        room: &mut [u8],
    ) -> Result<usize, Fault> {
        let mut used = 0;
        while used < input.len() && !self.is_done() {
            let rest = &input[used..];
            used += match self.stage {
                Stage::Head => self.head(rest, answer, room.len())?,
                Stage::Chunked(mut chunks) if !matches!(chunks, Chunks::Data(_)) => {
                    chunks.framing(rest[0])?;
                    self.stage = Stage::Chunked(chunks);
                    if chunks == Chunks::Done {
                        self.stage = Stage::Done;
                    }
                    1
                }
                _ => self.body(rest, answer, room)?,
            };
        }
        answer.received_bytes += used as u64;
        Ok(used)
    }

    /// Body bytes that may be received directly; `room`: size of the slot's buffer.
    pub fn direct(&self, answer: &Answer, room: usize) -> Direct {
        let Some(remaining) = self.remaining() else { return Direct::Nothing };
        let is_small = matches!(self.stage, Stage::Chunked(_)) && remaining < DIRECT_CHUNK;
        if answer.status >= FIRST_ERROR || is_small {
            return Direct::Nothing;
        }
        match self.into {
            Into::Answer => Direct::Nothing,
            Into::Nothing => Direct::Drop(remaining),
            Into::Slot => {
                let start =
                    usize::try_from(answer.body_bytes).map_or(room, |start| start.min(room));
                let length = usize::try_from(remaining).map_or(room, |length| length);
                let end = start.saturating_add(length).min(room);
                if start == end { Direct::Nothing } else { Direct::Slot(start..end) }
            }
        }
    }

    /// Counts bytes that were received directly.
    pub fn received(&mut self, bytes: u64, answer: &mut Answer) {
        answer.body_bytes += bytes;
        answer.received_bytes += bytes;
        self.advance(bytes);
    }

    /// Reads the end of the connection: the end of a body without a length, else a fault.
    pub fn end_of_input(&mut self, answer: &Answer) -> Result<(), Fault> {
        let got = answer.body_bytes;
        match self.stage {
            Stage::UntilClose | Stage::Done => {
                self.stage = Stage::Done;
                self.keep_alive = false;
                Ok(())
            }
            Stage::Head if answer.received_bytes == 0 => {
                let message = "the server closed the connection before the answer".to_owned();
                Err(Fault::new(FaultKind::Reset, message))
            }
            Stage::Head => {
                let message = format!(
                    "the server closed the connection within the answer's head, after {} bytes",
                    answer.received_bytes
                );
                Err(Fault::new(FaultKind::Reset, message))
            }
            Stage::Length(remaining) => {
                let message = format!("the body ended after {got} of {} bytes", got + remaining);
                Err(Fault::new(FaultKind::ShortBody, message))
            }
            Stage::Chunked(_) => {
                let message = format!("the body ended after {got} bytes, before the last chunk");
                Err(Fault::new(FaultKind::ShortBody, message))
            }
        }
    }

    /// Reads an end of the connection that may be an attacker's: TLS announces the real one.
    pub fn cut_off(&mut self, answer: &Answer) -> Result<(), Fault> {
        if self.stage == Stage::UntilClose {
            let got = answer.body_bytes;
            let message = format!("the connection ended after {got} bytes without TLS's close");
            return Err(Fault::new(FaultKind::ShortBody, message));
        }
        self.end_of_input(answer)
    }

    /// Body bytes that follow without framing; `None` outside of a body.
    fn remaining(&self) -> Option<u64> {
        match self.stage {
            Stage::Length(remaining) | Stage::Chunked(Chunks::Data(remaining)) => Some(remaining),
            Stage::UntilClose => Some(u64::MAX),
            _ => None,
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.stage = match self.stage {
            Stage::Length(remaining) if remaining == bytes => Stage::Done,
            Stage::Length(remaining) => {
                Stage::Length(remaining.checked_sub(bytes).expect("at most the announced length"))
            }
            Stage::Chunked(mut chunks) => {
                chunks.data(bytes);
                Stage::Chunked(chunks)
            }
            other => other,
        };
    }

    /// Collects bytes of a head. Returns the bytes that belong to it.
    fn head(&mut self, input: &[u8], answer: &mut Answer, room: usize) -> Result<usize, Fault> {
        let before = answer.head.len();
        let taken = input.len().min(HEAD_LIMIT - before);
        answer.head.extend_from_slice(&input[..taken]);
        check_start(&answer.head)?;
        while let Some(end) = self.end_of_head(&answer.head) {
            if let Some(head) = head::parse(&answer.head[..end])? {
                answer.head.truncate(end);
                self.begin_body(head, answer, room)?;
                return Ok(end - before);
            }
        }
        if answer.head.len() == HEAD_LIMIT {
            return Err(malformed(format!("the answer's head is longer than {HEAD_LIMIT} bytes")));
        }
        Ok(taken)
    }

    /// The position after the next empty line.
    fn end_of_head(&mut self, head: &[u8]) -> Option<usize> {
        while let Some(at) = head[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line_feed = self.searched + at;
            self.searched = line_feed + 1;
            let line = &head[..line_feed];
            if line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\n") {
                return Some(self.searched);
            }
        }
        self.searched = head.len();
        None
    }

    fn begin_body(&mut self, head: Head, answer: &mut Answer, room: usize) -> Result<(), Fault> {
        let Head { status, keep_alive, framing } = head;
        if status == 101 || status < 100 {
            return Err(malformed(format!("the server answered with status {status}")));
        }
        if status < 200 {
            self.interim += 1;
            self.searched = 0;
            answer.head.clear();
            if self.interim > INTERIM_LIMIT {
                let message = format!("more than {INTERIM_LIMIT} interim answers (1xx) arrived");
                return Err(malformed(message));
            }
            return Ok(());
        }
        answer.status = status;
        keep_lines(&mut answer.head);
        self.keep_alive = keep_alive;
        self.stage = match framing {
            _ if self.without_body || status == 204 || status == 304 => Stage::Done,
            Framing::Length(0) => Stage::Done,
            Framing::Length(length) => Stage::Length(length),
            Framing::Chunked => Stage::Chunked(Chunks::default()),
            Framing::UntilClose => Stage::UntilClose,
        };
        match self.stage {
            Stage::Length(length) => self.check_length(length, status, room),
            _ => Ok(()),
        }
    }

    /// Refuses a body with a length that exceeds its destination.
    fn check_length(&self, length: u64, status: u16, room: usize) -> Result<(), Fault> {
        let limit = match self.into {
            _ if status >= FIRST_ERROR => return Ok(()),
            Into::Nothing => return Ok(()),
            Into::Answer => BODY_LIMIT,
            Into::Slot => room,
        };
        if length > limit as u64 { Err(too_long(length, limit)) } else { Ok(()) }
    }

    /// Delivers bytes of a body. Returns the bytes that belong to it.
    fn body(&mut self, input: &[u8], answer: &mut Answer, room: &mut [u8]) -> Result<usize, Fault> {
        let remaining = self.remaining().expect("called within a body");
        let taken = usize::try_from(remaining).map_or(input.len(), |left| left.min(input.len()));
        let bytes = &input[..taken];
        if answer.status >= FIRST_ERROR {
            let kept = taken.min(ERROR_LIMIT.saturating_sub(answer.body.len()));
            answer.body.extend_from_slice(&bytes[..kept]);
        } else {
            let end = answer.body_bytes + taken as u64;
            match self.into {
                Into::Nothing => {}
                Into::Answer if end > BODY_LIMIT as u64 => return Err(too_long(end, BODY_LIMIT)),
                Into::Answer => answer.body.extend_from_slice(bytes),
                Into::Slot if end > room.len() as u64 => return Err(too_long(end, room.len())),
                Into::Slot => {
                    let start = answer.body_bytes as usize;
                    room[start..start + taken].copy_from_slice(bytes);
                }
            }
        }
        answer.body_bytes += taken as u64;
        self.advance(taken as u64);
        Ok(taken)
    }
}

fn too_long(bytes: u64, limit: usize) -> Fault {
    malformed(format!("the body has at least {bytes} bytes; its destination holds {limit}"))
}

/// Refuses bytes that do not begin an answer, before their head is complete.
fn check_start(head: &[u8]) -> Result<(), Fault> {
    const START: &[u8] = b"HTTP/1.";
    let blank = head.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    if blank > BLANK_LIMIT {
        return Err(malformed("the answer begins with empty lines".to_owned()));
    }
    let begin = &head[blank..];
    let compared = begin.len().min(START.len());
    if begin[..compared] == START[..compared] {
        return Ok(());
    }
    // An alert or a handshake record of TLS.
    if begin.starts_with(&[0x15, 3]) || begin.starts_with(&[0x16, 3]) {
        return Err(malformed("the server speaks TLS on this port: write https://".to_owned()));
    }
    let shown = begin[..begin.len().min(16)].escape_ascii();
    Err(malformed(format!("the answer begins with \"{shown}\", not with HTTP/1.")))
}

/// Removes the status line, and empty lines before it.
fn keep_lines(head: &mut Vec<u8>) {
    let blank = head.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let status_line = head[blank..].iter().position(|byte| *byte == b'\n');
    head.drain(..blank + status_line.expect("a complete head has lines") + 1);
}

#[cfg(test)]
mod tests;
