//! Back ends of the family: candor has POSIX, and DUMMY for mdtest.

use candor_front::Refused;

/// Back ends that the family has, and candor does not.
const OTHERS: &[&str] = &[
    "MPIIO", "MMAP", "AIO", "HDF5", "NCMPI", "S3", "S3-libs3", "S3-4c", "S3_EMC", "DFS", "DAOS",
    "RADOS", "CEPHFS", "HDFS", "IME", "PMDK", "LIBNFS", "CHFS", "FINCHFS", "Gfarm",
];

/// A back end that candor has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackEnd {
    /// Files and directories of a mounted filesystem.
    #[default]
    Posix,
    /// Operations without an effect.
    Dummy,
}

/// Accepts POSIX and DUMMY.
///
/// # Errors
/// Any other back end.
pub fn posix_or_dummy(text: &str) -> Result<BackEnd, Refused> {
    if text.eq_ignore_ascii_case("DUMMY") {
        Ok(BackEnd::Dummy)
    } else {
        posix(text).map(|()| BackEnd::Posix)
    }
}

/// Accepts POSIX.
///
/// # Errors
/// Any other back end.
pub fn posix(text: &str) -> Result<(), Refused> {
    if text.eq_ignore_ascii_case("POSIX") {
        return Ok(());
    }
    let known = OTHERS.iter().chain(&["DUMMY"]).any(|name| name.eq_ignore_ascii_case(text));
    let message = if known {
        format!("the back end {text} is not done")
    } else {
        format!("there is no back end `{text}`")
    };
    Err(Refused::whole(text, message, "use POSIX: files and directories of a mounted filesystem"))
}

/// Why ranges are not locked.
pub const LOCKS: &str = "small files are locked by no task";
/// Why stripes are not set.
pub const STRIPES: &str = "candor sets no stripes; set them on the directory with lfs setstripe";
/// Why hints are not given.
pub const HINTS: &str = "candor gives no hints to this filesystem; set them on the directory";
/// Why buffers of GPUs are not used.
pub const GPU: &str = "candor does not move bytes of small files to GPUs";
