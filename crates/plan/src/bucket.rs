//! Buckets: where objects are, how they are reached, and which keys they have.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::listing::Deal;
use crate::omit::is_default;
use crate::text_serde::text_serde;
use crate::units::UnitError;
use crate::{Bytes, Member, Nanos, Tree};

/// A bucket of an object store, or a container of Swift, or a folder of a WebDAV server.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Bucket {
    /// The name by which jobs refer to it.
    #[default("bucket")]
    pub name: String,
    /// Name at the server.
    pub bucket: String,
    /// Begin of all keys. `{hash:N}` becomes N hexadecimal digits that follow from the rest of the
    /// key, so that keys spread evenly over prefixes.
    #[serde(skip_serializing_if = "is_default")]
    pub prefix: KeyPrefix,
    /// Keys of its objects.
    pub keys: Keys,
    /// URLs of the servers: connections are dealt over them and over all their addresses. Absent
    /// means `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or Amazon's server of the region.
    pub endpoints: Vec<String>,
    /// Protocol of the servers.
    #[serde(skip_serializing_if = "is_default")]
    pub protocol: Protocol,
    /// Region for signatures; absent means `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, or
    /// `us-east-1`.
    pub region: Option<String>,
    /// Position of the bucket's name in URLs.
    #[serde(skip_serializing_if = "is_default")]
    pub addressing: Addressing,
    /// Origin of the keys that sign requests.
    #[serde(skip_serializing_if = "is_default")]
    pub credentials: CredentialSource,
    /// Accept any certificate of a server. The result states this.
    #[serde(skip_serializing_if = "is_default")]
    pub insecure: bool,
    /// File of certificates that are trusted in addition to the system's.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub ca_file: Option<PathBuf>,
    /// Memory of all servers together. Reads of less than twice as much data may come from their
    /// caches, which the judgement of the result states.
    pub server_memory: Option<Bytes>,
    /// Connections to the servers.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: Connections,
    /// Make the bucket if it does not exist, and remove it after the run if it is empty then.
    #[serde(skip_serializing_if = "is_default")]
    pub create: bool,
    /// Keep the objects that the run put. Other objects are never removed, unless a job deletes
    /// them.
    pub keep: bool,
    /// Consent to replace and to delete objects that the run did not put.
    pub overwrite: bool,
}

/// Keys of a bucket's objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// Computed like the paths of a tree.
    Tree(Box<Tree>),
    /// Objects by key, each with its size. Objects of at least `share_above` bytes are cut among
    /// all ranks; each other object belongs to one rank.
    Members(Members),
    /// Objects that exist below the prefix when a phase begins, in the order of the server's list.
    Existing(Existing),
}

impl Default for Keys {
    fn default() -> Keys {
        Keys::Tree(Box::default())
    }
}

/// Objects by key.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Members {
    /// The objects.
    pub objects: Vec<Member>,
    /// Bytes from which on an object is cut among all ranks; absent means none is.
    pub share_above: Option<Bytes>,
    /// Ranks that get the objects which are not cut.
    #[serde(skip_serializing_if = "is_default")]
    pub deal: Deal,
}

/// Objects that exist.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Existing {
    /// Number of objects to list at most; absent means all.
    pub first: Option<u64>,
    /// Versions of each object to list at most; absent means the current version only.
    pub versions: Option<u32>,
    /// Leave out keys with a `/` after the prefix.
    #[serde(skip_serializing_if = "is_default")]
    pub flat: bool,
}

/// Protocol of an object store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Amazon S3.
    #[default]
    S3,
    /// OpenStack Swift.
    Swift,
    /// WebDAV: plain PUT, GET and DELETE.
    Webdav,
}

/// Position of the bucket's name in URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Addressing {
    /// First part of the path.
    #[default]
    Path,
    /// First label of the host's name.
    VirtualHost,
}

