//! Arrows between crates point down, and the floors that do I/O by hand stay without tokio.

use std::collections::HashSet;

use toml::{Table, Value};

use super::{Breach, Source};

const OWN_PREFIX: &str = "candor-";

/// (crate, floor); `candor` itself is the package without a prefix.
const FLOORS: &[(&str, u32)] = &[
    ("files", 1),
    ("plan", 1),
    ("record", 1),
    ("stats", 1),
    ("derive", 2),
    ("engine", 2),
    ("chart", 2),
    ("http", 2),
    ("bytes", 3),
    ("s3", 3),
    ("memory", 3),
    ("compute", 3),
    ("compare", 3),
    ("copy", 3),
    ("observe", 3),
    ("judge", 3),
    ("front", 3),
    ("show", 3),
    ("blocks", 4),
    ("entries", 4),
    ("objects", 4),
    ("ior-family", 4),
    ("history", 4),
    ("html", 4),
    ("live", 4),
    ("metrics", 4),
    ("run", 5),
    ("explore", 6),
    ("fleet", 6),
    // Results of tools, read with their option tables.
    ("readers", 6),
    // Outside `crates/`; the whole-program tests boot it.
    ("lab", 6),
    ("candor", 7),
];

/// Floor of a tool: a crate on top of `front` that is not in the table.
const TOOL_FLOOR: u32 = 5;

/// The one arrow within a floor: a report contains the plan it came from.
const WITHIN_FLOOR: (&str, &str) = ("record", "plan");

/// Families of work, which should not use each other.
const FAMILIES: &[&str] = &["blocks", "compute", "entries", "memory", "objects"];

/// Packages in whose dependencies tokio has no place: the timed loop and what describes it.
const WITHOUT_TOKIO: &[&str] = &["candor-engine", "candor-plan"];

fn floor(name: &str) -> Option<u32> {
    FLOORS.iter().find(|(of, _)| *of == name).map(|(_, floor)| *floor)
}

/// Arrows that point up or sideways.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    // Packages deeper down, such as a crate's fuzz targets, are part of no floor.
    fn is_crate(s: &&Source) -> bool {
        matches!(s.path.split('/').collect::<Vec<_>>()[..], ["crates", _, "Cargo.toml"])
    }
    sources.iter().filter(is_crate).flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Source) -> Vec<Breach> {
    let Ok(table) = manifest.text.parse::<Table>() else {
        return vec![manifest.breach(1, "the manifest is not TOML")];
    };
    let package = table.get("package").and_then(|p| p.get("name")).and_then(Value::as_str);
    let own = package.map_or("", |name| name.trim_start_matches(OWN_PREFIX));
    let is_tool = dependencies(&table).contains(&"candor-front");
    let Some(own_floor) = floor(own).or(is_tool.then_some(TOOL_FLOOR)) else {
        return vec![manifest.breach(1, format!("{own} has no floor in the table: give it one"))];
    };
    let mut breaches = Vec::new();
    for used in dependencies(&table) {
        let Some(used) = used.strip_prefix(OWN_PREFIX) else { continue };
        let allowed = floor(used).unwrap_or(TOOL_FLOOR) < own_floor;
        if !allowed && (own, used) != WITHIN_FLOOR {
            let line =
                manifest.text.lines().position(|l| l.contains(&format!("{OWN_PREFIX}{used}")));
            let sentence =
                format!("{own} (floor {own_floor}) may not use {used}: only floors below");
            breaches.push(manifest.breach(line.map_or(1, |i| i + 1), sentence));
        }
    }
    breaches
}

/// Dependencies of one family on another.
pub fn between_families(sources: &[Source]) -> Vec<Breach> {
    let mut found = Vec::new();
    for family in FAMILIES {
        let path = format!("crates/{family}/Cargo.toml");
        let Some(manifest) = sources.iter().find(|source| source.path == path) else { continue };
        let Ok(table) = manifest.text.parse::<Table>() else { continue };
        let used: Vec<&str> = dependencies(&table);
        let used = used.iter().filter_map(|name| name.strip_prefix(OWN_PREFIX));
        for other in used.filter(|other| FAMILIES.contains(other)) {
            found.push(manifest.breach(1, format!("{family} uses {other}")));
        }
    }
    found
}

