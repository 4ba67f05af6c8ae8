//! One run of one tool on one job file.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::Asked;
use crate::targets::Folder;
use crate::tool::{json_in, seconds as in_seconds, wait};

/// Beyond the time its jobs take, a tool gets this much: many processes start slowly.
const GRACE: Duration = Duration::from_secs(60);

/// The figures that are asked for, in the order of the report's lines.
pub fn measure(
    asked: Asked,
    program: &Path,
    job: &Path,
    seconds: f64,
    folder: &Folder,
) -> Result<Vec<f64>, String> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let create = |path| File::create(path).map_err(|e| format!("the temporary folder: {e}"));
    let began_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let child = Command::new(program)
        .arg("--output-format=json")
        .arg(job)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let mut memory_kb = 0;
    let limit = GRACE + Duration::from_secs_f64(seconds);
    let usage = wait(&child, limit, || {
        if matches!(asked, Asked::Memory) {
            memory_kb = memory_kb.max(memory_of_family_kb(child.id()));
        }
    });
    let said = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let about =
        |what: &str| format!("{} {}: {what}\n{}", program.display(), job.display(), said(&err));
    let usage = usage.map_err(|what| about(&what))?;
    let unreadable = || about("no result could be read");
    match asked {
        Asked::Memory => Ok(vec![memory_kb as f64]),
        Asked::Start => {
            let log = said(&folder.join("first_lat.1.log"));
            let first = log.split(',').next().and_then(|word| word.trim().parse::<u128>().ok());
            let after = first.and_then(|first_ms| first_ms.checked_sub(began_ms));
            Ok(vec![after.ok_or_else(unreadable)? as f64])
        }
        Asked::Speed(_) => {
            let answer = json_in(&said(&out)).ok_or_else(unreadable)?;
            let (ops, ops_per_s) = speed(&answer).ok_or_else(unreadable)?;
            Ok(vec![ops_per_s, in_seconds(usage.ru_utime) * 1e6 / ops])
        }
    }
}

/// Operations, and operations per second, of all jobs and directions. Jobs that run by time have
/// rates that add up; one that writes and then verifies has one direction after the other.
fn speed(json: &Value) -> Option<(f64, f64)> {
    let job = json.get("jobs")?.get(0)?;
    let of = |key: &str| {
        let figure = |direction: &str| job.get(direction)?.get(key)?.as_f64();
        Some(figure("read")? + figure("write")?)
    };
    let ops = of("total_ios")?;
    let by_time = json.get("jobs")?.get(0)?.get("job options")?.get("time_based").is_some();
    let ops_per_s =
        if by_time { of("iops")? } else { ops * 1e3 / job.get("job_runtime")?.as_f64()? };
    Some((ops, ops_per_s))
}

/// Memory of a process and all that descend from it, shared pages by share, in kB.
fn memory_of_family_kb(root: u32) -> u64 {
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name in parentheses may hold anything; the parent is the second word after it.
        let after = stat.rsplit(')').next().unwrap_or_default();
        parents
            .extend(after.split_whitespace().nth(1).and_then(|w| w.parse().ok()).map(|p| (pid, p)));
    }
    let mut family = vec![root];
    let mut at = 0;
    while let Some(&elder) = family.get(at) {
        family.extend(parents.iter().filter(|(_, parent)| *parent == elder).map(|(pid, _)| *pid));
        at += 1;
    }
    let of = |pid: &u32| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0)
    };
    family.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rates_add_up_and_amounts_are_over_the_time_of_the_job() {
        let mut job = json!({"jobs": [{
            "job options": {"time_based": ""}, "job_runtime": 4000,
            "read": {"total_ios": 100, "iops": 10.0}, "write": {"total_ios": 300, "iops": 30.0},
        }]});
        assert_eq!(speed(&job), Some((400.0, 40.0)));
        job["jobs"][0]["job options"] = json!({});
        assert_eq!(speed(&job), Some((400.0, 100.0)));
    }

    #[test]
    fn memory_of_a_process_counts_its_children() {
        let alone = memory_of_family_kb(std::process::id());
        assert!(alone > 0);
        let mut child = Command::new("sleep").arg("10").spawn().expect("the system has sleep");
        std::thread::sleep(Duration::from_millis(50));
        assert!(memory_of_family_kb(child.id()) > 0);
        child.kill().and_then(|()| child.wait()).expect("it was running");
    }
}
