//! Conditions of the host and of the storage below the targets, from facts.

use candor_record::Facts;
use candor_record::facts::{DeviceFacts, HostFacts, QueueFacts, TargetFacts, value};
use candor_record::fmt::{self, column};
use candor_record::results::{Area, Condition};
use serde::Serialize;
use serde_json::Value;

use super::condition;

/// Conditions of the host.
pub fn of_host(host: &HostFacts) -> Vec<Condition> {
    let limits: Vec<String> = host.cgroup.io.iter().map(|limit| limit_text(&limit.value)).collect();
    let known = [
        ("kernel", value(&host.kernel).cloned(), true),
        ("CPU", value(&host.cpu_model).cloned(), true),
        ("CPUs", value(&host.cpus).map(u32::to_string), true),
        ("NUMA nodes", value(&host.numa_nodes).map(u32::to_string), true),
        ("memory", value(&host.memory_bytes).map(size), true),
        ("virtual machine", value(&host.hypervisor).map(yes_or_no), true),
        ("CPU governor", value(&host.cpu_governor).cloned(), true),
        ("clock source", value(&host.clocksource).cloned(), false),
        ("memory of the control group", value(&host.cgroup.memory_max_bytes).map(size), true),
        ("CPUs of the control group", value(&host.cgroup.cpu_max).map(f64::to_string), true),
        ("I/O limits of the control group", Some(limits.join("; ")), true),
    ];
    let set = known.into_iter().filter(|(_, value, _)| value.as_deref() != Some(""));
    set.filter_map(|(name, value, matters)| condition(Area::Host, name, value, matters)).collect()
}

fn size(bytes: &u64) -> String {
    fmt::size(*bytes as f64)
}

fn yes_or_no(is: &bool) -> String {
    if *is { "yes" } else { "no" }.to_owned()
}

fn limit_text(limit: &impl Serialize) -> String {
    let Ok(Value::Object(keys)) = serde_json::to_value(limit) else { return String::new() };
    let set = keys.iter().filter(|(_, value)| !value.is_null());
    let words = set.map(|(key, value)| format!("{key} {}", value.to_string().replace('"', "")));
    words.collect::<Vec<_>>().join(" ")
}

/// Conditions of the storage below each target.
pub fn of_storage(facts: &Facts) -> Vec<Condition> {
    let mut all = Vec::new();
    for target in &facts.targets {
        let of = match facts.targets.len() {
            1 => String::new(),
            _ => format!(" of target {}", target.target),
        };
        all.extend(of_target(target, &of));
        let Some(top) = value(&target.device).and_then(|name| facts.device(name)) else { continue };
        all.extend(of_device(top, &of));
        let leaves = facts.leaves(&top.name);
        let below = leaves.iter().filter(|leaf| leaf.name != top.name);
        for (nth, leaf) in below.enumerate() {
            all.extend(of_device(leaf, &format!("{of} (disk {} below)", nth + 1)));
        }
    }
    all
}

fn of_target(target: &TargetFacts, of: &str) -> Vec<Condition> {
    let filesystem = target.filesystem.as_ref();
    let block = filesystem.map(|on| fmt::size(on.block_bytes as f64));
    let server = target.remote.as_ref().map(|end| format!("{} {}", end.protocol, end.server.value));
    let kind = filesystem.map_or("none", |on| &on.kind).to_owned();
    let known = [
        ("filesystem", Some(kind)),
        ("block of the filesystem", block),
        ("mount options", filesystem.map(|on| on.options.clone())),
        ("filesystem below", target.held_on.as_ref().map(|on| on.kind.clone())),
        ("server", server),
    ];
    named(&known, of)
}

