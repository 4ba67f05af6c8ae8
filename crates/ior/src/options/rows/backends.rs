//! Back ends and their options, options of former versions, and what candor does not have.

use super::{Draft, Value, flag, put, put_number, refused, refused_flag, value};
use crate::options::Api;
use candor_front::{Refused, Row, choose, row, store};

const COUNT_MAX: i64 = u32::MAX as i64;

/// Most transfers in flight, as many as a plan has.
const PENDING_MAX: i64 = 4096;

#[rustfmt::skip]
pub(super) const API: &[Row<Value>] = &[
    value("api", "NAME", api, "back end: POSIX, MPIIO, MMAP, DUMMY, AIO, io_uring")
        .letter('a').default("POSIX").exact("blocks.engine", "MMAP"),
    flag("posix.odirect", |d, t| put(&mut d.options.io.direct, t), "bypass the page cache")
        .exact("blocks.direct", "1"),
    flag("useO_DIRECT", |d, t| put(&mut d.options.io.direct, t),
        "the same, as it was called before")
        .letter('B')
        .near("blocks.direct", "1", "current IOR refuses -B and spells it --posix.odirect"),
    flag("posix.rangelocks", |d, t| put(&mut d.options.io.range_locks, t),
        "a lock of the kernel around each transfer").exact("blocks.lock", "1"),
    flag("fsync", |d, t| put(&mut d.options.io.fsync, t),
        "flush the files after the write, within its time").letter('e')
        .exact("blocks.durability", "1"),
    flag("fsyncPerWrite", |d, t| put(&mut d.options.io.fsync_per_write, t),
        "flush the file after each write").letter('Y')
        .near("blocks.durability", "1", "each write is followed by one sync, where IOR makes two"),
    flag("singleXferAttempt", |_, t| put(&mut false, t), "do not resume a transfer that was short")
        .letter('x').idle("1", "candor never resumes a short transfer: it counts it as short"),
    flag("collective", |d, t| put(&mut d.options.io.collective, t), "collective calls of MPI")
        .letter('c').alias(&[])
        .near("", "1", "the back ends that candor has know no collective calls: they stay \
              independent, and each task stops by its own clock"),
    value("interIODelay", "MICROSECONDS",
        |d, t| put_number(&mut d.options.io.delay_us, t, [0, COUNT_MAX]),
        "pause after each transfer").default("0").exact("blocks.pace.think", "100"),
    value("aio.max-pending", "N",
        |d, t| put_number(&mut d.options.io.pending_max, t, [1, PENDING_MAX]),
        "transfers in flight of each task").default("128").alias(&["io_uring.max-pending"])
        .when(is_asynchronous).exact("blocks.depth", "16"),
    value("aio.granularity", "N",
        |d, t| put_number(&mut d.options.io.granularity, t, [1, PENDING_MAX]),
        "transfers that are submitted together").default("16").alias(&["io_uring.granularity"])
        .when(is_asynchronous).exact("blocks.batch_submit", "4"),
    flag("mmap.madv_dont_need", |d, t| put(&mut d.options.io.map_dont_need, t),
        "drop mapped pages first").when(|d| d.options.io.api == Api::Mmap)
        .exact("blocks.hints.map_advice", "1"),
    flag("mmap.madv_pattern", |d, t| put(&mut d.options.io.map_pattern, t),
        "advise the kernel whether the order is sequential or random")
        .when(|d| d.options.io.api == Api::Mmap).exact("blocks.hints.map_advice", "1"),
    value("dummy.delay-xfer", "MICROSECONDS",
        |d, t| put_number(&mut d.options.io.delay_us, t, [0, COUNT_MAX]),
        "pause of each transfer of DUMMY").default("0")
        .when(is_dummy)
        .near("blocks.pace.think", "100", "the pause follows the transfer, and is no part of its \
              latency"),
    value("dummy.delay-create", "MICROSECONDS",
        |d, t| put_number(&mut d.options.io.dummy.create_us, t, [0, COUNT_MAX]),
        "pause of each create of DUMMY").default("0").when(is_dummy)
        .near("phase.delay", "100", BEFORE_PHASE),
    value("dummy.delay-close", "MICROSECONDS",
        |d, t| put_number(&mut d.options.io.dummy.close_us, t, [0, COUNT_MAX]),
        "pause of each close of DUMMY").default("0").when(is_dummy)
        .near("phase.delay", "100", BEFORE_PHASE),
    value("dummy.delay-sync", "MICROSECONDS",
        |_, t| put_number(&mut 0_u32, t, [0, COUNT_MAX]),
        "pause of each sync of DUMMY").default("0")
        .idle("100", "IOR's tests never sync DUMMY"),
    refused_flag("dummy.delay-only-rank0", "pauses of the first task only",
        "all tasks of a phase have the same pace"),
];

const BEFORE_PHASE: &str =
    "the pause is before the phase and in none of its times, for the null engine opens nothing";

const NO_HDF5: &str = "it is an option of HDF5, which candor does not have";

const NO_MPI: &str = "it is an option of MPI-IO, and candor needs no MPI";

