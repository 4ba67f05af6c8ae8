//! The plan of a copy, and what is heard of it.

use std::io;

/// A distance in whole blocks and a rest in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Whole blocks.
    pub blocks: u64,
    /// Bytes behind them.
    pub bytes: usize,
}

impl Amount {
    /// All of it in bytes; none where no offset of a file is that large.
    pub fn total(&self, block_bytes: usize) -> Option<u64> {
        let whole = self.blocks.checked_mul(u64::try_from(block_bytes).ok()?)?;
        let total = whole.checked_add(u64::try_from(self.bytes).ok()?)?;
        i64::try_from(total).is_ok().then_some(total)
    }

    /// True for nothing at all.
    pub fn is_zero(&self) -> bool {
        *self == Amount::default()
    }
}

/// The last step of a copy that makes it durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// `fdatasync`.
    Data,
    /// `fsync`.
    All,
}

/// Sizes and manners of a copy.
#[derive(Clone, Debug)]
pub struct CopyPlan {
    /// Size of an input block in bytes, above 0.
    pub input_block: usize,
    /// Size of an output block in bytes, above 0.
    pub output_block: usize,
    /// The part of the input to pass over.
    pub skip: Amount,
    /// The part of the output to pass over.
    pub seek: Amount,
    /// The part of the input to copy; all of it where there is none. Blocks are read calls, unless
    /// `whole_blocks` makes each of them a full block.
    pub count: Option<Amount>,
    /// Each input block becomes an output block, however short it is.
    pub one_to_one: bool,
    /// Short input blocks are filled up with that byte.
    pub pad: Option<u8>,
    /// Reads go on until an input block is full.
    pub whole_blocks: bool,
    /// The first short input block before another one is told: blocks were counted.
    pub tells_short_read: bool,
    /// A read error costs a block and does not end the copy.
    pub survives_read_errors: bool,
    /// Output blocks of zeros become holes where the output can seek.
    pub sparse: bool,
    /// The input is open for direct I/O.
    pub input_direct: bool,
    /// The output is open for direct I/O. A last block that is shorter goes through the page cache
    /// and is flushed.
    pub output_direct: bool,
    /// The pages of the input are dropped from the page cache.
    pub drops_input_pages: bool,
    /// The pages of the output are dropped from the page cache.
    pub drops_output_pages: bool,
    /// The flush at the end, even after write errors.
    pub flush: Option<Flush>,
}

/// Blocks and bytes so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Input blocks that were full.
    pub read_full: u64,
    /// Input blocks that were not.
    pub read_partial: u64,
    /// Output blocks that were full.
    pub written_full: u64,
    /// Output blocks that were not.
    pub written_partial: u64,
    /// Bytes read, without padding.
    pub bytes_read: u64,
    /// Bytes written, holes among them.
    pub bytes_written: u64,
    /// Bytes of these that became holes.
    pub bytes_of_holes: u64,
}

/// An output block could not be written: the copy ends.
#[derive(Debug)]
pub struct WriteFailed;

/// Takes converted bytes.
pub type Put<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), WriteFailed>;

/// A conversion between input and output blocks.
pub trait Convert {
    /// Converts a block, which may be changed in place, and puts what comes of it.
    ///
    /// # Errors
    /// Those of `put`.
    fn convert(&mut self, block: &mut [u8], put: Put<'_>) -> Result<(), WriteFailed>;

    /// Puts what is still held when the input has ended.
    ///
    /// # Errors
    /// Those of `put`.
    fn finish(&mut self, put: Put<'_>) -> Result<(), WriteFailed>;
}

/// Events on the way, each when it happens.
#[derive(Debug)]
pub enum Notice {
    /// A read failed.
    ReadFailed(io::Error),
    /// The input could not go on behind a bad block.
    LostPlace(io::Error),
    /// An input block had only so many bytes, though the blocks are counted.
    ShortRead(usize),
    /// The input ended, or gave too little, before all was passed over.
    SkippedLess,
    /// The input cannot pass over so much.
    CannotSkip(io::Error),
    /// The output cannot pass over so much.
    CannotSeek(io::Error),
    /// A write failed while a gathered output block was full.
    GatheredWriteFailed(io::Error),
    /// Another write failed.
    WriteFailed(io::Error),
    /// The file with a hole at its end could not be made as long.
    TruncateFailed(io::Error, u64),
    /// The flush failed.
    FlushFailed(io::Error, Flush),
    /// Pages of the input stay in the page cache.
    InputPagesStay(io::Error),
    /// Pages of the output stay in the page cache.
    OutputPagesStay(io::Error),
}

/// Hears of a copy.
pub trait Observer {
    /// A moment between two blocks, or after a signal interrupted a call.
    fn turn(&mut self, counts: &Counts);

    /// Something happened.
    fn notice(&mut self, notice: Notice, counts: &Counts);
}
