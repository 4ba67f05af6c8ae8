//! Options of object stores.

use std::fmt;

use candor_plan::objects::ChecksumAlgorithm;
use smart_default::SmartDefault;

/// A text that no output shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden(pub String);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A secret, and the name under which a plan refers to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secret {
    /// The access key, or [`CUSTOMER_KEY`].
    pub access_key: String,
    /// The secret key; of [`CUSTOMER_KEY`], the key in base64.
    pub secret: Hidden,
    /// Token of temporary credentials.
    pub token: Option<Hidden>,
}

/// Name of the key that encrypts objects and that every request on them sends.
pub const CUSTOMER_KEY: &str = "customer-key";

/// Object stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct S3Options {
    /// The paths name buckets or objects.
    pub is_on: bool,
    /// Servers and users.
    pub access: S3Access,
    /// Form of requests on objects.
    pub requests: S3Requests,
    /// Additional phases.
    pub phases: S3Phases,
    /// Access control lists.
    pub acl: AclOptions,
}

impl S3Options {
    /// All secrets that the plan refers to by name.
    pub fn secrets(&self) -> Vec<Secret> {
        let key = self.requests.customer_key.clone().map(|secret| Secret {
            access_key: CUSTOMER_KEY.to_owned(),
            secret,
            token: None,
        });
        self.access.users.iter().cloned().chain(key).collect()
    }
}

/// Servers and users.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct S3Access {
    /// URLs of the servers, with brackets expanded.
    pub endpoints: Vec<String>,
    /// Region for signatures.
    pub region: Option<String>,
    /// Access key of the one user.
    pub key: Option<String>,
    /// Secret of this key.
    pub secret: Option<Hidden>,
    /// Token of this key, if it is temporary.
    pub token: Option<Hidden>,
    /// File with a line per user.
    pub users_file: Option<String>,
    /// List of users.
    pub users_list: Option<Hidden>,
    /// Secrets of all users, in order; rank r signs as user r modulo users. Empty means that each
    /// host looks for credentials itself.
    pub users: Vec<Secret>,
    /// Entries of the list that are no user.
    pub users_skipped: usize,
    /// Only the first server is used.
    pub single: bool,
    /// The bucket's name is in the host's name.
    pub virtual_host: bool,
    /// Any certificate is accepted.
    pub insecure: bool,
}

impl S3Access {
    /// True if users are listed.
    pub fn has_list(&self) -> bool {
        self.users_file.is_some() || self.users_list.is_some()
    }
}

/// Form of requests on objects.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct S3Requests {
    /// Begin of all keys; one run of 3 to 16 `%` is replaced by as many digits.
    pub prefix: String,
    /// Discard the bytes of reads.
    pub fast_get: bool,
    /// Do not sign the bytes of uploads.
    pub fast_put: bool,
    /// Signature of the bytes of uploads.
    pub sign: Sign,
    /// Checksum of uploads.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Checksum after the body of uploads, as the SDKs' environment variable requests.
    pub checksum_after: bool,
    /// Attempts of a request.
    #[default(1)]
    pub attempts: u32,
    /// Connections of each worker at most, or of all workers with `single`; 0 means no limit.
    pub connections: u32,
    /// Several hosts upload parts of one object.
    pub shares_uploads: bool,
    /// Uploads stay open.
    pub leaves_uploads: bool,
    /// A completion of a missing upload is no failure.
    pub completion_404_ok: bool,
    /// Every block of the read phase belongs to an object drawn for it.
    pub random_object: bool,
    /// Continue after failed requests.
    pub ignore_errors: bool,
    /// Encryption with keys of the server.
    pub sse: bool,
    /// Encryption with this key of the client, in base64.
    pub customer_key: Option<Hidden>,
    /// Encryption with this key of the key service.
    pub kms_key: Option<String>,
}

/// Signature of the bytes of uploads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// Bytes are signed without TLS only.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Additional phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct S3Phases {
    /// List each bucket, up to N keys; 0 is no such phase.
    pub list: u64,
    /// Each worker lists its own directories.
    pub list_parallel: bool,
    /// Lists must have the plan's keys.
    pub list_verify: bool,
    /// Delete N objects per request; 0 is no such phase.
    pub delete_many: u32,
    /// Request the attributes of buckets.
    pub stat_buckets: bool,
    /// Tags of objects.
    pub object_tags: Checked,
    /// Tags of buckets.
    pub bucket_tags: Checked,
    /// Versioning of buckets.
    pub versioning: Checked,
    /// Locks of buckets.
    pub locks: Checked,
}

impl S3Phases {
    /// True if settings of buckets are written and read.
    pub fn has_bucket_settings(&self) -> bool {
        self.bucket_tags.wanted || self.versioning.wanted || self.locks.wanted
    }
}

/// Settings that phases write and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The settings are written and read.
    pub wanted: bool,
    /// The values that are read are compared.
    pub verify: bool,
}

/// Access control lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AclOptions {
    /// Write lists of objects.
    pub put: bool,
    /// Read lists of objects.
    pub get: bool,
    /// Send lists with uploads.
    pub inline: bool,
    /// Compare the lists that are read.
    pub verify: bool,
    /// Write lists of buckets.
    pub put_bucket: bool,
    /// Read lists of buckets.
    pub get_bucket: bool,
    /// The grantee, or the name of a canned list.
    pub grantee: String,
    /// Kind of the grantee.
    pub grantee_kind: Option<Grantee>,
    /// Permissions.
    pub grants: Vec<Grant>,
}

/// Kind of a grantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grantee {
    /// An account by its id.
    Id,
    /// An account by its address.
    Email,
    /// A group by its URI.
    Uri,
}

/// A permission, as the name of a header `x-amz-grant-NAME`; `none` grants nothing.
pub type Grant = &'static str;

/// Names of canned lists.
const CANNED: [&str; 4] = ["private", "public-read", "public-read-write", "authenticated-read"];

impl AclOptions {
    /// True if the grantee is the name of a canned list.
    pub fn is_canned(&self) -> bool {
        CANNED.contains(&self.grantee.as_str())
    }

    /// True if lists are written.
    pub fn writes(&self) -> bool {
        self.put || self.inline || self.put_bucket
    }

    /// The list in the plan's form.
    pub fn text(&self) -> String {
        if self.is_canned() {
            return self.grantee.clone();
        }
        let kind = match self.grantee_kind {
            None | Some(Grantee::Id) => "id",
            Some(Grantee::Email) => "emailAddress",
            Some(Grantee::Uri) => "uri",
        };
        let grants = self.grants.iter();
        let texts = grants.map(|grant| format!("{grant}={kind}=\"{}\"", self.grantee));
        texts.collect::<Vec<_>>().join(";")
    }
}
