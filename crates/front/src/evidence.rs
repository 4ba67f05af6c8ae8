//! Evidence for what the rows of a table claim, for the tests of front ends.
//!
//! Each row has an example. The test of a tool reads and lowers a command line without and with it,
//! and [`broken_promises`] compares: an option that is done has an effect that shows at once, or
//! changes the plan or a setting, and the sources after the reader use that field.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::Path;

use candor_record::Note;

use super::{Diagnostic, Environment, Row, Support, Table, Texts, ValueKind};

/// Everything that a command line comes to, as text in the form of `{:#?}`.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Effects that show at once, such as another action of the program.
    pub effects: String,
    /// Notes on differences.
    pub notes: Vec<Note>,
    /// The plan, and settings that later code reads, such as output settings.
    pub settings: String,
}

impl Outcome {
    /// Outcome of an option that requests another action.
    pub fn instead(action: &impl Debug) -> Outcome {
        Outcome { effects: format!("{action:?}"), ..Outcome::default() }
    }

    /// Outcome of a line that became a plan, with these notes.
    pub fn planned(notes: Vec<Note>, settings: &impl Debug) -> Outcome {
        Outcome { effects: String::new(), notes, settings: format!("{settings:#?}") }
    }
}

/// Files and environment variables of a test.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Names and contents of the files.
    pub files: &'a [(&'a str, &'a str)],
    /// Names and values of the variables.
    pub variables: &'a [(&'a str, &'a str)],
}

impl Environment for Surroundings<'_> {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

/// The sentences of diagnostics.
pub fn sentences(errors: &[Diagnostic], texts: &Texts) -> Vec<String> {
    errors.iter().map(|error| error.describe(texts)).collect()
}

/// Outcome of a command line as read: a request for a text, or the outcome of `lower`.
///
/// # Errors
/// The sentences of the errors, of the command line or of `lower`.
pub fn outcome(
    errors: &[Diagnostic],
    texts: &Texts,
    instead: Option<impl Debug>,
    lower: impl FnOnce() -> Result<Outcome, Vec<Diagnostic>>,
) -> Result<Outcome, String> {
    match instead {
        _ if !errors.is_empty() => Err(sentences(errors, texts).join("\n")),
        Some(action) => Ok(Outcome::instead(&action)),
        None => lower().map_err(|errors| sentences(&errors, texts).join("\n")),
    }
}

/// A sentence for each row whose default, if given, changes the options.
pub fn wrong_defaults<K: ValueKind>(table: &Table<K>) -> Vec<String>
where
    K::Options: Default + Debug,
{
    let usual = format!("{:#?}", K::Options::default());
    let wrong = table.rows().filter(|row| !row.default.is_empty()).filter(|row| {
        let mut options = K::Options::default();
        row.apply(&mut options, Some(row.default)).is_err() || format!("{options:#?}") != usual
    });
    wrong
        .map(|row| format!("{}: {} is not the default of its field", row.name, row.default))
        .collect()
}

/// The claim of a row.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Name of the option.
    pub name: &'static str,
    /// Support that the row promises.
    pub support: Support,
}

/// Words that the examples of some options need in addition.
pub type Partners = [(&'static str, &'static [&'static str])];

/// The words that the example of an option needs; empty if it needs none.
pub fn partners(table: &Partners, option: &str) -> &'static str {
    let needed = table.iter().find(|(_, options)| options.contains(&option));
    needed.map_or("", |(words, _)| words)
}

/// Examples of a table of options, and the code that follows their reader.
pub struct Examples {
    /// Words of an example without partners.
    pub usual: &'static str,
    /// Words of other examples.
    pub partners: &'static Partners,
    /// The tool's own sources that act on options or print, below `crates`.
    pub readers: &'static [&'static str],
}

impl Examples {
    fn words(&self, option: &str) -> &'static str {
        match partners(self.partners, option) {
            "" => self.usual,
            words => words,
        }
    }
}

/// Sources that run the plans of all tools.
const RUNNERS: &[&str] = &[
    "blocks/src",
    "bytes/src",
    "candor/src/commands/foreign",
    "engine/src",
    "entries/src",
    "memory/src",
    "objects/src",
    "plan/src/entries.rs",
    "plan/src/rank.rs",
    "plan/src/tree.rs",
    "run/src",
    "s3/src",
];

/// Text of the sources that use settings after the reader has stored them.
pub struct Sources(String);

impl Sources {
    /// All sources below these paths of a folder, but for tests.
    ///
    /// # Panics
    /// A path cannot be read.
    pub fn of(folder: impl AsRef<Path>, paths: &[&str]) -> Sources {
        let mut text = String::new();
        paths.iter().for_each(|path| collect(&folder.as_ref().join(path), &mut text));
        Sources(text)
    }

