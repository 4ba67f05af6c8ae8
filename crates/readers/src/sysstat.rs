//! Activity of devices by iostat (`-o JSON`) and sar (`sadf -j -- -d`).

use std::collections::BTreeMap;

use candor_record::results::{
    Area, Condition, DeviceInterval, DeviceResults, PhaseResults, Results,
};
use serde::Deserialize;
use serde_json::Value;

use super::{begin, condition, json, moment, remark, unix_ms};

#[derive(Deserialize)]
struct Document {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    #[serde(default)]
    nodename: String,
    #[serde(default)]
    sysname: String,
    #[serde(default)]
    release: String,
    #[serde(rename = "number-of-cpus")]
    cpus: Option<u64>,
    #[serde(default)]
    statistics: Vec<Moment>,
}

/// One report of a host.
#[derive(Deserialize)]
struct Moment {
    timestamp: Option<Timestamp>,
    disk: Option<Vec<Disk>>,
}

/// A text of iostat, or the parts that sadf tells.
#[derive(Deserialize)]
#[serde(untagged)]
enum Timestamp {
    Text(String),
    Parts {
        date: String,
        time: String,
        /// 1 or true where it is not in the host's own time zone.
        utc: Option<Value>,
        interval: u64,
    },
}

/// Figures of a device by name; the names differ by tool, option and version.
#[derive(Deserialize)]
struct Disk(BTreeMap<String, Value>);

/// Nanoseconds in a second, and in a millisecond.
const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: f64 = 1e6;

/// Reads the results.
pub fn read(name: &str, text: &str) -> Result<Results, String> {
    let document: Document = json::document(name, text, text.find('{').unwrap_or(0))?;
    let hosts = document.sysstat.hosts;
    let disks = || hosts.iter().flat_map(|host| &host.statistics).filter_map(|m| m.disk.as_ref());
    if disks().flatten().next().is_none() {
        return Err(format!(
            "{name}: has no devices: write it with iostat -o JSON, or sadf -j -- -d"
        ));
    }
    let is_sar = disks().flatten().any(|disk| disk.0.contains_key("disk-device"));
    let mut results = begin(name, if is_sar { "sar" } else { "iostat" });
    let mut phase = PhaseResults { name: "devices".to_owned(), ..PhaseResults::default() };
    for host in &hosts {
        results.conditions.extend(host.conditions());
        let times = if is_sar { host.times_of_sar() } else { host.times_of_iostat() };
        results.conditions.extend(times.remarks);
        let start_ms = [phase.start_unix_ms, times.start_unix_ms].into_iter().flatten().min();
        phase.start_unix_ms = start_ms;
        phase.devices.extend(host.devices(&times.reports).map_err(|why| format!("{name}: {why}"))?);
    }
    results.started = phase.start_unix_ms.and_then(moment);
    results.phases = vec![phase];
    Ok(results)
}

/// When the reports of a host begin, and how long each is.
struct Times {
    start_unix_ms: Option<u64>,
    /// Number of the report, begin and length in ns.
    reports: Vec<(usize, u64, u64)>,
    remarks: Vec<Condition>,
}

impl Host {
    fn conditions(&self) -> Vec<Condition> {
        let kernel = format!("{} {}", self.sysname, self.release);
        let known = [("kernel", kernel.trim().to_owned())].into_iter();
        let cpus = self.cpus.map(|cpus| ("CPUs", cpus.to_string()));
        let known = known.filter(|(_, value)| !value.is_empty()).chain(cpus);
        known.map(|(name, value)| condition(Area::Host, name, value)).collect()
    }

    /// sar tells how long each interval was.
    fn times_of_sar(&self) -> Times {
        let mut times = Times { start_unix_ms: None, reports: Vec::new(), remarks: Vec::new() };
        let mut end_ns = 0;
        for (nth, report) in self.statistics.iter().enumerate() {
            let Some(Timestamp::Parts { date, time, utc, interval }) = &report.timestamp else {
                continue;
            };
            let length_ns = interval.max(&1).saturating_mul(SECOND_NS);
            let utc = utc.as_ref().is_some_and(|utc| *utc == 1 || *utc == true);
            let at_ms = utc.then(|| unix_ms(&format!("{date}T{time}+0000"))).flatten();
            let begin_ms = at_ms.map(|at| at.saturating_sub(length_ns / 1_000_000));
            times.start_unix_ms = times.start_unix_ms.or(begin_ms);
            // After a restart, or where sar did not run, intervals do not follow each other.
            let begin_ns = match (begin_ms, times.start_unix_ms) {
                (Some(at), Some(start)) => at.saturating_sub(start).saturating_mul(1_000_000),
                _ => end_ns,
            };
            end_ns = begin_ns.saturating_add(length_ns);
            times.reports.push((nth, begin_ns, length_ns));
        }
        times
    }

