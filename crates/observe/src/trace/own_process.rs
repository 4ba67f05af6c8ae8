//! Our own process, as the kernel numbers it for programs.

use std::fs;
use std::os::unix::fs::MetadataExt;

use candor_record::facts::Missing;

use super::asm::{Alu, Code, Helper, R0};
use super::bpf;
use super::refusal::{missing, refused};

/// The host's name space of processes, which has this inode on every kernel (`PROC_PID_INIT_INO`).
const HOST_PROCESSES: u64 = 0xefff_fffc;

/// Our number on the host: in a container another than the one that we know.
pub fn of_kernel() -> Result<u32, Missing> {
    if fs::metadata("/proc/self/ns/pid").is_ok_and(|space| space.ino() == HOST_PROCESSES) {
        return Ok(std::process::id());
    }
    let mut code = Code::default();
    code.call(Helper::PidTgid);
    code.alu(Alu::Shr, R0, 32);
    code.exit_with();
    let program =
        bpf::load(bpf::RAW_TRACEPOINT, &code.finish()).map_err(|error| refused(&error))?;
    bpf::run_once(&program).map_err(|error| {
        let why = format!("this kernel does not tell our own process in a container: {error}");
        missing(&why, "Linux 5.10, or the host's name space of processes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that the kernel runs for us sees the number that `/proc` has for the host.
    #[test]
    fn a_program_tells_our_process() {
        let mut code = Code::default();
        code.call(Helper::PidTgid);
        code.alu(Alu::Shr, R0, 32);
        code.exit_with();
        let program = match bpf::load(bpf::RAW_TRACEPOINT, &code.finish()) {
            Ok(program) => program,
            Err(error) => return println!("skipped: {error}"),
        };
        if !fs::metadata("/proc/self/ns/pid").is_ok_and(|space| space.ino() == HOST_PROCESSES) {
            return println!("skipped: in a container");
        }
        match bpf::run_once(&program) {
            Ok(pid) => assert_eq!(pid, std::process::id()),
            Err(error) => println!("skipped: {error}"),
        }
    }
}
