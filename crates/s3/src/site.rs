//! A site: the service that answers at an endpoint, and where its buckets are.

use std::net::IpAddr;

use crate::encode;
use crate::names::{NameError, check_bucket, check_path_bucket};

/// Position of the bucket's name in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// First part of the path: `http://endpoint/bucket/key`.
    #[default]
    Path,
    /// Part of the host: `http://bucket.endpoint/key`.
    VirtualHost,
}

/// A site cannot be addressed as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteError(String);

impl std::fmt::Display for SiteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SiteError {}

/// An endpoint and the scope of its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    authority: String,
    addressing: Addressing,
    /// Region in signatures, such as `us-east-1`.
    pub region: String,
    /// Service in signatures: `s3`.
    pub service: String,
}

impl Site {
    /// A site of S3. The authority is the host of the `Host` header, with the port unless it is the
    /// scheme's default.
    ///
    /// # Errors
    /// An authority that is no host, a region with other characters, and an IP address with buckets
    /// in the host's name.
    pub fn new(authority: &str, region: &str, addressing: Addressing) -> Result<Site, SiteError> {
        if authority.is_empty() || !authority.chars().all(is_of_authority) {
            let rule = "must be a host, or a host and a port: HOST:9000";
            return Err(SiteError(format!("endpoint `{authority}` {rule}")));
        }
        if !region.chars().all(is_of_region) {
            let rule = "must have letters, digits and hyphens only, such as us-east-1";
            return Err(SiteError(format!("region {region:?} {rule}")));
        }
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        let is_address = authority.starts_with('[') || host.parse::<IpAddr>().is_ok();
        if addressing == Addressing::VirtualHost && is_address {
            let remedy = "use path addressing, or a host name";
            return Err(SiteError(format!(
                "a bucket's name cannot precede the address {authority}: {remedy}"
            )));
        }
        let (authority, region) = (authority.to_owned(), region.to_owned());
        Ok(Site { authority, addressing, region, service: "s3".to_owned() })
    }

    /// The place of the site itself: lists of buckets, and objects without a bucket (WebDAV).
    pub fn root(&self) -> Place {
        Place { host: self.authority.clone(), base: "/".to_owned() }
    }

    /// The place of a bucket.
    ///
    /// # Errors
    /// A name with a slash or without characters; with virtual hosts, a name that breaks a rule of
    /// S3.
    pub fn bucket(&self, name: &str) -> Result<Place, NameError> {
        let mut base = "/".to_owned();
        match self.addressing {
            Addressing::Path => {
                check_path_bucket(name)?;
                encode::path(&mut base, name);
                Ok(Place { host: self.authority.clone(), base })
            }
            Addressing::VirtualHost => {
                check_bucket(name)?;
                Ok(Place { host: format!("{name}.{}", self.authority), base })
            }
        }
    }
}

fn is_of_authority(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:[]".contains(c)
}

fn is_of_region(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._".contains(c)
}

/// A bucket in requests, made once for many requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Value of the `Host` header, which signatures contain.
    pub host: String,
    /// Path of the bucket in its encoded form: `/` or `/bucket`.
    base: String,
}

impl Place {
    /// Writes the path of the bucket.
    pub(crate) fn path(&self, target: &mut String) {
        target.push_str(&self.base);
    }

    /// Writes the path of a key.
    pub(crate) fn key(&self, target: &mut String, key: &str) {
        target.push_str(&self.base);
        if !target.ends_with('/') {
            target.push('/');
        }
        encode::path(target, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(place: &Place, key: &str) -> String {
        let mut target = String::new();
        place.key(&mut target, key);
        target
    }

    #[test]
    fn both_addressings_lead_to_a_key() {
        let site = Site::new("host:9000", "r", Addressing::Path).unwrap();
        let bucket = site.bucket("bkt").unwrap();
        assert_eq!(
            (bucket.host.as_str(), path_of(&bucket, "a b").as_str()),
            ("host:9000", "/bkt/a%20b")
        );
        assert_eq!(path_of(&site.root(), "b/k"), "/b/k");
        let site = Site::new("host:9000", "r", Addressing::VirtualHost).unwrap();
        let bucket = site.bucket("bkt").unwrap();
        assert_eq!(
            (bucket.host.as_str(), path_of(&bucket, "/k").as_str()),
            ("bkt.host:9000", "//k")
        );
    }

    #[test]
    fn a_name_cannot_leave_its_position() {
        let site = Site::new("host", "r", Addressing::VirtualHost).unwrap();
        assert!(site.bucket("a\r\nX: y").is_err() && site.bucket("a/b").is_err());
        let site = Site::new("host", "r", Addressing::Path).unwrap();
        assert!(site.bucket("").is_err() && site.bucket("a/b").is_err());
        assert!(site.bucket("My_Bucket").is_ok());
    }

    #[test]
    fn bad_endpoints_name_the_rule() {
        for authority in ["", "http://host", "a b", "host/path", "host\r\nX: y"] {
            let error = Site::new(authority, "r", Addressing::Path).unwrap_err();
            assert!(error.to_string().contains("must be a host"), "{error}");
        }
        let error = Site::new("host", "a b\r\n", Addressing::Path).unwrap_err();
        assert!(error.to_string().contains("us-east-1"), "{error}");
        for authority in ["127.0.0.1", "127.0.0.1:9000", "[::1]:9000"] {
            let error = Site::new(authority, "r", Addressing::VirtualHost).unwrap_err();
            assert!(error.to_string().contains("use path addressing"), "{error}");
        }
    }
}
