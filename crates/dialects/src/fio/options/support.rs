//! What a job is told about the options that it sets.

use candor_record::Note;

use super::engine_names::{ENGINES, engine};
use super::row::{Row, Support};
use super::{find, rows};
use crate::fio::ast::{Diagnostic, Texts};
use crate::fio::job_options::{GivenOption, JobOptions};

/// The options that are set to something of their own, in the order of the table.
fn set(options: &JobOptions) -> impl Iterator<Item = (&'static Row, &GivenOption)> {
    rows().filter_map(|(_, row)| {
        let given = options.given.get(row.name)?;
        (!given.is_default && (row.when)(options)).then_some((row, given))
    })
}

/// `name=value`, as it was given.
pub(super) fn asked(row: &Row, given: &GivenOption) -> String {
    match &given.value {
        Some(value) => format!("{}={value}", row.name),
        None => row.name.to_owned(),
    }
}

/// A diagnostic for each option that candor cannot do.
pub fn refusals(options: &JobOptions) -> Vec<Diagnostic> {
    let engine = engine_refusal(options);
    let known = engine.is_none();
    let refused = set(options).filter_map(|(row, given)| match row.support {
        // What belongs to an engine that is refused is refused with it.
        Support::Refused(why) if known || row.engines.is_empty() => Some((row, given, why)),
        _ => None,
    });
    let diagnostic = |(row, given, why): (&Row, &GivenOption, &str)| {
        let message = format!("{} is not done: {why}", asked(row, given));
        Diagnostic::new(given.name_at, "unsupported", row.name, message).remedy("remove it")
    };
    engine.into_iter().chain(refused.map(diagnostic)).collect()
}

/// What is wrong with the engine.
fn engine_refusal(options: &JobOptions) -> Option<Diagnostic> {
    let name = options.issue.engine.trim();
    let at = options.given.at("ioengine")?;
    let Some(engine) = engine(name) else {
        let names = ENGINES.iter().map(|engine| engine.name);
        let diagnostic =
            Diagnostic::new(at, "engine", name, format!("there is no ioengine `{name}`"));
        return Some(diagnostic.nearest(names).remedy("see --enghelp"));
    };
    let message = format!("ioengine={name} is not done: {}", engine.refused);
    let diagnostic = Diagnostic::new(at, "unsupported", name, message);
    (!engine.refused.is_empty()).then(|| diagnostic.remedy("use psync, libaio or io_uring"))
}

/// A note for each option that is done a little differently.
pub fn notes(options: &JobOptions, texts: &Texts) -> Vec<Note> {
    let near = set(options).filter_map(|(row, given)| match row.support {
        Support::Approximate(why) => Some((row, given, why)),
        _ => None,
    });
    let note = |(row, given, why): (&Row, &GivenOption, &str)| Note {
        asked: asked(row, given),
        did: row.plan.to_owned(),
        why: why.to_owned(),
        place: Some(texts.location(given.name_at)),
    };
    near.map(note).collect()
}

/// A refusal of an option for a reason that its row cannot know: the value, or what stands
/// beside it.
pub(in crate::fio) fn refuse(options: &JobOptions, name: &str, why: &str) -> Diagnostic {
    let row = find(name);
    match options.given.get(name).zip(row) {
        Some((given, row)) => {
            let message = format!("{} is not done: {why}", asked(row, given));
            Diagnostic::new(given.at, "unsupported", name, message)
        }
        None => Diagnostic::nowhere("unsupported", format!("{name} is not done: {why}")),
    }
}

/// A note on an option for a reason that its row cannot know.
pub(in crate::fio) fn note(
    options: &JobOptions,
    texts: &Texts,
    name: &str,
    did: &str,
    why: &str,
) -> Note {
    let given = options.given.get(name);
    let asked = match given.zip(find(name)) {
        Some((given, row)) => asked(row, given),
        None => name.to_owned(),
    };
    let place = given.map(|given| texts.location(given.name_at));
    Note { asked, did: did.to_owned(), why: why.to_owned(), place }
}
