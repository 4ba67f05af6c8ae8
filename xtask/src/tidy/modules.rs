//! Modules of a crate stand in an order: each uses only those below it, so there are no circles.

use super::{Breach, Source};

/// (crate, its modules from the lowest to the highest). Crates that are not named are not checked.
const ORDERS: &[(&str, &[&str])] = &[
    ("dialects", &["kit", "iostat", "fio"]),
    (
        "observe",
        &[
            "source",
            "net",
            "path",
            "stack",
            "host",
            "cache",
            "counters",
            "accounting_probe",
            "inspect",
            "trace",
        ],
    ),
    (
        "run",
        &[
            "error",
            "families",
            "memory",
            "control",
            "owned_files",
            "signals",
            "events",
            "claims",
            "signature",
            "consent",
            "hooks",
            "schedulers",
            "integrity",
            "tracer",
            "devices",
            "precheck",
            "inspection",
            "align",
            "page_cache",
            "device_watch",
            "layout",
            "runner",
            "phase_snapshots",
            "local",
            "run",
        ],
    ),
];

/// Uses of modules that stand higher than their user, and modules without a place in the order.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let of_crate = |(name, order): &(&str, &'static [&'static str])| {
        let folder = format!("crates/{name}/src/");
        let order = *order;
        sources
            .iter()
            .filter_map(move |source| Some((source, source.path.strip_prefix(&folder)?.to_owned())))
            .flat_map(move |(source, path)| of_file(source, &path, order))
    };
    ORDERS.iter().flat_map(of_crate).collect()
}

fn of_file(source: &Source, path: &str, order: &[&str]) -> Vec<Breach> {
    let own = path.split(['/', '.']).next().unwrap_or_default();
    let place = |module: &str| order.iter().position(|of| *of == module);
    let is_test = |line: &&str| line.trim() == "#[cfg(test)]";
    if own == "lib" {
        // Only the list of modules is of interest: a new one needs a place.
        let code = source.layers.code.lines().take_while(|line| !is_test(line));
        let modules = code.enumerate().filter_map(|(at, line)| Some((at, module_of(line)?)));
        let unknown = modules.filter(|(_, module)| place(module).is_none());
        let sentence = |module| format!("module {module} has no place in the order of modules");
        return unknown.map(|(at, module)| source.breach(at + 1, sentence(module))).collect();
    }
    let Some(own_place) = place(own).filter(|_| !path.ends_with("tests.rs")) else {
        return Vec::new();
    };
    let code = source.layers.code.lines().take_while(|line| !is_test(line));
    let mut breaches = Vec::new();
    for (at, line) in code.enumerate() {
        for used in used_by(line) {
            if place(used).is_some_and(|used| used > own_place) {
                let sentence = format!("{own} may not use {used}: it stands higher");
                breaches.push(source.breach(at + 1, sentence));
            }
        }
    }
    breaches
}

/// The module that a line declares.
fn module_of(line: &str) -> Option<&str> {
    line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
}

/// Modules of the own crate that a line names: `crate::a::b`, `crate::{a, b::c}`.
fn used_by(line: &str) -> Vec<&str> {
    let name = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let mut used = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let list = rest.strip_prefix('{').and_then(|list| list.split('}').next());
        for item in
            list.unwrap_or(rest).split(',').take(if list.is_some() { usize::MAX } else { 1 })
        {
            let item = item.trim();
            used.push(&item[..name(item).unwrap_or(item.len())]);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&[Source::new(&format!("crates/observe/src/{path}"), text)]).len()
    }

    #[test]
    fn what_stands_higher_is_not_used() {
        assert_eq!(breaches("path/mounts.rs", "use crate::stack::kind;\n"), 1);
        assert_eq!(breaches("host.rs", "use crate::{net, cache, trace::Budget};\n"), 2);
        assert_eq!(breaches("net.rs", "fn a(b: &crate::counters::Sampler) {}\n"), 1);
        assert_eq!(breaches("lib.rs", "mod source;\npub mod eye;\n"), 1);
    }

    #[test]
    fn each_crate_has_an_order_of_its_own() {
        let of_run = |text| check(&[Source::new("crates/run/src/local/phase.rs", text)]).len();
        assert_eq!(of_run("use crate::run::Run;\n"), 1);
        assert_eq!(of_run("use crate::{hooks, runner::Task};\n"), 0);
    }

    #[test]
    fn what_stands_lower_and_tests_are_fine() {
        assert_eq!(breaches("stack/kind.rs", "use crate::{net, source::Roots};\n"), 0);
        assert_eq!(breaches("path.rs", "// crate::trace\n#[cfg(test)]\nuse crate::trace;\n"), 0);
        assert_eq!(breaches("path/tests.rs", "use crate::trace::Budget;\n"), 0);
        assert_eq!(breaches("lib.rs", "mod source;\n#[cfg(test)]\nmod fake;\n"), 0);
        assert_eq!(check(&[Source::new("crates/new/src/a.rs", "use crate::b;")]), []);
    }
}
