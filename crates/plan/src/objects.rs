//! Objects: requests on the objects of buckets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::access::Access;
use crate::content::Content;
use crate::entries::{Select, VerifyItems};
use crate::omit::is_default;
use crate::operation::{Figure, Operation};
use crate::pace::Pace;
use crate::{Bytes, Nanos};

pub use crate::upload_headers::{Encryption, Retention, UploadHeaders};

/// Requests on objects of buckets, as one worker issues them.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Objects {
    /// Names of the plan's buckets. All have keys of one shape, and objects are dealt over them.
    pub buckets: Vec<String>,
    /// Operation on each object.
    pub op: ObjectOp,
    /// Several operations by weight instead of one.
    #[serde(skip_serializing_if = "is_default")]
    pub mix: Vec<WeightedOp>,
    /// Order in which a worker takes its objects.
    pub select: Select,
    /// Only the first N objects of each rank; absent means all.
    pub first: Option<u64>,
    /// Only the objects that an earlier phase put, if its time ended early.
    #[serde(skip_serializing_if = "is_default")]
    pub as_reached: bool,
    /// Every rank uses the objects of all ranks, instead of its share.
    #[serde(skip_serializing_if = "is_default")]
    pub all_ranks: bool,
    /// Bytes per range of a read; absent means whole objects, read without a range.
    pub range: Option<Bytes>,
    /// Ranges of an object before the next object; absent means all of it, once.
    pub ranges: Option<u32>,
    /// Order of ranges within an object: `sequential`, `backward`, `random` (ranges may repeat) or
    /// `permutation` (each once).
    #[serde(skip_serializing_if = "is_default")]
    pub access: Access,
    /// Bytes per part: longer objects are uploaded in parts. Absent means one request.
    pub part: Option<Bytes>,
    /// Reads fetch the parts by number, as they were uploaded, instead of byte ranges.
    #[serde(skip_serializing_if = "is_default")]
    pub by_part_number: bool,
    /// Start and end of uploads of objects that several ranks share.
    #[serde(skip_serializing_if = "is_default")]
    pub uploads: Uploads,
    /// Requests in flight per worker, each on its own connection.
    #[default(1)]
    pub depth: u32,
    /// Objects in progress per worker at most; absent means as many as requests.
    pub objects_at_once: Option<u32>,
    /// Keys per page of a list.
    #[serde(skip_serializing_if = "is_keys_max")]
    #[default(KEYS_MAX)]
    pub page: u32,
    /// Keys per request that deletes several.
    #[serde(skip_serializing_if = "is_keys_max")]
    #[default(KEYS_MAX)]
    pub batch: u32,
    /// Lists are over each directory of the keys' tree, instead of over all keys of a bucket.
    #[serde(skip_serializing_if = "is_default")]
    pub list_directories: bool,
    /// Keys per list at most; absent means all.
    pub list_max: Option<u64>,
    /// Check that a list has exactly the keys of the plan, in order.
    #[serde(skip_serializing_if = "is_default")]
    pub check_list: bool,
    /// Tags, ACLs, versioning and locks that are read must equal the values that the same headers
    /// would put; versioning must be enabled.
    #[serde(skip_serializing_if = "is_default")]
    pub check_settings: bool,
    /// Reads and deletes of a missing object, deletes of a missing bucket and completions of a
    /// missing upload are no failures; the result counts them separately.
    #[serde(skip_serializing_if = "is_default")]
    pub missing_ok: bool,
    /// Repetition of failed requests.
    #[serde(skip_serializing_if = "is_default")]
    pub retry: Retry,
    /// Form in which uploads are signed.
    #[serde(skip_serializing_if = "is_default")]
    pub payload: Payload,
    /// Checksum sent with uploads.
    pub checksum: Option<UploadChecksum>,
    /// Compare the server's checksum of each read object with its bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub check_checksum: bool,
    /// Further headers of uploads.
    #[serde(skip_serializing_if = "is_default")]
    pub headers: UploadHeaders,
    /// Rate of operations or bytes, and rests between them.
    #[serde(skip_serializing_if = "is_default")]
    pub pace: Pace,
    /// Content of uploads.
    #[serde(skip_serializing_if = "is_default")]
    pub content: Content,
    /// Data in the blocks of uploads by which reads are checked.
    pub verify: Option<VerifyItems>,
    /// Discard the bytes of reads in the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub discard: bool,
}

