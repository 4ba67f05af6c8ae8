//! Settings of buckets and objects that flags gave.

use candor_plan::bucket::Bucket;
use candor_plan::objects::{ObjectOp, Objects, WeightedOp};
use candor_plan::units::SizeSpec;

use crate::commands::bucket::Url;
use crate::parse::one_of;

/// Buckets and objects under construction.
#[derive(Debug)]
pub struct S3Job {
    /// Buckets that are targets.
    pub urls: Vec<Url>,
    /// Settings of all of them.
    pub bucket: Bucket,
    /// Work, but for settings that files have too.
    pub work: Objects,
    /// Bytes of each object.
    pub size: Option<SizeSpec>,
    /// Number of objects.
    pub count: Option<u64>,
    /// Objects are those that the server lists.
    pub existing: bool,
    /// Digits of a hash in keys; 0 for none.
    pub hash_digits: u8,
}

impl Default for S3Job {
    fn default() -> S3Job {
        S3Job {
            urls: Vec::new(),
            bucket: Bucket { name: "bucket".into(), ..Bucket::default() },
            work: Objects::default(),
            size: None,
            count: None,
            existing: false,
            hash_digits: 0,
        }
    }
}

/// Operations of a job, as `--rw` names them.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// The only operation.
    pub op: ObjectOp,
    /// Operations by weight, instead of one.
    pub mix: Vec<WeightedOp>,
}

/// Words of `--rw` for buckets.
const WORDS: [(&str, ObjectOp); 7] = [
    ("get", ObjectOp::Get),
    ("put", ObjectOp::Put),
    ("head", ObjectOp::Head),
    ("delete", ObjectOp::Delete),
    ("delete-many", ObjectOp::DeleteMany),
    ("list", ObjectOp::List),
    ("copy", ObjectOp::Copy),
];

impl Operations {
    /// From a word, or from several with weights: `get`, `get:70,put:30`.
    ///
    /// # Errors
    /// A sentence.
    pub fn read(text: &str) -> Result<Operations, String> {
        if !text.contains(':') {
            return Ok(Operations { op: one_of(text, &WORDS)?, mix: Vec::new() });
        }
        let weighted = text.split(',').map(|part| {
            let (word, weight) = part.split_once(':').unwrap_or((part, ""));
            let op = one_of(word, &WORDS)?;
            let weight = weight.parse().map_err(|_| {
                format!("`{part}` has no weight; write {word}:N, such as {word}:50")
            })?;
            Ok(WeightedOp { weight, op })
        });
        let mix = weighted.collect::<Result<Vec<_>, String>>()?;
        Ok(Operations { op: ObjectOp::default(), mix })
    }

    /// Sets them.
    pub fn put(&self, work: &mut Objects) {
        (work.op, work.mix) = (self.op, self.mix.clone());
    }

    /// Name of the work: `get`, `get/put 70/30`.
    pub fn name(&self) -> String {
        if self.mix.is_empty() {
            return self.op.operation().name.to_owned();
        }
        let names = self.mix.iter().map(|weighted| weighted.op.operation().name);
        let names: Vec<&str> = names.collect();
        let shares: Vec<_> = self.mix.iter().map(|weighted| weighted.weight.to_string()).collect();
        format!("{} {}", names.join("/"), shares.join("/"))
    }
}
