//! Work of a host within one interval of a phase, from two snapshots of its counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fmt::ratio;
use crate::{CpuTimes, JobSample, Snapshot, WorkerSample};

/// CPUs and devices of one host within an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSample {
    /// Name of the host.
    pub host: String,
    /// Time between the two snapshots.
    pub length_ns: u64,
    /// Busy share of all CPUs together, from 0 to 1; absent where the kernel reports none.
    pub cpu_busy: Option<f64>,
    /// Shares of the time of all CPUs together; absent where the kernel reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_shares: Option<CpuShares>,
    /// Busy share of each CPU.
    pub cpus_busy: Vec<f64>,
    /// The devices below the targets.
    pub devices: Vec<DeviceSample>,
    /// Work of this host's workers, by job; absent where it is the only host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work: Vec<HostWork>,
}

/// Work of one host for a job within an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostWork {
    /// Name of the job.
    pub job: String,
    /// Operations that completed, flushes apart.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

impl HostWork {
    /// The work of all workers of a sample.
    pub fn of(sample: &JobSample) -> HostWork {
        let sum = |of: fn(&WorkerSample) -> u64| sample.workers.iter().map(of).sum();
        HostWork { job: sample.job.clone(), ops: sum(|of| of.ops), bytes: sum(|of| of.bytes) }
    }
}

/// Time of all CPUs within an interval, by what they did: shares from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuShares {
    /// Code of processes.
    pub user: f64,
    /// The kernel, its interrupts, and what a hypervisor took.
    pub system: f64,
    /// Nothing to run while a task waited for I/O.
    pub iowait: f64,
    /// Nothing to run.
    pub idle: f64,
}

/// One device within an interval, whoever used it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSample {
    /// Kernel name.
    pub device: String,
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes of these reads.
    pub bytes_read: u64,
    /// Bytes of these writes.
    pub bytes_written: u64,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
    /// Share of time with a request in flight, from 0 to 1 (iostat's `%util`).
    pub utilisation: f64,
}

impl HostSample {
    /// The work between two snapshots of a host.
    pub fn between(host: &str, before: &Snapshot, after: &Snapshot) -> HostSample {
        let length_ns = after.at_ns.saturating_sub(before.at_ns);
        let device = |(name, _): &(String, _)| {
            let did = before.device_delta(after, name)?;
            Some(DeviceSample {
                device: name.clone(),
                reads: did.reads,
                writes: did.writes,
                bytes_read: did.bytes_read(),
                bytes_written: did.bytes_written(),
                in_flight: did.in_flight,
                // The kernel counts in ticks, which may end after the interval.
                utilisation: ratio(did.busy_ms as f64 * 1e6, length_ns as f64).min(1.0),
            })
        };
        let cpus = before.cpus.iter().zip(&after.cpus);
        HostSample {
            host: host.to_owned(),
            length_ns,
            cpu_busy: cpu_busy_between(before, after),
            cpu_shares: before.cpu.zip(after.cpu).map(|(then, now)| shares(&then, &now)),
            cpus_busy: cpus.map(|(then, now)| busy(then, now)).collect(),
            devices: after.devices.iter().filter_map(device).collect(),
            work: Vec::new(),
        }
    }
}

/// Busy share of all CPUs of a host between two snapshots; absent where the kernel reports none.
pub fn cpu_busy_between(before: &Snapshot, after: &Snapshot) -> Option<f64> {
    before.cpu.zip(after.cpu).map(|(then, now)| busy(&then, &now))
}

/// Busy share of the CPUs of all hosts together; absent where no host knows its own.
pub fn cpu_busy_of(hosts: &[HostSample]) -> Option<f64> {
    mean_of(hosts, |host| host.cpu_busy)
}

impl CpuShares {
    /// Shares of the time of the CPUs of all hosts together; absent where no host knows its own.
    pub fn of_hosts(hosts: &[HostSample]) -> Option<CpuShares> {
        let mean =
            |of: fn(&CpuShares) -> f64| mean_of(hosts, |host| host.cpu_shares.map(|s| of(&s)));
        Some(CpuShares {
            user: mean(|shares| shares.user)?,
            system: mean(|shares| shares.system)?,
            iowait: mean(|shares| shares.iowait)?,
            idle: mean(|shares| shares.idle)?,
        })
    }
}