/// Names of all that a manifest depends on, for any purpose and any platform.
fn dependencies(table: &Table) -> Vec<&str> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut names = Vec::new();
    for (key, value) in table {
        match value.as_table() {
            Some(list) if kinds.contains(&key.as_str()) => {
                names.extend(list.keys().map(String::as_str));
            }
            Some(platforms) if key == "target" => {
                let platforms = platforms.values().filter_map(Value::as_table);
                names.extend(platforms.flat_map(dependencies));
            }
            _ => {}
        }
    }
    names
}

/// Packages below which tokio has crept in.
pub fn without_tokio(sources: &[Source]) -> Vec<Breach> {
    let Some(lock) = sources.iter().find(|s| s.path == "Cargo.lock") else { return Vec::new() };
    let Ok(table) = lock.text.parse::<Table>() else {
        return vec![lock.breach(1, "the lock file is not TOML")];
    };
    let packages = table.get("package").and_then(Value::as_array);
    let packages: Vec<&Value> = packages.into_iter().flatten().collect();
    WITHOUT_TOKIO
        .iter()
        .filter(|package| closure(&packages, package).contains("tokio"))
        .map(|package| lock.breach(1, format!("{package} depends on tokio: it must not")))
        .collect()
}

/// Everything that a package of the lock file depends on, directly or not.
fn closure<'a>(packages: &[&'a Value], package: &'a str) -> HashSet<&'a str> {
    let mut found = HashSet::new();
    let mut waiting = vec![package];
    while let Some(name) = waiting.pop() {
        for entry in packages.iter().filter(|p| p.get("name").and_then(Value::as_str) == Some(name))
        {
            let needs = entry.get("dependencies").and_then(Value::as_array);
            // An entry is a name, and a version where there are several.
            let names = needs.into_iter().flatten().filter_map(|n| n.as_str()?.split(' ').next());
            waiting.extend(names.filter(|name| found.insert(*name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(name: &str, rest: &str) -> Vec<Breach> {
        let text = format!("[package]\nname = \"{name}\"\n{rest}");
        check(&[Source::new("crates/x/Cargo.toml", &text)])
    }

    #[test]
    fn arrows_up_and_sideways_are_found() {
        let up = arrows("candor-plan", "[dependencies]\ncandor-run = { workspace = true }\n");
        assert_eq!((up.len(), up[0].line), (1, 4));
        assert_eq!(arrows("candor-judge", "[dev-dependencies]\ncandor-observe = \"1\"").len(), 1);
        assert_eq!(arrows("candor-plan", "[dependencies]\ncandor-record = \"1\"").len(), 1);
        let on_linux = "[target.'cfg(unix)'.dependencies]\ncandor-candor = \"1\"";
        assert_eq!(arrows("candor-engine", on_linux).len(), 1);
        assert_eq!(arrows("candor-new", "").len(), 1);
        let tool = "[dependencies]\ncandor-front = \"1\"\ncandor-fio = \"1\"";
        assert_eq!(arrows("candor-new", tool).len(), 1, "tools do not use each other");
    }

    #[test]
    fn arrows_down_are_fine() {
        let all = "[dependencies]\ncandor-plan = \"1\"\nserde = \"1\"";
        assert!(arrows("candor-record", all).is_empty());
        let tool = "[dependencies]\ncandor-front = \"1\"\ncandor-plan = \"1\"";
        assert!(arrows("candor-new", tool).is_empty());
        assert!(arrows("candor", "[dependencies]\ncandor-explore = \"1\"").is_empty());
    }

    #[test]
    fn arrows_between_families_are_found_and_others_are_not() {
        let text = "[dependencies]\ncandor-blocks = \"1\"\ncandor-engine = \"1\"\nblocks = \"1\"\n";
        let found = between_families(&[Source::new("crates/entries/Cargo.toml", text)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "entries uses blocks");
    }

    #[test]
    fn tokio_is_found_however_deep() {
        let lock = |middle: &str| {
            let text = format!(
                "[[package]]\nname = \"candor-engine\"\ndependencies = [\"a 1.0\"]\n\
                 [[package]]\nname = \"a\"\ndependencies = [\"{middle}\", \"candor-engine\"]\n"
            );
            without_tokio(&[Source::new("Cargo.lock", &text)])
        };
        assert_eq!(lock("tokio").len(), 1);
        assert!(lock("tokio-less").is_empty());
    }
}
