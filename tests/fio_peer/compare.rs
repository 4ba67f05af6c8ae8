//! Differences, in words.

use serde_json::Value;

use super::case::{Case, Outcome};
use super::{offsets, tree};

/// All differences of one case.
pub fn compare(case: &Case, fio: &Outcome, candor: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    if fio.code != candor.code {
        let said = candor.err.lines().next().unwrap_or_default();
        found.push(format!("exit {:?}, not {:?}: {said}", candor.code, fio.code));
        return found;
    }
    if fio.err.is_empty() != candor.err.is_empty() {
        let said = candor.err.lines().next().unwrap_or("nothing");
        found.push(format!("stderr has {said}"));
    }
    if case.compares("exit") {
        return found;
    }
    if case.compares("layout") {
        found.extend(files(fio, candor));
    }
    let (Some(left), Some(right)) = (&fio.json, &candor.json) else {
        found.push(format!("JSON: fio {}, candor {}", fio.json.is_some(), candor.json.is_some()));
        return found;
    };
    found.extend(keys(left, right));
    if case.compares("counts") {
        found.extend(counts(left, right));
    }
    if case.compares("slat") {
        found.extend(submissions(left, right));
    }
    if case.compares("batches") {
        found.extend(batches(left, right));
    }
    if case.compares("syncs") {
        found.extend(syncs(left, right));
    }
    found.extend(ops(case, fio, candor));
    found
}

fn files(fio: &Outcome, candor: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    for (name, size) in &fio.files {
        match candor.files.get(name) {
            None => found.push(format!("file {name} is missing")),
            Some(other) if other != size => {
                found.push(format!("file {name} has {other:?} bytes, not {size:?}"));
            }
            Some(_) => {}
        }
    }
    let more = candor.files.keys().filter(|name| !fio.files.contains_key(*name));
    found.extend(more.map(|name| format!("file {name} is left")));
    found
}

/// Keys of candor's own, and keys that came with later versions of fio than Debian's.
const MORE: &[&str] = &[
    ".candor",
    ".jobs[].job_start",
    ".jobs[].latency_target_ns",
    ".jobs[].latency_window_us",
    ".jobs[].zone_resets",
    ".disk_util[].read_sectors",
    ".disk_util[].write_sectors",
    ".disk_util[].aggr_read_sectors",
    ".disk_util[].aggr_write_sectors",
];

fn keys(fio: &Value, candor: &Value) -> Vec<String> {
    let (left, right) = (tree::tree(fio), tree::tree(&without_bare_options(candor)));
    let own = |path: &&String| {
        !MORE.iter().any(|more| path.starts_with(more)) && !path.ends_with(".priohint number")
    };
    let missing = left.difference(&right).map(|path| format!("key {path} is missing"));
    let more = right.difference(&left).filter(own).map(|path| format!("key {path} is more"));
    missing.chain(more).collect()
}

/// The document without options that have no value: fio left them out before 3.42.
fn without_bare_options(document: &Value) -> Value {
    let mut document = document.clone();
    let clear = |options: &mut Value| {
        if let Some(options) = options.as_object_mut() {
            options.retain(|_, value| value != "");
        }
    };
    let jobs = document["jobs"].as_array_mut().into_iter().flatten();
    jobs.filter_map(|job| job.get_mut("job options")).for_each(clear);
    if let Some(options) = document.get_mut("global options") {
        clear(options);
    }
    document
}

fn jobs(document: &Value) -> &[Value] {
    document["jobs"].as_array().map_or(&[], Vec::as_slice)
}

fn submissions(fio: &Value, candor: &Value) -> Vec<String> {
    let count = |job: &Value| {
        ["read", "write", "trim"].map(|direction| job[direction]["slat_ns"]["N"].clone())
    };
    let pairs = jobs(fio).iter().zip(jobs(candor)).filter(|(a, b)| count(a) != count(b));
    pairs
        .map(|(a, b)| {
            let (name, a, b) = (&a["jobname"], count(a), count(b));
            format!("{name}: submission latencies {b:?}, not {a:?}")
        })
        .collect()
}

fn batches(fio: &Value, candor: &Value) -> Vec<String> {
    let keys = ["iodepth_submit", "iodepth_complete"];
    let pairs = jobs(fio).iter().zip(jobs(candor));
    let apart = pairs.flat_map(|(a, b)| keys.map(|key| (a, b, key)));
    let apart = apart.filter(|(a, b, key)| a[*key] != b[*key]);
    apart.map(|(a, b, key)| format!("{key} {}, not {}", b[key], a[key])).collect()
}

fn syncs(fio: &Value, candor: &Value) -> Vec<String> {
    // Before 3.42, `total_ios` counted calls of fsync only.
    let count = |job: &Value| job["sync"]["lat_ns"]["N"].clone();
    let pairs = jobs(fio).iter().map(count).zip(jobs(candor).iter().map(count));
    let apart = pairs.filter(|(a, b)| a != b);
    apart.map(|(a, b)| format!("syncs {b:?}, not {a:?}")).collect()
}

fn counts(fio: &Value, candor: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let (left, right) = (jobs(fio), jobs(candor));
    if left.len() != right.len() {
        found.push(format!("{} jobs, not {}", right.len(), left.len()));
    }
    for (a, b) in left.iter().zip(right) {
        if a["error"] != b["error"] {
            found.push(format!("error {}, not {}", b["error"], a["error"]));
        }
        for direction in ["read", "write", "trim"] {
            for key in ["total_ios", "io_bytes"] {
                let (a, b) = (&a[direction][key], &b[direction][key]);
                if a != b {
                    found.push(format!("{direction} {key} is {b}, not {a}"));
                }
            }
        }
    }
    found
}

fn ops(case: &Case, fio: &Outcome, candor: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    if case.compares("order") && fio.ops != candor.ops {
        let differs = fio.ops.iter().zip(&candor.ops).position(|(a, b)| a != b);
        let at = differs.unwrap_or(fio.ops.len().min(candor.ops.len()));
        let show = |op: Option<&offsets::Direction>| format!("{op:?}");
        let (a, b) = (show(fio.ops.get(at)), show(candor.ops.get(at)));
        found.push(format!("operation {at} is {b}, not {a}"));
    }
    if case.compares("trace") && (fio.trace != candor.trace || fio.trace.is_empty()) {
        found.push(format!("trace {:?}, not {:?}", candor.trace, fio.trace));
    }
    if case.compares("set") {
        let sorted = |ops: &[offsets::Direction]| {
            let mut ops = ops.to_vec();
            ops.sort();
            ops
        };
        if sorted(&fio.ops) != sorted(&candor.ops) {
            let (a, b) = (fio.ops.len(), candor.ops.len());
            found.push(format!("other operations: {b}, where fio has {a}"));
        }
    }
    if case.compares("spread") && !offsets::alike(&fio.ops, &candor.ops) {
        found.push("another distribution of offsets and directions".to_owned());
    }
    found
}
