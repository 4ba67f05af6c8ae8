//! Costs of the tools' fronts: types written once per tool, and paths from `candor` into
//! `dialects`.

use std::collections::BTreeSet;

use super::Breach;
use super::tokens::{File, close_of, paths, starts_with, texts};

/// Traits named `Host`.
pub fn host_traits(files: &[File]) -> Vec<Breach> {
    declared(files, &["trait"], "Host")
}

/// Structs named `ThisHost`.
pub fn this_host_structs(files: &[File]) -> Vec<Breach> {
    declared(files, &["struct"], "ThisHost")
}

/// Types named `Draft`.
pub fn draft_types(files: &[File]) -> Vec<Breach> {
    declared(files, &["struct", "enum", "type", "union"], "Draft")
}

/// Declarations of a name with one of these keywords.
fn declared(files: &[File], keywords: &[&str], name: &str) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for pair in file.shipped.windows(2) {
            if keywords.contains(&pair[0].text) && pair[1].text == name {
                let sentence = format!("{} {name}", pair[0].text);
                found.push(file.source.breach(pair[0].line, sentence));
            }
        }
    }
    found
}

/// Methods of the trait `Foreign`.
pub fn foreign_methods(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        let tokens = &file.shipped;
        for at in 0..tokens.len() {
            if !starts_with(&tokens[at..], &["trait", "Foreign"]) {
                continue;
            }
            let braces = tokens[at..].iter().position(|token| token.text == "{");
            let mut i = at + braces.unwrap_or(0) + 1;
            while i < tokens.len() && tokens[i].text != "}" {
                match tokens[i].text {
                    "(" | "[" | "{" => i = close_of(tokens, i),
                    "fn" => {
                        let name = tokens.get(i + 1).map_or("", |token| token.text);
                        found.push(file.source.breach(tokens[i].line, name));
                        i += 1;
                    }
                    _ => i += 1,
                }
            }
        }
    }
    found
}

/// Implementations of the trait `Foreign`.
pub fn foreign_implementors(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for at in 0..file.shipped.len() {
            let rest = &file.shipped[at..];
            if starts_with(rest, &["Foreign", "for"]) {
                found.push(file.source.breach(rest[0].line, texts(&rest[..3]).join(" ")));
            }
        }
    }
    found
}

/// Paths of `dialects` in the sources of `candor`; a type's own items count as the type.
pub fn crossing_paths(files: &[File]) -> Vec<Breach> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.source.path.starts_with("crates/candor/")) {
        for mut path in paths(&file.tokens, "candor_dialects") {
            let first_type =
                path.names.iter().position(|name| name.starts_with(char::is_uppercase));
            if let Some(at) = first_type {
                path.names.truncate(at + 1);
            }
            let text = path.names.join("::");
            if known.insert(text.clone()) {
                found.push(file.source.breach(path.line, text));
            }
        }
    }
    found
}

/// Distinct last names of paths.
pub fn last_names(paths: &[Breach]) -> usize {
    let names = paths.iter().filter_map(|path| path.sentence.rsplit("::").next());
    names.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::tokens::files;
    use super::*;

    type Count = fn(&[File]) -> Vec<Breach>;

    fn count(count: Count, code: &str) -> usize {
        count(&files(&[Source::new("crates/candor/src/a.rs", code)])).len()
    }

    #[test]
    fn types_are_found_by_keyword_and_name() {
        let code = "pub trait Host {}\nstruct ThisHost;\nstruct Draft<'a>;\ntype Draft = u8;";
        assert_eq!(count(host_traits, code), 1);
        assert_eq!(count(this_host_structs, code), 1);
        assert_eq!(count(draft_types, code), 2);
    }

    #[test]
    fn other_names_uses_and_tests_are_not() {
        let code = "trait Hosts {}\nfn f(host: &dyn Host, draft: Draft) {}\nstruct Host;\n\
                    #[cfg(test)]\nmod tests { struct Draft; struct ThisHost; trait Host {} }";
        for of in [host_traits, this_host_structs, draft_types] {
            assert_eq!(count(of, code), 0);
        }
    }

    #[test]
    fn methods_and_implementors_of_foreign_are_counted() {
        let code = "pub trait Foreign: Send {\n fn a(&self, f: fn(u8)) -> u8;\n\
                    fn b() { fn c() {} }\n}\n\
                    impl Foreign for Run<'_> { fn a() {} }\ntrait Other { fn a(); }";
        assert_eq!(count(foreign_methods, code), 2);
        assert_eq!(count(foreign_implementors, code), 1);
    }

    #[test]
    fn crossing_paths_are_distinct() {
        let code = "use candor_dialects::{fio::{self, Job}, ior::Job};\n\
                    let a = candor_dialects::fio::Job::new();";
        let sources = [
            Source::new("crates/candor/src/a.rs", code),
            Source::new("crates/show/src/a.rs", "use candor_dialects::dd::Copy;"),
        ];
        let paths = crossing_paths(&files(&sources));
        assert_eq!((paths.len(), last_names(&paths)), (3, 2));
    }
}
