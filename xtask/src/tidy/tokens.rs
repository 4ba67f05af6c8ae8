//! Tokens of Rust code, the part of them that ships, and the paths in them.

use super::Source;

/// A name, a keyword, a number, or punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// From 1.
    pub line: usize,
}

/// Punctuation of two characters that counts as one token.
const PAIRS: &[&str] = &["::", "->", "=>", "=="];

/// Tokens of code without comments and contents of strings.
pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (i, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_of_name(first) {
                rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())
            } else if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
                2
            } else {
                first.len_utf8()
            };
            found.push(Token { text: &rest[..length], line: i + 1 });
            rest = rest[length..].trim_start();
        }
    }
    found
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A Rust file as tokens.
pub struct File<'a> {
    pub source: &'a Source,
    pub tokens: Vec<Token<'a>>,
    /// Tokens without tests; none if the whole file is test code.
    pub shipped: Vec<Token<'a>>,
}

/// Rust files below `crates/`.
pub fn files(sources: &[Source]) -> Vec<File<'_>> {
    let mut files = Vec::new();
    let mut test_modules = Vec::new();
    for source in sources {
        if !source.is_rust() || !source.path.starts_with("crates/") {
            continue;
        }
        let tokens = tokens(&source.layers.code);
        test_modules.extend(test_modules_of(&source.path, &tokens));
        files.push(File { source, tokens, shipped: Vec::new() });
    }
    for file in &mut files {
        let path = file.source.path.trim_end_matches(".rs");
        let parts: Vec<&str> = path.split('/').collect();
        let is_test = parts[2..].iter().any(|part| matches!(*part, "tests" | "fuzz" | "benches"))
            || test_modules.iter().any(|module| {
                path.strip_prefix(module)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        if !is_test {
            file.shipped = without_tests(&file.tokens);
        }
    }
    files
}

/// Paths without `.rs` of the modules that a file declares for tests only.
fn test_modules_of(path: &str, tokens: &[Token]) -> Vec<String> {
    let folder = folder_of_modules(path);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if let Some(item) = after_test_attribute(tokens, at) {
            let declaration = texts(&tokens[item..item_end(tokens, item)]);
            if let [.., "mod", name, ";"] = declaration[..] {
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found
}

/// The folder with the modules that a file declares.
pub fn folder_of_modules(path: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder.to_owned(),
        _ => stem.to_owned(),
    }
}

/// Tokens outside items that are compiled for tests only.
pub fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(item) = after_test_attribute(tokens, at) {
            at = item_end(tokens, item);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// The index after `#[cfg(test)]` or `#![cfg(test)]` if it starts at `at`.
fn after_test_attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
    starts_with(&tokens[at..], &attribute).then_some(at + attribute.len())
}

/// True if the tokens start with these texts.
pub fn starts_with(tokens: &[Token], wanted: &[&str]) -> bool {
    tokens.len() >= wanted.len() && wanted.iter().zip(tokens).all(|(text, t)| *text == t.text)
}

/// Texts of tokens.
pub fn texts<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    tokens.iter().map(|token| token.text).collect()
}

/// The index after the item that starts at `at`: after its `;`, or after its braces.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" if depth <= 1 => return i + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return i + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The index after the bracket that closes the one at `open`, whatever its kind.
pub fn close_of(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// A path in code, as its names.
#[derive(Clone)]
pub struct Path<'a> {
    pub line: usize,
    pub names: Vec<&'a str>,
    /// True in a `use`.
    pub is_import: bool,
}

/// Paths that start with a name; `a::{b, c}` is two of them.
pub fn paths<'a>(tokens: &[Token<'a>], first: &str) -> Vec<Path<'a>> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let is_continued = at > 0 && matches!(tokens[at - 1].text, "::" | "$" | "'");
        if tokens[at].text == first && !is_continued && next_is_path(tokens, at) {
            let is_import = at > 0 && tokens[at - 1].text == "use";
            let start = Path { line: tokens[at].line, names: Vec::new(), is_import };
            expand(tokens, &mut at.clone(), start, &mut found);
        }
    }
    found
}

fn next_is_path(tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|token| token.text == "::")
}

/// Adds the paths of the tree at `at` and moves `at` after it.
fn expand<'a>(tokens: &[Token<'a>], at: &mut usize, mut path: Path<'a>, found: &mut Vec<Path<'a>>) {
    while let Some(token) = tokens.get(*at) {
        if token.text == "{" {
            *at += 1;
            while *at < tokens.len() && tokens[*at].text != "}" {
                expand(tokens, at, path.clone(), found);
                // The rest of an item is `as NAME` and the comma.
                while *at < tokens.len() && !matches!(tokens[*at].text, "," | "}") {
                    *at += 1;
                }
                *at += usize::from(tokens.get(*at).is_some_and(|token| token.text == ","));
            }
            *at += 1;
            return;
        }
        let is_name = token.text.starts_with(is_of_name);
        if token.text == "self" && !path.names.is_empty() {
            *at += 1;
            break;
        }
        if !is_name && token.text != "*" {
            break;
        }
        path.line = token.line;
        path.names.push(token.text);
        *at += 1;
        if tokens.get(*at).is_none_or(|token| token.text != "::") {
            break;
        }
        *at += 1;
    }
    found.push(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_cut_into_names_and_punctuation() {
        let texts = texts(&tokens("a_1::b(x) =>\n -> '  '"));
        assert_eq!(texts, ["a_1", "::", "b", "(", "x", ")", "=>", "->", "'", "'"]);
        assert_eq!(tokens("a\nb")[1], Token { text: "b", line: 2 });
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let code = "a();\n#[cfg(test)]\nmod tests { fn f() { b(); } }\n#[cfg(test)] mod c;\nd();\n\
                    #[cfg(test)]\nfn e(f: [u8; 2]) {}\ng();";
        let kept = texts(&without_tests(&tokens(code))).concat();
        assert_eq!(kept, "a();d();g();");
    }

    #[test]
    fn files_of_test_modules_ship_nothing() {
        let sources = [
            Source::new("crates/a/src/lib.rs", "#[cfg(test)]\nmod fake;\nmod faker;"),
            Source::new("crates/a/src/fake.rs", "a"),
            Source::new("crates/a/src/fake/b.rs", "b"),
            Source::new("crates/a/src/faker.rs", "c"),
            Source::new("crates/a/src/b/tests.rs", "d"),
            Source::new("tests/e.rs", "e"),
        ];
        let shipped: Vec<usize> = files(&sources).iter().map(|file| file.shipped.len()).collect();
        assert_eq!(shipped, [3, 0, 0, 1, 0]);
    }

    fn crate_paths(code: &str) -> Vec<String> {
        paths(&tokens(code), "crate").iter().map(|path| path.names.join("::")).collect()
    }

    #[test]
    fn trees_of_paths_are_expanded() {
        assert_eq!(
            crate_paths("use crate::{a::{self, b as c}, d::*};\nlet e = crate::f::g::<u8>(1);"),
            ["crate::a", "crate::a::b", "crate::d::*", "crate::f::g"]
        );
        assert_eq!(crate_paths("pub(crate) fn f() { other::crate_::x(); $crate::y(); }"), [""; 0]);
    }
}
