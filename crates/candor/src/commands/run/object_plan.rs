//! Plans of flags whose targets are buckets.

use candor_plan::blocks::Pace;
use candor_plan::bucket::{Bucket, Existing, KeyPrefix, Keys};
use candor_plan::entries::{Select, VerifyItems};
use candor_plan::objects::{ObjectOp, Objects};
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Job, Phase, Plan, PlanPath, Problem, Stop, Tree};

use super::draft::Draft;
use super::lists::{self, Value};
use super::s3::Operations;
use super::{options, work_names};
use crate::commands::bucket::{SERVERS, Url};

/// Flags for files and devices that buckets have too.
const COMMON: [&str; 32] = [
    "target",
    "size",
    "keep",
    "overwrite",
    "name",
    "rw",
    "bs",
    "access",
    "depth",
    "workers",
    "cpus",
    "split-cpus",
    "numa",
    "seed",
    "time",
    "seconds",
    "bytes",
    "ops",
    "passes",
    "repeats",
    "continue-on-error",
    "ramp",
    "interval",
    "rate-iops",
    "rate",
    "arrival",
    "think",
    "content",
    "compressible",
    "duplicate",
    "verify",
    "verify-continue",
];

/// Begin of keys in buckets without a given prefix.
const PREFIX: &str = "candor/";
/// Bytes of an object, unless the user sets a size.
const SIZE: Bytes = Bytes(1 << 20);
/// Bytes of all objects, unless the user sets a number.
const ALL_BYTES: u64 = 1 << 30;
/// Keys of a mix that puts new objects: more than any run reaches.
const MIXED_KEYS: u64 = 1 << 28;
/// Requests in flight of each worker that puts the objects of later phases, at least.
const FILL_DEPTH: u32 = 16;

/// Objects that exist before a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Present {
    /// None, or some are deleted.
    No,
    /// All: an earlier phase put them, with no limit of time.
    All,
    /// Objects that an earlier phase put until its time ended.
    Reached,
}

/// A job under construction, and its end.
struct JobAndStop {
    job: Job,
    work: Objects,
    stop: Stop,
}

impl Draft {
    /// True if targets are buckets.
    pub fn is_s3(&self) -> bool {
        !self.s3.urls.is_empty()
    }

    /// Given flags that do not fit the targets, or each other.
    pub fn misfits(&self, given: &[&str]) -> Vec<Problem> {
        let own = options::objects::FLAGS.iter().map(|flag| flag.long);
        let servers = SERVERS.iter().flat_map(|group| group.flags).map(|flag| flag.long);
        let own: Vec<&str> = own.chain(servers).collect();
        let Some(url) = self.s3.urls.first() else {
            let misfit = given.iter().find(|flag| own.contains(flag));
            let problem = misfit.map(|flag| {
                let message = format!("--{flag} is for buckets, and no target is one");
                misfit_of(flag, message, "add --target s3://BUCKET/PREFIX, or leave it out")
            });
            return problem.into_iter().collect();
        };
        let mut problems: Vec<Problem> = given
            .iter()
            .filter(|flag| !COMMON.contains(flag) && !own.contains(flag))
            .map(|flag| {
                let message = format!(
                    "--{flag} is for files and devices, and s3://{}/{} is a bucket",
                    url.bucket, url.prefix
                );
                let remedy = match *flag {
                    "mix" => "write --rw get:70,put:30",
                    _ => "leave it out",
                };
                misfit_of(flag, message, remedy)
            })
            .collect();
        if let Some(path) = self.paths.first() {
            let message = format!("{} is no bucket, and another target is one", path.display());
            problems.push(misfit_of("target", message, "use a run for each"));
        }
        problems.extend(self.misfits_of_existing(given));
        problems.extend(self.endless_deletion());
        problems
    }

    /// All operations of all phases.
    fn ops(&self) -> Vec<ObjectOp> {
        let listed = self.lists.iter().flat_map(|list| &list.values);
        let listed = listed.filter_map(|value| match value {
            Value::Ops(operations) => Some(operations.op),
            _ => None,
        });
        self.s3.work.ops().chain(listed).collect()
    }

