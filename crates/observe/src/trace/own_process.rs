//! Our own process, as the kernel numbers it for programs.

use std::fs;
use std::os::unix::fs::MetadataExt;

use candor_record::facts::Missing;

use super::asm::{Alu, Code, Helper, R0};
use super::bpf;
use super::refusal::{missing, refused};

/// The host's name space of processes, which has this inode on every kernel (`PROC_PID_INIT_INO`).
const HOST_PROCESSES: u64 = 0xefff_fffc;

/// True where processes have here the numbers that the kernel gives them.
pub fn is_on_host() -> bool {
    fs::metadata("/proc/self/ns/pid").is_ok_and(|space| space.ino() == HOST_PROCESSES)
}

/// The processes, and those that descend from them now.
pub fn with_descendants(pids: &[u32]) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Behind the name, which may hold anything, and the state.
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let running = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let running: Vec<(u32, u32)> = running.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut all = pids.to_vec();
    let mut at = 0;
    while let Some(of) = all.get(at).copied() {
        let children = running.iter().filter(|(pid, parent)| *parent == of && !all.contains(pid));
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        all.extend(children);
        at += 1;
    }
    all
}

/// Our number on the host: in a container another than the one that we know.
pub fn of_kernel() -> Result<u32, Missing> {
    if is_on_host() {
        return Ok(std::process::id());
    }
    let mut code = Code::default();
    code.call(Helper::PidTgid);
    code.alu(Alu::Shr, R0, 32);
    code.exit_with();
    let program =
        bpf::load(bpf::RAW_TRACEPOINT, &code.finish()).map_err(|error| refused(&error))?;
    bpf::run_once(&program).map_err(|error| {
        let why = format!("this kernel does not identify candor's process in a container: {error}");
        missing(&why, "Linux 5.10, or the host's name space of processes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_children_descend_from_us() {
        let words = ["-c", "sh -c 'read x'; true"];
        let mut shell = std::process::Command::new("sh")
            .args(words)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a shell");
        // The inner shell is there once its outer one has started it.
        let inner = loop {
            let inner = with_descendants(&[shell.id()]);
            if inner.len() == 2 {
                break inner;
            }
            std::thread::yield_now();
        };
        let found = with_descendants(&[std::process::id()]);
        assert!(inner.iter().all(|pid| found.contains(pid)), "{inner:?} {found:?}");
        drop(shell.stdin.take());
        shell.wait().expect("it ends");
    }

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
