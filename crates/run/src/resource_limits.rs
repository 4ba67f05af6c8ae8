//! Limits of this process (`ulimit`) under which it could not report how it ended.

use candor_plan::{PlanPath, Problem};
use candor_record::fmt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::RunError;

/// Stack that the first thread needs; others get theirs from candor.
const STACK_BYTES: u64 = 256 << 10;
/// Address space that a small run needs besides what the program has mapped.
const ADDRESS_SPACE_BYTES: u64 = 32 << 20;

/// Raises a limit of the stack (`ulimit -s`) that is too low for the first thread.
///
/// # Errors
/// The hard limit is too low, too; a sentence.
pub fn raise_stack_limit() -> Result<(), String> {
    let Rlimit { current, maximum } = getrlimit(Resource::Stack);
    let Some(current) = current.filter(|current| *current < STACK_BYTES) else { return Ok(()) };
    let raised = Rlimit { current: Some(STACK_BYTES), maximum };
    setrlimit(Resource::Stack, raised).map_err(|_| {
        let (current, least) = (fmt::size(current as f64), fmt::size(STACK_BYTES as f64));
        format!("the stack is limited to {current}; give at least {least} (ulimit -s)")
    })
}

/// Lets a run begin that has room for its memory (`ulimit -v`): the lack of it ends the process.
///
/// # Errors
/// [`RunError::Unsafe`].
pub fn check_address_space() -> Result<(), RunError> {
    let Some(limit) = getrlimit(Resource::As).current else { return Ok(()) };
    let needed = mapped_bytes() + ADDRESS_SPACE_BYTES;
    if limit >= needed {
        return Ok(());
    }
    let [limit, needed] = [limit, needed].map(|bytes| fmt::size(bytes as f64));
    let message = format!("the address space is limited to {limit}, and a run needs {needed}");
    let remedy = "raise the limit (ulimit -v)";
    Err(RunError::Unsafe(vec![Problem::error("address-space", PlanPath::root(), message, remedy)]))
}

/// Address space of this process; 0 where /proc is missing.
fn mapped_bytes() -> u64 {
    let pages = || {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    pages().unwrap_or(0) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_room() {
        assert!(mapped_bytes() > 1 << 20);
        assert!(check_address_space().is_ok() && raise_stack_limit().is_ok());
    }
}
