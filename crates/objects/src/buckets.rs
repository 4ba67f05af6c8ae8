//! Buckets of a run: checks before its first phase, and removal of its objects after the last one.

use std::collections::HashMap;

use candor_engine::family::Kept;
use candor_plan::bucket::{Bucket, Keys, Protocol};
use candor_plan::objects::ObjectOp;
use candor_plan::work::Work;
use candor_plan::{Plan, PlanPath, Problem};
use candor_record::Note;

use crate::admin::{Admin, refusal};
use crate::made::{Made, MadeBy};
use crate::reach::{Reach, Refusal};

/// Objects that existed below the prefixes of buckets before the run, by the buckets' names.
#[derive(Clone, Debug, Default)]
pub struct Foreign(HashMap<String, u64>);

impl Foreign {
    /// Objects below the prefixes of these buckets; none if nothing was counted.
    pub fn of(&self, buckets: &[String]) -> Option<u64> {
        let counts = buckets.iter().filter_map(|name| self.0.get(name));
        counts.copied().reduce(|sum, count| sum + count)
    }
}

/// Buckets that a run uses on this host.
#[derive(Default)]
pub struct Buckets {
    plan: Vec<Bucket>,
    /// Names of buckets that this run made.
    created: Vec<String>,
}

/// Objects of a bucket that a check counts at most.
const COUNTED_MAX: u64 = 1000;

impl Buckets {
    /// Checks all buckets of a plan: servers answer, users have access, and nothing of others is
    /// replaced or deleted without consent. Makes buckets that the plan requests.
    ///
    /// # Errors
    /// Each bucket that cannot be used.
    pub fn open(&mut self, plan: &Plan, kept: &mut Kept) -> Result<(), Vec<Problem>> {
        self.plan.clone_from(&plan.buckets);
        let mut problems = Vec::new();
        for (index, bucket) in plan.buckets.iter().enumerate() {
            let uses = Uses::of(plan, bucket);
            if !uses.any {
                continue;
            }
            match self.open_one(bucket, uses) {
                Ok(foreign) => {
                    let counts = foreign.map(|count| (bucket.name.clone(), count));
                    kept.of::<Foreign>().0.extend(counts);
                }
                Err(Refusal { message, remedy }) => {
                    let place = PlanPath::root().key("bucket").index(index);
                    problems.push(Problem::error("bucket", place, message, remedy));
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Number of foreign objects, if they were counted.
    fn open_one(&mut self, bucket: &Bucket, uses: Uses) -> Result<Option<u64>, Refusal> {
        let reach = Reach::of(&[bucket])?;
        if bucket.protocol != Protocol::S3 {
            return Ok(None);
        }
        let mut admin = Admin::new(&reach)?;
        let found = admin.head_bucket(0);
        let missing = found.as_ref().err().filter(|failure| failure.code == "NoSuchBucket");
        match (&found, missing) {
            (_, Some(_)) if uses.creates => return Ok(Some(0)),
            (_, Some(_)) if bucket.create => {
                let created = admin.create_bucket(0);
                created.map_err(|failure| refusal("create bucket", &bucket.bucket, &failure))?;
                self.created.push(bucket.name.clone());
                return Ok(Some(0));
            }
            (Err(failure), _) => return Err(refusal("bucket", &bucket.bucket, failure)),
            (Ok(()), _) => {}
        }
        if !uses.changes || matches!(bucket.keys, Keys::Existing(_)) {
            return Ok(None);
        }
        let prefix = &bucket.prefix;
        let after = if prefix.digits == 0 { prefix.after.as_str() } else { "" };
        let prefix = format!("{}{after}", prefix.before);
        let foreign = admin.list(0, &prefix, COUNTED_MAX);
        let foreign =
            foreign.map_err(|failure| refusal("list bucket", &bucket.bucket, &failure))?;
        if let Some(first) = foreign.first().filter(|_| !bucket.overwrite) {
            let message = format!(
                "bucket {} has objects below `{prefix}` that this run did not put, such as `{}`",
                bucket.bucket, first.key
            );
            let remedy = "use another prefix, or consent with overwrite (--overwrite)";
            return Err(Refusal::new(message, remedy));
        }
        Ok(Some(foreign.len() as u64))
    }

    /// Removes the objects that the run put, unless the plan keeps them, and buckets that it made.
    /// A note for each bucket in which something is left.
    pub fn close(&mut self, kept: &mut Kept) -> Vec<Note> {
        let mut notes = Vec::new();
        for made in kept.of::<Made>().take() {
            let buckets = made.buckets.iter().filter_map(|name| self.bucket(name));
            let buckets: Vec<Bucket> = buckets.cloned().collect();
            if buckets.iter().any(|bucket| !bucket.keep) {
                notes.extend(remove(&made, &buckets).err());
            }
        }
        for name in std::mem::take(&mut self.created) {
            if let Some(bucket) = self.bucket(&name).filter(|bucket| !bucket.keep) {
                notes.extend(remove_bucket(bucket).err());
            }
        }
        notes
    }

    fn bucket(&self, name: &str) -> Option<&Bucket> {
        self.plan.iter().find(|bucket| bucket.name == name)
    }
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

/// Removes the objects that a job put.
fn remove(made: &MadeBy, buckets: &[Bucket]) -> Result<(), Note> {
    let Some(first) = buckets.first() else { return Ok(()) };
    let refs: Vec<&Bucket> = buckets.iter().collect();
    let some_left = "some objects are left";
    let reach = Reach::of(&refs).map_err(|refusal| left(some_left, first, refusal.message))?;
    let mut admin =
        Admin::new(&reach).map_err(|refusal| left(some_left, first, refusal.message))?;
    let mut keys: Vec<Vec<String>> = vec![Vec::new(); buckets.len()];
    let mut key = String::new();
    for (worker, count) in made.counts.iter().enumerate() {
        for nth in 0..(*count).min(made.catalog.count(worker as u32)) {
            let object = made.catalog.object(worker as u32, nth);
            made.catalog.write_key(&object, &mut key);
            let number = object.bucket as usize;
            keys[number].push(format!("{key}{}", made.suffix));
            if keys[number].len() >= 1000 {
                delete(&mut admin, &buckets[number], number, &mut keys[number])?;
            }
        }
    }
    for (number, keys) in keys.iter_mut().enumerate() {
        delete(&mut admin, &buckets[number], number, keys)?;
    }
    Ok(())
}

fn delete(
    admin: &mut Admin<'_>,
    bucket: &Bucket,
    number: usize,
    keys: &mut Vec<String>,
) -> Result<(), Note> {
    if keys.is_empty() || bucket.keep {
        return Ok(());
    }
    let count = keys.len() as u64;
    let deleted = admin.delete(number, keys);
    keys.clear();
    match deleted {
        Ok(deleted) if deleted == count => Ok(()),
        Ok(deleted) => {
            let action = format!("{} objects are left", count - deleted);
            Err(left(&action, bucket, "the server did not delete them".into()))
        }
        Err(failure) => Err(left("objects are left", bucket, failure.message.clone())),
    }
}

fn remove_bucket(bucket: &Bucket) -> Result<(), Note> {
    let is_left = "the bucket is left";
    let reach = Reach::of(&[bucket]).map_err(|refusal| left(is_left, bucket, refusal.message))?;
    let mut admin = Admin::new(&reach).map_err(|refusal| left(is_left, bucket, refusal.message))?;
    admin.delete_bucket(0).map_err(|failure| left(is_left, bucket, failure.message.clone()))
}
