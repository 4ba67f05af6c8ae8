//! Engines that fio knows.

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineName {
    /// Name.
    pub name: &'static str,
    /// Effect, in a few words.
    pub help: &'static str,
    /// Reason for a refusal; empty if supported.
    pub refused: &'static str,
}

const fn known(name: &'static str, help: &'static str) -> EngineName {
    EngineName { name, help, refused: "" }
}

const fn lacking(name: &'static str, help: &'static str, refused: &'static str) -> EngineName {
    EngineName { name, help, refused }
}

const NETWORK: &str = "exchanging data with another host is not built yet";
const LIBRARY: &str = "it needs a library or a device that this build does not use";

/// All engines.
pub const ENGINES: &[EngineName] = &[
    known("psync", "pread and pwrite"),
    known("pvsync2", "preadv2 and pwritev2, with flags"),
    known("libaio", "the kernel's aio"),
    known("io_uring", "io_uring"),
    known("mmap", "loads and stores on a mapping"),
    known("null", "no I/O: measures candor itself"),
    known("sync", "read and write, with lseek"),
    known("vsync", "readv and writev of adjacent blocks"),
    known("pvsync", "preadv and pwritev"),
    known("posixaio", "aio_read and aio_write of the C library"),
    known("splice", "splice and vmsplice"),
    known("cpuio", "CPU load"),
    known("filecreate", "creates files"),
    known("filestat", "looks up files"),
    known("filedelete", "removes files"),
    lacking(
        "fileoperations",
        "creates, looks up or removes files",
        "it is a family: filecreate, filestat, filedelete, dircreate, dirstat, dirdelete",
    ),
    known("dircreate", "creates directories"),
    known("dirstat", "looks up directories"),
    known("dirdelete", "removes directories"),
    known("falloc", "fallocate"),
    known("ftruncate", "ftruncate"),
    known("page_fault", "page faults of private memory"),
    known("exec", "runs a program"),
    known("io_uring_cmd", "commands to NVMe devices"),
    known("sg", "commands to SCSI devices"),
    lacking("net", "sends and receives", NETWORK),
    lacking("netsplice", "sends and receives by splice", NETWORK),
    lacking("rdma", "remote memory", NETWORK),
    known("http", "objects by HTTP: S3, Swift, WebDAV"),
    lacking("e4defrag", "moves extents of ext4", LIBRARY),
    lacking("mtd", "raw flash", LIBRARY),
    lacking("gfapi", "Gluster", LIBRARY),
    lacking("gfapi_async", "Gluster, asynchronous", LIBRARY),
    lacking("libhdfs", "HDFS", LIBRARY),
    lacking("rados", "objects of Ceph", LIBRARY),
    lacking("rbd", "images of Ceph", LIBRARY),
    lacking("nbd", "network block devices", LIBRARY),
    lacking("nfs", "NFS without the kernel", LIBRARY),
    lacking("libiscsi", "iSCSI without the kernel", LIBRARY),
    lacking("libzbc", "zoned devices", LIBRARY),
    lacking("xnvme", "NVMe by xNVMe", LIBRARY),
    lacking("libblkio", "block devices by libblkio", LIBRARY),
    lacking("dfs", "DAOS", LIBRARY),
    lacking("ime_psync", "IME", LIBRARY),
    lacking("ime_psyncv", "IME, vectored", LIBRARY),
    lacking("ime_aio", "IME, asynchronous", LIBRARY),
    lacking("pmemblk", "persistent memory as blocks", LIBRARY),
    lacking("libpmem", "persistent memory", LIBRARY),
    lacking("dev-dax", "persistent memory as a device", LIBRARY),
    lacking("librpma_apm_client", "remote persistent memory", LIBRARY),
    lacking("librpma_apm_server", "remote persistent memory", LIBRARY),
    lacking("librpma_gpspm_client", "remote persistent memory", LIBRARY),
    lacking("librpma_gpspm_server", "remote persistent memory", LIBRARY),
    lacking("libcufile", "I/O to GPU memory", LIBRARY),
    lacking("libhipfile", "I/O to GPU memory", LIBRARY),
    lacking("solarisaio", "aio of Solaris", LIBRARY),
    lacking("windowsaio", "aio of Windows", LIBRARY),
    lacking(
        "external",
        "an engine from a shared object: external:PATH",
        "engines from shared objects are not loaded",
    ),
];

/// Finds an engine by its name.
pub fn engine(name: &str) -> Option<&'static EngineName> {
    let name = plain(name);
    ENGINES.iter().find(|engine| engine.name == name)
}

/// The name of an engine without its path; old names are replaced.
pub(super) fn plain(name: &str) -> &str {
    let name = name.trim();
    match name.split_once(':').map_or(name, |(head, _)| head) {
        "linuxaio" | "aio" => "libaio",
        name => name,
    }
}
