//! The programs that run in the kernel, one for each tracepoint, and what they count.
//!
//! | tracepoint | when | counts |
//! | --- | --- | --- |
//! | `block_io_start` | a request is made | its maker, where processes are traced by number |
//! | `block_rq_issue` | a request goes to the driver | order and distance, who issued it |
//! | `block_rq_complete` | it is done | number, bytes, size, place, flags, latencies |
//! | `block_bio_queue` | I/O is handed to a device without a queue | all of that but latencies |
//! | `block_bio_complete` | that is done | its latency |
//! | `block_rq_requeue` | the driver had no room for it | that it was issued, down again |
//! | `block_split` | I/O is cut in two | how often |
//!
//! How they come to know of a request depends on what they are attached to: [`raw`], [`record`].
//!
//! Each looks up the device by its number and leaves if nobody asked for it, or if the request does
//! not belong to the window that is traced. Nothing waits and nothing is locked for long; what
//! several CPUs may count at once they count each for themselves. Requests that one process issued,
//! candor's own, are counted apart from all others: the thread that issues a request is known only
//! then, so that its owner is noted until it completes.

pub mod raw;
pub mod record;

use super::asm::Width::{Dw, W};
use super::asm::{
    Alu, Code, FP, Helper, If, Insn, Label, R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Reg,
};
use super::tally;

/// The maps that the programs use, by their numbers, and whose requests they count apart.
#[derive(Clone, Copy, Debug)]
pub struct Maps {
    /// Major and minor number → [`super::devices::Device`].
    pub devices: i32,
    /// (Slot × 4 + direction) × 2, one more for requests of our own → [`tally`].
    pub tallies: i32,
    /// The same → [`ENDS`] numbers.
    pub ends: i32,
    /// (Slot × 4 + direction) << 32 | process → requests, bytes, command. Requests of our one
    /// process that have a place are counted in their tally instead, which costs less.
    pub issuers: i32,
    /// 0 → [`EVENTS`] numbers.
    pub events: i32,
    /// 0 → the window that is traced: from when, until when, as the kernel's clock has it.
    pub window: i32,
    /// A bio's address → when it was handed in, and slot × 4 + direction. For records: sector and
    /// slot × 4 + direction → when it went to the driver, its sectors, whether it is ours, and how
    /// many are alike.
    pub pending: i32,
    /// Hash of a hardware queue, and behind it the number of a request in that queue → the
    /// request of ours that had this place last: the sum of its address and of the time at which
    /// it was made, since the kernel uses the memory of one for the next. Those of one queue lie
    /// side by side, so that few lines of the cache hold them.
    pub own_requests: i32,
    /// The process whose requests are ours, as the kernel numbers it.
    pub own_pid: u32,
    /// In place of that one: process → [`MEMBER`] if its requests are ours, or [`PARENT`].
    pub members: Option<i32>,
    /// Address of a request → the process that made it. Another process may hand it to the driver.
    /// Only with `members`.
    pub makers: Option<i32>,
}

/// The requests of the process are counted apart, and so are those of its children.
pub const MEMBER: u64 = 1;
/// Only those of its children are.
pub const PARENT: u64 = 2;

/// Numbers of `events`: what the programs had to do with, requests that began, requests that
/// ended. The last two are of the window only, and of those that have a length.
pub const EVENTS: usize = 3;
pub const HANDLED: usize = 0;
pub const ISSUED: usize = 1;
pub const COMPLETED: usize = 2;

/// Bytes of an entry of `pending`.
pub const PENDING_BYTES: usize = 16;
/// Bytes of its key where it is a sector and a place, not an address.
pub const RECORD_KEY_BYTES: usize = 16;

/// Numbers of an entry of `ends`: where the last request ended, how many ends were replaced, the
/// last ends, and the end of one that its driver gave back.
pub const ENDS: usize = 3 + RECENT;
const GIVEN_BACK: usize = 2 + RECENT;
pub const RECENT: usize = 8;