/// Mean of a share over hosts, each with the weight of its CPUs.
fn mean_of(hosts: &[HostSample], share: impl Fn(&HostSample) -> Option<f64>) -> Option<f64> {
    let of = |host| Some((share(host)?, host.cpus_busy.len().max(1) as f64));
    let known: Vec<(f64, f64)> = hosts.iter().filter_map(of).collect();
    let cpus: f64 = known.iter().map(|(_, cpus)| cpus).sum();
    (cpus > 0.0).then(|| known.iter().map(|(share, cpus)| share * cpus).sum::<f64>() / cpus)
}

/// Share of CPU time that was neither idle nor spent waiting for I/O.
fn busy(before: &CpuTimes, after: &CpuTimes) -> f64 {
    let shares = shares(before, after);
    shares.user + shares.system
}

/// Shares of CPU time between two readings.
fn shares(before: &CpuTimes, after: &CpuTimes) -> CpuShares {
    let passed = |of: fn(&CpuTimes) -> u64| of(after).saturating_sub(of(before)) as f64;
    let (idle, iowait) = (passed(|t| t.idle_ns), passed(|t| t.iowait_ns));
    let user = passed(|t| t.user_ns) + passed(|t| t.nice_ns);
    let interrupts = passed(|t| t.irq_ns) + passed(|t| t.softirq_ns);
    let system = passed(|t| t.system_ns) + interrupts + passed(|t| t.steal_ns);
    let all = user + system + iowait + idle;
    CpuShares {
        user: ratio(user, all),
        system: ratio(system, all),
        iowait: ratio(iowait, all),
        idle: ratio(idle, all),
    }
}

#[cfg(test)]
mod tests {
    use crate::DiskCounters;

    use super::*;

    #[test]
    fn shares_and_counts_are_those_of_the_interval() {
        let snapshot = |at_s: u64, user_s: u64, idle_s: u64, disk: DiskCounters| {
            let [at_ns, user_ns, idle_ns] = [at_s, user_s, idle_s].map(|s| s * 1_000_000_000);
            let cpu = CpuTimes { user_ns, idle_ns, ..CpuTimes::default() };
            let devices = vec![("sda".to_owned(), disk)];
            Snapshot { at_ns, devices, cpu: Some(cpu), cpus: vec![cpu], ..Snapshot::default() }
        };
        let disk = |reads, busy_ms, in_flight| DiskCounters {
            reads,
            read_sectors: reads * 8,
            busy_ms,
            in_flight,
            ..DiskCounters::default()
        };
        let before = snapshot(10, 100, 900, disk(1000, 5000, 9));
        let after = snapshot(12, 101, 902, disk(1500, 6500, 3));
        let sample = HostSample::between("host", &before, &after);
        assert_eq!((sample.length_ns, sample.cpu_busy), (2_000_000_000, Some(1.0 / 3.0)));
        assert_eq!(sample.cpus_busy, [1.0 / 3.0]);
        let shares = CpuShares { user: 1.0 / 3.0, idle: 2.0 / 3.0, ..CpuShares::default() };
        assert_eq!(sample.cpu_shares, Some(shares));
        let expected = DeviceSample {
            device: "sda".into(),
            reads: 500,
            bytes_read: 500 * 4096,
            in_flight: 3,
            utilisation: 0.75,
            ..DeviceSample::default()
        };
        assert_eq!(sample.devices, [expected]);
    }

    #[test]
    fn shares_of_several_hosts_weigh_by_their_cpus() {
        let host = |cpus: usize, user| HostSample {
            cpu_busy: Some(user),
            cpu_shares: Some(CpuShares { user, idle: 1.0 - user, ..CpuShares::default() }),
            cpus_busy: vec![user; cpus],
            ..HostSample::default()
        };
        let hosts = [host(1, 1.0), host(3, 0.5), HostSample::default()];
        let together = CpuShares { user: 0.625, idle: 0.375, ..CpuShares::default() };
        assert_eq!(
            (cpu_busy_of(&hosts), CpuShares::of_hosts(&hosts)),
            (Some(0.625), Some(together))
        );
        assert_eq!((cpu_busy_of(&hosts[2..]), CpuShares::of_hosts(&[])), (None, None));
    }

    #[test]
    fn unread_counters_give_no_shares() {
        let none = HostSample::between("host", &Snapshot::default(), &Snapshot::default());
        assert_eq!((none.cpu_busy, none.cpus_busy.len(), none.devices.len()), (None, 0, 0));
    }
}
