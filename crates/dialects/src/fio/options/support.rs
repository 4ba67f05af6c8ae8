//! What a job is told about the options that it sets.

use candor_record::Note;

use super::engine_names::{ENGINES, engine};
use super::row::{Row, Support};
use super::{find, rows};
use crate::fio::settings::{GivenOption, Settings};
use crate::fio::words::{Mistake, Texts};

/// The options that are set to something of their own, in the order of the table.
fn set(settings: &Settings) -> impl Iterator<Item = (&'static Row, &GivenOption)> {
    rows().filter_map(|(_, row)| {
        let given = settings.given.get(row.name)?;
        (!given.is_default && (row.when)(settings)).then_some((row, given))
    })
}

/// `name=value`, as it was given.
pub(super) fn asked(row: &Row, given: &GivenOption) -> String {
    match &given.value {
        Some(value) => format!("{}={value}", row.name),
        None => row.name.to_owned(),
    }
}

/// A mistake for each option that candor cannot do.
pub fn refusals(settings: &Settings) -> Vec<Mistake> {
    let engine = engine_refusal(settings);
    let known = engine.is_none();
    let refused = set(settings).filter_map(|(row, given)| match row.support {
        // What belongs to an engine that is refused is refused with it.
        Support::Refused(why) if known || row.engines.is_empty() => Some((row, given, why)),
        _ => None,
    });
    let mistake = |(row, given, why): (&Row, &GivenOption, &str)| {
        let message = format!("{} is not done: {why}", asked(row, given));
        Mistake::new(given.name_at, "unsupported", row.name, message).remedy("remove it")
    };
    engine.into_iter().chain(refused.map(mistake)).collect()
}

/// What is wrong with the engine.
fn engine_refusal(settings: &Settings) -> Option<Mistake> {
    let name = settings.issue.engine.trim();
    let at = settings.given.at("ioengine")?;
    let Some(engine) = engine(name) else {
        let names = ENGINES.iter().map(|engine| engine.name);
        let mistake = Mistake::new(at, "engine", name, format!("there is no ioengine `{name}`"));
        return Some(mistake.nearest(names).remedy("see --enghelp"));
    };
    let message = format!("ioengine={name} is not done: {}", engine.refused);
    let mistake = Mistake::new(at, "unsupported", name, message);
    (!engine.refused.is_empty()).then(|| mistake.remedy("use psync, libaio or io_uring"))
}

/// A note for each option that is done a little differently.
pub fn notes(settings: &Settings, texts: &Texts) -> Vec<Note> {
    let near = set(settings).filter_map(|(row, given)| match row.support {
        Support::Approximate(why) => Some((row, given, why)),
        _ => None,
    });
    let note = |(row, given, why): (&Row, &GivenOption, &str)| Note {
        asked: asked(row, given),
        did: row.plan.to_owned(),
        why: why.to_owned(),
        place: Some(texts.place(given.name_at)),
    };
    near.map(note).collect()
}

/// A refusal of an option for a reason that its row cannot know: the value, or what stands
/// beside it.
pub(in crate::fio) fn refuse(settings: &Settings, name: &str, why: &str) -> Mistake {
    let row = find(name);
    match settings.given.get(name).zip(row) {
        Some((given, row)) => {
            let message = format!("{} is not done: {why}", asked(row, given));
            Mistake::new(given.at, "unsupported", name, message)
        }
        None => Mistake::nowhere("unsupported", format!("{name} is not done: {why}")),
    }
}

/// A note on an option for a reason that its row cannot know.
pub(in crate::fio) fn note(
    settings: &Settings,
    texts: &Texts,
    name: &str,
    did: &str,
    why: &str,
) -> Note {
    let given = settings.given.get(name);
    let asked = match given.zip(find(name)) {
        Some((given, row)) => asked(row, given),
        None => name.to_owned(),
    };
    let place = given.map(|given| texts.place(given.name_at));
    Note { asked, did: did.to_owned(), why: why.to_owned(), place }
}
