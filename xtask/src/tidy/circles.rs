//! Import circles: modules of one crate, or of one module, that use each other.
//!
//! Tests do not count. A name that a root imports from one of its modules counts as that module.
//! A root may use its modules and be used by them.

use std::collections::{BTreeMap, BTreeSet};

use super::Breach;
use super::tokens::{File, Path, folder_of_modules, paths};

/// One breach per circle, at the root of its modules.
pub fn circles(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for (folder, room) in rooms(files) {
        for circle in room.circles() {
            found.push(breach(files, &folder, circle.join(", ")));
        }
    }
    found
}

/// One breach per module in a circle, with its uses of the others.
pub fn circle_modules(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for (folder, room) in rooms(files) {
        for circle in room.circles() {
            for module in &circle {
                let mut uses = Vec::new();
                for (used, position) in &room.uses[*module] {
                    if circle.contains(&used.as_str()) {
                        uses.push(format!("{used} ({position})"));
                    }
                }
                let sentence = format!("{module} uses {}", uses.join(", "));
                found.push(breach(files, &folder, sentence));
            }
        }
    }
    found
}

/// A breach at the root with this folder of modules.
fn breach(files: &[File], folder: &str, sentence: String) -> Breach {
    let root = files.iter().find(|file| folder_of_modules(&file.source.path) == folder);
    let path = root.map_or(folder, |root| root.source.path.as_str());
    Breach { path: path.to_owned(), line: 1, sentence }
}

/// The modules of one root.
#[derive(Default)]
struct Room {
    modules: BTreeSet<String>,
    /// Names that the root takes from its modules, with the module.
    taken: BTreeMap<String, String>,
    /// Per module, the other modules that it uses, each with one position.
    uses: BTreeMap<String, BTreeMap<String, String>>,
}

impl Room {
    /// The module that a name in the root leads to.
    fn module(&self, name: &str) -> Option<&str> {
        let taken = self.taken.get(name).map(String::as_str);
        self.modules.get(name).map(String::as_str).or(taken)
    }

    /// Modules that lead back to themselves; each circle as large as possible.
    fn circles(&self) -> Vec<Vec<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.uses.keys().map(|module| (module.as_str(), self.reached(module))).collect();
        let mut found = BTreeSet::new();
        for (module, others) in &reached {
            let mut circle: Vec<&str> = others.iter().copied().collect();
            circle.retain(|other| reached.get(other).is_some_and(|back| back.contains(module)));
            if circle.len() > 1 {
                found.insert(circle);
            }
        }
        found.into_iter().collect()
    }

    /// All that a module uses, directly or not.
    fn reached(&self, module: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![module];
        while let Some(next) = waiting.pop() {
            for used in self.uses.get(next).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(used.as_str()) {
                    waiting.push(used);
                }
            }
        }
        reached
    }
}

/// Every root with modules, by the folder of its modules.
fn rooms(files: &[File]) -> BTreeMap<String, Room> {
    let mut rooms: BTreeMap<String, Room> = BTreeMap::new();
    let shipped = files.iter().filter(|file| !file.shipped.is_empty());
    let shipped: Vec<Module> = shipped.filter_map(Module::of).collect();
    for module in &shipped {
        for (depth, name) in module.names.iter().enumerate() {
            let room = rooms.entry(module.folder(depth)).or_default();
            room.modules.insert((*name).to_owned());
        }
    }
    for module in &shipped {
        if let Some(room) = rooms.get_mut(&module.folder(module.names.len())) {
            room.taken = module.taken(&room.modules);
        }
    }
    for module in &shipped {
        for path in module.used() {
            let pairs = module.names.iter().zip(&path.names);
            let depth = pairs.take_while(|(own, used)| own == used).count();
            let own = module.names.get(depth);
            let (Some(own), Some(used)) = (own, path.names.get(depth)) else { continue };
            let Some(room) = rooms.get_mut(&module.folder(depth)) else { continue };
            if let Some(used) = room.module(used).filter(|used| used != own).map(str::to_owned) {
                let position = format!("{}:{}", module.file.source.path, path.line);
                let uses = room.uses.entry((*own).to_owned()).or_default();
                uses.entry(used).or_insert(position);
            }
        }
    }
    rooms
}

/// A file as a module.
struct Module<'a> {
    file: &'a File<'a>,
    /// `crates/NAME/src`
    crate_folder: &'a str,
    /// Names from the root of the crate; none for the root itself.
    names: Vec<&'a str>,
}

