//! Statistics of single block requests: the shapes that means hide.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Snapshot;
use crate::facts::{Facts, Missing};

/// Statistics of the traced requests of some devices between two moments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestStats {
    /// The method of the tracer, such as `BPF on raw tracepoints`.
    pub method: String,
    /// The process that traced, and ran the load if there was one, by its number on the host.
    #[serde(default)]
    pub own_pid: u32,
    /// Events that the kernel dropped and counted: because one of the same kind was just being
    /// counted on that CPU, or, of perf samples, for lack of room or while idle.
    #[serde(default)]
    pub events_lost: u64,
    /// CPU time that tracing took.
    #[serde(default)]
    pub cost: TracerCost,
    /// One entry for each device and direction in which something happened.
    pub requests: Vec<Requests>,
}

impl RequestStats {
    /// The traced requests of a device in one direction.
    pub fn of(&self, device: &str, direction: RequestOp) -> Option<&Requests> {
        self.requests.iter().find(|of| of.device == device && of.direction == direction)
    }

    /// The requests of one device and direction by those who issued them.
    pub fn issued(&self, of: &Requests) -> Issued {
        let mut issued = Issued::default();
        for issuer in &of.issuers {
            let part = match issuer {
                own if own.pid == self.own_pid => &mut issued.own,
                kernel if kernel.is_kernel() => &mut issued.kernel,
                _ => &mut issued.others,
            };
            part.count += issuer.count;
            part.bytes += issuer.bytes;
        }
        issued
    }

    /// A process other than the one that traced, and no thread of the kernel.
    pub fn is_other(&self, issuer: &Issuer) -> bool {
        issuer.pid != self.own_pid && !issuer.is_kernel()
    }

    /// The process that moved most bytes on some devices, the one that traced and the kernel's own
    /// threads apart: these act for others.
    pub fn largest_other(&self, devices: &[&str]) -> Option<&Issuer> {
        let on_these = self.requests.iter().filter(|of| devices.contains(&of.device.as_str()));
        let issuers = on_these.flat_map(|of| &of.issuers);
        issuers.filter(|issuer| self.is_other(issuer)).max_by_key(|issuer| issuer.bytes)
    }

    /// Those that carried traffic to speak of: at least a twentieth of the bytes of the device and
    /// direction with most, or of those with most of our own bytes.
    pub fn main(&self) -> impl Iterator<Item = &Requests> {
        let own = |of: &Requests| self.issued(of).own.bytes;
        let most = self.requests.iter().map(|of| of.bytes).max().unwrap_or(0);
        let most_own = self.requests.iter().map(own).max().unwrap_or(0);
        self.requests.iter().filter(move |of| {
            let ours = own(of);
            of.bytes > 0 && (of.bytes >= most / 20 || ours > 0 && ours >= most_own / 20)
        })
    }

    /// The same with what the kernel's own counters say of the same time.
    #[must_use]
    pub fn beside(mut self, before: &Snapshot, after: &Snapshot) -> RequestStats {
        for of in &mut self.requests {
            let did = before.device_delta(after, &of.device);
            of.counted = did.map(|did| match of.direction {
                RequestOp::Read => did.reads,
                RequestOp::Write => did.writes,
                RequestOp::Discard => did.discards,
                RequestOp::Flush => did.flushes,
            });
            of.merged = did.and_then(|did| match of.direction {
                RequestOp::Read => Some(did.read_merges),
                RequestOp::Write => Some(did.write_merges),
                RequestOp::Discard => Some(did.discard_merges),
                RequestOp::Flush => None,
            });
        }
        self
    }

    /// The same with the names of whole processes, where they are still known.
    #[must_use]
    pub fn named(mut self, name: impl Fn(u32) -> Option<String>) -> RequestStats {
        for issuer in self.requests.iter_mut().flat_map(|of| &mut of.issuers) {
            issuer.command = name(issuer.pid).unwrap_or(std::mem::take(&mut issuer.command));
        }
        self
    }

    /// The requests that processes issued, as a tracer has them that counts those of `members`
    /// apart.
    #[must_use]
    pub fn of_processes(&self, members: &[u32]) -> RequestStats {
        let of = |all: &Requests| {
            let issued = all.issuers.iter().filter(|issuer| members.contains(&issuer.pid));
            let issuers: Vec<Issuer> = issued.cloned().collect();
            match &all.own {
                Some(own) => Requests { issuers, ..(**own).clone() },
                // A flush has neither bytes nor a place by which its end is found again.
                None => Requests {
                    device: all.device.clone(),
                    direction: all.direction,
                    count: issuers.iter().map(|issuer| issuer.count).sum(),
                    issuers,
                    ..Requests::default()
                },
            }
        };
        let requests = self.requests.iter().map(of).filter(|of| !of.is_empty()).collect();
        RequestStats { requests, ..self.clone() }
    }

