//! Keys of users, and where they are found.

use std::fmt;

use crate::encode;

mod list;
mod profile;
mod search;
#[cfg(test)]
mod tests;

pub use self::list::CredentialList;
pub use self::search::{Found, Host, Surroundings, find};

/// Keys cannot be used, or not be found. The sentence contains no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialError {
    place: String,
    rule: String,
}

impl CredentialError {
    fn new(place: impl Into<String>, rule: impl Into<String>) -> CredentialError {
        CredentialError { place: place.into(), rule: rule.into() }
    }
}

impl fmt::Display for CredentialError {
    /// Place (file and line, variable, or kind of key) and rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)
    }
}

impl std::error::Error for CredentialError {}

/// A text that no output contains.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text. `place` is for the error, such as the name of an option.
    ///
    /// # Errors
    /// Control characters, which headers cannot contain.
    pub fn new(place: &str, text: &str) -> Result<Secret, CredentialError> {
        printable(place, text)?;
        Ok(Secret(text.to_owned()))
    }

    /// A key of bytes, as base64.
    pub fn of_bytes(bytes: &[u8]) -> Secret {
        Secret::made(encode::to_base64(bytes))
    }

    /// A text that this crate made.
    pub(crate) fn made(text: String) -> Secret {
        debug_assert!(!text.contains(char::is_control), "base64 has no control characters");
        Secret(text)
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

fn printable(place: &str, text: &str) -> Result<(), CredentialError> {
    if text.contains(char::is_control) {
        let rule = "control characters in a key: remove the line end";
        return Err(CredentialError::new(place, rule));
    }
    Ok(())
}

/// Keys of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: Secret,
    pub(crate) session_token: Option<Secret>,
}

impl Credentials {
    /// Keys from one place, which errors name: an option, a variable, a file.
    ///
    /// # Errors
    /// An empty key; control characters; blanks in the access key.
    pub fn new(
        place: &str,
        access_key: &str,
        secret_key: &str,
        session_token: Option<&str>,
    ) -> Result<Credentials, CredentialError> {
        printable(place, access_key)?;
        if access_key.is_empty() || secret_key.is_empty() {
            return Err(CredentialError::new(place, "access key and secret key are both needed"));
        }
        if access_key.contains([' ', '/', ',']) {
            let rule = "an access key has no blanks, slashes and commas";
            return Err(CredentialError::new(place, rule));
        }
        Ok(Credentials {
            access_key: access_key.to_owned(),
            secret_key: Secret::new(place, secret_key)?,
            session_token: session_token.map(|token| Secret::new(place, token)).transpose()?,
        })
    }

    /// A secret of that name.
    ///
    /// # Panics
    /// If the name is empty.
    pub fn with_secret(name: &str, secret_key: Secret) -> Credentials {
        assert!(!name.is_empty(), "a secret has a name");
        Credentials { access_key: name.to_owned(), secret_key, session_token: None }
    }

    /// The secret.
    pub fn secret_key(&self) -> &Secret {
        &self.secret_key
    }

    /// Name of the key. Requests contain it.
    pub fn access_key(&self) -> &str {
        &self.access_key
    }
}
