//! Answers to the requests of slots.

use candor_http::{Answer, Buffers};
use candor_plan::objects::{ABORT_UPLOAD, LIST_PARTS, ObjectOp, PUT_PART};
use candor_record::http::FailureClass;
use candor_s3::answers::{self, Created};
use candor_s3::carrier::Failure;
use candor_s3::checksum::{Check, Sum, check};

use super::{Current, Wire};
use crate::board::{Board, Disorder, ReadOf};
use crate::lanes::ListState;
use crate::uploads::{Part, State, lock};

type Read = Result<u64, Box<Failure>>;

/// Reads the answer to a slot's request: bytes that count.
pub fn answer(wire: &mut Wire, slot: usize, answer: &Answer) -> Read {
    let current = wire.slots[slot];
    match current.op.0 {
        PUT_PART => put_part(wire, current, answer),
        LIST_PARTS => list_parts(wire, current, answer),
        ABORT_UPLOAD => {
            answers::check(answer)?;
            wire.board.borrow_mut().stats.aborted_uploads += 1;
            Ok(0)
        }
        row => of_op(ObjectOp::ALL[usize::from(row)], wire, slot, answer),
    }
}

fn of_op(op: ObjectOp, wire: &mut Wire, slot: usize, answer: &Answer) -> Read {
    let current = wire.slots[slot];
    match op {
        ObjectOp::Get => get(wire, slot, answer),
        ObjectOp::Put => {
            answers::check(answer)?;
            let mut board = wire.board.borrow_mut();
            put(&mut board, current, answer);
            Ok(current.length)
        }
        ObjectOp::CreateUpload => create_upload(wire, current, answer),
        ObjectOp::CompleteUpload => {
            let etag = answers::completed(answer)?;
            wire.board.borrow_mut().etag(&etag);
            Ok(0)
        }
        ObjectOp::Copy => answers::copied(answer).map(|_| 0).map_err(Into::into),
        ObjectOp::DeleteMany => delete_many(wire, current, answer),
        ObjectOp::List => list(wire, current, answer),
        ObjectOp::ListVersions => list_versions(wire, current, answer),
        ObjectOp::CreateBucket => match answers::created(answer)? {
            Created::New | Created::Owned | Created::Existing => Ok(0),
        },
        ObjectOp::Delete => delete(answer),
        _ => settings(op, wire, answer),
    }
}

/// Facts of an uploaded object.
fn put(board: &mut Board, current: Current, answer: &Answer) {
    if let Some(etag) = answer.header("etag") {
        board.etag(etag);
    }
    let key = board.lane(current.lane).key.clone();
    board.prefix(&key);
    let form = &mut board.form;
    let encryption = answer.header("x-amz-server-side-encryption");
    let customer = answer.header("x-amz-server-side-encryption-customer-algorithm");
    if form.encryption.is_none() {
        form.encryption = encryption.or(customer).map(str::to_owned);
    }
}

fn get(wire: &mut Wire, slot: usize, answer: &Answer) -> Read {
    let current = wire.slots[slot];
    answers::check(answer)?;
    let objects = wire.context.objects.clone();
    let latency_ns = answer.moments.end_ns;
    let mut checked = 0;
    if objects.check_checksum && answer.body_bytes == current.length {
        let bytes = &wire.bytes(slot)[..current.length as usize];
        match check(answer, bytes) {
            Check::Equal(_) => checked = 1,
            Check::Missing | Check::Composite(_) => {}
            Check::Different { algorithm, answered, computed } => {
                let message = format!(
                    "{} of the answer is {answered}, of its bytes {}: the bytes were changed \
                     between storage and client; compare with a direct connection",
                    algorithm.name(),
                    computed
                );
                wire.board.borrow_mut().stats.mismatches += 1;
                return Err(Failure::of_client(FailureClass::Checksum, message));
            }
        }
    }
    let mut board = wire.board.borrow_mut();
    let lane = board.lane(current.lane);
    let (nth, object_bytes) = (lane.nth, lane.object.bytes);
    let (offset, length) = (current.offset, current.length);
    board.read(ReadOf { nth, object_bytes, offset, length, latency_ns });
    board.stats.checked_reads += checked;
    if let Some(class) = answer.header("x-amz-storage-class")
        && board.form.storage_class.is_none()
    {
        board.form.storage_class = Some(class.to_owned());
    }
    Ok(answer.body_bytes)
}