    /// iostat tells the time of each report with `-t`, and else none.
    fn times_of_iostat(&self) -> Times {
        let mut remarks = Vec::new();
        // The first of several is of all the time since the host was started.
        let skipped = usize::from(self.statistics.len() > 1);
        remarks.push(match skipped {
            0 => remark("reports", "one, since the start of the host unless iostat -y wrote it"),
            _ => remark("reports", "the first, since the start of the host, is left out"),
        });
        let at = |report: &Moment| match &report.timestamp {
            Some(Timestamp::Text(text)) => seconds(text),
            _ => None,
        };
        let moments: Vec<Option<u64>> = self.statistics.iter().map(at).collect();
        if skipped == 0 || moments.contains(&None) {
            let value = "unknown: each counts as 1 s; iostat -t writes the time";
            remarks.push(remark("length of intervals", value));
        }
        let mut end_ns = 0u64;
        let mut reports = Vec::new();
        for nth in skipped..self.statistics.len() {
            let before = nth.checked_sub(1).and_then(|before| moments[before]);
            let length_s = match (before, moments[nth]) {
                // A clock without a date begins anew each day.
                (Some(before), Some(now)) if now >= before => now - before,
                (Some(before), Some(now)) => (now + DAY_S).saturating_sub(before),
                _ => 1,
            };
            let length_ns = length_s.max(1).saturating_mul(SECOND_NS);
            reports.push((nth, end_ns, length_ns));
            end_ns = end_ns.saturating_add(length_ns);
        }
        let first = self.statistics.get(skipped.saturating_sub(1));
        let start_unix_ms = first.and_then(|report| match &report.timestamp {
            Some(Timestamp::Text(text)) if skipped == 1 => unix_ms(text),
            _ => None,
        });
        Times { start_unix_ms, reports, remarks }
    }

    fn devices(&self, reports: &[(usize, u64, u64)]) -> Result<Vec<DeviceResults>, String> {
        let mut devices: Vec<DeviceResults> = Vec::new();
        for (nth, start_ns, length_ns) in reports {
            for disk in self.statistics[*nth].disk.iter().flatten() {
                let name = disk.name()?;
                let interval = disk.interval(*start_ns, *length_ns);
                match devices.iter_mut().find(|device| device.device == name) {
                    Some(device) => device.intervals.push(interval),
                    None => devices.push(DeviceResults {
                        host: self.nodename.clone(),
                        device: name.to_owned(),
                        intervals: vec![interval],
                    }),
                }
            }
        }
        Ok(devices)
    }
}

/// Seconds in a day.
const DAY_S: u64 = 86_400;

/// A moment of iostat in seconds: since 1970 where it has a date that can be read, since midnight
/// where the date is in a form of the user's language.
pub(super) fn seconds(text: &str) -> Option<u64> {
    if let Some(ms) = unix_ms(text) {
        return Some(ms / 1000);
    }
    let mut words = text.split_whitespace();
    let clock = words.find(|word| word.matches(':').count() == 2)?;
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let hours = match words.next() {
        Some("PM") => hours % 12 + 12,
        Some("AM") => hours % 12,
        _ => hours,
    };
    Some((hours * 60 + minutes) * 60 + seconds)
}

impl Disk {
    fn name(&self) -> Result<&str, String> {
        let name = ["disk_device", "disk-device"].iter().find_map(|key| self.0.get(*key)?.as_str());
        name.ok_or_else(|| "a device has no name (`disk_device`)".to_owned())
    }

    /// The figure under the first of some names, times the unit of that name.
    fn figure(&self, names: &[(&str, f64)]) -> Option<f64> {
        names.iter().find_map(|(name, unit)| Some(self.0.get(*name)?.as_f64()? * unit))
    }

    fn interval(&self, start_ns: u64, length_ns: u64) -> DeviceInterval {
        let read = [("rkB/s", 1024.0), ("rMB/s", MIB), ("rsec/s", 512.0), ("kB_read/s", 1024.0)];
        let read_more =
            [("MB_read/s", MIB), ("Blk_read/s", 512.0), ("rkB", 1024.0), ("rd_sec", 512.0)];
        let write = [("wkB/s", 1024.0), ("wMB/s", MIB), ("wsec/s", 512.0), ("kB_wrtn/s", 1024.0)];
        let write_more =
            [("MB_wrtn/s", MIB), ("Blk_wrtn/s", 512.0), ("wkB", 1024.0), ("wr_sec", 512.0)];
        let reads_per_s = self.figure(&[("r/s", 1.0)]);
        // A wait of no requests is written as 0.
        let waited = |ns: &f64| *ns > 0.0;
        DeviceInterval {
            start_ns,
            length_ns,
            requests_per_s: self.figure(&[("tps", 1.0)]).filter(|_| reads_per_s.is_none()),
            reads_per_s,
            writes_per_s: self.figure(&[("w/s", 1.0)]),
            bytes_read_per_s: self.figure(&read).or_else(|| self.figure(&read_more)),
            bytes_written_per_s: self.figure(&write).or_else(|| self.figure(&write_more)),
            read_wait_ns_mean: self.figure(&[("r_await", MS_NS)]).filter(waited),
            write_wait_ns_mean: self.figure(&[("w_await", MS_NS)]).filter(waited),
            queue_mean: self.figure(&[("aqu-sz", 1.0), ("avgqu-sz", 1.0)]),
            utilisation: self.figure(&[("util", 0.01), ("util-percent", 0.01)]),
        }
    }
}

/// Bytes in what iostat calls MB.
const MIB: f64 = 1_048_576.0;
