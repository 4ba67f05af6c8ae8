//! Files that no `mod` leads to: the compiler does not see them, so nobody else should.

use std::collections::HashSet;

use super::{Breach, Source};

/// Rust files that are part of no crate.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut alive: HashSet<String> = HashSet::new();
    let mut waiting: Vec<String> = sources
        .iter()
        .filter(|s| s.is_rust() && is_root(&s.path))
        .map(|s| s.path.clone())
        .collect();
    while let Some(path) = waiting.pop() {
        if let Some(source) = sources.iter().find(|s| s.path == path)
            && alive.insert(path)
        {
            waiting.extend(modules(source));
        }
    }
    let rust = sources.iter().filter(|s| s.is_rust());
    rust.filter(|s| !alive.contains(&s.path))
        .map(|s| s.breach(1, "no `mod` leads to this file: declare it or delete it"))
        .collect()
}

/// True for a file at which a crate begins.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [.., "src", "lib.rs" | "main.rs"] | [.., "src", "bin", _] | [.., "build.rs"] => true,
        [.., "src", "bin", _, "main.rs"] | [.., "fuzz_targets", _] => true,
        // Targets of the program's package.
        ["tests", name] => {
            matches!(name, "fuzz.rs" | "lab.rs" | "main.rs" | "verdict_rows.rs")
        }
        [.., "tests" | "benches" | "examples", _]
        | [.., "tests" | "benches" | "examples", _, "main.rs"] => !parts.contains(&"src"),
        _ => false,
    }
}

/// Where the modules that a file declares may be.
fn modules(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    let own = is_root(&source.path) || stem == "mod";
    let base = if own { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut found = Vec::new();
    let mut named_path = None;
    let mut inline: Vec<(usize, String)> = Vec::new();
    let mut depth = 0;
    for (line, text) in source.layers.code.lines().zip(source.text.lines()) {
        if line.trim_start().starts_with("#[path") {
            named_path = text.split('"').nth(1).map(|path| format!("{folder}/{path}"));
        }
        if let Some((name, end)) = declared(line) {
            let within: String = inline.iter().map(|(_, name)| format!("/{name}")).collect();
            match (end, named_path.take()) {
                (';', Some(path)) => found.push(path),
                (';', None) => found.extend([
                    format!("{base}{within}/{name}.rs"),
                    format!("{base}{within}/{name}/mod.rs"),
                ]),
                _ => inline.push((depth, name)),
            }
        }
        depth += line.matches('{').count();
        depth -= line.matches('}').count().min(depth);
        inline.retain(|(outside, _)| depth > *outside);
    }
    found
}

/// The module that a line declares, and whether `;` or `{` follows its name.
fn declared(line: &str) -> Option<(String, char)> {
    let before = line.find("mod ")?;
    let visibility = line[..before].trim();
    if !(visibility.is_empty() || visibility.starts_with("pub") || visibility.ends_with(']')) {
        return None;
    }
    let rest = line[before + 4..].trim_end();
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let end = rest[name.len()..].trim_start().chars().next()?;
    (!name.is_empty() && matches!(end, ';' | '{')).then_some((name, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(p, text)| Source::new(p, text)).collect();
        check(&sources).into_iter().map(|b| b.path).collect()
    }

    #[test]
    fn a_file_that_nothing_declares_is_dead() {
        let files =
            [("c/a/src/lib.rs", "// mod b;"), ("c/a/src/b.rs", "mod c;"), ("c/a/src/b/c.rs", "")];
        assert_eq!(dead(&files), ["c/a/src/b.rs", "c/a/src/b/c.rs"]);
    }

    #[test]
    fn declared_files_and_roots_are_alive() {
        let files = [
            ("c/a/src/lib.rs", "pub(crate) mod b;\nmod d;\nmod e { mod f; }\nmod g {\n mod h;\n}"),
            ("c/a/src/b.rs", "#[cfg(test)]\nmod c;\n#[path = \"odd.rs\"]\nmod i;"),
            ("c/a/src/b/c.rs", ""),
            ("c/a/src/d/mod.rs", ""),
            ("c/a/src/g/h.rs", ""),
            ("c/a/src/odd.rs", ""),
            ("c/a/src/bin/x.rs", ""),
            ("c/a/tests/whole.rs", ""),
            ("c/a/fuzz/fuzz_targets/x.rs", ""),
        ];
        assert!(dead(&files).is_empty(), "{:?}", dead(&files));
        assert_eq!(
            dead(&[("tests/main.rs", "mod a;"), ("tests/a.rs", ""), ("tests/b.rs", "")]),
            ["tests/b.rs"]
        );
    }
}
