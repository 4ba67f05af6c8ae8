//! Modules of a crate stand in an order: each uses only those below it, so there are no circles.

use super::{Breach, Source};

/// (crate or module, its modules from the lowest to the highest). Those that are not named are not
/// checked.
const ORDERS: &[(&str, &[&str])] = &[
    ("dialects", &["kit", "iostat", "fio"]),
    ("dialects::iostat", &["moment", "figures", "options", "columns", "rows", "text", "json"]),
    (
        "dialects::fio",
        &[
            "values",
            "job",
            "ast",
            "job_options",
            "options",
            "flags",
            "help",
            "output",
            "show_command",
            "state",
            "trace",
            "lower",
        ],
    ),
    ("dialects::fio::options", &["kind", "engine_names", "value", "own", "apply", "rows", "read"]),
    (
        "show",
        &[
            "style", "describe", "layout", "words", "json", "cached", "problems", "progress",
            "requests", "rules", "watch", "report", "facts",
        ],
    ),
    (
        "blocks",
        &["slot", "stream", "targets", "data", "known", "layout", "sources", "engines", "ready"],
    ),
    (
        "engine",
        &[
            "error",
            "random",
            "names",
            "host",
            "clock",
            "operation",
            "failures",
            "worker_end",
            "counters",
            "operation_log",
            "issue",
            "source",
            "gates",
            "shared",
            "family",
            "worker",
            "phase",
        ],
    ),
    (
        "judge",
        &[
            "thresholds",
            "activity",
            "align",
            "integrity",
            "series",
            "stage",
            "case",
            "setup",
            "command",
            "flow",
            "observed",
            "coverage",
            "entry_jobs",
            "bound",
            "expect",
            "shared",
            "ceilings",
            "builder",
            "follow_ups",
            "rule",
            "rules",
            "causes",
            "questions",
            "limit",
            "headline",
            "preflight",
        ],
    ),
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
            "memory",
            "runner",
            "phase_snapshots",
            "local",
            "run",
        ],
    ),
];

/// Uses of modules that stand higher than their user, and modules without a place in the order.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let of_room = |(name, order): &(&str, &'static [&'static str])| {
        let (krate, module) = name.split_once("::").unwrap_or((*name, ""));
        let src = format!("crates/{krate}/src");
        let room = match module {
            "" => Room {
                folder: src.clone(),
                root: format!("{src}/lib.rs"),
                path: "crate::".into(),
                order,
            },
            _ => {
                let folder = format!("{src}/{}", module.replace("::", "/"));
                Room {
                    root: format!("{folder}.rs"),
                    path: format!("crate::{module}::"),
                    folder,
                    order,
                }
            }
        };
        sources.iter().flat_map(|source| room.breaches(source)).collect::<Vec<_>>()
    };
    ORDERS.iter().flat_map(of_room).collect()
}

/// A crate or module whose modules stand in an order.
struct Room {
    /// Folder of its modules.
    folder: String,
    /// File that lists them.
    root: String,
    /// Beginning of their paths in code.
    path: String,
    order: &'static [&'static str],
}

impl Room {
    fn place(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|of| *of == module)
    }

    fn breaches(&self, source: &Source) -> Vec<Breach> {
        if source.path == self.root {
            return self.unknown(source);
        }
        let inside = source.path.strip_prefix(&self.folder).and_then(|path| path.strip_prefix('/'));
        let Some(path) = inside.filter(|path| path.split(['/', '.']).all(|part| part != "tests"))
        else {
            return Vec::new();
        };
        let own = path.split(['/', '.']).next().unwrap_or_default();
        let Some(own_place) = self.place(own) else { return Vec::new() };
        // What the root of a crate has itself stands higher than all its modules.
        let is_crate = self.path == "crate::";
        let mut breaches = Vec::new();
        for (at, line) in code(source) {
            let siblings = if path.contains('/') { Vec::new() } else { used_by(line, "super::") };
            for used in used_by(line, &self.path).into_iter().chain(siblings) {
                if self.place(used).map_or(is_crate, |used| used > own_place) {
                    let sentence = format!("{own} may not use {used}: it stands higher");
                    breaches.push(source.breach(at + 1, sentence));
                }
            }
        }
        breaches
    }

    /// Modules of the list that have no place: a new one needs one.
    fn unknown(&self, source: &Source) -> Vec<Breach> {
        let modules = code(source).filter_map(|(at, line)| Some((at, module_of(line)?)));
        let unknown = modules.filter(|(_, module)| self.place(module).is_none());
        let sentence = |module| format!("module {module} has no place in the order of modules");
        unknown.map(|(at, module)| source.breach(at + 1, sentence(module))).collect()
    }
}

/// Lines of code with their numbers from 0, without those of tests.
fn code(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut of_test = false;
    let lines = source.layers.code.lines().take_while(|line| !line.ends_with("mod tests {"));
    lines
        .enumerate()
        .filter(move |(_, line)| !std::mem::replace(&mut of_test, line.trim() == "#[cfg(test)]"))
}

/// The module that a line declares.
fn module_of(line: &str) -> Option<&str> {
    line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
}

/// Modules that a line names behind a path: `crate::a::b`, `crate::{a, b::c}`.
fn used_by<'a>(line: &'a str, path: &str) -> Vec<&'a str> {
    let name = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_');
    let mut used = Vec::new();
    for rest in line.split(path).skip(1) {
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
        assert_eq!(breaches("host.rs", "use crate::Facts;\n"), 1);
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

    #[test]
    fn modules_of_a_module_are_held_too() {
        let breaches = |path: &str, text: &str| {
            let source = Source::new(&format!("crates/dialects/src/{path}"), text);
            check(&[source]).into_iter().map(|breach| breach.line).collect::<Vec<_>>()
        };
        assert_eq!(
            breaches("fio/values.rs", "use crate::fio::ast::Ast;\nuse super::job;\n"),
            [1, 2]
        );
        assert_eq!(breaches("fio/options/value.rs", "use super::apply::words;\n"), [1]);
        assert_eq!(breaches("fio/options/rows/io.rs", "use crate::fio::options::read;\n"), [1]);
        assert_eq!(breaches("fio/options/rows/io.rs", "use super::read;\n"), []);
        assert_eq!(breaches("fio.rs", "mod values;\nmod novel;\n"), [2]);
    }
}
