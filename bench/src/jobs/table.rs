//! The job files.

use super::{Asked, JobFile};
use crate::workload::Place;

const fn job(name: &'static str, place: Place, lines: &'static str, asked: Asked) -> JobFile {
    JobFile { name, place, lines, asked }
}

const fn device(name: &'static str, lines: &'static str, over_fio: f64) -> JobFile {
    job(name, Place::Device, lines, Asked::Speed(over_fio))
}

const fn cached(name: &'static str, lines: &'static str, over_fio: f64) -> JobFile {
    job(name, Place::CachedFile, lines, Asked::Speed(over_fio))
}

/// Every job file, in the order of the report.
pub const JOB_FILES: &[JobFile] = &[
    device("psync-read", "time_based\ndirect=1\nbs=4k\nrw=randread\nioengine=psync", 1.05),
    device("psync-write", "time_based\ndirect=1\nbs=4k\nrw=randwrite\nioengine=psync", 1.05),
    device(
        "libaio-read",
        "time_based\ndirect=1\nbs=4k\nrw=randread\nioengine=libaio\niodepth=16",
        1.08,
    ),
    device(
        "libaio-write",
        "time_based\ndirect=1\nbs=4k\nrw=randwrite\nioengine=libaio\niodepth=16",
        1.08,
    ),
    device(
        "uring-read",
        "time_based\ndirect=1\nbs=4k\nrw=randread\nioengine=io_uring\niodepth=32",
        1.12,
    ),
    device(
        "uring-write",
        "time_based\ndirect=1\nbs=4k\nrw=randwrite\nioengine=io_uring\niodepth=32",
        1.12,
    ),
    cached(
        "cached-psync-read",
        "time_based\ninvalidate=0\nbs=4k\nrw=randread\nioengine=psync",
        1.05,
    ),
    cached(
        "cached-psync-write",
        "time_based\ninvalidate=0\nbs=4k\nrw=randwrite\nioengine=psync",
        1.05,
    ),
    cached(
        "cached-libaio-read",
        "time_based\ninvalidate=0\nbs=4k\nrw=randread\nioengine=libaio\niodepth=16",
        1.08,
    ),
    cached(
        "cached-libaio-write",
        "time_based\ninvalidate=0\nbs=4k\nrw=randwrite\nioengine=libaio\niodepth=16",
        1.08,
    ),
    cached(
        "cached-uring-read",
        "time_based\ninvalidate=0\nbs=4k\nrw=randread\nioengine=io_uring\niodepth=32",
        1.12,
    ),
    cached(
        "cached-uring-write",
        "time_based\ninvalidate=0\nbs=4k\nrw=randwrite\nioengine=io_uring\niodepth=32",
        1.12,
    ),
    device(
        "four-jobs",
        "time_based\ndirect=1\nbs=4k\nrw=randread\nioengine=psync\nnumjobs=4\ngroup_reporting",
        1.05,
    ),
    device(
        "bssplit",
        "time_based\ndirect=1\nbssplit=4k/60:8k/30:64k/10\nrw=randrw\nioengine=psync",
        1.05,
    ),
    device(
        "verify",
        "size=512m\ndirect=1\nbs=4k\nrw=randwrite\nioengine=psync\nverify=crc32c\n\
         verify_state_save=0",
        1.05,
    ),
    job(
        "start",
        Place::CachedFile,
        "number_ios=1\nbs=4k\nrw=randread\nioengine=psync\nlog_unix_epoch=1\nwrite_lat_log=first",
        Asked::Start,
    ),
    job(
        "512-jobs",
        Place::CachedFile,
        "time_based\ninvalidate=0\nbs=4k\nrw=randread\nioengine=psync\nnumjobs=512\n\
         group_reporting\nthinktime=10ms",
        Asked::Memory,
    ),
];
