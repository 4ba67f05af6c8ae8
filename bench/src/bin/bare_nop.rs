//! io_uring no-ops: the ring itself, without any I/O. PATH is ignored.
use candor_bench::{Args, Meter};
use io_uring::{IoUring, opcode};

fn main() {
    let args = Args::read(32);
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .build(args.depth as u32)
        .expect("a ring");
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
            let nop = opcode::Nop::new().build().user_data(slot as u64);
            // SAFETY: a no-op touches no memory.
            unsafe { queue.push(&nop) }.expect("room for every slot");
        }
        drop(queue);
        ring.submit_and_wait(args.reap).expect("io_uring_enter");
        let done = Meter::now();
        for completion in ring.completion() {
            assert!(completion.result() == 0, "{}", completion.result());
            let slot = completion.user_data() as usize;
            meter.record(done - begun[slot]);
            free.push(slot);
        }
    }
    meter.finish();
}
