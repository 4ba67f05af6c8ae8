//! The workloads: what each tool is asked to do, and what candor is to reach.

/// Where a workload reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The block device.
    Device,
    /// The file that is in the page cache.
    CachedFile,
    /// A file on the disk below `--dir`.
    DiskFile,
    /// A loop device over another such file.
    Loop,
}

impl Place {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Place::Device => "block device",
            Place::CachedFile => "file in the page cache",
            Place::DiskFile => "file on a disk",
            Place::Loop => "loop device",
        }
    }
}

/// One row of the comparison.
pub struct Workload {
    /// Name, for `--only`.
    pub name: &'static str,
    /// Title, in a few words.
    pub title: &'static str,
    /// Target of its reads and writes.
    pub place: Place,
    /// `--rw` and `--bs`, which both tools understand.
    pub access: [&'static str; 2],
    /// candor's arguments besides target and time.
    pub candor: &'static str,
    /// fio's arguments besides name, file and time; empty where fio cannot do the same.
    pub fio: &'static str,
    /// Settings of fio that do the same work; the fastest is kept.
    pub fio_variants: &'static [&'static str],
    /// The bare loop and its arguments after path and time; empty where there is none. After the
    /// word `candor` come more arguments of candor's instead: it is its own yardstick.
    pub bare: &'static str,
    /// Goal for candor.
    pub goal: Goal,
}

/// Goal for candor; absent figures are reported without a goal.
#[derive(Clone, Copy, Default)]
pub struct Goal {
    /// candor ÷ fio.
    pub over_fio: Option<f64>,
    /// candor ÷ bare loop.
    pub over_bare: Option<f64>,
    /// Operations per second.
    pub ops_per_s: Option<f64>,
    /// User CPU per operation above the bare loop's, in µs.
    pub user_us_above_bare: Option<f64>,
    /// User CPU per operation, candor ÷ fio.
    pub user_over_fio: Option<f64>,
}

const fn goal(over_fio: f64, over_bare: f64) -> Goal {
    Goal {
        over_fio: Some(over_fio),
        over_bare: Some(over_bare),
        user_us_above_bare: Some(0.05),
        ..NO_GOAL
    }
}

/// Nothing to reach.
pub const NO_GOAL: Goal = Goal {
    over_fio: None,
    over_bare: None,
    ops_per_s: None,
    user_us_above_bare: None,
    user_over_fio: None,
};

const RANDOM_READS: [&str; 2] = ["randread", "4k"];

/// One latency per operation, with percentiles, as candor and the bare loop record it; fio's
/// default is three latencies.
const ONE_LATENCY: &str = "--disable_slat=1 --disable_lat=1";

