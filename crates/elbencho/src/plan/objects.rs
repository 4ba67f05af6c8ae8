//! Requests on objects and buckets.

use candor_plan::blocks::{Access, Format};
use candor_plan::entries::{Select, VerifyItems};
use candor_plan::objects::{
    Encryption, ObjectOp, Objects, Payload, Retention, Retry, UploadChecksum, UploadHeaders,
    Uploads,
};
use candor_plan::units::Mix;
use candor_plan::{Bytes, Job, Stop};

use super::phases::Wanted;
use super::{Context, buckets, content, phases};
use crate::options::s3::{S3Requests, Sign};
use crate::setup::{PhaseKind, Setup, StorePhase};

/// Tags of an object, and of a bucket.
const OBJECT_TAGS: u32 = 1;
const BUCKET_TAGS: u32 = 2;

/// All phases in their order.
pub(super) fn phases(setup: &Setup) -> Vec<Wanted> {
    let (asked, store, acl) = (setup.asked.phases, setup.asked.s3.phases, &setup.asked.s3.acl);
    let shares = setup.asked.s3.requests.shares_uploads && asked.write;
    let completes = shares && !setup.asked.s3.requests.leaves_uploads;
    let (settings, tags) = (store.has_bucket_settings(), store.object_tags.wanted);
    let removable = store.bucket_tags.wanted || store.versioning.wanted;
    let of_store = PhaseKind::OfStore;
    vec![
        (asked.make_dirs, PhaseKind::MakeDirs),
        (acl.put_bucket, of_store(StorePhase::PutBucketAcl)),
        (settings && asked.make_dirs, of_store(StorePhase::PutBucketSettings)),
        (store.stat_buckets, of_store(StorePhase::StatBuckets)),
        (settings, of_store(StorePhase::GetBucketSettings)),
        (shares, of_store(StorePhase::CreateUploads)),
        (asked.write, PhaseKind::Write),
        (completes, of_store(StorePhase::CompleteUploads)),
        (acl.put, of_store(StorePhase::PutObjectAcl)),
        (tags && asked.write, of_store(StorePhase::PutObjectTags)),
        (asked.stat, PhaseKind::Stat),
        (tags, of_store(StorePhase::GetObjectTags)),
        (acl.get, of_store(StorePhase::GetObjectAcl)),
        (store.list > 0, of_store(StorePhase::List)),
        (store.list_parallel, of_store(StorePhase::ListParallel)),
        (asked.read, PhaseKind::Read),
        (tags && asked.remove_files, of_store(StorePhase::DeleteObjectTags)),
        (store.delete_many > 0, of_store(StorePhase::DeleteMany)),
        (asked.remove_files, PhaseKind::RemoveFiles),
        (removable && asked.remove_dirs, of_store(StorePhase::DeleteBucketSettings)),
        (acl.get_bucket, of_store(StorePhase::GetBucketAcl)),
        (asked.remove_dirs, PhaseKind::RemoveDirs),
    ]
}

/// The jobs of a phase: one job, readers and writers, or an operation after the other.
pub(super) fn jobs(context: &Context<'_>, kind: PhaseKind) -> Vec<Job> {
    let asked = &context.setup.asked;
    if kind == PhaseKind::Write && asked.mix.read_threads.is_some() {
        return phases::readers_and_writers(context.setup, |name, workers, kind| {
            let op = if kind == PhaseKind::Read { ObjectOp::Get } else { ObjectOp::Put };
            job(context, kind, op, name, workers)
        });
    }
    let mut jobs: Vec<Job> = Vec::new();
    for op in operations(context.setup, kind) {
        let name = if jobs.is_empty() { "workers" } else { op.operation().name };
        let after = jobs.last().map(|before| before.name.clone()).into_iter().collect();
        let job = job(context, kind, op, name, asked.run.threads);
        jobs.push(Job { after, ..job });
    }
    jobs
}

/// A job of `workers` workers with one operation of a phase.
fn job(context: &Context<'_>, kind: PhaseKind, op: ObjectOp, name: &str, workers: u32) -> Job {
    Job {
        name: name.into(),
        workers,
        placement: context.placement.clone(),
        threads: context.threads.clone(),
        stop: Some(stop(context, kind)),
        work: objects(context.setup, kind, op, workers).into(),
        ..Job::default()
    }
}

/// End of a job: one pass, or with drawn objects a number of bytes. Requests on buckets are not
/// repeated.
fn stop(context: &Context<'_>, kind: PhaseKind) -> Stop {
    let (setup, stop) = (context.setup, context.stop());
    if kind == PhaseKind::Read && setup.random_bytes > 0 && !setup.asked.run.infinite_loop {
        let each = setup.random_bytes / setup.asked.threads_of_data_set().max(1);
        return Stop { bytes: Some(Bytes(each)), passes: None, ..stop };
    }
    match kind {
        PhaseKind::Write | PhaseKind::Read => stop,
        _ => Stop { passes: Some(1), ..stop },
    }
}

