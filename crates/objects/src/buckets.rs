//! Buckets of a run: checks before its first phase, and removal of its objects after the last one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use candor_engine::family::Kept;
use candor_plan::bucket::{Bucket, Keys, Protocol};
use candor_plan::objects::ObjectOp;
use candor_plan::work::Work;
use candor_plan::{Plan, PlanPath, Problem};
use candor_record::Note;
use candor_record::http::FailureClass;
use candor_s3::carrier::Failure;
use candor_s3::reach::{Reach, Refusal};

use crate::admin::{Admin, refusal};
use crate::keys::Object;
use crate::made::{LeftUpload, Made, MadeBy};

/// Objects and open uploads that existed below the prefixes of buckets before the run, by the
/// buckets' names.
#[derive(Clone, Debug, Default)]
pub struct Foreign(HashMap<String, Counts>);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    objects: u64,
    uploads: u64,
}

impl Foreign {
    /// Objects below the prefixes of these buckets; none if nothing was counted.
    pub fn objects(&self, buckets: &[String]) -> Option<u64> {
        let counts = buckets.iter().filter_map(|name| self.0.get(name));
        counts.map(|counts| counts.objects).reduce(|sum, count| sum + count)
    }

    /// Open uploads below the prefixes of these buckets.
    pub fn uploads(&self, buckets: &[String]) -> u64 {
        let counts = buckets.iter().filter_map(|name| self.0.get(name));
        counts.map(|counts| counts.uploads).sum()
    }
}

/// Buckets that a run uses on this host.
#[derive(Default)]
pub struct Buckets {
    plan: Vec<Bucket>,
    /// Other hosts remove objects of the same buckets.
    has_peers: bool,
    /// Names of buckets that this run made.
    created: Vec<String>,
}

/// Objects of a bucket that a check counts at most.
const COUNTED_MAX: u64 = 1000;
/// Time in which other hosts remove their objects.
const PEERS_WAIT: Duration = Duration::from_secs(10);
/// Interval between two checks of a bucket that other hosts empty.
const PEERS_POLL: Duration = Duration::from_millis(100);

/// State of a bucket before the run.
enum Found {
    /// Does not exist, and the run makes it.
    Missing,
    /// Exists, or a job makes it; the counts are known if the plan changes objects.
    Fit(Option<Counts>),
}

/// Reasons why the buckets of a plan cannot be used.
#[derive(Debug)]
pub enum Refused {
    /// A server, a user or a bucket that cannot be accessed.
    Unusable(Vec<Problem>),
    /// The run could replace or delete objects that it did not put.
    Unsafe(Vec<Problem>),
}

/// Result of the check of one bucket that cannot be used.
enum Closed {
    Unusable(Refusal),
    Unsafe(Refusal),
}

impl From<Refusal> for Closed {
    fn from(refusal: Refusal) -> Closed {
        Closed::Unusable(refusal)
    }
}

