//! Headers of an operation that are the same for many requests: checked and written once.

use std::fmt;

use crate::checksum::{Algorithm, Md5Sum};
use crate::credentials::Secret;
use crate::{dates, encode};

/// A header cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    name: String,
    rule: &'static str,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header {:?}: {}", self.name, self.rule)
    }
}

impl std::error::Error for HeaderError {}

/// Server-side encryption of new objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// Keys of the server.
    S3,
    /// Keys of the key service.
    Kms {
        /// Id of the key; the default key of the account if none.
        key: Option<String>,
    },
    /// A key of the client, of 256 bits. Each access to the object needs it.
    Customer {
        /// The key as base64.
        key: Secret,
    },
}

/// Canned access control list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannedAcl {
    /// Access for the owner.
    Private,
    /// Reading for each user.
    PublicRead,
    /// Reading and writing for each user.
    PublicReadWrite,
    /// Reading for each user with an account.
    AuthenticatedRead,
    /// Reading for the bucket's owner.
    BucketOwnerRead,
    /// Full control for the bucket's owner.
    BucketOwnerFullControl,
}

impl CannedAcl {
    /// Each list.
    pub const ALL: [CannedAcl; 6] = [
        CannedAcl::Private,
        CannedAcl::PublicRead,
        CannedAcl::PublicReadWrite,
        CannedAcl::AuthenticatedRead,
        CannedAcl::BucketOwnerRead,
        CannedAcl::BucketOwnerFullControl,
    ];

    /// Name in headers.
    pub fn name(self) -> &'static str {
        match self {
            CannedAcl::Private => "private",
            CannedAcl::PublicRead => "public-read",
            CannedAcl::PublicReadWrite => "public-read-write",
            CannedAcl::AuthenticatedRead => "authenticated-read",
            CannedAcl::BucketOwnerRead => "bucket-owner-read",
            CannedAcl::BucketOwnerFullControl => "bucket-owner-full-control",
        }
    }
}

/// Right of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// All rights.
    FullControl,
    /// Reading content.
    Read,
    /// Writing content.
    Write,
    /// Reading the access control list.
    ReadAcp,
    /// Writing the access control list.
    WriteAcp,
}

impl Permission {
    /// All of them.
    pub(crate) const ALL: [Permission; 5] = [
        Permission::FullControl,
        Permission::Read,
        Permission::Write,
        Permission::ReadAcp,
        Permission::WriteAcp,
    ];

    /// Name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Permission::FullControl => "FULL_CONTROL",
            Permission::Read => "READ",
            Permission::Write => "WRITE",
            Permission::ReadAcp => "READ_ACP",
            Permission::WriteAcp => "WRITE_ACP",
        }
    }

    fn header(self) -> &'static str {
        match self {
            Permission::FullControl => "x-amz-grant-full-control",
            Permission::Read => "x-amz-grant-read",
            Permission::Write => "x-amz-grant-write",
            Permission::ReadAcp => "x-amz-grant-read-acp",
            Permission::WriteAcp => "x-amz-grant-write-acp",
        }
    }
}

/// Receiver of a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grantee {
    /// Canonical id of a user.
    Id(String),
    /// Mail address of an account.
    Email(String),
    /// URI of a group.
    Group(String),
}

/// Name and value of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Protection of an object against removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Users with a special right may remove the object.
    Governance,
    /// No user may remove the object before the end.
    Compliance,
}

impl LockMode {
    /// Name in headers and documents.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::Governance => "GOVERNANCE",
            LockMode::Compliance => "COMPLIANCE",
        }
    }
}

const UNTIL: &str = "x-amz-object-lock-retain-until-date";

/// Protection of an object until a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    pub(crate) mode: LockMode,
    /// `2013-05-24T00:00:00Z`
    pub(crate) until: String,
}