/// The operations of a phase, in order.
pub(crate) fn operations(setup: &Setup, kind: PhaseKind) -> Vec<ObjectOp> {
    let op = match kind {
        PhaseKind::MakeDirs => ObjectOp::CreateBucket,
        PhaseKind::RemoveDirs => ObjectOp::DeleteBucket,
        PhaseKind::Write => ObjectOp::Put,
        PhaseKind::Stat => ObjectOp::Head,
        PhaseKind::Read => ObjectOp::Get,
        PhaseKind::RemoveFiles => ObjectOp::Delete,
        PhaseKind::Sync | PhaseKind::DropCaches => return Vec::new(),
        PhaseKind::OfStore(phase) => match phase {
            StorePhase::PutBucketSettings => return settings(setup, &PUT),
            StorePhase::GetBucketSettings => return settings(setup, &GET),
            StorePhase::DeleteBucketSettings => return settings(setup, &DELETE),
            StorePhase::PutBucketAcl => ObjectOp::PutBucketAcl,
            StorePhase::GetBucketAcl => ObjectOp::GetBucketAcl,
            StorePhase::StatBuckets => ObjectOp::HeadBucket,
            StorePhase::CreateUploads => ObjectOp::CreateUpload,
            StorePhase::CompleteUploads => ObjectOp::CompleteUpload,
            StorePhase::PutObjectAcl => ObjectOp::PutAcl,
            StorePhase::GetObjectAcl => ObjectOp::GetAcl,
            StorePhase::PutObjectTags => ObjectOp::PutTags,
            StorePhase::GetObjectTags => ObjectOp::GetTags,
            StorePhase::DeleteObjectTags => ObjectOp::DeleteTags,
            StorePhase::List | StorePhase::ListParallel => ObjectOp::List,
            StorePhase::DeleteMany => ObjectOp::DeleteMany,
        },
    };
    vec![op]
}

/// Operations on settings of buckets: tags, versioning, locks. No request removes a lock.
const PUT: [ObjectOp; 3] = [ObjectOp::PutBucketTags, ObjectOp::EnableVersioning, ObjectOp::PutLock];
const GET: [ObjectOp; 3] = [ObjectOp::GetBucketTags, ObjectOp::GetVersioning, ObjectOp::GetLock];
const DELETE: [ObjectOp; 2] = [ObjectOp::DeleteBucketTags, ObjectOp::SuspendVersioning];

/// The operations on settings that are wanted.
fn settings(setup: &Setup, all: &[ObjectOp]) -> Vec<ObjectOp> {
    let phases = &setup.asked.s3.phases;
    let wanted = [phases.bucket_tags, phases.versioning, phases.locks];
    all.iter().zip(wanted).filter(|(_, of)| of.wanted).map(|(op, _)| *op).collect()
}

/// An operation of `workers` workers in a phase.
fn objects(setup: &Setup, kind: PhaseKind, op: ObjectOp, workers: u32) -> Objects {
    let asked = &setup.asked;
    let store = &asked.s3.phases;
    let shuffles = asked.list.shuffled && setup.listed.is_some();
    let base = Objects {
        buckets: buckets::names(setup, kind),
        op,
        select: if shuffles { Select::Shuffled } else { Select::Sequential },
        retry: Retry { attempts: asked.s3.requests.attempts, ..Retry::default() },
        missing_ok: missing_ok(setup, op),
        headers: headers(setup, kind),
        check_settings: checks_settings(setup, op),
        ..Objects::default()
    };
    match kind {
        PhaseKind::Write => uploads(setup, workers, base),
        PhaseKind::Read => reads(setup, workers, base),
        PhaseKind::OfStore(StorePhase::CreateUploads | StorePhase::CompleteUploads) => {
            Objects { part: Some(Bytes(setup.block_bytes)), ..base }
        }
        PhaseKind::OfStore(StorePhase::List) => {
            Objects { list_max: Some(store.list), check_list: store.list_verify, ..base }
        }
        PhaseKind::OfStore(StorePhase::ListParallel) => {
            Objects { list_directories: true, check_list: store.list_verify, ..base }
        }
        PhaseKind::OfStore(StorePhase::DeleteMany) => Objects { batch: store.delete_many, ..base },
        _ => base,
    }
}

fn uploads(setup: &Setup, workers: u32, base: Objects) -> Objects {
    let (asked, requests) = (&setup.asked, &setup.asked.s3.requests);
    let from_end = asked.access.backward || asked.access.random;
    let parts = setup.cuts_objects();
    let shares = requests.shares_uploads;
    Objects {
        part: Some(Bytes(setup.block_bytes)).filter(|_| parts),
        access: if from_end && parts { Access::Backward } else { Access::Sequential },
        uploads: match (shares, requests.leaves_uploads) {
            (true, _) => Uploads::Apart,
            (false, true) if parts => Uploads::LeftOpen,
            (false, _) => Uploads::WithParts,
        },
        payload: match (requests.fast_put, requests.sign) {
            (true, _) | (_, Sign::Never) => Payload::Unsigned,
            (_, Sign::Always) => Payload::Signed,
            (_, Sign::Auto) => Payload::Auto,
        },
        checksum: requests
            .checksum
            .map(|algorithm| UploadChecksum { algorithm, trailer: requests.checksum_after }),
        pace: content::pace(setup, Mix::WRITE, workers),
        content: content::content(setup),
        verify: verify(setup),
        ..in_flight(setup, base)
    }
}

