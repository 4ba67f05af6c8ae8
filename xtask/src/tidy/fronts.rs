//! Costs of the tools' fronts: types written once per tool, paths from `candor` into the tools, and
//! files that name a tool.

use std::collections::BTreeSet;

use super::tokens::{File, close_of, paths, starts_with, texts};
use super::{Breach, Source};

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

/// Methods of the trait `Session`.
pub fn session_methods(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        let tokens = &file.shipped;
        for at in 0..tokens.len() {
            if !starts_with(&tokens[at..], &["trait", "Session"]) {
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

/// Implementations of the trait `Session`.
pub fn session_implementors(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for at in 0..file.shipped.len() {
            let rest = &file.shipped[at..];
            if starts_with(rest, &["Session", "for"]) {
                found.push(file.source.breach(rest[0].line, texts(&rest[..3]).join(" ")));
            }
        }
    }
    found
}

/// Paths into the crates of tools, and into `front`, in the sources of `candor`; a type's own items
/// count as the type.
pub fn crossing_paths(files: &[File], tools: &[&str]) -> Vec<Breach> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.source.path.starts_with("crates/candor/")) {
        for tool in tools {
            let name = format!("candor_{}", tool.replace('-', "_"));
            for mut path in paths(&file.tokens, &name) {
                let first_type =
                    path.names.iter().position(|name| name.starts_with(char::is_uppercase));
                if let Some(at) = first_type {
                    path.names.truncate(at + 1);
                }
                let text = format!("{name}::{}", path.names.join("::"));
                if known.insert(text.clone()) {
                    found.push(file.source.breach(path.line, text));
                }
            }
        }
    }
    found
}

/// Names of the crates that use `front`, and its own.
pub fn tools(sources: &[Source]) -> Vec<&str> {
    let mut found = vec!["front"];
    for source in sources.iter().filter(|source| source.text.contains("\ncandor-front = ")) {
        let folder = source.path.strip_prefix("crates/");
        let name = folder.and_then(|path| path.strip_suffix("/Cargo.toml"));
        found.extend(name.filter(|name| *name != "candor"));
    }
    found
}

/// Files outside a tool's own folders that name it: a new tool of its kind changes them. Tests,
/// documents and lock files are not counted.
pub fn files_that_name(sources: &[Source], tool: &str) -> Vec<Breach> {
    let module = tool.replace('-', "_");
    let own = [format!("crates/{tool}/"), format!("crates/candor/src/commands/tools/{module}")];
    let is_counted = |source: &&Source| {
        let is_code = source.is_rust() || source.path.ends_with("Cargo.toml");
        is_code
            && ["crates/", "Cargo.toml"].iter().any(|of| source.path.starts_with(of))
            && !source.path.contains("tests")
            && !own.iter().any(|own| source.path.starts_with(own.as_str()))
    };
    let mut found = Vec::new();
    for source in sources.iter().filter(is_counted) {
        let shipped = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        let named = shipped.lines().position(|line| {
            let line = line.split("//").next().unwrap_or_default();
            line.contains(tool) || line.contains(&module)
        });
        found.extend(named.map(|line| source.breach(line + 1, tool)));
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
    fn methods_and_implementors_of_sessions_are_counted() {
        let code = "pub trait Session: Send {\n fn a(&self, f: fn(u8)) -> u8;\n\
                    fn b() { fn c() {} }\n}\n\
                    impl Session for Run<'_> { fn a() {} }\ntrait Other { fn a(); }";
        assert_eq!(count(session_methods, code), 2);
        assert_eq!(count(session_implementors, code), 1);
    }

    #[test]
    fn crossing_paths_are_distinct() {
        let code = "use candor_fio::{lower::{self, Job}, Job};\n\
                    let a = candor_fio::lower::Job::new();";
        let sources = [
            Source::new("crates/candor/src/a.rs", code),
            Source::new("crates/show/src/a.rs", "use candor_fio::Copy;"),
            Source::new("crates/fio/Cargo.toml", "[dependencies]\ncandor-front = 1"),
            Source::new("crates/candor/Cargo.toml", "[dependencies]\ncandor-front = 1"),
        ];
        assert_eq!(tools(&sources), ["front", "fio"]);
        let paths = crossing_paths(&files(&sources), &tools(&sources));
        assert_eq!((paths.len(), last_names(&paths)), (3, 2));
    }

    #[test]
    fn files_that_name_a_tool_are_its_own_or_shared() {
        let sources = [
            Source::new("crates/md-tool/src/lib.rs", "md_tool"),
            Source::new("crates/candor/src/commands/tools/md_tool.rs", "md_tool"),
            Source::new("crates/candor/src/commands/tools.rs", "mod other;\nmod md_tool;"),
            Source::new("crates/show/src/a.rs", "// md-tool\n#[cfg(test)]\nmod t { md_tool }"),
            Source::new("docs/md-tool.md", "md-tool"),
        ];
        let found = files_that_name(&sources, "md-tool");
        assert_eq!((found.len(), found[0].line), (1, 2));
    }
}
