//! Facts that changed while a phase ran.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, Fact, FileFacts, IoLimit, TargetFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Facts, Snapshot};

use crate::flow::Flow;
use crate::observed::{Moved, Observed};

/// A part of a phase in which no fact changed.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// The facts that held.
    pub facts: &'a Facts,
    /// Beginning, in ns since the start.
    pub from_ns: u64,
    /// End, in ns since the start.
    pub until_ns: u64,
}

/// The parts of a phase between changes of facts; one where nothing changed.
pub fn spans<'a>(observed: &Observed<'a>) -> Vec<Span<'a>> {
    let later = &observed.host.later_facts;
    let begins = std::iter::once((observed.facts, 0));
    let begins = begins.chain(later.iter().map(|later| (&later.facts, later.at_ns)));
    let whole_ns = (observed.window_s() * 1e9) as u64;
    let ends = later.iter().map(|later| later.unchanged_at_ns).chain([whole_ns]);
    begins.zip(ends).map(|((facts, from_ns), until_ns)| Span { facts, from_ns, until_ns }).collect()
}

/// A limit of I/O held during the whole phase.
pub fn held_throughout(observed: &Observed, limit: &Fact<IoLimit>) -> bool {
    let mut later = observed.host.later_facts.iter();
    later.all(|later| later.facts.host.cgroup.io.contains(limit))
}

impl Span<'_> {
    /// Share of the phase.
    pub fn share(&self, observed: &Observed) -> f64 {
        ratio(self.until_ns.saturating_sub(self.from_ns) as f64 / 1e9, observed.window_s())
    }

    /// Operations and bytes per second of the application within whole samples; nothing where
    /// there is none.
    pub fn app(&self, observed: &Observed, op: Direction) -> Option<Moved> {
        let (mut sum, mut longest_ns) = (Moved::default(), 0u64);
        for ran in &observed.ran {
            let samples = || {
                ran.measured.samples.iter().filter(|sample| {
                    let from = sample.at_ns.saturating_sub(sample.length_ns);
                    from >= self.from_ns && sample.at_ns <= self.until_ns
                })
            };
            sum.ops += samples().map(|sample| sample.ops(op)).sum::<u64>() as f64;
            sum.bytes += samples().map(|sample| sample.bytes(op)).sum::<u64>() as f64;
            longest_ns = longest_ns.max(samples().map(|sample| sample.length_ns).sum());
        }
        let seconds = longest_ns as f64 / 1e9;
        (seconds > 0.0)
            .then(|| Moved { ops: ratio(sum.ops, seconds), bytes: ratio(sum.bytes, seconds) })
    }

    /// Requests and bytes per second of a device.
    pub fn of_device(&self, observed: &Observed, device: &str, op: Direction) -> Option<Moved> {
        let start = observed.host.before.at_ns;
        let at = |snapshot: &&Snapshot| snapshot.at_ns.saturating_sub(start);
        let host = observed.host;
        let all = std::iter::once(&host.before).chain(&host.during).chain([&host.after]);
        let inside: Vec<&Snapshot> =
            all.filter(|s| at(s) >= self.from_ns && at(s) <= self.until_ns).collect();
        let (first, last) = (inside.first()?, inside.last()?);
        let side = Flow::of_device(device, first, last)?.side(op);
        let seconds = last.at_ns.saturating_sub(first.at_ns) as f64 / 1e9;
        let rates = Moved { ops: ratio(side.requests, seconds), bytes: ratio(side.bytes, seconds) };
        (seconds > 0.0).then_some(rates)
    }
}

