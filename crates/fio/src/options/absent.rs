//! Options of engines and profiles that candor does not support.

use super::kind::{Kind, Row};
use candor_front::bare;

const ABSENT: &str = "the engine that has it is not in this build";
const NET: &[&str] = &["net", "netsplice"];

/// An option of an engine that is not built; its value is any text.
const fn of_absent(
    name: &'static str,
    engines: &'static [&'static str],
    help: &'static str,
) -> Row {
    bare(name, Kind::MaybeText, help).of(engines).refused("1", ABSENT)
}

#[rustfmt::skip]
pub(super) const LACKING: &[Row] = &[
    of_absent("hostname", &["net", "netsplice", "rdma", "libhdfs"], "name of the peer"),
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
        "port of the peer",
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
    of_absent("inplace", &["e4defrag"], "in-place defragmentation"),
    of_absent("volume", &["gfapi", "gfapi_async"], "volume"),
    of_absent("brick", &["gfapi", "gfapi_async"], "brick"),
    of_absent("single-instance", &["gfapi", "gfapi_async"], "one connection for all"),
    of_absent("skip_bad", &["mtd"], "skip bad blocks"),
    of_absent("uri", &["nbd"], "server"),
    of_absent("bindname", &["rdma"], "address to bind to"),
    of_absent("verb", &["rdma"], "kind of transfer"),
    of_absent("clustername", &["rados", "rbd"], "cluster"),
    of_absent("pool", &["rados", "rbd", "dfs"], "pool"),
    of_absent("clientname", &["rados", "rbd"], "user of the cluster"),
    of_absent("conf", &["rados"], "configuration file"),
    of_absent("busy_poll", &["rados", "rbd"], "poll for completions"),
    of_absent("touch_objects", &["rados"], "create objects first"),
    of_absent("rbdname", &["rbd"], "image"),
    of_absent("rbd_encryption_format", &["rbd"], "format of encryption"),
    of_absent("rbd_encryption_passphrase", &["rbd"], "passphrase of encryption"),
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
    of_absent("cuda_io", &["libcufile"], "access to GPU memory"),
    of_absent("rocm_io", &["libhipfile"], "access to GPU memory"),
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
    of_absent("libblkio_wait_mode", &["libblkio"], "wait mode for completions"),
    of_absent("libblkio_force_enable_completion_eventfd", &["libblkio"],
        "signal completions by eventfd"),
];

const PROFILE: &str = "profiles are not built";

/// An option of a profile; without `profile` it has no effect.
const fn of_profile(name: &'static str, help: &'static str) -> Row {
    bare(name, Kind::MaybeText, help)
        .under("profile")
        .when(|s| s.given.has("profile"))
        .refused("1", PROFILE)
}

#[rustfmt::skip]
pub(super) const PROFILES: &[Row] = &[
    bare("profile", Kind::Text, "predefined set of jobs").refused("tiobench", PROFILE),
    of_profile("device-names", "act: devices"),
    of_profile("load", "act: multiple of the basic load"),
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
