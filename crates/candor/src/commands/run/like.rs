//! `--like NAME`: shipped plans, each the work of a kind of program.

use std::cmp::Reverse;

use candor_plan::{Plan, PlanPath, Problem, Source, Target, text};
use clap::ArgMatches;

use super::draft::Draft;
use super::options::GROUPS;
use crate::flag::{self, CommandLine};

/// The plans by their names.
pub const PLANS: [(&str, &str); 6] = [
    ("database", include_str!("like/database.toml")),
    ("vm", include_str!("like/vm.toml")),
    ("backup", include_str!("like/backup.toml")),
    ("log", include_str!("like/log.toml")),
    ("web", include_str!("like/web.toml")),
    ("analytics", include_str!("like/analytics.toml")),
];

/// Flags that may stand beside a shipped plan: where, how much, how long.
const BESIDE: [&str; 12] = [
    "target",
    "size",
    "files",
    "layout",
    "keep",
    "overwrite",
    "name",
    "seconds",
    "time",
    "ramp",
    "repeats",
    "seed",
];

/// A shipped plan on the targets that flags name, and where its text and that of the words stand.
///
/// # Errors
/// What of the flags makes no sense beside it.
pub fn plan(
    shipped: &str,
    matches: &ArgMatches,
    line: &mut CommandLine,
) -> Result<Plan, (Vec<Problem>, Source)> {
    let (mut plan, _) = text::read("a shipped plan", shipped)?;
    let given = super::given(matches);
    let mut problems: Vec<Problem> =
        given.iter().filter(|flag| !BESIDE.contains(flag)).map(|flag| beside(flag)).collect();
    let mut draft = Draft { target: template(&plan), ..Draft::default() };
    problems.extend(flag::apply(GROUPS, matches, line, &mut draft));
    problems.extend(draft.lacks());
    problems.extend(draft.is_s3().then(no_bucket));
    if !problems.is_empty() {
        return Err((problems, line.source.clone()));
    }
    // A share takes the place of the plan's size.
    draft.target.size = draft.target.size.filter(|_| draft.target.size_percent.is_none());
    plan.targets = draft.targets();
    let names: Vec<String> = plan.targets.iter().map(|target| target.name.clone()).collect();
    for phase in &mut plan.phases {
        phase.stop.time = draft.phase.stop.time.or(phase.stop.time);
        if given.contains(&"ramp") {
            phase.ramp = draft.phase.ramp;
        }
        phase.jobs.iter_mut().for_each(|job| job.targets.clone_from(&names));
    }
    plan.name = draft.name.unwrap_or(plan.name);
    plan.repeats = draft.repeats.unwrap_or(plan.repeats);
    plan.seed = draft.seed.unwrap_or(plan.seed);
    Ok(plan)
}

fn no_bucket() -> Problem {
    let message =
        "the shipped plans of --like work on files and devices, and the target is a bucket";
    let remedy = "name a file or a device, or run candor scenario run data-loader-s3 s3://…";
    Problem::error("like", PlanPath::from("--target"), message, remedy)
}

fn beside(flag: &str) -> Problem {
    let place = PlanPath::from(format!("--{flag}").as_str());
    let message = format!("the shipped plan of --like defines the work, and so does --{flag}");
    Problem::error("like", place, message, "change a key of it with --set KEY=VALUE")
}

/// The settings of a shipped plan's target.
fn template(plan: &Plan) -> Target {
    plan.targets.first().cloned().unwrap_or_default()
}

/// The comments of a plan's text, each with the key or section that it stands above.
pub fn comments(shipped: &str) -> Vec<(PlanPath, String)> {
    let Ok((_, source)) = text::read("a shipped plan", shipped) else { return Vec::new() };
    let mut comments = Vec::new();
    let mut offset = 0;
    for line in shipped.split_inclusive('\n') {
        if let Some(comment) = line.strip_prefix("# ") {
            let below = source.spans.iter().filter(|(_, span)| span.start > offset);
            // A list begins with its first entry, above whose header the comment stands.
            let next =
                below.min_by_key(|(place, span)| (span.start, Reverse(place.as_str().len())));
            let place = next.map_or_else(PlanPath::root, |(place, _)| place.clone());
            comments.push((place, comment.trim_end().to_owned()));
        }
        offset += line.len();
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_plans_say_what_they_stand_for_and_are_good() {
        for (name, shipped) in PLANS {
            let (plan, _) = text::read(name, shipped).unwrap_or_else(|(problems, source)| {
                panic!("{}", candor_show::problems::text(&problems, &source, false))
            });
            assert_eq!(plan.targets.len(), 1, "{name}");
            let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
            assert!(
                jobs.clone().all(|job| job.targets == [plan.targets[0].name.clone()]),
                "{name}"
            );
            assert!(plan.targets[0].path.as_os_str().is_empty(), "{name} names a path");
            assert!(plan.phases.iter().all(|phase| phase.stop.time.is_some()), "{name}");
            assert!(comments(shipped).len() >= 3, "{name} says too little");
            let all = shipped.lines().filter(|line| line.starts_with('#')).count();
            assert_eq!(comments(shipped).len(), all, "{name}");
        }
    }

    #[test]
    fn comments_stay_above_their_sections() {
        let (_, database) = PLANS[0];
        let (plan, _) = text::read("database", database).unwrap();
        let written = text::write_commented(&plan, &comments(database));
        let above = |header: &str| {
            let at = written.find(header).unwrap();
            written[..at].lines().next_back().unwrap().starts_with("# ")
        };
        assert!(!above("[[phase]]") && above("[[phase.job]]"), "{written}");
        assert!(written.starts_with("# A transactional database"), "{written}");
    }
}