fn delete(answer: &Answer) -> Read {
    answers::check(answer)?;
    Ok(0)
}

fn create_upload(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    let id = answers::upload_id(answer)?;
    let mut board = wire.board.borrow_mut();
    let lane = board.lane(current.lane);
    match lane.upload() {
        Some(upload) => {
            let mut upload = lock(upload);
            (upload.id, upload.state) = (id, State::Open);
            (upload.bucket, upload.key) = (lane.object.bucket, lane.key.clone());
        }
        None => board.stats.open_uploads = Some(board.stats.open_uploads.unwrap_or(0) + 1),
    }
    Ok(0)
}

fn put_part(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    answers::check(answer)?;
    let objects = &wire.context.objects;
    let unit = objects.part.map_or(1, |part| part.0.max(1));
    let etag = answer.header("etag").unwrap_or_default().to_owned();
    // The completion repeats a checksum only if the upload announced one.
    let sum = wire
        .context
        .integrity
        .checksum
        .and_then(|algorithm| Sum::of_text(algorithm, answer.header(algorithm.header())?));
    let part = Part { number: (current.offset / unit + 1) as u32, etag, sum };
    let mut board = wire.board.borrow_mut();
    if let Some(upload) = board.lane(current.lane).upload() {
        lock(upload).parts.push(part);
    }
    Ok(current.length)
}

fn list_parts(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    let page = answers::list_parts(answer)?;
    let mut board = wire.board.borrow_mut();
    let list = &mut board.lane(current.lane).list;
    let parts = page.parts.into_iter();
    list.parts.extend(parts.map(|part| Part { number: part.number, etag: part.etag, sum: None }));
    list.is_over = !page.is_truncated;
    Ok(0)
}

fn delete_many(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    let failed = answers::failed_keys(answer)?;
    let mut board = wire.board.borrow_mut();
    let keys = board.lane(current.lane).keys.len() as u64;
    board.stats.keys_deleted += keys.saturating_sub(failed.len() as u64);
    let Some(first) = failed.first() else { return Ok(0) };
    let message = format!(
        "{} of {keys} keys were not deleted; the first is `{}`: {} {}",
        failed.len(),
        first.key,
        first.code,
        first.message
    );
    Err(Failure::of_client(FailureClass::InsideSuccess, message))
}

fn list(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    let page = answers::list_objects(answer)?;
    let context = wire.context.clone();
    let objects = &context.objects;
    let mut board = wire.board.borrow_mut();
    let count = page.objects.len() as u64;
    let is_short = page.is_truncated && count < u64::from(objects.page);
    for listed in &page.objects {
        board.etag(&listed.etag);
    }
    let lane = board.lane(current.lane);
    let keys = page.objects.iter().map(|listed| listed.key.as_str());
    let order = in_order(&mut lane.list, keys.clone());
    let expected = context.listed.get(lane.object.bucket as usize);
    let expected = expected.map(|keys| below(keys, &lane.key));
    let before = lane.list.keys as usize;
    lane.list.keys += count;
    lane.list.token = page.next_token.unwrap_or_default();
    let is_full = objects.list_max.is_some_and(|max| lane.list.keys >= max);
    lane.list.is_over = !page.is_truncated || is_full;
    if page.is_truncated && lane.list.token.is_empty() {
        let message = "the list is not complete, and has no token of the next page".to_owned();
        return Err(Failure::of_client(FailureClass::Malformed, message));
    }
    let is_end = lane.list.is_over && !is_full;
    board.page(count, is_short && !is_full, order);
    let Some(expected) = expected else { return Ok(0) };
    if is_end {
        let counted = board.stats.keys_expected.get_or_insert(0);
        *counted += expected.len() as u64;
    }
    let rest = expected.get(before..).unwrap_or_default();
    match difference(rest, keys, is_end) {
        None => Ok(0),
        Some(message) => Err(Failure::of_client(FailureClass::Malformed, message)),
    }
}

/// The keys with a prefix among sorted ones.
fn below<'a>(keys: &'a [String], prefix: &str) -> &'a [String] {
    let rest = &keys[keys.partition_point(|key| key.as_str() < prefix)..];
    &rest[..rest.partition_point(|key| key.starts_with(prefix))]
}

