//! Values that all requests of a job share.

use std::sync::Arc;

use candor_plan::bucket::Bucket;
use candor_plan::objects::Objects;
use candor_record::http::RequestForm;
use candor_s3::checksum::Algorithm;
use candor_s3::planned;
use candor_s3::reach::{Reach, Refusal};
use candor_s3::{ChecksumForm, Headers, Integrity, Secret};

use crate::wire::Context;

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
    let integrity = planned::integrity(objects.payload, objects.checksum, reach)?;
    let customer = planned::customer_key(&objects.headers, seed);
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
        tags: planned::tags(objects.headers.tags.max(1)),
        integrity,
        expect_continue: buckets.iter().any(|bucket| bucket.connections.expect_continue),
        listed: Vec::new(),
    })
}

fn put_headers(
    objects: &Objects,
    integrity: &Integrity,
    customer: Option<&Secret>,
) -> Result<Headers, Refusal> {
    let mut headers = planned::upload_headers(&objects.headers, customer)?;
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
    planned::add_acl(&objects.headers, &mut headers)?;
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

/// Form of requests for the report.
pub fn form(objects: &Objects, context: &Context, reach: &Reach) -> RequestForm {
    let checksum = objects.checksum.map(|checksum| {
        let place = if checksum.trailer { "trailer" } else { "header" };
        format!("{:?} in a {place}", checksum.algorithm).to_lowercase()
    });
    RequestForm {
        checksum,
        expect_continue: context.expect_continue,
        ..planned::form(&objects.headers, &context.integrity, reach)
    }
}
