//! Job files, and the files that they include.

use candor_plan::path_text::text_of;

use super::{Block, Origin, Reading, Section, expand, is_global};
use candor_front::{Assignment, Diagnostic, Span, Word};

/// Maximum depth of includes.
const INCLUDE_DEPTH_MAX: usize = 16;
/// Maximum number of texts; files that include each other twice double with each level.
const TEXTS_MAX: usize = 1000;
/// Maximum size of a file in bytes.
const FILE_BYTES_MAX: usize = 16 << 20;

/// Reads the `nth` job file of the command line, from 0.
pub(super) fn read(reading: &mut Reading<'_>, file: &Word, nth: usize, wanted: &[String]) {
    let Some(text) = open(reading, file, &[&file.text]) else { return };
    // Only the first file has the defaults of the command line.
    let globals = if nth == 0 { 0 } else { reading.ast.globals.len() };
    let into = Into::Nothing;
    let mut reader = Reader { reading, wanted, text, depth: 0, globals, begins: nth > 0, into };
    reader.lines();
}

/// Opens the first readable path, and adds its content to the texts.
fn open(reading: &mut Reading<'_>, named: &Word, paths: &[&str]) -> Option<usize> {
    let mut failed = None;
    for path in paths {
        match reading.environment.file(path) {
            Ok(bytes) => return enter(reading, named, path, &bytes),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let why = failed.map_or_else(String::new, |error| format!(": {error}"));
    let message = format!("`{}` cannot be read{why}", named.text);
    let mut diagnostic = Diagnostic::new(named.at, "file", &named.text, message);
    if looks_like_an_option(&named.text) {
        diagnostic =
            diagnostic.remedy(format!("an option is written with dashes: --{}", named.text));
    }
    reading.diagnostics.push(diagnostic);
    None
}

fn enter(reading: &mut Reading<'_>, named: &Word, path: &str, bytes: &[u8]) -> Option<usize> {
    if reading.ast.texts.all.len() >= TEXTS_MAX || bytes.len() > FILE_BYTES_MAX {
        let message = format!(
            "`{}` is too much: at most {TEXTS_MAX} files of {FILE_BYTES_MAX} bytes are read",
            named.text
        );
        reading.diagnostics.push(Diagnostic::new(named.at, "file", &named.text, message));
        return None;
    }
    let text = text_of(bytes);
    // Editors of other systems put a mark at the beginning.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let name = if path == "-" { "stdin" } else { path };
    Some(reading.ast.texts.add(name, text))
}

fn looks_like_an_option(path: &str) -> bool {
    path.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    })
}

/// Destination of assignments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    /// No section is open.
    Nothing,
    /// A section with an invalid heading, read for its diagnostics only.
    Wrong,
    /// A section that is not requested and may have any content.
    Unwanted,
    /// The last block of defaults.
    Globals,
    /// The last section.
    Section,
}

struct Reader<'a, 'w> {
    reading: &'a mut Reading<'w>,
    /// Names of requested sections; empty for all.
    wanted: &'a [String],
    /// Index of the text.
    text: usize,
    /// Depth of inclusion: the number of files between this one and the command line.
    depth: usize,
    /// First of the blocks of defaults that apply in this file.
    globals: usize,
    /// The next section is the first of a file that is not the first.
    begins: bool,
    into: Into,
}

