//! Programs on tracepoints, which get a record of what happened instead of the kernel's structures.
//!
//! A record knows no times and no request: an end belongs to the beginning with the same device,
//! direction and sector.

use super::super::asm::Width::{B, Dw, W};
use super::super::asm::{Alu, FP, If, Insn, R0, R1, R2, R6, R7, R8};
use super::super::tracefs::Format;
use super::{
    COMPLETED, COPY, FLAGS, LENGTH, Maps, NOW, PLACE, POINTER, SECTOR, STARTED, TAKEN, Writer, at,
    bump, tally,
};

/// The flags that letters tell, by the place of each in [`tally::FLAGS`].
const LETTERS: [(u8, usize); 4] = [(b'S', 0), (b'M', 1), (b'F', 2), (b'A', 4)];
const PREFLUSH: usize = 3;
/// Letters of an operation and all its flags.
const LETTERS_MAX: i16 = 8;

// State kept of a request on its way: when it was taken, its sectors with a bit for ours, and how
// many of the same sector there are.
const SECTORS: i16 = 8;
const ALIKE: i16 = 12;
/// The bit of ours among the sectors, of which a request has fewer.
const OWN_BIT: i32 = 31;
/// Where that stands before it is kept: behind its key.
const VALUE: i16 = COPY + 16;

/// Where each flag is on the stack: its own place, since letters have no bits.
const FLAG_BITS: [Option<u32>; tally::FLAGS.len()] =
    [Some(0), Some(1), Some(2), Some(3), Some(4), None];

/// `block_rq_issue`.
pub fn issue(maps: &Maps, format: &Format) -> Vec<Insn> {
    let mut w = Writer::new(maps, &FLAG_BITS);
    record(&mut w, format);
    w.only(false);
    w.now();
    w.within(NOW, true);
    w.whose();
    let (first, kept) = (w.code.label(), w.code.label());
    w.code.load(Dw, R1, FP, LENGTH);
    w.code.jump_if(If::Eq, R1, 0, kept);
    key(&mut w);
    w.find(maps.pending, COPY);
    w.code.jump_if(If::Eq, R0, 0, first);
    w.code.load(W, R1, R0, ALIKE);
    w.code.alu(Alu::Add, R1, 1);
    w.code.store(W, R0, ALIKE, R1);
    // Nobody knows which of twins ends first: they are ours if all of them are.
    w.code.jump_if(If::Ne, R8, 0, kept);
    w.code.load(W, R1, R0, SECTORS);
    w.code.alu(Alu::And, R1, i32::MAX);
    w.code.store(W, R0, SECTORS, R1);
    w.code.jump(kept);
    w.code.here(first);
    w.code.load(Dw, R1, FP, NOW);
    w.code.store(Dw, FP, VALUE, R1);
    w.code.load(Dw, R1, FP, LENGTH);
    w.code.alu(Alu::Shr, R1, 9);
    w.code.alu(Alu::Shl, R8, OWN_BIT);
    w.code.alu_reg(Alu::Or, R1, R8);
    w.code.store(W, FP, VALUE + SECTORS, R1);
    w.code.store_imm(W, FP, VALUE + ALIKE, 1);
    w.keep(COPY, VALUE);
    w.code.here(kept);
    w.issued();
    w.order_and_issuer();
    w.end()
}

/// `block_rq_complete`.
pub fn complete(maps: &Maps, format: &Format) -> Vec<Insn> {
    let mut w = Writer::new(maps, &FLAG_BITS);
    record(&mut w, format);
    w.only(false);
    w.now();
    let (flush, known) = (w.code.label(), w.code.label());
    w.code.load(Dw, R1, FP, LENGTH);
    w.code.jump_if(If::Eq, R1, 0, flush);
    take(&mut w);
    w.within(TAKEN, false);
    w.event(COMPLETED, 1);
    w.code.jump(known);
    w.code.here(flush);
    // Flushes begin and end by ways of their own.
    w.within(NOW, true);
    w.code.alu(Alu::Mov, R8, 0);
    w.counted_for();
    w.code.here(known);
    w.tally();
    w.latencies();
    w.shape();
    w.end()
}

/// `block_rq_requeue`.
pub fn requeue(maps: &Maps, format: &Format) -> Vec<Insn> {
    let mut w = Writer::new(maps, &FLAG_BITS);
    record(&mut w, format);
    w.only(false);
    w.code.load(Dw, R1, FP, LENGTH);
    w.code.jump_if(If::Eq, R1, 0, w.out);
    take(&mut w);
    w.within(TAKEN, false);
    w.given_back();
    w.end()
}

/// When the request that ends was taken, and its length; leaves where its beginning was not seen.
/// Where only a part of it is done, the rest has another sector and is not found.
fn take(w: &mut Writer<'_>) {
    key(w);
    w.lookup(w.maps.pending, COPY);
    let others = w.code.label();
    w.code.load(Dw, R1, R0, 0);
    w.code.store(Dw, FP, TAKEN, R1);
    w.code.load(W, R1, R0, SECTORS);
    w.code.copy(R8, R1);
    w.code.alu(Alu::Shr, R8, OWN_BIT);
    w.code.alu(Alu::And, R1, i32::MAX);
    w.code.alu(Alu::Shl, R1, 9);
    w.code.store(Dw, FP, LENGTH, R1);
    w.code.load(W, R1, R0, ALIKE);
    w.code.alu(Alu::Sub, R1, 1);
    w.code.store(W, R0, ALIKE, R1);
    w.code.jump_if(If::Ne, R1, 0, others);
    w.forget(COPY);
    w.code.here(others);
    w.counted_for();
}

