//! Programs on raw tracepoints, which get the kernel's own structures.

use super::super::asm::Width::{Dw, W};
use super::super::asm::{Alu, FP, Helper, If, Insn, R0, R1, R2, R3, R4, R6, R7, R8};
use super::super::layout::{Fork, Layout, Part};
use super::{
    COMPLETED, COPY, FLAGS, ISSUED, ISSUER, KEY, LENGTH, MEMBER, Maps, NOW, OWN_REQUESTS_LOG2,
    PENDING_BYTES, POINTER, PROCESS, SECTOR, SPREAD, STARTED, TAKEN, TALLY, Writer, at, bump,
    tally,
};

/// `block_rq_issue`.
pub fn issue(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    request(&mut w, layout, layout.issue_argument);
    window(&mut w);
    w.issued();
    w.running();
    made_by(&mut w, layout.issue_argument);
    w.is_ours();
    note_owner(&mut w, &layout.request, layout.issue_argument);
    w.order_and_issuer();
    w.end()
}

/// `block_io_start`: the process that makes a request. Its name is known at no later moment.
pub fn made(maps: &Maps, layout: &Layout, makers: i32, of: u32) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    request(&mut w, layout, of);
    w.running();
    memory(&mut w, of);
    let c = &mut w.code;
    c.map(R1, makers);
    c.copy(R2, FP);
    c.alu(Alu::Add, R2, POINTER.into());
    c.copy(R3, FP);
    c.alu(Alu::Add, R3, PROCESS.into());
    c.alu(Alu::Mov, R4, 0);
    c.call(Helper::MapUpdate);
    w.issuer_key();
    w.code.store_imm(Dw, FP, ISSUER, 0);
    w.code.store_imm(Dw, FP, ISSUER + 8, 0);
    w.new_issuer(NO_EXIST);
    w.end()
}

/// `block_rq_complete`.
pub fn complete(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    request(&mut w, layout, layout.complete_argument);
    whole_only(&mut w, layout.complete_argument + 2);
    forget_maker(&mut w, layout.complete_argument);
    find_owner(&mut w, &layout.request, layout.complete_argument);
    window(&mut w);
    w.now();
    w.tally();
    w.latencies();
    w.shape();
    w.event(COMPLETED, 1);
    w.end()
}

/// `block_rq_requeue`.
pub fn requeue(maps: &Maps, layout: &Layout, of: u32) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    request(&mut w, layout, of);
    find_owner(&mut w, &layout.request, of);
    window(&mut w);
    w.given_back();
    w.end()
}

/// `block_bio_queue`.
pub fn queue(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    bio(&mut w, layout, layout.queue_argument);
    w.only(true);
    w.now();
    w.within(NOW, true);
    w.whose();
    remember(&mut w, layout.queue_argument);
    w.tally();
    w.shape();
    w.order_and_issuer();
    w.end()
}

/// `block_bio_complete`.
pub fn bio_complete(maps: &Maps, layout: &Layout) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    w.code.load(Dw, R1, R6, argument(layout.bio_complete_argument));
    w.code.store(Dw, FP, POINTER, R1);
    w.lookup(maps.pending, POINTER);
    w.code.load(Dw, R1, R0, 0);
    w.code.store(Dw, FP, STARTED, R1);
    w.code.load(Dw, R1, R0, 8);
    w.code.store(Dw, FP, TALLY, R1);
    w.forget(POINTER);
    // One that was handed in during an earlier window and done between them is another's by now.
    w.within(STARTED, false);
    w.handled();
    w.event(COMPLETED, 1);
    w.now();
    w.code.store_imm(Dw, FP, TAKEN, 0);
    w.tally();
    w.latencies();
    w.end()
}

/// `block_split`.
pub fn split(maps: &Maps, layout: &Layout, of: u32) -> Vec<Insn> {
    let mut w = Writer::new(maps, &layout.flag_bits);
    bio(&mut w, layout, of);
    w.now();
    w.within(NOW, true);
    w.whose();
    w.tally();
    bump(&mut w.code, R6, at(tally::SPLITS));
    w.end()
}

