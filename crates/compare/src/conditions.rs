//! Conditions that differ between two runs, and whether that makes their comparison unfair.

use candor_plan::nearest;
use candor_record::comparison::{Difference, Doubt, Fairness};
use candor_record::fmt;
use candor_record::results::{Area, Condition, DisturbanceKind, JobResults, Results};

use crate::pairing::Pair;
use crate::thresholds::{DISTURBANCE, NAMES_RATIO};

/// Conditions that differ, those that matter first. `across` names those that the comparison is
/// about.
pub fn differences(
    baseline: &Results,
    run: &Results,
    pairs: &[Pair<'_>],
    across: &[String],
) -> Vec<Difference> {
    let tools = [baseline, run].map(|of| tool(&of.tool));
    // Tools know different things of a run: what only one of them knows is no difference.
    let alike = tools[0] == tools[1];
    let mut all = between(&baseline.conditions, &run.conditions, alike);
    if !alike {
        let [mine, theirs] = tools.map(|name| Some(name.to_owned()));
        let (area, name) = (Area::Tool, "tool".to_owned());
        all.push(Difference {
            area,
            name,
            baseline: mine,
            run: theirs,
            matters: true,
            intended: false,
        });
    }
    drop_keys_of_a_missing_device(&mut all);
    all.extend(of_jobs(pairs, alike));
    all.extend(disturbances(pairs));
    for difference in &mut all {
        difference.intended = across.iter().any(|word| covers(word, difference));
    }
    // Stable, so that each part keeps the order of its source.
    all.sort_by_key(|of| (!of.matters, of.intended, of.area));
    all
}

/// If one side has no block device, keeps this difference and drops the keys of its queue.
fn drop_keys_of_a_missing_device(all: &mut Vec<Difference>) {
    if all.iter().any(|of| is_one_sided(of) && is_device(of)) {
        all.retain(|of| !is_one_sided(of) || is_device(of));
    }
}

fn is_one_sided(of: &Difference) -> bool {
    of.area == Area::Storage && (of.baseline.is_none() || of.run.is_none())
}

fn is_device(of: &Difference) -> bool {
    is_named("device", of.area, &of.name)
}

/// The name of a tool, without its version.
fn tool(tool: &str) -> &str {
    tool.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

fn named<'a>(conditions: &'a [Condition], name: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.name == name)
}

/// Conditions with different values in both lists. If both sides know the same conditions
/// (`alike`), also conditions that one list alone has.
fn between(baseline: &[Condition], run: &[Condition], alike: bool) -> Vec<Difference> {
    let mine = baseline.iter().map(|of| difference(of, Some(of), named(run, &of.name)));
    let added = run.iter().filter(|of| named(baseline, &of.name).is_none());
    let all = mine.chain(added.map(|of| difference(of, None, Some(of)))).flatten();
    all.filter(|of| alike || (of.baseline.is_some() && of.run.is_some())).collect()
}

/// The difference of one condition, if the values differ.
fn difference(
    of: &Condition,
    mine: Option<&Condition>,
    theirs: Option<&Condition>,
) -> Option<Difference> {
    let [baseline, run] = [mine, theirs].map(|condition| condition.map(|of| of.value.clone()));
    let (area, name) = (of.area, of.name.clone());
    let mut difference = Difference { area, name, baseline, run, ..Difference::default() };
    difference.matters = of.matters && !is_of_similar_numbers(&difference);
    (difference.baseline != difference.run).then_some(difference)
}

