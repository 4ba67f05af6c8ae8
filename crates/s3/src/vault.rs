//! Secrets that the user gave to this process: on a command line, or in a job file.
//!
//! A process is one command, so its secrets belong to the process. Plans and reports name access
//! keys only.

use std::sync::{Mutex, PoisonError};

use crate::Credentials;

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

/// All keys that were given, for the hosts of a fleet.
pub fn all() -> Vec<Credentials> {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        assert!(!format!("{kept:?}").contains("second"));
    }
}
