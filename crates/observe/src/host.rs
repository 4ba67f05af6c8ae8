//! Facts about the host.

pub(crate) mod cgroup;
pub(crate) mod clock;
pub mod memory;

use std::path::Path;

use candor_record::facts::{Fact, HostFacts};

use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::source::node::is_numbered;
use crate::source::parse::{chosen, keyed, microseconds, words};

/// Facts of the host.
pub(crate) fn facts(roots: &Roots, missing_facts: &mut MissingFacts) -> HostFacts {
    let (sys, proc) = (&roots.sys, &roots.proc);
    let cpu = proc.join("cpuinfo");
    let memory = proc.join("meminfo");
    let clocksource = sys.join("devices/system/clocksource/clocksource0/current_clocksource");
    let governor = sys.join("devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let page_bytes = roots.own("page_bytes", || Some(rustix::param::page_size() as u64));
    let host = HostFacts {
        kernel: roots.fact(&proc.join("sys/kernel/osrelease"), words),
        cpu_model: roots.fact(&cpu, |text| keyed(text, "model name").and_then(words)),
        cpus: roots.own("cpus", cpus).map(|cpus| Fact::new(cpus, "sched_getaffinity")),
        numa_nodes: numa_nodes(&sys.join("devices/system/node"), roots),
        memory_bytes: roots.fact(&memory, |text| meminfo(text, "MemTotal")),
        memory_available_bytes: roots.fact(&memory, |text| meminfo(text, "MemAvailable")),
        page_bytes: page_bytes.unwrap_or(0),
        clocksource: roots.fact(&clocksource, words),
        clock_cost_ns: clock::cost_ns(roots),
        hypervisor: roots.fact(&cpu, hypervisor),
        lockdown: roots.fact(&sys.join("kernel/security/lockdown"), chosen),
        cpu_governor: roots.fact(&governor, words),
        cpu_idle_exit_ns: idle_exit_ns(&sys.join("devices/system/cpu/cpu0/cpuidle"), roots),
        numa_cpus: numa_cpus(&sys.join("devices/system/node"), roots),
        memory_occupied: None,
        traced_by: traced_by(roots),
        emulator: emulator(roots),
        cgroup: cgroup::facts(roots, missing_facts),
    };
    note_missing(&host, missing_facts);
    host
}

fn note_missing(host: &HostFacts, missing_facts: &mut MissingFacts) {
    let of = "the kernel does not show it";
    missing_facts.unless(host.kernel.as_ref(), "kernel release", of, "a mounted /proc");
    missing_facts.unless(host.cpu_model.as_ref(), "processor model", of, "");
    missing_facts.unless(
        host.cpus.as_ref(),
        "CPUs of this process",
        "sched_getaffinity failed",
        "",
    );
    missing_facts.unless(host.numa_nodes.as_ref(), "NUMA nodes", of, "a kernel with CONFIG_NUMA");
    missing_facts.unless(host.memory_bytes.as_ref(), "memory of the host", of, "a mounted /proc");
    missing_facts.unless(
        host.memory_available_bytes.as_ref(),
        "available memory",
        of,
        "a mounted /proc",
    );
    missing_facts.unless(host.clocksource.as_ref(), "clock source", of, "a mounted /sys");
    missing_facts.unless(host.hypervisor.as_ref(), "whether this is a virtual machine", of, "");
    let mount = "mount -t securityfs securityfs /sys/kernel/security";
    missing_facts.unless(host.lockdown.as_ref(), "kernel lockdown", of, mount);
    let cpufreq = "a CPU frequency driver (virtual machines rarely have one)";
    missing_facts.unless(host.cpu_governor.as_ref(), "frequency governor", of, cpufreq);
}

/// The emulator of the CPU: of a machine, by the name of its CPU, or of this program alone, where
/// the kernel is of another architecture (Linux 6.1 and later name theirs).
fn emulator(roots: &Roots) -> Option<Fact<String>> {
    const ARCHITECTURES: [&str; 3] = ["x86_64", "aarch64", "riscv64"];
    roots
        .fact(&roots.proc.join("cpuinfo"), |text| {
            let model = keyed(text, "model name")?;
            model.starts_with("QEMU TCG CPU").then(|| "QEMU, for the whole machine".to_owned())
        })
        .or_else(|| {
            roots.fact(&roots.proc.join("sys/kernel/arch"), |text| {
                let kernel = text.trim();
                let differs = ARCHITECTURES.contains(&kernel) && kernel != std::env::consts::ARCH;
                let own = std::env::consts::ARCH;
                differs.then(|| format!("an emulator of {own} on {kernel}, for this program"))
            })
        })
}

/// The process that traces this one, by name and number.
pub(crate) fn traced_by(roots: &Roots) -> Option<Fact<String>> {
    let pid: Fact<u32> = roots.fact(&roots.proc.join("self/status"), |text| {
        keyed(text, "TracerPid")?.parse().ok().filter(|pid| *pid > 0)
    })?;
    let name = roots.text(&roots.proc.join(pid.value.to_string()).join("comm"));
    let name = name.unwrap_or_else(|| "a process".to_owned());
    Some(Fact::new(format!("{name} ({})", pid.value), pid.from))
}

fn cpus() -> Option<u32> {
    Some(rustix::thread::sched_getaffinity(None).ok()?.count())
}

fn numa_nodes(directory: &Path, roots: &Roots) -> Option<Fact<u32>> {
    let nodes = roots.names(directory).into_iter().filter(|name| is_numbered(name, "node")).count();
    let nodes = u32::try_from(nodes).ok().filter(|&nodes| nodes > 0)?;
    Some(Fact::new(nodes, directory.display().to_string()))
}

/// The CPUs of each node, where there are several.
fn numa_cpus(directory: &Path, roots: &Roots) -> Vec<(i32, Fact<String>)> {
    let names = roots.names(directory).into_iter().filter(|name| is_numbered(name, "node"));
    let cpus = names.filter_map(|name| {
        let list = roots.fact(&directory.join(&name).join("cpulist"), words)?;
        Some((name.strip_prefix("node")?.parse().ok()?, list))
    });
    let mut cpus: Vec<(i32, Fact<String>)> = cpus.collect();
    cpus.sort_by_key(|(node, _)| *node);
    if cpus.len() > 1 { cpus } else { Vec::new() }
}

/// The longest time to leave any idle state that is not forbidden; the kernel counts in µs.
fn idle_exit_ns(directory: &Path, roots: &Roots) -> Option<Fact<u64>> {
    let states = roots.names(directory).into_iter().filter(|name| is_numbered(name, "state"));
    let allowed = states.filter_map(|name| {
        let state = directory.join(name);
        let forbidden = roots.text(&state.join("disable")).is_some_and(|text| text != "0");
        roots.fact(&state.join("latency"), microseconds).filter(|_| !forbidden)
    });
    allowed.max_by_key(|latency| latency.value)
}

/// A line of `/proc/meminfo`, which counts in kibibytes whatever it calls them.
pub(crate) fn meminfo(text: &str, key: &str) -> Option<u64> {
    let kib: u64 = keyed(text, key)?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The `hypervisor` flag. Only x86 lists flags under that name; elsewhere nothing is known.
fn hypervisor(text: &str) -> Option<bool> {
    let flags = keyed(text, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fake::Fake;

    #[test]
    fn an_emulator_shows_in_the_name_of_the_cpu_or_in_another_architecture() {
        let found = |file: &str, text: &str| {
            let fake = Fake::new();
            fake.write(file, text);
            emulator(&fake.roots).map(|fact| fact.value)
        };
        let own = std::env::consts::ARCH;
        assert_eq!(found("proc/sys/kernel/arch", own), None);
        assert_eq!(found("proc/cpuinfo", "model name\t: Acme 9000\n"), None);
        let machine = found("proc/cpuinfo", "model name\t: QEMU TCG CPU version 2.5+\n");
        assert_eq!(machine.as_deref(), Some("QEMU, for the whole machine"));
        let other = if own == "riscv64" { "x86_64" } else { "riscv64" };
        let program = found("proc/sys/kernel/arch", &format!("{other}\n"));
        assert!(
            program.is_some_and(|text| text.ends_with(&format!("on {other}, for this program")))
        );
    }

    #[test]
    fn a_host_as_its_files_tell_it() {
        let fake = Fake::new();
        fake.write("proc/cpuinfo", "model name\t: Acme 9000\nflags\t\t: fpu hypervisor lm\n");
        fake.write("proc/meminfo", "MemTotal:       1024 kB\nMemAvailable:    512 kB\n");
        fake.write("proc/sys/kernel/osrelease", "6.18.0\n");
        fake.write("sys/devices/system/node/node0/x", "");
        fake.write("sys/devices/system/node/node1/x", "");
        fake.write("sys/devices/system/node/possible", "0-1");
        fake.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
        let mut missing_facts = MissingFacts::default();
        let host = facts(&fake.roots, &mut missing_facts);
        let value = |fact: Option<Fact<String>>| fact.map(|fact| fact.value);
        assert_eq!(value(host.cpu_model).as_deref(), Some("Acme 9000"));
        assert_eq!(value(host.kernel).as_deref(), Some("6.18.0"));
        assert_eq!(value(host.lockdown).as_deref(), Some("integrity"));
        assert_eq!(host.hypervisor.map(|fact| fact.value), Some(true));
        assert_eq!(host.numa_nodes.map(|fact| fact.value), Some(2));
        assert_eq!(host.memory_bytes.map(|fact| fact.value), Some(1_048_576));
        assert!(host.clock_cost_ns.is_some_and(|fact| fact.value > 0.0));
        let missing: Vec<String> = missing_facts.into_list().into_iter().map(|m| m.what).collect();
        assert!(missing.iter().any(|what| what == "frequency governor"), "{missing:?}");
        assert!(!missing.iter().any(|what| what == "kernel lockdown"), "{missing:?}");
    }

    #[test]
    fn idle_states_and_nodes() {
        let fake = Fake::new();
        let cpu = "sys/devices/system/cpu/cpu0/cpuidle";
        for (state, latency, disable) in [(0, "0", "0"), (1, "2", "0"), (2, "133", "1")] {
            let files = [("latency", latency), ("disable", disable)];
            fake.write_all(&format!("{cpu}/state{state}"), &files);
        }
        fake.write("sys/devices/system/node/node0/cpulist", "0-7\n");
        let host = facts(&fake.roots, &mut MissingFacts::default());
        assert_eq!(host.cpu_idle_exit_ns.map(|fact| fact.value), Some(2000));
        assert_eq!(host.numa_cpus, [], "one node is none");
        fake.write("sys/devices/system/node/node1/cpulist", "8-15\n");
        let host = facts(&fake.roots, &mut MissingFacts::default());
        let nodes: Vec<_> =
            host.numa_cpus.into_iter().map(|(node, list)| (node, list.value)).collect();
        assert_eq!(nodes, [(0, "0-7".to_owned()), (1, "8-15".to_owned())]);
    }

    #[test]
    fn no_flags_no_word_about_a_hypervisor() {
        assert_eq!(hypervisor("Features : fp asimd\n"), None);
        assert_eq!(hypervisor("flags : fpu\n"), Some(false));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(?s).{0,120}") {
            let _ = (meminfo(&text, "MemTotal"), hypervisor(&text));
        }
    }
}
