//! Buckets on the command line: `s3://BUCKET/PREFIX`, and options of their servers.

use candor_plan::bucket::{Addressing, Bucket, CredentialSource, KeyPrefix};
use candor_plan::path_of;

use crate::flag::{Flag, Group, Takes, put, put_some};
use crate::parse::one_of;

/// Begin of a target that is a bucket.
pub const SCHEME: &str = "s3://";

/// A bucket, and the begin of keys in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Name at the server.
    pub bucket: String,
    /// Begin of keys: empty, or with a slash at its end.
    pub prefix: String,
}

impl Url {
    /// The bucket that a text names; none for a path.
    ///
    /// # Errors
    /// A sentence, if the text has the scheme and no bucket.
    pub fn read(text: &str) -> Option<Result<Url, String>> {
        let rest = text.strip_prefix(SCHEME)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Some(Err(format!("`{text}` names no bucket; write s3://BUCKET/PREFIX")));
        }
        let end = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        Some(Ok(Url { bucket: bucket.to_owned(), prefix: format!("{prefix}{end}") }))
    }

    /// A bucket with settings of servers; `below` follows the prefix.
    pub fn on(&self, servers: &Bucket, below: &str) -> Bucket {
        let prefix = KeyPrefix::literal(&format!("{}{below}", self.prefix));
        Bucket { bucket: self.bucket.clone(), prefix, ..servers.clone() }
    }
}

/// Options of servers and users.
pub const SERVERS: &[Group<Bucket>] = &[Group {
    title: "S3",
    flags: &[
        Flag {
            long: "endpoint",
            takes: Takes::Many("URL"),
            help: "URL of an S3 server, such as http://HOST:9000; connections are dealt over \
                   several [default: AWS_ENDPOINT_URL, or Amazon's server of the region]",
            fields: &["bucket[0].endpoints"],
            set: |bucket, text| {
                bucket.endpoints.extend(text.split(',').map(str::to_owned));
                Ok(())
            },
        },
        Flag {
            long: "region",
            takes: Takes::One("NAME"),
            help: "Region for signatures [default: AWS_REGION, the profile's, or us-east-1]",
            fields: &["bucket[0].region"],
            set: |bucket, text| put_some(&mut bucket.region, Ok(text.to_owned())),
        },
        Flag {
            long: "profile",
            takes: Takes::One("NAME"),
            help: "Sign as a profile of ~/.aws/credentials [default: AWS_ACCESS_KEY_ID and \
                   AWS_SECRET_ACCESS_KEY, or AWS_PROFILE]",
            fields: &["bucket[0].credentials"],
            set: |bucket, text| {
                put(&mut bucket.credentials, Ok(CredentialSource::Profile(text.to_owned())))
            },
        },
        Flag {
            long: "credentials",
            takes: Takes::One("FILE"),
            help: "File with a line ACCESS_KEY:SECRET_KEY per user; workers sign as them in turn",
            fields: &["bucket[0].credentials"],
            set: |bucket, text| {
                put(&mut bucket.credentials, Ok(CredentialSource::File(path_of(text))))
            },
        },
        Flag {
            long: "anonymous",
            takes: Takes::Nothing,
            help: "Send requests without a signature",
            fields: &["bucket[0].credentials"],
            set: |bucket, _| put(&mut bucket.credentials, Ok(CredentialSource::Anonymous)),
        },
        Flag {
            long: "addressing",
            takes: Takes::One("path|virtual-host"),
            help: "Position of the bucket's name in URLs [default: path]",
            fields: &["bucket[0].addressing"],
            set: |bucket, text| {
                let words = [("path", Addressing::Path), ("virtual-host", Addressing::VirtualHost)];
                put(&mut bucket.addressing, one_of(text, &words))
            },
        },
        Flag {
            long: "insecure",
            takes: Takes::Nothing,
            help: "Accept any certificate of a server; the result states this",
            fields: &["bucket[0].insecure"],
            set: |bucket, _| put(&mut bucket.insecure, Ok(true)),
        },
        Flag {
            long: "ca-file",
            takes: Takes::One("FILE"),
            help: "Trust the certificates of FILE in addition to the system's",
            fields: &["bucket[0].ca_file"],
            set: |bucket, text| put_some(&mut bucket.ca_file, Ok(path_of(text))),
        },
        Flag {
            long: "create",
            takes: Takes::Nothing,
            help: "Make the bucket if it is missing, and remove it after the run",
            fields: &["bucket[0].create"],
            set: |bucket, _| put(&mut bucket.create, Ok(true)),
        },
    ],
}];

/// Pairs of these options that exclude each other.
const EXCLUSIVE: [(&str, &[&str]); 2] =
    [("anonymous", &["profile", "credentials"]), ("credentials", &["profile"])];

/// Adds the options of servers to a command.
pub fn with_servers(command: clap::Command) -> clap::Command {
    let command = command.args(crate::flag::args(SERVERS));
    EXCLUSIVE.iter().fold(command, |command, (name, others)| {
        command.mut_arg(*name, |arg| arg.conflicts_with_all(others.iter()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_and_prefixes_are_read() {
        for (text, bucket, prefix) in [
            ("s3://data", "data", ""),
            ("s3://data/", "data", ""),
            ("s3://data/a/b", "data", "a/b/"),
            ("s3://data/a/", "data", "a/"),
        ] {
            let url = Url { bucket: bucket.into(), prefix: prefix.into() };
            assert_eq!(Url::read(text), Some(Ok(url)), "{text}");
        }
        assert!(Url::read("s3:///a").is_some_and(|read| read.is_err()));
        assert_eq!(Url::read("/data/s3://x"), None);
    }
}
