//! `/proc/self/mountstats`: what passed NFS mounts.

use candor_record::MountBytes;

use crate::source::parse::unescape;

/// The mounts at those points that count their bytes.
pub(super) fn read(text: &str, points: &[String]) -> Vec<MountBytes> {
    let mut found = Vec::new();
    let mut point = None;
    for line in text.lines() {
        if let Some(mounted) = point_of(line) {
            point = Some(mounted).filter(|at| points.contains(at));
        }
        let bytes = line.trim_start().strip_prefix("bytes:");
        if let Some((at, numbers)) = point.as_ref().zip(bytes) {
            found.extend(bytes_of(at, numbers));
        }
    }
    found
}

/// `device server:/x mounted on /mnt with fstype nfs4 statvers=1.1`.
fn point_of(line: &str) -> Option<String> {
    let (_, rest) = line.strip_prefix("device ")?.split_once(" mounted on ")?;
    let (point, _) = rest.split_once(" with fstype ")?;
    Some(unescape(point))
}

/// `normal-read normal-written direct-read direct-written server-read server-written …`.
fn bytes_of(point: &str, numbers: &str) -> Option<MountBytes> {
    let numbers: Option<Vec<u64>> = numbers.split_whitespace().map(|n| n.parse().ok()).collect();
    let [read, written, direct_read, direct_written, server_read, server_written, ..] =
        numbers?[..]
    else {
        return None;
    };
    Some(MountBytes {
        mount_point: point.to_owned(),
        app_read_bytes: read.saturating_add(direct_read),
        app_written_bytes: written.saturating_add(direct_written),
        server_read_bytes: server_read,
        server_written_bytes: server_written,
    })
}
