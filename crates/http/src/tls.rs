//! TLS: trusted authorities, and none.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::problem::Problem;

/// Configuration of all TLS connections. A new connection to the same server resumes the session
/// of an earlier one if the server allows it.
pub fn config(ca_file: Option<&Path>, insecure: bool) -> Result<Arc<ClientConfig>, Problem> {
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = if insecure {
        let verifier = Arc::new(AnyCertificate { provider });
        config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        config.with_root_certificates(authorities(ca_file)?).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The system's authorities, where `SSL_CERT_FILE` and `SSL_CERT_DIR` are obeyed, and the file's.
fn authorities(ca_file: Option<&Path>) -> Result<RootCertStore, Problem> {
    let system = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(system.certs);
    if let Some(path) = ca_file {
        add_file(&mut store, path)
            .map_err(|reason| Problem::Certificates { path: path.to_owned(), reason })?;
    }
    if store.is_empty() {
        let first = system.errors.first().map(ToString::to_string);
        let reason = first.unwrap_or_else(|| "the store is empty".to_owned());
        return Err(Problem::NoAuthority { reason });
    }
    Ok(store)
}

fn add_file(store: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let mut added = 0;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| error.to_string())?;
        store.add(certificate).map_err(|error| error.to_string())?;
        added += 1;
    }
    if added == 0 { Err("the file has no certificate".to_owned()) } else { Ok(()) }
}

/// Accepts any certificate, but checks that the server has its key.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
