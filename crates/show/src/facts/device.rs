//! A block device and what lies under it, as a tree.

use candor_record::Facts;
use candor_record::facts::{
    ArrayFacts, DeviceFacts, Fact, Link, LoopBacking, Mapping, NvmeFacts, QueueFacts, ScsiFacts,
    value,
};
use candor_record::fmt::column::size;
use candor_record::fmt::{self, column};

use crate::describe;
use crate::layout::Page;

/// Deepest tree that is drawn; a loop in the facts must not become a loop here.
const DEPTH_MAX: usize = 12;

/// The device and all below it. `indent` continues the lines of the devices above; `lead` opens
/// this one's.
pub(super) fn tree(page: &mut Page, facts: &Facts, name: &str, indent: &str, lead: &str) {
    let Some(device) = facts.device(name) else {
        page.paragraph(&format!("{indent}{lead}"), &format!("{name} (no facts known)"));
        return;
    };
    page.paragraph(&format!("{indent}{lead}"), &headline(device));
    // Below a `├─` the line goes on, below a `└─` it does not.
    let inner = format!("{indent}{}", lead.replace("├─", "│ ").replace("└─", "  "));
    let below: Vec<&String> = device.below.iter().collect();
    let bar = if below.is_empty() { "   " } else { "│  " };
    for (label, text) in details(device) {
        page.paragraph(&format!("{inner}{bar}{label:<10}"), &text);
    }
    if inner.chars().count() > 3 * DEPTH_MAX {
        return;
    }
    for (i, name) in below.iter().enumerate() {
        let lead = if i + 1 == below.len() { "└─ " } else { "├─ " };
        tree(page, facts, name, &inner, lead);
    }
}

fn headline(device: &DeviceFacts) -> String {
    let mut text = describe::device(device);
    if let Some(start) = value(&device.partition_start_bytes) {
        text = format!("{text}, begins at {}", size(*start));
    }
    text
}

fn details(device: &DeviceFacts) -> Vec<(String, String)> {
    let mut lines = vec![
        ("blocks", blocks(&device.queue)),
        ("requests", requests(&device.queue)),
        ("queue", queue(&device.queue)),
        ("cache", cache(&device.queue)),
        ("quirks", quirks(device)),
    ];
    if let Some(backing) = &device.loop_backing {
        lines.push(("backing", loop_backing(backing)));
    }
    lines.push(("driver", value(&device.driver).cloned().unwrap_or_default()));
    lines.extend(device.array.as_ref().map(|array| ("array", self::array(array))));
    lines.extend(device.mapping.as_ref().map(|mapping| ("mapping", self::mapping(mapping))));
    lines.extend(device.nvme.as_ref().map(|nvme| ("nvme", self::nvme(nvme))));
    lines.extend(device.scsi.as_ref().map(|scsi| ("scsi", self::scsi(scsi))));
    lines.extend(device.remote.as_ref().map(|remote| ("remote", describe::remote(remote))));
    if let Some(link) = &device.link {
        lines.push(("link", describe::link(link)));
        lines.push(("", format!("= {}", link.arithmetic)));
        let possible = link.possible.as_ref().filter(|p| p.value != link.negotiated.value);
        lines.extend(possible.map(|p| ("", format!("both ends support {}", p.value))));
    }
    let held = [("held by", device.held_by.join(", "))];
    let owned = |(label, text): (&str, String)| (label.to_owned(), text);
    let lines = lines.into_iter().map(owned).chain(way(&device.way));
    let lines = lines.chain(held.into_iter().map(owned));
    lines.filter(|(_, text)| !text.is_empty()).collect()
}

/// Every link from the host's end to the device's, each under the one before; none where the only
/// one was already told.
fn way(links: &[Link]) -> Vec<(String, String)> {
    if links.len() < 2 {
        return Vec::new();
    }
    let narrowest = links.iter().map(|link| link.ceiling_bytes_per_s).min();
    let lines = |(depth, link): (usize, &Link)| {
        let label = if depth == 0 { "path" } else { "" };
        let inner = "   ".repeat(depth);
        let lead = if depth == 0 { "" } else { "└─ " };
        let (at, carries) = (&link.at, column::rate(link.ceiling_bytes_per_s as f64));
        let mut text = format!("{} {at}: {}, {carries}", link.kind, link.negotiated.value);
        let possible = link.possible.as_ref().filter(|p| p.value != link.negotiated.value);
        text += &possible.map(|p| format!(", supports {}", p.value)).unwrap_or_default();
        if Some(link.ceiling_bytes_per_s) == narrowest {
            text += " ← narrowest";
        }
        let above = "   ".repeat(depth.saturating_sub(1));
        [
            (format!("{label:<10}{above}{lead}"), text),
            (format!("{:<10}{inner}= ", ""), link.arithmetic.clone()),
        ]
    };
    links.iter().enumerate().flat_map(lines).collect()
}

