//! What lies under paths: of this host, or of one that wrote its answers down.

use std::path::{Path, PathBuf};

use candor_observe::{Bundle, Roots};
use candor_record::Facts;

use crate::{RunError, ready, watching};

/// Inspects paths: what each is, what lies under it, and whether its counters can be trusted.
///
/// # Errors
/// A path does not exist.
pub fn inspect(paths: &[PathBuf]) -> Result<Facts, RunError> {
    Ok(inspect_by(&named(paths)?, &Roots::default()))
}

/// As [`inspect`], with all that the kernel answered, for [`replay`]; of all devices of the host
/// where no path is given.
///
/// # Errors
/// A path does not exist.
pub fn record(paths: &[PathBuf]) -> Result<(Facts, Bundle), RunError> {
    let targets = match paths.is_empty() {
        true => watching::all(&Roots::default()),
        false => named(paths)?,
    };
    let roots = Roots::recording();
    let facts = inspect_by(&targets, &roots);
    let mut bundle = roots.recorded();
    bundle.candor = env!("CARGO_PKG_VERSION").to_owned();
    bundle.kernel = facts.host.kernel.as_ref().map(|fact| fact.value.clone()).unwrap_or_default();
    bundle.targets = targets;
    bundle.facts = serde_json::to_string_pretty(&facts).unwrap_or_default() + "\n";
    Ok((facts, bundle))
}

/// What this version makes of what another host's kernel answered, with the accounting probes that
/// were made there.
///
/// # Errors
/// A sentence about what is no bundle.
pub fn replay(text: &str) -> Result<Facts, String> {
    let bundle = Bundle::read(text)?;
    let told: Facts = serde_json::from_str(&bundle.facts)
        .map_err(|error| format!("its facts, after the line `facts`, cannot be read: {error}"))?;
    let targets = bundle.targets.clone();
    let mut facts = candor_observe::inspect(&targets, &Roots::replay(bundle));
    for (target, then) in facts.targets.iter_mut().zip(told.targets) {
        target.accounting_probe = then.accounting_probe;
    }
    let of_reads = told.missing.into_iter().filter(ready::is_of_accounting_probe);
    facts.missing.extend(of_reads);
    Ok(facts)
}

/// Paths without links, each under the name that it was given. What is no path may be the name of
/// a device, as the kernel and iostat tell it: `sda`.
pub(crate) fn named(paths: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, RunError> {
    let find = |path: &PathBuf| {
        let found = path.canonicalize().or_else(|error| device(path).ok_or(error));
        found.map_err(RunError::file("find", path))
    };
    paths.iter().map(|path| Ok((path.display().to_string(), find(path)?))).collect()
}

/// The device of that name.
fn device(name: &Path) -> Option<PathBuf> {
    let roots = Roots::default();
    let name = name.file_name().filter(|alone| *alone == name)?.to_str()?;
    let (_, node) = watching::node(name, &roots);
    (roots.sys.join("class/block").join(name).exists() && node.exists()).then_some(node)
}

fn inspect_by(targets: &[(String, PathBuf)], roots: &Roots) -> Facts {
    let mut facts = candor_observe::inspect(targets, roots);
    for (index, (_, path)) in targets.iter().enumerate() {
        ready::prove_path(&mut facts, index, Path::new(path), &Roots::default());
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
    fn devices_are_found_by_their_names() {
        let Some(name) = watching::names(&Roots::default()).into_iter().next() else { return };
        let found = named(&[PathBuf::from(&name)]).expect("the kernel names it");
        assert_eq!(found, [(name.clone(), Path::new("/dev").join(name.replace('!', "/")))]);
        for none in ["no-such-device", "..", "", "/nowhere/sda"] {
            assert_eq!(device(Path::new(none)), None, "{none}");
        }
    }

    #[test]
    fn what_is_no_bundle_is_told() {
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
