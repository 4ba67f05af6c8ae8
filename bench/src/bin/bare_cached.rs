//! `pread` through the page cache on a file that is in it already, one at a time.
use std::io::Read;
use std::os::fd::AsRawFd;

use candor_bench::{Args, Meter, buffers};

fn main() {
    let args = Args::read(1);
    let (mut file, mut offsets) = args.open(0);
    std::io::Seek::rewind(&mut file).expect("a file can be rewound");
    let mut chunk = vec![0; 1 << 20];
    while file.read(&mut chunk).expect("the file can be read") > 0 {}
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