fn array(array: &ArrayFacts) -> String {
    let members = value(&array.members).map(|n| fmt::counted(*n, "member"));
    joined([value(&array.level).cloned(), members])
}

fn mapping(mapping: &Mapping) -> String {
    let maker = value(&mapping.maker).map(|maker| format!("made by {maker}"));
    let targets = value(&mapping.targets).map(|kinds| kinds.join(" and "));
    joined([value(&mapping.name).cloned(), targets, maker])
}

/// Facts that distinguish one path of several; a disk that simply runs is no news.
fn scsi(scsi: &ScsiFacts) -> String {
    let state = value(&scsi.state).filter(|state| *state != "running").cloned();
    joined([state, value(&scsi.access).map(|access| format!("access {access}"))])
}

fn nvme(nvme: &NvmeFacts) -> String {
    joined([
        value(&nvme.transport).map(|name| format!("over {name}")),
        value(&nvme.state).cloned(),
        value(&nvme.ana_state).map(|state| format!("access {state}")),
        value(&nvme.iopolicy).map(|policy| format!("paths chosen by {policy}")),
        value(&nvme.queues).map(|n| fmt::counted(*n, "queue")),
        value(&nvme.queue_entries).map(|n| format!("{n} commands in each")),
    ])
}

/// The size of a positive fact, after its name.
fn sized(name: &str, fact: &Option<Fact<u64>>) -> Option<String> {
    value(fact).filter(|bytes| **bytes > 0).map(|bytes| format!("{name} {}", size(*bytes)))
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn blocks(queue: &QueueFacts) -> String {
    joined([
        sized("logical", &queue.logical_block_bytes),
        sized("physical", &queue.physical_block_bytes),
        sized("optimal", &queue.optimal_io_bytes),
        sized("chunks of", &queue.chunk_bytes),
        sized("misaligned by", &queue.alignment_offset_bytes),
    ])
}

fn requests(queue: &QueueFacts) -> String {
    joined([
        sized("at most", &queue.max_request_bytes),
        sized("hardware accepts", &queue.max_hw_request_bytes),
        value(&queue.max_segments).map(|n| fmt::counted(*n, "segment")),
    ])
}

fn queue(queue: &QueueFacts) -> String {
    joined([
        value(&queue.nr_requests).map(|n| fmt::counted(*n, "request")),
        value(&queue.device_depth).map(|n| format!("the device accepts {n} at once")),
        value(&queue.scheduler).map(|name| format!("scheduler {name}")),
        sized("read-ahead", &queue.read_ahead_bytes),
        value(&queue.writeback_latency_ns)
            .filter(|ns| **ns > 0)
            .map(|ns| format!("write-back limited to {}", fmt::time(*ns as f64))),
        value(&queue.io_poll).filter(|on| **on).map(|_| "completions can be polled".to_owned()),
    ])
}

fn cache(queue: &QueueFacts) -> String {
    let fua = value(&queue.fua).map(|on| if *on { "with FUA" } else { "without FUA" });
    joined([value(&queue.write_cache).cloned(), fua.map(str::to_owned)])
}

/// The unusual properties of a device.
fn quirks(device: &DeviceFacts) -> String {
    joined([
        value(&device.counts_io)
            .filter(|on| !**on)
            .map(|_| "the kernel does not count I/O on it".to_owned()),
        value(&device.bio_based).filter(|on| **on).map(|_| "no request queue".to_owned()),
        value(&device.queue.rotational)
            .filter(|on| **on)
            .map(|_| "treated as a rotating disk".to_owned()),
        value(&device.queue.zoned)
            .filter(|model| *model != "none")
            .map(|model| format!("zoned: {model}")),
        value(&device.numa_node).filter(|node| **node > 0).map(|node| format!("NUMA node {node}")),
    ])
}

fn loop_backing(backing: &LoopBacking) -> String {
    let how = match value(&backing.direct) {
        Some(true) => "direct",
        Some(false) => "through the page cache",
        None => "unknown whether direct",
    };
    let on = backing.filesystem.as_ref().map(|fs| format!(" on {fs}")).unwrap_or_default();
    format!("{}{on}, {how}", backing.file.value)
}