/// Most keys in a page, and in a request that deletes several.
pub const KEYS_MAX: u32 = 1000;

fn is_keys_max(count: &u32) -> bool {
    *count == KEYS_MAX
}

/// An operation, and how often it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct WeightedOp {
    /// Share among all operations of the mix.
    pub weight: u32,
    /// Operation.
    pub op: ObjectOp,
}

/// Ends of uploads of objects that several ranks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Uploads {
    /// The first part's worker starts the upload, the last part's worker completes it. All ranks
    /// of an object are on one host.
    #[default]
    WithParts,
    /// Parts only: `create_upload` and `complete_upload` are operations of other phases, and every
    /// host finds the upload in the server's list.
    Apart,
    /// Started, and left open.
    LeftOpen,
}

/// Repetition of failed requests. By default a failure stays a failure.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// Attempts of a request at most.
    #[default(1)]
    pub attempts: u32,
    /// Upper limit of the first random wait; doubles with each attempt. `Retry-After` of an answer
    /// replaces it.
    #[default(Nanos(50_000_000))]
    pub wait: Nanos,
    /// Longest wait.
    #[default(Nanos::from_secs(20))]
    pub wait_max: Nanos,
}

/// Form in which the body of an upload is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// Unsigned over TLS, signed otherwise.
    #[default]
    Auto,
    /// SHA-256 of the body, computed before the request.
    Signed,
    /// `UNSIGNED-PAYLOAD`.
    Unsigned,
    /// Chunks, each with its signature.
    SignedChunks,
}

/// Checksum of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct UploadChecksum {
    /// Algorithm.
    pub algorithm: ChecksumAlgorithm,
    /// Send the checksum after the body, which is then in chunks, instead of before it.
    pub trailer: bool,
}

/// Algorithm of a checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ChecksumAlgorithm {
    /// CRC-64/NVME.
    #[default]
    Crc64nvme,
    /// CRC-32.
    Crc32,
    /// CRC-32C.
    Crc32c,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// MD5, as `Content-MD5`.
    Md5,
}

/// Operations on objects and buckets that a plan can request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the names of S3's actions")]
pub enum ObjectOp {
    #[default]
    Get,
    Put,
    Head,
    Delete,
    DeleteMany,
    List,
    ListVersions,
    Copy,
    CreateUpload,
    CompleteUpload,
    PutTags,
    GetTags,
    DeleteTags,
    PutAcl,
    GetAcl,
    PutRetention,
    CreateBucket,
    HeadBucket,
    DeleteBucket,
    PutBucketTags,
    GetBucketTags,
    DeleteBucketTags,
    PutBucketAcl,
    GetBucketAcl,
    EnableVersioning,
    SuspendVersioning,
    GetVersioning,
    PutLock,
    GetLock,
}

/// The table of operations: one row per [`ObjectOp`], in its order; then parts of uploads, aborted
/// uploads, and times of whole objects of jobs with parts or ranges.
pub const OPERATIONS: &[Operation] = &[
    Operation::of("get", Figure::Read).moving(),
    Operation::of("put", Figure::Write).moving().destroying(),
    Operation::of("head", Figure::Names),
    Operation::of("delete", Figure::Names).destroying(),
    Operation::of("delete_many", Figure::Names).destroying(),
    Operation::of("list", Figure::Names),
    Operation::of("list_versions", Figure::Names),
    Operation::of("copy", Figure::Names).destroying(),
    Operation::of("create_upload", Figure::Names),
    Operation::of("complete_upload", Figure::Names).destroying(),
    Operation::of("put_tags", Figure::Names),
    Operation::of("get_tags", Figure::Names),
    Operation::of("delete_tags", Figure::Names),
    Operation::of("put_acl", Figure::Names),
    Operation::of("get_acl", Figure::Names),
    Operation::of("put_retention", Figure::Names),
    Operation::of("create_bucket", Figure::Names),
    Operation::of("head_bucket", Figure::Names),
    Operation::of("delete_bucket", Figure::Names).destroying(),
    Operation::of("put_bucket_tags", Figure::Names),
    Operation::of("get_bucket_tags", Figure::Names),
    Operation::of("delete_bucket_tags", Figure::Names),
    Operation::of("put_bucket_acl", Figure::Names),
    Operation::of("get_bucket_acl", Figure::Names),
    Operation::of("enable_versioning", Figure::Names),
    Operation::of("suspend_versioning", Figure::Names),
    Operation::of("get_versioning", Figure::Names),
    Operation::of("put_lock", Figure::Names),
    Operation::of("get_lock", Figure::Names),
    Operation::of("put_part", Figure::Write).moving(),
    Operation::of("list_parts", Figure::Names),
    Operation::of("abort_upload", Figure::Opening),
    Operation::of("object", Figure::Item),
];