fn of_device(device: &DeviceFacts, of: &str) -> Vec<Condition> {
    let QueueFacts {
        scheduler,
        nr_requests,
        hw_queues,
        max_request_bytes,
        read_ahead_bytes,
        write_cache,
        logical_block_bytes,
        physical_block_bytes,
        rotational,
        writeback_latency_ns,
        zoned,
        ..
    } = &device.queue;
    let known = [
        ("device", Some(name(device))),
        ("array", device.array_level().map(str::to_owned)),
        ("mapping", device.mapping_maker().map(str::to_owned)),
        ("link", device.link.as_ref().map(|link| link.negotiated.value.clone())),
        ("scheduler", value(scheduler).cloned()),
        ("nr_requests", value(nr_requests).map(u64::to_string)),
        ("hardware queues", value(hw_queues).map(u64::to_string)),
        ("largest request", value(max_request_bytes).map(size)),
        ("read-ahead", value(read_ahead_bytes).map(size)),
        ("write cache", value(write_cache).cloned()),
        ("logical block", value(logical_block_bytes).map(size)),
        ("physical block", value(physical_block_bytes).map(size)),
        ("rotational", value(rotational).map(yes_or_no)),
        ("write-back limit", value(writeback_latency_ns).map(|ns| fmt::time(*ns as f64))),
        ("zones", value(zoned).cloned()),
    ];
    named(&known, of)
}

/// Conditions with a known value; `of` ends each name.
fn named(known: &[(&str, Option<String>)], of: &str) -> Vec<Condition> {
    known
        .iter()
        .filter_map(|(name, value)| {
            condition(Area::Storage, &format!("{name}{of}"), value.clone(), true)
        })
        .collect()
}

/// A disk by name, model and size. A loop device by its backing, because its number is arbitrary.
fn name(device: &DeviceFacts) -> String {
    let kind = serde_json::to_value(device.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    let size = column::device_size(device.size_bytes);
    if let Some(backing) = &device.loop_backing {
        let on = backing.filesystem.as_deref().unwrap_or("a device");
        let past = backing.direct.as_ref().is_some_and(|direct| direct.value);
        let past = if past { ", past the page cache" } else { "" };
        return format!("loop device ({size}) over {on}{past}");
    }
    let model = value(&device.model).map(|model| model.trim()).filter(|model| !model.is_empty());
    let model = model.map_or(String::new(), |model| format!("{model}, "));
    format!("{} ({kind}, {model}{size})", device.name)
}

#[cfg(test)]
mod tests {
    use candor_record::facts::{Fact, Filesystem, IoLimit, LoopBacking};

    use super::*;

    fn fact(text: &str) -> Option<Fact<String>> {
        Some(Fact::new(text.to_owned(), ""))
    }

    fn facts(scheduler: &str, filesystem: &str, loop_name: &str) -> Facts {
        let device = DeviceFacts {
            name: loop_name.into(),
            size_bytes: 1 << 30,
            loop_backing: Some(LoopBacking {
                filesystem: Some("ext4".into()),
                ..LoopBacking::default()
            }),
            queue: QueueFacts { scheduler: fact(scheduler), ..QueueFacts::default() },
            ..DeviceFacts::default()
        };
        let target = TargetFacts {
            filesystem: Some(Filesystem { kind: filesystem.into(), ..Filesystem::default() }),
            device: fact(loop_name),
            ..TargetFacts::default()
        };
        Facts { targets: vec![target], devices: vec![device], ..Facts::default() }
    }

    /// Conditions of the storage that differ.
    fn names(one: &Facts, other: &Facts) -> Vec<String> {
        let (one, other) = (of_storage(one), of_storage(other));
        let pairs = one.iter().zip(&other).filter(|(a, b)| a != b);
        pairs.map(|(a, b)| format!("{}: {}, {}", a.name, a.value, b.value)).collect()
    }

    #[test]
    fn the_number_of_a_loop_device_is_no_condition() {
        let one = facts("none", "ext4", "loop0");
        assert_eq!(names(&one, &facts("none", "ext4", "loop7")), [""; 0]);
        let scheduler = names(&one, &facts("mq-deadline", "ext4", "loop0"));
        assert_eq!(scheduler, ["scheduler: none, mq-deadline"]);
        assert_eq!(names(&one, &facts("none", "xfs", "loop0")), ["filesystem: ext4, xfs"]);
    }

    #[test]
    fn limits_name_their_device() {
        let limit =
            IoLimit { device: "8:0".into(), read_ops_per_s: Some(500), ..IoLimit::default() };
        assert_eq!(limit_text(&limit), "device 8:0 read_ops_per_s 500");
        let mut host = HostFacts::default();
        assert_eq!(of_host(&host), []);
        host.cgroup.io.push(Fact::new(limit, ""));
        assert_eq!(of_host(&host)[0].name, "I/O limits of the control group");
    }
}