/// The first difference between the keys of a page and the plan's next keys, in a sentence.
fn difference<'a>(
    expected: &[String],
    mut found: impl Iterator<Item = &'a str>,
    is_end: bool,
) -> Option<String> {
    let mut expected = expected.iter();
    loop {
        match (found.next(), expected.next()) {
            (Some(found), Some(expected)) if found == expected => {}
            (Some(found), Some(expected)) => {
                return Some(format!("the list has `{found}` where the plan has `{expected}`"));
            }
            (Some(found), None) => {
                return Some(format!("the list has `{found}`, and the plan does not"));
            }
            (None, Some(expected)) if is_end => {
                return Some(format!("the list ends before the plan's `{expected}`"));
            }
            (None, _) => return None,
        }
    }
}

fn list_versions(wire: &mut Wire, current: Current, answer: &Answer) -> Read {
    let page = answers::list_versions(answer)?;
    let mut board = wire.board.borrow_mut();
    let count = page.versions.len() as u64;
    let lane = board.lane(current.lane);
    lane.list.keys += count;
    (lane.list.last, lane.list.token) = (page.next_key, page.next_version);
    lane.list.is_over = !page.is_truncated;
    board.page(count, false, Disorder::default());
    Ok(0)
}

/// Compares each key with the previous one, over pages.
fn in_order<'a>(list: &mut ListState, keys: impl Iterator<Item = &'a str>) -> Disorder {
    let mut disorder = Disorder::default();
    for key in keys {
        disorder.twice += u64::from(key == list.last && !key.is_empty());
        disorder.below += u64::from(key < list.last.as_str());
        list.last.clear();
        list.last.push_str(key);
    }
    disorder
}

/// Answers to requests on settings.
fn settings(op: ObjectOp, wire: &mut Wire, answer: &Answer) -> Read {
    let context = wire.context.clone();
    let checks = context.objects.check_settings;
    match op {
        ObjectOp::GetTags | ObjectOp::GetBucketTags => {
            let mut tags = answers::tags(answer)?;
            // A set of tags has no order; the plan's are in order.
            tags.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            if checks && tags != context.tags {
                return different(format!("{} tags differ from the plan's", tags.len()));
            }
        }
        ObjectOp::GetAcl | ObjectOp::GetBucketAcl => {
            let acl = answers::acl(answer)?;
            if checks && acl.grants.is_empty() {
                return different("the ACL has no grants".to_owned());
            }
        }
        ObjectOp::GetVersioning => {
            let state = answers::versioning(answer)?;
            if checks && state != candor_s3::requests::Versioning::Enabled {
                return different(format!("versioning is {state:?}, not Enabled"));
            }
            let state = format!("{state:?}").to_lowercase();
            wire.board.borrow_mut().form.versioning = Some(state);
        }
        ObjectOp::GetLock => {
            let lock = answers::lock(answer)?;
            if checks && !lock.is_enabled {
                return different("object lock is off".to_owned());
            }
            wire.board.borrow_mut().form.object_lock = Some(lock.is_enabled);
        }
        _ => answers::check(answer)?,
    }
    Ok(0)
}

fn different(message: String) -> Read {
    Err(Failure::of_client(FailureClass::Malformed, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_of_a_list_is_named() {
        let keys = ["a/1", "b/1", "b/2", "c"].map(str::to_owned);
        let expected = below(&keys, "b/");
        assert_eq!(expected, ["b/1", "b/2"]);
        for (found, is_end, words) in [
            (&["b/1", "b/2"][..], true, None),
            (&["b/1"], false, None),
            (&["b/1"], true, Some("ends before the plan's `b/2`")),
            (&["b/1", "b/3"], true, Some("has `b/3` where the plan has `b/2`")),
            (&["b/1", "b/2", "b/3"], false, Some("has `b/3`, and the plan does not")),
        ] {
            let difference = difference(expected, found.iter().copied(), is_end);
            let is_as_expected = match words {
                None => difference.is_none(),
                Some(words) => difference.as_ref().is_some_and(|text| text.contains(words)),
            };
            assert!(is_as_expected, "{found:?}: {difference:?}");
        }
    }
}
