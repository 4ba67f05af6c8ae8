//! The programs that run in the kernel, one for each moment of a request.
//!
//! | tracepoint | when | counts |
//! | --- | --- | --- |
//! | `block_rq_issue` | a request goes to the driver | order and distance, who issued it |
//! | `block_rq_complete` | it is done | number, bytes, size, place, flags, latencies |
//! | `block_bio_queue` | I/O is handed to a device without a queue | all of that but latencies |
//!
//! Each looks up the device by its number and leaves if nobody asked for it. Nothing waits and
//! nothing is locked; what several CPUs may count at once they count each for themselves.

use super::asm::Width::{Dw, W};
use super::asm::{
    Alu, Code, FP, Helper, If, Insn, Label, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg,
};
use super::layout::Layout;
use super::tally;

/// The maps that the programs use, by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Maps {
    /// Major and minor number → [`Device`].
    pub devices: i32,
    /// Slot × 4 + direction → [`tally`].
    pub tallies: i32,
    /// Slot × 4 + direction → [`ENDS`] numbers.
    pub ends: i32,
    /// (Slot × 4 + direction) << 32 | process → requests, bytes, command.
    pub issuers: i32,
    /// How many events the programs had to do with.
    pub events: i32,
}

/// What is known of a device, as the programs read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Where its numbers are.
    pub slot: u32,
    /// 1 if it has no queue of its own.
    pub bio_based: u32,
    /// Bytes of a physical sector.
    pub physical_bytes: u64,
    /// Bytes that it likes best, or of its chunk; 0 if it has none.
    pub optimal_bytes: u64,
}

/// Numbers of an entry of `ends`: where the last request ended, how many ends were replaced, and
/// the last ends.
pub const ENDS: usize = 2 + RECENT;
const RECENT: usize = 8;

/// Bytes of an entry of `issuers`: requests, bytes, the name of a thread.
pub const ISSUER_BYTES: usize = 16 + COMMAND_BYTES;
pub const COMMAND_BYTES: usize = 16;

// The stack, from its end.
const KEY: i16 = -8;
const NOW: i16 = -16;
const POINTER: i16 = -24;
const SECTOR: i16 = -32;
const LENGTH: i16 = -40;
const FLAGS: i16 = -48;
const PLACE: i16 = -56;
const STARTED: i16 = -64;
const TAKEN: i16 = -72;
const ISSUER: i16 = TAKEN - ISSUER_BYTES as i16;
/// The copy of the kernel's structure.
const COPY: i16 = ISSUER - Layout::COPY_BYTES as i16;

/// Writes one program.
struct Writer<'a> {
    code: Code,
    maps: &'a Maps,
    layout: &'a Layout,
    /// Where a program ends.
    out: Label,
}

/// `block_rq_issue`.
pub fn issue(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, layout);
    w.begin();
    w.request(layout.issue_argument);
    w.queue_device(false);
    w.place_of_request();
    w.order_and_issuer();
    w.end()
}

/// `block_rq_complete`.
pub fn complete(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, layout);
    w.begin();
    w.request(layout.complete_argument);
    w.queue_device(false);
    w.place_of_request();
    w.whole_only(layout.complete_argument + 2);
    w.tally();
    w.latencies();
    w.shape();
    w.end()
}

/// `block_bio_queue`.
pub fn queue(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, layout);
    w.begin();
    w.bio(layout.queue_argument);
    w.queue_device(true);
    w.place_of_bio();
    w.tally();
    w.shape();
    w.order_and_issuer();
    w.end()
}