/// Every workload, in the order of the report.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "uring",
        title: "io_uring, depth 32, reaped by 16",
        place: Place::Device,
        access: RANDOM_READS,
        candor: "--engine io_uring --direct --depth 32 --batch-reap 16",
        fio: "--ioengine=io_uring --direct=1 --iodepth=32 --fixedbufs=1 --registerfiles=1",
        fio_variants: &[
            "--iodepth_batch_submit=16 --iodepth_batch_complete_min=16 \
             --iodepth_batch_complete_max=16",
            "--iodepth_batch_submit=16 --iodepth_batch_complete_min=16 \
             --iodepth_batch_complete_max=32",
            "--iodepth_batch_submit=32 --iodepth_batch_complete_min=8 \
             --iodepth_batch_complete_max=32",
            "--iodepth_batch_submit=32 --iodepth_batch_complete_min=16 \
             --iodepth_batch_complete_max=32",
        ],
        bare: "bare_uring 32 4096 16",
        goal: goal(1.12, 0.95),
    },
    Workload {
        name: "uring-reap1",
        title: "io_uring, depth 32, reaped as they come",
        place: Place::Device,
        access: RANDOM_READS,
        candor: "--engine io_uring --direct --depth 32",
        fio: "--ioengine=io_uring --direct=1 --iodepth=32 --fixedbufs=1 --registerfiles=1",
        fio_variants: &[
            "",
            "--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=32",
            "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=32",
        ],
        bare: "bare_uring 32 4096 1",
        goal: NO_GOAL,
    },
    Workload {
        name: "uring-cached",
        title: "io_uring, depth 32, on a cached file",
        place: Place::CachedFile,
        access: RANDOM_READS,
        candor: "--engine io_uring --depth 32",
        fio: "--ioengine=io_uring --invalidate=0 --iodepth=32 --fixedbufs=1 --registerfiles=1",
        fio_variants: &[
            "",
            "--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=16",
            "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=32",
        ],
        bare: "bare_uring 32 4096 1 buffered",
        goal: NO_GOAL,
    },
    Workload {
        name: "libaio",
        title: "libaio, depth 16",
        place: Place::Device,
        access: RANDOM_READS,
        candor: "--engine libaio --direct --depth 16",
        fio: "--ioengine=libaio --direct=1 --iodepth=16",
        fio_variants: &[
            "--userspace_reap=1",
            "--userspace_reap=1 --iodepth_batch_submit=8 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=8",
            "--userspace_reap=1 --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=16",
            "--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=16",
        ],
        bare: "bare_libaio 16 4096",
        goal: goal(1.08, 0.95),
    },
    Workload {
        name: "psync",
        title: "pread, past the cache",
        place: Place::Device,
        access: RANDOM_READS,
        candor: "--engine psync --direct",
        fio: "--ioengine=psync --direct=1",
        fio_variants: &[""],
        bare: "bare_psync 1 4096",
        goal: goal(1.05, 0.97),
    },
    Workload {
        name: "cached",
        title: "pread of a cached file",
        place: Place::CachedFile,
        access: RANDOM_READS,
        candor: "--engine psync",
        fio: "--ioengine=psync --invalidate=0",
        fio_variants: &["", "--fadvise_hint=0"],
        bare: "bare_cached 1 4096",
        goal: goal(1.1, 0.97),
    },
    Workload {
        name: "null",
        title: "null engine: the tool's own cost",
        place: Place::CachedFile,
        access: RANDOM_READS,
        candor: "--engine null --depth 32",
        fio: "--ioengine=null --size=256m",
        fio_variants: &[
            "",
            "--iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
             --iodepth_batch_complete_max=32",
        ],
        bare: "",
        goal: Goal { over_fio: Some(3.0), ops_per_s: Some(8e6), ..NO_GOAL },
    },
    Workload {
        name: "samples",
        title: "live samples of two busy workers, beside candor without them",
        place: Place::CachedFile,
        access: RANDOM_READS,
        candor: "--engine psync --workers 2",
        fio: "",
        fio_variants: &[],
        bare: "candor --interval 1h",
        goal: Goal { over_bare: Some(0.99), ..NO_GOAL },
    },
    Workload {
        name: "nop",
        title: "io_uring no-ops, depth 32",
        place: Place::CachedFile,
        access: RANDOM_READS,
        candor: "--engine io_uring --uring-nop --depth 32",
        fio: "",
        fio_variants: &[],
        bare: "bare_nop 32",
        goal: Goal { over_bare: Some(0.8), ..NO_GOAL },
    },
];

impl Workload {
    /// fio's settings to try: each as it is, and with one latency instead of three.
    pub fn fio_settings(&self) -> Vec<String> {
        let both = |variant: &&str| [(*variant).to_owned(), format!("{variant} {ONE_LATENCY}")];
        self.fio_variants.iter().flat_map(both).map(|s| s.trim().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::large;

    #[test]
    fn names_are_unique_and_every_workload_has_a_rival() {
        for table in [WORKLOADS, large::WORKLOADS] {
            for (i, workload) in table.iter().enumerate() {
                assert!(!workload.fio.is_empty() || !workload.bare.is_empty(), "{}", workload.name);
                assert_eq!(workload.fio.is_empty(), workload.fio_variants.is_empty());
                assert!(table[..i].iter().all(|other| other.name != workload.name));
            }
        }
    }
}