/// `block_bio_queue`. That it is done can't be told: its record has another sector then.
pub fn queue(maps: &Maps, format: &Format) -> Vec<Insn> {
    let mut w = Writer::new(maps, &FLAG_BITS);
    record(&mut w, format);
    w.only(true);
    w.now();
    w.within(NOW, true);
    w.whose();
    w.tally();
    w.shape();
    w.order_and_issuer();
    w.end()
}

/// `block_split`.
pub fn split(maps: &Maps, format: &Format) -> Vec<Insn> {
    let mut w = Writer::new(maps, &FLAG_BITS);
    record(&mut w, format);
    w.now();
    w.within(NOW, true);
    w.whose();
    w.tally();
    bump(&mut w.code, R6, at(tally::SPLITS));
    w.end()
}

/// The key of a request, where the copy of a structure would be.
fn key(w: &mut Writer<'_>) {
    w.code.load(Dw, R1, FP, SECTOR);
    w.code.store(Dw, FP, COPY, R1);
    w.code.load(Dw, R1, FP, PLACE);
    w.code.store(Dw, FP, COPY + 8, R1);
}

/// Takes a record apart, and finds its device.
fn record(w: &mut Writer<'_>, format: &Format) {
    let c = &mut w.code;
    // Twelve bits of major number, twenty of minor.
    c.load(W, R1, R6, format.dev);
    c.copy(R2, R1);
    c.alu(Alu::Shr, R2, 20);
    c.store(W, FP, POINTER, R2);
    c.alu(Alu::And, R1, (1 << 20) - 1);
    c.store(W, FP, POINTER + 4, R1);
    w.device(POINTER);
    let c = &mut w.code;
    c.load(Dw, R1, R6, format.sector);
    c.store(Dw, FP, SECTOR, R1);
    c.alu(Alu::Mov, R1, 0);
    c.store(Dw, FP, STARTED, R1);
    c.store(Dw, FP, TAKEN, R1);
    if let Some(sectors) = format.sectors {
        c.load(W, R1, R6, sectors);
        c.alu(Alu::Shl, R1, 9);
    }
    c.store(Dw, FP, LENGTH, R1);
    c.alu(Alu::Mov, R7, 0);
    for i in (0..format.letters.min(LETTERS_MAX)).rev() {
        c.load(B, R1, R6, format.rwbs + i);
        c.alu(Alu::Shl, R7, 8);
        c.alu_reg(Alu::Or, R7, R1);
    }
    operation(w);
    flags(w);
}

/// The direction from the first letters of r7, which are then gone from it; r8 has the flag of a
/// flush before it.
fn operation(w: &mut Writer<'_>) {
    let c = &mut w.code;
    let (letter, flush, zone) = (c.label(), c.label(), c.label());
    let (read, write, discard, done) = (c.label(), c.label(), c.label(), c.label());
    c.alu(Alu::Mov, R8, 0);
    first_letter(c);
    c.jump_if(If::Ne, R1, b'F'.into(), letter);
    // A flush before a write, or nothing but a flush.
    c.alu(Alu::Shr, R7, 8);
    first_letter(c);
    let before = c.label();
    for operation in *b"WRDNZ" {
        c.jump_if(If::Eq, R1, operation.into(), before);
    }
    c.jump(flush);
    c.here(before);
    c.alu(Alu::Mov, R8, 1 << PREFLUSH);
    c.here(letter);
    for (operation, to) in [(b'R', read), (b'W', write), (b'D', discard), (b'Z', zone)] {
        c.jump_if(If::Eq, R1, operation.into(), to);
    }
    c.jump_if(If::Ne, R1, b'N'.into(), w.out);
    // Zeros are written under this letter; what drivers ask has no length.
    c.load(Dw, R1, FP, LENGTH);
    c.jump_if(If::Eq, R1, 0, w.out);
    c.jump(write);
    c.here(zone);
    c.alu(Alu::Shr, R7, 8);
    first_letter(c);
    c.jump_if(If::Ne, R1, b'A'.into(), w.out);
    c.here(write);
    c.alu(Alu::Mov, R2, 1);
    c.jump(done);
    c.here(read);
    c.alu(Alu::Mov, R2, 0);
    c.jump(done);
    c.here(discard);
    c.alu(Alu::Mov, R2, 2);
    c.jump(done);
    c.here(flush);
    c.alu(Alu::Mov, R2, 3);
    c.here(done);
    c.alu(Alu::Shr, R7, 8);
    w.placed();
}

/// Puts the first letter of r7 into r1.
fn first_letter(c: &mut super::Code) {
    c.copy(R1, R7);
    c.alu(Alu::And, R1, 0xff);
}

/// The flags from the other letters of r7.
fn flags(w: &mut Writer<'_>) {
    let c = &mut w.code;
    for _ in 0..5 {
        c.copy(R1, R7);
        c.alu(Alu::And, R1, 0xff);
        c.alu(Alu::Shr, R7, 8);
        for (letter, flag) in LETTERS {
            let other = c.label();
            c.jump_if(If::Ne, R1, letter.into(), other);
            c.alu(Alu::Or, R8, 1 << flag);
            c.here(other);
        }
    }
    c.store(Dw, FP, FLAGS, R8);
}
