//! Any file of profiles and of users is read without panic; errors do not contain secrets.
//!
//! `cargo +nightly fuzz run credentials`, in the folder above.
#![no_main]

use std::io;
use std::path::Path;

use candor_s3::credentials::{CredentialList, Surroundings, find};
use libfuzzer_sys::fuzz_target;

/// One text in each file.
struct Same<'a>(&'a str);

impl Surroundings for Same<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home".to_owned())
    }

    fn read(&self, _: &Path) -> io::Result<String> {
        Ok(self.0.to_owned())
    }
}

fuzz_target!(|text: &str| {
    for profile in [None, Some("default"), Some("a")] {
        let _ = find(&Same(text), profile);
    }
    let list = CredentialList::of_file("f", text);
    assert!(list.users.iter().all(|user| !user.access_key().is_empty()));
    for bad in list.bad {
        assert!(bad.to_string().starts_with("f:"));
    }
    let _ = CredentialList::of_option("o", text);
});
