//! Bundles of other hosts and kernels, recorded with `candor inspect --record`: what came out of
//! their answers then comes out of them now.

use std::fs;
use std::path::{Path, PathBuf};

use candor_observe::{Bundle, Roots, inspect};
use candor_record::Facts;

fn bundles() -> Vec<(PathBuf, Bundle)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bundles");
    let mut found: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the bundles")
        .map(|entry| entry.expect("a bundle").path())
        .collect();
    found.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("text");
        let bundle = Bundle::read(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        assert_eq!(Bundle::read(&bundle.to_string()).as_ref(), Ok(&bundle), "{}", path.display());
        (path, bundle)
    };
    found.into_iter().map(read).collect()
}

/// The facts that answers of the host give: without accounting probes, which write to the host,
/// and without sentences, whose words may improve.
fn of_answers(mut facts: Facts) -> Facts {
    for target in &mut facts.targets {
        target.accounting_probe = None;
    }
    facts.missing.retain(|missing| !missing.what.starts_with("accounting probe of "));
    for missing in &mut facts.missing {
        (missing.why, missing.enable) = (String::new(), String::new());
    }
    facts
}

#[test]
fn every_bundle_comes_to_the_same_facts() {
    for (path, bundle) in bundles() {
        let noted: Facts = serde_json::from_str(&bundle.facts).expect("facts");
        let targets = bundle.targets.clone();
        let facts = inspect(&targets, &Roots::replay(bundle));
        assert_eq!(of_answers(facts.clone()), of_answers(noted), "{}", path.display());
        assert!(facts.host.kernel.is_some() && !facts.targets.is_empty(), "{}", path.display());
        assert!(!facts.devices.is_empty(), "{}", path.display());
    }
}

#[test]
fn a_bundle_tells_what_its_host_was() {
    let all = bundles();
    assert!(!all.is_empty());
    for (path, bundle) in all {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        // `6.18-loop-zram.txt`: the kernel's version stands in front.
        let kernel = name.split('-').next().unwrap_or_default();
        assert!(bundle.kernel.starts_with(kernel), "{name} is of {}", bundle.kernel);
        assert!(!bundle.candor.is_empty());
    }
}

#[test]
fn an_answer_that_was_not_written_down_is_missing_and_not_guessed() {
    for (path, bundle) in bundles() {
        let text = bundle.to_string();
        let without: String = text
            .split_inclusive('\n')
            .take_while(|line| *line != "facts\n")
            .filter(|line| !line.contains("/proc/sys/kernel/osrelease"))
            .collect();
        let bundle = Bundle::read(&(without + "facts\n{}\n")).expect("a bundle");
        let targets = bundle.targets.clone();
        let facts = inspect(&targets, &Roots::replay(bundle));
        assert_eq!(facts.host.kernel, None, "{}", path.display());
        assert!(facts.missing.iter().any(|missing| missing.what == "kernel release"));
    }
}
