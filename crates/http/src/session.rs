//! A TLS session: records in, plain bytes out, and the reverse. No socket.
//!
//! Records are decrypted where they were received, and encrypted where they are sent from.

use std::fmt;
use std::io::IoSlice;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, UnbufferedStatus};

use crate::answer::{Fault, FaultKind};
use crate::transport::Tls;

/// Bytes of one receive; a record has at most 16 KiB and 261 bytes.
const INCOMING: usize = 96 * 1024;
/// Plain bytes of one record.
const RECORD: usize = 16 * 1024;
/// Bytes that a record adds to its plain bytes, at most.
const RECORD_EXTRA: usize = 512;
/// Records that are encrypted before they are sent.
const RECORDS: usize = 8;

/// Encrypted records on their way to the kernel. The buffer keeps its size.
#[derive(Default)]
struct Outgoing {
    buffer: Vec<u8>,
    /// The kernel has the bytes before.
    sent: usize,
    /// The records end here.
    end: usize,
}

impl Outgoing {
    /// Space for more records.
    fn room(&mut self, bytes: usize) -> &mut [u8] {
        let needed = self.end + bytes;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
        &mut self.buffer[self.end..needed]
    }

    fn unsent(&self) -> &[u8] {
        &self.buffer[self.sent..self.end]
    }

    fn note_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.end {
            (self.sent, self.end) = (0, 0);
        }
    }
}

/// State of a TLS connection.
pub struct Session {
    state: UnbufferedClientConnection,
    /// Received records; the range is not processed yet.
    incoming: Box<[u8]>,
    start: usize,
    end: usize,
    outgoing: Outgoing,
    /// Plain bytes of a record that consists of several slices.
    gathered: Vec<u8>,
    can_write: bool,
    is_closed: bool,
    fault: Option<Fault>,
}

impl Session {
    /// Begins a handshake.
    pub fn new(tls: &Tls) -> Result<Session, Fault> {
        let state = UnbufferedClientConnection::new(Arc::clone(&tls.config), tls.name.clone());
        let mut session = Session {
            state: state.map_err(|error| tls_fault(&error))?,
            incoming: vec![0; INCOMING].into_boxed_slice(),
            start: 0,
            end: 0,
            outgoing: Outgoing::default(),
            gathered: Vec::new(),
            can_write: false,
            is_closed: false,
            fault: None,
        };
        session.process(&mut |_| Ok(()))?;
        Ok(session)
    }

    /// The handshake is done, as far as bytes arrived.
    pub fn can_write(&self) -> bool {
        self.can_write
    }

    /// Version and cipher suite, such as `TLSv1_3 TLS13_AES_256_GCM_SHA384`; none before the
    /// handshake has chosen them.
    pub fn version(&self) -> Option<String> {
        let version = self.state.protocol_version()?;
        let suite = self.state.negotiated_cipher_suite()?.suite();
        Some(format!("{version:?} {suite:?}"))
    }

    /// Space for received bytes.
    pub fn room(&mut self) -> &mut [u8] {
        self.incoming.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        &mut self.incoming[self.end..]
    }

    /// Processes bytes that were received into the room. Returns true after the peer's close alert.
    pub fn received(
        &mut self,
        bytes: usize,
        deliver: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        self.end += bytes;
        assert!(self.end <= self.incoming.len(), "more bytes arrived than the room has");
        self.process(deliver)?;
        Ok(self.is_closed)
    }

    /// Records that were not passed to the kernel.
    pub fn unsent(&self) -> &[u8] {
        self.outgoing.unsent()
    }

    /// Notes records that were passed to the kernel.
    pub fn note_sent(&mut self, bytes: usize) {
        self.outgoing.note_sent(bytes);
    }