    /// Requests of threads of the kernel, which write cached pages for any process.
    pub fn by_kernel(&self) -> IssuedPart {
        let mut all = IssuedPart::default();
        for issuer in self.requests.iter().flat_map(|of| &of.issuers).filter(|of| of.is_kernel()) {
            all.count += issuer.count;
            all.bytes += issuer.bytes;
        }
        all
    }

    /// The difference to earlier statistics of the same tracer.
    #[must_use]
    pub fn since(&self, earlier: &RequestStats) -> RequestStats {
        let since = |now: &Requests| match earlier.of(&now.device, now.direction) {
            Some(before) => now.since(before),
            None => now.clone(),
        };
        let requests = self.requests.iter().map(since).filter(|of| !of.is_empty());
        RequestStats {
            method: self.method.clone(),
            own_pid: self.own_pid,
            events_lost: self.events_lost.wrapping_sub(earlier.events_lost),
            cost: self.cost.since(earlier.cost),
            requests: requests.collect(),
        }
    }
}

/// CPU time that tracing took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracerCost {
    /// Traced events; a request has two and more.
    pub events: u64,
    /// CPU time of these events where they happened, in ns: an estimate, their number times the
    /// time that one took where that was measured.
    pub events_ns: u64,
    /// CPU time of the tracer's own thread, in ns.
    pub thread_ns: u64,
}

impl TracerCost {
    fn since(self, earlier: TracerCost) -> TracerCost {
        TracerCost {
            events: self.events.saturating_sub(earlier.events),
            events_ns: self.events_ns.saturating_sub(earlier.events_ns),
            thread_ns: self.thread_ns.saturating_sub(earlier.thread_ns),
        }
    }
}

/// The requests of some devices in a while: the result of `candor align`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlignmentReport {
    /// Version of the report's shape, whose parts these are.
    pub report_version: u32,
    /// Whether the requests suit disks with sectors of 4 KiB, a sentence for each device.
    pub verdict: String,
    /// How long requests were traced, in seconds.
    pub elapsed_s: f64,
    /// The requests; without privilege only their number and bytes.
    pub trace: RequestStats,
    /// Why single requests could not be traced; absent where they were.
    pub untraced: Option<Missing>,
    /// The processes whose requests these are; absent if they are those of all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<TracedProcesses>,
    /// Facts about what lies under the paths.
    pub facts: Facts,
}

/// Processes whose requests were traced, with all that they started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedProcesses {
    /// Words of the command that was run; empty where running processes were traced.
    pub command: Vec<String>,
    /// Processes that issued requests.
    pub pids: Vec<u32>,
    /// Requests that threads of the kernel issued meanwhile: those of cached writes are among them.
    pub by_kernel: IssuedPart,
}

/// Requests by those who issued them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Those of the process that traced, and ran the load if there was one.
    pub own: IssuedPart,
    /// Those of the kernel's own threads, which act for any process.
    pub kernel: IssuedPart,
    /// Those of other processes.
    pub others: IssuedPart,
}

/// A part of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssuedPart {
    /// Requests.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl IssuedPart {
    /// Mean size in bytes; 0 where there is none.
    pub fn size_mean_bytes(self) -> u64 {
        self.bytes.checked_div(self.count).unwrap_or(0)
    }
}

/// From this share of the requests on, those of others shape the histograms of all.
const OTHERS_SHAPE: f64 = 0.05;

impl Issued {
    /// Other processes issued enough requests to shape the histograms, which do not tell issuers
    /// apart.
    pub fn shaped_by_others(self) -> bool {
        let all = self.own.count + self.kernel.count + self.others.count;
        share_of(self.others.count, all) > OTHERS_SHAPE
    }

    /// Threads of the kernel issued so many that nobody knows whose the shapes are.
    pub fn shaped_by_kernel(self) -> bool {
        let all = self.own.count + self.kernel.count + self.others.count;
        all == 0 || share_of(self.kernel.count, all) > OTHERS_SHAPE
    }
}

