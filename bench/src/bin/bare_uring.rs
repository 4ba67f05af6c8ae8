//! io_uring: registered buffers and file, one call submits a batch and waits, one reap per call.
use std::os::fd::AsRawFd;

use candor_bench::{Args, Meter, buffers};
use io_uring::{IoUring, opcode, types::Fixed};

fn main() {
    let args = Args::read(32);
    let (file, mut offsets) = args.open(if args.buffered { 0 } else { libc::O_DIRECT });
    let memory = buffers(args.depth, args.block);
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .build(args.depth as u32)
        .expect("a ring");
    ring.submitter().register_files(&[file.as_raw_fd()]).expect("a registered file");
    let iovecs: Vec<_> =
        memory.iter().map(|b| libc::iovec { iov_base: b.cast(), iov_len: args.block }).collect();
    // SAFETY: the buffers live until the process ends.
    unsafe { ring.submitter().register_buffers(&iovecs) }.expect("registered buffers");
    let mut begun = vec![0; args.depth];
    let mut free: Vec<usize> = (0..args.depth).collect();
    let mut meter = Meter::start(args.seconds);
    loop {
        let now = Meter::now();
        if now >= meter.deadline {
            break;
        }
        let mut queue = ring.submission();
        for slot in free.drain(..) {
            begun[slot] = now;
            let read =
                opcode::ReadFixed::new(Fixed(0), memory[slot], args.block as u32, slot as u16)
                    .offset(offsets.next_offset())
                    .build()
                    .user_data(slot as u64);
            // SAFETY: the slot's buffer is free, long enough, and lives until the process ends.
            unsafe { queue.push(&read) }.expect("room for every slot");
        }
        drop(queue);
        ring.submit_and_wait(args.reap).expect("io_uring_enter");
        let done = Meter::now();
        for completion in ring.completion() {
            assert!(completion.result() == args.block as i32, "{}", completion.result());
            let slot = completion.user_data() as usize;
            meter.record(done - begun[slot]);
            free.push(slot);
        }
    }
    meter.finish();
}
