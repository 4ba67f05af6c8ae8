//! S3, Swift and WebDAV: keys and operations to signed requests, answers to values. No I/O, except
//! reading files of credentials, and the connections of `carrier`.
//!
//! | module | content |
//! | --- | --- |
//! | `requests` | one function per operation; writes method, target, headers and documents |
//! | `login` | the last step of a request: integrity, signature or token, pieces of the body |
//! | `sign` `chunked` | signature version 4; the aws-chunked coding |
//! | `checksum` | checksums and MD5, of content, of parts, and in answers |
//! | `headers` | constant headers of an operation, checked once |
//! | `answers` | documents, errors with class and remedy |
//! | `names` | rules of buckets and keys, `s3://` addresses |
//! | `site` | endpoint, region, position of the bucket's name |
//! | `credentials` `vault` | keys of users and their files; secrets given to this process |
//! | `reach` `planned` | servers, users, headers and integrity of a plan |
//! | `carrier` `failures` | attempts of operations over connections, and their counts; errors |

pub mod answers;
pub mod carrier;
pub mod checksum;
mod chunked;
pub mod credentials;
mod dates;
mod encode;
mod failures;
mod headers;
mod login;
mod names;
pub mod planned;
pub mod reach;
pub mod requests;
mod sign;
mod site;
pub mod vault;
mod xml;

pub use crate::chunked::MIN_CHUNK;
pub use crate::credentials::{CredentialError, CredentialList, Credentials, Secret};
pub use crate::failures::{errno_of, explain};
pub use crate::headers::{
    CannedAcl, ChecksumForm, Encryption, Grantee, HeaderError, Headers, LockMode, Permission,
    Retention, Tag,
};
pub use crate::login::{Form, Integrity, Login};
pub use crate::names::{NameError, S3Url, check_bucket, check_key};
pub use crate::sign::{Payload, Signer};
pub use crate::site::{Addressing, Place, Site, SiteError};
