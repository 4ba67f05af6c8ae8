//! Offsets of operations in a worker's files.
//!
//! Shares and patterns are kept once per size of files, not per file. Per file there is only the
//! state that its pattern needs, which may be none. Files of one size that take turns one by one
//! are always in the same state, which is then kept once.

use std::ops::Range;
use std::sync::Arc;

use candor_plan::blocks::{Access, Blocks, FileOrder, Position, Share, StayAt, Windows};
use candor_plan::permutation::{Permutation, mix};
use candor_plan::rank::Seat;
use candor_plan::units::{Direction, PerDirection, SizeSpec};

use super::pattern::{self, Pattern, Stretch};
use super::precondition::Progress;
use super::random_map::RandomMap;
use super::region::{Extent, Region};
use super::sizes::Sizes;
use candor_engine::random::Random;

/// Used parts of a job's files, equal ones once; shared by the workers.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// Parts that occur.
    pub extents: Arc<[Extent]>,
    /// Index of each file's part; empty where all files have the same.
    of: Arc<[u32]>,
}

impl Shapes {
    /// Shapes of files with those used parts.
    pub fn new(extents: impl Iterator<Item = Extent> + Clone) -> Shapes {
        let mut distinct: Vec<Extent> = extents.clone().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let index = |extent| distinct.binary_search(&extent).map_or(0, |index| index as u32);
        let of = if distinct.len() > 1 { extents.map(index).collect() } else { Vec::new() };
        Shapes { of: of.into(), extents: distinct.into() }
    }

    /// Index of a file's part.
    #[inline(always)]
    pub fn index(&self, file: u32) -> usize {
        if self.of.is_empty() { 0 } else { self.of[file as usize] as usize }
    }
}

/// Ways to choose the next offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetChoice {
    /// By the pattern.
    Pattern,
    /// Anywhere; the pattern does not advance.
    Jump,
    /// At the last operation of the same direction.
    Stay,
}

/// State of a stream of hits or misses that is used up.
const USED_UP: u64 = u64::MAX;

/// The hits or the misses of a file: place of their state, the bytes from and to which they go, and
/// the hole after each operation.
struct Lane {
    number: usize,
    from: u64,
    to: u64,
    hole: u64,
}

/// Offset in the file, and length.
pub type Spot = (u64, u32);

/// Share and pattern for files of one size.
struct Class {
    region: Region,
    pattern: Pattern,
}

/// Offsets of one worker.
pub struct Offsets {
    classes: Box<[Class]>,
    shapes: Shapes,
    own: Range<u32>,
    sizes: PerDirection<Sizes>,
    jump_sizes: PerDirection<Sizes>,
    align: PerDirection<u64>,
    /// State of the patterns: a number per file, and per direction where `lanes` is 3; of hits and
    /// misses where it is 2.
    state: Box<[u64]>,
    lanes: usize,
    /// True where all files share one state; the last file advances it.
    in_step: bool,
    /// Start and end of the last operation, per file and direction; empty where no operation stays.
    last: Box<[(u64, u64)]>,
    stay_at: StayAt,
    maps: Box<[RandomMap]>,
    /// Progress of each file's preconditioning; empty for other patterns.
    progress: Box<[Progress]>,
    /// Bytes per block of the maps.
    grain: u64,
    windows: Option<Windows>,
    /// Index of each file's window.
    window_of: Box<[u64]>,
    window_bytes: u64,
    seed: u64,
    pass: u64,
}