/// Differences between two readings of the facts, in words: `loop/dio of loop0: 1, later 0`.
pub fn differences(observed: &Observed, before: &Facts, after: &Facts) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |what: String, before: String, after: String| {
        if before != after {
            found.push(format!("{what}: {before}, later {after}"));
        }
    };
    let (group, now) = (&before.host.cgroup, &after.host.cgroup);
    let memory = |limit: &Option<Fact<u64>>| value(limit).map_or(none(), |b| fmt::size(*b as f64));
    tell("memory limit".into(), memory(&group.memory_max_bytes), memory(&now.memory_max_bytes));
    let cpus =
        |limit: &Option<Fact<f64>>| value(limit).map_or(none(), |cpus| format!("{cpus} CPUs"));
    tell("CPU quota".into(), cpus(&group.cpu_max), cpus(&now.cpu_max));
    for device in observed.devices() {
        let limits = |facts: &Facts| {
            let of_device =
                facts.host.cgroup.io.iter().filter(|limit| limit.value.device == device.number);
            let limits: Vec<String> = of_device.map(|limit| limits(&limit.value)).collect();
            if limits.is_empty() { none() } else { limits.join(", ") }
        };
        tell(format!("control group limit on {}", device.name), limits(before), limits(after));
        let pair = (before.device(&device.name), after.device(&device.name));
        let (Some(was), Some(is)) = pair else { continue };
        let image = |device: &'_ DeviceFacts| device.loop_backing.as_ref()?.stored.clone();
        if let Some((was, is)) = image(was).zip(image(is)) {
            // Writes through the loop fill its file.
            let lost = was.data_bytes().zip(is.data_bytes()).filter(|(was, is)| is < was);
            if let Some((was_data, is_data)) = lost {
                tell(format!("data on disk of {}", was.path), size(was_data), size(is_data));
            }
        }
        for ((what, was), (_, is)) in settings(was).into_iter().zip(settings(is)) {
            tell(format!("{what} of {}", device.name), was, is);
        }
    }
    for target in observed.targets() {
        let of = |facts: &'_ Facts| -> Option<TargetFacts> {
            facts.targets.iter().find(|other| other.target == target.target).cloned()
        };
        let (Some(was), Some(is)) = (of(before), of(after)) else { continue };
        if let (Some(was), Some(is)) = (was.holding(), is.holding()) {
            let what = format!("mount options of {}", was.mount_point);
            tell(what, was.options.clone(), is.options.clone());
        }
        for (was, is) in was.files.iter().zip(&is.files) {
            let inode = |file: &FileFacts| file.inode.map_or_else(none, |inode| inode.to_string());
            tell(format!("inode of {} (another file now)", was.path), inode(was), inode(is));
            tell(format!("length of {}", was.path), size(was.size_bytes), size(is.size_bytes));
            // Dirty pages that the kernel wrote out fill what nobody changed.
            let dirty = observed.host.before.cache.and_then(|cache| cache.dirty_bytes);
            let told = |(was, is): &(u64, u64)| is < was || dirty == Some(0);
            if let Some((was_data, is_data)) = was.data_bytes().zip(is.data_bytes()).filter(told) {
                tell(format!("data on disk of {}", was.path), size(was_data), size(is_data));
            }
        }
    }
    found
}

/// A path of the targets named another file later: a trial afterwards would open that one.
pub fn is_replaced(observed: &Observed) -> bool {
    fn inodes(facts: &Facts) -> Vec<Option<u64>> {
        facts.targets.iter().flat_map(|target| &target.files).map(|file| file.inode).collect()
    }
    let before = inodes(observed.facts);
    let other = |facts: &Facts| {
        let pairs = before.iter().zip(inodes(facts));
        pairs.into_iter().any(|(was, is)| was.is_some() && is.is_some() && *was != is)
    };
    observed.host.later_facts.iter().any(|later| other(&later.facts))
}

fn none() -> String {
    "none".to_owned()
}

fn size(bytes: u64) -> String {
    fmt::size(bytes as f64)
}

fn limits(limit: &IoLimit) -> String {
    fn bytes(most: Option<u64>, what: &str) -> Option<String> {
        most.map(|most| format!("{} {what}", fmt::rate_decimal(most as f64)))
    }
    fn ops(most: Option<u64>, what: &str) -> Option<String> {
        most.map(|most| format!("{} {what}/s", fmt::count(most as f64)))
    }
    let all = [
        bytes(limit.read_bytes_per_s, "read"),
        bytes(limit.write_bytes_per_s, "written"),
        ops(limit.read_ops_per_s, "reads"),
        ops(limit.write_ops_per_s, "writes"),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Settings of a device on which results depend, by name.
fn settings(device: &DeviceFacts) -> Vec<(&'static str, String)> {
    let queue = &device.queue;
    let text = |fact: &Option<Fact<String>>| value(fact).cloned().unwrap_or_else(none);
    let number = |fact: &Option<Fact<u64>>| value(fact).map_or_else(none, u64::to_string);
    let flag =
        |fact: Option<&Fact<bool>>| fact.map_or_else(none, |fact| u8::from(fact.value).to_string());
    let direct = device.loop_backing.as_ref().and_then(|backing| backing.direct.as_ref());
    vec![
        ("loop/dio", flag(direct)),
        ("queue/iostats", flag(device.counts_io.as_ref())),
        ("queue/scheduler", text(&queue.scheduler)),
        ("queue/write_cache", text(&queue.write_cache)),
        ("queue/nr_requests", number(&queue.nr_requests)),
        ("bytes of the largest request", number(&queue.max_request_bytes)),
        ("bytes of readahead", number(&queue.read_ahead_bytes)),
    ]
}
