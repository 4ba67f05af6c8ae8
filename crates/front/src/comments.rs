//! Comments of a plan on its differences from a tool's command line.

use candor_plan::{Plan, PlanPath, check};
use candor_record::Note;

use super::{Origins, Texts};

/// Notes on the whole plan.
pub fn of_the_whole(notes: &[Note]) -> Vec<(PlanPath, String)> {
    let comment = |note: &Note| format!("{}: {}, {}", note.asked, note.did, note.why);
    notes.iter().map(|note| (PlanPath::root(), comment(note))).collect()
}

/// Notes and warnings of a plan, each at its positions in the plan.
pub fn comments(
    plan: &Plan,
    notes: &[Note],
    origins: &Origins,
    texts: &Texts,
) -> Vec<(PlanPath, String)> {
    let mut comments = Vec::new();
    for Note { asked, did, why, place } in notes {
        let written_at = place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        let comment = format!("{asked}: {did}; {why}{written_at}").replace('\n', " ");
        let option = place.iter().flat_map(|place| origins.of_option(place, texts));
        let places: Vec<_> = option.collect();
        let places = if places.is_empty() { vec![PlanPath::root()] } else { places };
        comments.extend(places.into_iter().map(|place| (place, comment.clone())));
    }
    let warnings = check::check(plan).into_iter().filter(|problem| !problem.is_error());
    comments.extend(warnings.map(|warning| (warning.place, warning.message.replace('\n', " "))));
    comments
}
