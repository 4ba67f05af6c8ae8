//! Filesystems that store files compressed, so that devices move fewer bytes than applications.

use candor_plan::units::Direction;
use candor_record::facts::{TargetFacts, value};

use crate::observed::Observed;

/// Evidence that what is read or written passes a filesystem which compresses, and its source.
pub fn cause(observed: &Observed, op: Direction) -> Option<(String, String)> {
    let by_options = observed.targets().into_iter().find_map(by_options);
    let known = by_options.or_else(|| by_extents(observed));
    // The kind says what may have been stored, not what becomes of a write.
    let stored = || observed.targets().into_iter().find_map(by_kind);
    known.or_else(|| stored().filter(|_| op == Direction::Read))
}

fn by_options(target: &TargetFacts) -> Option<(String, String)> {
    let on = target.filesystem.as_ref()?;
    let option = on.options.split(',').find(|option| {
        option.starts_with("compress") && !option.ends_with("=no") && !option.ends_with("=none")
    })?;
    let what = format!("{} is mounted with {option}", on.mount_point);
    Some((what, "/proc/self/mountinfo".into()))
}

fn by_extents(observed: &Observed) -> Option<(String, String)> {
    let files = observed.files(&observed.targets()).into_iter();
    let mut encoded =
        files.filter(|file| value(&file.extents).is_some_and(|extents| extents.encoded_bytes > 0));
    let what = format!("extents of {} are encoded", encoded.next()?.path);
    Some((what, "FIEMAP".into()))
}

fn by_kind(target: &TargetFacts) -> Option<(String, String)> {
    let on = target.holding().filter(|on| on.may_compress())?;
    let what = format!("{} is {}, which may compress", on.mount_point, on.kind);
    Some((what, "/proc/self/mountinfo".into()))
}
