//! Where the running kernel keeps what the programs read.

use super::btf::Btf;
use super::tally;

/// A number of a bit.
pub type Bits = u32;

/// Offsets in the kernel's structures, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Which argument of each tracepoint is the request or bio.
    pub issue_argument: u32,
    pub complete_argument: u32,
    pub queue_argument: u32,
    pub bio_complete_argument: u32,
    /// None where the kernel does not tell of these.
    pub requeue_argument: Option<u32>,
    pub split_argument: Option<u32>,
    /// The event of the process that makes a request, and which argument the request is. Before
    /// Linux 6.5 that is the one of its way into a scheduler.
    pub made: Option<(&'static str, u32)>,
    /// The parent among the arguments of `sched_process_fork`, which the child follows, and where a
    /// task has the number of its process.
    pub fork: Option<Fork>,
    pub request: Part,
    pub bio: Part,
    /// From what [`Part::device`] points at, pointer by pointer, to the disk.
    pub disk_of_request: Vec<u32>,
    pub disk_of_bio: Vec<u32>,
    /// The disk's number; its first minor number is behind it.
    pub major: u32,
    /// Bits of flags, where the kernel has them.
    pub flag_bits: [Option<Bits>; tally::FLAGS.len()],
}

/// How a program learns of a new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    pub parent_argument: u32,
    pub process: u32,
}

/// The part of a structure that is copied at once, and where the fields are in the copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Start of the field.
    pub from: u32,
    /// Bytes of it that are used.
    pub used: u32,
    /// A pointer from which the disk is found.
    pub device: i16,
    pub sector: i16,
    pub length: i16,
    pub flags: i16,
    /// Time at which it was made, in ns.
    pub started: i16,
    /// When the driver took it, in ns.
    pub taken: i16,
    /// Number of the request in its hardware queue, and where that queue is. A request that waits
    /// in a scheduler has a number there, and one in the queue only while the driver has it.
    pub tag: i16,
    pub scheduler_tag: i16,
    pub hardware_queue: i16,
}

impl Part {
    /// Bytes that are copied.
    pub fn bytes(&self) -> usize {
        self.used as usize
    }

    /// From the offsets of all fields, each at most 8 bytes.
    fn new(of: &Offsets) -> Option<Part> {
        let times_and_tags = [of.started, of.taken, of.tag, of.scheduler_tag, of.hardware_queue];
        let all = [of.device, of.sector, of.length, of.flags].into_iter().chain(times_and_tags);
        let from = all.clone().min()?;
        let used = all.max()? + 8 - from;
        let in_part = |offset: u32| (offset - from) as i16;
        (used as usize <= Layout::COPY_BYTES).then(|| Part {
            from,
            used,
            device: in_part(of.device),
            sector: in_part(of.sector),
            length: in_part(of.length),
            flags: in_part(of.flags),
            started: in_part(of.started),
            taken: in_part(of.taken),
            tag: in_part(of.tag),
            scheduler_tag: in_part(of.scheduler_tag),
            hardware_queue: in_part(of.hardware_queue),
        })
    }
}

/// Offsets of the fields of [`Part`] in the kernel's structure.
struct Offsets {
    device: u32,
    sector: u32,
    length: u32,
    flags: u32,
    started: u32,
    taken: u32,
    tag: u32,
    scheduler_tag: u32,
    hardware_queue: u32,
}

impl Layout {
    /// Room for the largest part.
    pub const COPY_BYTES: usize = 320;

    /// Of a kernel; the error is what it lacks.
    pub fn of(btf: &Btf<'_>) -> Result<Layout, String> {
        let field = |structure: &str, path: &str| {
            btf.field(structure, path).ok_or_else(|| format!("{structure}.{path}"))
        };
        let argument = |tracepoint: &str, structure: &str| {
            btf.argument(tracepoint, structure).ok_or_else(|| format!("tracepoint {tracepoint}"))
        };
        let request = |name: &str| field("request", name);
        let bio = |name: &str| field("bio", name);
        // Until Linux 5.15 a request pointed at its disk itself.
        let (device, disk_of_request) = match btf.field("request", "rq_disk") {
            Some(disk) => (disk, Vec::new()),
            None => (request("q")?, vec![field("request_queue", "disk")?]),
        };
        let of_request = Offsets {
            device,
            started: request("start_time_ns")?,
            taken: request("io_start_time_ns")?,
            sector: request("__sector")?,
            length: request("__data_len")?,
            flags: request("cmd_flags")?,
            tag: request("tag")?,
            scheduler_tag: request("internal_tag")?,
            hardware_queue: request("mq_hctx")?,
        };
        let sector = bio("bi_iter.bi_sector")?;
        let of_bio = Offsets {
            device: bio("bi_bdev")?,
            sector,
            length: bio("bi_iter.bi_size")?,
            flags: bio("bi_opf")?,
            started: sector,
            taken: sector,
            tag: sector,
            scheduler_tag: sector,
            hardware_queue: sector,
        };
        let major = field("gendisk", "major")?;
        if field("gendisk", "first_minor")? != major + 4 {
            return Err("gendisk.first_minor behind gendisk.major".to_owned());
        }
        Ok(Layout {
            issue_argument: argument("block_rq_issue", "request")?,
            complete_argument: argument("block_rq_complete", "request")?,
            queue_argument: argument("block_bio_queue", "bio")?,
            bio_complete_argument: argument("block_bio_complete", "bio")?,
            requeue_argument: btf.argument("block_rq_requeue", "request"),
            split_argument: btf.argument("block_split", "bio"),
            made: ["block_io_start", "block_rq_insert"]
                .into_iter()
                .find_map(|event| Some((event, btf.argument(event, "request")?))),
            fork: btf.argument("sched_process_fork", "task_struct").and_then(|parent_argument| {
                Some(Fork { parent_argument, process: btf.field("task_struct", "tgid")? })
            }),
            request: Part::new(&of_request).ok_or("a request of at most 320 bytes")?,
            bio: Part::new(&of_bio).ok_or("a bio of at most 320 bytes")?,
            disk_of_request,
            disk_of_bio: vec![field("block_device", "bd_disk")?],
            major,
            flag_bits: tally::FLAGS
                .map(|(_, bit)| btf.constant("req_flag_bits", bit).map(|bit| bit as Bits)),
        })
    }
}
