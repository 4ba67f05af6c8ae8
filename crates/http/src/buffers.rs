//! Buffers of slots, which the caller owns.

/// Supplies the buffer of a slot.
pub trait Buffers {
    /// Bytes that [`crate::Piece::Slot`] names.
    fn bytes(&self, slot: usize) -> &[u8];

    /// Destination of [`crate::Into::Slot`].
    fn room(&mut self, slot: usize) -> &mut [u8];
}

/// No buffers, for requests that use none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBuffers;

impl Buffers for NoBuffers {
    fn bytes(&self, _slot: usize) -> &[u8] {
        &[]
    }

    fn room(&mut self, _slot: usize) -> &mut [u8] {
        &mut []
    }
}