impl Offsets {
    /// Offsets of a worker in its files. The order within segments is that of `segments_key`, which
    /// all workers and phases share.
    pub fn new(
        blocks: &Blocks,
        shapes: &Shapes,
        own: Range<u32>,
        rank: Seat,
        seed: u64,
        segments_key: u64,
    ) -> Offsets {
        let mapped = needs_map(blocks);
        let class = |extent: &Extent| {
            let region = Region::new(blocks, *extent, rank).in_order_of(segments_key);
            let pattern = match shuffled_blocks(blocks, rank, segments_key) {
                Some(shuffled) => shuffled,
                None => Pattern::new(blocks, &region, mapped, seed),
            };
            Class { region, pattern }
        };
        let classes: Box<[Class]> = shapes.extents.iter().map(class).collect();
        let count = own.len();
        let has_state = classes.iter().any(|class| class.pattern.has_state());
        let apart = blocks.position == Position::PerDirection && !blocks.access.is_random();
        let lanes = match blocks.access {
            Access::HitArea { .. } => 2,
            _ if apart => Direction::ALL.len(),
            _ => 1,
        };
        let in_step = count > 1 && in_step(blocks, classes.len());
        let kept = if in_step { 1 } else { count };
        let stays = !blocks.stay.is_never();
        let grain = blocks.smallest().0;
        let map = |file: u32| RandomMap::new(classes[shapes.index(file)].region.length() / grain);
        let maps = if mapped { own.clone().map(map).collect() } else { Box::default() };
        let progress = |file: u32| classes[shapes.index(file)].pattern.progress();
        let progress = own.clone().filter_map(progress).collect();
        let (sizes, align) = (sizes(blocks), |op| blocks.alignment(op).0);
        let jumps = blocks.jump_size.as_ref().map(Sizes::new);
        Offsets {
            jump_sizes: jumps.map_or_else(|| sizes.clone(), PerDirection::all),
            sizes,
            align: PerDirection {
                read: align(Direction::Read),
                write: align(Direction::Write),
                trim: align(Direction::Trim),
            },
            state: vec![0; if has_state { kept * lanes } else { 0 }].into(),
            lanes,
            in_step,
            last: vec![(0, 0); if stays { count * Direction::ALL.len() } else { 0 }].into(),
            stay_at: blocks.stay.at,
            maps,
            progress,
            grain,
            windows: blocks.windows,
            window_of: vec![0; if blocks.windows.is_some() { count } else { 0 }].into(),
            window_bytes: 0,
            seed,
            pass: 0,
            classes,
            shapes: shapes.clone(),
            own,
        }
    }

    /// Number of the worker's files.
    pub fn files(&self) -> usize {
        self.own.len()
    }

