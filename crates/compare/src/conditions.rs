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
    without_what_a_device_lacks(&mut all);
    all.extend(of_jobs(pairs, alike));
    all.extend(disturbances(pairs));
    for difference in &mut all {
        difference.intended = across.iter().any(|word| covers(word, difference));
    }
    // Stable, so that each part keeps the order of its source.
    all.sort_by_key(|of| (!of.matters, of.intended, of.area));
    all
}

/// Where one side has no block device, that says all: its queue is not listed key by key.
fn without_what_a_device_lacks(all: &mut Vec<Difference>) {
    let is_one_sided =
        |of: &Difference| of.area == Area::Storage && (of.baseline.is_none() || of.run.is_none());
    let is_device = |of: &Difference| is_named("device", of.area, &of.name);
    if all.iter().any(|of| is_one_sided(of) && is_device(of)) {
        all.retain(|of| !is_one_sided(of) || is_device(of));
    }
}

/// The name of a tool, without its version.
fn tool(tool: &str) -> &str {
    tool.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

fn named<'a>(conditions: &'a [Condition], name: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.name == name)
}

/// Conditions of a list that another list has otherwise; where both know the same things, also what
/// only one of them has.
fn between(baseline: &[Condition], run: &[Condition], alike: bool) -> Vec<Difference> {
    let difference = |of: &Condition, mine: Option<&Condition>, theirs: Option<&Condition>| {
        let values = [mine, theirs].map(|condition| condition.map(|of| of.value.clone()));
        let [baseline, run] = values;
        let known = alike || (baseline.is_some() && run.is_some());
        let (area, name) = (of.area, of.name.clone());
        let matters = of.matters && !are_like_numbers_of_names(&name, [&baseline, &run]);
        let differs = baseline != run && known;
        differs.then_some(Difference { area, name, baseline, run, matters, intended: false })
    };
    let mine = baseline.iter().map(|of| difference(of, Some(of), named(run, &of.name)));
    let added = run.iter().filter(|of| named(baseline, &of.name).is_none());
    mine.chain(added.map(|of| difference(of, None, Some(of)))).flatten().collect()
}