/// Origin of credentials. A plan, a report and the history never contain a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum CredentialSource {
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or else the profile
    /// `AWS_PROFILE` of the user's credential file.
    #[default]
    Environment,
    /// A profile of the user's credential file.
    Profile(String),
    /// A file with a line `ACCESS_KEY:SECRET_KEY` per user; rank r signs as user r modulo users.
    #[serde(with = "crate::path_text::as_text")]
    #[schemars(with = "PathBuf")]
    File(PathBuf),
    /// Access keys (or user names) whose secrets were on the command line or in the job file; rank
    /// r signs as user r modulo users.
    Given(Vec<String>),
    /// Requests without a signature.
    Anonymous,
}

impl Bucket {
    /// Access keys whose secrets the user gave.
    pub fn given_keys(&self) -> &[String] {
        match &self.credentials {
            CredentialSource::Given(keys) => keys,
            _ => &[],
        }
    }
}

/// Settings of connections.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// Longest time for a connection and its TLS handshake.
    #[default(Nanos::from_secs(5))]
    pub connect_timeout: Nanos,
    /// Longest time without any byte in either direction during a request.
    #[default(Nanos::from_secs(300))]
    pub answer_timeout: Nanos,
    /// Use a connection for one request only.
    pub close_each: bool,
    /// Make all connections before the phase's clock starts; otherwise each with its first request.
    #[default(true)]
    pub connect_first: bool,
    /// Send `Expect: 100-continue` with each upload, and wait for the server's consent.
    pub expect_continue: bool,
    /// Set `TCP_QUICKACK` before each read, so that a server without `TCP_NODELAY` does not wait.
    pub quick_ack: bool,
    /// Send buffer of each socket; absent means the kernel's choice.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer of each socket; absent means the kernel's choice.
    pub receive_buffer: Option<Bytes>,
}

/// Begin of keys, with hexadecimal digits of a hash in one position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPrefix {
    /// Text before the digits, or all of it.
    pub before: String,
    /// Number of digits; 0 for none.
    pub digits: u8,
    /// Text after the digits.
    pub after: String,
}

/// Most digits of a hash in a prefix.
const DIGITS_MAX: u8 = 16;

impl fmt::Display for KeyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = [&self.before, &self.after].map(|text| text.replace('{', "{{"));
        let [before, after] = escaped.map(|text| text.replace('}', "}}"));
        match self.digits {
            0 => write!(f, "{before}{after}"),
            digits => write!(f, "{before}{{hash:{digits}}}{after}"),
        }
    }
}

impl FromStr for KeyPrefix {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<KeyPrefix, UnitError> {
        const HOW: &str = "write `{hash:4}` once for 4 digits, and `{{` or `}}` for a brace";
        let mut prefix = KeyPrefix::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            prefix.last().push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                prefix.last().push_str(brace);
                rest = after;
                continue;
            }
            let field = rest.split_once('}').filter(|_| brace == "{" && prefix.digits == 0);
            let digits = field.and_then(|(field, _)| field.strip_prefix("hash:")?.parse().ok());
            let digits = digits.filter(|digits| (1..=DIGITS_MAX).contains(digits));
            let (Some((_, after)), Some(digits)) = (field, digits) else {
                return Err(UnitError::new(text, "has a brace without a known field", HOW));
            };
            (prefix.digits, rest) = (digits, after);
        }
        prefix.last().push_str(rest);
        Ok(prefix)
    }
}

impl KeyPrefix {
    /// A literal prefix.
    pub fn literal(text: &str) -> KeyPrefix {
        KeyPrefix { before: text.to_owned(), ..KeyPrefix::default() }
    }

    fn last(&mut self) -> &mut String {
        if self.digits == 0 { &mut self.before } else { &mut self.after }
    }
}

text_serde!(KeyPrefix, "a begin of keys such as \"data{hash:4}/\"", |_| None);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_read_and_written() {
        for text in ["", "data/", "a{hash:3}/b", "{hash:16}", "{{x}}{hash:1}"] {
            let prefix: KeyPrefix = text.parse().expect("a prefix");
            assert_eq!(prefix.to_string(), text);
        }
        for bad in ["{", "}", "{hash:0}", "{hash:17}", "{hash}", "{rank}", "{hash:1}{hash:1}"] {
            assert!(bad.parse::<KeyPrefix>().is_err(), "{bad}");
        }
    }
}
