//! Headers, integrity and form of requests, as a plan sets them.

use candor_plan::objects::{ChecksumAlgorithm, Encryption, Payload, UploadChecksum, UploadHeaders};
use candor_plan::permutation::mix;
use candor_record::http::RequestForm;

use crate::checksum::Algorithm;
use crate::headers::Encryption as HeaderEncryption;
use crate::reach::{Reach, Refusal};
use crate::{CannedAcl, Form, HeaderError, Headers, Integrity, Secret, Tag, vault};

/// Name under which a key of the client (SSE-C) is given to this process.
pub const CUSTOMER_KEY: &str = "customer-key";
/// Choices of the plan's seed: a key of the client.
const KEY: u64 = 0x7373_6563;

impl From<HeaderError> for Refusal {
    fn from(error: HeaderError) -> Refusal {
        Refusal::new(error.to_string(), "correct the value")
    }
}

/// Integrity of uploads.
///
/// # Errors
/// A combination that cannot be sent.
pub fn integrity(
    payload: Payload,
    checksum: Option<UploadChecksum>,
    reach: &Reach,
) -> Result<Integrity, Refusal> {
    let algorithm = checksum.map(|checksum| checksum.algorithm).and_then(algorithm);
    let trailer = algorithm.filter(|_| checksum.is_some_and(|checksum| checksum.trailer));
    let signs_body = match payload {
        Payload::Auto => !reach.is_tls,
        Payload::Signed | Payload::SignedChunks => true,
        Payload::Unsigned => false,
    };
    let form = match (trailer, payload) {
        (Some(algorithm), _) if signs_body && reach.signs() => Form::ChunksTrailer(algorithm),
        (Some(algorithm), _) => Form::UnsignedTrailer(algorithm),
        (None, Payload::SignedChunks) => Form::Chunks,
        (None, _) if signs_body && reach.signs() => Form::Hash,
        (None, _) => Form::Unsigned,
    };
    let is_md5 = checksum.is_some_and(|of| of.algorithm == ChecksumAlgorithm::Md5);
    let integrity = Integrity {
        form,
        checksum: algorithm.filter(|_| trailer.is_none()),
        content_md5: is_md5,
        ..Integrity::default()
    };
    integrity.check().map_err(|rule| Refusal::new(rule, "use another checksum"))?;
    Ok(integrity)
}

/// Algorithm of a checksum header; none for MD5, which has its own header.
fn algorithm(algorithm: ChecksumAlgorithm) -> Option<Algorithm> {
    match algorithm {
        ChecksumAlgorithm::Crc64nvme => Some(Algorithm::Crc64Nvme),
        ChecksumAlgorithm::Crc32 => Some(Algorithm::Crc32),
        ChecksumAlgorithm::Crc32c => Some(Algorithm::Crc32c),
        ChecksumAlgorithm::Sha1 => Some(Algorithm::Sha1),
        ChecksumAlgorithm::Sha256 => Some(Algorithm::Sha256),
        ChecksumAlgorithm::Md5 => None,
    }
}

/// Key of the client, if the plan encrypts with one: a given key, or one that follows from the
/// plan's seed.
pub fn customer_key(headers: &UploadHeaders, seed: u64) -> Option<Secret> {
    if headers.encryption != Some(Encryption::Customer) {
        return None;
    }
    if let Some(given) = vault::keys_of(CUSTOMER_KEY) {
        return Some(given.secret_key().clone());
    }
    let words = (0..4).map(|nth| mix(mix(seed, KEY), nth));
    let key: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    Some(Secret::of_bytes(&key))
}

/// Headers of uploads, with a key of the client if there is one.
///
/// # Errors
/// A header that cannot be sent.
pub fn upload_headers(from: &UploadHeaders, customer: Option<&Secret>) -> Result<Headers, Refusal> {
    let mut headers = Headers::new();
    for number in 0..from.metadata {
        let name = format!("candor-{number}");
        headers.metadata(&name, "value")?;
    }
    if from.tags > 0 {
        headers.tags(&tags(from.tags))?;
    }
    if let Some(class) = &from.storage_class {
        headers.storage_class(class)?;
    }
    add_acl(from, &mut headers)?;
    let encryption = match (&from.encryption, customer) {
        (None, _) => None,
        (Some(Encryption::S3), _) => Some(HeaderEncryption::S3),
        (Some(Encryption::Kms(key)), _) => {
            Some(HeaderEncryption::Kms { key: Some(key.clone()).filter(|key| !key.is_empty()) })
        }
        (Some(Encryption::Customer), key) => {
            key.map(|key| HeaderEncryption::Customer { key: key.clone() })
        }
    };
    if let Some(encryption) = encryption {
        headers.encryption(&encryption)?;
    }
    Ok(headers)
}

/// Adds a canned ACL, or grants as `NAME=VALUE` of `x-amz-grant-NAME` headers.
///
/// # Errors
/// A text that is neither.
pub fn add_acl(from: &UploadHeaders, headers: &mut Headers) -> Result<(), Refusal> {
    let Some(acl) = &from.acl else { return Ok(()) };
    if let Some(canned) = CannedAcl::ALL.into_iter().find(|canned| canned.name() == acl) {
        headers.acl(canned)?;
        return Ok(());
    }
    for grant in acl.split(';') {
        let Some((name, value)) = grant.split_once('=') else {
            let message = format!("`{acl}` is neither a canned ACL nor a list of grants");
            return Err(Refusal::new(message, "write private, or read=id=\"USER\""));
        };
        let name = format!("x-amz-grant-{}", name.trim());
        headers.add(&name, value.trim())?;
    }
    Ok(())
}

/// Tags by number, in the order of their names.
pub fn tags(count: u32) -> Vec<Tag> {
    let tags =
        (0..count).map(|number| Tag { name: format!("candor-{number:02}"), value: "value".into() });
    tags.collect()
}

/// Form of uploads for the report.
pub fn form(from: &UploadHeaders, integrity: &Integrity, reach: &Reach) -> RequestForm {
    let payload = match integrity.form {
        _ if !reach.signs() => "-",
        Form::Hash => "SHA-256 of the body",
        Form::Unsigned => "UNSIGNED-PAYLOAD",
        Form::UnsignedTrailer(_) => "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        Form::Chunks => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        Form::ChunksTrailer(_) => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    };
    let encryption = from.encryption.as_ref().map(|encryption| match encryption {
        Encryption::S3 => "AES256".to_owned(),
        Encryption::Kms(_) => "aws:kms".to_owned(),
        Encryption::Customer => "a key of the client".to_owned(),
    });
    RequestForm {
        payload: payload.to_owned(),
        encryption_requested: encryption,
        storage_class_requested: from.storage_class.clone(),
        ..RequestForm::default()
    }
}
