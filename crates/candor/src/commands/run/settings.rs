//! Keys of a plan that `--set` changes.

use candor_plan::{Plan, PlanPath, Problem, text};

use crate::flag::CommandLine;

/// The plan with all settings, and the places of their keys, which from then on point at the
/// command line.
pub fn apply(
    mut plan: Plan,
    settings: &[String],
    line: &mut CommandLine,
) -> Result<(Plan, Vec<PlanPath>), Vec<Problem>> {
    let (mut places, mut problems) = (Vec::new(), Vec::new());
    for (nth, setting) in settings.iter().enumerate() {
        match set(&plan, setting) {
            Ok((changed, place)) => {
                plan = changed;
                line.mark("set", nth, &place);
                places.push(place);
            }
            Err(problem) => {
                let place = PlanPath::from(format!("--set {nth}").as_str());
                line.mark("set", nth, &place);
                problems.push(Problem { place, ..problem });
            }
        }
    }
    if problems.is_empty() { Ok((plan, places)) } else { Err(problems) }
}

fn set(plan: &Plan, setting: &str) -> Result<(Plan, PlanPath), Problem> {
    match setting.split_once('=') {
        Some((key, value)) => text::set(plan, key.trim(), value.trim()),
        None => Err(Problem::error(
            "value",
            PlanPath::root(),
            format!("`{setting}` has no value"),
            format!("write --set {setting}=VALUE"),
        )),
    }
}

/// Whether a problem at a place is one of what was set.
pub fn concerns(set: &[PlanPath], place: &PlanPath) -> bool {
    let mut place = Some(place.clone());
    while let Some(current) = place {
        if set.contains(&current) {
            return true;
        }
        place = current.parent();
    }
    false
}