/// `sched_process_fork`: the child of a member is one.
pub fn fork(maps: &Maps, members: i32, fork: Fork) -> Vec<Insn> {
    let mut w = Writer::new(maps, &[]);
    w.code.call(Helper::PidTgid);
    w.code.alu(Alu::Shr, R0, 32);
    w.code.store(Dw, FP, KEY, R0);
    w.lookup(members, KEY);
    w.code.load(Dw, R3, R6, argument(fork.parent_argument + 1));
    w.code.alu(Alu::Add, R3, fork.process as i32);
    w.code.store_imm(Dw, FP, KEY, 0);
    w.fetch(KEY, 4);
    w.code.store_imm(Dw, FP, NOW, MEMBER as i32);
    let c = &mut w.code;
    c.map(R1, members);
    c.copy(R2, FP);
    c.alu(Alu::Add, R2, KEY.into());
    c.copy(R3, FP);
    c.alu(Alu::Add, R3, NOW.into());
    // A new thread has the number of its process, which stays what it is.
    c.alu(Alu::Mov, R4, NO_EXIST);
    c.call(Helper::MapUpdate);
    w.end()
}

/// Flag of an update: only if there is no such entry (`BPF_NOEXIST`).
const NO_EXIST: i32 = 1;

/// Where an argument is.
fn argument(number: u32) -> i16 {
    number as i16 * 8
}

/// Copies the request that is an argument, and finds its device.
fn request(w: &mut Writer<'_>, layout: &Layout, of: u32) {
    let part = &layout.request;
    w.code.load(Dw, R3, R6, argument(of));
    w.code.alu(Alu::Add, R3, part.from as i32);
    w.fetch(COPY, part.bytes());
    w.code.load(Dw, R1, FP, COPY + part.device);
    w.code.store(Dw, FP, POINTER, R1);
    disk(w, &layout.disk_of_request, layout.major);
    w.only(false);
    for (from, to) in [(part.sector, SECTOR), (part.started, STARTED), (part.taken, TAKEN)] {
        w.code.load(Dw, R1, FP, COPY + from);
        w.code.store(Dw, FP, to, R1);
    }
    length_and_flags(w, part.length, part.flags);
}

/// The same of a bio, which has no times.
fn bio(w: &mut Writer<'_>, layout: &Layout, of: u32) {
    let part = &layout.bio;
    w.code.load(Dw, R3, R6, argument(of));
    w.code.alu(Alu::Add, R3, part.from as i32);
    w.fetch(COPY, part.bytes());
    w.code.load(Dw, R1, FP, COPY + part.device);
    w.code.store(Dw, FP, POINTER, R1);
    disk(w, &layout.disk_of_bio, layout.major);
    w.code.load(Dw, R1, FP, COPY + part.sector);
    w.code.store(Dw, FP, SECTOR, R1);
    length_and_flags(w, part.length, part.flags);
}

/// From the pointer on the stack to the disk and what is known of it.
fn disk(w: &mut Writer<'_>, offsets: &[u32], major: u32) {
    for offset in offsets {
        w.follow(POINTER, *offset);
    }
    // Major and first minor stand side by side.
    w.follow(POINTER, major);
    w.device(POINTER);
}

fn length_and_flags(w: &mut Writer<'_>, length: i16, flags: i16) {
    w.code.load(W, R1, FP, COPY + length);
    w.code.store(Dw, FP, LENGTH, R1);
    w.code.load(W, R1, FP, COPY + flags);
    w.code.store(Dw, FP, FLAGS, R1);
    w.direction();
}

/// Leaves unless the request was made in the window that is traced: its beginning and its end
/// are both counted then, or neither. Where the kernel notes no times, what happens now counts.
fn window(w: &mut Writer<'_>) {
    let noted = w.code.label();
    w.code.load(Dw, R0, FP, STARTED);
    w.code.jump_if(If::Ne, R0, 0, noted);
    w.code.call(Helper::KtimeNs);
    w.code.here(noted);
    w.code.store(Dw, FP, NOW, R0);
    w.within(NOW, true);
}

/// The process that made the request, at its place, if that was seen.
fn made_by(w: &mut Writer<'_>, of: u32) {
    let Some(makers) = w.maps.makers else { return };
    memory(w, of);
    w.find(makers, POINTER);
    let c = &mut w.code;
    let unseen = c.label();
    c.jump_if(If::Eq, R0, 0, unseen);
    c.load(Dw, R1, R0, 0);
    c.store(Dw, FP, PROCESS, R1);
    c.here(unseen);
}

/// Forgets the maker of the request that is an argument: the kernel uses its memory for the next.
fn forget_maker(w: &mut Writer<'_>, of: u32) {
    let Some(makers) = w.maps.makers else { return };
    memory(w, of);
    let c = &mut w.code;
    c.map(R1, makers);
    c.copy(R2, FP);
    c.alu(Alu::Add, R2, POINTER.into());
    c.call(Helper::MapDelete);
}