/// Entries of `own_requests`, and their bytes.
const OWN_REQUESTS_LOG2: u32 = 14;
pub const OWN_REQUESTS: u32 = 1 << OWN_REQUESTS_LOG2;
pub const OWN_REQUESTS_BYTES: usize = 8;
/// Spreads addresses, which have a step in common: 2^32 divided by the golden ratio.
const SPREAD: i32 = 0x9e37_79b9_u32.cast_signed();

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
/// The process that issues a request.
const PROCESS: i16 = -80;
/// Place × 2, one more for requests of ours.
const TALLY: i16 = -88;
/// Where the numbers of [`EVENTS`] are.
const COUNTS: i16 = -96;
const ISSUER: i16 = COUNTS - ISSUER_BYTES as i16;
/// The copy of the kernel's structure.
const COPY: i16 = ISSUER - super::layout::Layout::COPY_BYTES as i16;

/// Writes one program.
struct Writer<'a> {
    code: Code,
    maps: &'a Maps,
    /// Bits of the flags on the stack.
    flag_bits: &'a [Option<u32>],
    /// Where a program ends.
    out: Label,
}

impl<'a> Writer<'a> {
    /// Begins with the arguments in r6.
    fn new(maps: &'a Maps, flag_bits: &'a [Option<u32>]) -> Writer<'a> {
        let mut code = Code::default();
        let out = code.label();
        code.copy(R6, R1);
        Writer { code, maps, flag_bits, out }
    }

    fn end(mut self) -> Vec<Insn> {
        self.code.here(self.out);
        self.code.exit();
        self.code.finish()
    }

    /// Counts that the program has to do with this event, before any other of [`EVENTS`]. Clobbers
    /// all registers but those that are kept.
    fn handled(&mut self) {
        self.code.store_imm(Dw, FP, KEY, 0);
        self.lookup(self.maps.events, KEY);
        self.code.store(Dw, FP, COUNTS, R0);
        bump(&mut self.code, R0, at(HANDLED));
    }

    /// Counts one more of [`EVENTS`], or one less.
    fn event(&mut self, number: usize, more: i32) {
        self.code.load(Dw, R0, FP, COUNTS);
        add(&mut self.code, R0, at(number), more);
    }

    /// Counts a request that begins, unless it is a flush, which the kernel ends by other ways.
    fn issued(&mut self) {
        let flush = self.code.label();
        self.code.load(Dw, R1, FP, LENGTH);
        self.code.jump_if(If::Eq, R1, 0, flush);
        self.event(ISSUED, 1);
        self.code.here(flush);
    }

    /// Leaves unless the time at this place of the stack is within the window.
    fn within(&mut self, time: i16, until_too: bool) {
        self.code.store_imm(Dw, FP, KEY, 0);
        self.lookup(self.maps.window, KEY);
        let c = &mut self.code;
        c.load(Dw, R2, FP, time);
        c.load(Dw, R1, R0, 0);
        c.jump_if_reg(If::Lt, R2, R1, self.out);
        if until_too {
            c.load(Dw, R1, R0, 8);
            c.jump_if_reg(If::Ge, R2, R1, self.out);
        }
    }

    /// Puts an entry into `pending`; where there is no room its end will not be known.
    fn keep(&mut self, key: i16, value: i16) {
        let c = &mut self.code;
        c.map(R1, self.maps.pending);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, key.into());
        c.copy(R3, FP);
        c.alu(Alu::Add, R3, value.into());
        c.alu(Alu::Mov, R4, 0);
        c.call(Helper::MapUpdate);
    }

    /// Takes an entry out of `pending`.
    fn forget(&mut self, key: i16) {
        let c = &mut self.code;
        c.map(R1, self.maps.pending);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, key.into());
        c.call(Helper::MapDelete);
    }

    /// Now, at its place.
    fn now(&mut self) {
        self.code.call(Helper::KtimeNs);
        self.code.store(Dw, FP, NOW, R0);
    }

    /// r9 = what is known of the device whose number is at this place of the stack; leaves if
    /// nobody asked for it.
    fn device(&mut self, key: i16) {
        self.lookup(self.maps.devices, key);
        self.code.copy(R9, R0);
        self.handled();
    }

    /// Leaves unless the device has a queue, or has none.
    fn only(&mut self, bio_based: bool) {
        self.code.load(W, R1, R9, 4);
        self.code.jump_if(If::Ne, R1, bio_based.into(), self.out);
    }

    /// r0 = the entry of a map whose key is on the stack; leaves if there is none.
    fn lookup(&mut self, map: i32, key: i16) {
        self.find(map, key);
        self.code.jump_if(If::Eq, R0, 0, self.out);
    }

    /// r0 = the entry of a map whose key is on the stack, or 0.
    fn find(&mut self, map: i32, key: i16) {
        let c = &mut self.code;
        c.map(R1, map);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, key.into());
        c.call(Helper::MapLookup);
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
        self.placed();
    }

    /// Slot and direction to their place; r2 has the direction.
    fn placed(&mut self) {
        let c = &mut self.code;
        c.load(W, R1, R9, 0);
        c.alu(Alu::Shl, R1, 2);
        c.alu_reg(Alu::Or, R1, R2);
        c.store(Dw, FP, PLACE, R1);
    }

    /// r8 = 1 if the running process is the one whose requests are ours, else 0.
    fn whose(&mut self) {
        self.running();
        self.is_ours();
    }

    /// The running process, at its place.
    fn running(&mut self) {
        let c = &mut self.code;
        c.call(Helper::PidTgid);
        c.alu(Alu::Shr, R0, 32);
        c.store(Dw, FP, PROCESS, R0);
    }

    /// r8 = 1 if the process at its place is the one whose requests are ours, else 0.
    fn is_ours(&mut self) {
        let c = &mut self.code;
        let other = c.label();
        c.load(Dw, R0, FP, PROCESS);
        c.alu(Alu::Mov, R8, 0);
        match self.maps.members {
            Some(members) => {
                self.find(members, PROCESS);
                let c = &mut self.code;
                c.jump_if(If::Eq, R0, 0, other);
                c.load(Dw, R1, R0, 0);
                c.jump_if(If::Ne, R1, MEMBER as i32, other);
            }
            None => c.jump_if(If::Ne, R0, self.maps.own_pid as i32, other),
        }
        let c = &mut self.code;
        c.alu(Alu::Mov, R8, 1);
        c.here(other);
        self.counted_for();
    }

    /// The tally to its place; r8 = 1 for ours.
    fn counted_for(&mut self) {
        let c = &mut self.code;
        c.load(Dw, R1, FP, PLACE);
        c.alu(Alu::Shl, R1, 1);
        c.alu_reg(Alu::Or, R1, R8);
        c.store(Dw, FP, TALLY, R1);
    }

    /// r6 = the numbers of this device and direction, and of this owner.
    fn tally(&mut self) {
        self.lookup(self.maps.tallies, TALLY);
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
        c.load(Dw, R8, FP, FLAGS);
        for (i, bit) in self.flag_bits.iter().copied().enumerate() {
            let Some(bit) = bit.filter(|bit| *bit < 31) else { continue };
            let (set, unset) = (c.label(), c.label());
            c.jump_if(If::Set, R8, 1 << bit, set);
            c.jump(unset);
            c.here(set);
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

    /// Times until now from the making of the request, and from when the driver took it, where
    /// noted.
    fn latencies(&mut self) {
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
            if steps == tally::LATENCIES {
                c.load(Dw, R2, R6, at(tally::LATENCY_NS));
                c.alu_reg(Alu::Add, R2, R1);
                c.store(Dw, R6, at(tally::LATENCY_NS), R2);
            }
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
        self.lookup(self.maps.ends, TALLY);
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
        c.load(Dw, R1, R6, at(tally::PLACED_BYTES));
        c.alu_reg(Alu::Add, R1, R4);
        c.store(Dw, R6, at(tally::PLACED_BYTES), R1);
        c.alu(Alu::Shr, R4, 9);
        c.alu_reg(Alu::Add, R4, R8);
        // One that the driver gave back and gets again had its place in the order already.
        let new = c.label();
        c.load(Dw, R1, R7, at(GIVEN_BACK));
        c.jump_if_reg(If::Ne, R1, R4, new);
        c.store_imm(Dw, R7, at(GIVEN_BACK), -1);
        c.jump(self.out);
        c.here(new);
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

    /// Takes back that the request was issued: its driver had no room, and will get it again.
    fn given_back(&mut self) {
        self.code.load(Dw, R1, FP, LENGTH);
        self.code.jump_if(If::Eq, R1, 0, self.out);
        self.event(ISSUED, -1);
        self.tally();
        self.lookup(self.maps.ends, TALLY);
        let c = &mut self.code;
        add(c, R6, at(tally::PLACED), -1);
        c.load(Dw, R2, FP, LENGTH);
        c.load(Dw, R1, R6, at(tally::PLACED_BYTES));
        c.alu_reg(Alu::Sub, R1, R2);
        c.store(Dw, R6, at(tally::PLACED_BYTES), R1);
        c.load(Dw, R1, FP, SECTOR);
        c.alu(Alu::Shr, R2, 9);
        c.alu_reg(Alu::Add, R1, R2);
        c.store(Dw, R0, at(GIVEN_BACK), R1);
    }

    fn issuer(&mut self) {
        let c = &mut self.code;
        let (known, others) = (c.label(), c.label());
        c.load(Dw, R7, FP, LENGTH);
        if self.maps.members.is_none() {
            c.load(Dw, R1, FP, TALLY);
            c.jump_if(If::Eq, R7, 0, others);
            c.jump_if(If::Set, R1, 1, self.out);
        }
        c.here(others);
        self.issuer_key();
        self.find(self.maps.issuers, KEY);
        let c = &mut self.code;
        c.jump_if(If::Ne, R0, 0, known);
        c.store_imm(Dw, FP, ISSUER, 1);
        c.store(Dw, FP, ISSUER + 8, R7);
        self.new_issuer(0);
        let c = &mut self.code;
        c.jump(self.out);
        c.here(known);
        // Several CPUs count for one process.
        c.alu(Alu::Mov, R1, 1);
        c.add_atomic(R0, 0, R1);
        c.add_atomic(R0, 8, R7);
    }

    /// The key of the process at its place, among the issuers of this device and direction.
    fn issuer_key(&mut self) {
        let c = &mut self.code;
        c.load(Dw, R0, FP, PROCESS);
        c.load(Dw, R1, FP, PLACE);
        c.alu(Alu::Shl, R1, 32);
        c.alu_reg(Alu::Or, R0, R1);
        c.store(Dw, FP, KEY, R0);
    }

    /// Adds an issuer with its counts on the stack and the name of the running thread.
    fn new_issuer(&mut self, flags: i32) {
        let c = &mut self.code;
        c.copy(R1, FP);
        c.alu(Alu::Add, R1, (ISSUER + 16).into());
        c.alu(Alu::Mov, R2, COMMAND_BYTES as i32);
        c.call(Helper::Comm);
        c.map(R1, self.maps.issuers);
        c.copy(R2, FP);
        c.alu(Alu::Add, R2, KEY.into());
        c.copy(R3, FP);
        c.alu(Alu::Add, R3, ISSUER.into());
        c.alu(Alu::Mov, R4, flags);
        c.call(Helper::MapUpdate);
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
    add(c, base, offset, 1);
}

/// `*(base + offset) += number`; r1 = what it is then.
fn add(c: &mut Code, base: Reg, offset: i16, number: i32) {
    c.load(Dw, R1, base, offset);
    c.alu(Alu::Add, R1, number);
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
