//! Collection of options: from words, from directives, and for one test after another.

use super::Options;
use super::rows::{DIRECTIVES, HELP, SCRIPT, TABLE};
use super::words::{self, LIST, Written};
use crate::grammar;
use candor_front::{Assignment, Diagnostic, Given, Span, Word};

/// Options that only the command line may have.
const OF_WORDS: [&str; 3] = [DIRECTIVES, SCRIPT, HELP];

/// Start of the command line.
pub(super) const NOWHERE: Span = Span { text: 0, start: 0, end: 0 };

/// A test as requested.
#[derive(Clone, Debug)]
pub struct Test {
    /// The options.
    pub options: Options,
    /// The given options, with their positions.
    pub given: Given,
    /// Start of the test.
    pub at: Span,
}

/// Options of the next test.
#[derive(Clone, Default)]
pub(super) struct Reader {
    pub options: Options,
    pub given: Given,
    pub errors: Vec<Diagnostic>,
}

impl Reader {
    /// The test with the current options.
    pub fn test(&self, at: Span) -> Test {
        Test { options: self.options.clone(), given: self.given.clone(), at }
    }

    /// Sets an option.
    pub fn assign(&mut self, name: &'static str, at: Span, value: Option<Word>) {
        let assignment = Assignment { name: Word { text: name.to_owned(), at }, value };
        match TABLE.assign(&assignment, &mut self.options, LIST) {
            Ok(assigned) => self.given.insert(assigned.row.name, assigned.given),
            Err(diagnostic) => self.errors.push(*diagnostic),
        }
    }

    /// Sets the options of `-O`.
    pub fn directives(&mut self, written: &Written) {
        let Some(Word { text, at }) = &written.value else { return };
        for directive in grammar::directives(text, *at) {
            self.directive(directive);
        }
    }

    /// Sets the option of a directive.
    pub fn directive(&mut self, directive: grammar::Directive) {
        let grammar::Directive { key, value } = directive;
        // Scripts write options of back ends with dashes.
        let name = key.text.trim_start_matches('-');
        let Some(row) = words::find(name).filter(|row| !OF_WORDS.contains(&row.name)) else {
            return self.errors.push(words::unknown(&key.text, key.at));
        };
        match value {
            Some(value) => self.assign(row.name, key.at, Some(value)),
            None => {
                let message = format!("{} has no value", key.text);
                let wrong = Diagnostic::new(key.at, "directive", &key.text, message);
                self.errors.push(wrong.remedy(format!("write {}=VALUE", row.name)).known_as(
                    "IOR",
                    &format!("Syntax error in configuration options: {}", key.text),
                ));
            }
        }
    }
}
