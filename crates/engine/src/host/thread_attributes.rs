//! Attributes of a worker's thread: niceness, I/O priority, memory policy, user, control group.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use candor_plan::{ControlGroup, MemoryPolicy, Threads};

use crate::error::EngineError;

/// Mask of memory nodes in the kernel's form.
type NodeMask = [u64; 16];

/// Gives the calling thread its attributes. Those that need privileges come before the privileges
/// are dropped.
///
/// # Errors
/// The kernel lacks the attribute, or does not allow it.
pub fn take(threads: &Threads) -> Result<(), EngineError> {
    if threads.is_plain() {
        return Ok(());
    }
    if let Some(name) = &threads.name {
        let name = std::ffi::CString::new(name.as_str()).unwrap_or_default();
        let named = rustix::thread::set_name(&name);
        named.map_err(|errno| EngineError::system("name a thread")(errno.into()))?;
    }
    if let Some(group) = &threads.control_group {
        join(group)?;
    }
    if let Some(nice) = threads.nice {
        // SAFETY: plain numbers; 0 means the calling thread.
        let set = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice.into()) };
        done(set.into(), || format!("run with niceness {nice}"))?;
    }
    if let Some(priority) = threads.io_priority {
        const OF_THREAD: libc::c_int = 1;
        let bits = libc::c_int::from(priority.bits());
        // SAFETY: plain numbers; 0 means the calling thread.
        let set = unsafe { libc::syscall(libc::SYS_ioprio_set, OF_THREAD, 0, bits) };
        done(set, || format!("use I/O priority {bits:#06x}"))?;
    }
    if let Some(policy) = &threads.memory {
        take_memory(policy)?;
    }
    become_user(threads)
}

/// Turns the result of a system call into an error that names the action.
fn done(result: libc::c_long, what: impl Fn() -> String) -> Result<(), EngineError> {
    match result {
        -1 => Err(EngineError::system(what())(io::Error::last_os_error())),
        _ => Ok(()),
    }
}

fn take_memory(policy: &MemoryPolicy) -> Result<(), EngineError> {
    let mode: libc::c_int = match policy {
        MemoryPolicy::Default => 0,
        MemoryPolicy::Prefer(_) => 1,
        MemoryPolicy::Bind(_) => 2,
        MemoryPolicy::Interleave(_) => 3,
        MemoryPolicy::Local => 4,
    };
    set_memory_policy(mode, policy.nodes())
}

/// Sets the calling thread's memory policy.
///
/// # Errors
/// Nodes that do not exist.
pub fn set_memory_policy(mode: libc::c_int, nodes: &[u32]) -> Result<(), EngineError> {
    let mut mask: NodeMask = [0; 16];
    for node in nodes {
        if let Some(word) = mask.get_mut(*node as usize / 64) {
            *word |= 1 << (node % 64);
        }
    }
    let (pointer, bits) = match nodes {
        [] => (std::ptr::null(), 0),
        _ => (mask.as_ptr(), mask.len() * 64),
    };
    // SAFETY: the kernel reads `bits` bits of the mask, which outlives the call.
    let set = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    done(set, || format!("take memory of NUMA nodes {nodes:?}"))
}

/// Changes user and group of the calling thread alone: the C library would change all threads.
fn become_user(threads: &Threads) -> Result<(), EngineError> {
    if let Some(group) = threads.group {
        // SAFETY: plain numbers.
        let set = unsafe { libc::syscall(libc::SYS_setresgid, group, group, group) };
        done(set, || format!("run as group {group}"))?;
    }
    if let Some(user) = threads.user {
        // SAFETY: plain numbers.
        let set = unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) };
        done(set, || format!("run as user {user}"))?;
    }
    Ok(())
}

/// Acts on files as the user and group of a job.
///
/// # Errors
/// The error of the action; or that files cannot be accessed as that user.
pub fn as_user<T>(
    threads: &Threads,
    work: impl FnOnce() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let _group = threads.group.map(|id| FileIdentity::begin(libc::SYS_setfsgid, id)).transpose()?;
    let _user = threads.user.map(|id| FileIdentity::begin(libc::SYS_setfsuid, id)).transpose()?;
    work()
}

