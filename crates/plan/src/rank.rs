//! What a worker's number decides: its file, its part of the file, its offsets.
//!
//! Pure arithmetic over (rank, ranks), so that every host computes the same for every worker.

use crate::Sharing;

/// The rank on whose data a worker works: `shift` further on, modulo `ranks`.
pub fn data_rank(rank: u64, ranks: u64, shift: i64) -> u64 {
    let ranks = i128::from(ranks.max(1));
    // The remainder is not negative and below `ranks`, so it fits again.
    (i128::from(rank) + i128::from(shift)).rem_euclid(ranks) as u64
}

/// A worker's place among those that use the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The only file that the worker uses; absent where it uses all.
    pub file: Option<u64>,
    /// Its number among the workers that use the same file.
    pub seat: u64,
    /// Number of workers that use the same file.
    pub seats: u64,
}

impl Seat {
    /// The seat of the worker that works on the data of rank `data_rank` of `ranks`, where the
    /// job's targets have `files` files.
    pub fn of(sharing: Sharing, data_rank: u64, ranks: u64, files: u64) -> Self {
        let files = files.max(1);
        let file = data_rank % files;
        match sharing {
            Sharing::Shared => Seat { file: None, seat: data_rank, seats: ranks.max(1) },
            Sharing::Own => Seat {
                file: Some(file),
                seat: data_rank / files,
                seats: (ranks.max(file + 1) - file).div_ceil(files),
            },
        }
    }

    /// Offset of transfer `transfer` of `size` bytes in segment `segment`, relative to the range,
    /// for [`crate::blocks::Share::Segments`]; absent beyond 64 bits.
    pub fn segment_offset(self, block: u64, size: u64, segment: u64, transfer: u64) -> Option<u64> {
        let blocks = segment.checked_mul(self.seats)?.checked_add(self.seat)?;
        blocks.checked_mul(block)?.checked_add(transfer.checked_mul(size)?)
    }

    /// Start and length of the worker's slice of `whole` bytes, for
    /// [`crate::blocks::Share::Slice`], in multiples of `unit`; the last takes the remainder.
    pub fn slice(self, whole: u64, unit: u64) -> (u64, u64) {
        let unit = unit.max(1);
        let length = whole / self.seats.max(1) / unit * unit;
        let start = length * self.seat;
        match self.seat + 1 == self.seats {
            true => (start, whole - start),
            false => (start, length),
        }
    }
}

/// Most workers of a job that use the same file.
pub fn seats_max(sharing: Sharing, ranks: u64, files: u64) -> u64 {
    Seat::of(sharing, 0, ranks, files).seats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_wrap_in_both_directions() {
        for (rank, ranks, shift, expected) in
            [(0, 4, 1, 1), (3, 4, 1, 0), (0, 4, -1, 3), (2, 4, -9, 1), (5, 0, i64::MIN, 0)]
        {
            assert_eq!(data_rank(rank, ranks, shift), expected, "{rank} of {ranks} by {shift}");
        }
    }

    #[test]
    fn own_files_are_shared_only_where_there_are_too_few() {
        let own = |rank| Seat::of(Sharing::Own, rank, 5, 2);
        assert_eq!(own(0), Seat { file: Some(0), seat: 0, seats: 3 });
        assert_eq!(own(3), Seat { file: Some(1), seat: 1, seats: 2 });
        assert_eq!(own(4), Seat { file: Some(0), seat: 2, seats: 3 });
        assert_eq!(seats_max(Sharing::Own, 5, 8), 1);
        assert_eq!(seats_max(Sharing::Shared, 5, 8), 5);
    }

    #[test]
    fn slices_cover_everything_once() {
        for seats in 1..9 {
            let slices: Vec<_> = (0..seats)
                .map(|seat| Seat { file: None, seat, seats }.slice(100_000, 4096))
                .collect();
            let mut next = 0;
            for (start, length) in slices {
                assert_eq!(start, next);
                next = start + length;
            }
            assert_eq!(next, 100_000);
        }
    }
}