impl<'a> Module<'a> {
    fn of(file: &'a File<'a>) -> Option<Module<'a>> {
        let path = file.source.path.as_str();
        let src = path.find("/src/")? + "/src".len();
        let mut names: Vec<&str> = path[src + 1..].trim_end_matches(".rs").split('/').collect();
        let is_root = names.len() == 1 && matches!(names[0], "lib" | "main");
        if is_root || names.last() == Some(&"mod") {
            names.pop();
        }
        Some(Module { file, crate_folder: &path[..src], names })
    }

    /// The folder of the modules of its ancestor with this depth.
    fn folder(&self, depth: usize) -> String {
        let mut folder = self.crate_folder.to_owned();
        for name in &self.names[..depth] {
            folder += "/";
            folder += name;
        }
        folder
    }

    /// Paths in the file that start at the crate, at the module or above it.
    fn used(&self) -> Vec<Path<'a>> {
        let firsts = ["crate", "self", "super"];
        firsts.iter().flat_map(|first| self.starting_with(first)).collect()
    }

    /// Names that it imports from its own modules, with the module.
    fn taken(&self, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
        let relative = modules.iter().flat_map(|module| self.starting_with(module));
        let mut taken = BTreeMap::new();
        for path in relative.chain(self.used()).filter(|path| path.is_import) {
            let own = path.names.strip_prefix(&self.names[..]).unwrap_or_default();
            if let [module, .., name] = own
                && modules.contains(*module)
            {
                taken.insert((*name).to_owned(), (*module).to_owned());
            }
        }
        taken
    }

    /// Paths that start with a name, resolved from the root of the crate.
    fn starting_with(&self, first: &str) -> Vec<Path<'a>> {
        let mut paths = paths(&self.file.shipped, first);
        for path in &mut paths {
            let mut names = if path.names[0] == "crate" { Vec::new() } else { self.names.clone() };
            for name in &path.names {
                match *name {
                    "crate" | "self" => {}
                    "super" => drop(names.pop()),
                    name => names.push(name),
                }
            }
            path.names = names;
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::tokens::files;
    use super::*;

    /// A file below `crates/a/src/`.
    fn source(path: &str, text: &str) -> Source {
        Source::new(&format!("crates/a/src/{path}"), text)
    }

    fn found(sources: &[Source]) -> Vec<String> {
        circles(&files(sources)).iter().map(Breach::to_string).collect()
    }

    #[test]
    fn modules_that_use_each_other_are_found() {
        let sources = [
            source("lib.rs", "mod b;\nmod c;\nmod d;\nmod e;\n"),
            source("b.rs", "use crate::{c::C, e};"),
            source("c.rs", "fn f(d: &super::d::D) {}"),
            source("d/mod.rs", "mod f;"),
            source("d/f.rs", "use super::super::b::B;"),
            source("e.rs", "use std::fmt;"),
        ];
        assert_eq!(found(&sources), ["crates/a/src/lib.rs:1: b, c, d"]);
        let modules = circle_modules(&files(&sources));
        assert_eq!(modules.len(), 3);
        assert_eq!(modules[0].sentence, "b uses c (crates/a/src/b.rs:1)");
    }

    #[test]
    fn names_that_the_root_takes_count_as_their_module() {
        let sources = [
            source("lib.rs", "mod b;\npub mod c;\npub use b::{B, E};\npub use self::c::C;"),
            source("b.rs", "use crate::C;"),
            source("c.rs", "use crate::{\n    B,\n};"),
        ];
        assert_eq!(found(&sources), ["crates/a/src/lib.rs:1: b, c"]);
    }

    #[test]
    fn modules_of_a_module_are_held_too() {
        let sources = [
            source("b.rs", "mod c;\nmod d;"),
            source("b/c.rs", "use super::d::D;"),
            source("b/d.rs", "use crate::b::c::C;"),
        ];
        assert_eq!(found(&sources), ["crates/a/src/b.rs:1: c, d"]);
    }

    #[test]
    fn arrows_in_one_direction_roots_and_tests_are_not() {
        let sources = [
            source("lib.rs", "mod b;\nmod c;\npub struct A(b::B);"),
            source("b.rs", "use crate::c::C;\nuse crate::A;\n// crate::b"),
            source("c.rs", "mod d;\n#[cfg(test)]\nmod tests { use crate::b::B; }"),
            source("c/d.rs", "use super::C;\nuse self::e::E;"),
            source("c/tests.rs", "use crate::b::B;"),
        ];
        assert_eq!(found(&sources), [""; 0]);
    }
}
