//! Scripts: tests between `IOR START` and `IOR STOP`; each `RUN` ends the settings of a test.

use candor_plan::path_text;

use super::reader::{Reader, Test};
use crate::grammar;
use candor_front::{Diagnostic, Environment, Span, Texts, Word};

/// Largest script in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Most tests of a script.
const TESTS_MAX: usize = 4096;

/// Reads a script into tests and errors. `reader` has the options of the command line, which apply
/// to all tests unless a test overrides them.
pub(super) fn read(
    file: &Word,
    reader: Reader,
    environment: &mut dyn Environment,
    texts: &mut Texts,
) -> (Vec<Test>, Vec<Diagnostic>) {
    let text = match text_of(file, environment) {
        Ok(text) => text,
        Err(wrong) => return (Vec::new(), vec![*wrong]),
    };
    let number = texts.add(file.text.clone(), text.clone());
    let mut script =
        Script { reader, tests: Vec::new(), started: false, stopped: false, ran: false, at: None };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let from = start + (line.len() - line.trim_start().len());
        let at = Span { text: number, start: from, end: from + trimmed.len() };
        script.line(trimmed, at);
        start += line.len();
        if script.stopped {
            break;
        }
    }
    if !script.started {
        let message = format!("{} has no line IOR START", file.text);
        let wrong = Diagnostic::new(file.at, "script", &file.text, message);
        return (Vec::new(), vec![wrong.remedy("begin the tests with IOR START")]);
    }
    script.end(number)
}

fn text_of(file: &Word, environment: &mut dyn Environment) -> Result<String, Box<Diagnostic>> {
    let wrong = |why: String| {
        let message = format!("{} cannot be read: {why}", file.text);
        Box::new(Diagnostic::new(file.at, "script", &file.text, message))
    };
    let bytes = environment.file(&file.text).map_err(|error| wrong(error.to_string()))?;
    if bytes.len() > BYTES_MAX {
        return Err(wrong("it is longer than 1 MiB".to_owned()));
    }
    Ok(path_text::text_of(&bytes))
}

struct Script {
    reader: Reader,
    tests: Vec<Test>,
    started: bool,
    stopped: bool,
    /// The current settings have run.
    ran: bool,
    /// Position of the first setting after the last test.
    at: Option<Span>,
}

impl Script {
    fn line(&mut self, line: &str, at: Span) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is = |wanted: &[&str]| {
            words.len() == wanted.len()
                && words.iter().zip(wanted).all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
        };
        match () {
            () if !self.started => self.started = is(&["ior", "start"]),
            () if line.is_empty() || line.starts_with('#') => {}
            () if is(&["ior", "stop"]) => self.stopped = true,
            () if is(&["run"]) => {
                self.push(at);
                self.ran = true;
            }
            () => {
                self.at.get_or_insert(at);
                self.ran = false;
                grammar::directives(line, at)
                    .into_iter()
                    .for_each(|directive| self.reader.directive(directive));
            }
        }
    }

    fn push(&mut self, at: Span) {
        let at = self.at.take().unwrap_or(at);
        if self.tests.len() < TESTS_MAX {
            self.tests.push(self.reader.test(at));
        } else if self.tests.len() == TESTS_MAX {
            let message = format!("there are more than {TESTS_MAX} tests");
            self.reader.errors.push(Diagnostic::new(at, "script", "RUN", message));
        }
    }

    /// IOR also runs settings after the last RUN, and settings without any RUN.
    fn end(mut self, number: usize) -> (Vec<Test>, Vec<Diagnostic>) {
        if !self.ran {
            self.push(Span { text: number, start: 0, end: 0 });
        }
        (self.tests, self.reader.errors)
    }
}
