//! Page of `candor inspect`: the host, and each target from its path down to the devices.

mod device;
mod list;

#[cfg(test)]
mod tests;

use candor_record::facts::{
    AccountingOutcome, AccountingProbe, CgroupFacts, DirectIo, Fact, FileFacts, Filesystem,
    HostFacts, IoLimit, TargetFacts, value,
};
use candor_record::fmt::column::size;
use candor_record::fmt::{column, counted};
use candor_record::{Facts, Report};

use crate::describe;
use crate::layout::Page;
use crate::style::{Style, Tone};

pub use list::list;

/// Names of the hosts of a report with their facts, as last seen.
pub fn hosts(report: &Report) -> Vec<(String, &Facts)> {
    let Some(last) = report.phases.last() else { return Vec::new() };
    last.host_names().into_iter().zip(last.hosts.iter().map(|host| &host.facts)).collect()
}

/// The facts of all hosts of a report as text, those of hosts that have the same once.
pub fn of_hosts(report: &Report, style: &Style) -> String {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (name, facts) in hosts(report) {
        let text = text(facts, style);
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => all.push((text, vec![name])),
        }
    }
    match all.as_slice() {
        [(text, names)] if names.len() == 1 => text.clone(),
        all => all
            .iter()
            .map(|(text, names)| {
                format!("{}\n\n{text}", style.paint(Tone::Strong, &names.join(", ")))
            })
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// The facts as text.
pub fn text(facts: &Facts, style: &Style) -> String {
    let mut page = Page::new(style);
    host(&mut page, &facts.host);
    for target in &facts.targets {
        page.blank();
        self::target(&mut page, facts, target);
    }
    if !facts.missing.is_empty() {
        page.heading("Could not be read");
    }
    for missing in &facts.missing {
        page.paragraph("  ", &crate::report::describe_missing(missing));
    }
    page.finish()
}

fn host(page: &mut Page, host: &HostFacts) {
    host_lines(host).iter().for_each(|(name, text)| labelled(page, name, text));
}

/// The host, a name and a text for each thing that is known of it.
pub fn host_lines(host: &HostFacts) -> Vec<(&'static str, String)> {
    let available = value(&host.memory_available_bytes).map(|b| format!("{} available", size(*b)));
    let occupied = host.memory_occupied.map(|memory| {
        let locked = if memory.locked { " and locked" } else { "" };
        format!("{} occupied{locked} by this run", size(memory.bytes))
    });
    let memory = available.into_iter().chain(occupied).collect::<Vec<_>>().join(", ");
    let cost = value(&host.clock_cost_ns).map(|ns| format!("{ns:.0} ns a reading"));
    let clock = value(&host.clocksource).cloned();
    let clock = [clock, cost].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let governor = value(&host.cpu_governor).map(|name| format!("frequency governor {name}"));
    let limits = cgroup(&host.cgroup).join("; ");
    let limits = if limits.is_empty() { limits } else { format!("control group: {limits}") };
    let locked = value(&host.lockdown).filter(|mode| *mode != "none").cloned();
    let lines = [
        ("Host", describe::host(host)),
        ("Memory", memory),
        ("Clock", clock),
        ("CPU", governor.unwrap_or_default()),
        ("Limits", limits),
        ("Lockdown", locked.unwrap_or_default()),
    ];
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// A line with its name in front; none where there is nothing to say.
fn labelled(page: &mut Page, name: &str, text: &str) {
    if !text.is_empty() {
        page.paragraph(&format!("{name:<12}"), text);
    }
}

fn cgroup(limits: &CgroupFacts) -> Vec<String> {
    let memory = value(&limits.memory_max_bytes).map(|b| format!("at most {} of memory", size(*b)));
    let cpu = value(&limits.cpu_max).map(|cpus| format!("at most {cpus} CPUs' worth of time"));
    let io = limits.io.iter().map(|fact: &Fact<IoLimit>| io_limit(&fact.value));
    memory.into_iter().chain(cpu).chain(io).collect()
}

fn io_limit(limit: &IoLimit) -> String {
    let rate = |bytes: u64| column::rate(bytes as f64);
    let iops = |ops: u64| format!("{} IOPS", column::iops(ops as f64));
    let parts: Vec<_> = [
        ("read", limit.read_bytes_per_s.map(rate)),
        ("write", limit.write_bytes_per_s.map(rate)),
        ("read", limit.read_ops_per_s.map(iops)),
        ("write", limit.write_ops_per_s.map(iops)),
    ]
    .into_iter()
    .filter_map(|(op, text)| Some(format!("{op} at most {}", text?)))
    .collect();
    format!("device {}: {}", limit.device, parts.join(", "))
}

fn target(page: &mut Page, facts: &Facts, target: &TargetFacts) {
    let kind = describe::path_kind(target.kind);
    page.line(&format!("{} ({kind})", page.style.paint(Tone::Strong, &target.path)));
    let mut lead = String::from("└─ ");
    for on in target.filesystem.iter().chain(&target.held_on) {
        page.paragraph(&lead, &filesystem(on));
        lead.insert_str(0, "   ");
    }
    if let Some(remote) = &target.remote {
        page.paragraph(&lead, &describe::remote(remote));
        let under = format!("{}= ", lead.replace("└─ ", "   "));
        if let Some(link) = &remote.link {
            page.paragraph(&under, &link.arithmetic);
        }
    }
    for top in target.devices() {
        device::tree(page, facts, top, "", &lead);
    }
    let may_have_one = target.holding().is_none_or(|on| !on.in_memory && !on.remote);
    if target.device.is_none() && may_have_one {
        page.paragraph(&lead, "no block device below");
    }
    if let (Some(search), Some(top)) = (&target.device_search, value(&target.device)) {
        let on = target.holding().map_or("the filesystem", |on| on.kind.as_str());
        let how = describe::device_search(search);
        labelled(
            page,
            "Device",
            &format!("{top} was found by probe, because {on} reports no device: {how}"),
        );
    }
    for direct in direct_io(&target.files) {
        labelled(page, "Direct I/O", &direct);
    }
    for file in &target.files {
        labelled(page, "File", &self::file(file));
    }
    if let Some(probe) = &target.accounting_probe {
        labelled(page, "Accounting", &accounting(probe));
    }
}

fn filesystem(on: &Filesystem) -> String {
    format!(
        "{} at {}: {} of {} free, blocks of {}; {}",
        describe::filesystem(on),
        on.mount_point,
        size(on.available_bytes),
        size(on.size_bytes),
        size(on.block_bytes),
        on.options,
    )
}

/// The requirements of direct I/O, each answer once.
fn direct_io(files: &[FileFacts]) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    for file in files {
        let text = match file.direct {
            DirectIo::Unknown => "the kernel does not report its requirements".to_owned(),
            DirectIo::Unsupported => {
                "no support for direct I/O here, according to the filesystem".to_owned()
            }
            DirectIo::Aligned { memory, offset } => format!(
                "buffers aligned to {}, offsets and lengths to {}",
                size(u64::from(memory)),
                size(u64::from(offset))
            ),
        };
        if !answers.contains(&text) {
            answers.push(text);
        }
    }
    answers
}

fn file(file: &FileFacts) -> String {
    let mut parts =
        vec![size(file.size_bytes), format!("{} allocated", size(file.allocated_bytes))];
    if let Some(extents) = value(&file.extents) {
        parts.push(counted(extents.count, "extent"));
        let unwritten = (extents.unwritten_bytes > 0)
            .then(|| format!("{} never written", size(extents.unwritten_bytes)));
        let encoded = (extents.encoded_bytes > 0)
            .then(|| format!("{} stored compressed", size(extents.encoded_bytes)));
        let holes = (extents.mapped_bytes < file.size_bytes)
            .then(|| format!("only {} mapped, the rest are holes", size(extents.mapped_bytes)));
        parts.extend([unwritten, encoded, holes].into_iter().flatten());
    }
    format!("{}: {}", file.path, parts.join(", "))
}

fn accounting(probe: &AccountingProbe) -> String {
    let conclusion = match probe.outcome {
        AccountingOutcome::NotMade => return "the accounting probe failed to run".to_owned(),
        AccountingOutcome::Counted => "the block layer's counters can verify this target",
        AccountingOutcome::CountedBelow => {
            "the top device counts nothing, but the devices below verify this target"
        }
        AccountingOutcome::NotCounted => {
            "no device counted the read, so the block layer cannot verify this target"
        }
        AccountingOutcome::NothingToRead => {
            "the read needed no device, so the probe is inconclusive"
        }
    };
    // In a directory there is nothing else to read.
    let written = if probe.path.contains("/.candor-probe-") {
        "; candor created a file of 1 MiB for the probe and removed it"
    } else {
        ""
    };
    if probe.bytes == 0 {
        return format!("{conclusion}{written}");
    }
    let how = if probe.direct { "a direct read" } else { "a buffered read" };
    let counted: Vec<_> =
        probe.counted.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
    let counted = if counted.is_empty() {
        String::new()
    } else {
        format!(" (counted: {})", counted.join(", "))
    };
    let from = if written.is_empty() { probe.path.as_str() } else { "this directory" };
    format!("{how} of {} from {from}{counted}: {conclusion}{written}", size(probe.bytes))
}