/// Row of parts of uploads.
pub const PUT_PART: u8 = 29;
/// Row of lists of an upload's parts.
pub const LIST_PARTS: u8 = 30;
/// Row of aborted uploads.
pub const ABORT_UPLOAD: u8 = 31;
/// Row of whole objects that take several requests.
pub const OBJECT: u8 = 32;

impl ObjectOp {
    /// Every operation, in the order of the table.
    pub const ALL: [ObjectOp; 29] = [
        ObjectOp::Get,
        ObjectOp::Put,
        ObjectOp::Head,
        ObjectOp::Delete,
        ObjectOp::DeleteMany,
        ObjectOp::List,
        ObjectOp::ListVersions,
        ObjectOp::Copy,
        ObjectOp::CreateUpload,
        ObjectOp::CompleteUpload,
        ObjectOp::PutTags,
        ObjectOp::GetTags,
        ObjectOp::DeleteTags,
        ObjectOp::PutAcl,
        ObjectOp::GetAcl,
        ObjectOp::PutRetention,
        ObjectOp::CreateBucket,
        ObjectOp::HeadBucket,
        ObjectOp::DeleteBucket,
        ObjectOp::PutBucketTags,
        ObjectOp::GetBucketTags,
        ObjectOp::DeleteBucketTags,
        ObjectOp::PutBucketAcl,
        ObjectOp::GetBucketAcl,
        ObjectOp::EnableVersioning,
        ObjectOp::SuspendVersioning,
        ObjectOp::GetVersioning,
        ObjectOp::PutLock,
        ObjectOp::GetLock,
    ];

    /// Row in the table of operations.
    pub fn operation(self) -> &'static Operation {
        &OPERATIONS[self as usize]
    }

    /// True for an operation on a bucket, not on an object.
    pub fn is_on_bucket(self) -> bool {
        self as u8 >= ObjectOp::CreateBucket as u8
    }

    /// True if objects must exist beforehand.
    pub fn needs_objects(self) -> bool {
        let makes = matches!(self, ObjectOp::Put | ObjectOp::CreateUpload);
        !makes && !self.is_on_bucket() && self != ObjectOp::List && self != ObjectOp::ListVersions
    }
}

impl Objects {
    /// Operations of the mix, or the one operation.
    pub fn ops(&self) -> impl Iterator<Item = ObjectOp> {
        let only = self.mix.is_empty().then_some(self.op);
        only.into_iter().chain(self.mix.iter().map(|weighted| weighted.op))
    }

    /// True if the work has an operation.
    pub fn has(&self, op: ObjectOp) -> bool {
        self.ops().any(|of| of == op)
    }

    /// Objects that a worker has in progress at most.
    pub fn lanes(&self) -> u32 {
        self.objects_at_once.unwrap_or(self.depth).clamp(1, self.depth.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_at_the_positions_of_their_operations() {
        for (at, op) in ObjectOp::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, at);
            let named = format!("\"{}\"", op.operation().name);
            assert_eq!(serde_json::to_string(&op).expect("JSON"), named);
        }
        assert_eq!(OPERATIONS[PUT_PART as usize].name, "put_part");
        assert_eq!(OPERATIONS[LIST_PARTS as usize].name, "list_parts");
        assert_eq!(OPERATIONS[ABORT_UPLOAD as usize].name, "abort_upload");
        assert_eq!(OPERATIONS[OBJECT as usize].name, "object");
    }
}
