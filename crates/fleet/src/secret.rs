//! A secret of 32 bytes that hosts share, and its file: the key of a user.
//!
//! The first command of a user that needs a key makes one. Whoever can read it is that user, so
//! services and clients of one user on one host, or on hosts that share the home directory, know
//! each other without set-up.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::{KeyPair, PKCS_ED25519};
use rustix::process::geteuid;
use sha2::{Digest, Sha256};

/// Beginning of the text of a secret.
const PREFIX: &str = "candor-1-";
/// Place of the key of a user below the directory of configurations.
const USER_KEY: &str = "candor/fleet.key";
/// More is no key, in bytes.
const FILE_MAX: u64 = 4096;

/// Reason for which there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file of a folder of keys.
    #[error("cannot {what} `{}`: {cause}; make keys with `candor fleet keys DIR`", path.display())]
    File {
        /// The action that failed.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A token that a program could guess.
    #[error(
        "the token is not one that `candor fleet token` prints, so it could be guessed; make one \
         with `candor fleet token`"
    )]
    WeakToken,
    /// A password without a byte.
    #[error("the first line of the password file is empty; write a password there")]
    NoPassword,
    /// The key file of a user.
    #[error("the key `{}` {why}", path.display())]
    UserKey {
        /// The file.
        path: PathBuf,
        /// The fault and the remedy.
        why: String,
    },
    /// No place for the key file of a user.
    #[error(
        "this user has no place for a key: neither XDG_CONFIG_HOME nor HOME is set; set one, or \
         CANDOR_TOKEN to a token of `candor fleet token`"
    )]
    NoHome,
    /// A certificate or key that is none.
    #[error("the keys are no keys: {0}; make them again with `candor fleet keys DIR`")]
    Unusable(String),
}

/// A secret that cannot be guessed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The kernel has no random bytes.
    pub fn random() -> Result<Secret, KeyError> {
        let key = KeyPair::generate_for(&PKCS_ED25519);
        let key = key.map_err(|error| KeyError::Unusable(error.to_string()))?;
        Ok(Secret(Sha256::digest(key.serialized_der()).into()))
    }

    /// One of these bytes.
    pub fn of(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The text that [`Secret::parse`] reads.
    pub fn text(&self) -> String {
        let hex = self.0.iter().map(|byte| format!("{byte:02x}"));
        [PREFIX.to_owned()].into_iter().chain(hex).collect()
    }

    /// The secret in a text; none where the text has another form.
    pub fn parse(text: &str) -> Option<Secret> {
        let hex = text.trim().strip_prefix(PREFIX)?;
        if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Secret(bytes))
    }
}

/// A new token.
///
/// # Errors
/// The kernel has no random bytes.
pub fn new_token() -> Result<String, KeyError> {
    Secret::random().map(|secret| secret.text())
}

/// The key file of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserKey {
    /// The file.
    pub path: PathBuf,
}

impl UserKey {
    /// The key below a directory of configurations.
    pub fn below(config: &Path) -> UserKey {
        UserKey { path: config.join(USER_KEY) }
    }

    /// The key, which is made where there is none.
    ///
    /// # Errors
    /// The key cannot be made or read, or another user could have read or written it.
    pub fn read_or_make(&self) -> Result<Secret, KeyError> {
        if let Some(secret) = self.read()? {
            return Ok(secret);
        }
        self.make()?;
        // Another process may have been faster: all take the key that is there.
        self.read()?.ok_or_else(|| self.wrong("was removed while it was made; try again".into()))
    }

