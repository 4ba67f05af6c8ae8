//! Lines of at most 100 columns, functions of at most 70 lines, files of at most 800.

use super::{Breach, Source};

const COLUMNS: usize = 100;
const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 800;

/// Longer files and functions: (file, function or nothing for the file itself, lines, reason).
const EXCEPTIONS: &[(&str, &str, usize, &str)] = &[];

/// The limit for a file or a function.
fn limit(exceptions: &[(&str, &str, usize, &str)], path: &str, name: &str, usual: usize) -> usize {
    let exception =
        exceptions.iter().find(|(file, function, ..)| (*file, *function) == (path, name));
    exception.map_or(usual, |(.., lines, _)| *lines)
}

/// Files.
pub fn files(sources: &[Source]) -> Vec<Breach> {
    let rust = sources.iter().filter(|s| s.is_rust());
    rust.filter(|source| {
        source.text.lines().count() > limit(EXCEPTIONS, &source.path, "", FILE_LINES)
    })
    .map(|source| {
        let lines = source.text.lines().count();
        source.breach(1, format!("the file has {lines} lines, at most {FILE_LINES} are read"))
    })
    .collect()
}

/// Lines; those that begin within a string are data, such as the expected text of a screen.
pub fn lines(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|s| s.is_rust()) {
        for (i, line) in source.text.lines().enumerate() {
            let columns = line.chars().count();
            let is_data = source.layers.begins_in_string.get(i) == Some(&true);
            if columns > COLUMNS && !is_data {
                let sentence = format!("the line has {columns} columns, at most {COLUMNS} fit");
                breaches.push(source.breach(i + 1, sentence));
            }
        }
    }
    breaches
}

/// Functions.
pub fn functions(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|s| s.is_rust()) {
        for function in functions_in(&source.layers.code) {
            let limit = limit(EXCEPTIONS, &source.path, &function.name, FUNCTION_LINES);
            if function.lines > limit {
                let (name, lines) = (&function.name, function.lines);
                let sentence = format!("fn {name} has {lines} lines, at most {limit} are read");
                breaches.push(source.breach(function.line, sentence));
            }
        }
    }
    breaches
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

/// Every function with a body, from the line of its `fn` to that of its last brace.
fn functions_in(code: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("fn ").map(|i| i + from) {
        from = at + 3;
        let word_before = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String =
            code[from..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if word_before || name.is_empty() {
            continue;
        }
        if let Some(length) = body_end(&code[from..]) {
            let line_of = |at: usize| code[..at].matches('\n').count() + 1;
            let (line, last) = (line_of(at), line_of(from + length));
            functions.push(Function { name, line, lines: last - line + 1 });
        }
    }
    functions
}

/// Where the body that begins somewhere in the code ends; none if a `;` comes before it.
fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut brackets) = (0, 0);
    for (i, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces <= 0 && brackets == 0 {
                    return (braces == 0).then_some(i);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> Source {
        let body = "    f(\"}\"); // }\n".repeat(lines - 2);
        Source::new("a.rs", &format!("const A: [u8; 1] = B;\nfn f(x: [u8; 2]) {{\n{body}}}\n"))
    }

    #[test]
    fn a_long_function_is_found_and_a_short_one_is_not() {
        let breaches = functions(&[function(71)]);
        assert_eq!(breaches.len(), 1);
        assert_eq!(breaches[0].line, 2);
        assert!(breaches[0].sentence.starts_with("fn f has 71 lines"));
        assert!(functions(&[function(70)]).is_empty());
    }

    #[test]
    fn a_function_without_a_body_has_no_length() {
        let code = "trait T { fn a(&self); fn b() {} }\ntype F = fn (u8);";
        let names: Vec<String> = functions_in(code).into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["b"]);
    }

    #[test]
    fn a_long_file_is_found_and_a_short_one_is_not() {
        assert_eq!(files(&[Source::new("a.rs", &"\n".repeat(801))]).len(), 1);
        assert!(files(&[Source::new("a.rs", &"\n".repeat(800))]).is_empty());
        assert!(files(&[Source::new("a.md", &"\n".repeat(801))]).is_empty());
    }

    #[test]
    fn an_exception_raises_the_limit_of_what_it_names() {
        let exceptions = [("a.rs", "f", 90, "a table")];
        assert_eq!(limit(&exceptions, "a.rs", "f", 70), 90);
        assert_eq!(limit(&exceptions, "a.rs", "g", 70), 70);
    }

    #[test]
    fn a_long_line_is_found_and_a_short_one_is_not() {
        let line =
            |columns: usize| Source::new("a.rs", &format!("\n// {}", "é".repeat(columns - 3)));
        assert_eq!(lines(&[line(101)])[0].line, 2);
        assert!(lines(&[line(100)]).is_empty());
        let data = format!("const A: &str = \"\n{}\";", "x".repeat(101));
        assert!(lines(&[Source::new("a.rs", &data)]).is_empty());
    }
}
