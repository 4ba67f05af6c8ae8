//! Back ends of the family: candor supports POSIX, and DUMMY for mdtest.

use candor_front::Refused;

/// Back ends of the family that candor does not support.
const OTHERS: &[&str] = &[
    "MPIIO", "MMAP", "AIO", "HDF5", "NCMPI", "S3", "S3-libs3", "S3-4c", "S3_EMC", "DFS", "DAOS",
    "RADOS", "CEPHFS", "HDFS", "IME", "PMDK", "LIBNFS", "CHFS", "FINCHFS", "Gfarm",
];

/// A supported back end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackEnd {
    /// Files and directories of a mounted filesystem.
    #[default]
    Posix,
    /// Operations without an effect.
    Dummy,
}

impl BackEnd {
    /// The back end of that name: POSIX or DUMMY.
    ///
    /// # Errors
    /// Any other back end.
    pub fn of(text: &str) -> Result<BackEnd, Refused> {
        if text.eq_ignore_ascii_case("DUMMY") {
            Ok(BackEnd::Dummy)
        } else {
            posix(text).map(|()| BackEnd::Posix)
        }
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

/// Reason for refusing locks of ranges.
pub const LOCKS: &str = "small files are locked by no task";
/// Reason for refusing stripes.
pub const STRIPES: &str = "candor sets no stripes; set them on the directory with lfs setstripe";
/// Reason for refusing hints.
pub const HINTS: &str = "candor gives no hints to this filesystem; set them on the directory";
/// Reason for refusing buffers on GPUs.
pub const GPU: &str = "candor does not move bytes of small files to GPUs";
