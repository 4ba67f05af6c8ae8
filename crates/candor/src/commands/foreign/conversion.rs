//! Plans of the command lines of a tool, with comments on every difference.

use std::ffi::OsString;
use std::path::Path;

use candor_front::{Diagnostic, Host, Origins, Texts};
use candor_plan::{Plan, PlanPath, check};
use candor_record::Note;

use crate::{exit, screen};

/// Makes plans of the command lines of a tool.
pub struct Converter {
    /// The command line for a file, from its path and the start of its content; none for a file of
    /// another tool.
    pub of_file: fn(&str, &str) -> Option<Vec<OsString>>,
    /// Reads a command line, the tool's name first. Files that the plan needs are written next to
    /// the path at which it is saved. An error is printed, and is the exit code.
    pub read: fn(&[OsString], Option<&Path>) -> Result<Converted, u8>,
}

/// A plan, and comments on its differences from the request.
pub struct Converted {
    /// The plan.
    pub plan: Plan,
    /// Comments, each at a position of the plan.
    pub comments: Vec<(PlanPath, String)>,
}

/// Writes a plan as a job file of a tool, if that is exactly the same work; else the differences.
pub type Writer = fn(&Plan, &dyn Host) -> Result<String, Vec<String>>;

/// Shows why there is no plan, and gives the exit code.
pub fn refused(diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
    diagnostics.iter().for_each(|diagnostic| screen::error(&diagnostic.describe(texts)));
    exit::USAGE
}

/// Notes that are about the whole plan.
pub fn of_the_whole(notes: &[Note]) -> Vec<(PlanPath, String)> {
    let comment = |note: &Note| format!("{}: {}, {}", note.asked, note.did, note.why);
    notes.iter().map(|note| (PlanPath::root(), comment(note))).collect()
}

/// Notes and warnings of a plan, each at the places of the plan that it is about.
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
