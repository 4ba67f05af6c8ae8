//! Keys by which agents and coordinator know each other.
//!
//! Both ends of a link show a certificate that the same authority has signed; no other client gets
//! past the handshake. The authority comes from a folder of keys, which is copied to all hosts, or
//! is computed from a [`Secret`] that all hosts have: the key of a user, a token, a password.
//!
//! An agent shows its certificate before the client shows one, so any client can test guesses of
//! the secret offline. A secret of 32 random bytes cannot be guessed; a password goes through
//! Argon2id, so that each guess costs [`PASSWORD_KIB`] of memory and some 0.2 s.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use argon2::{Algorithm, Argon2, Params, Version};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ED25519,
};
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tonic::transport::{Certificate, ClientTlsConfig, Identity as Shown};

use crate::secret::{KeyError, Secret};

/// Name in the certificate of whoever belongs to a fleet.
const NAME: &str = "candor-fleet";
/// Memory for the derivation of a key from a password (RFC 9106, second choice of parameters).
const PASSWORD_KIB: u32 = 64 << 10;
/// Passes over that memory.
const PASSWORD_PASSES: u32 = 3;
/// Salt of passwords: all hosts must get the same key from the password alone.
const PASSWORD_SALT: &[u8] = b"candor fleet password 1";
/// Wrapping of an Ed25519 key (RFC 8410), ahead of the 32 bytes of the key.
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// Clocks of hosts may differ by so much when a certificate was just made.
const CLOCKS_DIFFER: Duration = Duration::from_secs(24 * 3600);
/// Files of a folder of keys.
const FILES: [&str; 3] = ["authority.pem", "host.pem", "host.key"];

/// Keys of one end of a link, as PEM.
#[derive(Clone)]
pub struct Identity {
    authority: String,
    certificate: String,
    key: String,
    is_of_user: bool,
}

fn unusable(error: impl std::fmt::Display) -> KeyError {
    KeyError::Unusable(error.to_string())
}

impl Identity {
    /// New keys that are valid for so long.
    ///
    /// # Errors
    /// No randomness.
    pub fn generate(valid: Duration) -> Result<Identity, KeyError> {
        let authority = KeyPair::generate_for(&PKCS_ED25519).map_err(unusable)?;
        Identity::signed_by(&authority, SystemTime::now() + valid)
    }

    /// The keys of all who have a secret.
    ///
    /// # Errors
    /// The cryptography fails.
    pub fn of_secret(secret: &Secret) -> Result<Identity, KeyError> {
        // An agent has one for as long as it runs, and any holder of the secret can make another.
        Identity::of_secret_until(secret, SystemTime::now() + 20 * 365 * CLOCKS_DIFFER)
    }

    /// The keys of a user, from the user's own secret.
    ///
    /// # Errors
    /// The cryptography fails.
    pub fn of_user(secret: &Secret) -> Result<Identity, KeyError> {
        Ok(Identity { is_of_user: true, ..Identity::of_secret(secret)? })
    }

    /// The keys of all who have a token, as [`new_token`](crate::new_token) makes it.
    ///
    /// # Errors
    /// The token has another form, so that it could be guessed.
    pub fn of_token(token: &str) -> Result<Identity, KeyError> {
        Identity::of_secret(&Secret::parse(token).ok_or(KeyError::WeakToken)?)
    }

    /// The keys of all who know a password, which may be a token.
    ///
    /// # Errors
    /// The password is empty, or the derivation has no memory.
    pub fn of_password(password: &str) -> Result<Identity, KeyError> {
        if password.is_empty() {
            return Err(KeyError::NoPassword);
        }
        match Secret::parse(password) {
            Some(secret) => Identity::of_secret(&secret),
            None => Identity::of_secret(&derived(password)?),
        }
    }