fn reads(setup: &Setup, workers: u32, base: Objects) -> Objects {
    let (asked, requests) = (&setup.asked, &setup.asked.s3.requests);
    let parts = setup.cuts_objects();
    Objects {
        select: if requests.random_object { Select::Random } else { base.select },
        range: Some(Bytes(setup.block_bytes)).filter(|_| parts),
        ranges: (requests.random_object && parts).then_some(1),
        access: match (requests.random_object || asked.access.random, asked.access.backward) {
            _ if !parts => Access::Sequential,
            (true, _) => Access::Random,
            (false, true) => Access::Backward,
            (false, false) => Access::Sequential,
        },
        pace: content::pace(setup, Mix::READ, workers),
        content: content::content(setup),
        verify: verify(setup),
        discard: requests.fast_get,
        ..in_flight(setup, base)
    }
}

/// Verification of objects by words of offset and salt.
fn verify(setup: &Setup) -> Option<VerifyItems> {
    (setup.asked.data.verify_salt > 0).then(|| VerifyItems {
        interval: buckets::interval(setup),
        format: Format::Pattern,
        ..VerifyItems::default()
    })
}

/// Adds requests in flight: parts or ranges of one object.
fn in_flight(setup: &Setup, base: Objects) -> Objects {
    let S3Requests { connections, .. } = setup.asked.s3.requests;
    let sharers = if setup.asked.s3.access.single { setup.asked.run.threads.max(1) } else { 1 };
    let limit = if connections == 0 { u32::MAX } else { (connections / sharers).max(1) };
    let depth = setup.asked.io.depth.min(limit);
    Objects { depth, objects_at_once: (depth > 1).then_some(1), ..base }
}

/// True if an operation accepts that an object, a bucket or an upload is missing.
fn missing_ok(setup: &Setup, op: ObjectOp) -> bool {
    match op {
        ObjectOp::Put | ObjectOp::CompleteUpload => setup.asked.s3.requests.completion_404_ok,
        ObjectOp::Delete | ObjectOp::DeleteBucket => setup.asked.tree.no_delete_errors,
        _ => false,
    }
}

/// True if the answers of an operation are compared.
fn checks_settings(setup: &Setup, op: ObjectOp) -> bool {
    let phases = &setup.asked.s3.phases;
    match op {
        ObjectOp::GetAcl | ObjectOp::GetBucketAcl => setup.asked.s3.acl.verify,
        ObjectOp::GetTags => phases.object_tags.verify,
        ObjectOp::GetBucketTags => phases.bucket_tags.verify,
        ObjectOp::GetVersioning => phases.versioning.verify,
        ObjectOp::GetLock => phases.locks.verify,
        _ => false,
    }
}

/// Headers of the requests of a phase.
fn headers(setup: &Setup, kind: PhaseKind) -> UploadHeaders {
    use StorePhase as P;
    let asked = &setup.asked.s3;
    let acl = match kind {
        PhaseKind::MakeDirs if asked.access.has_list() => Some("public-read-write".to_owned()),
        PhaseKind::Write if asked.acl.inline => Some(asked.acl.text()),
        PhaseKind::OfStore(
            P::PutBucketAcl | P::GetBucketAcl | P::PutObjectAcl | P::GetObjectAcl,
        ) => Some(asked.acl.text()).filter(|text| !text.is_empty()),
        _ => None,
    };
    let tags = match kind {
        PhaseKind::OfStore(P::PutObjectTags | P::GetObjectTags) => OBJECT_TAGS,
        PhaseKind::OfStore(P::PutBucketSettings | P::GetBucketSettings) => BUCKET_TAGS,
        _ => 0,
    };
    let locks = asked.phases.locks.wanted
        && matches!(
            kind,
            PhaseKind::MakeDirs | PhaseKind::OfStore(P::PutBucketSettings | P::GetBucketSettings)
        );
    UploadHeaders {
        acl,
        encryption: encryption(&asked.requests).filter(|_| !kind.is_of_dirs()),
        tags,
        retention: locks.then_some(Retention { compliance: true, days: 1 }),
        ..UploadHeaders::default()
    }
}

fn encryption(requests: &S3Requests) -> Option<Encryption> {
    if requests.sse {
        return Some(Encryption::S3);
    }
    let customer = requests.customer_key.as_ref().map(|_| Encryption::Customer);
    customer.or_else(|| requests.kms_key.clone().map(Encryption::Kms))
}
