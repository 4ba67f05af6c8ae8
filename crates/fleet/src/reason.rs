//! Reasons for which a connection broke or was refused, in plain words.

use std::error::Error;
use std::io;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as TlsError};

/// The end of a connection that its other end did not announce.
const CLOSED: &str = "it closed without a word";

/// Reason for which a connection broke or was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The other end has another key.
    OtherKey,
    /// Any other reason, as a part of a sentence.
    Other(String),
}

impl Reason {
    /// The reason in an error of whatever layer.
    pub fn of(error: &(dyn Error + 'static)) -> Reason {
        let layers: Vec<_> = layers(error).collect();
        if let Some(tls) = layers.iter().find_map(|layer| layer.downcast_ref()) {
            return of_tls(tls);
        }
        let deepest = layers.last().map(ToString::to_string).unwrap_or_default();
        if let Some(reason) = of_text(&deepest) {
            return reason;
        }
        let mut kinds = layers.iter().filter_map(|layer| layer.downcast_ref::<io::Error>());
        Reason::Other(match kinds.next_back().map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => {
                "Connection refused: nothing listens on that port".into()
            }
            Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
                "it was reset".into()
            }
            Some(io::ErrorKind::UnexpectedEof) => CLOSED.into(),
            _ => deepest,
        })
    }

    /// The words.
    pub fn text(&self) -> &str {
        match self {
            Reason::OtherKey => "it has another key",
            Reason::Other(text) => text,
        }
    }
}

/// An error and those below it, the deepest last.
fn layers<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + 'a {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        // The source of an error of the kernel's kinds skips the error that it holds.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
        Some(error)
    })
}

/// The reason of an error of TLS below HTTP/2, which keeps the text of errors only.
fn of_text(text: &str) -> Option<Reason> {
    use AlertDescription as Alert;
    let alerts = [
        Alert::CertificateExpired,
        Alert::BadCertificate,
        Alert::DecryptError,
        Alert::UnknownCA,
        Alert::CertificateRequired,
    ];
    let mut alerts = alerts.into_iter().map(TlsError::AlertReceived);
    if let Some(alert) = alerts.find(|alert| text.contains(&alert.to_string())) {
        return Some(of_tls(&alert));
    }
    text.contains("close_notify").then(|| Reason::Other(CLOSED.into()))
}

fn of_tls(error: &TlsError) -> Reason {
    use AlertDescription as Alert;
    use CertificateError as Certificate;
    let text = match error {
        TlsError::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. })
        | TlsError::AlertReceived(Alert::CertificateExpired) => "the keys have expired",
        TlsError::InvalidCertificate(_)
        | TlsError::AlertReceived(Alert::BadCertificate | Alert::DecryptError | Alert::UnknownCA) =>
        {
            return Reason::OtherKey;
        }
        TlsError::NoCertificatesPresented => "it showed no key",
        TlsError::AlertReceived(Alert::CertificateRequired) => "it demands a key",
        TlsError::InvalidMessage(_) => "it does not speak TLS",
        TlsError::PeerIncompatible(_) | TlsError::AlertReceived(Alert::ProtocolVersion) => {
            "it speaks another version of TLS"
        }
        other => return Reason::Other(other.to_string()),
    };
    Reason::Other(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_is_looked_through_and_no_address_of_a_page_is_left() {
        let wrapped = |tls: TlsError| io::Error::other(io::Error::other(tls));
        let cases = [
            (wrapped(TlsError::NoCertificatesPresented), "it showed no key"),
            (wrapped(TlsError::InvalidCertificate(CertificateError::Expired)), "the keys have"),
            (wrapped(TlsError::AlertReceived(AlertDescription::DecryptError)), "it has another"),
            (
                io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "peer closed connection: https://docs.rs/rustls/latest",
                ),
                "it closed without a word",
            ),
            (io::Error::other("error: received fatal alert: CertificateExpired"), "the keys have"),
            (io::Error::other("peer closed without close_notify: https://x"), "it closed without"),
            (io::Error::from(io::ErrorKind::ConnectionRefused), "Connection refused: nothing"),
            (io::Error::other("a word of the kernel"), "a word of the kernel"),
        ];
        for (error, text) in cases {
            assert!(Reason::of(&error).text().starts_with(text), "{:?}", Reason::of(&error));
        }
    }
}
