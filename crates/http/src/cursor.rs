//! Position of the next byte to send.

use std::io::IoSlice;

use crate::request::{Piece, Request};

/// Position within head and pieces of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    head: usize,
    piece: usize,
    offset: usize,
}

/// Sources of a request's bytes.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Request line and headers.
    pub head: &'a [u8],
    /// The request.
    pub request: &'a Request,
    /// The slot's buffer.
    pub slot: &'a [u8],
}

impl<'a> Outgoing<'a> {
    fn piece(&self, index: usize) -> Option<&'a [u8]> {
        Some(match self.request.pieces.get(index)? {
            Piece::Own(range) => &self.request.own[range.clone()],
            Piece::Slot(range) => &self.slot[range.clone()],
        })
    }
}

impl Cursor {
    /// All bytes of the head were sent.
    pub fn head_is_sent(&self, head: &[u8]) -> bool {
        self.head == head.len()
    }

    /// All bytes were sent.
    pub fn is_done(&self, head: &[u8], request: &Request) -> bool {
        self.head_is_sent(head) && self.piece == request.pieces.len()
    }

    /// Fills slices with the next bytes, and returns their number. `with_body`: bytes of the body
    /// may follow the head.
    pub fn fill<'a>(
        &self,
        from: Outgoing<'a>,
        with_body: bool,
        slices: &mut [IoSlice<'a>],
    ) -> usize {
        let mut used = 0;
        if !self.head_is_sent(from.head) {
            slices[0] = IoSlice::new(&from.head[self.head..]);
            used = 1;
        }
        let mut skipped = self.offset;
        let mut index = self.piece;
        while with_body && used < slices.len() {
            let Some(piece) = from.piece(index) else { break };
            slices[used] = IoSlice::new(&piece[skipped..]);
            skipped = 0;
            index += 1;
            used += 1;
        }
        used
    }

    /// Moves past sent bytes, and past pieces without bytes.
    pub fn advance(&mut self, from: Outgoing<'_>, mut sent: usize) {
        let head = sent.min(from.head.len() - self.head);
        self.head += head;
        sent -= head;
        while self.head_is_sent(from.head) {
            let Some(piece) = from.piece(self.piece) else { break };
            let left = piece.len() - self.offset;
            if sent < left {
                self.offset += sent;
                return;
            }
            sent -= left;
            self.piece += 1;
            self.offset = 0;
        }
        assert_eq!(sent, 0, "more bytes were sent than given");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request() -> Request {
        let mut request = Request { own: b"0123456789".to_vec(), ..Request::default() };
        for i in 0..20 {
            request.pieces.push(Piece::Slot(i..i + i % 3));
            request.pieces.push(Piece::Own(i % 9..10));
        }
        request
    }

    proptest! {
        #[test]
        fn bytes_leave_in_order_however_many_the_kernel_takes(
            takes in proptest::collection::vec(1_usize..40, 300),
        ) {
            let request = request();
            let slot: Vec<u8> = (b'a'..=b'z').collect();
            let from = Outgoing { head: b"HEAD", request: &request, slot: &slot };
            let mut expected = b"HEAD".to_vec();
            for i in 0..request.pieces.len() {
                expected.extend_from_slice(from.piece(i).unwrap());
            }
            let mut cursor = Cursor::default();
            let mut got = Vec::new();
            for take in takes {
                let mut slices = [IoSlice::new(&[]); 16];
                let used = cursor.fill(from, true, &mut slices);
                let bytes: Vec<u8> = slices[..used].iter().flat_map(|s| s.to_vec()).collect();
                let take = take.min(bytes.len());
                got.extend_from_slice(&bytes[..take]);
                cursor.advance(from, take);
                if cursor.is_done(from.head, &request) {
                    break;
                }
            }
            prop_assert!(cursor.is_done(from.head, &request));
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn a_held_body_is_not_sent() {
        let request = request();
        let from = Outgoing { head: b"HEAD", request: &request, slot: &[0; 26] };
        let mut cursor = Cursor::default();
        let mut slices = [IoSlice::new(&[]); 16];
        assert_eq!(cursor.fill(from, false, &mut slices), 1);
        assert_eq!(&*slices[0], b"HEAD");
        cursor.advance(from, 4);
        assert_eq!(cursor.fill(from, false, &mut slices), 0);
    }
}
