//! Names of buckets and keys, and `s3://` addresses.

use std::fmt;
use std::net::Ipv4Addr;

/// A name breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// Kind of the name.
    what: &'static str,
    name: String,
    rule: &'static str,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NameError { what, name, rule } = self;
        write!(f, "{what} {name:?}: {rule}")
    }
}

impl std::error::Error for NameError {}

/// Checks the name of a bucket by the rules of S3.
///
/// # Errors
/// The first rule that the name breaks.
pub fn check_bucket(name: &str) -> Result<(), NameError> {
    match bucket_rule(name) {
        Some(rule) => Err(NameError { what: "bucket", name: name.to_owned(), rule }),
        None => Ok(()),
    }
}

/// Checks the name of a bucket in a path. Servers other than AWS accept names that break the rules
/// of S3.
///
/// # Errors
/// An empty name, and a name with a slash.
pub fn check_path_bucket(name: &str) -> Result<(), NameError> {
    if !name.is_empty() && !name.contains('/') {
        return Ok(());
    }
    let rule = "a name is not empty and has no slash";
    Err(NameError { what: "bucket", name: name.to_owned(), rule })
}

/// The rule that a bucket's name breaks.
fn bucket_rule(name: &str) -> Option<&'static str> {
    const RESERVED_STARTS: [&str; 3] = ["xn--", "sthree-", "amzn-s3-demo-"];
    const RESERVED_ENDS: [&str; 3] = ["-s3alias", "--ol-s3", ".mrap"];
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return Some("a name has 3 to 63 characters");
    };
    if !(3..=63).contains(&bytes.len()) {
        return Some("a name has 3 to 63 characters");
    }
    if !bytes.iter().all(|byte| is_alphanumeric(*byte) || b".-".contains(byte)) {
        return Some("a name has lower-case letters, digits, dots and hyphens only");
    }
    if !is_alphanumeric(*first) || !is_alphanumeric(*last) {
        return Some("a name begins and ends with a letter or a digit");
    }
    if name.contains("..") {
        return Some("a name has no two dots in a row");
    }
    if name.parse::<Ipv4Addr>().is_ok() {
        return Some("a name is no IP address");
    }
    if RESERVED_STARTS.iter().any(|start| name.starts_with(start)) {
        return Some("names that begin with xn--, sthree- or amzn-s3-demo- are reserved");
    }
    if RESERVED_ENDS.iter().any(|end| name.ends_with(end)) {
        return Some("names that end with -s3alias, --ol-s3 or .mrap are reserved");
    }
    None
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Checks a key.
///
/// # Errors
/// An empty key, and a key of more than 1024 bytes.
pub fn check_key(key: &str) -> Result<(), NameError> {
    if (1..=1024).contains(&key.len()) {
        return Ok(());
    }
    let rule = "a key has 1 to 1024 bytes of UTF-8";
    Err(NameError { what: "key", name: key.chars().take(40).collect(), rule })
}

/// `s3://bucket/prefix`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Url {
    /// Bucket, by the rules of S3.
    pub bucket: String,
    /// Beginning of keys; empty for the whole bucket.
    pub prefix: String,
}

impl S3Url {
    /// Reads an address.
    ///
    /// # Errors
    /// Another scheme; a bucket or a prefix that breaks a rule.
    pub fn parse(text: &str) -> Result<S3Url, NameError> {
        let Some(rest) = text.strip_prefix("s3://") else {
            let rule = "an address has the form s3://BUCKET/PREFIX";
            return Err(NameError { what: "address", name: text.to_owned(), rule });
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        check_bucket(bucket)?;
        if !prefix.is_empty() {
            check_key(prefix)?;
        }
        Ok(S3Url { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl fmt::Display for S3Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn good_names_pass() {
        for name in ["abc", "a-b.c1", "1.2.3", &"a".repeat(63)] {
            assert_eq!(check_bucket(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn bad_names_have_their_rule() {
        for (name, rule) in [
            ("ab", "3 to 63"),
            ("", "3 to 63"),
            ("My-bucket", "lower-case"),
            ("a_b", "lower-case"),
            ("-abc", "begins and ends"),
            ("abc.", "begins and ends"),
            ("a..b", "two dots"),
            ("192.168.0.1", "IP address"),
            ("xn--abc", "reserved"),
            ("abc-s3alias", "reserved"),
        ] {
            let error = check_bucket(name).unwrap_err().to_string();
            assert!(error.contains(rule) && error.contains(name), "{error}");
        }
    }

    #[test]
    fn keys_have_a_length() {
        assert!(check_key("").is_err() && check_key(&"é".repeat(513)).is_err());
        assert_eq!(check_key(&"é".repeat(512)), Ok(()));
    }

    #[test]
    fn addresses_have_bucket_and_prefix() {
        let url = S3Url::parse("s3://abc/a//b c").unwrap();
        assert_eq!((url.bucket.as_str(), url.prefix.as_str()), ("abc", "a//b c"));
        assert_eq!(S3Url::parse("s3://abc").unwrap().to_string(), "s3://abc/");
        assert!(S3Url::parse("http://abc/").unwrap_err().to_string().contains("s3://BUCKET"));
        assert!(S3Url::parse("s3:///a").unwrap_err().to_string().contains("bucket \"\""));
    }

    proptest! {
        #[test]
        fn addresses_are_read_back(text in "(s3://)?[a-z.-]{0,10}(/\\PC{0,20})?") {
            if let Ok(url) = S3Url::parse(&text) {
                prop_assert_eq!(S3Url::parse(&url.to_string()), Ok(url));
            }
        }
    }
}