impl Buckets {
    /// Checks all buckets of a plan: servers answer, users have access, and nothing of others is
    /// replaced or deleted without consent. Makes buckets that the plan requests, if all are fit.
    ///
    /// # Errors
    /// Each bucket that cannot be used.
    pub fn open(&mut self, plan: &Plan, kept: &mut Kept) -> Result<(), Refused> {
        self.plan.clone_from(&plan.buckets);
        self.has_peers = plan.hosts > 1;
        let (mut unusable, mut dangers, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        let mut refused: Vec<&Bucket> = Vec::new();
        for (index, bucket) in plan.buckets.iter().enumerate() {
            let uses = Uses::of(plan, bucket);
            if !uses.any || refused.iter().any(|other| is_same_place(other, bucket)) {
                continue;
            }
            match find(bucket, uses) {
                Ok(Found::Missing) => missing.push(index),
                Ok(Found::Fit(counts)) => {
                    let counts = counts.map(|counts| (bucket.name.clone(), counts));
                    kept.of::<Foreign>().0.extend(counts);
                }
                Err(Closed::Unusable(refusal)) => {
                    refused.push(bucket);
                    unusable.push(problem("bucket", index, refusal));
                }
                Err(Closed::Unsafe(refusal)) => {
                    dangers.push(problem("foreign-objects", index, refusal));
                }
            }
        }
        if unusable.is_empty() && dangers.is_empty() {
            for index in missing {
                let created = self.create(&plan.buckets[index]);
                let refusal = created.err().map(|refusal| problem("bucket", index, refusal));
                unusable.extend(refusal);
            }
        }
        if unusable.is_empty() && dangers.is_empty() {
            return Ok(());
        }
        // The refusal is the message; a bucket that cannot be removed is empty.
        let _ = self.remove_created();
        Err(if unusable.is_empty() {
            Refused::Unsafe(dangers)
        } else {
            Refused::Unusable(unusable)
        })
    }

    fn create(&mut self, bucket: &Bucket) -> Result<(), Refusal> {
        let reach = Reach::of(&[bucket])?;
        let created = Admin::new(&reach)?.create_bucket(0);
        let is_new =
            created.map_err(|failure| refusal("create bucket", &bucket.bucket, &failure))?;
        if is_new {
            self.created.push(bucket.name.clone());
        }
        Ok(())
    }

    /// Removes the objects that the run put, unless the plan keeps them, open uploads, and buckets
    /// that the run made. A note for each bucket in which something is left.
    pub fn close(&mut self, kept: &mut Kept) -> Vec<Note> {
        let mut notes = Vec::new();
        for left in kept.of::<Made>().take_left() {
            let bucket = self.bucket(&left.bucket);
            notes.extend(bucket.and_then(|bucket| abort(bucket, &left).err()));
        }
        for made in kept.of::<Made>().take() {
            let buckets = made.buckets.iter().filter_map(|name| self.bucket(name));
            let buckets: Vec<Bucket> = buckets.cloned().collect();
            if buckets.iter().any(|bucket| !bucket.keep) {
                notes.extend(remove(&made, &buckets).err());
            }
        }
        notes.extend(self.remove_created());
        notes
    }

    /// Removes buckets that the run made, unless the plan keeps them.
    fn remove_created(&mut self) -> Vec<Note> {
        let created = std::mem::take(&mut self.created);
        let buckets = created.iter().filter_map(|name| self.bucket(name));
        let wait = if self.has_peers { PEERS_WAIT } else { Duration::ZERO };
        let removed = buckets.filter(|bucket| !bucket.keep);
        let removed = removed.map(|bucket| remove_bucket(bucket, wait));
        removed.filter_map(Result::err).collect()
    }

    fn bucket(&self, name: &str) -> Option<&Bucket> {
        self.plan.iter().find(|bucket| bucket.name == name)
    }
}

/// True for buckets with one name at the same servers.
fn is_same_place(one: &Bucket, other: &Bucket) -> bool {
    one.bucket == other.bucket && one.endpoints == other.endpoints
}

fn problem(rule: &'static str, bucket: usize, refusal: Refusal) -> Problem {
    let place = PlanPath::root().key("bucket").index(bucket).key(refusal.key);
    Problem::error(rule, place, refusal.message, refusal.remedy)
}

fn missing_bucket(bucket: &Bucket, failure: &Failure) -> Refusal {
    let message = format!("bucket {} does not exist: {}", bucket.bucket, failure.message);
    Refusal::new(message, "correct the name, or have it made: create = true (--create)")
}

/// Checks a bucket, and changes nothing.
fn find(bucket: &Bucket, uses: Uses) -> Result<Found, Closed> {
    let reach = Reach::of(&[bucket])?;
    if bucket.protocol != Protocol::S3 {
        return Ok(Found::Fit(None));
    }
    let mut admin = Admin::new(&reach)?;
    match admin.head_bucket(0) {
        Err(failure) if failure.code == "NoSuchBucket" && uses.creates => {
            return Ok(Found::Fit(Some(Counts::default())));
        }
        Err(failure) if failure.code == "NoSuchBucket" && bucket.create => {
            return Ok(Found::Missing);
        }
        // A user may have access to objects, and none to their bucket.
        Err(failure) if uses.by_blocks && failure.class == FailureClass::Denied => {
            return Ok(Found::Fit(None));
        }
        Err(failure) if failure.code == "NoSuchBucket" => {
            return Err(missing_bucket(bucket, &failure).into());
        }
        Err(failure) => return Err(refusal("bucket", &bucket.bucket, &failure).into()),
        Ok(()) => {}
    }
    if !uses.changes || matches!(bucket.keys, Keys::Existing(_)) {
        return Ok(Found::Fit(None));
    }
    foreign(bucket, &mut admin).map(|counts| Found::Fit(Some(counts)))
}

/// Counts objects and open uploads below the prefix, which need the user's consent.
fn foreign(bucket: &Bucket, admin: &mut Admin<'_>) -> Result<Counts, Closed> {
    let (prefix, name) = (&bucket.prefix, &bucket.bucket);
    let after = if prefix.digits == 0 { prefix.after.as_str() } else { "" };
    let prefix = format!("{}{after}", prefix.before);
    let objects = admin.list(0, &prefix, COUNTED_MAX);
    let objects = objects.map_err(|failure| refusal("list bucket", name, &failure))?;
    let needs_consent = !bucket.overwrite;
    if let Some(first) = objects.first().filter(|_| needs_consent) {
        let message = format!(
            "bucket {name} has objects below `{prefix}` that this run did not put, such as `{}`",
            first.key
        );
        let remedy = "use another prefix, or consent with overwrite = true (--overwrite)";
        return Err(Closed::Unsafe(Refusal::new(message, remedy)));
    }
    // Some servers do not list uploads.
    let uploads = admin.uploads(0, &prefix).unwrap_or_default();
    if let Some(first) = uploads.first().filter(|_| needs_consent) {
        let count = uploads.len();
        let message = format!(
            "bucket {name} has {count} open uploads below `{prefix}` that this run did not start, \
             such as of `{}`",
            first.key
        );
        let remedy =
            "abort them, use another prefix, or consent with overwrite = true (--overwrite)";
        return Err(Closed::Unsafe(Refusal::new(message, remedy)));
    }
    Ok(Counts { objects: objects.len() as u64, uploads: uploads.len() as u64 })
}

/// Uses of a bucket by a plan.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    /// A job uses the bucket.
    any: bool,
    /// A job puts or deletes objects.
    changes: bool,
    /// A job makes the bucket.
    creates: bool,
    /// A job of blocks uses the bucket.
    by_blocks: bool,
}