/// The address of the request that is an argument, at its place. Linux 6.18 notes the time at
/// which a request was made only after it reported its maker, so that the time is no part of it.
fn memory(w: &mut Writer<'_>, of: u32) {
    w.code.load(Dw, R1, R6, argument(of));
    w.code.store(Dw, FP, POINTER, R1);
}

/// Leaves if less than the whole rest of the request completes: more of it will follow.
fn whole_only(w: &mut Writer<'_>, bytes_argument: u32) {
    w.code.load(W, R1, R6, argument(bytes_argument));
    w.code.load(Dw, R2, FP, LENGTH);
    w.code.jump_if_reg(If::Lt, R1, R2, w.out);
}

/// r7 = what is noted of the request that is an argument if it is ours, r0 = where.
fn noted(w: &mut Writer<'_>, part: &Part, of: u32) {
    let c = &mut w.code;
    c.load(Dw, R1, FP, COPY + part.hardware_queue);
    c.alu(Alu::Shr, R1, LINE_LOG2);
    c.alu(Alu::Mul, R1, SPREAD);
    // The upper bits of the lower half are those that all bits of the address stir.
    c.alu(Alu::Shr, R1, 32 - OWN_REQUESTS_LOG2 as i32);
    // All bits are set where there is no such number. The number in a scheduler comes first, since
    // a request keeps it until its end.
    let known = c.label();
    c.load(W, R2, FP, COPY + part.scheduler_tag);
    c.alu(Alu::Add, R2, 1);
    c.alu(Alu::Shl, R2, 32);
    c.jump_if(If::Ne, R2, 0, known);
    c.load(W, R2, FP, COPY + part.tag);
    c.alu(Alu::Add, R2, 1);
    c.alu(Alu::Shl, R2, 32);
    c.here(known);
    c.alu(Alu::Shr, R2, 32);
    c.alu_reg(Alu::Add, R1, R2);
    c.alu(Alu::And, R1, (1 << OWN_REQUESTS_LOG2) - 1);
    c.store(W, FP, KEY, R1);
    c.load(Dw, R7, R6, argument(of));
    c.load(Dw, R1, FP, STARTED);
    c.alu_reg(Alu::Add, R7, R1);
    w.lookup(w.maps.own_requests, KEY);
}

/// Queues begin with a line of the cache.
const LINE_LOG2: i32 = 6;

/// Notes the request that is an argument if it is ours: issued by our process (r8 = 1), or issued
/// before and noted then. A driver without room gives a request back, and a thread of the kernel
/// issues it again.
fn note_owner(w: &mut Writer<'_>, part: &Part, of: u32) {
    noted(w, part, of);
    let c = &mut w.code;
    let (ours, others) = (c.label(), c.label());
    c.jump_if(If::Ne, R8, 0, ours);
    // Without times, an earlier request in the same memory looks alike.
    c.load(Dw, R1, FP, STARTED);
    c.jump_if(If::Eq, R1, 0, others);
    c.load(Dw, R1, R0, 0);
    c.jump_if_reg(If::Ne, R1, R7, others);
    c.alu(Alu::Mov, R8, 1);
    c.here(ours);
    c.store(Dw, R0, 0, R7);
    c.here(others);
    w.counted_for();
}

/// Sets the tally of the owner of the request that is an argument. The note stays: no other request
/// is like it, and the CPU on which this one ends would have to fetch its line to write it.
fn find_owner(w: &mut Writer<'_>, part: &Part, of: u32) {
    noted(w, part, of);
    let c = &mut w.code;
    let others = c.label();
    c.alu(Alu::Mov, R8, 0);
    c.load(Dw, R1, R0, 0);
    c.jump_if_reg(If::Ne, R1, R7, others);
    c.alu(Alu::Mov, R8, 1);
    c.here(others);
    w.counted_for();
}

/// Keeps when the bio that is an argument was handed in.
fn remember(w: &mut Writer<'_>, of: u32) {
    const { assert!(PENDING_BYTES == 16) };
    let c = &mut w.code;
    c.load(Dw, R1, R6, argument(of));
    c.store(Dw, FP, POINTER, R1);
    c.load(Dw, R1, FP, NOW);
    c.store(Dw, FP, COPY, R1);
    c.load(Dw, R1, FP, TALLY);
    c.store(Dw, FP, COPY + 8, R1);
    w.keep(POINTER, COPY);
    w.event(ISSUED, 1);
}