    fn of_secret_until(secret: &Secret, until: SystemTime) -> Result<Identity, KeyError> {
        let seed = Sha256::new().chain_update("candor fleet 2\0").chain_update(secret.bytes());
        let key = [&PKCS8_HEAD[..], &seed.finalize()[..]].concat();
        let authority = KeyPair::try_from(key).map_err(unusable)?;
        Identity::signed_by(&authority, until)
    }

    /// The same, but no longer valid.
    #[cfg(test)]
    pub fn expired(secret: &Secret) -> Identity {
        let until = SystemTime::now() - Duration::from_secs(3600);
        Identity::of_secret_until(secret, until).expect("keys")
    }

    /// True for the keys of a user, which every command of that user has without an option.
    pub fn is_of_user(&self) -> bool {
        self.is_of_user
    }

    fn signed_by(authority: &KeyPair, until: SystemTime) -> Result<Identity, KeyError> {
        let params = |name: &str| {
            let mut params = CertificateParams::new([NAME.to_owned()])?;
            params.distinguished_name.push(DnType::CommonName, name);
            params.not_before = (SystemTime::now() - CLOCKS_DIFFER).into();
            params.not_after = until.into();
            Ok::<_, rcgen::Error>(params)
        };
        let mut of_authority = params("candor fleet authority").map_err(unusable)?;
        of_authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        of_authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let root = of_authority.self_signed(authority).map_err(unusable)?;
        let issuer = Issuer::from_params(&of_authority, authority);
        let key = KeyPair::generate_for(&PKCS_ED25519).map_err(unusable)?;
        let mut of_host = params("candor fleet host").map_err(unusable)?;
        // An agent that leads others is a client of theirs.
        of_host.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = of_host.signed_by(&key, &issuer).map_err(unusable)?;
        Ok(Identity {
            authority: root.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            is_of_user: false,
        })
    }

    /// Reads a folder of keys.
    ///
    /// # Errors
    /// A file is not there, or not this user's to read.
    pub fn read(folder: &Path) -> Result<Identity, KeyError> {
        let [authority, certificate, key] = FILES.map(|name| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|cause| KeyError::File { what: "read", path, cause })
        });
        let (authority, certificate, key) = (authority?, certificate?, key?);
        Ok(Identity { authority, certificate, key, is_of_user: false })
    }

    /// Writes a folder of keys, for this user alone; never over keys that are there.
    ///
    /// # Errors
    /// The kernel's.
    pub fn write(&self, folder: &Path) -> Result<(), KeyError> {
        let failed = |what, path: &Path| {
            let path = path.to_owned();
            move |cause| KeyError::File { what, path, cause }
        };
        fs::create_dir_all(folder).map_err(failed("make the folder", folder))?;
        for (name, text) in FILES.iter().zip([&self.authority, &self.certificate, &self.key]) {
            let path = folder.join(name);
            let mut options = File::options();
            let file = options.write(true).create_new(true).mode(0o600).open(&path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(failed("write", &path))?;
        }
        Ok(())
    }

    /// SHA-256 of the authority's certificate, by which people compare folders of keys.
    ///
    /// # Errors
    /// It is no certificate.
    pub fn fingerprint(&self) -> Result<String, KeyError> {
        let der = CertificateDer::from_pem_slice(self.authority.as_bytes()).map_err(unusable)?;
        let hash = Sha256::digest(der.as_ref());
        Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// TLS of an agent: whoever connects shows a certificate of the same authority.
    ///
    /// # Errors
    /// The keys are unusable.
    pub fn server(&self) -> Result<ServerConfig, KeyError> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(self.authority.as_bytes());
        roots.add(authority.map_err(unusable)?).map_err(unusable)?;
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let verifier = verifier.build().map_err(unusable)?;
        let chain = CertificateDer::from_pem_slice(self.certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(unusable)?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![chain.map_err(unusable)?], key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    /// TLS of whoever connects to an agent.
    pub fn client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&self.authority))
            .identity(Shown::from_pem(&self.certificate, &self.key))
            .domain_name(NAME)
    }
}

