//! Ranks: a worker's number over all hosts decides its file, its part of the file, its offsets.
//!
//! Pure arithmetic over (rank, ranks), so that every host computes the same for every worker.

use crate::Sharing;
use crate::permutation::Permutation;
pub use crate::rank_order::{DataOf, RankOrder, data_rank};

/// A host among those that run a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostIndex {
    /// Number of the host, from 0.
    pub host: u32,
    /// Number of hosts.
    pub hosts: u32,
}

impl HostIndex {
    /// The only host.
    pub const ALONE: HostIndex = HostIndex { host: 0, hosts: 1 };

    /// Ranks of the workers of a job with `workers` on each host.
    pub fn ranks(self, workers: u32) -> Ranks {
        let workers = u64::from(workers);
        Ranks {
            first_rank: u64::from(self.host) * workers,
            ranks: u64::from(self.hosts) * workers,
            host: self,
        }
    }
}

/// Ranks of a job's workers on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of the host's first worker.
    pub first_rank: u64,
    /// Workers of the job on all hosts.
    pub ranks: u64,
    /// The host.
    pub host: HostIndex,
}

impl Ranks {
    /// The rank of a worker of this host.
    pub fn rank(&self, worker: u32) -> u64 {
        self.first_rank + u64::from(worker)
    }

    /// The rank on whose data a worker of this host works.
    pub fn data_rank(&self, data_of: DataOf, worker: u32) -> u64 {
        data_of.rank(self.rank(worker), self.ranks)
    }

    /// The seat of a worker of this host, if its job's targets have `files` files: the seat of the
    /// rank whose data it uses.
    pub fn seat(&self, sharing: Sharing, data_of: DataOf, files: u64, worker: u32) -> Seat {
        Seat::of(sharing, self.data_rank(data_of, worker), self.ranks, files)
    }
}

/// A worker's seat among those that use the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The only file that the worker uses; absent where it uses all.
    pub file: Option<u64>,
    /// Number among the workers that use the same file.
    pub seat: u64,
    /// Number of workers that use the same file.
    pub seats: u64,
}

impl Seat {
    /// The only user of all files.
    pub const ALONE: Seat = Seat::one_of(0, 1);

    /// One of `seats` workers that use all files.
    pub const fn one_of(seat: u64, seats: u64) -> Seat {
        Seat { file: None, seat, seats }
    }

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

    /// The blocks of `block` bytes that are dealt to the worker in turn, for
    /// [`crate::blocks::Share::Segments`] and [`crate::blocks::Share::Interleave`].
    pub fn dealt(self, block: u64) -> Dealt {
        Dealt { block: block.max(1), seat: self.seat, seats: self.seats }
    }

    /// The transfers of `size` bytes that the worker gets at random of each segment with `block`
    /// bytes per worker, in an order by `key` that all workers share.
    pub fn scattered(self, block: u64, size: u64, key: u64) -> Scattered {
        let (block, size) = (block.max(1), size.max(1));
        let transfers = (block / size).max(1);
        let all = transfers.saturating_mul(self.seats.max(1));
        Scattered {
            order: Permutation::new(all, key),
            first: transfers.saturating_mul(self.seat),
            block,
            size,
            segment: block.saturating_mul(self.seats.max(1)),
        }
    }

    /// Start and length of the worker's slice of `whole` bytes, for
    /// [`crate::blocks::Share::Slice`], in multiples of `unit`; the last takes the remainder.
    pub fn slice(self, whole: u64, unit: u64) -> (u64, u64) {
        let unit = unit.max(1);
        let length = whole / self.seats.max(1) / unit * unit;
        let start = length * self.seat;
        if self.seat + 1 == self.seats { (start, whole - start) } else { (start, length) }
    }
}

/// Blocks of a range that are dealt to workers in turn: the k-th of a worker is the
/// (k·seats + seat)-th of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// Length of a block.
    pub block: u64,
    seat: u64,
    seats: u64,
}

impl Dealt {
    /// Offset of the worker's first block.
    pub fn start(self) -> u64 {
        self.seat.saturating_mul(self.block)
    }

    /// Offset of a position in the worker's blocks, from the first of them.
    #[inline(always)]
    pub fn offset(self, position: u64) -> u64 {
        position / self.block * self.block * self.seats + position % self.block
    }

    /// The same, for positions that may lie beyond 64 bits.
    pub fn offset_saturating(self, position: u64) -> u64 {
        let stride = self.block.saturating_mul(self.seats);
        (position / self.block).saturating_mul(stride).saturating_add(position % self.block)
    }
}

/// Transfers of each segment of a range that are dealt to workers at random, each exactly once and
/// in every segment alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scattered {
    /// Order of all transfers of a segment, of which each worker has a run.
    order: Permutation,
    /// Start of the worker's run.
    first: u64,
    /// Bytes of a segment that are the worker's.
    block: u64,
    size: u64,
    /// Length of a segment.
    segment: u64,
}

