//! Idleness of the CPUs, as `--idle-prof` shows it.

use crate::job::Idleness;
use candor_front::Object;

/// The lines below the disks.
pub fn text(idleness: &Idleness) -> String {
    let mut text = format!("\nCPU idleness:\n  system: {:.2}%\n", idleness.system);
    if let Some(cpus) = &idleness.per_cpu {
        let each: Vec<String> = cpus.iter().map(|(_, percent)| format!("{percent:.2}%")).collect();
        text += &format!("  percpu: {}\n", each.join(", "));
    }
    text + &unit(idleness.unit_mean_us, idleness.unit_stddev_us)
}

/// The text of a calibration alone.
pub fn calibration(mean_us: f64, stddev_us: f64) -> String {
    format!("CPU idleness:\n{}", unit(mean_us, stddev_us))
}

fn unit(mean_us: f64, stddev_us: f64) -> String {
    format!("  unit work: mean={mean_us:.2}us, stddev={stddev_us:.2}\n")
}

/// The same in JSON.
pub(super) fn tree(idleness: &Idleness) -> Object {
    let mut object = Object::default().with("system", idleness.system);
    for (cpu, percent) in idleness.per_cpu.iter().flatten() {
        object.put(format!("cpu-{cpu}"), *percent);
    }
    object.with("unit_mean", idleness.unit_mean_us).with("unit_stddev", idleness.unit_stddev_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_fio() {
        let mut idleness =
            Idleness { system: 93.456, per_cpu: None, unit_mean_us: 1.234, unit_stddev_us: 0.006 };
        let unit = "  unit work: mean=1.23us, stddev=0.01\n";
        assert_eq!(text(&idleness), format!("\nCPU idleness:\n  system: 93.46%\n{unit}"));
        idleness.per_cpu = Some(vec![(0, 90.0), (1, 96.912)]);
        assert!(text(&idleness).contains("%\n  percpu: 90.00%, 96.91%\n  unit work"));
        assert_eq!(calibration(1.234, 0.006), format!("CPU idleness:\n{unit}"));
    }
}