/// A direction of requests, as the kernel's own statistics divide them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestOp {
    /// Reads.
    #[default]
    Read,
    /// Writes, writes of zeros and appends to zones among them.
    Write,
    /// Discards and secure erases.
    Discard,
    /// Flushes of the device's cache; they have no bytes and no place.
    Flush,
}

impl RequestOp {
    /// All, in the order of [`RequestOp::number`].
    pub const ALL: [RequestOp; 4] =
        [RequestOp::Read, RequestOp::Write, RequestOp::Discard, RequestOp::Flush];

    /// The place in [`RequestOp::ALL`].
    pub fn number(self) -> usize {
        self as usize
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            RequestOp::Read => "read",
            RequestOp::Write => "write",
            RequestOp::Discard => "discard",
            RequestOp::Flush => "flush",
        }
    }
}

/// The requests of one device in one direction.
///
/// Of a device with a queue of its own they are counted when they complete, as
/// `/proc/diskstats` does; of one without (dm, md, zram) when they are handed in. `placed` and what
/// follows from the order of requests is counted when they are issued. Each is counted at both
/// moments or at none, so that `placed` less `count` is what was still in flight when tracing ended
/// (flushes have no place).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Name of the device: whole disks, as partitions have no queue.
    pub device: String,
    /// Which way.
    pub direction: RequestOp,
    /// Requests.
    pub count: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that the kernel's own counter has for the same time. Where requests are many, only
    /// some are traced: `count` is lower then, and shares hold.
    #[serde(default)]
    pub counted: Option<u64>,
    /// How often I/O for this device was cut in two before it became requests.
    #[serde(default)]
    pub splits: u64,
    /// How often I/O was joined to a request that waited, by the kernel's own counter for the whole
    /// of the time.
    #[serde(default)]
    pub merged: Option<u64>,
    /// How many were of each size: `[floor, requests]`, of powers of two of bytes.
    #[serde(default)]
    pub sizes_log2: Vec<(u64, u64)>,
    /// The same in steps of 4 KiB: `[most, requests]`, the last for all that are larger.
    #[serde(default)]
    pub sizes_4k: Vec<(u64, u64)>,
    /// How far behind a multiple of 4 KiB they start: `[bytes, requests]`.
    #[serde(default)]
    pub starts_in_4k: Vec<(u64, u64)>,
    /// Requests that start off a physical sector.
    #[serde(default)]
    pub off_physical_sector: u64,
    /// Requests that start off a multiple of the device's optimal size (or of its chunk).
    #[serde(default)]
    pub off_optimal: u64,
    /// Requests whose length is no multiple of 4 KiB.
    #[serde(default)]
    pub length_off_4k: u64,
    /// Requests that carried a flag: `[name, requests]`.
    #[serde(default)]
    pub flags: Vec<(String, u64)>,
    /// Requests whose place was compared with those before.
    #[serde(default)]
    pub placed: u64,
    /// Of these, those that started where one of the last eight ended.
    #[serde(default)]
    pub sequential: u64,
    /// How far the others were from the one before: `[floor in bytes, requests]`, powers of two.
    #[serde(default)]
    pub seeks: Vec<(u64, u64)>,
    /// From the making of a request to its end: `[floor in ns, requests]`, four steps per power
    /// of two.
    #[serde(default)]
    pub latency_ns: Vec<(u64, u64)>,
    /// Sum of these, in ns.
    #[serde(default)]
    pub latency_ns_sum: u64,
    /// From the moment the driver took it to its end, where the kernel notes that moment.
    #[serde(default)]
    pub device_latency_ns: Vec<(u64, u64)>,
    /// Who issued them, those with most first.
    #[serde(default)]
    pub issuers: Vec<Issuer>,
    /// Those among them that the process issued which traced: all of the above but what the
    /// kernel's counters say. Absent for flushes, and where events name no process (blktrace).
    /// Requests that a thread of the kernel issued for it are none of them.
    #[serde(default)]
    pub own: Option<Box<Requests>>,
}

/// A process that issued requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issuer {
    /// Process.
    pub pid: u32,
    /// Name; that of the thread that was first seen where the process is gone, and in runs.
    pub command: String,
    /// Requests.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Issuer {
    /// True for threads of the kernel, by the names they are known by.
    pub fn is_kernel(&self) -> bool {
        const NAMES: [&str; 6] = ["kworker", "loop", "jbd2", "md", "dmcrypt", "kswapd"];
        // `md127_raid1`, `loop0`, `jbd2/sda1-8`; `mdadm` is somebody's.
        let goes_on = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphabetic());
        self.pid <= 2
            || NAMES.iter().any(|name| self.command.strip_prefix(*name).is_some_and(goes_on))
    }
}