    /// The key; none where there is no file.
    ///
    /// # Errors
    /// The key cannot be read, or another user could have read or written it.
    pub fn read(&self) -> Result<Option<Secret>, KeyError> {
        let mut options = File::options();
        // A pipe would wait for a writer.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = match options.open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(self.wrong("is a link; put the file itself there".into()));
            }
            Err(error) => return Err(self.wrong(format!("cannot be read: {error}"))),
        };
        let found = file.metadata().map_err(|error| self.wrong(error.to_string()))?;
        self.check(&found)?;
        let mut text = String::new();
        let read = file.take(FILE_MAX).read_to_string(&mut text);
        read.map_err(|error| self.wrong(format!("cannot be read: {error}")))?;
        let secret = Secret::parse(&text).ok_or_else(|| {
            self.wrong("holds no key of candor; remove it, and the next start makes one".into())
        });
        secret.map(Some)
    }

    /// Checks that only this user can have read or written it.
    fn check(&self, found: &Metadata) -> Result<(), KeyError> {
        let own = geteuid().as_raw();
        if !found.is_file() {
            return Err(self.wrong("is no file; move it away".into()));
        }
        if found.uid() != own {
            let owner = found.uid();
            let remedy = "set HOME or XDG_CONFIG_HOME to a directory of your own";
            return Err(self.wrong(format!("belongs to user {owner}, not to {own}; {remedy}")));
        }
        match found.mode() & 0o077 {
            0 => Ok(()),
            mode => Err(self.wrong(format!(
                "can be read by other users (mode {:o}); run `chmod 600`, or remove it if another \
                 user may have read it",
                0o600 | mode
            ))),
        }
    }

    /// Makes the file at once, whole; a file or link that is there stays.
    fn make(&self) -> Result<(), KeyError> {
        let failed = |error: io::Error| {
            self.wrong(format!(
                "cannot be made: {error}; set XDG_CONFIG_HOME to a directory of your own, or \
                 CANDOR_TOKEN to a token of `candor fleet token`"
            ))
        };
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        self.check_owner(folder)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let secret = Secret::random()?;
        let name = format!(".fleet.key.{}", Secret::random()?.text());
        let draft = folder.join(name);
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(&draft);
        let written = file.and_then(|mut file| {
            file.write_all(format!("{}\n", secret.text()).as_bytes())?;
            file.sync_all()
        });
        let linked = written.and_then(|()| match fs::hard_link(&draft, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let removed = fs::remove_file(&draft);
        linked.and(removed).map_err(failed)
    }

    /// Refuses a place of another user, into which only root could write: the file would keep that
    /// user from having a key.
    fn check_owner(&self, folder: &Path) -> Result<(), KeyError> {
        let there = folder.ancestors().find_map(|folder| folder.metadata().ok());
        let owner = there.map_or(0, |found| found.uid());
        if geteuid().is_root() && owner != 0 {
            Err(self.wrong(format!(
                "is not made: its directory belongs to user {owner}, and this is root; set HOME \
                 to root's, or run it as that user"
            )))
        } else {
            Ok(())
        }
    }

    fn wrong(&self, why: String) -> KeyError {
        KeyError::UserKey { path: self.path.clone(), why }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn secrets_have_one_text() {
        let secret = Secret::random().expect("random");
        assert_eq!(Secret::parse(&format!(" {}\n", secret.text())), Some(secret.clone()));
        assert_ne!(secret, Secret::random().expect("random"));
        assert_eq!(format!("{secret:?}"), "Secret");
        let text = secret.text();
        for wrong in ["", "candor-1-", &text[1..], &text[..72], &format!("{text}0"), "candor-1-é"]
        {
            assert_eq!(Secret::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_first_start_makes_a_key_for_this_user_alone_and_all_take_it() {
        let home = tempfile::tempdir().expect("a folder");
        let key = UserKey::below(&home.path().join("config"));
        assert_eq!(key.read().expect("no file"), None);
        let secrets: Vec<Secret> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| key.read_or_make())).collect();
            starts.into_iter().map(|start| start.join().expect("a key").expect("a key")).collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]), "one key for all");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let folder = key.path.parent().expect("a folder");
        assert_eq!((mode(&key.path), mode(folder)), (0o600, 0o700));
        assert_eq!(fs::read_dir(folder).expect("listed").count(), 1, "drafts are left");
    }

    #[test]
    fn what_others_could_have_read_or_laid_is_no_key() {
        let home = tempfile::tempdir().expect("a folder");
        let key = UserKey::below(home.path());
        let wrong = || key.read_or_make().expect_err("refused").to_string();
        key.read_or_make().expect("a key");
        fs::set_permissions(&key.path, fs::Permissions::from_mode(0o640)).expect("changed");
        assert!(wrong().contains("can be read by other users (mode 640)"), "{}", wrong());
        let elsewhere = home.path().join("elsewhere");
        fs::rename(&key.path, &elsewhere).expect("moved");
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).expect("changed");
        symlink(&elsewhere, &key.path).expect("linked");
        assert!(wrong().contains("is a link"), "{}", wrong());
        fs::remove_file(&elsewhere).expect("removed");
        assert!(wrong().contains("is a link"), "{}", wrong());
        assert!(!elsewhere.exists(), "a key was made over a link");
        fs::remove_file(&key.path).expect("removed");
        fs::create_dir(&key.path).expect("made");
        assert!(wrong().contains("is no file"), "{}", wrong());
        fs::remove_dir(&key.path).expect("removed");
        fs::write(&key.path, "nonsense").expect("written");
        fs::set_permissions(&key.path, fs::Permissions::from_mode(0o600)).expect("changed");
        assert!(wrong().contains("holds no key of candor"), "{}", wrong());
    }

    #[test]
    fn root_makes_no_key_in_the_home_of_another_user() {
        if !geteuid().is_root() {
            println!("skipped: root_makes_no_key_in_the_home_of_another_user: it needs root");
            return;
        }
        let home = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::chown(home.path(), Some(65534), None).expect("root may");
        let key = UserKey::below(home.path());
        let error = key.read_or_make().expect_err("refused").to_string();
        assert!(error.contains("its directory belongs to user 65534"), "{error}");
        assert!(!key.path.exists());
    }
}