impl<'a> Writer<'a> {
    fn new(maps: &'a Maps, layout: &'a Layout) -> Writer<'a> {
        let mut code = Code::default();
        let out = code.label();
        Writer { code, maps, layout, out }
    }

    fn end(mut self) -> Vec<Insn> {
        self.code.here(self.out);
        self.code.exit();
        self.code.finish()
    }

    /// Keeps the arguments in r6.
    fn begin(&mut self) {
        self.code.copy(R6, R1);
    }

    /// Counts the event. Clobbers all registers but those that are kept.
    fn count(&mut self) {
        self.code.store_imm(W, FP, KEY, 0);
        self.lookup(self.maps.events, KEY);
        bump(&mut self.code, R0, 0);
    }

    /// r0 = the entry of a map whose key is on the stack; leaves if there is none.
    fn lookup(&mut self, map: i32, key: i16) {
        let c = &mut self.code;
        c.map(R1, map);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, key.into());
        c.call(Helper::MapLookup);
        c.jump_if(If::Eq, R0, 0, self.out);
    }

    /// Copies bytes of the kernel to the stack; r3 is where they are.
    fn fetch(&mut self, to: i16, bytes: usize) {
        let c = &mut self.code;
        c.copy(R1, FP);
        c.alu(Alu::Add, R1, to.into());
        c.alu(Alu::Mov, R2, bytes as i32);
        c.call(Helper::ProbeReadKernel);
    }

    /// Follows a pointer on the stack: r3 = what stands `offset` bytes from where it points.
    fn follow(&mut self, pointer: i16, offset: u32) {
        self.code.load(Dw, R3, FP, pointer);
        self.code.jump_if(If::Eq, R3, 0, self.out);
        self.code.alu(Alu::Add, R3, offset as i32);
        self.fetch(POINTER, 8);
    }

    /// Copies the request that is an argument.
    fn request(&mut self, argument: u32) {
        self.code.load(Dw, R3, R6, argument as i16 * 8);
        self.code.alu(Alu::Add, R3, self.layout.request.from as i32);
        self.fetch(COPY, self.layout.request.bytes());
        self.code.load(Dw, R1, FP, COPY + self.layout.request.device);
        self.code.store(Dw, FP, POINTER, R1);
    }

    /// Copies the bio that is an argument.
    fn bio(&mut self, argument: u32) {
        self.code.load(Dw, R3, R6, argument as i16 * 8);
        self.code.alu(Alu::Add, R3, self.layout.bio.from as i32);
        self.fetch(COPY, self.layout.bio.bytes());
        self.code.load(Dw, R1, FP, COPY + self.layout.bio.device);
        self.code.store(Dw, FP, POINTER, R1);
    }

    /// r9 = what is known of the device; leaves if nobody asked for it.
    fn queue_device(&mut self, is_bio: bool) {
        let offsets: &[u32] =
            if is_bio { &self.layout.disk_of_bio } else { &self.layout.disk_of_request };
        for offset in offsets {
            self.follow(POINTER, *offset);
        }
        // Major and first minor stand side by side.
        self.follow(POINTER, self.layout.major);
        self.lookup(self.maps.devices, POINTER);
        let c = &mut self.code;
        c.copy(R9, R0);
        c.load(W, R1, R9, 4);
        c.jump_if(If::Ne, R1, is_bio.into(), self.out);
        self.count();
    }

    /// Sector, length, flags and times of the request to their places on the stack.
    fn place_of_request(&mut self) {
        let of = &self.layout.request;
        let c = &mut self.code;
        for (from, to) in [(of.sector, SECTOR), (of.started, STARTED), (of.taken, TAKEN)] {
            c.load(Dw, R1, FP, COPY + from);
            c.store(Dw, FP, to, R1);
        }
        c.load(W, R1, FP, COPY + of.length);
        c.store(Dw, FP, LENGTH, R1);
        c.load(W, R1, FP, COPY + of.flags);
        c.store(Dw, FP, FLAGS, R1);
        self.direction();
    }

    /// The same of a bio, which has no times.
    fn place_of_bio(&mut self) {
        let of = &self.layout.bio;
        let c = &mut self.code;
        c.load(Dw, R1, FP, COPY + of.sector);
        c.store(Dw, FP, SECTOR, R1);
        c.load(W, R1, FP, COPY + of.length);
        c.store(Dw, FP, LENGTH, R1);
        c.load(W, R1, FP, COPY + of.flags);
        c.store(Dw, FP, FLAGS, R1);
        self.direction();
    }

    /// Slot and direction to their place; r1 has the operation and the flags. Leaves for what is
    /// none of the four directions.
    fn direction(&mut self) {
        let c = &mut self.code;
        let (done, discard) = (c.label(), c.label());
        let direction = |c: &mut Code, number: i32| c.alu(Alu::Mov, R2, number);
        c.alu(Alu::And, R1, OPERATION);
        direction(c, 0);
        c.jump_if(If::Eq, R1, READ, done);
        direction(c, 3);
        c.jump_if(If::Eq, R1, FLUSH, done);
        c.jump_if(If::Eq, R1, DISCARD, discard);
        c.jump_if(If::Eq, R1, SECURE_ERASE, discard);
        // Commands of drivers, and what is odd neither: openings and closings of zones.
        c.jump_if(If::Ge, R1, DRIVER, self.out);
        direction(c, 1);
        c.jump_if(If::Set, R1, 1, done);
        c.jump(self.out);
        c.here(discard);
        direction(c, 2);
        c.here(done);
        c.load(W, R1, R9, 0);
        c.alu(Alu::Shl, R1, 2);
        c.alu_reg(Alu::Or, R1, R2);
        c.store(Dw, FP, PLACE, R1);
    }

    /// Leaves if less than the whole rest of the request completes: more of it will follow.
    fn whole_only(&mut self, bytes_argument: u32) {
        let c = &mut self.code;
        c.load(W, R1, R6, bytes_argument as i16 * 8);
        c.load(Dw, R2, FP, LENGTH);
        c.jump_if_reg(If::Lt, R1, R2, self.out);
    }

    /// r6 = the numbers of this device and direction.
    fn tally(&mut self) {
        self.lookup(self.maps.tallies, PLACE);
        self.code.copy(R6, R0);
    }

    /// Number, bytes, size, alignment and flags.
    fn shape(&mut self) {
        let c = &mut self.code;
        bump(c, R6, at(tally::COUNT));
        c.load(Dw, R7, FP, LENGTH);
        c.load(Dw, R1, R6, at(tally::BYTES));
        c.alu_reg(Alu::Add, R1, R7);
        c.store(Dw, R6, at(tally::BYTES), R1);
        for (i, bit) in self.layout.flag_bits.into_iter().enumerate() {
            let Some(bit) = bit else { continue };
            let unset = c.label();
            c.load(Dw, R1, FP, FLAGS);
            c.alu(Alu::Shr, R1, bit as i32);
            c.alu(Alu::And, R1, 1);
            c.jump_if(If::Eq, R1, 0, unset);
            bump(c, R6, at(tally::FLAGGED + i));
            c.here(unset);
        }
        // A flush has neither size nor place.
        c.jump_if(If::Eq, R7, 0, self.out);
        c.copy(R1, R7);
        log2(c);
        bump_step(c, R2, 63, tally::SIZES_LOG2);
        size_4k(c);
        self.alignment();
    }

    fn alignment(&mut self) {
        let c = &mut self.code;
        let (even, no_optimal, aligned) = (c.label(), c.label(), c.label());
        c.load(Dw, R8, FP, SECTOR);
        c.copy(R2, R8);
        bump_step(c, R2, 7, tally::STARTS);
        let whole = c.label();
        c.copy(R1, R7);
        c.alu(Alu::And, R1, 4095);
        c.jump_if(If::Eq, R1, 0, whole);
        bump(c, R6, at(tally::LENGTH_OFF_4K));
        c.here(whole);
        c.alu(Alu::Shl, R8, 9);
        c.load(Dw, R1, R9, 8);
        c.copy(R2, R8);
        c.alu_reg(Alu::Mod, R2, R1);
        c.jump_if(If::Eq, R2, 0, even);
        bump(c, R6, at(tally::OFF_PHYSICAL));
        c.here(even);
        c.load(Dw, R1, R9, 16);
        c.jump_if(If::Eq, R1, 0, no_optimal);
        c.copy(R2, R8);
        c.alu_reg(Alu::Mod, R2, R1);
        c.jump_if(If::Eq, R2, 0, aligned);
        bump(c, R6, at(tally::OFF_OPTIMAL));
        c.here(aligned);
        c.here(no_optimal);
    }

    /// Times from the making of the request, and from when the driver took it, where noted.
    fn latencies(&mut self) {
        self.code.call(Helper::KtimeNs);
        self.code.store(Dw, FP, NOW, R0);
        for (since, steps) in [(STARTED, tally::LATENCIES), (TAKEN, tally::DEVICE_LATENCIES)] {
            let c = &mut self.code;
            let none = c.label();
            c.load(Dw, R2, FP, since);
            c.jump_if(If::Eq, R2, 0, none);
            c.load(Dw, R1, FP, NOW);
            // A time that was noted for several requests at once can lie a little ahead.
            c.jump_if_reg(If::Gt, R2, R1, none);
            c.alu_reg(Alu::Sub, R1, R2);
            c.copy(R4, R1);
            log2(c);
            c.alu(Alu::Shl, R4, 2);
            c.alu_reg(Alu::Shr, R4, R2);
            c.alu(Alu::And, R4, 3);
            c.alu(Alu::Shl, R2, 2);
            c.alu_reg(Alu::Or, R2, R4);
            bump_step(c, R2, 255, steps);
            c.here(none);
        }
    }

    /// Whether it goes on where one of the last ended, how far it is from the last, and whose it
    /// is. Clobbers all registers.
    fn order_and_issuer(&mut self) {
        let out = self.code.label();
        // What has no length has no place.
        self.code.load(Dw, R1, FP, LENGTH);
        self.code.jump_if(If::Eq, R1, 0, out);
        self.tally();
        self.lookup(self.maps.ends, PLACE);
        self.code.copy(R7, R0);
        self.order();
        self.code.here(out);
        self.issuer();
    }

    /// r6 has the tally, r7 the last ends.
    fn order(&mut self) {
        let c = &mut self.code;
        let (sequential, done) = (c.label(), c.label());
        bump(c, R6, at(tally::PLACED));
        c.load(Dw, R8, FP, SECTOR);
        c.load(Dw, R4, FP, LENGTH);
        c.alu(Alu::Shr, R4, 9);
        c.alu_reg(Alu::Add, R4, R8);
        for i in 0..RECENT {
            let other = c.label();
            c.load(Dw, R1, R7, at(2 + i));
            c.jump_if_reg(If::Ne, R1, R8, other);
            c.store(Dw, R7, at(2 + i), R4);
            c.jump(sequential);
            c.here(other);
        }
        // The oldest end makes room.
        c.load(Dw, R1, R7, at(1));
        c.copy(R2, R1);
        c.alu(Alu::Add, R2, 1);
        c.store(Dw, R7, at(1), R2);
        c.alu(Alu::And, R1, RECENT as i32 - 1);
        c.alu(Alu::Shl, R1, 3);
        c.alu_reg(Alu::Add, R1, R7);
        c.store(Dw, R1, at(2), R4);
        c.load(Dw, R2, R7, at(0));
        // There is none before the first.
        c.jump_if(If::Eq, R2, -1, done);
        c.copy(R1, R8);
        c.alu_reg(Alu::Sub, R1, R2);
        let ahead = c.label();
        c.jump_if(If::SignedGe, R1, 0, ahead);
        c.alu(Alu::Neg, R1, 0);
        c.here(ahead);
        c.alu(Alu::Shl, R1, 9);
        log2(c);
        bump_step(c, R2, 63, tally::SEEKS);
        c.jump(done);
        c.here(sequential);
        bump(c, R6, at(tally::SEQUENTIAL));
        c.here(done);
        c.store(Dw, R7, at(0), R4);
    }

    fn issuer(&mut self) {
        let c = &mut self.code;
        let known = c.label();
        c.call(Helper::PidTgid);
        c.alu(Alu::Shr, R0, 32);
        c.load(Dw, R1, FP, PLACE);
        c.alu(Alu::Shl, R1, 32);
        c.alu_reg(Alu::Or, R0, R1);
        c.store(Dw, FP, KEY, R0);
        c.load(Dw, R7, FP, LENGTH);
        c.map(R1, self.maps.issuers);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, KEY.into());
        c.call(Helper::MapLookup);
        c.jump_if(If::Ne, R0, 0, known);
        c.store_imm(Dw, FP, ISSUER, 1);
        c.store(Dw, FP, ISSUER + 8, R7);
        c.copy(R1, FP);
        c.alu(Alu::Add, R1, (ISSUER + 16).into());
        c.alu(Alu::Mov, R2, COMMAND_BYTES as i32);
        c.call(Helper::Comm);
        c.map(R1, self.maps.issuers);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, KEY.into());
        c.copy(R3, FP);
        c.alu(Alu::Add, R3, ISSUER.into());
        c.alu(Alu::Mov, R4, 0);
        c.call(Helper::MapUpdate);
        c.jump(self.out);
        c.here(known);
        // Several CPUs count for one process.
        c.alu(Alu::Mov, R1, 1);
        c.add_atomic(R0, 0, R1);
        c.add_atomic(R0, 8, R7);
    }
}

