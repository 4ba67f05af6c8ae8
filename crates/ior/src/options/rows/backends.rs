//! Back ends and their options, options of older versions, and options without support.

use super::{Options, Row, flag, put, put_count, put_number, refused, refused_flag};
use crate::options::Api;
use candor_front::{Refused, choose, store};

/// Most transfers in flight, the same as in a plan.
const PENDING_MAX: i64 = 4096;

#[rustfmt::skip]
pub(super) const API: &[Row] = &[
    Row::value("api", "NAME", api, "Select the back end: POSIX, MPIIO, MMAP, DUMMY, AIO, io_uring")
        .letter('a').default("POSIX").exact("blocks.engine", "MMAP"),
    flag("posix.odirect", |o, t| put(&mut o.io.direct, t), "Bypass the page cache")
        .exact("blocks.direct", "1"),
    flag("useO_DIRECT", |o, t| put(&mut o.io.direct, t), "Bypass the page cache (former name)")
        .letter('B')
        .near("blocks.direct", "1", "current IOR refuses -B; its name is --posix.odirect"),
    flag("posix.rangelocks", |o, t| put(&mut o.io.range_locks, t),
        "Lock the byte range of each transfer").exact("blocks.lock", "1"),
    flag("fsync", |o, t| put(&mut o.io.fsync, t),
        "Flush the files after the write, within its time").letter('e')
        .exact("blocks.durability", "1"),
    flag("fsyncPerWrite", |o, t| put(&mut o.io.fsync_per_write, t),
        "Flush the file after each write").letter('Y')
        .near("blocks.durability", "1", "one sync follows each write; IOR makes two"),
    flag("singleXferAttempt", |_, t| put(&mut false, t), "Do not resume a short transfer")
        .letter('x').idle("1", "candor never resumes a short transfer, and counts it as short"),
    flag("collective", |o, t| put(&mut o.io.collective, t), "Use collective calls of MPI")
        .letter('c').alias(&[]).near("", "1", "candor's back ends have no collective calls: calls \
              are independent, and each task stops by its own clock"),
    Row::value("interIODelay", "MICROSECONDS", |o, t| put_count(&mut o.io.delay_us, t),
        "Pause after each transfer").default("0").exact("blocks.pace.think", "100"),
    Row::value("aio.max-pending", "N",
        |o, t| put_number(&mut o.io.pending_max, t, 1..=PENDING_MAX),
        "Keep up to N transfers of each task in flight").default("128")
        .alias(&["io_uring.max-pending"]).when(is_asynchronous).exact("blocks.depth", "16"),
    Row::value("aio.granularity", "N",
        |o, t| put_number(&mut o.io.granularity, t, 1..=PENDING_MAX),
        "Submit N transfers together").default("16").alias(&["io_uring.granularity"])
        .when(is_asynchronous).exact("blocks.batch_submit", "4"),
    flag("mmap.madv_dont_need", |o, t| put(&mut o.io.map_dont_need, t), "Drop mapped pages first")
        .when(|o| o.io.api == Api::Mmap).exact("blocks.hints.map_advice", "1"),
    flag("mmap.madv_pattern", |o, t| put(&mut o.io.map_pattern, t),
        "Advise the kernel on sequential or random order").when(|o| o.io.api == Api::Mmap)
        .exact("blocks.hints.map_advice", "1"),
    Row::value("dummy.delay-xfer", "MICROSECONDS", |o, t| put_count(&mut o.io.delay_us, t),
        "Pause in each transfer of DUMMY").default("0").when(is_dummy)
        .near("blocks.pace.think", "100", "the pause follows the transfer and is not part of its \
              latency"),
    Row::value("dummy.delay-create", "MICROSECONDS", |o, t| put_count(&mut o.io.dummy.create_us, t),
        "Pause in each create of DUMMY").default("0").when(is_dummy)
        .near("phase.delay", "100", BEFORE_PHASE),
    Row::value("dummy.delay-close", "MICROSECONDS", |o, t| put_count(&mut o.io.dummy.close_us, t),
        "Pause in each close of DUMMY").default("0").when(is_dummy)
        .near("phase.delay", "100", BEFORE_PHASE),
    Row::value("dummy.delay-sync", "MICROSECONDS", |_, t| put_count(&mut 0_u32, t),
        "Pause in each sync of DUMMY").default("0").idle("100", "IOR's tests never sync DUMMY"),
    refused_flag("dummy.delay-only-rank0", "Pause the first task only",
        "all tasks of a phase have the same pace"),
];

const BEFORE_PHASE: &str =
    "the pause is before the phase and outside its times, because the null engine opens nothing";

const NO_HDF5: &str = "it is an option of HDF5, which candor does not support";

const NO_MPI: &str = "it is an option of MPI-IO, and candor needs no MPI";

