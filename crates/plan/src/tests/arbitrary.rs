//! Arbitrary plans for tests, made from the bytes that a property test draws.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::Tree;
use crate::blocks::*;
use crate::entries::{
    Division, Entries, EntriesEngine, HostPart, Loader, Over, Select, Step, Take, VerifyItems,
    Visit, Weighted, Window,
};
use crate::listing::Deal;
use crate::tree::Spread;
use crate::units::{Direction, Extent, Mix, PerDirection, SizeSpec};
use crate::*;

/// A source of choices: the same bytes give the same plan, no bytes the simplest one.
pub struct Arbitrary<'b>(pub std::slice::Iter<'b, u8>);

impl Arbitrary<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn yes(&mut self) -> bool {
        self.byte() % 3 == 1
    }

    fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.yes() { Some(make(self)) } else { None }
    }

    fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.byte() % 4;
        (0..length).map(|_| make(self)).collect()
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()].clone()
    }

    /// Numbers of all magnitudes, with a liking for the edges.
    fn number(&mut self) -> u64 {
        let byte = u64::from(self.byte());
        match self.byte() % 6 {
            0 => byte,
            1 => byte << 9,
            2 => byte.wrapping_mul(0x0101_0101_0101_0101),
            3 => u64::MAX - byte,
            4 => 1 << (byte % 64),
            _ => byte.wrapping_mul(1_000_000_007),
        }
    }

    fn count(&mut self) -> u32 {
        self.number() as u32
    }

    /// A finite number.
    fn float(&mut self) -> f64 {
        let (number, divisor) = (self.number() as f64, f64::from(self.byte()) + 0.1);
        if self.yes() { -number / divisor } else { number / divisor }
    }

    fn text(&mut self) -> String {
        let words = ["", "disk", "a b", "tab\t", "new\nline", "\"q\"", "it's", "µ→", "[x].y", "\\"];
        self.pick(&words).to_owned()
    }

    fn bytes(&mut self) -> Bytes {
        Bytes(self.number())
    }

    fn nanos(&mut self) -> Nanos {
        Nanos(self.number())
    }

    fn extent(&mut self) -> Extent {
        match self.byte() % 2 {
            0 => Extent::Bytes(self.bytes()),
            _ => Extent::Percent(f64::from(self.byte()) / 255.0 * 100.0),
        }
    }

    pub fn size(&mut self) -> SizeSpec {
        match self.byte() % 4 {
            0 => SizeSpec::Fixed(self.bytes()),
            1 => SizeSpec::Range(self.bytes(), self.bytes()),
            2 => SizeSpec::Stepped(self.bytes(), self.bytes(), self.bytes()),
            _ => {
                let mut list = self.list(|d| (d.bytes(), d.byte() % 101));
                list.push((self.bytes(), self.byte() % 101));
                SizeSpec::Weighted(list)
            }
        }
    }

    pub fn mix(&mut self) -> Mix {
        let read = self.byte() % 101;
        let write = self.byte() % (101 - read);
        Mix { read, write, trim: 100 - read - write }
    }

    fn per_op<T: Clone>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> PerDirection<T> {
        let mut all = PerDirection::all(make(self));
        for op in Direction::ALL {
            if self.yes() {
                *all.of_mut(op) = make(self);
            }
        }
        all
    }

    pub fn plan(&mut self) -> Plan {
        Plan {
            version: PLAN_VERSION,
            name: self.text(),
            seed: self.number(),
            hosts: self.count(),
            hosts_apart: self.yes(),
            repeats: self.count(),
            occupy_memory: self.option(Self::extent),
            targets: self.list(Self::target),
            phases: self.list(Self::phase),
        }
    }

    fn target(&mut self) -> Target {
        use TargetKind as Kind;
        Target {
            name: self.text(),
            path: PathBuf::from(self.text()),
            kind: self.pick(&[Kind::Auto, Kind::File, Kind::FileSet, Kind::Device, Kind::Null]),
            size: self.option(Self::bytes),
            size_percent: self.option(|d| (d.count() % 100) as u8),
            files: self.count(),
            file_name: self.option(|d| FileName::joined([d.text(), d.text()])),
            first_file: self.count(),
            members: self.list(|d| Member { name: d.text(), size: d.option(Self::bytes) }),
            layout: self.pick(&[Layout::Write, Layout::Allocate, Layout::Reserve, Layout::Never]),
            create: self.pick(&[Create::Nothing, Create::Files, Create::Parents]),
            append: self.yes(),
            keep: self.yes(),
            remove: self.yes(),
            overwrite: self.yes(),
            scheduler: self.option(Self::text),
            tree: self.option(|d| Tree {
                depth: d.count(),
                width: d.count(),
                items: d.number(),
                items_per_rank: d.yes(),
                tree_shift: d.count().into(),
                spread: d.pick(&[Spread::Subtrees, Spread::Ranks, Spread::Copies]),
                first_rank: d.count().into(),
                first_number: d.count().into(),
                leaves_only: d.yes(),
                root_is_bare: d.yes(),
                per_rank: d.yes(),
                shared_root: d.yes(),
                items_across: d.yes(),
                file_size: d.size(),
                root_name: d.option(|d| d.pick(&["r{rank}", "t"]).parse().expect("a name")),
                directory_name: d
                    .option(|d| d.pick(&["d{child}", "{directory:04}"]).parse().expect("a name")),
                item_name: d.option(|d| {
                    d.pick(&["{{{item}", "r{rank}-f{number}"]).parse().expect("a name")
                }),
            }),
            listing: self.option(|d| Listing {
                file: d.option(|d| d.text().into()),
                share_above: d.option(Self::bytes),
                round_up: d.bytes(),
                deal: d.pick(&[Deal::ByBytes, Deal::InTurn]),
                shuffled: d.yes(),
            }),
        }
    }

    fn phase(&mut self) -> Phase {
        Phase {
            name: self.text(),
            stop: self.stop(),
            ramp: self.nanos(),
            ramp_amount: self.option(|d| RampAmount { bytes: d.bytes(), together: d.yes() }),
            delay: self.nanos(),
            interval: self.nanos(),
            repeats: self.count(),
            on_failure: self.pick(&[OnFailure::EndRun, OnFailure::EndJob]),
            jobs: self.list(Self::job),
        }
    }

    fn stop(&mut self) -> Stop {
        Stop {
            time: self.option(Self::nanos),
            bytes: self.option(Self::bytes),
            ops: self.option(Self::number),
            passes: self.option(Self::count),
            at_least: self.option(Self::extent),
            min_time: self.option(Self::nanos),
            steady: self.option(|d| {
                if d.yes() {
                    Steady::Snia { window: d.nanos(), windows: d.count() }
                } else {
                    Steady::Agree { window: d.nanos(), windows: d.count(), percent: d.float() }
                }
            }),
            until_full: self.yes(),
            continue_on_error: self.yes(),
            tolerate: self
                .list(|d| Tolerated { op: d.pick(&Direction::ALL), errno: d.byte().into() }),
            latency_max: PerDirection::all(self.nanos()),
            stonewall: self.pick(&[Stonewall::Cut, Stonewall::WearOut]),
        }
    }

    fn job(&mut self) -> Job {
        Job {
            name: self.text(),
            workers: self.count(),
            targets: self.list(Self::text),
            sharing: self.pick(&[Sharing::Shared, Sharing::Own]),
            rank_shift: self.number() as i64,
            rank_order: if self.yes() {
                RankOrder::Random {
                    seed: self.number(),
                    distance: self.number(),
                    repeats: self.yes(),
                }
            } else {
                RankOrder::InOrder
            },
            wants_cache: self.yes(),
            allows_cache: self.yes(),
            placement: Placement {
                cpus: self.list(Self::count),
                split: self.yes(),
                numa_node: self.option(Self::count),
            },
            threads: Threads {
                name: self.option(Self::text),
                nice: self.option(|d| d.byte() as i8),
                io_priority: self.option(Self::io_priority),
                memory: self.option(|d| MemoryPolicy::Bind(d.list(Self::count))),
                user: self.option(Self::count),
                group: self.option(Self::count),
                control_group: self.option(|d| ControlGroup {
                    name: d.text(),
                    weight: d.option(Self::count),
                    keep: d.yes(),
                }),
            },
            delay: self.nanos(),
            after: self.list(Self::text),
            prepare_only: self.yes(),
            only_on: self.option(Self::count),
            part: self.option(|d| RankPart { first: d.number(), of: d.number() }),
            background: self.yes(),
            on_done: self.pick(&[
                OnDone::GoOn,
                OnDone::EndPhase,
                OnDone::EndRun,
                OnDone::EndRunByTime,
            ]),
            hooks: Hooks { before: self.option(Self::hook), after: self.option(Self::hook) },
            operations_log: self.option(|d| OperationsLog {
                file: d.text().into(),
                lock: d.yes(),
                calls: d.yes(),
            }),
            stop: self.option(Self::stop),
            work: self.work(),
        }
    }

    fn work(&mut self) -> Work {
        match self.byte() % 5 {
            0 => self.blocks().into(),
            1 => self.entries().into(),
            2 => Work::Program(self.program()),
            3 => self.memory().into(),
            _ => Work::Burn(Burn { chunk: self.nanos(), rest: self.nanos(), sort: self.yes() }),
        }
    }

    fn memory(&mut self) -> Memory {
        let all =
            [MemoryAccess::Load, MemoryAccess::Store, MemoryAccess::Copy, MemoryAccess::Chase];
        Memory {
            access: self.pick(&all),
            size: self.bytes(),
            piece: self.bytes(),
            huge_pages: self.yes(),
        }
    }

    fn engine(&mut self) -> Engine {
        match self.pick(&Engine::ALL) {
            Engine::Pvsync(_) => Engine::Pvsync(Pvsync {
                hipri: self.yes(),
                hipri_percent: self.option(Self::byte),
                flags: self.call_flags(),
            }),
            Engine::Libaio(_) => {
                Engine::Libaio(Libaio { vectored: self.yes(), flags: self.call_flags() })
            }
            Engine::IoUring(_) => Engine::IoUring(self.uring()),
            Engine::Mmap(_) => Engine::Mmap(Mmap { drop: self.yes() }),
            Engine::UringCmd(_) => Engine::UringCmd(UringCmd {
                fua_reads: self.yes(),
                fua_writes: self.yes(),
                trim_ranges: self.count(),
                write: self.pick(&[NvmeWrite::Write, NvmeWrite::Zeroes, NvmeWrite::Verify]),
                deallocate: self.yes(),
                protection: Protection {
                    made_by_host: self.yes(),
                    check_guard: self.yes(),
                    tag: u16::from(self.byte()),
                    ..Protection::DEFAULT
                },
                metadata_bytes: self.option(Self::bytes),
                ..UringCmd::DEFAULT.with_ring(self.uring().ring())
            }),
            Engine::Sg(_) => Engine::Sg(Sg {
                fua_reads: self.yes(),
                fua_writes: self.yes(),
                hipri: self.yes(),
                write: self.pick(&[ScsiWrite::Write, ScsiWrite::WriteSame, ScsiWrite::Stream]),
                stream: self.byte().into(),
            }),
            other => other,
        }
    }

    fn hook(&mut self) -> Hook {
        Hook { command: self.text(), output: self.option(Self::text), may_fail: self.yes() }
    }

    fn entries(&mut self) -> Entries {
        Entries {
            over: self.pick(&[Over::Items, Over::Directories, Over::TargetFiles]),
            steps: self.list(|d| d.pick(&[Step::Mkdir, Step::Read, Step::Stat, Step::Symlink])),
            mix: self.list(|d| Weighted { weight: d.count(), steps: vec![Step::Stat] }),
            select: self.pick(&[Select::Sequential, Select::Shuffled, Select::Random]),
            division: self.pick(&[Division::Own, Division::First, Division::Every]),
            first: self.option(Self::number),
            as_reached: self.yes(),
            window: self.option(|d| Window {
                start: d.count().into(),
                enter: d.list(|d| d.pick(&[Step::Create, Step::Close])),
                rank_step: d.count(),
            }),
            idempotent: self.yes(),
            with_roots: self.yes(),
            roots_apart: self.yes(),
            rename_chain: self.yes(),
            size: self.option(Self::bytes),
            size_mix: self.option(Self::size),
            access: self.access(),
            align: self.option(Self::bytes),
            read_percent: self.byte(),
            read_by_chance: self.yes(),
            visit: self.option(|d| {
                if d.yes() { Visit::Operations(d.number()) } else { Visit::Percent(d.number()) }
            }),
            take: self.option(Self::take),
            direct: self.yes(),
            evict: self.yes(),
            open_sync: self.pick(&[OpenSync::None, OpenSync::Dsync, OpenSync::Sync]),
            truncate_at_open: self.yes(),
            lock: self.pick(&[Lock::None, Lock::PosixRange]),
            advice: Pieces(self.list(|d| d.pick(&[Advice::Random, Advice::Dontneed]))),
            map_advice: self.option(|d| Pieces(d.list(|_| MapAdvice::Random))),
            depth: self.count(),
            items_at_once: self.option(Self::count),
            engine: self.option(|d| d.pick(&EntriesEngine::ALL)),
            pace: self.pace(),
            paced_steps: self.list(|d| d.pick(&[Step::Read, Step::Stat])),
            content: self.content(),
            verify: self.option(|d| VerifyItems {
                interval: d.bytes(),
                format: d.pick(&[Format::Own, Format::Pattern]),
                continue_on_mismatch: d.yes(),
                read_back: d.yes(),
                generations: d.yes(),
                read_before_write: d.yes(),
                mismatches_max: d.option(Self::number),
                times: d.yes(),
                journal: d.option(Self::journal),
                journal_to: d.option(Self::journal),
                seed: d.option(Self::number),
            }),
            on_alias: self.yes(),
            syncfs_at_end: self.yes(),
            loader: self.option(|d| Loader {
                batch: d.count(),
                prefetch: d.count(),
                compute: d.nanos(),
            }),
        }
    }

    fn journal(&mut self) -> Journal {
        Journal {
            directory: PathBuf::from(self.text()),
            log: self.pick(&[JournalLog::Flushed, JournalLog::Unflushed, JournalLog::Nothing]),
            recover: self.yes(),
            ignore_pending: self.yes(),
        }
    }

    fn take(&mut self) -> Take {
        Take {
            absent: self.list(|d| d.pick(&[Step::Create, Step::Close])),
            short: self.option(|d| d.list(|_| Step::Stat)),
            concurrent: self.yes(),
            once: self.yes(),
            parts: self.list(Self::bytes),
            to: self.option(Self::text),
            host_part: self.option(|d| HostPart { number: d.byte().into(), of: d.byte().into() }),
        }
    }

    fn access(&mut self) -> Access {
        match self.byte() % 14 {
            0 => Access::Sequential,
            1 => Access::Backward,
            2 => Access::Holes { hole: self.bytes() },
            3 => Access::Random,
            4 => Access::Permutation,
            5 => Access::Zipf { theta: self.float(), center_percent: self.option(Self::float) },
            6 => Access::Pareto { h: self.float(), center_percent: self.option(Self::float) },
            7 => Access::Normal {
                deviation_percent: self.float(),
                center_percent: self.option(Self::float),
            },
            8 => Access::Zoned {
                zones: self
                    .per_op(|d| d.list(|d| Zone { access_percent: d.float(), size: d.extent() })),
            },
            9 => Access::Back { step: self.bytes() },
            13 => Access::HitArea {
                bytes: self.bytes(),
                hit_percent: self.per_op(Self::float),
                hole: self.bytes(),
            },
            10 => Access::HotBand {
                hit_percent: self.float(),
                start_percent: self.float(),
                length_percent: self.float(),
            },
            11 => Access::List { blocks: self.list(Self::number), advances: self.yes() },
            12 => Access::Precondition {
                regions: self.count(),
                spare_percent: self.float(),
                rewrites_last: self.yes(),
            },
            _ => Access::Trace(TraceFile::named(self.text())),
        }
    }

    fn share(&mut self) -> Share {
        match self.byte() % 5 {
            0 => Share::Whole,
            1 => Share::Slice,
            2 => Share::Interleave,
            3 => Share::Span,
            _ => Share::Segments {
                block: self.bytes(),
                count: self.count(),
                deal: self.pick(&[SegmentDeal::ByRank, SegmentDeal::Scattered]),
            },
        }
    }

    fn rotation(&mut self) -> Rotation {
        let theta = self.float();
        let orders = [FileOrder::RoundRobin, FileOrder::Sequential, FileOrder::Zipf { theta }];
        Rotation {
            order: self.pick(&orders),
            every: self.count(),
            at_once: self.option(Self::count),
        }
    }

    fn windows(&mut self) -> Windows {
        Windows { length: self.bytes(), bytes: self.bytes(), gap: self.bytes() }
    }

    fn zones(&mut self) -> Zones {
        Zones {
            length: self.option(Self::bytes),
            capacity: self.option(Self::bytes),
            gap: self.bytes(),
            open_max: self.option(Self::count),
            open_max_per_worker: self.option(Self::count),
            read_unwritten: self.yes(),
            short_writes: self.yes(),
            recover_pointers: self.yes(),
            reset: self.option(|d| ZoneReset { above_percent: d.float(), every: d.count() }),
        }
    }

    pub fn blocks(&mut self) -> Blocks {
        Blocks {
            mix: self.mix(),
            mix_by_number: self.yes(),
            pairs: self.yes(),
            access: self.access(),
            position: self.pick(&[Position::Shared, Position::PerDirection]),
            random_percent: self.per_op(Self::byte),
            stay: Stay {
                percent: self.per_op(Self::byte),
                run: self.count(),
                at: self.pick(&[StayAt::End, StayAt::Start]),
            },
            windows: self.option(Self::windows),
            zones: self.option(Self::zones),
            rotation: self.rotation(),
            size: self.per_op(Self::size),
            jump_size: self.option(Self::size),
            align: self.option(|d| d.per_op(Self::bytes)),
            short_last: self.yes(),
            range: Range {
                start: self.extent(),
                start_align: self.option(Self::bytes),
                length: self.option(Self::extent),
            },
            share: self.share(),
            depth: self.count(),
            batch_submit: self.option(Self::count),
            batch_reap: self.count(),
            batch_reap_max: self.option(Self::count),
            depth_low: self.option(Self::count),
            serialize_overlap: self.yes(),
            lock: self.pick(&[Lock::None, Lock::Exclusive, Lock::ReadWrite, Lock::PosixFile]),
            truncate_at_open: self.yes(),
            opening: self.pick(&[Opening::Before, Opening::InPhase, Opening::InStages]),
            engine: self.engine(),
            priorities: self.list(|d| PriorityShare {
                op: d.pick(&[Direction::Read, Direction::Write]),
                size: d.option(Self::bytes),
                percent: d.byte(),
                priority: d.io_priority(),
            }),
            buffers: self.buffers(),
            direct: self.yes(),
            durability: self.durability(),
            hints: Hints {
                evict: self.yes(),
                invalidate: self.yes(),
                pre_read: self.yes(),
                advice: Pieces(self.list(|d| d.pick(&[Advice::Random, Advice::Willneed]))),
                map_advice: self.option(|d| Pieces(d.list(|_| MapAdvice::Hugepage))),
                huge_pages: self.option(Self::yes),
                write_life: self.option(|d| d.pick(&[WriteLife::None, WriteLife::Extreme])),
            },
            pace: self.pace(),
            measure: Measure {
                submission: self.yes(),
                depths: self.yes(),
                per_target: self.yes(),
                log: LogPlan {
                    each: self.yes(),
                    window: self.option(Self::nanos),
                    ..LogPlan::default()
                },
            },
            content: self.content(),
            verify: self.option(Self::verify),
        }
    }

    fn program(&mut self) -> Program {
        Program {
            command: self.list(Self::text),
            output: self.option(Self::text).map(Into::into),
            errors: self.option(Self::text).map(Into::into),
            grace: self.nanos(),
            until_end: self.yes(),
            optional: self.yes(),
        }
    }

    fn durability(&mut self) -> Durability {
        Durability {
            open: self.pick(&[OpenSync::None, OpenSync::Dsync, OpenSync::Sync]),
            fsync_every: self.number(),
            fdatasync_every: self.number(),
            fsync_at_end: self.yes(),
            syncfs_at_end: self.yes(),
            range: self.option(|d| RangeSync {
                every: d.number(),
                wait_before: d.yes(),
                write: d.yes(),
                wait_after: d.yes(),
            }),
            in_turn: self.yes(),
        }
    }

    fn content(&mut self) -> Content {
        Content {
            fill: self.pick(&[Fill::Pool, Fill::Fresh, Fill::Zero, Fill::Pattern, Fill::Words]),
            pattern: self.option(Self::pattern),
            compressible_percent: self.byte(),
            compressible_piece: self.option(Self::bytes),
            duplicate_percent: self.byte(),
            duplicates: match self.byte() % 3 {
                0 => Duplicates::Few,
                1 => Duplicates::Last,
                _ => Duplicates::WorkingSet { percent: self.byte(), shared: self.yes() },
            },
            hot_sets: self
                .option(|d| HotSets { unit: d.bytes(), sets: d.list(|d| [d.count(), d.count()]) }),
            words: self.option(|d| Words {
                kind: d.pick(&[WordKind::Timestamp, WordKind::Random]),
                seed: d.number() as i32,
                rank_block: d.option(Self::bytes),
            }),
        }
    }

    fn verify(&mut self) -> Verify {
        Verify {
            interval: self.bytes(),
            format: match self.byte() % 5 {
                0 => Format::Own,
                1 => Format::Acca(self.pick(&Sum::ALL)),
                2 => Format::Pattern,
                3 => Format::Words,
                _ => Format::Nothing,
            },
            header_version: self.pick(&[HeaderVersion::Unversioned, HeaderVersion::V1]),
            header_at: self.bytes(),
            continue_on_mismatch: self.yes(),
            mismatches_max: self.option(Self::number),
            read_before_write: self.yes(),
            unknown: self.pick(&[
                UnknownBlocks::ByHeader,
                UnknownBlocks::Check,
                UnknownBlocks::Ignore,
                UnknownBlocks::Skip,
            ]),
            times: self.yes(),
            journal: self.option(Self::journal),
            seed: self.option(Self::number),
            reads: self.yes(),
            generations: self.yes(),
            zeros_after_trim: self.yes(),
            read_back: self.option(|d| ReadBack {
                only: d.yes(),
                every: d.number(),
                batch: d.number(),
                after_time: d.yes(),
                trims: d.option(|d| TrimWritten {
                    percent: d.byte(),
                    every: d.number(),
                    batch: d.number(),
                }),
            }),
            dump: self.option(|d| PathBuf::from(d.text())),
            last_writes: self.count(),
            written: self.option(|d| Written {
                ops: d.number(),
                window: d.number(),
                finished: d.list(|d| Finished { file: d.count(), offset: d.bytes() }),
            }),
            dry_run: self
                .option(|d| d.pick(&[LastWrite::Seed, LastWrite::Number, LastWrite::Both])),
        }
    }

    fn pattern(&mut self) -> Pattern {
        let pattern = Pattern::empty().then(&self.number().to_be_bytes());
        let pattern = if self.yes() { pattern.then_offset() } else { pattern };
        match NonZeroUsize::new(self.number() as usize).filter(|_| self.yes()) {
            Some(every) if self.yes() => pattern.at_each(every),
            Some(every) => pattern.anew_every(every),
            None => pattern,
        }
    }

    fn uring(&mut self) -> Uring {
        Uring {
            sqpoll: self.yes(),
            sqpoll_cpu: self.option(Self::count),
            iopoll: self.yes(),
            fixed_buffers: self.option(Self::yes),
            fixed_files: self.option(Self::yes),
            defer_taskrun: self.option(Self::yes),
            force_async_every: self.count(),
            vectored: self.yes(),
            nop: self.yes(),
            flags: self.call_flags(),
        }
    }

    fn call_flags(&mut self) -> CallFlags {
        CallFlags {
            nowait: self.yes(),
            dsync: self.yes(),
            dontcache: self.yes(),
            atomic: self.yes(),
        }
    }

    fn io_priority(&mut self) -> IoPriority {
        let classes = [PriorityClass::Realtime, PriorityClass::BestEffort, PriorityClass::Idle];
        IoPriority { class: self.pick(&classes), level: self.byte(), hint: self.byte().into() }
    }

    fn buffers(&mut self) -> Buffers {
        Buffers {
            kind: self.pick(&[MemoryKind::Private, MemoryKind::Shared, MemoryKind::Shm]),
            huge: self.yes(),
            file: self.option(|d| PathBuf::from(d.text())),
            offset: self.bytes(),
            lock: self.option(Self::bytes),
        }
    }

    fn pace(&mut self) -> Pace {
        Pace {
            ops: self.option(|d| OpsPerSec(d.number())),
            steps: self.list(|d| RateStep { ops: OpsPerSec(d.number()), time: d.nanos() }),
            bursts: self.yes(),
            bytes: self.option(|d| BytesPerSec(d.number())),
            per_direction: self.option(|d| {
                let (read, write) = (OpsPerSec(d.number()), OpsPerSec(d.number()));
                PerDirection { read, write, trim: OpsPerSec(d.number()) }
            }),
            bytes_per_direction: self.option(|d| PerDirection::all(BytesPerSec(d.number()))),
            arrival: self.pick(&[Arrival::Fixed, Arrival::Poisson]),
            think: self.option(|d| Think {
                time: d.nanos(),
                relative: f64::from(d.byte()) / 8.0,
                every: d.count(),
                every_time: d.option(Self::nanos),
                count: d.pick(&[ThinkCount::Issued, ThinkCount::Completed]),
                spin: d.yes(),
                spin_first: d.nanos(),
                spin_cycles: d.number(),
            }),
            think_shifts: self.yes(),
            floor: self.option(|d| Floor { cycle: d.nanos(), ..Floor::default() }),
            flow: self.option(|d| Flow {
                id: d.count(),
                weight: d.count(),
                wait: d.nanos(),
                bytes: d.yes(),
                together: d.yes(),
            }),
            goal: self.option(|d| LatencyGoal {
                latency: d.nanos(),
                percentile: d.float(),
                window: d.nanos(),
                goes_on: d.yes(),
            }),
        }
    }
}
