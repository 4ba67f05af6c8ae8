//! Sessions against rustls's server, in memory: splits, and changed bytes.

use std::io::{Read, Write};

use proptest::collection::vec;
use proptest::prelude::*;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

use super::*;
use crate::tls;

/// A client and a server that have exchanged nothing.
struct Pair {
    client: Session,
    server: ServerConnection,
    received: Vec<u8>,
    is_closed: bool,
}

/// A byte of the server that is changed on its way.
#[derive(Clone, Debug)]
struct Change {
    at: usize,
    byte: u8,
}

impl Pair {
    fn new(version: &'static SupportedProtocolVersion) -> Pair {
        let identity = rcgen::generate_simple_self_signed(vec!["store".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(identity.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.cert.der().clone()], key)
            .unwrap();
        let tls = Tls {
            config: tls::config(None, true).unwrap(),
            name: ServerName::try_from("store").unwrap(),
        };
        Pair {
            client: Session::new(&tls).unwrap(),
            server: ServerConnection::new(Arc::new(config)).unwrap(),
            received: Vec::new(),
            is_closed: false,
        }
    }

    /// Passes bytes of the client on, and returns the server's plain bytes.
    fn pass_to_server(&mut self) -> Vec<u8> {
        let mut plain = Vec::new();
        while !self.client.unsent().is_empty() {
            let mut unsent = self.client.unsent();
            let before = unsent.len();
            self.server.read_tls(&mut unsent).unwrap();
            let read = before - unsent.len();
            self.client.note_sent(read);
            // A client's alert is an error here.
            let _ = self.server.process_new_packets();
            let _ = self.server.reader().read_to_end(&mut plain);
        }
        plain
    }

    /// Passes bytes of the server on, in takes of this size.
    fn pass_to_client(&mut self, take: usize, change: Option<&Change>) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut bytes).unwrap();
        }
        if let Some(change) = change
            && !bytes.is_empty()
        {
            let at = change.at % bytes.len();
            bytes[at] ^= change.byte;
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let room = self.client.room();
            let take = take.min(rest.len()).min(room.len());
            room[..take].copy_from_slice(&rest[..take]);
            rest = &rest[take..];
            let received = &mut self.received;
            self.is_closed = self.client.received(take, &mut |plain| {
                received.extend_from_slice(plain);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn shake_hands(&mut self, take: usize) {
        while !self.client.can_write() || self.server.is_handshaking() {
            self.pass_to_server();
            self.pass_to_client(take, None).unwrap();
        }
    }
}

fn versions() -> impl Strategy<Value = &'static SupportedProtocolVersion> {
    prop_oneof![Just(&rustls::version::TLS12), Just(&rustls::version::TLS13)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bytes_pass_both_directions(
        version in versions(),
        take in 1_usize..5000,
        slices in vec(vec(any::<u8>(), 0..40_000), 1..5),
    ) {
        let mut pair = Pair::new(version);
        pair.shake_hands(take);
        let sent = slices.concat();
        let mut skipped = 0;
        let mut arrived = Vec::new();
        while skipped < sent.len() {
            let rest: Vec<IoSlice<'_>> = if skipped == 0 {
                slices.iter().map(|slice| IoSlice::new(slice)).collect()
            } else {
                vec![IoSlice::new(&sent[skipped..])]
            };
            skipped += pair.client.encrypt(&rest).unwrap();
            arrived.extend(pair.pass_to_server());
        }
        prop_assert!(arrived == sent);
        for part in sent.chunks(10_000) {
            pair.server.writer().write_all(part).unwrap();
            pair.pass_to_client(take, None).unwrap();
        }
        prop_assert!(pair.received == sent);
        prop_assert!(!pair.is_closed);
        pair.server.send_close_notify();
        pair.pass_to_client(take, None).unwrap();
        prop_assert!(pair.is_closed);
    }

    #[test]
    fn changed_bytes_are_faults_without_panic(
        version in versions(),
        take in 1_usize..3000,
        change in (any::<usize>(), 1_u8..).prop_map(|(at, byte)| Change { at, byte }),
        round in 0_usize..5,
    ) {
        let mut pair = Pair::new(version);
        let mut result = Ok(());
        for i in 0..5 {
            pair.pass_to_server();
            if i >= 3 {
                let _ = pair.server.writer().write_all(&[7; 1000]);
            }
            result = pair.pass_to_client(take, (i == round).then_some(&change));
            if result.is_err() {
                break;
            }
        }
        if let Err(fault) = result {
            prop_assert_eq!(fault.kind, FaultKind::Tls);
            // The fault stays, and later bytes are not read.
            prop_assert_eq!(pair.client.received(0, &mut |_| Ok(())), Err(fault));
        } else {
            prop_assert!(pair.received.iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn garbage_never_panics(mut bytes in vec(any::<u8>(), 6..2000), is_record: bool) {
        let mut pair = Pair::new(&rustls::version::TLS13);
        if is_record {
            let length = (bytes.len() - 5) as u16;
            bytes[..3].copy_from_slice(&[22, 3, 3]);
            bytes[3..5].copy_from_slice(&length.to_be_bytes());
        }
        pair.client.room()[..bytes.len()].copy_from_slice(&bytes);
        let _ = pair.client.received(bytes.len(), &mut |_| Ok(()));
        prop_assert!(!pair.client.can_write());
    }
}