/// Whether numbers of names in a tree are similar enough for the same rates.
fn is_of_similar_numbers(difference: &Difference) -> bool {
    let is_number = ["tree.items", "tree.width"].iter().any(|key| {
        let rest = difference.name.strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let numbers = [&difference.baseline, &difference.run]
        .map(|value| value.as_ref().and_then(|value| value.parse::<f64>().ok()));
    let [Some(one), Some(other)] = numbers else { return false };
    is_number && one.max(other) < NAMES_RATIO * one.min(other)
}

/// Differences of the work of each job; a difference of all jobs is listed once.
fn of_jobs(pairs: &[Pair<'_>], alike: bool) -> Vec<Difference> {
    let mut all: Vec<(Difference, Vec<String>)> = Vec::new();
    for pair in pairs {
        let [mine, theirs] = pair.measured();
        let (Some(mine), Some(theirs)) = (mine.first(), theirs.first()) else { continue };
        for difference in of_job(mine, theirs, alike) {
            let job = format!("{}/{}", pair.baseline.name, pair.jobs[0]);
            match all.iter_mut().find(|(known, _)| *known == difference) {
                Some((_, jobs)) => jobs.push(job),
                None => all.push((difference, vec![job])),
            }
        }
    }
    for (difference, jobs) in all.iter_mut().filter(|(_, jobs)| jobs.len() != pairs.len()) {
        difference.name = format!("{} of {}", difference.name, jobs.join(", "));
    }
    all.into_iter().map(|(difference, _)| difference).collect()
}

fn of_job(mine: &JobResults, theirs: &JobResults, alike: bool) -> Vec<Difference> {
    if alike && !mine.conditions.is_empty() && !theirs.conditions.is_empty() {
        return between(&mine.conditions, &theirs.conditions, alike);
    }
    between(&load(mine), &load(theirs), false)
}

/// Conditions of the load of a job.
fn load(job: &JobResults) -> Vec<Condition> {
    let known = [
        ("access", job.load.access.clone()),
        ("block size", job.load.block_bytes.map(|bytes| fmt::size(bytes as f64))),
        ("depth", job.load.depth.map(|depth| depth.to_string())),
        ("workers", job.load.workers.map(|workers| workers.to_string())),
    ];
    let conditions = known.into_iter().filter_map(|(name, value)| {
        Some(Condition { area: Area::Plan, name: name.into(), value: value?, matters: true })
    });
    conditions.collect()
}

/// A word names a condition by the whole of its name, by its beginning, or by its area.
fn covers(word: &str, difference: &Difference) -> bool {
    is_named(word, difference.area, &difference.name)
}

fn is_named(word: &str, area: Area, name: &str) -> bool {
    let rest = name.strip_prefix(word);
    area_word(area) == word
        || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.', '[']))
}

fn area_word(area: Area) -> &'static str {
    match area {
        Area::Plan => "plan",
        Area::Tool => "tool",
        Area::Host => "host",
        Area::Storage => "storage",
    }
}

/// An error for a word of `across` that is the name of no condition of any run.
pub fn unknown(across: &[String], runs: &[&Results]) -> Option<String> {
    let mut all: Vec<(Area, &str)> = Vec::new();
    for run in runs {
        let jobs = run.phases.iter().flat_map(|phase| &phase.jobs);
        let conditions = run.conditions.iter().chain(jobs.flat_map(|job| &job.conditions));
        all.extend(conditions.map(|of| (of.area, of.name.as_str())));
        let disturbances = run.phases.iter().flat_map(|phase| &phase.disturbances);
        all.extend(disturbances.map(|of| (Area::Host, of.kind.label())));
    }
    let areas = [Area::Plan, Area::Tool, Area::Host, Area::Storage].map(area_word);
    let word = across.iter().find(|word| {
        let is_area = areas.contains(&word.as_str());
        !is_area && !all.iter().any(|(area, name)| is_named(word, *area, name))
    })?;
    let names = all.iter().map(|(_, name)| *name).chain(areas);
    let near = nearest(word, names).map(|near| format!("; did you mean `{near}`?"));
    Some(format!(
        "no condition of these runs is named `{word}`{} (plan, tool, host and storage are groups \
         of conditions)",
        near.unwrap_or_default()
    ))
}

/// Reasons against trusting or comparing the results of a pair of phases.
pub fn doubts(baseline: &str, run: &str, pair: &Pair<'_>) -> Vec<Doubt> {
    let measured = pair.measured();
    let mut all = Vec::new();
    let sides = [(baseline, &pair.baseline), (run, &pair.run)];
    for ((label, side), jobs) in sides.into_iter().zip(&measured) {
        let doubt = Doubt {
            run: label.to_owned(),
            phase: pair.baseline.name.to_owned(),
            ..Doubt::default()
        };
        let unbelieved = side.verdict().filter(|(verdict, _)| !verdict.is_trusted());
        all.extend(unbelieved.map(|(_, line)| Doubt {
            sentence: line.to_owned(),
            unbelieved: true,
            ..doubt.clone()
        }));
        if side.left_out > 0 {
            let left_out = fmt::counted(side.left_out as u64, "repeat");
            let why = "which can be believed less than the others";
            all.push(Doubt { sentence: format!("{left_out} left out, {why}."), ..doubt.clone() });
        }
        let operations = jobs.iter().flat_map(|job| &job.operations);
        let failed: u64 = operations.filter_map(|op| op.failed).sum();
        if failed > 0 {
            let failed = fmt::counted(failed, "operation");
            all.push(Doubt { sentence: format!("{failed} of {} failed.", pair.jobs[0]), ..doubt });
        }
    }
    all
}

/// Differences of the load of other processes in each phase.
fn disturbances(pairs: &[Pair<'_>]) -> Vec<Difference> {
    let mut phases: Vec<&Pair<'_>> = Vec::new();
    for pair in pairs {
        if !phases.iter().any(|of| of.baseline.is_same_phase(&pair.baseline)) {
            phases.push(pair);
        }
    }
    let mut all = Vec::new();
    for pair in &phases {
        for difference in disturbances_of(pair) {
            let name = match phases.len() {
                1 => difference.name,
                _ => format!("{} in {}", difference.name, pair.baseline.name),
            };
            all.push(Difference { name, ..difference });
        }
    }
    all
}

fn disturbances_of(pair: &Pair<'_>) -> Vec<Difference> {
    let first = pair.baseline.kept.first();
    let kinds = first.into_iter().flat_map(|phase| &phase.disturbances).map(|of| of.kind);
    let differences = kinds.filter_map(|kind| {
        let (mine, theirs) = (pair.baseline.disturbance(kind)?, pair.run.disturbance(kind)?);
        // The storage is idle during a stop of any length.
        let is_stop = kind == DisturbanceKind::Stopped && mine.max(theirs) > 0.0;
        let differs = is_stop || (mine - theirs).abs() >= DISTURBANCE;
        differs.then(|| Difference {
            area: Area::Host,
            name: kind.label().to_owned(),
            baseline: Some(fmt::percent(mine)),
            run: Some(fmt::percent(theirs)),
            matters: true,
            intended: false,
        })
    });
    differences.collect()
}

/// Fairness of a comparison with these differences.
pub fn fairness(differences: &[Difference]) -> Fairness {
    let unfair = differences.iter().filter(|of| of.matters && !of.intended);
    let fairness = unfair.map(|difference| match difference.area {
        Area::Plan => Fairness::OtherWork,
        _ => Fairness::OtherEnvironment,
    });
    fairness.max().unwrap_or_default()
}