impl Reader<'_, '_> {
    fn lines(&mut self) {
        let text = self.reading.ast.texts.all[self.text].text.clone();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(word) = self.meat(line, start) {
                if word.text.starts_with('[') {
                    self.heading(&word);
                } else if self.into != Into::Unwanted {
                    self.line(&word);
                }
            }
            start += line.len();
        }
    }

    /// A line without its comment and the blanks around it; nothing if that leaves nothing.
    fn meat(&self, line: &str, start: usize) -> Option<Word> {
        let end = line.find([';', '#']).unwrap_or(line.len());
        let body = line[..end].trim_end_matches(is_blank);
        let inner = body.trim_start_matches(is_blank);
        let start = start + body.len() - inner.len();
        let at = Span { text: self.text, start, end: start + inner.len() };
        (!inner.is_empty()).then(|| Word { text: inner.to_owned(), at })
    }

    fn diagnostic(
        &mut self,
        at: Span,
        rule: &'static str,
        word: &str,
        message: String,
        remedy: &str,
    ) {
        self.reading.diagnostics.push(Diagnostic::new(at, rule, word, message).remedy(remedy));
    }

    fn heading(&mut self, line: &Word) {
        let name = line.text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        self.into = Into::Wrong;
        if self.depth > 0 {
            let message = format!("`{}` opens a section in an included file", line.text);
            let remedy = "included files hold options only; name the file on the command line";
            return self.diagnostic(line.at, "include-section", &line.text, message, remedy);
        }
        let Some(name) = name else {
            let message = if self.cut_by_comment(line) {
                format!("`{}` has no closing bracket before the comment", line.text)
            } else {
                format!("`{}` does not end with a closing bracket", line.text)
            };
            let remedy = "write [name] on a separate line, without ; or # in the name";
            return self.diagnostic(line.at, "section-name", &line.text, message, remedy);
        };
        let at = Span { start: line.at.start + 1, end: line.at.end - 1, ..line.at };
        self.without_zeros(at, name);
        let own = Block { origin: Origin::JobFile, assignments: Vec::new() };
        if is_global(name) {
            self.into = Into::Globals;
            return self.reading.ast.globals.push(own);
        }
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            self.into = Into::Unwanted;
            return;
        }
        self.into = Into::Section;
        let globals = self.globals..self.reading.ast.globals.len();
        let name = Word { text: name.to_owned(), at };
        let begins_file = std::mem::take(&mut self.begins);
        self.reading.ast.sections.push(Section { name, globals, own, begins_file });
    }

    fn cut_by_comment(&self, line: &Word) -> bool {
        let text = &self.reading.ast.texts.all[self.text].text;
        text[line.at.end..].starts_with([';', '#'])
    }

    fn line(&mut self, line: &Word) {
        if self.into == Into::Nothing {
            let message = format!("`{}` is before the first [section]", line.text);
            let remedy = "put [global] above it";
            return self.diagnostic(line.at, "no-section", &line.text, message, remedy);
        }
        if line.text.starts_with("include") {
            return self.include(line);
        }
        let Some((name, value)) = line.text.split_once('=') else { return self.bare(line) };
        let name_at = Span { end: line.at.start + name.trim_end().len(), ..line.at };
        let value_start = line.at.end - value.trim_start().len();
        let value_at = Span { start: value_start, ..line.at };
        let (name, value) = (name.trim_end().to_owned(), value.trim_start());
        if name.is_empty() {
            let message = format!("`{}` has no option before the equals sign", line.text);
            return self.diagnostic(line.at, "no-name", &line.text, message, "write option=value");
        }
        self.without_zeros(value_at, value);
        let value = self.replaced(value, value_at);
        let value = Some(Word { text: value, at: value_at });
        self.assign(Assignment { name: Word { text: name, at: name_at }, value });
    }

    fn bare(&mut self, line: &Word) {
        if let Some((name, value)) = line.text.split_once(is_blank) {
            let message = format!("`{}` has no equals sign", line.text);
            let remedy = format!("write {name}={}", value.trim_start_matches(is_blank));
            return self.diagnostic(line.at, "equals", name, message, &remedy);
        }
        self.without_zeros(line.at, &line.text);
        self.assign(Assignment { name: line.clone(), value: None });
    }

    fn replaced(&mut self, value: &str, at: Span) -> String {
        let replaced = expand::variables(value, self.reading.environment);
        match expand::keywords(&replaced, self.reading.environment) {
            Ok(replaced) => replaced,
            Err(refused) => {
                let message = format!("`{value}`: {}", refused.message);
                let remedy = "write numbers and + - * / % ^ around the keyword";
                self.diagnostic(at, "arithmetic", value, message, remedy);
                replaced
            }
        }
    }

    fn assign(&mut self, assignment: Assignment) {
        let ast = &mut self.reading.ast;
        let block = match self.into {
            Into::Globals => ast.globals.last_mut(),
            Into::Section => ast.sections.last_mut().map(|section| &mut section.own),
            Into::Nothing | Into::Wrong | Into::Unwanted => None,
        };
        if let Some(block) = block {
            block.assignments.push(assignment);
        }
    }

    fn include(&mut self, line: &Word) {
        let rest = &line.text["include".len()..];
        if !rest.starts_with(|c: char| is_blank(c) || c == '=') {
            let message = format!("`{}` names no file to include", line.text);
            let remedy = "write include, a blank and the file";
            return self.diagnostic(line.at, "include", &line.text, message, remedy);
        }
        let path = rest.trim_start_matches(|c: char| is_blank(c) || c == '=');
        let at = Span { start: line.at.end - path.len(), ..line.at };
        if self.depth == INCLUDE_DEPTH_MAX {
            let message = format!("`{path}` is included {INCLUDE_DEPTH_MAX} files deep");
            let remedy = "does it include itself?";
            return self.diagnostic(at, "include-depth", path, message, remedy);
        }
        self.without_zeros(at, path);
        let named = Word { text: path.to_owned(), at };
        let paths = [path, &self.beside(path)];
        let Some(text) = open(self.reading, &named, &paths) else { return };
        let (outer, depth) = (self.text, self.depth);
        (self.text, self.depth) = (text, depth + 1);
        let into = self.into;
        self.lines();
        (self.text, self.depth, self.into) = (outer, depth, into);
    }

    /// A path relative to the including file.
    fn beside(&self, path: &str) -> String {
        let including = &self.reading.ast.texts.all[self.text].name;
        match including.rsplit_once('/') {
            Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{path}"),
            _ => path.to_owned(),
        }
    }

    fn without_zeros(&mut self, at: Span, word: &str) {
        if word.contains('\0') {
            let message = format!("`{word}` has a zero byte");
            self.diagnostic(at, "zero-byte", word, message, "write the word without it");
        }
    }
}

/// Blanks, and the control characters that fio drops with them.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c.is_ascii_control()
}
