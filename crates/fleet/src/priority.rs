//! Priority of the threads that answer signs of life: load on this host must not look like its end.

use rustix::process::{getpriority_process, setpriority_process};

/// Nice value of these threads.
const NICE: i32 = -10;

/// Raises the priority of this thread, where the kernel allows it. Threads and processes that it
/// starts have the usual one.
pub fn raise() {
    // The number of this thread.
    let own = None;
    if !getpriority_process(own).is_ok_and(|nice| (NICE + 1..=0).contains(&nice)) {
        return;
    }
    // The kernel's parameters of these policies: the priority alone.
    let priority: libc::c_int = 0;
    let policy = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the call reads the priority and keeps nothing; 0 is the calling thread. musl has the
    // call by number alone.
    let reset =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    if reset == 0 {
        // Users without the right keep the usual priority.
        let _ = setpriority_process(own, NICE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_itself_gets_ahead() {
        let nice = || getpriority_process(None).expect("a value");
        let before = nice();
        let (raised, child) = std::thread::spawn(move || {
            raise();
            (nice(), std::thread::spawn(nice).join().expect("a value"))
        })
        .join()
        .expect("a value");
        assert!(raised == NICE || raised == before, "{raised}");
        assert_eq!((child, nice()), (before, before));
    }
}
