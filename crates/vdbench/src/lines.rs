//! Lines of parameter files: comments, continuation, `include=`, `eof`, and variables of the
//! command line. Each byte of a line has its position in the user's text.

mod substitutes;

use std::ops::Range;

use candor_plan::path_text::text_of;

use candor_front::{Diagnostic, Environment, Span, Texts};

pub use substitutes::Substitutes;

/// Maximum size of one parameter file in bytes.
const FILE_BYTES_MAX: usize = 8 << 20;
/// Maximum size of all parameter files in bytes; each include counts.
const ALL_BYTES_MAX: usize = 32 << 20;
/// Number of problems after which reading stops.
const PROBLEMS_MAX: usize = 300;
/// Maximum number of lines of all parameter files.
const LINES_MAX: usize = 200_000;
/// Keyword that includes a file.
const INCLUDE: &str = "include=";
/// Word that ends a file.
const EOF: &str = "eof";

/// A piece of a line with one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// Start of the piece in the line.
    start: usize,
    /// Position in the text; its length differs for a variable.
    source: Span,
}

/// A line with continuations joined, variables replaced and comments removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: String,
    pieces: Vec<Piece>,
}

impl Line {
    /// Adds text that was written at `source`.
    fn push(&mut self, text: &str, source: Span) {
        if !text.is_empty() {
            self.pieces.push(Piece { start: self.text.len(), source });
            self.text.push_str(text);
        }
    }

    /// Position of a byte: the byte itself, or its variable.
    fn place(&self, at: usize) -> Span {
        let behind = self.pieces.partition_point(|piece| piece.start <= at);
        let Some(piece) = self.pieces.get(behind.saturating_sub(1)) else {
            return Span { text: 0, start: 0, end: 0 };
        };
        let end = self.pieces.get(behind).map_or(self.text.len(), |next| next.start);
        let (within, source) = (at.saturating_sub(piece.start), piece.source);
        if source.range().len() == end - piece.start {
            let start = source.start + within;
            Span { start, end: (start + 1).min(source.end), ..source }
        } else {
            source
        }
    }

    /// Position of a part of the line.
    pub fn span(&self, part: Range<usize>) -> Span {
        let first = self.place(part.start);
        if part.end > part.start + 1 {
            let last = self.place(part.end - 1);
            if last.text == first.text { first.to(last) } else { first }
        } else {
            Span { end: if part.is_empty() { first.start } else { first.end }, ..first }
        }
    }

    /// The line up to that byte.
    fn cut(&mut self, end: usize) {
        if end < self.text.len() {
            // The last piece may lose bytes; an unreplaced piece's position shrinks with it.
            let last = self.pieces.iter().rposition(|piece| piece.start < end);
            self.pieces.truncate(last.map_or(0, |last| last + 1));
            if let Some(piece) = self.pieces.last_mut() {
                let length = end - piece.start;
                if length < piece.source.range().len() {
                    piece.source.end = piece.source.start + length;
                }
            }
            self.text.truncate(end);
        }
    }

    /// Appends another line.
    fn join(&mut self, next: Line) {
        let at = self.text.len();
        let moved = next.pieces.into_iter().map(|piece| Piece { start: at + piece.start, ..piece });
        self.pieces.extend(moved);
        self.text.push_str(&next.text);
    }
}

/// All lines of the parameter files.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines, in order.
    pub all: Vec<Line>,
    /// Everything wrong.
    pub errors: Vec<Diagnostic>,
    /// Warnings about values that are read as vdbench does, but possibly not as meant.
    pub remarks: Vec<Diagnostic>,
}

/// Reads parameter files one after another.
pub struct Reader<'a> {
    environment: &'a mut dyn Environment,
    texts: &'a mut Texts,
    substitutes: &'a mut Substitutes,
    lines: Lines,
    /// Bytes of all files so far.
    bytes: usize,
    /// A bound is reached: nothing more is read.
    is_full: bool,
}

