//! Secrets that the user gave to this process: on a command line, or in a job file.
//!
//! A process is one command, so its secrets belong to the process. Plans and reports name access
//! keys only.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{CredentialError, Credentials};

/// Name under which a key of the client (SSE-C) is given.
pub const CUSTOMER_KEY: &str = "customer-key";

static GIVEN: Mutex<Vec<Credentials>> = Mutex::new(Vec::new());

/// Keeps the keys of a user. Later keys of the same name replace earlier ones.
pub fn give(credentials: Credentials) {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.retain(|known| known.access_key() != credentials.access_key());
    given.push(credentials);
}

/// The keys of a user that were given.
pub fn keys_of(access_key: &str) -> Option<Credentials> {
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.iter().find(|known| known.access_key() == access_key).cloned()
}

/// Keys on their way to another host of the run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentKeys {
    access_key: String,
    secret_key: String,
    session_token: Option<String>,
}

impl fmt::Debug for SentKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SentKeys({}, ***)", self.access_key)
    }
}

/// Keys of these users that were given, for another host.
pub fn sent<'a>(access_keys: impl IntoIterator<Item = &'a str>) -> Vec<SentKeys> {
    let keys = access_keys.into_iter().filter_map(keys_of);
    let sent = keys.map(|keys| SentKeys {
        access_key: keys.access_key.clone(),
        secret_key: keys.secret_key.expose().to_owned(),
        session_token: keys.session_token.map(|token| token.expose().to_owned()),
    });
    sent.collect()
}

/// Keeps keys that another host sent.
///
/// # Errors
/// Keys that cannot be used.
pub fn receive(keys: &[SentKeys]) -> Result<(), CredentialError> {
    for SentKeys { access_key, secret_key, session_token } in keys {
        let place = "keys from the coordinator";
        give(Credentials::new(place, access_key, secret_key, session_token.as_deref())?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_keys_of_a_name_count() {
        for secret in ["first", "second"] {
            give(Credentials::new("test", "vault-test", secret, None).expect("keys"));
        }
        let kept = keys_of("vault-test").expect("keys");
        assert_eq!(kept, Credentials::new("test", "vault-test", "second", None).expect("keys"));
        assert_eq!(keys_of("another"), None);
        let sent = sent(["vault-test", "another"]);
        assert!(!format!("{kept:?} {sent:?}").contains("second"));
        assert_eq!((sent.len(), receive(&sent)), (1, Ok(())));
    }
}