impl Requests {
    /// True if nothing happened.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.placed == 0 && self.splits == 0
    }

    /// The difference to earlier statistics of the same tracer.
    #[must_use]
    pub fn since(&self, earlier: &Requests) -> Requests {
        let issuers = self.issuers.iter().filter_map(|now| {
            let then = earlier.issuers.iter().find(|then| then.pid == now.pid);
            let (count, bytes) = then.map_or((0, 0), |then| (then.count, then.bytes));
            let rest = Issuer {
                count: now.count.wrapping_sub(count),
                bytes: now.bytes.wrapping_sub(bytes),
                ..now.clone()
            };
            (rest.count > 0).then_some(rest)
        });
        let mut issuers: Vec<Issuer> = issuers.collect();
        issuers.sort_by_key(|issuer| std::cmp::Reverse(issuer.count));
        Requests {
            device: self.device.clone(),
            direction: self.direction,
            count: self.count.wrapping_sub(earlier.count),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            counted: None,
            splits: self.splits.wrapping_sub(earlier.splits),
            merged: None,
            sizes_log2: less(&self.sizes_log2, &earlier.sizes_log2),
            sizes_4k: less(&self.sizes_4k, &earlier.sizes_4k),
            starts_in_4k: less(&self.starts_in_4k, &earlier.starts_in_4k),
            off_physical_sector: self.off_physical_sector.wrapping_sub(earlier.off_physical_sector),
            off_optimal: self.off_optimal.wrapping_sub(earlier.off_optimal),
            length_off_4k: self.length_off_4k.wrapping_sub(earlier.length_off_4k),
            flags: less(&self.flags, &earlier.flags),
            placed: self.placed.wrapping_sub(earlier.placed),
            sequential: self.sequential.wrapping_sub(earlier.sequential),
            seeks: less(&self.seeks, &earlier.seeks),
            latency_ns: less(&self.latency_ns, &earlier.latency_ns),
            latency_ns_sum: self.latency_ns_sum.wrapping_sub(earlier.latency_ns_sum),
            device_latency_ns: less(&self.device_latency_ns, &earlier.device_latency_ns),
            issuers,
            own: self.own_since(earlier),
        }
    }

    fn own_since(&self, earlier: &Requests) -> Option<Box<Requests>> {
        let now = self.own.as_deref()?;
        Some(Box::new(earlier.own.as_deref().map_or_else(|| now.clone(), |then| now.since(then))))
    }

    /// The requests of the process that traced, where there were some and they are known.
    pub fn own(&self) -> Option<&Requests> {
        self.own.as_deref().filter(|own| own.count > 0)
    }

    /// Mean latency from the making of a request to its end; none where the method does not know
    /// it.
    pub fn latency_ns_mean(&self) -> Option<f64> {
        let count: u64 = self.latency_ns.iter().map(|(_, count)| count).sum();
        (count > 0).then(|| self.latency_ns_sum as f64 / count as f64)
    }

    /// The share of the requests that was traced; none where all were. Two counters that are read
    /// one after the other differ a little.
    pub fn traced_share(&self) -> Option<f64> {
        let share = share_of(self.count, self.counted?);
        (share < 0.95).then_some(share)
    }

    /// Pieces of each I/O that came for the device: its requests, had none been joined, over what
    /// they were before they were cut.
    pub fn split_factor(&self) -> Option<f64> {
        let all = self.counted.unwrap_or(self.count);
        let traced = share_of(self.count, all);
        let merged = self.merged.unwrap_or(0) as f64 * traced;
        let pieces = self.count as f64 + merged;
        let whole = pieces - self.splits as f64;
        (whole >= 1.0).then_some(pieces / whole)
    }

    /// I/Os, or pieces of them, in each request.
    pub fn merge_factor(&self) -> Option<f64> {
        let all = self.counted.filter(|all| *all > 0)?;
        Some((all + self.merged?) as f64 / all as f64)
    }

    /// The share that started where one of the last ended, of all whose place was compared with
    /// theirs. One that its driver gave back may be compared once more; `placed` has it once.
    pub fn sequential_share(&self) -> Option<f64> {
        let others: u64 = self.seeks.iter().map(|(_, count)| count).sum();
        let all = self.sequential + others;
        (all > 0).then(|| share_of(self.sequential, all))
    }

    /// Requests that were issued and whose completion was not traced.
    pub fn in_flight(&self) -> u64 {
        self.placed.saturating_sub(self.count)
    }

    /// Mean size in bytes; 0 where there is none.
    pub fn size_mean_bytes(&self) -> u64 {
        self.bytes.checked_div(self.count).unwrap_or(0)
    }

    /// Sizes as finely as they are known: below 4 KiB and above 1 MiB by powers of two, in steps
    /// of 4 KiB between.
    pub fn sizes(&self) -> Vec<(u64, u64)> {
        let steps = self.sizes_4k.iter().filter(|(most, _)| (4097..1 << 20).contains(most));
        let powers = self.sizes_log2.iter().filter(|(floor, _)| *floor < 4096);
        let large = self.sizes_log2.iter().filter(|(floor, _)| *floor >= 1 << 20);
        let small: u64 = powers.clone().map(|(_, count)| count).sum();
        let to_4k = self.sizes_4k.iter().find(|(most, _)| *most == 4096);
        let of_4k = to_4k.map(|(most, count)| (*most, count.saturating_sub(small)));
        let of_4k = of_4k.filter(|(_, count)| *count > 0);
        powers.copied().chain(of_4k).chain(steps.copied()).chain(large.copied()).collect()
    }
}