/// A parameter file: its name, and the position that names it.
struct Named {
    path: String,
    at: Option<Span>,
    is_included: bool,
}

impl<'a> Reader<'a> {
    /// Reads files of that environment; their texts are added to `texts`.
    pub fn new(
        environment: &'a mut dyn Environment,
        texts: &'a mut Texts,
        substitutes: &'a mut Substitutes,
    ) -> Reader<'a> {
        let lines = Lines::default();
        Reader { environment, texts, substitutes, lines, bytes: 0, is_full: false }
    }

    /// Reads a file that the command line names.
    pub fn file(&mut self, path: &str, at: Option<Span>) {
        let named = Named { path: path.to_owned(), at, is_included: false };
        match self.environment.file(path) {
            Ok(bytes) => self.text(&named, &bytes),
            Err(cause) => {
                let message = format!("the parameter file {path} cannot be read: {cause}");
                self.wrong(at, "file", path, message, "name a file with -f");
            }
        }
    }

    /// Joins continued lines. `rd_extras` are parameters to add to each run definition of one line.
    pub fn finish(mut self, rd_extras: Option<(&str, Span)>) -> Lines {
        let physical = std::mem::take(&mut self.lines.all);
        let mut all: Vec<Line> = Vec::new();
        let mut goes_on = false;
        for mut line in physical {
            let starts_run = line.text.to_ascii_lowercase().starts_with("rd");
            if let (Some((extras, at)), true, false) =
                (rd_extras, starts_run && !goes_on, line.text.ends_with(','))
            {
                line.push(",", at);
                line.push(extras, at);
            }
            let next = line.text.ends_with(',');
            match all.last_mut() {
                Some(last) if goes_on => last.join(line),
                _ => all.push(line),
            }
            goes_on = next;
        }
        self.lines.all = all;
        self.lines
    }

    fn wrong(
        &mut self,
        at: Option<Span>,
        rule: &'static str,
        word: &str,
        message: String,
        remedy: &str,
    ) {
        let diagnostic = match at {
            Some(at) => Diagnostic::new(at, rule, word, message),
            None => Diagnostic::nowhere(rule, message),
        };
        self.lines.errors.push(diagnostic.remedy(remedy));
        if self.lines.errors.len() == PROBLEMS_MAX {
            let message = format!("there are {PROBLEMS_MAX} problems, and the rest is not read");
            self.lines.errors.push(Diagnostic::nowhere("problems", message));
        }
        self.is_full |= self.lines.errors.len() >= PROBLEMS_MAX;
    }

    /// Reads the content of a file.
    fn text(&mut self, named: &Named, bytes: &[u8]) {
        if bytes.len() > FILE_BYTES_MAX {
            let message = format!("{} has more than {FILE_BYTES_MAX} bytes", named.path);
            return self.wrong(named.at, "file", &named.path, message, "split it");
        }
        self.bytes += bytes.len();
        if self.bytes > ALL_BYTES_MAX {
            let message = format!(
                "all files together have more than {ALL_BYTES_MAX} bytes with {}",
                named.path
            );
            self.is_full = true;
            return self.wrong(named.at, "file", &named.path, message, "include fewer files");
        }
        let text = text_of(bytes);
        let index = self.texts.add(named.path.clone(), text.clone());
        let mut start = 0;
        for written in text.split_inclusive('\n') {
            let at = Span { text: index, start, end: start + written.len() };
            start = at.end;
            if self.lines.all.len() >= LINES_MAX {
                let message = format!("there are more than {LINES_MAX} lines");
                self.is_full = true;
                return self.wrong(Some(at), "file", "", message, "use ranges and wildcards");
            }
            if self.line(named, written, at) || self.is_full {
                return;
            }
        }
    }

    /// Reads a physical line; true at the end of the file.
    fn line(&mut self, named: &Named, written: &str, at: Span) -> bool {
        let trimmed = written.trim();
        let lead = written.len() - written.trim_start().len();
        let at = Span { start: at.start + lead, end: at.start + lead + trimmed.len(), ..at };
        if trimmed.starts_with(EOF) {
            return true;
        }
        let line = self.substitutes.replace(trimmed, at);
        if trimmed.is_empty() || trimmed.starts_with(['/', '#', '*']) {
            return false;
        }
        self.unresolved(&line);
        match line.text.strip_prefix(INCLUDE) {
            Some(file) => {
                let file = file.split([' ', '\t']).next().unwrap_or_default().to_owned();
                self.include(named, &file, at);
            }
            None => self.useful(line),
        }
        false
    }

    /// A variable that the command line does not set.
    fn unresolved(&mut self, line: &Line) {
        for (start, _) in line.text.match_indices('=') {
            let rest = &line.text[start + 1..];
            let is_variable = rest.starts_with(['$', '!']);
            if !is_variable || rest[1..].starts_with("host") {
                continue;
            }
            let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let end = end.map_or(rest.len(), |end| end + 1);
            let (word, key) = (rest[..end].to_owned(), rest[1..end].to_owned());
            let at = line.span(start + 1..start + 1 + end);
            let message = format!("the variable `{word}` has no value");
            let remedy = format!("give it on the command line: {key}=VALUE");
            self.wrong(Some(at), "variable", &word, message, &remedy);
        }
    }

    fn include(&mut self, from: &Named, file: &str, at: Span) {
        if from.is_included {
            let message = format!("`include={file}` is in a file that is included itself");
            let remedy = "name both files in the first one";
            return self.wrong(Some(at), "include", file, message, remedy);
        }
        let beside = from.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/{file}"));
        let candidates = if file.contains('/') {
            vec![file.to_owned()]
        } else {
            beside.into_iter().chain([file.to_owned()]).collect()
        };
        for path in &candidates {
            if let Ok(bytes) = self.environment.file(path) {
                let named = Named { path: path.clone(), at: Some(at), is_included: true };
                return self.text(&named, &bytes);
            }
        }
        let message = format!("the included file `{file}` is not there");
        let remedy = format!("looked for {}", candidates.join(" and "));
        self.wrong(Some(at), "include", file, message, &remedy);
    }

    /// Keeps a line up to the first blank outside quotes.
    fn useful(&mut self, mut line: Line) {
        let mut quoted = None;
        let mut end = line.text.len();
        for (at, letter) in line.text.char_indices() {
            match letter {
                '"' => quoted = if quoted.is_some() { None } else { Some(at) },
                ' ' | '\t' if quoted.is_none() => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        if let Some(open) = quoted {
            let at = line.span(open..open + 1);
            let message = "the quote is not closed in its line".to_owned();
            self.wrong(Some(at), "quote", "\"", message, "close it with another \"");
        }
        self.lost(&line, end);
        line.cut(end);
        self.lines.all.push(line);
    }

    /// Remarks on parameters after a space.
    fn lost(&mut self, line: &Line, end: usize) {
        let ignored = line.text[end..].trim();
        let is_comment = ignored.starts_with(['*', '#', '/', '(', '-']);
        let is_parameter = |word: &str| {
            let name = word.split('=').next().unwrap_or_default();
            word.contains('=')
                && name.len() >= 2
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let first = ignored.split_whitespace().next().unwrap_or_default();
        let has_room = self.lines.remarks.len() < PROBLEMS_MAX;
        if has_room && !is_comment && is_parameter(first) {
            let start = end + line.text[end..].find(first).unwrap_or(0);
            let at = line.span(start..start + first.len());
            let message =
                format!("`{first}` follows a blank, and vdbench ignores text after a blank");
            self.lines.remarks.push(Diagnostic::warning(at, "blank", message));
        }
    }
}

#[cfg(test)]
mod tests;
