//! This host, for seeds and for files of earlier runs.

use std::time::{SystemTime, UNIX_EPOCH};

use candor_dialects::mdtest::output::Space;
use candor_dialects::mdtest::setup::Host;

/// The host that candor runs on.
pub struct ThisHost;

impl Host for ThisHost {
    fn now_s(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A seed has 31 bits, as those that are given.
        now.as_secs() & u64::from(i32::MAX as u32)
    }

    fn items_of(&self, file: &str) -> Option<u64> {
        std::fs::read_to_string(candor_plan::path_of(file))
            .ok()?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    }
}

/// Space of the filesystem of a path, or of the nearest directory above it that is there.
pub fn space(path: &str) -> Option<Space> {
    let path = std::path::absolute(path).ok()?;
    let stat = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some(Space {
        bytes: [stat.f_blocks, stat.f_bfree].map(|blocks| blocks.saturating_mul(stat.f_frsize)),
        inodes: [stat.f_files, stat.f_ffree],
    })
}