    /// Number of states that are kept.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.state.len()
    }

    /// Number that a worker's file has in the job.
    #[inline(always)]
    pub fn file(&self, index: usize) -> u32 {
        self.own.start + index as u32
    }

    /// Bytes of the worker's share of a file.
    pub fn length(&self, index: usize) -> u64 {
        self.classes[self.shapes.index(self.file(index))].region.length()
    }

    /// Start of the only share, where it is one piece of the only file.
    pub fn contiguous(&self) -> Option<u64> {
        (self.own.len() == 1).then(|| self.class(0).region.contiguous()).flatten()
    }

    /// Number of offsets for operations of that length, in the only file.
    pub fn positions(&self, length: u32, op: Direction) -> u64 {
        self.length(0).saturating_sub(u64::from(length)) / self.align.of(op) + 1
    }

    /// Number of which a direction's offsets are multiples.
    pub fn align(&self, op: Direction) -> u64 {
        *self.align.of(op)
    }

    #[inline(always)]
    fn class(&self, index: usize) -> &Class {
        &self.classes[self.shapes.index(self.file(index))]
    }

    /// Next offset in a file; none when a pass has used the file up.
    #[inline(always)]
    pub fn next(
        &mut self,
        index: usize,
        op: Direction,
        choice: OffsetChoice,
        random: &mut Random,
    ) -> Option<Spot> {
        if self.windows.is_some() || !self.last.is_empty() || !self.maps.is_empty() {
            return self.next_special(index, op, choice, random);
        }
        let length = self.class(index).region.length();
        let stretch = Stretch { from: 0, to: length, key: 0 };
        let (position, length) = match choice {
            OffsetChoice::Pattern => self.by_pattern(index, op, stretch, random)?,
            _ => self.jump(index, op, stretch, random)?,
        };
        Some((self.class(index).region.offset(position), length))
    }

    /// Next offset with windows, stays or maps.
    fn next_special(
        &mut self,
        index: usize,
        op: Direction,
        choice: OffsetChoice,
        random: &mut Random,
    ) -> Option<Spot> {
        let stretch = self.stretch(index)?;
        let stayed =
            (choice == OffsetChoice::Stay).then(|| self.stay(index, op, stretch, random)).flatten();
        let spot = match choice {
            OffsetChoice::Jump => self.jump(index, op, stretch, random),
            _ => stayed.or_else(|| self.by_pattern(index, op, stretch, random)),
        };
        let (position, length) = spot.or_else(|| {
            // A window that gets more than one pass starts over by itself.
            let whole = self.windows.is_some_and(|w| w.length.0 == stretch.to - stretch.from);
            if !whole {
                return None;
            }
            self.forget(index);
            self.by_pattern(index, op, stretch, random)
        })?;
        let end = position + u64::from(length);
        self.window_bytes += u64::from(length);
        if let Some(last) = self.last.get_mut(index * Direction::ALL.len() + op as usize) {
            *last = (position, end);
        }
        Some((self.class(index).region.offset(position), length))
    }

    /// Part of a file's share that is in use now; none behind the end of the share.
    fn stretch(&mut self, index: usize) -> Option<Stretch> {
        let end = self.class(index).region.length();
        let Some(windows) = self.windows else {
            return Some(Stretch { from: 0, to: end, key: 0 });
        };
        if self.window_bytes >= windows.bytes.0 {
            self.window_bytes = 0;
            self.window_of[index] += 1;
            self.state_of(index).fill(0);
        }
        let number = self.window_of[index];
        let from = number.saturating_mul(windows.length.0.saturating_add(windows.gap.0));
        let to = from.saturating_add(windows.length.0).min(end);
        (from < to).then_some(Stretch { from, to, key: number })
    }

    #[inline(always)]
    fn by_pattern(
        &mut self,
        index: usize,
        op: Direction,
        stretch: Stretch,
        random: &mut Random,
    ) -> Option<Spot> {
        let lane = if self.lanes == Direction::ALL.len() { op as usize } else { 0 };
        let class = &self.classes[self.shapes.index(self.file(index))];
        let sizes = self.sizes.of(op);
        if class.pattern.is_sequential() {
            let kept = if self.in_step { 0 } else { index };
            let state = &mut self.state[kept * self.lanes + lane];
            let before = *state;
            let spot = class.pattern.follow(state, stretch, |room| sizes.fit(room, random));
            if self.in_step && index + 1 < self.own.len() && spot.is_some() {
                *state = before;
            }
            return spot;
        }
        match class.pattern {
            Pattern::Once | Pattern::OncePerBlock(_) | Pattern::Listed(_) => {
                self.counted(index, op, stretch, random)
            }
            Pattern::Mapped => self.by_map(index, op, stretch, random),
            Pattern::HitArea { bytes, hit_percent, hole } => {
                let is_hit = random.unit() * 100.0 < *hit_percent.of(op);
                let (from, to) = if is_hit { (0, bytes) } else { (bytes, stretch.to) };
                self.ascend(
                    index,
                    op,
                    &Lane { number: usize::from(is_hit), from, to, hole },
                    random,
                )
            }
            Pattern::Precondition(_) => self.precondition(index, op, stretch, random),
            _ => self.draw(index, op, stretch, random),
        }
    }

    /// A position that follows from how many were given.
    fn counted(
        &mut self,
        index: usize,
        op: Direction,
        at: Stretch,
        random: &mut Random,
    ) -> Option<Spot> {
        let (length, step, positions) = self.drawn(index, op, at, random)?;
        let key = mix(mix(self.seed, self.pass ^ at.key << 32), u64::from(self.file(index)));
        let kept = if self.in_step { 0 } else { index };
        let class = &self.classes[self.shapes.index(self.file(index))];
        let state = &mut self.state[kept];
        let before = *state;
        let number = match &class.pattern {
            Pattern::Listed(list) => list.next(state, positions)?,
            Pattern::OncePerBlock(order) => pattern::once_per_block(state, positions, order)?,
            _ => pattern::once(state, positions, key)?,
        };
        if self.in_step && index + 1 < self.own.len() {
            *state = before;
        }
        Some((at.from + number * step, length))
    }

    /// The next operation of the hits or of the misses; none where these are used up.
    fn ascend(
        &mut self,
        index: usize,
        op: Direction,
        lane: &Lane,
        random: &mut Random,
    ) -> Option<Spot> {
        let state = &mut self.state[index * self.lanes + lane.number];
        let position = lane.from.saturating_add(*state);
        let length = self.sizes.of(op).fit(lane.to.saturating_sub(position), random);
        // A stream that is used up is the one that starts over.
        *state = length.map_or(USED_UP, |length| {
            (*state + u64::from(length)).saturating_add(lane.hole).min(USED_UP - 1)
        });
        Some((position, length?))
    }

    /// The next block of a preconditioning pass.
    fn precondition(
        &mut self,
        index: usize,
        op: Direction,
        at: Stretch,
        random: &mut Random,
    ) -> Option<Spot> {
        let (length, step, positions) = self.drawn(index, op, at, random)?;
        let key = mix(mix(self.seed, self.pass), u64::from(self.file(index)));
        let class = &self.classes[self.shapes.index(self.file(index))];
        let Pattern::Precondition(pass) = &class.pattern else { return None };
        let block = pass.next(&mut self.progress[index], positions, key, random)?;
        Some((at.from + block * step, length))
    }

    fn draw(&self, index: usize, op: Direction, at: Stretch, random: &mut Random) -> Option<Spot> {
        let (length, step, positions) = self.drawn(index, op, at, random)?;
        Some((at.from + self.class(index).pattern.index(positions, op, random) * step, length))
    }

    fn jump(&self, index: usize, op: Direction, at: Stretch, random: &mut Random) -> Option<Spot> {
        let (length, step, positions) = self.drawn(index, op, at, random)?;
        Some((at.from + random.below(positions) * step, length))
    }

    /// Length of an operation that fits into a stretch, and the distance and number of the
    /// positions that it may have there.
    #[inline(always)]
    fn drawn(
        &self,
        index: usize,
        op: Direction,
        at: Stretch,
        random: &mut Random,
    ) -> Option<(u32, u64, u64)> {
        let length = self.jump_sizes.of(op).fit(at.to - at.from, random)?;
        let step = self.class(index).region.step(length, self.align(op));
        Some((length, step, (at.to - at.from - u64::from(length)) / step + 1))
    }

    /// A random free block, or the next free one behind it, extended over free blocks.
    fn by_map(
        &mut self,
        index: usize,
        op: Direction,
        at: Stretch,
        random: &mut Random,
    ) -> Option<Spot> {
        let (map, align) = (&self.maps[index], (self.align(op) / self.grain).max(1));
        let (first, end) = (at.from.div_ceil(self.grain), (at.to / self.grain).min(map.blocks()));
        let find = |from: u64, to: u64| {
            let mut block = map.next_free(from)?;
            while block < to && !(block - first).is_multiple_of(align) {
                block = map.next_free(first + (block - first).next_multiple_of(align))?;
            }
            (block < to).then_some(block)
        };
        let starts = (end.saturating_sub(first)) / align;
        let from = first + random.below(starts) * align;
        let block = find(from, end).or_else(|| find(first, end))?;
        let position = block * self.grain;
        let length = self.jump_sizes.of(op).fit(at.to - position, random)?;
        let last = (position + u64::from(length)).div_ceil(self.grain);
        let last = map.next_used(block, last);
        let free = (last - block) * self.grain;
        self.maps[index].mark(block, last);
        Some((position, length.min(u32::try_from(free).unwrap_or(length))))
    }

    /// Offset of the last operation of that direction; none where there is no room left.
    fn stay(
        &mut self,
        index: usize,
        op: Direction,
        at: Stretch,
        random: &mut Random,
    ) -> Option<Spot> {
        let (start, end) = self.last[index * Direction::ALL.len() + op as usize];
        let position = match self.stay_at {
            StayAt::Start => start,
            StayAt::End => end,
        };
        let position = position.max(at.from);
        let length = self.sizes.of(op).fit(at.to.checked_sub(position)?, random)?;
        Some((position, length))
    }

    /// Returns bytes of a file that were drawn but not used.
    pub fn give_back(&mut self, file: u32, bytes: Range<u64>) {
        let index = self.index(file);
        let start = self.class(index).region.start();
        let block = |at: u64| at.saturating_sub(start).div_ceil(self.grain);
        let (from, to) = (block(bytes.start), block(bytes.end));
        if let Some(map) = self.maps.get_mut(index) {
            map.free(from, to);
        }
    }

    fn index(&self, file: u32) -> usize {
        (file - self.own.start) as usize
    }

    /// Continues a sequential access at that byte of a file, of which the share is one piece.
    pub fn continue_at(&mut self, file: u32, op: Direction, offset: u64) {
        let index = self.index(file);
        let position = offset.saturating_sub(self.class(index).region.start());
        let lane = if self.lanes > 1 { op as usize } else { 0 };
        if let Some(state) = self.state_of(index).get_mut(lane) {
            *state = position;
        }
    }

    fn state_of(&mut self, index: usize) -> &mut [u64] {
        let kept = if self.in_step { 0 } else { index };
        let (from, to) = (kept * self.lanes, (kept + 1) * self.lanes);
        let end = self.state.len();
        &mut self.state[from.min(end)..to.min(end)]
    }

    /// Starts a direction over in a file, together with all others that share its position.
    pub fn restart_direction(&mut self, index: usize, op: Direction) {
        if matches!(self.class(index).pattern, Pattern::HitArea { .. }) {
            let used_up = self.state_of(index).iter_mut().filter(|state| **state == USED_UP);
            used_up.for_each(|state| *state = 0);
        } else if self.lanes > 1 {
            self.state_of(index)[op as usize] = 0;
        } else {
            self.restart_file(index);
        }
    }

    /// Starts a file over.
    pub fn restart_file(&mut self, index: usize) {
        self.pass += 1;
        self.forget(index);
        if let Some(window) = self.window_of.get_mut(index) {
            *window = 0;
            self.window_bytes = 0;
        }
    }

    fn forget(&mut self, index: usize) {
        self.state_of(index).fill(0);
        if let Some(map) = self.maps.get_mut(index) {
            map.clear();
        }
        let fresh = self.class(index).pattern.progress();
        if let Some((progress, fresh)) = self.progress.get_mut(index).zip(fresh) {
            *progress = fresh;
        }
    }

    /// Starts all files over.
    pub fn restart(&mut self) {
        self.pass += 1;
        (0..self.files()).for_each(|index| self.forget(index));
        self.window_of.fill(0);
        self.window_bytes = 0;
        self.last.fill((0, 0));
    }
}