/// Guard: files are accessed as another user until this is dropped.
struct FileIdentity {
    call: libc::c_long,
    before: libc::c_long,
}

impl FileIdentity {
    fn begin(call: libc::c_long, id: u32) -> Result<FileIdentity, EngineError> {
        // SAFETY: plain numbers. These calls tell what was before, not whether they worked.
        let before = unsafe { libc::syscall(call, id) };
        let identity = FileIdentity { call, before };
        // SAFETY: the call takes a number; an impossible id changes nothing.
        let current = unsafe { libc::syscall(call, u32::MAX) };
        if current == libc::c_long::from(id) {
            return Ok(identity);
        }
        let denied = io::Error::from_raw_os_error(libc::EPERM);
        Err(EngineError::system(format!("touch files as {id}"))(denied))
    }
}

impl Drop for FileIdentity {
    fn drop(&mut self) {
        // SAFETY: plain numbers.
        unsafe { libc::syscall(self.call, self.before) };
    }
}

/// A control group for the time of a phase. A group that candor made is removed when this is
/// dropped.
pub struct Group {
    made: Option<PathBuf>,
}

impl Group {
    /// Makes the group where it is missing, and sets its weight.
    ///
    /// # Errors
    /// The controller is missing, or the kernel refuses.
    pub fn prepare(group: &ControlGroup) -> Result<Group, EngineError> {
        let path = path_of(group)?;
        let is_new = match fs::create_dir(&path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(EngineError::file("make the control group", &path)(error)),
        };
        let prepared = Group { made: (is_new && !group.keep).then(|| path.clone()) };
        if let Some(weight) = group.weight {
            // The scheduler of the kernel decides which of these files exist.
            let files = ["blkio.bfq.weight", "blkio.weight"].map(|name| path.join(name));
            let file = files.iter().find(|file| file.exists()).unwrap_or(&files[1]);
            let written = fs::write(file, weight.to_string());
            written.map_err(EngineError::file("set the weight of the control group in", file))?;
        }
        Ok(prepared)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(path) = &self.made {
            // The removal fails where another process has joined the group; the group then stays.
            let _ = fs::remove_dir(path);
        }
    }
}

fn join(group: &ControlGroup) -> Result<(), EngineError> {
    let tasks = path_of(group)?.join("tasks");
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    fs::write(&tasks, thread).map_err(EngineError::file("join the control group", &tasks))
}

fn path_of(group: &ControlGroup) -> Result<PathBuf, EngineError> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    match controller(&mounts) {
        Some(mount) => Ok(Path::new(mount).join(group.name.trim_matches('/'))),
        None => Err(EngineError::system("find the control groups of the block layer")(
            io::Error::other("no blkio controller (version 1) is mounted"),
        )),
    }
}

/// Path at which the controller of the block layer is mounted.
fn controller(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (path, kind, options) = (words.next()?, words.next()?, words.next()?);
        (kind == "cgroup" && options.split(',').any(|option| option == "blkio")).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use candor_plan::engine::{IoPriority, PriorityClass};

    use super::*;

    #[test]
    fn the_controller_is_found_among_mounts() {
        let mounts = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n";
        assert_eq!(controller(mounts), Some("/sys/fs/cgroup/blkio"));
        assert_eq!(controller("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0"), None);
    }

    #[test]
    fn a_thread_gets_name_niceness_and_priority_and_no_other_does() {
        let priority = IoPriority { class: PriorityClass::BestEffort, level: 6, hint: 0 };
        let threads = Threads {
            name: Some("standing".into()),
            nice: Some(7),
            io_priority: Some(priority),
            memory: Some(MemoryPolicy::Local),
            ..Threads::default()
        };
        // SAFETY: plain numbers.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let taken = std::thread::spawn(move || {
            take(&threads).expect("allowed to everyone");
            // SAFETY: plain numbers.
            let bits = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) };
            let name = fs::read_to_string("/proc/thread-self/comm").expect("a name");
            (nice(), bits, name)
        });
        let taken = taken.join().expect("no panic");
        assert_eq!(taken, (7, i64::from(priority.bits()), "standing\n".into()));
        assert_eq!(nice(), before);
    }
}