    /// Encrypts bytes of the slices, up to a limit. Returns their number.
    pub fn encrypt(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Fault> {
        let mut gathered = std::mem::take(&mut self.gathered);
        let mut taken = 0;
        for _ in 0..RECORDS {
            let record = next_record(slices, taken, &mut gathered);
            if record.is_empty() {
                break;
            }
            self.encrypt_record(record)?;
            taken += record.len();
        }
        self.gathered = gathered;
        Ok(taken)
    }

    fn encrypt_record(&mut self, plain: &[u8]) -> Result<(), Fault> {
        // A change of keys may be due before.
        self.process(&mut |_| Ok(()))?;
        let UnbufferedStatus { state, .. } =
            self.state.process_tls_records(&mut self.incoming[self.start..self.end]);
        let ConnectionState::WriteTraffic(mut traffic) =
            state.map_err(|error| tls_fault(&error))?
        else {
            return Err(ended(&"the session ended"));
        };
        let written = traffic.encrypt(plain, self.outgoing.room(plain.len() + RECORD_EXTRA));
        self.outgoing.end += written.map_err(|error| ended(&error))?;
        Ok(())
    }

    /// Advances until bytes from the peer or from the caller are necessary. After a fault, the
    /// session has ended: rustls must not see the same bytes again.
    fn process(
        &mut self,
        deliver: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let processed = self.process_records(deliver);
        self.fault = processed.as_ref().err().cloned();
        processed
    }

    fn process_records(
        &mut self,
        deliver: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        loop {
            let UnbufferedStatus { mut discard, state } =
                self.state.process_tls_records(&mut self.incoming[self.start..self.end]);
            let state = match state {
                Ok(state) => state,
                Err(error) => {
                    self.start += discard;
                    self.encode_alert();
                    return Err(tls_fault(&error));
                }
            };
            let mut is_over = false;
            match state {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(|error| tls_fault(&error))?;
                        discard += record.discard;
                        deliver(record.payload)?;
                    }
                }
                ConnectionState::EncodeTlsData(data) => encode(data, &mut self.outgoing)?,
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => self.is_closed = true,
                ConnectionState::WriteTraffic(_) => {
                    self.can_write = true;
                    is_over = true;
                }
                _ => is_over = true,
            }
            self.start += discard;
            if is_over {
                return Ok(());
            }
        }
    }

    /// Encodes the alert of an error, from which the server learns the reason. An alert that is
    /// due comes before any received record.
    fn encode_alert(&mut self) {
        let status = self.state.process_tls_records(&mut self.incoming[self.start..self.end]);
        if let Ok(ConnectionState::EncodeTlsData(data)) = status.state {
            // Without the alert, the server sees a close.
            let _ = encode(data, &mut self.outgoing);
        }
    }
}

/// Appends a record of the session itself.
fn encode<D>(mut data: EncodeTlsData<'_, D>, outgoing: &mut Outgoing) -> Result<(), Fault> {
    let encoded = match data.encode(&mut []) {
        Err(EncodeError::InsufficientSize(size)) => data.encode(outgoing.room(size.required_size)),
        other => other,
    };
    outgoing.end += encoded.map_err(|error| ended(&error))?;
    Ok(())
}

/// Fault of an error in the session itself.
fn ended(error: &impl fmt::Display) -> Fault {
    Fault::new(FaultKind::Tls, format!("TLS: {error}"))
}

/// Plain bytes of the record that begins after `skip` bytes: a part of one slice, or gathered from
/// several.
fn next_record<'a>(
    slices: &'a [IoSlice<'_>],
    mut skip: usize,
    gathered: &'a mut Vec<u8>,
) -> &'a [u8] {
    gathered.clear();
    for slice in slices {
        let Some(rest) = slice.get(skip..) else {
            skip -= slice.len();
            continue;
        };
        skip = 0;
        if gathered.is_empty() && rest.len() >= RECORD {
            return &rest[..RECORD];
        }
        let bytes = rest.len().min(RECORD - gathered.len());
        gathered.extend_from_slice(&rest[..bytes]);
    }
    gathered
}

fn tls_fault(error: &rustls::Error) -> Fault {
    let remedy = match error {
        rustls::Error::InvalidCertificate(_) => {
            ": trust its authority with a PEM file, or disable verification"
        }
        rustls::Error::InvalidMessage(_) => ": the port may speak plain HTTP: write http://",
        _ => "",
    };
    Fault::new(FaultKind::Tls, format!("TLS: {error}{remedy}"))
}

#[cfg(test)]
mod tests;