impl Scattered {
    /// Offset of a position in the worker's transfers, from the start of the range.
    #[inline(always)]
    pub fn offset(&self, position: u64) -> u64 {
        let (segment, within) = (position / self.block, position % self.block);
        let transfer = self.order.at(self.first + within / self.size);
        segment * self.segment + transfer * self.size + within % self.size
    }

    /// End of the segment in which a position lies, for positions that may lie beyond 64 bits.
    pub fn end(&self, position: u64) -> u64 {
        (position / self.block).saturating_add(1).saturating_mul(self.segment)
    }

    /// The same in the order of another key.
    #[must_use]
    pub fn with_key(self, key: u64) -> Scattered {
        Scattered { order: self.order.with_key(key), ..self }
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
    fn own_files_are_shared_only_where_there_are_too_few() {
        for (rank, file, seat, seats) in [(0, 0, 0, 3), (3, 1, 1, 2), (4, 0, 2, 3)] {
            let wanted = Seat { file: Some(file), seat, seats };
            assert_eq!(Seat::of(Sharing::Own, rank, 5, 2), wanted);
        }
        assert_eq!(seats_max(Sharing::Own, 5, 8), 1);
        assert_eq!(seats_max(Sharing::Shared, 5, 8), 5);
    }

    /// Ranks of one of three hosts with four workers each.
    fn host(host: u32) -> Ranks {
        HostIndex { host, hosts: 3 }.ranks(4)
    }

    fn shifted(shift: i64) -> DataOf {
        DataOf { shift, ..DataOf::OWN }
    }

    #[test]
    fn hosts_continue_each_others_ranks() {
        let ranks: Vec<_> =
            (0..3).flat_map(|at| (0..4).map(move |worker| host(at).rank(worker))).collect();
        assert_eq!(ranks, (0..12).collect::<Vec<_>>());
        assert!((0..3).all(|at| host(at).ranks == 12 && host(at).host.host == at));
        for (at, file) in [(0, 5), (2, 1)] {
            let seat = host(at).seat(Sharing::Own, shifted(4), 12, 1);
            assert_eq!(seat.file, Some(file), "the data of the next host");
        }
        let alone = HostIndex::ALONE.ranks(12);
        for worker in 0..12 {
            for (sharing, files) in [(Sharing::Own, 5), (Sharing::Shared, 3)] {
                let seat = host(worker / 4).seat(sharing, shifted(-1), files, worker % 4);
                assert_eq!(seat, alone.seat(sharing, shifted(-1), files, worker), "as on one host");
            }
        }
    }

    #[test]
    fn dealt_blocks_cover_everything_once() {
        for seats in 1..5 {
            let mut offsets = Vec::new();
            for seat in 0..seats {
                let dealt = Seat::one_of(seat, seats).dealt(3);
                offsets.extend((0..6).map(|position| dealt.start() + dealt.offset(position)));
                assert_eq!(dealt.offset(5), dealt.offset_saturating(5));
            }
            offsets.sort_unstable();
            assert_eq!(offsets, (0..6 * seats).collect::<Vec<_>>());
        }
        assert_eq!(Seat::one_of(7, 8).dealt(u64::MAX).start(), u64::MAX);
    }

    /// `offset(rank, s, j) = s·n·block + rank·block + j·size`, for 10,000 ranks.
    #[test]
    fn ten_thousand_ranks_cover_a_file_exactly_once() {
        const RANKS: u64 = 10_000;
        const SIZE: u64 = 1 << 20;
        for (per_block, segments) in [(12, 1), (1, 12), (4, 3)] {
            let block = per_block * SIZE;
            let mut seen = vec![[false; 2]; (RANKS * per_block * segments) as usize];
            for rank in 0..RANKS {
                let seat = Seat::of(Sharing::Shared, rank, RANKS, 1);
                let (dealt, scattered) = (seat.dealt(block), seat.scattered(block, SIZE, 7));
                for (s, j) in (0..segments).flat_map(|s| (0..per_block).map(move |j| (s, j))) {
                    let position = s * block + j * SIZE;
                    let offset = dealt.start() + dealt.offset(position);
                    assert_eq!(offset, s * RANKS * block + rank * block + j * SIZE);
                    let anywhere = scattered.offset(position);
                    assert_eq!(anywhere / (RANKS * block), s, "within its segment");
                    for (way, at) in [offset, anywhere].into_iter().enumerate() {
                        let seen = &mut seen[(at / SIZE) as usize][way];
                        assert!(!std::mem::replace(seen, true), "{rank} {s} {j}");
                    }
                }
            }
            assert!(seen.iter().all(|ways| *ways == [true; 2]));
        }
    }

    #[test]
    fn slices_cover_everything_once() {
        for seats in 1..9 {
            let slices: Vec<_> =
                (0..seats).map(|seat| Seat::one_of(seat, seats).slice(100_000, 4096)).collect();
            let mut next = 0;
            for (start, length) in slices {
                assert_eq!(start, next);
                next = start + length;
            }
            assert_eq!(next, 100_000);
        }
    }
}