/// True for numbers of names in a tree that are near enough to have the same rates.
fn are_like_numbers_of_names(condition: &str, values: [&Option<String>; 2]) -> bool {
    let is_number = ["tree.items", "tree.width"].iter().any(|key| {
        condition.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let [Some(one), Some(other)] = values.map(|value| value.as_ref()?.parse::<f64>().ok()) else {
        return false;
    };
    is_number && one.max(other) < NAMES_RATIO * one.min(other)
}

/// Differences of the work of each job; what all jobs share is told once.
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
    let told = |(difference, jobs): (Difference, Vec<String>)| {
        if jobs.len() == pairs.len() {
            difference
        } else {
            let name = format!("{} of {}", difference.name, jobs.join(", "));
            Difference { name, ..difference }
        }
    };
    all.into_iter().map(told).collect()
}

fn of_job(mine: &JobResults, theirs: &JobResults, alike: bool) -> Vec<Difference> {
    if alike && !mine.conditions.is_empty() && !theirs.conditions.is_empty() {
        return between(&mine.conditions, &theirs.conditions, alike);
    }
    let load = |job: &JobResults| {
        let known = [
            ("access", job.load.access.clone()),
            ("block size", job.load.block_bytes.map(|bytes| fmt::size(bytes as f64))),
            ("depth", job.load.depth.map(|depth| depth.to_string())),
            ("workers", job.load.workers.map(|workers| workers.to_string())),
        ];
        let condition = |(name, value): (&str, Option<String>)| {
            Some(Condition { area: Area::Plan, name: name.into(), value: value?, matters: true })
        };
        known.into_iter().filter_map(condition).collect::<Vec<_>>()
    };
    between(&load(mine), &load(theirs), false)
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

/// A sentence for a word of `across` that names no condition of any run.
pub fn unknown(across: &[String], runs: &[&Results]) -> Option<String> {
    let phases = || runs.iter().flat_map(|run| &run.phases);
    let of_jobs = phases().flat_map(|phase| &phase.jobs).flat_map(|job| &job.conditions);
    let all = runs.iter().flat_map(|run| &run.conditions).chain(of_jobs);
    let disturbances = phases().flat_map(|phase| &phase.disturbances);
    let disturbances = disturbances.map(|of| (Area::Host, of.kind.label()));
    let all: Vec<(Area, &str)> =
        all.map(|of| (of.area, of.name.as_str())).chain(disturbances).collect();
    let areas = [Area::Plan, Area::Tool, Area::Host, Area::Storage].map(area_word);
    let is_known = |word: &&String| {
        areas.contains(&word.as_str()) || all.iter().any(|(area, name)| is_named(word, *area, name))
    };
    let word = across.iter().find(|word| !is_known(word))?;
    let names = all.iter().map(|(_, name)| *name).chain(areas);
    let near = nearest(word, names).map(|near| format!("; did you mean `{near}`?"));
    Some(format!(
        "no condition of these runs is named `{word}`{} (plan, tool, host and storage are groups \
         of conditions)",
        near.unwrap_or_default()
    ))
}

/// Reasons for not believing the results of a pair of phases, or for not setting them beside each
/// other.
pub fn doubts(labels: [&str; 2], pair: &Pair<'_>) -> Vec<Doubt> {
    let measured = pair.measured();
    let mut all = Vec::new();
    let sides = [&pair.baseline, &pair.run].into_iter().zip(&measured);
    for (label, (side, jobs)) in labels.into_iter().zip(sides) {
        let doubt = |unbelieved: bool, sentence: String| Doubt {
            run: label.to_owned(),
            phase: pair.baseline.name.to_owned(),
            sentence,
            unbelieved,
        };
        let unbelieved = side.verdict().filter(|(verdict, _)| !verdict.is_trusted());
        all.extend(unbelieved.map(|(_, line)| doubt(true, line.to_owned())));
        if side.left_out > 0 {
            let left_out = fmt::counted(side.left_out as u64, "repeat");
            let why = "which can be believed less than the others";
            all.push(doubt(false, format!("{left_out} left out, {why}.")));
        }
        let operations = jobs.iter().flat_map(|job| &job.operations);
        let failed: u64 = operations.filter_map(|op| op.failed).sum();
        if failed > 0 {
            let failed = fmt::counted(failed, "operation");
            all.push(doubt(false, format!("{failed} of {} failed.", pair.jobs[0])));
        }
    }
    all
}

/// Differences of the load of others in each phase.
fn disturbances(pairs: &[Pair<'_>]) -> Vec<Difference> {
    let mut phases: Vec<&Pair<'_>> = Vec::new();
    for pair in pairs {
        let is_new = |of: &&Pair<'_>| !of.baseline.is_same_phase(&pair.baseline);
        if phases.iter().all(is_new) {
            phases.push(pair);
        }
    }
    let of_phase = |pair: &&Pair<'_>| {
        let several = phases.len() > 1;
        let name = pair.baseline.name;
        let of = move |difference: Difference| {
            if several {
                Difference { name: format!("{} in {name}", difference.name), ..difference }
            } else {
                difference
            }
        };
        disturbances_of(pair).into_iter().map(of).collect::<Vec<_>>()
    };
    phases.iter().flat_map(of_phase).collect()
}

fn disturbances_of(pair: &Pair<'_>) -> Vec<Difference> {
    let first = pair.baseline.kept.first();
    let kinds = first.into_iter().flat_map(|phase| &phase.disturbances).map(|of| of.kind);
    let difference = |kind: DisturbanceKind| {
        let (mine, theirs) = (pair.baseline.disturbance(kind)?, pair.run.disturbance(kind)?);
        // The storage rests during a stop of any length.
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
    };
    kinds.filter_map(difference).collect()
}

/// Fairness of a comparison with these differences.
pub fn fairness(differences: &[Difference]) -> Fairness {
    let unfair = differences.iter().filter(|of| of.matters && !of.intended);
    let of = |difference: &Difference| match difference.area {
        Area::Plan => Fairness::OtherWork,
        _ => Fairness::OtherEnvironment,
    };
    unfair.map(of).max().unwrap_or_default()
}
