//! Headers of uploads: storage class, access, encryption, metadata and tags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::omit::is_default;

/// Further headers of uploads.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct UploadHeaders {
    /// Storage class.
    pub storage_class: Option<String>,
    /// Canned ACL, or grants as `NAME=VALUE` of `x-amz-grant-NAME` headers, separated by `;`.
    pub acl: Option<String>,
    /// Encryption at the server.
    pub encryption: Option<Encryption>,
    /// Number of metadata headers.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: u32,
    /// Number of tags.
    #[serde(skip_serializing_if = "is_default")]
    pub tags: u32,
    /// Retention of objects: mode `GOVERNANCE` or `COMPLIANCE`, for `put_retention` and
    /// `put_lock`; `create_bucket` then enables locks.
    pub retention: Option<Retention>,
}

/// Encryption at the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// Keys of the server (SSE-S3).
    S3,
    /// A key of the key service (SSE-KMS); empty means the default key.
    Kms(String),
    /// A key of the client (SSE-C), which every request on the object sends; derived from the
    /// plan's seed, or given under the name `customer-key`.
    Customer,
}

/// Time in which an object version cannot be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// No user may shorten it, not even the owner of the account.
    pub compliance: bool,
    /// Length in days.
    pub days: u32,
}
