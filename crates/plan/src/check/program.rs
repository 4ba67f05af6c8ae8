//! Work that is no I/O.

use super::Found;
use super::whole::time_limit;
use crate::{Burn, PlanPath, Program};

/// Longest time that one operation may compute, in ns.
const BURN_MAX_NS: u64 = 10_000_000_000;

pub(super) fn check(program: &Program, at: &PlanPath, out: &mut Found) {
    let (command, place) = (&program.command, at.key("command"));
    if command.first().is_none_or(String::is_empty) {
        let message = "the job runs a program, and none is named";
        out.error("program", place, message, "set program.command = [\"true\"]");
    } else if command.iter().any(|word| word.contains('\0')) {
        out.error("program", place, "a word has a zero byte in it", "remove it");
    }
}

pub(super) fn check_burn(burn: &Burn, at: &PlanPath, out: &mut Found) {
    let (chunk, place) = (burn.chunk, at.key("chunk"));
    if chunk.0 == 0 || chunk.0 > BURN_MAX_NS {
        let message =
            format!("chunk is {chunk}; one operation burns more than 0 s and at most 10 s");
        out.error("burn", place, message, "use a time such as \"50ms\"");
    }
    time_limit(burn.rest, at.key("rest"), out);
}