impl Retention {
    /// Protection until a time in seconds since 1970.
    ///
    /// # Errors
    /// A time after the year 9999.
    pub fn new(mode: LockMode, until_unix_s: u64) -> Result<Retention, HeaderError> {
        let Some(until) = dates::iso(until_unix_s) else {
            return Err(HeaderError { name: UNTIL.to_owned(), rule: "the year is after 9999" });
        };
        Ok(Retention { mode, until })
    }
}

/// Form of a multipart object's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumForm {
    /// Checksum of the whole content.
    FullObject,
    /// Checksum of the parts' checksums.
    Composite,
}

impl ChecksumForm {
    /// Name in headers.
    pub fn name(self) -> &'static str {
        match self {
            ChecksumForm::FullObject => "FULL_OBJECT",
            ChecksumForm::Composite => "COMPOSITE",
        }
    }
}

/// Lines of headers. Output contains names only, since values may be keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    lines: String,
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Headers {
    /// No headers.
    pub fn new() -> Headers {
        Headers::default()
    }

    /// The lines, each with its end.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.lines.lines().filter_map(|line| line.split_once(':').map(|(name, _)| name))
    }

    /// Adds a header.
    ///
    /// # Errors
    /// A name that is no token or is present already, and a value with control characters.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), HeaderError> {
        if let Some(rule) = self.broken_rule(name, value) {
            return Err(HeaderError { name: name.to_owned(), rule });
        }
        for text in [name, ": ", value.trim(), "\r\n"] {
            self.lines.push_str(text);
        }
        Ok(())
    }

    /// The rule that a new header breaks.
    fn broken_rule(&self, name: &str, value: &str) -> Option<&'static str> {
        if name.is_empty() || !name.chars().all(is_token) {
            return Some("a name consists of letters, digits and hyphens");
        }
        if value.contains(char::is_control) {
            return Some("a value has no control characters");
        }
        let is_present = self.names().any(|other| other.eq_ignore_ascii_case(name));
        is_present.then_some("present twice: give it once")
    }

    /// Adds metadata of the user: `x-amz-meta-NAME`.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn metadata(&mut self, name: &str, value: &str) -> Result<(), HeaderError> {
        self.add(&format!("x-amz-meta-{name}"), value)
    }

    /// Adds tags of a new object.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn tags(&mut self, tags: &[Tag]) -> Result<(), HeaderError> {
        let mut text = String::new();
        for Tag { name, value } in tags {
            if !text.is_empty() {
                text.push('&');
            }
            encode::value(&mut text, name);
            text.push('=');
            encode::value(&mut text, value);
        }
        self.add("x-amz-tagging", &text)
    }

    /// Adds the storage class of a new object.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn storage_class(&mut self, class: &str) -> Result<(), HeaderError> {
        self.add("x-amz-storage-class", class)
    }

    /// Adds a canned access control list.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn acl(&mut self, acl: CannedAcl) -> Result<(), HeaderError> {
        self.add("x-amz-acl", acl.name())
    }

    /// Adds a grant.
    ///
    /// # Errors
    /// Errors of [`Headers::add`]; quotes in the grantee.
    pub fn grant(&mut self, permission: Permission, to: &Grantee) -> Result<(), HeaderError> {
        let (kind, name) = match to {
            Grantee::Id(id) => ("id", id),
            Grantee::Email(address) => ("emailAddress", address),
            Grantee::Group(uri) => ("uri", uri),
        };
        let header = permission.header();
        if name.contains('"') {
            let rule = "a grantee has no quotes";
            return Err(HeaderError { name: header.to_owned(), rule });
        }
        self.add(header, &format!("{kind}=\"{name}\""))
    }

    /// Adds the encryption of a new object.
    ///
    /// # Errors
    /// Errors of [`Headers::customer_key`].
    pub fn encryption(&mut self, encryption: &Encryption) -> Result<(), HeaderError> {
        const NAME: &str = "x-amz-server-side-encryption";
        match encryption {
            Encryption::S3 => self.add(NAME, "AES256"),
            Encryption::Kms { key } => {
                self.add(NAME, "aws:kms")?;
                let Some(key) = key else { return Ok(()) };
                self.add("x-amz-server-side-encryption-aws-kms-key-id", key)
            }
            Encryption::Customer { key } => self.customer_key(key),
        }
    }

    /// Adds the client's key, which each access to such an object needs: put, get, head, parts.
    ///
    /// # Errors
    /// A key that is not base64 of 32 bytes; errors of [`Headers::add`].
    pub fn customer_key(&mut self, key: &Secret) -> Result<(), HeaderError> {
        const KEY: &str = "x-amz-server-side-encryption-customer-key";
        let bytes = encode::from_base64(key.expose()).filter(|bytes| bytes.len() == 32);
        let Some(bytes) = bytes else {
            let rule = "a key is base64 of 32 bytes: `openssl rand -base64 32` makes one";
            return Err(HeaderError { name: KEY.to_owned(), rule });
        };
        self.add("x-amz-server-side-encryption-customer-algorithm", "AES256")?;
        self.add(KEY, key.expose())?;
        let sum = Md5Sum::of(&bytes);
        self.add("x-amz-server-side-encryption-customer-key-MD5", sum.text().as_str())
    }

    /// Refuses to replace an object: the answer is 412 if the key exists.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn unless_exists(&mut self) -> Result<(), HeaderError> {
        self.add("if-none-match", "*")
    }

    /// Protects a new object until a time.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn retain(&mut self, retention: &Retention) -> Result<(), HeaderError> {
        self.add("x-amz-object-lock-mode", retention.mode.name())?;
        self.add(UNTIL, &retention.until)
    }

    /// Requests checksums in answers to get and head.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn answer_checksums(&mut self) -> Result<(), HeaderError> {
        self.add("x-amz-checksum-mode", "ENABLED")
    }

    /// Announces the checksums of the parts of a multipart upload.
    ///
    /// # Errors
    /// Errors of [`Headers::add`].
    pub fn part_checksums(
        &mut self,
        algorithm: Algorithm,
        form: ChecksumForm,
    ) -> Result<(), HeaderError> {
        self.add("x-amz-checksum-algorithm", algorithm.name())?;
        self.add("x-amz-checksum-type", form.name())
    }
}

