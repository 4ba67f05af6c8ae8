//! How much of what was read came from a device, and how anyone can know.

use candor_plan::units::Direction;
use candor_record::fmt::ratio;

use crate::compression;
use crate::hits::{self, Hits};
use crate::observed::Observed;
use crate::thresholds::{BYTES_MIN, COVERAGE_FULL};
use candor_record::Quantity;

/// Knowledge about where reads came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Cover {
    /// Too little was read for a ratio.
    Small,
    /// Nobody can tell; what would be needed.
    Unknown(String),
    /// A share of the bytes came from a device.
    Known {
        /// That share, 0 to 1.
        share: f64,
        /// Bytes that came from a device.
        bytes: f64,
        /// Who says so.
        from: String,
        /// Operations that memory answered, where these say more than the bytes.
        hits: Option<Hits>,
    },
}

impl Cover {
    /// The share that came from a device, where it is known.
    pub fn share(&self) -> Option<f64> {
        match self {
            Cover::Known { share, .. } => Some(*share),
            Cover::Small | Cover::Unknown(_) => None,
        }
    }

    /// The device is known to have done the work.
    pub fn is_full(&self) -> bool {
        self.share().is_some_and(|share| share >= COVERAGE_FULL.value)
    }
}

/// How much of what was read came from a device: by bytes, and for reads at random places by
/// operations, whichever proves less.
pub fn of_reads(observed: &Observed) -> Cover {
    let cover = by_bytes(observed);
    let bytes_of = match &cover {
        Cover::Small => return cover,
        Cover::Unknown(_) => None,
        Cover::Known { share, bytes, from, .. } => Some((*share, *bytes, from.clone())),
    };
    let Some(hits) = hits::of_reads(observed) else { return cover };
    let missed = 1.0 - hits.share;
    match bytes_of {
        Some((share, bytes, from)) if missed < share => {
            Cover::Known { share: missed, bytes, from, hits: Some(hits) }
        }
        _ => cover,
    }
}

/// The process's own `read_bytes` is asked first: it counts what this process caused, wherever it
/// went, and nothing of others. The device is asked where that cannot be read.
fn by_bytes(observed: &Observed) -> Cover {
    if observed.moved(Direction::Read).bytes < BYTES_MIN.value {
        return Cover::Small;
    }
    let Some(fetched) = observed.process(Direction::Read) else { return of_device_reads(observed) };
    let Some(share) = observed.share_seen(Direction::Read, fetched) else { return Cover::Small };
    let from = "/proc/self/io read_bytes".to_owned();
    if share < COVERAGE_FULL.value && compression::cause(observed, Direction::Read).is_some() {
        return of_compressed(observed, fetched, from);
    }
    if share < COVERAGE_FULL.value && !low_share_means_memory(observed) {
        return Cover::Unknown(
            "a block device under the target, or a filesystem with reads that Linux charges to the \
             process"
                .into(),
        );
    }
    Cover::Known { share, bytes: fetched, from, hits: None }
}

/// The share from a device where a filesystem may have stored files compressed, so that few bytes
/// prove nothing: all but pages that were there at the start, and passes beyond the first over
/// files that stayed. At random places operations decide.
fn of_compressed(observed: &Observed, fetched: f64, from: String) -> Cover {
    let lacked = || Cover::Unknown("the share of reads answered by memory or compression".into());
    let reads = observed.ran.iter().filter(|ran| ran.does(Direction::Read));
    if reads.clone().any(|ran| ran.blocks.access.is_random()) {
        let Some(hits) = hits::of_reads(observed) else { return lacked() };
        let share = 1.0 - hits.share;
        return Cover::Known { share, bytes: fetched, from, hits: Some(hits) };
    }
    let cache = observed.host.before.cache.filter(|cache| cache.size_bytes > 0);
    let Some(cache) = cache else { return lacked() };
    let (read, size) = (observed.moved(Direction::Read).bytes, cache.size_bytes as f64);
    let cached = ratio(cache.resident_bytes as f64, size).min(1.0) * read.min(size);
    let again = if pages_were_seen(observed) { (read - size).max(0.0) } else { 0.0 };
    let share = 1.0 - ratio(cached + again, read).min(1.0);
    Cover::Known { share, bytes: fetched, from, hits: None }
}

fn of_device_reads(observed: &Observed) -> Cover {
    let read = observed.top.filter(|_| !observed.blind()).map(|top| top.read.bytes);
    let known = read.and_then(|bytes| Some((bytes, observed.share_seen(Direction::Read, bytes)?)));
    match known {
        Some((bytes, share)) => Cover::Known { share, bytes, from: stat_of(observed), hits: None },
        None => Cover::Unknown("/proc/self/io and the counters of the device".into()),
    }
}

/// Few bytes charged to the process mean memory only where reads from storage would have been
/// charged: block devices, the network filesystems that do it, or where the pages were seen.
fn low_share_means_memory(observed: &Observed) -> bool {
    observed.targets().iter().all(|target| {
        let Some(fs) = target.holding() else { return target.device.is_some() };
        let by_device = target.device.is_some() && !fs.is_served_by_process();
        by_device || fs.in_memory || matches!(fs.kind.as_str(), "nfs" | "nfs4" | "cifs" | "smb3")
    }) || pages_were_seen(observed)
}

/// Most of the files was in the page cache at the end, and somebody read through it.
fn pages_were_seen(observed: &Observed) -> bool {
    !observed.all_direct()
        && observed.host.after.cache.is_some_and(|cache| {
            cache.size_bytes > 0 && cache.resident_bytes >= cache.size_bytes / 2
        })
}

/// Where the counters of the top devices are.
pub fn stat_of(observed: &Observed) -> String {
    observed.stat_of_tops()
}

/// The reads or writes of the devices on top, as evidence.
pub fn device_evidence(observed: &Observed, op: Direction) -> Option<(String, Quantity, String)> {
    let bytes = observed.top?.side(op).bytes;
    let what = match op {
        Direction::Write => format!("written by {}", observed.device_names()),
        _ => format!("read by {}", observed.device_names()),
    };
    Some((what, Quantity::bytes(bytes), stat_of(observed)))
}
