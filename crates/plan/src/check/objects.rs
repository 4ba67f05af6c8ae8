//! Work on objects.

use super::content::{check_content, verify_header};
use super::timing::check_pace;
use super::{DEPTH_MAX, Found, OPERATION_MAX};
use crate::access::Access;
use crate::bucket::{Bucket, Keys, Protocol};
use crate::objects::{KEYS_MAX, ObjectOp, Objects, Uploads};
use crate::{Bytes, Job, Plan, PlanPath};

/// Most parts of an upload in S3.
pub const UPLOAD_PARTS_MAX: u64 = 10_000;
/// Least bytes of a part in Amazon's S3, except the last one.
const PART_MIN: Bytes = Bytes(5 << 20);
/// Most attempts of a request.
const ATTEMPTS_MAX: u64 = 1000;

pub(super) fn check(plan: &Plan, job: &Job, objects: &Objects, at: &PlanPath, out: &mut Found) {
    out.count("depth", at.key("depth"), objects.depth.into(), DEPTH_MAX.into());
    out.count("page", at.key("page"), objects.page.into(), KEYS_MAX.into());
    out.count("batch", at.key("batch"), objects.batch.into(), KEYS_MAX.into());
    let attempts = at.key("retry").key("attempts");
    out.count("attempts", attempts, objects.retry.attempts.into(), ATTEMPTS_MAX);
    if !job.targets.is_empty() {
        let message = "objects are in buckets, and the job names targets";
        out.error("objects-target", at.key("buckets"), message, "remove targets of the job");
    }
    check_sizes(objects, at, out);
    check_mix(objects, at, out);
    check_content(&objects.content, &at.key("content"), out);
    check_pace(&objects.pace, &at.key("pace"), out);
    if objects.buckets.is_empty() {
        let message = format!("job {} names no bucket", job.name);
        let remedy = "add a [[bucket]] section and name it in buckets";
        out.error("no-bucket", at.key("buckets"), message, remedy);
    }
    let mut first = None;
    for (index, name) in objects.buckets.iter().enumerate() {
        let place = at.key("buckets").index(index);
        let Some(bucket) = plan.bucket(name) else {
            let message = format!("the plan has no bucket {name}");
            out.error("no-bucket", place, message, "name a bucket of the plan");
            continue;
        };
        if first.get_or_insert(bucket).keys != bucket.keys {
            let message = "objects are dealt over buckets with equal keys, and these differ";
            out.error("bucket-keys", place.clone(), message, "use a job for each bucket");
        }
        check_bucket(bucket, objects, &place, out);
    }
}

fn check_sizes(objects: &Objects, at: &PlanPath, out: &mut Found) {
    for (key, size) in [("range", objects.range), ("part", objects.part)] {
        let Some(size) = size else { continue };
        if size.0 == 0 || size > OPERATION_MAX {
            let message = format!("{key} is {size}, not 1 to {OPERATION_MAX}");
            out.error("object-size", at.key(key), message, "set a size such as \"8m\"");
        }
    }
    if let Some(part) = objects.part.filter(|part| (1..PART_MIN.0).contains(&part.0)) {
        let message = format!("parts of {part} are smaller than Amazon's S3 accepts");
        let remedy = format!("set part to {PART_MIN} or more, unless the server accepts less");
        out.warning("part-min", at.key("part"), message, remedy);
    }
    let ordered = matches!(
        objects.access,
        Access::Sequential | Access::Backward | Access::Random | Access::Permutation
    );
    if !ordered {
        let message = "ranges of an object have no such order";
        let remedy = "set access to \"sequential\", \"backward\", \"random\" or \"permutation\"";
        out.error("object-access", at.key("access"), message, remedy);
    }
    if let Some(verify) = &objects.verify {
        let at = at.key("verify");
        verify_header(&objects.content, &at, &verify.as_of_blocks(0), out);
        if verify.generations || verify.read_back {
            let message = "objects have no generations, and are not read back at once";
            out.error("verify", at, message, "remove generations and read_back");
        }
    }
    if objects.discard && (objects.verify.is_some() || objects.check_checksum) {
        let message = "bytes are discarded in the kernel and checked";
        out.error("discard", at.key("discard"), message, "remove discard, or the check");
    }
}

fn check_mix(objects: &Objects, at: &PlanPath, out: &mut Found) {
    for (index, weighted) in objects.mix.iter().enumerate() {
        let place = at.key("mix").index(index);
        if weighted.weight == 0 {
            let message = "weight is 0, so the operation never occurs";
            out.error("mix", place.key("weight"), message, "set weight to 1 or more");
        }
        let is_whole = weighted.op.is_on_bucket()
            || matches!(weighted.op, ObjectOp::List | ObjectOp::ListVersions);
        if is_whole || weighted.op == ObjectOp::DeleteMany {
            let name = weighted.op.operation().name;
            let message = format!("{name} is not on one object, so it cannot be in a mix");
            out.error("mix", place.key("op"), message, "use a separate job");
        }
    }
    let shares = objects.has(ObjectOp::CreateUpload) || objects.has(ObjectOp::CompleteUpload);
    if (shares || objects.uploads != Uploads::WithParts) && objects.part.is_none() {
        let message = "uploads in parts have no part size";
        out.error("object-size", at.key("part"), message, "set part, such as \"8m\"");
    }
}

fn check_bucket(bucket: &Bucket, objects: &Objects, at: &PlanPath, out: &mut Found) {
    let simple = |op| matches!(op, ObjectOp::Get | ObjectOp::Put | ObjectOp::Delete);
    if bucket.protocol != Protocol::S3
        && (objects.part.is_some() || !objects.ops().all(|op| simple(op) || op == ObjectOp::Head))
    {
        let message = "Swift and WebDAV have get, put, head and delete only";
        out.error("protocol", at.clone(), message, "use these operations, without part");
    }
    let longest = match &bucket.keys {
        Keys::Tree(tree) => tree.file_size.max(),
        Keys::Members(members) => {
            members.objects.iter().filter_map(|object| object.size).max().unwrap_or(Bytes(0))
        }
        Keys::Existing(_) => Bytes(0),
    };
    let puts = objects.has(ObjectOp::Put);
    match objects.part {
        Some(part) if puts && longest.0.div_ceil(part.0.max(1)) > UPLOAD_PARTS_MAX => {
            let needed = Bytes(longest.0.div_ceil(UPLOAD_PARTS_MAX).next_multiple_of(1 << 20));
            let message =
                format!("objects of {longest} have more than {UPLOAD_PARTS_MAX} parts of {part}");
            out.error("upload-parts", at.clone(), message, format!("set part to \"{needed}\""));
        }
        None if puts && longest > OPERATION_MAX => {
            let message = format!("objects of {longest} are more than one request sends");
            out.error("object-size", at.clone(), message, "set part, such as \"64m\"");
        }
        _ => {}
    }
    let whole = objects.range.is_none() && !objects.by_part_number && !objects.discard;
    if objects.has(ObjectOp::Get) && whole && longest > OPERATION_MAX {
        let message = format!("objects of {longest} do not fit into one buffer");
        out.error("object-size", at.clone(), message, "set range, such as \"8m\"");
    }
}
