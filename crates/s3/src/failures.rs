//! Failures as error numbers of the kernel, and sentences of servers for errors of a measurement.

use candor_record::http::FailureClass;
use candor_record::{HttpStats, Measurement};

/// Error number of the kernel that resembles a failure.
pub fn errno_of(class: FailureClass) -> i32 {
    match class {
        FailureClass::Throttled => libc::EBUSY,
        FailureClass::Server => libc::EREMOTEIO,
        FailureClass::Missing => libc::ENOENT,
        FailureClass::Denied => libc::EACCES,
        FailureClass::Clock => libc::ETIME,
        FailureClass::Redirect => libc::EXDEV,
        FailureClass::Condition => libc::EEXIST,
        FailureClass::Request => libc::EINVAL,
        FailureClass::InsideSuccess => libc::EIO,
        FailureClass::Lookup => libc::EHOSTUNREACH,
        FailureClass::Connect => libc::ECONNREFUSED,
        FailureClass::Tls => libc::EKEYREJECTED,
        FailureClass::Timeout => libc::ETIMEDOUT,
        FailureClass::Reset => libc::ECONNRESET,
        FailureClass::ShortBody => libc::EMSGSIZE,
        FailureClass::Malformed => libc::EPROTO,
        FailureClass::Checksum => libc::EBADMSG,
    }
}

/// Gives the errors of a measurement the sentences of the servers.
pub fn explain(measurement: &mut Measurement, http: &HttpStats) {
    for error in &mut measurement.errors {
        let known = http.failures.iter().find(|failure| {
            error.op.as_deref() == Some(&failure.op) && errno_of(failure.class) == error.errno
        });
        if let Some(known) = known {
            error.message.clone_from(&known.message);
        }
    }
}
