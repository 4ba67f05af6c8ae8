//! Large direct reads and writes of a loop device and of a file on a disk, at several depths; and
//! small ones at depth 32, where it counts how they are submitted.

use crate::workload::{Goal, NO_GOAL, Place, Workload};

/// As fast as fio.
const GOAL: Goal = Goal { over_fio: Some(1.0), ..NO_GOAL };
/// As fast as fio, at half the user CPU of each operation.
const SMALL_GOAL: Goal = Goal { user_over_fio: Some(0.5), ..GOAL };

/// A mebibyte at a time, at one depth.
macro_rules! large {
    ($place:ident, $on:literal, $rw:literal, $depth:literal) => {
        Workload {
            name: concat!($on, "-", $rw, "-1m-", $depth),
            title: concat!($on, ", ", $rw, " of 1 MiB, depth ", $depth),
            place: Place::$place,
            access: [$rw, "1m"],
            candor: concat!("--overwrite --engine io_uring --direct --depth ", $depth),
            fio: concat!("--ioengine=io_uring --direct=1 --iodepth=", $depth),
            fio_variants: &["", "--fixedbufs=1 --registerfiles=1"],
            bare: "",
            goal: GOAL,
        }
    };
}

/// Blocks of 4 KiB at depth 32, submitted one at a time or all at once.
macro_rules! small {
    ($place:ident, $on:literal, $rw:literal) => {
        Workload {
            name: concat!($on, "-", $rw, "-4k-32"),
            title: concat!($on, ", ", $rw, " of 4 KiB, depth 32"),
            place: Place::$place,
            access: [$rw, "4k"],
            candor: "--overwrite --engine io_uring --direct --depth 32",
            fio: "--ioengine=io_uring --direct=1 --iodepth=32 --fixedbufs=1 --registerfiles=1",
            fio_variants: &[
                "",
                "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
                 --iodepth_batch_complete_max=32",
            ],
            bare: "",
            goal: SMALL_GOAL,
        }
    };
}

/// Every workload, in the order of the report.
pub const WORKLOADS: &[Workload] = &[
    large!(DiskFile, "disk", "read", 1),
    large!(DiskFile, "disk", "read", 2),
    large!(DiskFile, "disk", "read", 4),
    large!(DiskFile, "disk", "read", 8),
    large!(DiskFile, "disk", "read", 16),
    large!(DiskFile, "disk", "write", 1),
    large!(DiskFile, "disk", "write", 2),
    large!(DiskFile, "disk", "write", 4),
    large!(DiskFile, "disk", "write", 8),
    large!(DiskFile, "disk", "write", 16),
    large!(Loop, "loop", "read", 1),
    large!(Loop, "loop", "read", 2),
    large!(Loop, "loop", "read", 4),
    large!(Loop, "loop", "read", 8),
    large!(Loop, "loop", "read", 16),
    large!(Loop, "loop", "write", 1),
    large!(Loop, "loop", "write", 2),
    large!(Loop, "loop", "write", 4),
    large!(Loop, "loop", "write", 8),
    large!(Loop, "loop", "write", 16),
    small!(DiskFile, "disk", "randread"),
    small!(DiskFile, "disk", "randwrite"),
    small!(Loop, "loop", "randread"),
    small!(Loop, "loop", "randwrite"),
];
