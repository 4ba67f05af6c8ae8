//! Options that only some engines have, and those of profiles.

use crate::job_options::{CpuMode, NvmeWrite, SgWrite, StatType};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use crate::values::TimeUnit::Micros;
use candor_front::{bare, row};

const MANY: u64 = u32::MAX as u64;
const URING: &[&str] = &["io_uring", "io_uring_cmd"];
const PRIORITIES: &[&str] = &["io_uring", "libaio", "io_uring_cmd"];
const PROTECTED: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const MODE: &str = "blocks are read by plain reads, and compared by the host";
const SCSI: &str = "io_uring carries NVMe commands only; sg sends SCSI commands";

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("hipri", Kind::Flag, |s, v| s.engine.hipri = v.bool(), "poll for completions")
        .of(&["pvsync2", "io_uring", "io_uring_cmd", "sg", "libblkio", "xnvme"])
        .exact(
            "blocks.engine.pvsync.hipri, blocks.engine.io_uring.iopoll, blocks.engine.sg.hipri",
            "1",
        ),
    row("hipri_percentage", Kind::Int(0, 100), |s, v| s.engine.hipri_percent = v.int(),
        "percent of operations that are polled for")
        .of(&["pvsync2"]).default("100").exact("blocks.engine.pvsync.hipri_percent", "50"),
    row("uncached", Kind::Int(0, 1), |s, v| s.engine.uncached = v.int() == 1,
        "drop from the cache what was read or written (RWF_DONTCACHE)")
        .of(&["pvsync2", "io_uring", "io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring.flags.dontcache", "1"),
    row("nowait", Kind::Bool, |s, v| s.engine.nowait = v.bool(),
        "fail instead of waiting (RWF_NOWAIT)")
        .of(&["pvsync2", "libaio", "io_uring", "io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring.flags.nowait", "1"),
    row("atomic", Kind::Bool, |s, v| s.engine.atomic = v.bool(),
        "writes that the device completes wholly or not (RWF_ATOMIC)")
        .of(&["pvsync2", "libaio", "io_uring"]).default("0")
        .exact("blocks.engine.io_uring.flags.atomic", "1"),
    bare("userspace_reap", Kind::Flag, "take completions without a system call")
        .of(&["libaio"]).idle("1", "candor always takes them so where the kernel lets it"),
    row("libaio_vectored", Kind::Bool, |s, v| s.engine.vectored = v.bool(), "vectored calls")
        .of(&["libaio"]).default("0").exact("blocks.engine.libaio.vectored", "1"),
    row("cmdprio_percentage", Kind::Ints(0, 100), |s, v| v.ints(&mut s.engine.priorities.percent),
        "percent of operations with this priority")
        .of(PRIORITIES).default("0").exact("blocks.priorities", "20"),
    row("cmdprio_class", Kind::Ints(0, 3), |s, v| v.ints(&mut s.engine.priorities.class),
        "class of that priority")
        .of(PRIORITIES).default("1").exact("blocks.priorities", "2"),
    row("cmdprio_hint", Kind::Ints(0, 1023), |s, v| v.ints(&mut s.engine.priorities.hint),
        "hint in addition to that priority")
        .of(PRIORITIES).exact("blocks.priorities", "1"),
    row("cmdprio", Kind::Ints(0, 7), |s, v| v.ints(&mut s.engine.priorities.level), "that priority")
        .of(PRIORITIES).exact("blocks.priorities", "1"),
    bare("cmdprio_bssplit", Kind::Own("SIZE/PERCENT[/CLASS/LEVEL][:…]", &[], own::priority_split),
        "priorities by block size")
        .of(PRIORITIES).exact("blocks.priorities", "4k/50"),
    row("fixedbufs", Kind::Flag, |s, v| s.engine.fixed_buffers = v.bool(),
        "buffers are made known to the ring")
        .of(URING).exact("blocks.engine.io_uring.fixed_buffers", "1"),
    row("registerfiles", Kind::Flag, |s, v| s.engine.fixed_files = v.bool(),
        "files are made known to the ring")
        .of(URING).exact("blocks.engine.io_uring.fixed_files", "1"),
    row("sqthread_poll", Kind::Flag, |s, v| s.engine.sqpoll = v.bool(),
        "a thread of the kernel takes submissions")
        .of(&["io_uring", "io_uring_cmd", "xnvme"]).exact("blocks.engine.io_uring.sqpoll", "1"),
    row(
        "sqthread_poll_cpu",
        Kind::Int(0, MANY),
        |s, v| {
            s.engine.sqpoll_cpu = Some(v.int());
            s.engine.sqpoll = true;
        },
        "CPU of that thread",
    )
    .of(URING)
    .exact("blocks.engine.io_uring.sqpoll_cpu", "0"),
    row("nonvectored", Kind::Int(0, 1), |s, v| s.engine.nonvectored = Some(v.int()),
        "plain calls instead of vectored ones")
        .of(URING).exact("blocks.engine.io_uring.vectored", "0"),
    row("force_async", Kind::Int(0, MANY), |s, v| s.engine.force_async = v.int(),
        "every Nth operation goes to a kernel thread at once")
        .of(URING).default("0").exact("blocks.engine.io_uring.force_async_every", "4"),
    bare("thp", Kind::Bool, "ask for huge pages in the mapping")
        .of(&["mmap"]).default("0")
        .refused("1", "huge pages in the mapping of a file are not built yet"),
    bare("cmd_type", Kind::Text, "kind of command")
        .of(&["io_uring_cmd"]).default("nvme").refused("other", SCSI),
    row("write_mode", Kind::Choice(NvmeWrite::CHOICES),
        |s, v| s.engine.nvme_write = v.of(NvmeWrite::ALL), "NVMe command that writes")
        .of(&["io_uring_cmd"]).default("write").exact("blocks.engine.io_uring_cmd.write", "zeroes"),
    bare("read_mode", Kind::Text, "command that reads")
        .of(&["io_uring_cmd"]).default("read").refused("verify", MODE),
    bare("verify_mode", Kind::Text, "command that verifies")
        .of(&["io_uring_cmd"]).default("read").refused("compare", MODE),
    bare("verify_bytchk", Kind::Int(0, 3), "what a verifying command compares")
        .of(&["io_uring_cmd"]).refused("1", SCSI),
    bare("cdb_len", Kind::Int(0, 32), "bytes of a SCSI command")
        .of(&["io_uring_cmd"]).refused("16", SCSI),
    row("deac", Kind::Bool, |s, v| s.engine.deallocates = v.bool(),
        "blocks that are written with zeros are given back too")
        .of(&["io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring_cmd.deallocate", "1"),
    row("md_per_io_size", Kind::Size(0), |s, v| s.engine.metadata_bytes = v.int(),
        "bytes for the metadata of an operation, where it is apart from the blocks")
        .of(PROTECTED).default("0").exact("blocks.engine.io_uring_cmd.metadata_bytes", "64"),
    row("pi_act", Kind::Bool, |s, v| s.engine.protection.made_by_host = !v.bool(),
        "the controller makes and takes protection information, not the host")
        .of(PROTECTED).default("1")
        .exact("blocks.engine.io_uring_cmd.protection.made_by_host", "0"),
    bare("pi_chk", Kind::Own("GUARD|REFTAG|APPTAG[,…]", own::PROTECTION, own::protection),
        "which protection information is checked")
        .of(PROTECTED).exact("blocks.engine.io_uring_cmd.protection", "GUARD"),
    row("apptag", Kind::Int(0, 65535), |s, v| s.engine.protection.tag = v.int() as u16,
        "application tag of protection information")
        .of(PROTECTED).default("4660").exact("blocks.engine.io_uring_cmd.protection.tag", "1"),
    row("apptag_mask", Kind::Int(0, 65535), |s, v| s.engine.protection.tag_mask = v.int() as u16,
        "bits of that tag that are checked")
        .of(PROTECTED).default("65535")
        .exact("blocks.engine.io_uring_cmd.protection.tag_mask", "1"),
    row("readfua", Kind::Bool, |s, v| s.engine.fua_reads = v.bool(), "reads come from the media")
        .of(&["io_uring_cmd", "sg"]).default("0")
        .exact("blocks.engine.io_uring_cmd.fua_reads, blocks.engine.sg.fua_reads", "1"),
    row("writefua", Kind::Bool, |s, v| s.engine.fua_writes = v.bool(), "writes reach the media")
        .of(&["io_uring_cmd", "sg"]).default("0")
        .exact("blocks.engine.io_uring_cmd.fua_writes, blocks.engine.sg.fua_writes", "1"),
    row("sg_write_mode", Kind::Choice(SgWrite::CHOICES),
        |s, v| s.engine.sg_write = v.of(SgWrite::ALL), "SCSI command that writes")
        .of(&["sg"]).default("write").exact("blocks.engine.sg.write", "write_and_verify"),
    row("stream_id", Kind::Int(0, 65535), |s, v| s.engine.stream = v.int() as u16,
        "stream that sg_write_mode=write_stream writes to; 0 opens one")
        .of(&["sg"]).default("0").exact("blocks.engine.sg.stream", "1"),
];

#[rustfmt::skip]
pub(in crate::options) const PROGRAMS: &[Row] = &[
    row("cpuload", Kind::Int(0, 100), |s, v| s.engine.cpu_load = v.int(),
        "percent of a CPU to burn")
        .of(&["cpuio"]).exact("blocks.pace.think", "50"),
    row("cpuchunks", Kind::Time(Micros), |s, v| s.engine.cpu_chunks_us = v.time().0 / 1000,
        "length of one burn")
        .of(&["cpuio"]).under("cpuload").default("50000").exact("burn.chunk", "1ms"),
    row("cpumode", Kind::Choice(CpuMode::CHOICES), |s, v| s.engine.cpu_mode = v.of(CpuMode::ALL),
        "what burns it")
        .of(&["cpuio"]).under("cpuload").default("noop").exact("burn.sort", "qsort"),
    bare("exit_on_io_done", Kind::Bool, "end when the jobs that do I/O have ended")
        .of(&["cpuio"]).default("0")
        .idle("1", "such a job always ends with the others, as with fio"),
    row("stat_type", Kind::Choice(StatType::CHOICES), |s, v| s.engine.stat = v.of(StatType::ALL),
        "system call that looks up a file")
        .of(&["filestat", "dirstat"]).default("stat").exact("entries.steps", "statx"),
    row("program", Kind::Text, |s, v| s.engine.program = Some(v.text()),
        "program to run, found along PATH")
        .of(&["exec"]).exact("program.command", "false"),
    row("arguments", Kind::Text, |s, v| s.engine.arguments = Some(v.text()),
        "its arguments: %r is the job's runtime in seconds, %n its name")
        .of(&["exec"]).exact("program.command", "x"),
    row("grace_time", Kind::Int(0, MANY), |s, v| s.engine.grace_s = v.int(),
        "seconds from asking it to end to killing it")
        .of(&["exec"]).default("1").exact("program.grace", "2"),
    row("std_redirect", Kind::Bool, |s, v| s.engine.redirect = v.bool(),
        "its output goes into files: NAME.stdout and NAME.stderr")
        .of(&["exec"]).default("1").exact("program.output", "0"),
];

const ABSENT: &str = "the engine that has it is not in this build";
const NET: &[&str] = &["net", "netsplice"];

/// An option of engines that this build lacks. Its value is read as text, whatever it is.
const fn of_absent(
    name: &'static str,
    engines: &'static [&'static str],
    help: &'static str,
) -> Row {
    bare(name, Kind::MaybeText, help).of(engines).refused("1", ABSENT)
}

#[rustfmt::skip]
pub(in crate::options) const LACKING: &[Row] = &[
    of_absent("hostname", &["net", "netsplice", "rdma", "libhdfs"], "the other end"),
    of_absent(
        "port",
        &[
            "net",
            "netsplice",
            "rdma",
            "libhdfs",
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        "its port",
    ),
    of_absent("protocol", NET, "tcp, udp, unix, vsock").alias(&["proto"]),
    of_absent("nodelay", NET, "TCP_NODELAY"),
    of_absent("listen", NET, "wait for connections"),
    of_absent("pingpong", NET, "send back what was received"),
    of_absent("interface", NET, "interface for multicast"),
    of_absent("ttl", NET, "hops of multicast"),
    of_absent("window_size", NET, "size of the socket's buffers"),
    of_absent("mss", NET, "largest TCP segment"),
    of_absent("donorname", &["e4defrag"], "file that lends blocks"),
    of_absent("inplace", &["e4defrag"], "how blocks are lent"),
    of_absent("volume", &["gfapi", "gfapi_async"], "volume"),
    of_absent("brick", &["gfapi", "gfapi_async"], "brick"),
    of_absent("single-instance", &["gfapi", "gfapi_async"], "one connection for all"),
    of_absent("skip_bad", &["mtd"], "leave bad blocks out"),
    of_absent("uri", &["nbd"], "server"),
    of_absent("bindname", &["rdma"], "address to bind to"),
    of_absent("verb", &["rdma"], "kind of transfer"),
    of_absent("clustername", &["rados", "rbd"], "cluster"),
    of_absent("pool", &["rados", "rbd", "dfs"], "pool"),
    of_absent("clientname", &["rados", "rbd"], "user of the cluster"),
    of_absent("conf", &["rados"], "configuration file"),
    of_absent("busy_poll", &["rados", "rbd"], "poll for completions"),
    of_absent("touch_objects", &["rados"], "make objects first"),
    of_absent("rbdname", &["rbd"], "image"),
    of_absent("rbd_encryption_format", &["rbd"], "format of encryption"),
    of_absent("rbd_encryption_passphrase", &["rbd"], "its passphrase"),
    of_absent("http_host", &["http"], "server"),
    of_absent("http_user", &["http"], "user"),
    of_absent("http_pass", &["http"], "password"),
    of_absent("https", &["http"], "over TLS"),
    of_absent("http_mode", &["http"], "webdav, s3 or swift"),
    of_absent("http_s3_region", &["http"], "region"),
    of_absent("http_s3_key", &["http"], "secret key"),
    of_absent("http_s3_keyid", &["http"], "name of the key"),
    of_absent("http_s3_security_token", &["http"], "token of a session"),
    of_absent("http_s3_sse_customer_key", &["http"], "key of encryption"),
    of_absent("http_s3_sse_customer_algorithm", &["http"], "kind of encryption"),
    of_absent("http_s3_storage_class", &["http"], "storage class"),
    of_absent("http_swift_auth_token", &["http"], "token"),
    of_absent("http_object_mode", &["http"], "one object per block, or ranges of one"),
    of_absent("http_verbose", &["http"], "amount of output"),
    of_absent("namenode", &["libhdfs"], "name node"),
    of_absent("hdfsdirectory", &["libhdfs"], "directory"),
    of_absent("chunk_size", &["libhdfs", "dfs"], "size of a chunk"),
    of_absent("single_instance", &["libhdfs"], "one connection for all"),
    of_absent("hdfs_use_direct", &["libhdfs"], "direct reads"),
    of_absent("cont", &["dfs"], "container"),
    of_absent("object_class", &["dfs"], "class of objects"),
    of_absent("svcl", &["dfs"], "no longer used"),
    of_absent(
        "serverip",
        &[
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        "address of the server",
    ),
    of_absent(
        "direct_write_to_pmem",
        &[
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        "write past caches",
    ),
    of_absent("busy_wait_polling", &["librpma_apm_server", "librpma_gpspm_server"],
        "poll for completions"),
    of_absent("nfs_url", &["nfs"], "server and export"),
    of_absent("gpu_dev_ids", &["libcufile", "libhipfile"], "GPUs"),
    of_absent("cuda_io", &["libcufile"], "how memory of the GPU is reached"),
    of_absent("rocm_io", &["libhipfile"], "how memory of the GPU is reached"),
    of_absent("xnvme_be", &["xnvme"], "backend"),
    of_absent("xnvme_mem", &["xnvme"], "backend for memory"),
    of_absent("xnvme_async", &["xnvme"], "backend for asynchronous commands"),
    of_absent("xnvme_sync", &["xnvme"], "backend for synchronous commands"),
    of_absent("xnvme_admin", &["xnvme"], "backend for administration"),
    of_absent("xnvme_dev_nsid", &["xnvme"], "namespace"),
    of_absent("xnvme_dev_subnqn", &["xnvme"], "subsystem"),
    of_absent("xnvme_iovec", &["xnvme"], "vectored commands"),
    of_absent("libblkio_driver", &["libblkio"], "driver"),
    of_absent("libblkio_path", &["libblkio"], "path"),
    of_absent("libblkio_pre_connect_props", &["libblkio"], "properties before connecting"),
    of_absent("libblkio_num_entries", &["libblkio"], "entries of a queue"),
    of_absent("libblkio_queue_size", &["libblkio"], "size of a queue"),
    of_absent("libblkio_pre_start_props", &["libblkio"], "properties before starting"),
    of_absent("libblkio_vectored", &["libblkio"], "vectored calls"),
    of_absent("libblkio_write_zeroes_on_trim", &["libblkio"], "trims write zeros"),
    of_absent("libblkio_wait_mode", &["libblkio"], "how completions are waited for"),
    of_absent("libblkio_force_enable_completion_eventfd", &["libblkio"],
        "completions signal a file"),
];

const PROFILE: &str = "profiles are not built";

/// An option of a profile; without one it means nothing.
const fn of_profile(name: &'static str, help: &'static str) -> Row {
    bare(name, Kind::MaybeText, help)
        .under("profile")
        .when(|s| s.given.has("profile"))
        .refused("1", PROFILE)
}

#[rustfmt::skip]
pub(in crate::options) const PROFILES: &[Row] = &[
    bare("profile", Kind::Text, "a ready-made set of jobs").refused("tiobench", PROFILE),
    of_profile("device-names", "act: devices"),
    of_profile("load", "act: how many times the basic load"),
    of_profile("test-duration", "act: length of the test"),
    of_profile("threads-per-queue", "act: threads that read from each device"),
    of_profile("read-req-num-512-blocks", "act: sectors of a read"),
    of_profile("large-block-op-kbytes", "act: size of large operations"),
    of_profile("prep", "act: write the devices first"),
    of_profile("block", "tiobench: block size"),
    of_profile("numruns", "tiobench: number of runs"),
    of_profile("dir", "tiobench: directory"),
    of_profile("threads", "tiobench: number of threads"),
];
