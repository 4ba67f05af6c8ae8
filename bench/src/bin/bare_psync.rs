//! `pread`, past the page cache, one at a time.
use std::os::fd::AsRawFd;

use candor_bench::{Args, Meter, buffers};

fn main() {
    let args = Args::read(1);
    let (file, mut offsets) = args.open(libc::O_DIRECT);
    let buffer = buffers(1, args.block)[0];
    let mut meter = Meter::start(args.seconds);
    loop {
        let offset = offsets.next_offset();
        let begun = Meter::now();
        // SAFETY: the buffer has `block` bytes and lives until the process ends.
        let got = unsafe {
            libc::pread(file.as_raw_fd(), buffer.cast(), args.block, offset as libc::off_t)
        };
        let done = Meter::now();
        assert!(got == args.block as isize, "pread: {got}");
        meter.record(done - begun);
        if done >= meter.deadline {
            break;
        }
    }
    meter.finish();
}
