//! Idioms that cost the reader, in the files below `crates/`.
//!
//! Tuple parameters, `match` on a bool and named closures count in tests as well: tests are read
//! like the program. Comparison by address counts in the program only: a test may check an address.

use super::Breach;
use super::tokens::{File, Token, close_of, starts_with, texts};

/// Parameters of functions that are tuples or arrays.
pub fn tuple_parameters(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for at in 0..file.tokens.len() {
            for parameter in parameters(&file.tokens, at) {
                let colon = parameter.iter().position(|token| token.text == ":");
                if colon.is_some_and(|colon| is_tuple_or_array(&parameter[colon + 1..])) {
                    let text = texts(parameter).join(" ");
                    found.push(file.source.breach(parameter[0].line, text));
                }
            }
        }
    }
    found
}

/// Parameters of the function whose `fn` is at `at`; none if there is no function.
fn parameters<'a, 'b>(tokens: &'b [Token<'a>], at: usize) -> Vec<&'b [Token<'a>]> {
    // A type such as `fn(u8)` has no name, so no `(` follows its second token.
    if tokens[at].text != "fn" {
        return Vec::new();
    }
    let mut open = at + 2;
    if tokens.get(open).is_some_and(|token| token.text == "<") {
        open = generics_end(tokens, open);
    }
    if tokens.get(open).is_none_or(|token| token.text != "(") {
        return Vec::new();
    }
    let inside = &tokens[open + 1..close_of(tokens, open) - 1];
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0;
    for (i, token) in inside.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => {
                found.push(&inside[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    found.push(&inside[start..]);
    found.retain(|parameter| !parameter.is_empty());
    found
}

/// The index after the `>` that closes the `<` at `open`.
fn generics_end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.text == "<") - i32::from(token.text == ">");
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// True for `(A, B)` and `[T; N]`, also by reference; false for `[u8; N]`, which is data.
fn is_tuple_or_array(of_type: &[Token]) -> bool {
    let mut at = 0;
    while let Some(token) = of_type.get(at) {
        match token.text {
            "&" | "mut" => at += 1,
            "'" => at += 2,
            "(" | "[" => {
                let inside = &of_type[at + 1..close_of(of_type, at) - 1];
                let separator = if token.text == "(" { "," } else { ";" };
                return has_at_top(inside, separator) && !starts_with(inside, &["u8", ";"]);
            }
            _ => return false,
        }
    }
    false
}

/// True if the tokens have this one outside of all brackets.
fn has_at_top(tokens: &[Token], wanted: &str) -> bool {
    let mut depth = 0;
    for token in tokens {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            text if text == wanted && depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// `match` with the first arm `true` or `false`.
pub fn bool_matches(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for at in 0..file.tokens.len() {
            if file.tokens[at].text != "match" {
                continue;
            }
            let Some(open) = arms_of(&file.tokens, at) else { continue };
            let first = file.tokens.get(open + 1).map_or("", |token| token.text);
            if matches!(first, "true" | "false") {
                let value = texts(&file.tokens[at..open]).join(" ");
                found.push(file.source.breach(file.tokens[at].line, value));
            }
        }
    }
    found
}

/// The `{` before the arms of the `match` at `at`.
fn arms_of(tokens: &[Token], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        match tokens.get(i)?.text {
            // The value may be `unsafe { … }`.
            "{" if tokens[i - 1].text != "unsafe" => return Some(i),
            "(" | "[" | "{" => i = close_of(tokens, i),
            ";" | "}" => return None,
            _ => i += 1,
        }
    }
}

/// Closures that `let` gives a name.
pub fn named_closures(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for (at, token) in file.tokens.iter().enumerate() {
            if token.text == "let"
                && let Some(name) = closure_name(&file.tokens[at + 1..])
            {
                found.push(file.source.breach(token.line, name));
            }
        }
    }
    found
}

/// The name in `NAME = |`, `mut NAME: TYPE = move |` and the like.
fn closure_name<'a>(after_let: &[Token<'a>]) -> Option<&'a str> {
    let is_mutable = after_let.first()?.text == "mut";
    let name = after_let.get(usize::from(is_mutable))?.text;
    let mut rest = &after_let[usize::from(is_mutable) + 1..];
    if rest.first()?.text == ":" {
        let equals = rest.iter().position(|token| matches!(token.text, "=" | ";" | "{"))?;
        rest = &rest[equals..];
    }
    let is_closure = starts_with(rest, &["=", "|"]) || starts_with(rest, &["=", "move", "|"]);
    is_closure.then_some(name)
}

/// Comparison of addresses to find which value is meant.
pub fn identities(files: &[File]) -> Vec<Breach> {
    let mut found = Vec::new();
    for file in files {
        for at in 0..file.shipped.len() {
            if starts_with(&file.shipped[at..], &["ptr", "::", "eq"]) {
                found.push(file.source.breach(file.shipped[at].line, "ptr::eq"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::tokens::files;
    use super::*;

    type Idiom = fn(&[File]) -> Vec<Breach>;

    fn lines(idiom: Idiom, code: &str) -> Vec<usize> {
        let sources = [Source::new("crates/a/src/a.rs", code)];
        idiom(&files(&sources)).iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn tuple_and_array_parameters_are_found() {
        let code = "fn f(a: (u8, u8)) {}\nfn g<T: Fn(u8) -> u8>(\n  a: T,\n\
                    b: &'a mut [u32; 2],\n) {}\n\
                    fn h((a, b): &(u8, Vec<u8>), c: u8) {}";
        assert_eq!(lines(tuple_parameters, code), [1, 4, 6]);
    }

    #[test]
    fn structs_slices_and_function_types_are_not() {
        let code = "fn f(&self, a: &[u8], b: Pair, c: (), d: &[(u8, u8)], e: &mut (dyn A + B)) {}\n\
                    fn g(a: impl Fn((u8, u8)) -> u8, d: &[[u32; 2]], e: [u8; 2]) -> (u8, u8) {}\n\
                    type F = fn((u8, u8));";
        assert_eq!(lines(tuple_parameters, code), [0; 0]);
    }

    #[test]
    fn a_match_on_a_bool_is_found() {
        let code = "match a.b(|c| { c }) {\n true => 1,\n false => 2,\n}\n\
                    match unsafe { f() } { false if x => 1, _ => 2 }";
        assert_eq!(lines(bool_matches, code), [1, 5]);
    }

    #[test]
    fn a_match_on_other_values_is_not() {
        let code = "match a { Some(true) => 1, _ => 2 }\nmatches!(a, true);\n\
                    match (a, b) { (true, _) => 1 }";
        assert_eq!(lines(bool_matches, code), [0; 0]);
    }

    #[test]
    fn named_closures_are_found() {
        let code = "let a = |b| b;\nlet mut c = move || {};\nlet d: &dyn Fn() = |e| e;";
        assert_eq!(lines(named_closures, code), [1, 2, 3]);
    }

    #[test]
    fn closures_without_a_name_are_not() {
        let code = "let a = b.map(|c| c);\nlet d = e || f;\nlet g;\nlet (h, i) = j;";
        assert_eq!(lines(named_closures, code), [0; 0]);
    }

    #[test]
    fn comparison_of_addresses_is_found_outside_tests() {
        let code =
            "std::ptr::eq(a, b);\na == b;\n#[cfg(test)]\nmod tests { fn f() { ptr::eq(a, b); } }";
        assert_eq!(lines(identities, code), [1]);
    }
}