/// Above the median, a percentile is told where so many requests lie beyond it.
const BEYOND_MIN: f64 = 10.0;

/// The latency below which a share of the requests lies: the floor of the step it falls into. None
/// where too few requests are there to tell.
pub fn percentile(steps: &[(u64, u64)], share: f64) -> Option<u64> {
    let all: u64 = steps.iter().map(|(_, count)| count).sum();
    if share > 0.5 && (all as f64 * (1.0 - share)).round() < BEYOND_MIN {
        return None;
    }
    let rank = ((all as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    steps.iter().find_map(|(floor, count)| {
        seen += count;
        (seen >= rank && all > 0).then_some(*floor)
    })
}

/// A step of a histogram of latencies: a latency in it is at least `from_ns`, and below `below_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyStep {
    /// Beginning of the step.
    pub from_ns: u64,
    /// Beginning of the next one.
    pub below_ns: u64,
}

impl LatencyStep {
    /// The step of four per power of two that begins there.
    fn at(from_ns: u64) -> LatencyStep {
        let width_ns = from_ns.checked_ilog2().map_or(1, |power| (1_u64 << power) / 4).max(1);
        LatencyStep { from_ns, below_ns: from_ns.saturating_add(width_ns) }
    }

    /// The latency in the middle of it.
    pub fn middle_ns(self) -> u64 {
        self.from_ns.midpoint(self.below_ns)
    }
}

/// The step that a percentile of latencies falls into; no tracer knows them closer.
pub fn latency_percentile(steps: &[(u64, u64)], share: f64) -> Option<LatencyStep> {
    percentile(steps, share).map(LatencyStep::at)
}

/// The share of a count, from 0 to 1; 0 of nothing.
pub fn share_of(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Counters by key, without those that did not move.
fn less<K: Clone + PartialEq>(now: &[(K, u64)], then: &[(K, u64)]) -> Vec<(K, u64)> {
    let before = |key: &K| then.iter().find(|(k, _)| k == key).map_or(0, |(_, count)| *count);
    let rest = now.iter().map(|(key, count)| (key.clone(), count.wrapping_sub(before(key))));
    rest.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(count: u64, of_4k: u64) -> Requests {
        Requests {
            device: "sda".into(),
            count,
            bytes: count * 4096,
            sizes_4k: vec![(4096, of_4k), (8192, count - of_4k)],
            ..Requests::default()
        }
    }

    #[test]
    fn a_difference_holds_only_requests_that_moved() {
        let stats = |count, of_4k| RequestStats {
            requests: vec![reads(count, of_4k)],
            ..RequestStats::default()
        };
        let between = stats(10, 6).since(&stats(4, 4));
        let seen = between.of("sda", RequestOp::Read).unwrap();
        assert_eq!((seen.count, seen.bytes), (6, 6 * 4096));
        assert_eq!(seen.sizes_4k, [(4096, 2), (8192, 4)]);
        assert_eq!(stats(4, 4).since(&stats(4, 4)).requests, []);
    }

    #[test]
    fn factors_are_of_all_that_came() {
        // 10 I/Os cut into 40 pieces, of which 20 were joined to others.
        let of = Requests { splits: 30, merged: Some(20), counted: Some(20), ..reads(20, 20) };
        assert_eq!((of.split_factor(), of.merge_factor()), (Some(4.0), Some(2.0)));
        assert_eq!((reads(5, 5).split_factor(), reads(5, 5).merge_factor()), (Some(1.0), None));
        assert_eq!(reads(0, 0).split_factor(), None);
    }

    #[test]
    fn the_largest_other_is_neither_us_nor_the_kernel() {
        let issuer =
            |pid, command: &str, bytes| Issuer { pid, command: command.into(), count: 1, bytes };
        let issuers = vec![
            issuer(7, "candor", 900),
            issuer(44, "kworker/1:1H", 800),
            issuer(9, "rsync", 50),
            issuer(8, "updatedb", 5),
        ];
        let kernel = |command| issuer(99, command, 1).is_kernel();
        assert!(["md127_raid1", "loop0", "jbd2/sda1-8", "dmcrypt_write/2"].into_iter().all(kernel));
        assert!(!["mdadm", "loopback", "rsync"].into_iter().any(kernel));
        let trace = RequestStats {
            own_pid: 7,
            requests: vec![Requests { issuers, ..reads(4, 4) }],
            ..RequestStats::default()
        };
        assert_eq!(trace.largest_other(&["sda"]).map(|issuer| issuer.pid), Some(9));
        assert_eq!(trace.largest_other(&["sdb"]), None);
    }

    #[test]
    fn no_more_than_all_is_sequential() {
        // Ten of them were given back by their driver, and went on again.
        let of = Requests { placed: 20, sequential: 27, seeks: vec![(4096, 3)], ..reads(20, 20) };
        assert_eq!(of.sequential_share(), Some(0.9));
        assert_eq!(reads(1, 1).sequential_share(), None);
    }

    #[test]
    fn a_percentile_is_the_step_it_falls_into() {
        let steps = [(10, 5000), (20, 4900), (40, 100)];
        assert_eq!(percentile(&steps, 0.5), Some(10));
        assert_eq!(percentile(&steps, 0.99), Some(20));
        assert_eq!(percentile(&steps, 0.999), Some(40));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn a_percentile_takes_ten_beyond_it() {
        assert_eq!(percentile(&[(10, 1)], 0.5), Some(10));
        assert_eq!(percentile(&[(10, 949)], 0.99), None);
        assert_eq!(percentile(&[(10, 1000)], 0.99), Some(10));
        assert_eq!(percentile(&[(10, 1000)], 0.999), None);
    }

    #[test]
    fn a_percentile_of_latencies_is_as_wide_as_its_step() {
        let step = |from_ns| {
            let step = latency_percentile(&[(from_ns, 1)], 0.5).unwrap();
            (step.from_ns, step.below_ns, step.middle_ns())
        };
        assert_eq!(step(131_072), (131_072, 163_840, 147_456));
        assert_eq!(step(81_920), (81_920, 98_304, 90_112));
        assert_eq!([step(0), step(3)], [(0, 1, 0), (3, 4, 3)]);
        assert_eq!(latency_percentile(&[], 0.5), None);
    }

    #[test]
    fn requests_are_told_apart_by_who_issued_them() {
        let issuer = |pid, command: &str, count| Issuer {
            pid,
            command: command.into(),
            count,
            bytes: count * 4096,
        };
        let stats = RequestStats { own_pid: 7, ..RequestStats::default() };
        let of = |issuers| stats.issued(&Requests { issuers, ..Requests::default() });
        let all =
            of(vec![issuer(7, "candor", 90), issuer(9, "dd", 5), issuer(4, "kworker/0:1", 2)]);
        assert_eq!((all.own.count, all.kernel.count, all.others.size_mean_bytes()), (90, 2, 4096));
        assert!(all.shaped_by_others() && !all.shaped_by_kernel());
        assert!(!of(vec![issuer(7, "candor", 96), issuer(9, "dd", 4)]).shaped_by_others());
        assert!(of(vec![issuer(4, "kworker/0:1", 9)]).shaped_by_kernel());
        assert!(of(Vec::new()).shaped_by_kernel(), "nobody is known");
    }
}
