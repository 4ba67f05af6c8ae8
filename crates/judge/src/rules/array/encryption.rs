//! E5: encryption takes the time.

use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, CpuTimes, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{CRYPT_CPU, DEVICE_FULL};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E5",
        title: "encryption takes the time",
        explanation: "dm-crypt encrypts every byte on the CPU, in kernel threads next to the \
            workers, and a fast disk then waits for dm-crypt. candor detects the layer by its \
            name. candor compares operations in flight above the layer with requests in flight at \
            the disk below. candor also measures the CPU time in the kernel that the workers did \
            not use themselves. If the disk had slack and the kernel was busy, encryption is the \
            limit. Compare with the raw disk; try no_read_workqueue and no_write_workqueue, or \
            larger sectors.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let Some(crypt) = observed.devices().into_iter().find(|device| encrypts(device)) else {
        return Outcome::Nothing;
    };
    let (Some(cpus), Some(leaf)) = (kernel_cpus(observed), observed.leaf) else {
        return Outcome::lacks("CPU times, or the counters of the disk below the encryption");
    };
    let queue = ratio(leaf.weighted_ms / 1e3, observed.window_s());
    let occupancy = observed.occupancy();
    let slack = occupancy > 0.0 && queue < DEVICE_FULL.value * occupancy;
    if cpus > CRYPT_CPU.value && slack && observed.all_direct() {
        Outcome::one(finding(crypt, cpus, queue, occupancy))
    } else {
        Outcome::Nothing
    }
}

fn encrypts(device: &DeviceFacts) -> bool {
    device.kind == DeviceKind::Dm && device.mapping_maker() == Some("CRYPT")
}

/// CPUs busy in the kernel, beside what the workers used there themselves.
fn kernel_cpus(observed: &Observed) -> Option<f64> {
    let (before, after) = (observed.host.before.cpu?, observed.host.after.cpu?);
    let busy = |times: CpuTimes| (times.system_ns as f64) + times.softirq_ns as f64;
    let workers = observed.record.measurements.iter().flat_map(|m| &m.per_worker);
    let own: f64 = workers.map(|worker| worker.cpu_system_ns as f64).sum();
    let beside = (busy(after) - busy(before) - own).max(0.0);
    Some(ratio(beside / 1e9, observed.window_s()))
}

fn finding(crypt: &DeviceFacts, cpus: f64, queue: f64, occupancy: f64) -> Finding {
    let name = crypt.mapping.as_ref().and_then(|mapping| value(&mapping.name));
    let sentence = format!(
        "Encryption ({}) kept {} CPUs busy in the kernel; the disk below held {} of {} requests \
         in flight.",
        name.unwrap_or(&crypt.name),
        fmt::number(cpus),
        fmt::number(queue),
        fmt::number(occupancy)
    );
    let maker = crypt.mapping.as_ref().and_then(|mapping| mapping.maker.as_ref());
    FindingBuilder::new("E5", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("kernel CPUs busy outside the workers", Quantity::ratio(cpus), "/proc/stat")
        .evidence("in flight", Quantity::ratio(occupancy), "candor")
        .evidence_if(maker.map(|m| ("mapping".into(), m.value.clone(), m.from.clone())))
        .advice("Compare with the raw disk; try no_read_workqueue, no_write_workqueue.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};
    use candor_record::facts::Mapping;

    fn crypt(kernel_s: u64, disk_busy: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 30_000.0).on_array("none", &[1.0]);
        let top = &mut case.host.facts.devices[0];
        (top.kind, top.array) = (DeviceKind::Dm, None);
        let (name, maker) = (fact("home".into()), fact("CRYPT".into()));
        top.mapping = Some(Mapping { name, maker, targets: None });
        case.host.before.cpu = Some(CpuTimes::default());
        let system_ns = kernel_s * 1_000_000_000;
        case.host.after.cpu = Some(CpuTimes { system_ns, ..CpuTimes::default() });
        case.host.after.devices[1].1.weighted_ms = disk_busy;
        case
    }

    #[test]
    fn a_busy_kernel_over_a_disk_with_slack() {
        let found = crypt(23, 20_000).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Encryption (home) kept 2.1 CPUs busy in the kernel; the disk below held 2 of 32 \
             requests in flight."
        );
    }

    #[test]
    fn a_full_disk_an_idle_kernel_and_no_encryption_are_silent() {
        assert_eq!(crypt(23, 310_000).found(&RULE), []);
        assert_eq!(crypt(3, 20_000).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 30_000.0).found(&RULE), []);
        let mut case = crypt(23, 20_000);
        case.host.after.cpu = None;
        assert!(case.lacked(&RULE).is_some());
    }
}