    /// True if some source names that field of a value, or binds it in a pattern.
    fn use_field(&self, field: &str) -> bool {
        self.0.match_indices(field).any(|(at, _)| {
            let (before, behind) = (&self.0[..at], &self.0[at + field.len()..]);
            let begins = before.ends_with('.') || before.ends_with("{ ") || before.ends_with(", ");
            begins && !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    }
}

fn collect(path: &Path, text: &mut String) {
    let name = path.file_name().unwrap_or_default();
    if path.is_dir() && name != "tests" {
        let listed = fs::read_dir(path).into_iter().flatten().flatten();
        return listed.for_each(|entry| collect(&entry.path(), text));
    }
    if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
        let source = fs::read_to_string(path);
        let source = source.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        text.push_str(source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
    }
}

/// A sentence for each row whose example does something else than its support says.
///
/// `outcome` reads and lowers the example of a claim, without and with the option; the error of
/// the latter belongs to a refusal.
pub fn broken_promises(
    claims: impl Iterator<Item = Claim>,
    sources: &Sources,
    outcome: impl Fn(&Claim, bool) -> Result<Outcome, String>,
) -> Vec<String> {
    let judged = |claim: Claim| {
        let fault = match (outcome(&claim, true), claim.support) {
            (Err(why), Support::Refused(_)) if why.contains(claim.name) => None,
            (Err(why), _) => Some(format!("is refused: {why}")),
            (Ok(_), Support::Refused(_)) => Some("is not refused".to_owned()),
            (Ok(with), _) => match outcome(&claim, false) {
                Err(why) => Some(format!("its partners are refused: {why}")),
                Ok(without) => fault(&claim, &without, &with, sources),
            },
        };
        fault.map(|fault| format!("{}: {fault}", claim.name))
    };
    claims.filter_map(judged).collect()
}

/// The same for a table whose options are words of a command line; `outcome` reads and lowers one.
pub fn broken_rows<K: ValueKind>(
    table: &Table<K>,
    examples: &Examples,
    outcome: impl Fn(&[String]) -> Result<Outcome, String>,
) -> Vec<String> {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let sources = Sources::of(crates, &[RUNNERS, examples.readers].concat());
    let claims = table.rows().map(|row| Claim { name: row.name, support: row.support });
    let mut broken = broken_promises(claims, &sources, |claim, with| {
        let Some(row) = table.find(claim.name) else { return Err("no such row".to_owned()) };
        outcome(&words(row, examples, with))
    });
    for row in table.rows().filter(|row| matches!(row.support, Support::Approximate(_))) {
        let of = |with| outcome(&words(row, examples, with)).map(|outcome| outcome.settings);
        if of(true) == of(false) {
            broken.push(format!("{}: is accepted and ignored", row.name));
        }
    }
    broken
}

/// Words of a row's example, with or without the row's own option.
fn words<K: ValueKind>(row: &Row<K>, examples: &Examples, with: bool) -> Vec<String> {
    let option = format!("{}{}=", if row.name.len() > 1 { "--" } else { "-" }, row.name);
    let others = examples.words(row.name).split_whitespace();
    let others = others.filter(|word| !format!("{word}=").starts_with(&option));
    let own = with.then(|| format!("{option}{}", row.example));
    others.map(str::to_owned).chain(own).collect()
}

/// The same for a table whose options are settings only, which other code reads.
pub fn unread_settings<K: ValueKind>(table: &Table<K>, sources: &Sources) -> Vec<String>
where
    K::Options: Default + Debug,
{
    let claims = table.rows().map(|row| Claim { name: row.name, support: row.support });
    broken_promises(claims, sources, |claim, with| {
        let mut outcome = Outcome::default();
        let mut options = K::Options::default();
        if let Some(row) = table.find(claim.name).filter(|_| with) {
            row.apply(&mut options, Some(row.example)).map_err(|no| no.message)?;
            let (asked, did) = (row.name.to_owned(), row.plan.to_owned());
            match row.support {
                Support::Refused(why) => return Err(format!("{}: {why}", row.name)),
                Support::Approximate(why) => {
                    outcome.notes.push(Note { asked, did, why: why.to_owned(), place: None });
                }
                Support::Exact | Support::Idle(_) => {}
            }
        }
        outcome.settings = format!("{options:#?}");
        Ok(outcome)
    })
}

/// The difference between what an option does and what its support says.
fn fault(claim: &Claim, without: &Outcome, with: &Outcome, sources: &Sources) -> Option<String> {
    let noted = with.notes.iter().any(|note| note.asked.starts_with(claim.name));
    let (stored, shows) = (without.settings != with.settings, without.effects != with.effects);
    match claim.support {
        // A remark, or a word of the output, may repeat the option.
        Support::Idle(_) if shows => Some("has an effect, and claims none".to_owned()),
        Support::Exact if noted => Some("is exact, and has a note".to_owned()),
        Support::Exact if !stored && !shows => Some("is accepted and ignored".to_owned()),
        Support::Exact if !shows => {
            let fields = changed_fields(&without.settings, &with.settings);
            let used = fields.is_empty() || fields.iter().any(|field| sources.use_field(field));
            (!used).then(|| format!("is stored as {fields:?}, which nothing reads"))
        }
        Support::Approximate(_) if !noted => Some("is approximate, without a note".to_owned()),
        _ => None,
    }
}

/// Names of the fields with other values in one of two texts of the form `{:#?}`.
fn changed_fields(one: &str, other: &str) -> BTreeSet<String> {
    let (one, other) = (fields(one), fields(other));
    one.symmetric_difference(&other).map(|(field, _)| field.clone()).collect()
}

/// Each line below the field that it belongs to.
fn fields(text: &str) -> BTreeSet<(String, String)> {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with([')', ']', '}']) {
            continue;
        }
        let name = line.trim_start().split_once(": ").map(|(name, _)| name);
        open.retain(|(outer, _)| *outer < indent);
        if let Some(name) =
            name.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        {
            open.push((indent, name.to_owned()));
        }
        let path: Vec<&str> = open.iter().map(|(_, name)| name.as_str()).collect();
        if let Some(last) = path.last() {
            found.insert(((*last).to_owned(), format!("{}{}", path.join("."), line.trim_start())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Inner {
        broken_promises: u32,
        nowhere_else: Option<u32>,
    }

    #[derive(Debug, Default)]
    struct Settings {
        plan: u32,
        inner: Inner,
    }

    /// Two of the options keep their word.
    fn outcome(claim: &Claim, with: bool) -> Result<Outcome, String> {
        let mut settings = Settings::default();
        match claim.name {
            "planned" => settings.plan = u32::from(with),
            "used" => settings.inner.broken_promises = u32::from(with),
            "unused" => settings.inner.nowhere_else = with.then_some(1),
            "refused" if with => return Err("refused: why".to_owned()),
            _ => {}
        }
        let effects = settings.plan.to_string();
        let (asked, did, why) = (claim.name.to_owned(), String::new(), String::new());
        let note = Note { asked, did, why, place: None };
        let notes = if claim.name == "noted" && with { vec![note] } else { Vec::new() };
        Ok(Outcome { effects, notes, settings: format!("{:#?}", settings.inner) })
    }

    #[test]
    fn options_that_are_accepted_and_ignored_are_found() {
        let claim = |name, support| Claim { name, support };
        let claims = [
            claim("planned", Support::Exact),
            claim("used", Support::Exact),
            claim("noted", Support::Approximate("note")),
            claim("ignored", Support::Exact),
            claim("unused", Support::Exact),
            claim("nothing", Support::Idle("reason")),
            claim("refused", Support::Refused("reason")),
            claim("refused", Support::Exact),
        ];
        let lied = [
            claim("planned", Support::Idle("reason")),
            claim("planned", Support::Refused("reason")),
            claim("noted", Support::Exact),
            claim("used", Support::Approximate("note")),
        ];
        let sources = Sources("let sum = x.broken_promises + x.nowhere_else_at_all;".to_owned());
        let found = broken_promises(claims.into_iter().chain(lied), &sources, outcome);
        assert_eq!(
            found,
            [
                "ignored: is accepted and ignored",
                "unused: is stored as {\"nowhere_else\"}, which nothing reads",
                "refused: is refused: refused: why",
                "planned: has an effect, and claims none",
                "planned: is not refused",
                "noted: is exact, and has a note",
                "used: is approximate, without a note",
            ]
        );
    }

    #[test]
    fn a_change_belongs_to_the_innermost_field() {
        let text = |list: &[&str], on: bool| format!("{:#?}", (list, on, Inner::default()));
        assert!(changed_fields(&text(&["a"], true), &text(&["b"], true)).is_empty());
        let inner = |nowhere_else| {
            let inner = Inner { nowhere_else, ..Inner::default() };
            format!("{:#?}", Settings { plan: 1, inner })
        };
        let changed: Vec<_> = changed_fields(&inner(None), &inner(Some(2))).into_iter().collect();
        assert_eq!(changed, ["nowhere_else"]);
    }
}