#[rustfmt::skip]
pub(super) const FORMER: &[Row] = &[
    flag("quitOnError", |o, t| put(&mut o.data.quit_on_error, t),
        "End at the first verification error").letter('q')
        .near("blocks.verify.continue_on_mismatch", "1", "current IOR has no such option; the \
              phase ends at the first transfer that is wrong"),
    refused_flag("noFill", "Do not fill new HDF5 files", NO_HDF5).letter('n'),
    refused_flag("preallocate", "Allocate files before the write",
        "IOR does so by MPI-IO only; `candor run` has --layout allocate").letter('p')
        .alias(&["mpiio.preallocate"]),
    refused_flag("useSharedFilePointer", "Use a shared file pointer", NO_MPI).letter('P'),
    refused_flag("useStridedDatatype", "Use strides in a data type", NO_MPI).letter('S')
        .alias(&["mpiio.useStridedDatatype"]),
    Row::value("hintsFileName", "FILE", |_, _| Ok(()), "Read hints for MPI-IO from FILE")
        .letter('U').alias(&["mpiio.hintsFileName"])
        .idle("hints", "hints are for MPI-IO, and files are opened by system calls"),
    flag("useFileView", |_, t| put(&mut false, t), "Set a view of the file").letter('V')
        .alias(&["mpiio.useFileView"])
        .idle("1", "each call names its offset, which equals the offset of the view"),
    refused("setAlignment", "BYTES", "Align HDF5 files to BYTES", NO_HDF5).letter('J'),
    refused_flag("individualDataSets", "Use a data set per task", NO_HDF5).letter('I'),
    flag("showHints", |_, t| put(&mut false, t), "Print the hints of MPI-IO").letter('H')
        .alias(&["mpiio.showHints"])
        .idle("1", "there are no hints: files are opened by system calls"),
    refused_flag("storeFileOffset", "Write offsets as content", "current IOR spells it -l offset"),
];

const STRIPING: &str = "candor leaves striping to the directory; set it with the filesystem's own \
                        tool, such as `lfs setstripe`, before the run";

#[rustfmt::skip]
pub(super) const ELSEWHERE: &[Row] = &[
    refused_flag("dualMount", "Use mount points for even and odd sockets",
        "name the mount points in -o, with @ between").letter('y'),
    refused("lustreStripeCount", "N", "Set the number of stripes of new Lustre files", STRIPING)
        .alias(&["posix.lustre.stripecount"]),
    refused("lustreStripeSize", "BYTES", "Set the stripe size of new Lustre files", STRIPING)
        .alias(&["posix.lustre.stripesize"]),
    refused("lustreStartOST", "N", "Set the first storage target of new Lustre files", STRIPING)
        .alias(&["posix.lustre.startost"]),
    refused_flag("lustreIgnoreLocks", "Ignore Lustre's locks", STRIPING)
        .alias(&["posix.lustre.ignorelocks"]),
    refused("posix.lustre.pool", "NAME", "Set the pool of new Lustre files", STRIPING),
    refused_flag("gpfsHintAccess", "Give GPFS hints on accesses", "candor has no calls of GPFS")
        .alias(&["posix.gpfs.hintaccess"]),
    refused_flag("gpfsReleaseToken", "Release tokens of GPFS after the open",
        "candor has no calls of GPFS").alias(&["posix.gpfs.releasetoken"]),
    refused("beegfsNumTargets", "N", "Set the number of targets of new BeeGFS files", STRIPING)
        .alias(&["posix.beegfs.NumTargets"]),
    refused("beegfsChunkSize", "BYTES", "Set the chunk size of new BeeGFS files", STRIPING)
        .alias(&["posix.beegfs.ChunkSize"]),
    refused_flag("gpuDirect", "Transfer between files and GPUs", "candor has no GPUs yet"),
    refused("allocateBufferOnGPU", "N", "Allocate buffers on a GPU", "candor has no GPUs yet")
        .default("0"),
    refused("GPUid", "N", "Select the GPU", "candor has no GPUs yet"),
];

/// Unsupported back ends, and the reason.
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

/// Reason for refusing a back end; `None` if no back end has that name.
pub fn refused_api(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    REFUSED.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, why)| *why)
}

fn api(options: &mut Options, text: &str) -> Result<(), Refused> {
    let known = Api::CHOICES.iter().position(|choice| choice.word.eq_ignore_ascii_case(text));
    if let Some(chosen) = known.map(|nth| Api::ALL[nth]) {
        return store(&mut options.io.api, chosen);
    }
    if let Some(why) = refused_api(text) {
        let remedy = "candor has POSIX, MPIIO, MMAP, DUMMY, AIO and io_uring";
        return Err(Refused::whole(text, format!("{text} is not done: {why}"), remedy));
    }
    choose(text, Api::CHOICES).map(|_| ())
}

fn is_dummy(options: &Options) -> bool {
    options.io.api == Api::Dummy
}

fn is_asynchronous(options: &Options) -> bool {
    matches!(options.io.api, Api::Aio | Api::IoUring)
}
