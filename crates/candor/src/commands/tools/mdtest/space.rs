//! Space of the filesystem of a test.

use candor_mdtest::output::Space;

/// Space of the filesystem of a path, or of the nearest directory above it that is there.
pub fn of(path: &str) -> Option<Space> {
    let path = std::path::absolute(path).ok()?;
    let stat = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some(Space {
        bytes: [stat.f_blocks, stat.f_bfree].map(|blocks| blocks.saturating_mul(stat.f_frsize)),
        inodes: [stat.f_files, stat.f_ffree],
    })
}
