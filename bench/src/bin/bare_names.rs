//! `open` and `close`, then `stat`, then `unlink` of files, and nothing else:
//! `bare_names DIRECTORY WORKERS FILES own|shared`. One line of JSON per step.

use std::ffi::CString;
use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// A step, and the call that it makes.
type Step = (&'static str, fn(*const libc::c_char));

const STEPS: [Step; 3] = [
    ("create", |name| {
        // SAFETY: the name ends with a zero byte; the descriptor is closed once.
        unsafe {
            let fd = libc::open(name, libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC, 0o644);
            assert!(fd >= 0 && libc::close(fd) == 0, "create");
        }
    }),
    ("stat", |name| {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the name ends with a zero byte, and the kernel fills the structure.
        assert_eq!(unsafe { libc::stat(name, stat.as_mut_ptr()) }, 0, "stat");
    }),
    ("unlink", |name| {
        // SAFETY: the name ends with a zero byte.
        assert_eq!(unsafe { libc::unlink(name) }, 0, "unlink");
    }),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, workers, files, manner] = &words[..] else {
        eprintln!("usage: DIRECTORY WORKERS FILES own|shared");
        std::process::exit(2);
    };
    let workers: usize = workers.parse().expect("a number of workers");
    let files: usize = files.parse().expect("a number of files");
    let own = manner == "own";
    let barrier = Arc::new(Barrier::new(workers));
    let threads: Vec<_> = (0..workers)
        .map(|worker| {
            let (directory, barrier) = (directory.clone(), barrier.clone());
            let count = files * (worker + 1) / workers - files * worker / workers;
            std::thread::spawn(move || work(&directory, worker, count, own, &barrier))
        })
        .collect();
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a worker")).collect();
    for (at, (step, _)) in STEPS.iter().enumerate() {
        let slowest = all.iter().map(|of| of[at].0).fold(0.0, f64::max);
        let user: f64 = all.iter().map(|of| of[at].1).sum();
        println!(
            "{{\"step\":\"{step}\",\"ops_per_s\":{},\"user_us\":{}}}",
            files as f64 / slowest,
            user * 1e6 / files as f64
        );
    }
}

/// Seconds, and seconds of user CPU, that a worker took for each step.
fn work(
    directory: &str,
    worker: usize,
    count: usize,
    own: bool,
    barrier: &Barrier,
) -> Vec<(f64, f64)> {
    // A table of descriptors of its own: a shared one costs each open and close a lock.
    // SAFETY: plain calls of this thread.
    unsafe { libc::unshare(libc::CLONE_FILES) };
    let directory = if own { format!("{directory}/rank.{worker}") } else { directory.to_owned() };
    if own {
        std::fs::create_dir(&directory).expect("a directory of its own");
    }
    let mut name = Vec::with_capacity(256);
    let mut times = Vec::new();
    // As fio does before its clock: names that are known to be missing are made faster.
    for number in 0..count {
        name.clear();
        write!(name, "{directory}/f{worker}.{number}\0").expect("memory takes it");
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the name ends with a zero byte, and the kernel fills the structure.
        unsafe { libc::stat(name.as_ptr().cast(), stat.as_mut_ptr()) };
    }
    for (_, call) in STEPS {
        barrier.wait();
        let (begun, user) = (Instant::now(), user_s());
        for number in 0..count {
            name.clear();
            write!(name, "{directory}/f{worker}.{number}\0").expect("memory takes it");
            call(name.as_ptr().cast());
        }
        times.push((begun.elapsed().as_secs_f64(), user_s() - user));
        barrier.wait();
    }
    if own {
        let name = CString::new(directory).expect("no zero byte");
        // SAFETY: the name ends with a zero byte.
        unsafe { libc::rmdir(name.as_ptr()) };
    }
    times
}

/// User CPU of this thread in seconds.
fn user_s() -> f64 {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the structure.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
}