impl Uses {
    fn of(plan: &Plan, bucket: &Bucket) -> Uses {
        let mut uses = Uses::default();
        for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
            match &job.work {
                Work::Objects(objects) if objects.buckets.contains(&bucket.name) => {
                    uses.any = true;
                    let mut ops = objects.ops();
                    uses.creates |= objects.has(ObjectOp::CreateBucket);
                    uses.changes |= ops.any(|op| !op.is_on_bucket() && op.operation().destroys);
                }
                Work::Blocks(blocks) if blocks.bucket.as_ref() == Some(&bucket.name) => {
                    uses.any = true;
                    uses.by_blocks = true;
                    let changes = blocks.mix.write > 0 || blocks.mix.trim > 0;
                    // Blocks count no foreign objects.
                    uses.changes |= changes && !bucket.overwrite;
                }
                _ => {}
            }
        }
        uses
    }
}

fn left(action: &str, bucket: &Bucket, why: String) -> Note {
    Note {
        asked: format!("remove what the run made in bucket {}", bucket.bucket),
        did: action.to_owned(),
        why,
        place: None,
    }
}

/// Aborts an upload.
fn abort(bucket: &Bucket, upload: &LeftUpload) -> Result<(), Note> {
    let action = format!("the upload of `{}` is left open", upload.key);
    let reach = Reach::of(&[bucket]).map_err(|refusal| left(&action, bucket, refusal.message))?;
    let mut admin = Admin::new(&reach).map_err(|refusal| left(&action, bucket, refusal.message))?;
    let aborted = admin.abort(0, &upload.key, &upload.id);
    aborted.map_err(|failure| left(&action, bucket, failure.message.clone()))
}