/// Lengths of operations, per direction.
fn sizes(blocks: &Blocks) -> PerDirection<Sizes> {
    let cut = |sizes: &SizeSpec, unit: Option<u64>| {
        let whole = Sizes::new(sizes);
        match unit.or(blocks.short_last.then_some(1)) {
            Some(unit) => Sizes::Cut { whole: Box::new(whole), unit },
            None => whole,
        }
    };
    PerDirection {
        read: cut(&blocks.size.read, None),
        write: cut(&blocks.size.write, blocks.short_write_unit()),
        trim: Sizes::new(&blocks.size.trim),
    }
}

/// Length of all operations, where they have the same.
pub fn fixed_size(blocks: &Blocks) -> Option<u32> {
    let used = blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0).map(|(_, size)| size);
    let mut used = used.chain(&blocks.jump_size);
    let SizeSpec::Fixed(first) = used.next()? else { return None };
    used.all(|size| *size == SizeSpec::Fixed(*first)).then(|| u32::try_from(first.0).ok())?
}

/// Pattern of a permutation within segments: it is the same for whoever works on the same data.
fn shuffled_blocks(blocks: &Blocks, rank: Seat, key: u64) -> Option<Pattern> {
    let Share::Segments { block, .. } = blocks.share else { return None };
    let length = fixed_size(blocks).filter(|_| blocks.access == Access::Permutation)?;
    let key = mix(mix(key, rank.file.unwrap_or(0)), rank.seat);
    let transfers = block.0 / u64::from(length.max(1));
    Some(Pattern::OncePerBlock(Permutation::new(transfers, key)))
}

/// True where a permutation needs a map of blocks, because operations differ in length. Operations
/// that stay at the last one use neither.
fn needs_map(blocks: &Blocks) -> bool {
    blocks.access == Access::Permutation && fixed_size(blocks).is_none()
}

/// True where files that take turns are always in the same state.
fn in_step(blocks: &Blocks, classes: usize) -> bool {
    let rotation = &blocks.rotation;
    let in_turn = rotation.order == FileOrder::RoundRobin && rotation.every <= 1;
    let alike = classes == 1 && fixed_size(blocks).is_some() && rotation.at_once.is_none();
    let one_way = Direction::ALL.into_iter().any(|op| blocks.mix.of(op) == 100);
    let alone = blocks.position == Position::Shared || one_way;
    let plain = blocks.windows.is_none() && blocks.zones.is_none();
    let plain = plain && !matches!(blocks.access, Access::HitArea { .. });
    let plain = plain && blocks.random_percent.iter().all(|(_, p)| *p == 0);
    // A sync in place of an operation leaves a file behind the others.
    in_turn && alike && alone && plain && !blocks.pairs && !blocks.durability.in_turn
}