    fn misfits_of_existing(&self, given: &[&str]) -> Option<Problem> {
        if !self.s3.existing {
            return None;
        }
        let reads = [ObjectOp::Get, ObjectOp::Head, ObjectOp::List];
        if self.ops().iter().any(|op| !reads.contains(op)) {
            let message = "--existing changes no object, and --rw does";
            return Some(misfit_of("existing", message, "use --rw get, head or list"));
        }
        let puts = ["size", "part", "prefix-hash", "content", "create"];
        let flag = given.iter().find(|flag| puts.contains(flag))?;
        let message =
            format!("--{flag} is for objects that the run puts, and --existing puts none");
        Some(misfit_of(flag, message, "leave one of them out"))
    }

    /// A mix that deletes and never puts runs out of objects.
    fn endless_deletion(&self) -> Option<Problem> {
        let mix = &self.s3.work.mix;
        let deletes = mix.iter().any(|weighted| weighted.op == ObjectOp::Delete);
        (deletes && !self.grows()).then(|| {
            let message = "a mix with delete and without put runs out of objects";
            misfit_of("rw", message, "add put with at least the weight of delete")
        })
    }

    /// The plan.
    pub fn object_plan(self) -> Plan {
        let name = self.name.clone().unwrap_or_else(|| self.object_title());
        let buckets = self.buckets();
        let names: Vec<String> = buckets.iter().map(|bucket| bucket.name.clone()).collect();
        let mut phases = Vec::new();
        let mut present = if self.s3.existing { Present::All } else { Present::No };
        for values in lists::choices(&self.lists) {
            let name = if values.is_empty() { name.clone() } else { lists::name(&values) };
            let mut drafted = self.drafted(&names, &values);
            let work = &mut drafted.work;
            let lists = work.has(ObjectOp::List);
            if present == Present::No && (lists || work.ops().any(ObjectOp::needs_objects)) {
                phases.push(self.fill(drafted.job.workers, &names));
                present = Present::All;
            }
            work.as_reached = present == Present::Reached && !work.has(ObjectOp::Put);
            present = self.after(&drafted, present);
            phases.push(drafted.phase(name, &self.phase));
        }
        let usual = Plan::default();
        Plan {
            name,
            buckets,
            phases,
            seed: self.seed.unwrap_or(usual.seed),
            repeats: self.repeats.unwrap_or(usual.repeats),
            ..usual
        }
    }

    /// Objects that exist after some work.
    fn after(&self, drafted: &JobAndStop, before: Present) -> Present {
        let JobAndStop { work, stop, .. } = drafted;
        let deletes = work.has(ObjectOp::Delete) || work.has(ObjectOp::DeleteMany);
        if deletes {
            return Present::No;
        }
        if before == Present::All || !work.has(ObjectOp::Put) {
            return before;
        }
        // Each number of workers has its own shares; an amount is no end of time.
        let is_timed = stop.time.is_some() && stop.ops.is_none() && stop.bytes.is_none();
        if *stop == Stop::default() {
            Present::All
        } else if is_timed && !self.is_list("workers") {
            Present::Reached
        } else {
            Present::No
        }
    }

    /// Number of objects, unless the server lists them.
    fn object_count(&self) -> u64 {
        let size = self.s3.size.as_ref().map_or(SIZE, SizeSpec::max);
        self.s3.count.unwrap_or_else(|| (ALL_BYTES / size.0.max(1)).clamp(16, 1000))
    }

    /// True if a mix puts objects in addition to those that exist.
    fn grows(&self) -> bool {
        self.s3.work.mix.iter().any(|weighted| weighted.op == ObjectOp::Put)
    }

    fn buckets(&self) -> Vec<Bucket> {
        let many = self.s3.urls.len() > 1;
        let size = self.s3.size.clone().unwrap_or(SizeSpec::Fixed(SIZE));
        let items = if self.grows() { MIXED_KEYS } else { self.object_count() };
        let keys = if self.s3.existing {
            Keys::Existing(Existing { first: self.s3.count, ..Existing::default() })
        } else {
            Keys::Tree(Box::new(Tree { items, file_size: size, ..Tree::default() }))
        };
        let each = self.s3.urls.iter().enumerate().map(|(nth, url)| Bucket {
            name: if many { format!("bucket{}", nth + 1) } else { "bucket".to_owned() },
            keys: keys.clone(),
            keep: self.target.keep,
            overwrite: self.target.overwrite,
            ..self.placed(url)
        });
        each.collect()
    }