/// Objects of a job that are removed from one bucket.
struct Removal<'a> {
    bucket: &'a Bucket,
    /// Number of the bucket in the job.
    number: usize,
    /// Objects that are not removed yet.
    left: u64,
    /// Keys of the next request.
    keys: Vec<String>,
}

/// Keys of one request that removes objects.
const BATCH: usize = 1000;

/// Removes the objects that a job put.
fn remove(made: &MadeBy, buckets: &[Bucket]) -> Result<(), Note> {
    let Some(first) = buckets.first() else { return Ok(()) };
    let refs: Vec<&Bucket> = buckets.iter().collect();
    let some_left = "objects are left";
    let reach = Reach::of(&refs).map_err(|refusal| left(some_left, first, refusal.message))?;
    let mut admin =
        Admin::new(&reach).map_err(|refusal| left(some_left, first, refusal.message))?;
    let removals = buckets.iter().enumerate();
    let mut removals: Vec<Removal<'_>> = removals
        .map(|(number, bucket)| Removal { bucket, number, left: 0, keys: Vec::new() })
        .collect();
    for object in objects(made).filter(Object::is_first) {
        removals[object.bucket as usize].left += 1;
    }
    for object in objects(made) {
        let removal = &mut removals[object.bucket as usize];
        let mut key = String::new();
        made.catalog.write_key(&object, &mut key);
        key.push_str(made.suffix);
        removal.keys.push(key);
        if removal.keys.len() >= BATCH {
            removal.delete(&mut admin)?;
        }
    }
    removals.iter_mut().try_for_each(|removal| removal.delete(&mut admin))
}

/// Objects that a job put, and the shares of ranks in objects that all share.
fn objects(made: &MadeBy) -> impl Iterator<Item = Object> {
    let workers = made.counts.iter().enumerate();
    workers.flat_map(move |(worker, count)| {
        let count = (*count).min(made.catalog.count(worker as u32));
        (0..count).map(move |nth| made.catalog.object(worker as u32, nth))
    })
}

impl Removal<'_> {
    fn delete(&mut self, admin: &mut Admin<'_>) -> Result<(), Note> {
        let mut keys = std::mem::take(&mut self.keys);
        // Each rank of a shared object names its key.
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() || self.bucket.keep {
            return Ok(());
        }
        let count = keys.len() as u64;
        let deleted = admin.delete(self.number, &keys).map_err(|failure| {
            let action = format!("{} objects are left", self.left);
            left(&action, self.bucket, failure.message.clone())
        })?;
        self.left = self.left.saturating_sub(deleted);
        if deleted < count {
            let action = format!("{} objects are left", count - deleted);
            return Err(left(&action, self.bucket, "the server did not delete them".into()));
        }
        Ok(())
    }
}

/// Removes a bucket. A bucket with objects may become empty until the wait is over.
fn remove_bucket(bucket: &Bucket, wait: Duration) -> Result<(), Note> {
    let is_left = "the bucket is left";
    let reach = Reach::of(&[bucket]).map_err(|refusal| left(is_left, bucket, refusal.message))?;
    let mut admin = Admin::new(&reach).map_err(|refusal| left(is_left, bucket, refusal.message))?;
    let began = Instant::now();
    loop {
        match admin.delete_bucket(0) {
            Ok(()) => return Ok(()),
            Err(failure) if failure.code == "BucketNotEmpty" && began.elapsed() < wait => {
                std::thread::sleep(PEERS_POLL);
            }
            Err(failure) => return Err(left(is_left, bucket, failure.message.clone())),
        }
    }
}
