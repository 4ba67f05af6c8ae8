//! Keys of users.

use std::fmt;

/// A text that no output contains.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text, for signatures and for headers that carry a token.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Keys of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Name of the key, which requests contain.
    pub access_key: String,
    /// Key of signatures, which requests do not contain.
    pub secret_key: Secret,
    /// Token of temporary keys.
    pub session_token: Option<Secret>,
}