/// The secret that a password gives.
fn derived(password: &str) -> Result<Secret, KeyError> {
    let failed = |error: argon2::Error| KeyError::Unusable(error.to_string());
    let params = Params::new(PASSWORD_KIB, PASSWORD_PASSES, 1, None).map_err(failed)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut bytes = [0; 32];
    argon2.hash_password_into(password.as_bytes(), PASSWORD_SALT, &mut bytes).map_err(failed)?;
    Ok(Secret::of(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Public key of an authority.
    fn public(identity: &Identity) -> Vec<u8> {
        let der = CertificateDer::from_pem_slice(identity.authority.as_bytes());
        let der = der.expect("a certificate").to_vec();
        // The key is the first string of 32 bytes.
        let at = der.windows(3).position(|part| part == [3, 0x21, 0]);
        der[at.expect("an Ed25519 key")..][..35].to_vec()
    }

    #[test]
    fn a_secret_gives_all_hosts_the_same_authority() {
        let secrets = [Secret::random(), Secret::random()].map(|secret| secret.expect("random"));
        let of = |secret: &Secret| Identity::of_secret(secret).expect("keys");
        let (one, other) = (of(&secrets[0]), of(&secrets[0]));
        assert_eq!(public(&one), public(&other));
        assert_ne!(one.certificate, other.certificate);
        assert_ne!(public(&one), public(&of(&secrets[1])));
        let by_token = Identity::of_token(&format!("{}\n", secrets[0].text())).expect("a token");
        assert_eq!(public(&one), public(&by_token));
        let of_user = Identity::of_user(&secrets[0]).expect("keys");
        assert!(of_user.is_of_user() && !one.is_of_user());
    }

    #[test]
    fn tokens_have_one_form_and_passwords_any() {
        for weak in ["", "Summer2026!Winter", "0123456789abcdef0123456789abcdef01234567"] {
            assert!(matches!(Identity::of_token(weak), Err(KeyError::WeakToken)), "{weak}");
        }
        assert!(matches!(Identity::of_password(""), Err(KeyError::NoPassword)));
        let (one, other) = (Identity::of_password("x"), Identity::of_password("x"));
        let (one, other) = (one.expect("keys"), other.expect("keys"));
        assert_eq!(public(&one), public(&other));
        assert_ne!(public(&one), public(&Identity::of_password("y").expect("keys")));
        let token = crate::new_token().expect("random");
        let by = [Identity::of_token(&token), Identity::of_password(&token)];
        let [by_token, by_password] = by.map(|identity| identity.expect("keys"));
        assert_eq!(public(&by_token), public(&by_password));
    }

    #[test]
    fn the_derivation_of_a_password_is_argon2id() {
        // Made by the reference implementation in C, with the same parameters.
        let secret = derived("password").expect("memory");
        let hex: String = secret.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let reference = "92bb79b006dced54bff5c3845328e62c7dea774cbfa2765c9c8eb3c77e4d1b97";
        assert_eq!(hex, reference);
    }

    #[test]
    fn a_folder_of_keys_is_for_its_user_alone_and_is_never_overwritten() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("keys");
        let keys = Identity::generate(CLOCKS_DIFFER).expect("randomness");
        keys.write(&folder).expect("written");
        let again = Identity::read(&folder).expect("read");
        assert_eq!(again.fingerprint().expect("keys"), keys.fingerprint().expect("keys"));
        again.server().expect("usable");
        for name in FILES {
            let mode = fs::metadata(folder.join(name)).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let error = keys.write(&folder).expect_err("keys are there");
        assert!(error.to_string().contains("authority.pem"), "{error}");
        fs::write(folder.join("host.key"), "nonsense").expect("written");
        let broken = Identity::read(&folder).expect("read");
        assert!(broken.server().is_err());
        assert!(Identity::read(Path::new("/nonexistent")).is_err());
    }
}
