//! Modules of a crate stand in an order: each uses only those below it, so there are no circles.

use super::{Breach, Source};

/// (crate or module, its modules from the lowest to the highest). Those that are not named are not
/// checked.
const ORDERS: &[(&str, &str)] = &[
    ("dialects", "kit iostat dd elbencho ior_family ior vdbench fio mdtest md_workbench results"),
    ("dialects::ior::options", "rows words reader script read"),
    ("dialects::ior", "grammar options setup plan output"),
    ("dialects::ior::output", "numbers surroundings settings figures text json csv operations"),
    (
        "dialects::vdbench",
        "lines values kind definitions parameters file runs options lower output",
    ),
    ("dialects::elbencho", "grammar paths options setup plan output"),
    ("dialects::elbencho::output", "numbers figures text csv json live summary notes"),
    ("dialects::ior_family", "words reading back_ends results"),
    ("dialects::mdtest", "options setup plan output"),
    ("dialects::mdtest::output", "results text ranks document"),
    ("dialects::md_workbench", "options setup plan output"),
    ("dialects::md_workbench::output", "results text document latencies"),
    (
        "dialects::kit",
        "value choices text diagnostic row command_line given diagnostics environment found help \
         launcher origins plain ranks tree support verdict evidence",
    ),
    ("dialects::dd", "quoting number symbols options ebcdic convert lines meaning"),
    ("chart", "letters svg decimate ticks model look unit scale table data draw png"),
    ("chart::draw", "sheet frame cells shapes legend marks panel bars"),
    ("copy", "plan cache source sink copier process"),
    ("dialects::iostat", "moment figures options columns rows text json"),
    (
        "dialects::fio",
        "values job ast job_options options flags help output show_command state trace \
         lower write",
    ),
    (
        "dialects::fio::lower",
        "host instance names measures trace engines processes content offsets files groups pacing \
         report_meta",
    ),
    ("dialects::fio::options", "kind engine_names value own apply rows read"),
    (
        "show",
        "style describe layout words json csv comparison charts cached history problems progress \
         requests rules results watch report facts",
    ),
    (
        "plan",
        "path_text visible text_serde units permutation rank_order trace access advice content \
         engine measure operation pace verify zones blocks memory pattern file_name tree listing target entries threads program work model \
         nearest problem values rank spread check shell text",
    ),
    (
        "fleet",
        "clock message wire secret identity reason priority log network samples node client \
         coordinator allow guest probe caller host link server session rendezvous fleet simulation",
    ),
    ("metrics", "series text devices run watch endpoint"),
    ("blocks", "slot stream targets data journal known layout sources engines ready"),
    (
        "engine",
        "error random names host clock stops operation failures worker_end counters \
         first_done operation_log issue source gates shared family worker phase",
    ),
    (
        "judge",
        "thresholds activity align integrity series stage case parts setup direct_io command flow \
         observed changes foreign compression hits coverage entry_jobs bound expect shared evidence ceilings builder follow_ups \
         trials more_load rule rules causes wanted_cache questions limit job_limits headline preflight \
         hosts sweep",
    ),
    (
        "compare",
        "thresholds student estimate bound pairing rounds conditions figures words check expect",
    ),
    ("history", "error place journal moment files entry index query change trends export"),
    ("explore", "saturate small_files check io500"),
    ("live", "keys units marks paint page terminal session run watch"),
    ("judge::rules", "cache depth array condition link method names queue"),
    (
        "observe",
        "source net path stack host cache counters accounting_probe inspect read_again trace",
    ),
    (
        "run",
        "control leftovers owned_files signals error resource_limits families peers trees \
         events claims device_claim signature consent files_in_use hooks schedulers integrity \
         tracer devices precheck inspection align page_cache device_watch target_check \
         cached_work layout free_space memory occupied_memory submission runner sizes \
         operations_log phase_snapshots local run",
    ),
];

/// Uses of modules that stand higher than their user, and modules without a place in the order.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let of_room = |(name, order): &(&str, &'static str)| {
        let (krate, module) = name.split_once("::").unwrap_or((*name, ""));
        let src = format!("crates/{krate}/src");
        let (folder, path) = match module {
            "" => (src, "crate::".into()),
            _ => (format!("{src}/{}", module.replace("::", "/")), format!("crate::{module}::")),
        };
        let roots = ["/lib.rs", ".rs", "/mod.rs"].map(|end| format!("{folder}{end}"));
        let mut room = Room { folder, path, order, given_on: Vec::new() };
        let mut breaches = Vec::new();
        for root in sources.iter().filter(|source| roots.contains(&source.path)) {
            breaches.extend(room.unknown(root));
            room.given_on = room.given_on_by(root);
        }
        breaches.extend(sources.iter().flat_map(|source| room.breaches(source)));
        breaches
    };
    ORDERS.iter().flat_map(of_room).collect()
}

