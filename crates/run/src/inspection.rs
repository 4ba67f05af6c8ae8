//! Devices and filesystems under paths: of this host, or of one whose answers were recorded.

use std::path::{Path, PathBuf};

use candor_observe::{Bundle, Roots};
use candor_record::Facts;
use candor_record::facts::{DeviceFacts, DeviceKind, value};

use crate::error::RunError;
use crate::{devices, precheck};

/// Inspects paths: what each is, what lies under it, and whether its counters can be trusted; the
/// devices of [`list_devices`] where no path is given.
///
/// # Errors
/// A path does not exist.
pub fn inspect(paths: &[PathBuf]) -> Result<Facts, RunError> {
    let roots = Roots::default();
    let facts = inspect_by(&targets(paths, &roots)?, &roots);
    Ok(if paths.is_empty() { without_ram_disks(facts) } else { facts })
}

/// Facts of the devices of this host, without reading from any; with `all` also of RAM disks, and
/// of those that have no size.
pub fn list_devices(all: bool) -> Facts {
    let roots = Roots::default();
    let names = if all { devices::whole(&roots) } else { devices::names(&roots) };
    let targets: Vec<_> = names.iter().map(|name| devices::node(name, &roots)).collect();
    let facts = candor_observe::inspect(&targets, &roots);
    if all { facts } else { without_ram_disks(facts) }
}

/// RAM disks are there whether anybody uses them or not.
fn without_ram_disks(mut facts: Facts) -> Facts {
    let is_ram_disk = |device: &&DeviceFacts| device.kind == DeviceKind::Brd;
    let names: Vec<String> =
        facts.devices.iter().filter(is_ram_disk).map(|device| device.name.clone()).collect();
    facts
        .targets
        .retain(|target| value(&target.device).is_none_or(|device| !names.contains(device)));
    facts
}

/// As [`inspect`], with all that the kernel answered, for [`replay`]; of all devices of the host
/// where no path is given.
///
/// # Errors
/// A path does not exist.
pub fn record(paths: &[PathBuf]) -> Result<(Facts, Bundle), RunError> {
    let targets = targets(paths, &Roots::default())?;
    let roots = Roots::recording();
    let facts = inspect_by(&targets, &roots);
    let mut bundle = roots.recorded();
    bundle.candor = env!("CARGO_PKG_VERSION").to_owned();
    bundle.kernel = facts.host.kernel.as_ref().map(|fact| fact.value.clone()).unwrap_or_default();
    bundle.targets = targets;
    bundle.facts = serde_json::to_string_pretty(&facts).unwrap_or_default() + "\n";
    Ok((facts, bundle))
}

/// Facts from the answers of another host's kernel, as this version reads them, with the accounting
/// probes that were made there.
///
/// # Errors
/// A sentence about what is no bundle.
pub fn replay(text: &str) -> Result<Facts, String> {
    let bundle = Bundle::read(text)?;
    let recorded: Facts = candor_plan::values::from_json(bundle.facts.as_bytes())
        .map_err(|error| format!("its facts, after the line `facts`, cannot be read: {error}"))?;
    let targets = bundle.targets.clone();
    let mut facts = candor_observe::inspect(&targets, &Roots::replay(bundle));
    take_reads(&mut facts, recorded);
    Ok(facts)
}

/// Takes what reads on the recorded host showed, which are not made again.
fn take_reads(facts: &mut Facts, recorded: Facts) {
    let has_search = recorded.targets.iter().any(|target| target.device_search.is_some());
    for (target, then) in facts.targets.iter_mut().zip(recorded.targets) {
        target.accounting_probe = then.accounting_probe;
        if then.device_search.is_some() {
            let found_now = candor_observe::device_note(&target.target);
            facts.missing.retain(|missing| missing.what != found_now);
            (target.device, target.device_search) = (then.device, then.device_search);
        }
    }
    for device in recorded.devices.into_iter().filter(|_| has_search) {
        if facts.device(&device.name).is_none() {
            facts.devices.push(device);
        }
    }
    let of_reads = recorded.missing.into_iter().filter(precheck::is_of_accounting_probe);
    facts.missing.extend(of_reads);
}

fn targets(paths: &[PathBuf], roots: &Roots) -> Result<Vec<(String, PathBuf)>, RunError> {
    if paths.is_empty() { Ok(devices::all(roots)) } else { devices::named(paths) }
}

fn inspect_by(targets: &[(String, PathBuf)], roots: &Roots) -> Facts {
    let mut facts = candor_observe::inspect(targets, roots);
    for (index, (_, path)) in targets.iter().enumerate() {
        precheck::prove_path(&mut facts, index, Path::new(path), &Roots::default());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_comes_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a file");
        std::fs::write(&file, "hello").expect("written");
        let (facts, bundle) =
            record(&[file, directory.path().to_path_buf()]).expect("both are there");
        let text = bundle.to_string();
        assert_eq!(Bundle::read(&text), Ok(bundle));
        assert_eq!(replay(&text), Ok(facts));
    }

    #[test]
    fn texts_that_are_no_bundle_are_refused() {
        let (_, bundle) = record(&["/".into()]).expect("it is there");
        let text = bundle.to_string();
        for (broken, word) in [
            (text.replacen("form 1", "form 2", 1), "line 1 is"),
            (text.replacen("\nown cpus", "\nowns cpus", 1), "knows no such question"),
            (text.replacen("\nfacts\n", "\n", 1), "line"),
            (text.replacen("\nfacts\n{", "\nfacts\n", 1), "cannot be read"),
        ] {
            let sentence = replay(&broken).expect_err("it is broken");
            assert!(sentence.contains(word), "{sentence}");
        }
    }
}
