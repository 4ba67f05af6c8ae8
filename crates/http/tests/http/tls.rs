//! TLS: trust, bodies, ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use candor_http::{Endpoint, FaultKind, Into, NoBuffers, Piece, Problem, Request, Settings};
use candor_http::{Scheme, Transport};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::requests::{OneBuffer, client, get, put};
use crate::server::{Peer, Server};

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// An authority, and a server's certificate from it.
pub struct Identity {
    folder: TempDir,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// A certificate for `localhost`.
    pub fn new() -> Identity {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let own = own.signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(own)],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            );
        Identity { folder, config: Arc::new(config.unwrap()) }
    }

    /// File of the authority.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// TLS of a server.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Settings that trust the authority.
    pub fn settings(&self, server: &Server) -> Settings {
        let port = server.url.rsplit_once(':').unwrap().1.parse().unwrap();
        let endpoint = Endpoint { scheme: Scheme::Https, host: "localhost".to_owned(), port };
        let ca_file = Some(self.ca_file());
        Settings { endpoints: vec![endpoint], ca_file, ..Settings::default() }
    }
}

pub type TlsPeer = Peer<StreamOwned<ServerConnection, TcpStream>>;

/// Starts TLS on a connection.
pub fn encrypt(peer: Peer<TcpStream>, config: Arc<ServerConfig>) -> TlsPeer {
    let session = ServerConnection::new(config).unwrap();
    Peer { stream: StreamOwned::new(session, peer.stream) }
}

/// A server that runs a script on one TLS connection.
fn serve(identity: &Identity, script: impl FnOnce(&mut TlsPeer) + Send + 'static) -> Server {
    let config = identity.config();
    Server::run(move |listener| script(&mut encrypt(listener.accept(), config)))
}

#[test]
fn a_connection_serves_several_requests() {
    let identity = Identity::new();
    let server = serve(&identity, |peer| {
        for _ in 0..3 {
            assert_eq!(peer.request().body, b"4slot");
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        }
    });
    let mut client = client(identity.settings(&server), 1);
    for i in 0..3 {
        let request = put(vec![Piece::Own(0..1), Piece::Slot(0..4)], b"4");
        let answer = client.exchange(&request, &mut OneBuffer(b"slot".to_vec()));
        assert_eq!(answer.fault, None);
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"hi".as_slice()));
        assert_eq!((answer.earlier_requests, answer.reconnects), (i, 0));
        let moments = answer.moments;
        assert_eq!(moments.tls_ns.is_some(), i == 0);
        assert!(moments.connect_ns <= moments.tls_ns);
        assert!(moments.tls_ns.unwrap_or(0) <= moments.ready_ns);
        assert!(moments.body_sent_ns <= moments.first_byte_ns);
    }
    assert_eq!(client.stats(0).connects, 1);
}

#[test]
fn large_bodies_pass_both_directions() {
    let identity = Identity::new();
    let body: Vec<u8> = (0..3_000_000_u32).map(|i| (i / 3) as u8).collect();
    let echoed = body.clone();
    let server = serve(&identity, move |peer| {
        assert!(peer.request().body == echoed);
        peer.send(EMPTY);
        for _ in 0..2 {
            peer.request();
            peer.send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", echoed.len()));
            peer.stream.write_all(&echoed).unwrap();
        }
    });
    let mut client = client(identity.settings(&server), 1);
    assert_eq!(client.connect_all()[0].fault, None);
    let mut buffer = OneBuffer(body.clone());
    let answer = client.exchange(&put(vec![Piece::Slot(0..body.len())], b""), &mut buffer);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    buffer.0.fill(0);
    let request = Request { into: Into::Slot, ..get("/") };
    let answer = client.exchange(&request, &mut buffer);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
    assert!(buffer.0 == body);
    let request = Request { into: Into::Nothing, ..get("/") };
    let answer = client.exchange(&request, &mut NoBuffers);
    assert_eq!((answer.fault.clone(), answer.body_bytes), (None, body.len() as u64));
}

#[test]
fn an_unknown_authority_is_refused() {
    let identity = Identity::new();
    let server = serve(&identity, |peer| {
        // The client ends the handshake with an alert.
        assert!(peer.stream.read(&mut [0]).is_err());
    });
    let other = Identity::new();
    let settings = Settings { ca_file: Some(other.ca_file()), ..identity.settings(&server) };
    let fault = client(settings, 1).connect_all().remove(0).fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Tls);
    assert!(fault.message.contains("trust its authority with a PEM file"), "{fault:?}");
}

#[test]
fn another_name_is_refused() {
    let identity = Identity::new();
    let server = serve(&identity, |peer| {
        assert!(peer.stream.read(&mut [0]).is_err());
    });
    let mut settings = identity.settings(&server);
    settings.endpoints[0].host = "127.0.0.1".to_owned();
    let fault = client(settings, 1).connect_all().remove(0).fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Tls);
}

#[test]
fn without_verification_any_certificate_is_accepted() {
    let identity = Identity::new();
    let server = serve(&identity, |peer| {
        peer.request();
        peer.send(EMPTY);
    });
    let mut settings = Settings { ca_file: None, insecure: true, ..identity.settings(&server) };
    settings.endpoints[0].host = "127.0.0.1".to_owned();
    let mut client = client(settings, 1);
    let answer = client.exchange(&get("/"), &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (200, None));
}

#[test]
fn a_plain_server_is_a_tls_fault() {
    let identity = Identity::new();
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
        peer.wait_for_close();
    });
    let fault = client(identity.settings(&server), 1).connect_all().remove(0).fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Tls);
    assert!(fault.message.contains("write http://"), "{fault:?}");
}

#[test]
fn only_an_announced_end_completes_a_body_without_length() {
    for is_announced in [true, false] {
        let identity = Identity::new();
        let server = serve(&identity, move |peer| {
            peer.request();
            peer.send("HTTP/1.1 200 OK\r\n\r\nhello");
            if is_announced {
                peer.stream.conn.send_close_notify();
                peer.stream.flush().unwrap();
            }
        });
        let mut client = client(identity.settings(&server), 1);
        let answer = client.exchange(&get("/"), &mut NoBuffers);
        assert_eq!(answer.body, b"hello");
        let kind = answer.fault.as_ref().map(|fault| fault.kind);
        assert_eq!(kind, if is_announced { None } else { Some(FaultKind::ShortBody) });
    }
}

#[test]
fn a_kept_connection_that_closes_is_replaced_once() {
    let identity = Identity::new();
    let config = identity.config();
    let server = Server::run(move |listener| {
        for _ in 0..2 {
            let mut peer = encrypt(listener.accept(), Arc::clone(&config));
            peer.request();
            peer.send(EMPTY);
            peer.stream.conn.send_close_notify();
            peer.stream.flush().unwrap();
        }
    });
    let mut client = client(identity.settings(&server), 1);
    for i in 0..2 {
        let answer = client.exchange(&get("/"), &mut NoBuffers);
        assert_eq!((answer.status, answer.fault.clone(), answer.reconnects), (200, None, i));
    }
}

#[test]
fn unusable_files_of_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for path in [empty, folder.path().join("missing.pem")] {
        let settings = Settings {
            endpoints: vec!["https://store".parse().unwrap()],
            ca_file: Some(path.clone()),
            ..Settings::default()
        };
        let problem = Transport::new(settings).err().unwrap();
        assert!(matches!(&problem, Problem::Certificates { path: named, .. } if *named == path));
    }
}
