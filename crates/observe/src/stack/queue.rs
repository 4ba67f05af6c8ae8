//! Limits of a device's request queue.

use candor_record::facts::{Fact, QueueFacts};

use crate::source::node::Node;
use crate::source::parse::{
    chosen, flag, kib, microseconds, number, positive, positive_sectors, words,
};

/// Limits of the queue that serves a device. A partition has no queue of its own: `owner` is its
/// disk, and for any other device the device itself.
pub(crate) fn of(node: &Node, owner: &Node) -> QueueFacts {
    QueueFacts {
        logical_block_bytes: owner.fact("queue/logical_block_size", positive),
        physical_block_bytes: owner.fact("queue/physical_block_size", positive),
        minimum_io_bytes: owner.fact("queue/minimum_io_size", positive),
        optimal_io_bytes: owner.fact("queue/optimal_io_size", positive),
        max_request_bytes: owner.fact("queue/max_sectors_kb", kib),
        max_hw_request_bytes: owner.fact("queue/max_hw_sectors_kb", kib),
        max_segments: owner.fact("queue/max_segments", positive),
        chunk_bytes: chunk(owner),
        device_depth: depth(owner),
        read_ahead_bytes: owner.fact("queue/read_ahead_kb", kib),
        write_cache: owner.fact("queue/write_cache", words),
        device_cache: device_cache(owner),
        fua: owner.fact("queue/fua", flag),
        rotational: owner.fact("queue/rotational", flag),
        writeback_latency_ns: owner.fact("queue/wbt_lat_usec", microseconds),
        counts_commands: owner.fact("queue/iostats_passthrough", flag),
        io_poll: owner.fact("queue/io_poll", flag),
        zoned: owner.fact("queue/zoned", words),
        // A partition's own: where it starts matters, not where its disk does.
        alignment_offset_bytes: node.fact("alignment_offset", number),
        ..scheduling(owner)
    }
}

/// The facts about queueing and sorting. A bio-based device queues nothing, and old kernels show
/// meaningless numbers for it.
fn scheduling(owner: &Node) -> QueueFacts {
    if bio_based(owner).is_none_or(|fact| fact.value) {
        return QueueFacts::default();
    }
    QueueFacts {
        nr_requests: owner.fact("queue/nr_requests", positive),
        hw_queues: Some(owner.names("mq").len() as u64)
            .filter(|queues| *queues > 0)
            .map(|queues| Fact::new(queues, owner.path("mq").display().to_string())),
        scheduler: owner.fact("queue/scheduler", chosen),
        ..QueueFacts::default()
    }
}

/// Whether a device passes requests on without a queue of its own: then `mq/` is absent, or empty
/// for the head of NVMe paths. Unknown for what has no queue directory (partitions).
pub(crate) fn bio_based(node: &Node) -> Option<Fact<bool>> {
    let path = node.path("mq").display().to_string();
    node.has("queue").then(|| Fact::new(node.names("mq").is_empty(), path))
}

/// The cache that virtio and SCSI disks name as their own.
fn device_cache(owner: &Node) -> Option<Fact<String>> {
    owner.fact("cache_type", words).or_else(|| {
        let address = owner.names("device/scsi_disk").into_iter().next()?;
        owner.fact(&format!("device/scsi_disk/{address}/cache_type"), words)
    })
}

/// The chunk of a striped array, or the boundary that the device itself names.
fn chunk(owner: &Node) -> Option<Fact<u64>> {
    owner
        .fact("queue/chunk_sectors", positive_sectors)
        .or_else(|| owner.fact("md/chunk_size", positive))
}

/// Commands in flight at once: what the SCSI layer says, else the tags of all hardware queues
/// together (a thread that stays on one CPU can use only those of one queue).
fn depth(owner: &Node) -> Option<Fact<u64>> {
    owner.fact("device/queue_depth", positive).or_else(|| tags(owner))
}

fn tags(owner: &Node) -> Option<Fact<u64>> {
    let queues = owner.names("mq");
    let each = queues
        .iter()
        .map(|queue| owner.text(&format!("mq/{queue}/nr_tags")).and_then(|text| positive(&text)));
    let sum = each.sum::<Option<u64>>().filter(|&sum| sum > 0)?;
    Some(Fact::new(sum, owner.path("mq/*/nr_tags").display().to_string()))
}
