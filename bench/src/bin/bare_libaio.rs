//! The kernel's aio as libaio drives it: batches in, completions taken from the mapped ring.
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use candor_bench::{Args, Meter, buffers};

/// `struct iocb` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key_and_flags: u64,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    rest: [u64; 2],
}

/// `struct io_event` of the kernel.
#[repr(C)]
struct Event {
    data: u64,
    iocb: u64,
    result: i64,
    result2: i64,
}

/// Head of the ring that the kernel maps at the context's address.
#[repr(C)]
struct Ring {
    id: u32,
    length: u32,
    head: AtomicU32,
    tail: AtomicU32,
    rest: [u32; 4],
}

fn main() {
    let args = Args::read(16);
    let (file, mut offsets) = args.open(libc::O_DIRECT);
    let memory = buffers(args.depth, args.block);
    let mut context = 0usize;
    // SAFETY: the context is a live word that is zero, as the call asks.
    let set_up = unsafe { libc::syscall(libc::SYS_io_setup, args.depth, &raw mut context) };
    assert!(set_up == 0, "io_setup: {}", std::io::Error::last_os_error());
    // SAFETY: the context is the address of the ring, mapped until the process ends.
    let ring = unsafe { &*(context as *const Ring) };
    let fd = file.as_raw_fd() as u32;
    let mut iocbs: Vec<Iocb> = (0..args.depth)
        .map(|slot| Iocb {
            data: slot as u64,
            fd,
            buffer: memory[slot] as u64,
            bytes: args.block as u64,
            ..Iocb::default()
        })
        .collect();
    let iocb = iocbs.as_mut_ptr();
    let mut begun = vec![0; args.depth];
    // SAFETY: each address lies within the vector, which is never resized.
    let mut ready: Vec<*mut Iocb> = (0..args.depth).map(|i| unsafe { iocb.add(i) }).collect();
    let mut meter = Meter::start(args.seconds);
    loop {
        let now = Meter::now();
        if now >= meter.deadline {
            break;
        }
        for &mut entry in &mut ready {
            // SAFETY: the entry is one of `iocbs` and the kernel is done with it.
            let entry = unsafe { &mut *entry };
            entry.offset = offsets.next_offset() as i64;
            begun[entry.data as usize] = now;
        }
        // SAFETY: the entries are complete and their buffers free; all live until the end.
        let taken =
            unsafe { libc::syscall(libc::SYS_io_submit, context, ready.len(), ready.as_mut_ptr()) };
        assert!(taken == ready.len() as i64, "io_submit: {taken}");
        ready.clear();
        if ring.head.load(Ordering::Relaxed) == ring.tail.load(Ordering::Acquire) {
            let mut event = std::mem::MaybeUninit::<[Event; 1]>::uninit();
            // SAFETY: there is room for the one event asked for.
            let got = unsafe {
                libc::syscall(libc::SYS_io_getevents, context, 1, 1, event.as_mut_ptr(), 0)
            };
            assert!(got == 1, "io_getevents: {got}");
            // SAFETY: the call has written one event.
            let [event] = unsafe { event.assume_init() };
            assert!(event.result == args.block as i64, "{}", event.result);
            meter.record(Meter::now() - begun[event.data as usize]);
            ready.push(event.iocb as *mut Iocb);
        }
        reap(ring, args.block, |slot, done| {
            meter.record(done - begun[slot]);
            // SAFETY: a slot is the index of one of `iocbs`.
            ready.push(unsafe { iocb.add(slot) });
        });
    }
    meter.finish();
}

/// Takes all completions that stand in the ring, without a system call.
#[inline(always)]
fn reap(ring: &Ring, block: usize, mut each: impl FnMut(usize, u64)) {
    // SAFETY: the events follow the head of the ring.
    let events = unsafe { std::ptr::from_ref(ring).add(1).cast::<Event>() };
    let (mut head, tail) = (ring.head.load(Ordering::Relaxed), ring.tail.load(Ordering::Acquire));
    let done = Meter::now();
    while head != tail {
        // SAFETY: head stays below the ring's length.
        let event = unsafe { &*events.add(head as usize) };
        assert!(event.result == block as i64, "{}", event.result);
        each(event.data as usize, done);
        head += 1;
        if head == ring.length {
            head = 0;
        }
    }
    ring.head.store(head, Ordering::Release);
}
