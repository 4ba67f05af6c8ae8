//! Requests of slots.

use candor_http::{Into, Request};
use candor_plan::objects::{ABORT_UPLOAD, LIST_PARTS, ObjectOp, PUT_PART};
use candor_s3::carrier::address;
use candor_s3::requests::{
    self, ByteRange, FinishedPart, Key, ListQuery, Object, Subject, Upload, Versioning,
    VersionsQuery,
};
use candor_s3::{LockMode, Login, Place, Retention};

use super::{Context, Current, Wire};
use crate::lanes::Lane;
use crate::uploads::lock;

/// End of the key of a copy.
pub const COPY_SUFFIX: &str = ".copy";

/// A request under construction.
pub struct Unsent<'a> {
    pub request: &'a mut Request,
    pub login: &'a mut Login,
    pub unix_s: u64,
}

/// Parts of the request of a slot.
struct Parts<'a> {
    context: &'a Context,
    current: Current,
    lane: &'a Lane,
    place: &'a Place,
}

/// Writes the request of a slot.
pub fn request(wire: &Wire, slot: usize, unsent: &mut Unsent<'_>) {
    let current = wire.slots[slot];
    let board = wire.board.borrow();
    let lane = board.lanes[current.lane as usize].as_ref();
    let lane = lane.expect("a request belongs to an object in progress");
    let endpoint = wire.endpoints[slot];
    let place = &wire.context.places[endpoint][lane.object.bucket as usize];
    let parts = Parts { context: &wire.context, current, lane, place };
    match current.op.0 {
        PUT_PART | LIST_PARTS | ABORT_UPLOAD => parts.of_upload(current.op.0, unsent),
        row => parts.of_op(ObjectOp::ALL[usize::from(row)], wire, slot, unsent),
    }
    if matches!(current.op.0, PUT_PART) || current.op.0 == ObjectOp::Put as u8 {
        if wire.context.expect_continue && current.length > 0 {
            unsent.request.header("expect", "100-continue");
        }
        let bytes = candor_http::Buffers::bytes(wire, slot);
        let integrity = &wire.context.integrity;
        unsent.login.upload(unsent.request, place, integrity, bytes, unsent.unix_s);
    } else {
        unsent.login.finish(unsent.request, place, unsent.unix_s);
    }
    address(unsent.request, place);
}

