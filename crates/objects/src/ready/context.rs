//! Values that all requests of a job share.

use std::sync::Arc;

use candor_engine::random::{Random, mix};
use candor_plan::bucket::Bucket;
use candor_plan::objects::{ChecksumAlgorithm, Encryption, Objects, Payload};
use candor_record::http::RequestForm;
use candor_s3::checksum::Algorithm;
use candor_s3::{
    CannedAcl, ChecksumForm, Encryption as HeaderEncryption, Form, HeaderError, Headers, Integrity,
    Secret, Tag, vault,
};

use crate::reach::{Reach, Refusal};
use crate::wire::Context;

/// Choices of the plan's seed: a key of the client.
const KEY: u64 = 0x7373_6563;

impl From<HeaderError> for Refusal {
    fn from(error: HeaderError) -> Refusal {
        Refusal::new(error.to_string(), "correct the value")
    }
}

/// Values that all requests of a job share.
///
/// # Errors
/// A header that cannot be sent.
pub fn of(
    objects: &Objects,
    buckets: &[&Bucket],
    reach: &Reach,
    seed: u64,
) -> Result<Context, Refusal> {
    let integrity = integrity(objects, reach)?;
    let customer = customer_key(objects, seed)?;
    let mut object_headers = Headers::new();
    if let Some(key) = &customer {
        object_headers.customer_key(key)?;
    }
    let mut get_headers = object_headers.clone();
    if objects.check_checksum {
        get_headers.answer_checksums()?;
    }
    Ok(Context {
        objects: Arc::new(objects.clone()),
        sites: reach.sites.clone(),
        places: reach.places.clone(),
        buckets: buckets.iter().map(|bucket| bucket.bucket.clone()).collect(),
        put_headers: put_headers(objects, &integrity, customer.as_ref())?,
        part_headers: object_headers.clone(),
        get_headers,
        object_headers,
        acl_headers: acl_headers(objects)?,
        bucket_headers: bucket_headers(objects)?,
        tags: tags(objects.headers.tags.max(1)),
        integrity,
        expect_continue: buckets.iter().any(|bucket| bucket.connections.expect_continue),
        listed: Vec::new(),
    })
}

fn integrity(objects: &Objects, reach: &Reach) -> Result<Integrity, Refusal> {
    let checksum = objects.checksum;
    let algorithm = checksum.map(|checksum| checksum.algorithm).and_then(algorithm);
    let trailer = algorithm.filter(|_| checksum.is_some_and(|checksum| checksum.trailer));
    let signs_body = match objects.payload {
        Payload::Auto => !reach.is_tls,
        Payload::Signed | Payload::SignedChunks => true,
        Payload::Unsigned => false,
    };
    let form = match (trailer, objects.payload) {
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

/// Key of the client, if the plan encrypts with one.
fn customer_key(objects: &Objects, seed: u64) -> Result<Option<Secret>, Refusal> {
    if objects.headers.encryption != Some(Encryption::Customer) {
        return Ok(None);
    }
    if let Some(given) = vault::keys_of(vault::CUSTOMER_KEY) {
        return Ok(Some(given.secret_key().clone()));
    }
    let mut key = [0; 32];
    Random::new(mix(seed, KEY), 0).fill(&mut key);
    Ok(Some(Secret::of_bytes(&key)))
}

fn put_headers(
    objects: &Objects,
    integrity: &Integrity,
    customer: Option<&Secret>,
) -> Result<Headers, Refusal> {
    let (from, mut headers) = (&objects.headers, Headers::new());
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
    add_acl(objects, &mut headers)?;
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
    if let Some(algorithm) = integrity.checksum.filter(|_| objects.part.is_some()) {
        let form = match algorithm {
            Algorithm::Sha1 | Algorithm::Sha256 => ChecksumForm::Composite,
            _ => ChecksumForm::FullObject,
        };
        headers.part_checksums(algorithm, form)?;
    }
    Ok(headers)
}

fn acl_headers(objects: &Objects) -> Result<Headers, Refusal> {
    let mut headers = Headers::new();
    add_acl(objects, &mut headers)?;
    Ok(headers)
}

/// Headers of new buckets.
fn bucket_headers(objects: &Objects) -> Result<Headers, Refusal> {
    let mut headers = acl_headers(objects)?;
    if objects.headers.retention.is_some() {
        headers.add("x-amz-bucket-object-lock-enabled", "true")?;
    }
    Ok(headers)
}

/// Adds a canned ACL, or grants as `NAME=VALUE` of `x-amz-grant-NAME` headers.
fn add_acl(objects: &Objects, headers: &mut Headers) -> Result<(), Refusal> {
    let Some(acl) = &objects.headers.acl else { return Ok(()) };
    if let Some(canned) = CannedAcl::ALL.into_iter().find(|canned| canned.name() == acl) {
        return headers.acl(canned).map_err(Refusal::from);
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
fn tags(count: u32) -> Vec<Tag> {
    let tags =
        (0..count).map(|number| Tag { name: format!("candor-{number:02}"), value: "value".into() });
    tags.collect()
}

/// Form of requests for the report.
pub fn form(objects: &Objects, context: &Context, reach: &Reach) -> RequestForm {
    let payload = match context.integrity.form {
        _ if !reach.signs() => "-",
        Form::Hash => "SHA-256 of the body",
        Form::Unsigned => "UNSIGNED-PAYLOAD",
        Form::UnsignedTrailer(_) => "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        Form::Chunks => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        Form::ChunksTrailer(_) => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    };
    let checksum = objects.checksum.map(|checksum| {
        let place = if checksum.trailer { "trailer" } else { "header" };
        format!("{:?} in a {place}", checksum.algorithm).to_lowercase()
    });
    let encryption = objects.headers.encryption.as_ref().map(|encryption| match encryption {
        Encryption::S3 => "AES256".to_owned(),
        Encryption::Kms(_) => "aws:kms".to_owned(),
        Encryption::Customer => "a key of the client".to_owned(),
    });
    RequestForm {
        payload: payload.to_owned(),
        checksum,
        expect_continue: context.expect_continue,
        encryption_requested: encryption,
        storage_class_requested: objects.headers.storage_class.clone(),
        ..RequestForm::default()
    }
}
