//! Why the tracer cannot run.

use std::io;

use candor_record::facts::Missing;

/// The reason behind an error of the kernel.
pub fn refused(error: &io::Error) -> Missing {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            missing("this takes more than the rights of a user", "root, or CAP_BPF and CAP_PERFMON")
        }
        _ => missing(&format!("the kernel refuses it: {error}"), "another kernel"),
    }
}

/// Single requests as missing from the report.
pub fn missing(why: &str, enable: &str) -> Missing {
    Missing {
        what: "single requests of the devices".to_owned(),
        why: why.to_owned(),
        enable: enable.to_owned(),
    }
}