impl Parts<'_> {
    fn object(&self) -> Object<'_> {
        Object { place: self.place, key: &self.lane.key, version: None }
    }

    fn of_op(&self, op: ObjectOp, wire: &Wire, slot: usize, unsent: &mut Unsent<'_>) {
        let (context, place, object) = (self.context, self.place, self.object());
        let request = &mut *unsent.request;
        match op {
            ObjectOp::Get => self.get(request),
            ObjectOp::Put => requests::put(request, &object, &context.put_headers),
            ObjectOp::Head => requests::head(request, &object, None, &context.object_headers),
            ObjectOp::Delete => requests::delete(request, &object, &context.object_headers),
            ObjectOp::DeleteMany => {
                let keys = self.lane.keys.iter().map(|key| Key { key, version: None });
                requests::delete_objects(request, place, keys, context.integrity.checksum);
            }
            ObjectOp::List => self.list(request),
            ObjectOp::ListVersions => self.list_versions(request),
            ObjectOp::Copy => self.copy(request),
            ObjectOp::CreateUpload => {
                requests::create_upload(request, &object, &context.put_headers);
            }
            ObjectOp::CompleteUpload => self.of_upload(op as u8, unsent),
            ObjectOp::PutRetention => self.retain(unsent),
            ObjectOp::CreateBucket => {
                let site = &context.sites[wire.endpoints[slot]];
                requests::create_bucket(request, place, site, &context.bucket_headers);
            }
            ObjectOp::HeadBucket => requests::head_bucket(request, place),
            ObjectOp::DeleteBucket => requests::delete_bucket(request, place),
            ObjectOp::EnableVersioning => {
                requests::put_versioning(request, place, Versioning::Enabled);
            }
            ObjectOp::SuspendVersioning => {
                requests::put_versioning(request, place, Versioning::Suspended);
            }
            ObjectOp::GetVersioning => requests::get_versioning(request, place),
            ObjectOp::PutLock => {
                let retention = context.objects.headers.retention;
                let days = retention.map_or(1, |retention| retention.days);
                requests::put_lock(request, place, self.lock_mode(), days);
            }
            ObjectOp::GetLock => requests::get_lock(request, place),
            ObjectOp::PutTags | ObjectOp::GetTags | ObjectOp::DeleteTags => {
                self.tags(op, &Subject::Object(object), request);
            }
            ObjectOp::PutAcl | ObjectOp::GetAcl => {
                self.acl(op == ObjectOp::PutAcl, &Subject::Object(object), request);
            }
            ObjectOp::PutBucketTags => {
                self.tags(ObjectOp::PutTags, &Subject::Bucket(place), request);
            }
            ObjectOp::GetBucketTags => {
                self.tags(ObjectOp::GetTags, &Subject::Bucket(place), request);
            }
            ObjectOp::DeleteBucketTags => {
                self.tags(ObjectOp::DeleteTags, &Subject::Bucket(place), request);
            }
            ObjectOp::PutBucketAcl => self.acl(true, &Subject::Bucket(place), request),
            ObjectOp::GetBucketAcl => self.acl(false, &Subject::Bucket(place), request),
        }
    }

    fn get(&self, request: &mut Request) {
        let Current { offset, length, .. } = self.current;
        let (objects, headers) = (&self.context.objects, &self.context.get_headers);
        let object = self.object();
        match objects.part.filter(|_| objects.by_part_number) {
            Some(part) => {
                let number = offset / part.0 + 1;
                requests::get_part(request, &object, number as u32, headers);
            }
            None if length < self.lane.object.bytes => {
                let range = ByteRange { first: offset, bytes: length };
                requests::get_range(request, &object, range, headers);
            }
            None => requests::get(request, &object, headers),
        }
        if objects.discard {
            request.into = Into::Nothing;
        }
    }

    /// Writes a request on the lane's upload.
    fn of_upload(&self, row: u8, unsent: &mut Unsent<'_>) {
        let shared = self.lane.upload().map(|upload| lock(upload).id.clone());
        let id = shared.as_deref().unwrap_or(&self.lane.list.upload);
        let (upload, request) = (Upload { object: self.object(), id }, &mut *unsent.request);
        match row {
            PUT_PART => {
                let unit = self.context.objects.part.map_or(1, |part| part.0.max(1));
                let number = (self.current.offset / unit + 1) as u32;
                requests::put_part(request, &upload, number, &self.context.part_headers);
            }
            LIST_PARTS => self.list_parts(request, &upload),
            ABORT_UPLOAD => requests::abort_upload(request, &upload),
            _ => self.complete(request, &upload),
        }
    }

    fn complete(&self, request: &mut Request, upload: &Upload<'_>) {
        let mut parts = match self.lane.upload() {
            Some(shared) => lock(shared).parts.clone(),
            None => self.lane.list.parts.clone(),
        };
        parts.sort_unstable_by_key(|part| part.number);
        let finished = parts.iter().map(|part| FinishedPart {
            number: part.number,
            etag: &part.etag,
            sum: part.sum,
        });
        requests::complete_upload(request, upload, finished, &self.context.object_headers);
    }

    fn list_parts(&self, request: &mut Request, upload: &Upload<'_>) {
        let after = self.lane.list.parts.last().map_or(0, |part| part.number);
        requests::list_parts(request, upload, after, 0);
    }

    fn list(&self, request: &mut Request) {
        let max_keys = self.page();
        let (prefix, token) = (self.lane.key.as_str(), self.lane.list.token.as_str());
        let query = ListQuery { prefix, token, max_keys, ..ListQuery::default() };
        requests::list_objects(request, self.place, &query);
    }

    fn list_versions(&self, request: &mut Request) {
        let list = &self.lane.list;
        let query = VersionsQuery {
            prefix: &self.lane.key,
            after_key: &list.last,
            after_version: &list.token,
            max_keys: self.page(),
            ..VersionsQuery::default()
        };
        requests::list_versions(request, self.place, &query);
    }

    /// Keys of the next page.
    fn page(&self) -> u32 {
        let objects = &self.context.objects;
        let left = objects.list_max.unwrap_or(u64::MAX).saturating_sub(self.lane.list.keys);
        u64::from(objects.page).min(left.max(1)) as u32
    }

    fn copy(&self, request: &mut Request) {
        let key = format!("{}{COPY_SUFFIX}", self.lane.key);
        let to = Object { place: self.place, key: &key, version: None };
        let bucket = &self.context.buckets[self.lane.object.bucket as usize];
        requests::copy(request, &to, bucket, &self.lane.key, &self.context.put_headers);
    }

    fn lock_mode(&self) -> LockMode {
        let retention = self.context.objects.headers.retention;
        if retention.is_some_and(|retention| retention.compliance) {
            LockMode::Compliance
        } else {
            LockMode::Governance
        }
    }

    fn retain(&self, unsent: &mut Unsent<'_>) {
        let retention = self.context.objects.headers.retention;
        let days = retention.map_or(1, |retention| retention.days);
        let until = unsent.unix_s.saturating_add(u64::from(days) * 86_400);
        // The plan's check keeps the year below 10000.
        if let Ok(retention) = Retention::new(self.lock_mode(), until) {
            requests::put_retention(unsent.request, &self.object(), &retention);
        }
    }

    fn tags(&self, op: ObjectOp, subject: &Subject<'_>, request: &mut Request) {
        match op {
            ObjectOp::PutTags => requests::put_tags(request, subject, &self.context.tags),
            ObjectOp::DeleteTags => requests::delete_tags(request, subject),
            _ => requests::get_tags(request, subject),
        }
    }

    fn acl(&self, puts: bool, subject: &Subject<'_>, request: &mut Request) {
        if puts {
            requests::put_acl(request, subject, &self.context.acl_headers);
        } else {
            requests::get_acl(request, subject);
        }
    }
}
