//! Lists of users: `access:secret` per line or per comma.

use super::{CredentialError, Credentials};

/// Users, and entries that are no users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialList {
    /// Users in the order of the list.
    pub users: Vec<Credentials>,
    /// Bad entries, with their places.
    pub bad: Vec<CredentialError>,
}

impl CredentialList {
    /// Users of a file's text, one per line. `#` begins a comment line; empty lines are skipped.
    pub fn of_file(path: &str, text: &str) -> CredentialList {
        let mut list = CredentialList::default();
        for (at, line) in text.lines().enumerate() {
            list.add(&format!("{path}:{}", at + 1), line);
        }
        list
    }

    /// Users of an option's value, separated by commas.
    pub fn of_option(option: &str, text: &str) -> CredentialList {
        let mut list = CredentialList::default();
        for (at, entry) in text.split(',').enumerate() {
            list.add(&format!("{option}, entry {}", at + 1), entry);
        }
        list
    }

    fn add(&mut self, place: &str, entry: &str) {
        let entry = entry.trim();
        if entry.is_empty() || entry.starts_with('#') {
            return;
        }
        let user = match entry.split_once(':') {
            Some((access, secret)) => Credentials::new(place, access.trim(), secret.trim(), None),
            None => Err(CredentialError::new(place, "an entry has the form ACCESS:SECRET")),
        };
        match user {
            Ok(user) => self.users.push(user),
            Err(error) => self.bad.push(error),
        }
    }
}