#[rustfmt::skip]
pub(super) const FORMER: &[Row<Value>] = &[
    flag("quitOnError", |d, t| put(&mut d.options.data.quit_on_error, t),
        "end at the first error that verification finds").letter('q')
        .near("blocks.verify.continue_on_mismatch", "1", "current IOR has no such option; the \
                                                          phase ends at the first transfer that is \
                                                          wrong"),
    refused_flag("noFill", "no fill when HDF5 makes a file", NO_HDF5).letter('n'),
    refused_flag("preallocate", "reserve the space of files first",
        "IOR does so by MPI-IO only; `candor run` has --layout allocate").letter('p')
        .alias(&["mpiio.preallocate"]),
    refused_flag("useSharedFilePointer", "shared file pointer", NO_MPI).letter('P'),
    refused_flag("useStridedDatatype", "strides in a data type", NO_MPI).letter('S')
        .alias(&["mpiio.useStridedDatatype"]),
    row("hintsFileName", Value::value("FILE"), |_, _| Ok(()), "file of hints for MPI-IO")
        .letter('U').alias(&["mpiio.hintsFileName"])
        .idle("hints", "hints are for MPI-IO, and files are opened by system calls"),
    flag("useFileView", |_, t| put(&mut false, t), "view of the file").letter('V')
        .alias(&["mpiio.useFileView"])
        .idle("1", "each call names its offset, which equals the offset of the view"),
    refused("setAlignment", "BYTES", "alignment in HDF5 files", NO_HDF5).letter('J'),
    refused_flag("individualDataSets", "a data set for each task", NO_HDF5).letter('I'),
    flag("showHints", |_, t| put(&mut false, t), "print the hints of MPI-IO").letter('H')
        .alias(&["mpiio.showHints"])
        .idle("1", "there are no hints: files are opened by system calls"),
    refused_flag("storeFileOffset", "offsets as content", "current IOR spells it -l offset"),
];

const STRIPING: &str = "candor leaves striping to the directory; set it with the filesystem's own \
                        tool, such as `lfs setstripe`, before the run";

#[rustfmt::skip]
pub(super) const ELSEWHERE: &[Row<Value>] = &[
    refused_flag("dualMount", "mount points that are even or odd by socket",
        "name the mount points in -o, with @ between").letter('y'),
    refused("lustreStripeCount", "N", "stripes of new files on Lustre", STRIPING)
        .alias(&["posix.lustre.stripecount"]),
    refused("lustreStripeSize", "BYTES", "bytes of a stripe on Lustre", STRIPING)
        .alias(&["posix.lustre.stripesize"]),
    refused("lustreStartOST", "N", "first target of new files on Lustre", STRIPING)
        .alias(&["posix.lustre.startost"]),
    refused_flag("lustreIgnoreLocks", "no locks of Lustre", STRIPING)
        .alias(&["posix.lustre.ignorelocks"]),
    refused("posix.lustre.pool", "NAME", "pool of new files on Lustre", STRIPING),
    refused_flag("gpfsHintAccess", "hints of accesses for GPFS", "candor has no calls of GPFS")
        .alias(&["posix.gpfs.hintaccess"]),
    refused_flag("gpfsReleaseToken", "give up tokens of GPFS after the open",
        "candor has no calls of GPFS").alias(&["posix.gpfs.releasetoken"]),
    refused("beegfsNumTargets", "N", "targets of new files on BeeGFS", STRIPING)
        .alias(&["posix.beegfs.NumTargets"]),
    refused("beegfsChunkSize", "BYTES", "bytes of a stripe on BeeGFS", STRIPING)
        .alias(&["posix.beegfs.ChunkSize"]),
    refused_flag("gpuDirect", "transfers between files and GPUs", "candor has no GPUs yet"),
    refused("allocateBufferOnGPU", "N", "buffers in the memory of a GPU", "candor has no GPUs yet")
        .default("0"),
    refused("GPUid", "N", "the GPU", "candor has no GPUs yet"),
];

/// Back ends that candor does not have, and why.
const REFUSED: &[(&[&str], &str)] = &[
    (&["hdf5", "ncmpi"], "it writes through a library on MPI-IO; candor has none"),
    (
        &["s3", "s3-libs3", "s3-4c", "s3_4c", "s3_plus", "s3_emc", "s3-curl", "s3-aws"],
        "candor does not measure object stores yet",
    ),
    (&["dfs", "daos"], "it needs the libraries of DAOS; its mount (dfuse) is -a POSIX"),
    (&["rados", "cephfs"], "it needs the libraries of Ceph; its mount is -a POSIX"),
    (
        &["hdfs", "ime", "pmdk", "libnfs", "chfs", "finchfs", "gfarm", "plfs", "bfs"],
        "it needs a library that candor does not have; use a mount with -a POSIX",
    ),
];

/// The reason for which a back end is refused; none where no back end has that name.
pub fn refused_api(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    REFUSED.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, why)| *why)
}

fn api(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    let known = Api::CHOICES.iter().position(|choice| choice.word.eq_ignore_ascii_case(text));
    if let Some(chosen) = known.map(|nth| Api::ALL[nth]) {
        return store(&mut draft.options.io.api, chosen);
    }
    if let Some(why) = refused_api(text) {
        let remedy = "candor has POSIX, MPIIO, MMAP, DUMMY, AIO and io_uring";
        return Err(Refused::whole(text, format!("{text} is not done: {why}"), remedy));
    }
    choose(text, Api::CHOICES).map(|_| ())
}

fn is_dummy(draft: &Draft) -> bool {
    draft.options.io.api == Api::Dummy
}

fn is_asynchronous(draft: &Draft) -> bool {
    matches!(draft.options.io.api, Api::Aio | Api::IoUring)
}