/// A crate or module whose modules stand in an order.
struct Room {
    /// Folder of its modules.
    folder: String,
    /// Beginning of their paths in code.
    path: String,
    /// From the lowest to the highest, with blanks between.
    order: &'static str,
    /// Names that its root takes from its modules, with the places of these.
    given_on: Vec<(String, usize)>,
}

impl Room {
    /// The place of a module, or of the one that a name of the root is from.
    fn place(&self, name: &str) -> Option<usize> {
        let module = self.order.split(' ').position(|module| module == name);
        let given_on = || self.given_on.iter().find(|(given, _)| given == name);
        module.or_else(|| given_on().map(|(_, place)| *place))
    }

    fn breaches(&self, source: &Source) -> Vec<Breach> {
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
        for (at, code) in code(source) {
            let siblings = if path.contains('/') { Vec::new() } else { used_by(&code, "super::") };
            for used in used_by(&code, &self.path).into_iter().chain(siblings) {
                if self.place(used).map_or(is_crate, |used| used > own_place) {
                    let sentence = format!("{own} may not use {used}: it stands higher");
                    breaches.push(source.breach(at + 1, sentence));
                }
            }
        }
        breaches
    }

    /// Modules of the list that have no place: a new one needs one.
    fn unknown(&self, root: &Source) -> Vec<Breach> {
        let breach = |(at, code): (usize, String)| {
            let module = module_of(&code).filter(|module| self.place(module).is_none())?;
            let sentence = format!("module {module} has no place in the order of modules");
            Some(root.breach(at + 1, sentence))
        };
        code(root).filter_map(breach).collect()
    }

    fn given_on_by(&self, root: &Source) -> Vec<(String, usize)> {
        let mut given_on = Vec::new();
        for (_, code) in code(root) {
            let mut names = path_of_use(&code).unwrap_or_default().split(|c| !is_of_name(c));
            if let Some(place) = names.next().and_then(|module| self.place(module)) {
                given_on.extend(names.map(|name| (name.to_owned(), place)));
            }
        }
        given_on
    }
}

/// Lines of code with their numbers from 0, without those of tests; a `use` is one line.
fn code(source: &Source) -> impl Iterator<Item = (usize, String)> {
    let lines = source.layers.code.lines().take_while(|line| !line.ends_with("mod tests {"));
    let mut lines = lines.enumerate();
    let mut of_test = false;
    let whole = std::iter::from_fn(move || {
        let (at, line) = lines.next()?;
        let mut code = line.to_owned();
        while path_of_use(&code).is_some() && !code.contains(';') {
            code += lines.next()?.1.trim();
        }
        Some((at, code))
    });
    whole.filter(move |(_, code)| !std::mem::replace(&mut of_test, code.trim() == "#[cfg(test)]"))
}

/// The module that a line declares.
fn module_of(code: &str) -> Option<&str> {
    code.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
}

/// The path of a `use`.
fn path_of_use(code: &str) -> Option<&str> {
    let code = code.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    code.strip_prefix("use ")
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Names behind a path: `a` of `crate::a::b`, `a` and `b` of `crate::{a, b::{c, d}}`.
fn used_by<'a>(code: &'a str, path: &str) -> Vec<&'a str> {
    let name = |text: &'a str| text.trim_start().split(|c| !is_of_name(c)).next().unwrap_or("");
    let mut used = Vec::new();
    for rest in code.split(path).skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            used.push(name(rest));
            continue;
        };
        let mut depth = 0;
        let items = list.split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth < 0 || (depth == 0 && c == ',')
        });
        used.extend(items.map(name).filter(|name| !name.is_empty()));
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
        assert_eq!(breaches("host.rs", "use crate::{\n    net::{a, b},\n    trace,\n};\n"), 1);
    }

    #[test]
    fn each_crate_has_an_order_of_its_own() {
        let of_run = |text| check(&[Source::new("crates/run/src/local/phase.rs", text)]).len();
        assert_eq!(of_run("use crate::run::Run;\n"), 1);
        assert_eq!(of_run("use crate::{hooks, runner::Task};\n"), 0);
    }

    #[test]
    fn names_that_the_root_gives_on_are_those_of_their_modules() {
        let breaches = |path: &str| {
            let source =
                |path: &str, text| Source::new(&format!("crates/observe/src/{path}"), text);
            let root = source("lib.rs", "pub use path::{Extent, Mount};\n");
            check(&[root, source(path, "use crate::Mount;\n")]).len()
        };
        assert_eq!((breaches("net.rs"), breaches("host.rs")), (1, 0));
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
        assert_eq!(breaches("fio/options/rows/io.rs", "use super::read;\n"), [0; 0]);
        assert_eq!(breaches("fio.rs", "mod values;\nmod novel;\n"), [2]);
    }
}