    /// A bucket with its prefix.
    fn placed(&self, url: &Url) -> Bucket {
        let is_bare = url.prefix.is_empty() && !self.s3.existing;
        let bucket = url.on(&self.s3.bucket, if is_bare { PREFIX } else { "" });
        match self.s3.hash_digits {
            0 => bucket,
            digits => {
                let prefix = KeyPrefix { digits, after: "/".into(), ..bucket.prefix };
                Bucket { prefix, ..bucket }
            }
        }
    }

    /// The job that has these values of the lists.
    fn drafted(&self, buckets: &[String], values: &[&Value]) -> JobAndStop {
        let (mut blocks, mut work) = (self.blocks.clone(), self.s3.work.clone());
        let mut job = Job { name: "job".to_owned(), ..self.job.clone() };
        values.iter().for_each(|value| value.put(&mut job, &mut blocks, &mut work));
        let verify = blocks.verify.map(|verify| VerifyItems {
            interval: verify.interval,
            continue_on_mismatch: verify.continue_on_mismatch,
            ..VerifyItems::default()
        });
        let (puts, gets) = (work.has(ObjectOp::Put), work.has(ObjectOp::Get));
        let deletes = work.has(ObjectOp::Delete) || work.has(ObjectOp::DeleteMany);
        let ordered = puts || deletes || work.has(ObjectOp::List);
        let usual = Objects::default();
        let work = Objects {
            buckets: buckets.to_vec(),
            depth: blocks.depth,
            select: if ordered { Select::Sequential } else { Select::Shuffled },
            access: blocks.access,
            pace: blocks.pace,
            content: blocks.content,
            verify: verify.filter(|_| puts || gets),
            range: work.range.filter(|_| gets),
            part: work.part.filter(|_| puts),
            checksum: work.checksum.filter(|_| puts),
            payload: if puts { work.payload } else { usual.payload },
            ..work
        };
        let mut stop = self.phase.stop.clone();
        if deletes && work.mix.is_empty() {
            // Each object can be deleted once.
            stop.passes = stop.passes.or(Some(1));
        }
        if self.grows() && stop == Stop::default() {
            stop.ops = Some(self.object_count().div_ceil(job.workers.max(1).into()));
        }
        JobAndStop { job, work, stop }
    }

    /// The phase that puts the objects of the next one, all of them once.
    fn fill(&self, workers: u32, buckets: &[String]) -> Phase {
        let put = Value::Ops(Operations { op: ObjectOp::Put, mix: Vec::new() });
        let JobAndStop { job, work, .. } = self.drafted(buckets, &[&put]);
        let each = self.object_count().div_ceil(workers.max(1).into());
        let work = Objects {
            depth: work.depth.max(FILL_DEPTH),
            pace: Pace::default(),
            first: self.grows().then_some(each),
            ..work
        };
        let job = Job { workers, ..job };
        JobAndStop { job, work, stop: Stop::default() }.phase("fill".into(), &Phase::default())
    }

    /// The job's name in the report: `get 1 MiB, depth 64`.
    fn object_title(&self) -> String {
        let Objects { op, mix, range, .. } = &self.s3.work;
        let operations = Operations { op: *op, mix: mix.clone() };
        let kind = (!self.is_list("rw")).then(|| operations.name());
        let size = self.s3.size.clone().unwrap_or(SizeSpec::Fixed(SIZE));
        let size = (!self.s3.existing).then(|| work_names::size(&size));
        let range = range.filter(|_| !self.is_list("bs"));
        let range = range.map(|range| format!("by {}", work_names::size(&SizeSpec::Fixed(range))));
        let work = [kind, size, range].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let work = (!work.is_empty()).then_some(work);
        let flags: Vec<&str> = self.lists.iter().map(|list| list.flag).collect();
        let by = (!flags.is_empty()).then(|| format!("by {}", flags.join(" and ")));
        let depth = self.amount("depth", self.blocks.depth);
        let parts = [work, depth, self.amount("workers", self.job.workers), by];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl JobAndStop {
    /// The phase with this job.
    fn phase(self, name: String, settings: &Phase) -> Phase {
        let JobAndStop { job, work, stop } = self;
        Phase { name, stop, jobs: vec![Job { work: work.into(), ..job }], ..settings.clone() }
    }
}

fn misfit_of(flag: &str, message: impl Into<String>, remedy: &str) -> Problem {
    let place = PlanPath::from(format!("--{flag}").as_str());
    Problem::error("target-kind", place, message, remedy)
}