// Operations of requests, in the lowest byte of their flags: the same in all kernels so far.
const OPERATION: i32 = 0xff;
const READ: i32 = 0;
const FLUSH: i32 = 2;
const DISCARD: i32 = 3;
const SECURE_ERASE: i32 = 5;
const DRIVER: i32 = 34;

/// The offset of a number.
fn at(number: usize) -> i16 {
    i16::try_from(number * 8).expect("tallies are small")
}

/// `*(base + offset) += 1`; r1 = what it is then.
fn bump(c: &mut Code, base: Reg, offset: i16) {
    c.load(Dw, R1, base, offset);
    c.alu(Alu::Add, R1, 1);
    c.store(Dw, base, offset, R1);
}

/// One more in a step of a histogram of the tally in r6. The mask is what tells the kernel that
/// the step is within it. Clobbers r1.
fn bump_step(c: &mut Code, step: Reg, mask: i32, histogram: usize) {
    c.alu(Alu::And, step, mask);
    c.alu(Alu::Shl, step, 3);
    c.alu_reg(Alu::Add, step, R6);
    bump(c, step, at(histogram));
}

/// One more in the histogram by steps of 4 KiB; r7 has the length.
fn size_4k(c: &mut Code) {
    let within = c.label();
    c.copy(R2, R7);
    c.alu(Alu::Sub, R2, 1);
    c.alu(Alu::Shr, R2, 12);
    c.jump_if(If::Lt, R2, tally::STEPS_4K as i32, within);
    c.alu(Alu::Mov, R2, tally::STEPS_4K as i32 - 1);
    c.here(within);
    bump_step(c, R2, tally::STEPS_4K as i32 - 1, tally::SIZES_4K);
}

/// r2 = the power of two that r1 has reached (0 for 0). Clobbers r1 and r5.
fn log2(c: &mut Code) {
    c.alu(Alu::Mov, R2, 0);
    for shift in [32, 16, 8, 4, 2, 1] {
        let less = c.label();
        c.copy(R5, R1);
        c.alu(Alu::Shr, R5, shift);
        c.jump_if(If::Eq, R5, 0, less);
        c.copy(R1, R5);
        c.alu(Alu::Add, R2, shift);
        c.here(less);
    }
}