/// True for characters of a header's name.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_once() {
        let mut headers = Headers::new();
        headers.metadata("a", " b ").unwrap();
        headers.tags(&[Tag { name: "k 1".to_owned(), value: "v&".to_owned() }]).unwrap();
        headers.grant(Permission::Read, &Grantee::Id("i".to_owned())).unwrap();
        assert_eq!(
            headers.lines(),
            "x-amz-meta-a: b\r\nx-amz-tagging: k%201=v%26\r\nx-amz-grant-read: id=\"i\"\r\n"
        );
        assert_eq!(
            headers.metadata("A", "c").unwrap_err().to_string(),
            "header \"x-amz-meta-A\": present twice: give it once"
        );
    }

    #[test]
    fn a_value_cannot_add_a_header() {
        let mut headers = Headers::new();
        for (name, value) in [("a", "b\r\nc: d"), ("a\r\nb", "c"), ("", "a"), ("a b", "c")] {
            assert!(headers.metadata(name, value).is_err() || name.is_empty(), "{name}");
        }
        assert!(headers.add("", "a").is_err());
    }

    #[test]
    fn customer_keys_are_checked_and_hidden() {
        let mut headers = Headers::new();
        let bad = Encryption::Customer { key: Secret::new("key", "short").unwrap() };
        assert!(headers.encryption(&bad).unwrap_err().to_string().contains("openssl rand"));
        let key = Secret::new("key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=").unwrap();
        headers.customer_key(&key).unwrap();
        assert!(headers.lines().contains(key.expose()));
        assert!(headers.lines().contains("-customer-key-MD5: "));
        assert!(!format!("{headers:?}").contains(key.expose()));
    }
}
