//! How I/O is issued, and by how many.

use candor_plan::Sharing;
use candor_plan::blocks::{CallFlags, Engine};

use crate::commands::run::draft::Draft;
use crate::commands::run::lists::Value;
use crate::flag::{Flag, Takes, put, put_some};
use crate::parse::{cpus, number, one_of};

/// How I/O is issued.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "engine",
        takes: Takes::One("NAME"),
        help: "psync, io_uring, libaio, mmap, null, … [default: psync; from depth 2 on io_uring]",
        fields: &["phase[0].job[0].work.blocks.engine"],
        set: |draft, text| {
            let words = Engine::ALL.map(|engine| (engine.name(), engine));
            put_some(&mut draft.engine, one_of(text, &words))
        },
    },
    Flag {
        long: "depth",
        takes: Takes::One("N[,N…]"),
        help: "Operations in flight per worker; a list runs each in turn [default: 1]",
        fields: &["phase[0].job[0].work.blocks.depth"],
        set: |draft, text| draft.take("depth", text, |text| Ok(Value::Depth(number(text)?))),
    },
    Flag {
        long: "direct",
        takes: Takes::Nothing,
        help: "Bypass the page cache (O_DIRECT)",
        fields: &["phase[0].job[0].work.blocks.direct"],
        set: |draft, _| put(&mut draft.blocks.direct, Ok(true)),
    },
    Flag {
        long: "buffered",
        takes: Takes::Nothing,
        help: "Go through the page cache; the default",
        fields: &["phase[0].job[0].work.blocks.direct"],
        set: |draft, _| {
            draft.buffered = true;
            put(&mut draft.blocks.direct, Ok(false))
        },
    },
    Flag {
        long: "batch-submit",
        takes: Takes::One("N"),
        help: "Operations submitted at once [default: all that are ready]",
        fields: &["phase[0].job[0].work.blocks.batch_submit"],
        set: |draft, text| put_some(&mut draft.blocks.batch_submit, number(text)),
    },
    Flag {
        long: "batch-reap",
        takes: Takes::One("N"),
        help: "Completions to wait for at a time [default: 1]",
        fields: &["phase[0].job[0].work.blocks.batch_reap"],
        set: |draft, text| put(&mut draft.blocks.batch_reap, number(text)),
    },
    Flag {
        long: "batch-reap-max",
        takes: Takes::One("N"),
        help: "Completions to take at a time, at most [default: all that are there]",
        fields: &["phase[0].job[0].work.blocks.batch_reap_max"],
        set: |draft, text| put_some(&mut draft.blocks.batch_reap_max, number(text)),
    },
    Flag {
        long: "sqpoll",
        takes: Takes::Nothing,
        help: "io_uring: a kernel thread takes submissions",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.sqpoll"],
        set: |draft, _| put(&mut draft.uring("sqpoll").sqpoll, Ok(true)),
    },
    Flag {
        long: "sqpoll-cpu",
        takes: Takes::One("CPU"),
        help: "io_uring: where that thread runs",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.sqpoll_cpu"],
        set: |draft, text| put_some(&mut draft.uring("sqpoll-cpu").sqpoll_cpu, number(text)),
    },
    Flag {
        long: "iopoll",
        takes: Takes::Nothing,
        help: "io_uring: poll for completions; needs --direct and a device that can",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.iopoll"],
        set: |draft, _| put(&mut draft.uring("iopoll").iopoll, Ok(true)),
    },
    Flag {
        long: "no-fixed-buffers",
        takes: Takes::Nothing,
        help: "io_uring: do not register buffers",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.fixed_buffers"],
        set: |draft, _| put_some(&mut draft.uring("no-fixed-buffers").fixed_buffers, Ok(false)),
    },
    Flag {
        long: "no-fixed-files",
        takes: Takes::Nothing,
        help: "io_uring: do not register files",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.fixed_files"],
        set: |draft, _| put_some(&mut draft.uring("no-fixed-files").fixed_files, Ok(false)),
    },
    Flag {
        long: "uring-nop",
        takes: Takes::Nothing,
        help: "io_uring: issue no-ops, which measures the ring itself",
        fields: &["phase[0].job[0].work.blocks.engine.io_uring.nop"],
        set: |draft, _| put(&mut draft.uring("uring-nop").nop, Ok(true)),
    },
    Flag {
        long: "rwf",
        takes: Takes::One("FLAG,…"),
        help: "Flags of each call: hipri, nowait, dsync, dontcache, atomic",
        fields: &["phase[0].job[0].work.blocks.engine"],
        set: |draft, text| {
            let flags = draft.call_flags.get_or_insert(CallFlags::DEFAULT);
            for word in text.split(',') {
                match word {
                    "hipri" => draft.hipri = true,
                    "nowait" => flags.nowait = true,
                    "dsync" => flags.dsync = true,
                    "dontcache" => flags.dontcache = true,
                    "atomic" => flags.atomic = true,
                    _ => {
                        let known = "hipri, nowait, dsync, dontcache, atomic";
                        return Err(format!("`{word}` is none of {known}"));
                    }
                }
            }
            Ok(())
        },
    },
    Flag {
        long: "huge-pages",
        takes: Takes::Nothing,
        help: "Buffers from huge pages, reserved or transparent ones",
        fields: &["phase[0].job[0].work.blocks.hints.huge_pages"],
        set: |draft, _| put_some(&mut draft.blocks.hints.huge_pages, Ok(true)),
    },
    Flag {
        long: "no-huge-pages",
        takes: Takes::Nothing,
        help: "Buffers from ordinary pages, also large ones of direct I/O",
        fields: &["phase[0].job[0].work.blocks.hints.huge_pages"],
        set: |draft, _| put_some(&mut draft.blocks.hints.huge_pages, Ok(false)),
    },
];

/// By how many, and where.
pub const WORKERS: &[Flag<Draft>] = &[
    Flag {
        long: "workers",
        takes: Takes::One("N[,N…]"),
        help: "Number of workers, each a thread; a list runs each in turn [default: 1]",
        fields: &["phase[0].job[0].workers"],
        set: |draft, text| draft.take("workers", text, |text| Ok(Value::Workers(number(text)?))),
    },
    Flag {
        long: "sharing",
        takes: Takes::One("shared|own"),
        help: "Workers use all files, or each its own [default: shared]",
        fields: &["phase[0].job[0].sharing"],
        set: |draft, text| {
            let words = [("shared", Sharing::Shared), ("own", Sharing::Own)];
            put(&mut draft.job.sharing, one_of(text, &words))
        },
    },
    Flag {
        long: "cpus",
        takes: Takes::One("LIST"),
        help: "CPUs that workers may run on, such as 0-3,8",
        fields: &["phase[0].job[0].placement.cpus"],
        set: |draft, text| put(&mut draft.job.placement.cpus, cpus(text)),
    },
    Flag {
        long: "split-cpus",
        takes: Takes::Nothing,
        help: "Bind each worker to one of these CPUs, in turn",
        fields: &["phase[0].job[0].placement.split"],
        set: |draft, _| put(&mut draft.job.placement.split, Ok(true)),
    },
    Flag {
        long: "numa",
        takes: Takes::One("NODE"),
        help: "Use the CPUs and memory of this NUMA node",
        fields: &["phase[0].job[0].placement.numa_node"],
        set: |draft, text| put_some(&mut draft.job.placement.numa_node, number(text)),
    },
    Flag {
        long: "seed",
        takes: Takes::One("N"),
        help: "Seed of all random choices; the same seed gives the same offsets [default: 1]",
        fields: &["seed"],
        set: |draft, text| put_some(&mut draft.seed, number(text)),
    },
];
