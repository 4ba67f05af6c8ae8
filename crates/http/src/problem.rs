//! Problems of settings, before any request.

use std::path::PathBuf;

/// Reason for which no transport or client exists.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// No endpoint is given.
    #[error("no endpoint is given: name at least one, such as http://host:9000")]
    NoEndpoint,
    /// The text of an endpoint breaks a rule.
    #[error("endpoint \"{text}\": {rule}")]
    Endpoint {
        /// The endpoint as given.
        text: String,
        /// The rule and the remedy.
        rule: String,
    },
    /// A proxy is reached by TLS.
    #[error("proxy \"{proxy}\": only plain proxies are supported: write http://")]
    Proxy {
        /// The proxy.
        proxy: String,
    },
    /// The file of certificates is unreadable.
    #[error("certificates in \"{}\": {reason}: name a PEM file of certificates", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Message of the reader.
        reason: String,
    },
    /// No certificate authority is known.
    #[error(
        "the system's store has no certificate authority ({reason}): \
         name one with a PEM file, or disable verification"
    )]
    NoAuthority {
        /// First error of the store, or "the store is empty".
        reason: String,
    },
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The kernel refused a resource.
    #[error("{call}: {reason}")]
    Kernel {
        /// The system call.
        call: &'static str,
        /// The kernel's error.
        reason: std::io::Error,
    },
}
