//! The work of two plans, key by key.

use std::path::Path;

use candor_plan::blocks::{Content, Fill};
use candor_plan::units::Extent;
use candor_plan::{
    Bytes, Create, Job, Layout, Measure, OnFailure, PathText, Phase, Plan, Stop, Target,
};
use candor_plan::{Sharing, TargetKind, text};
use serde_json::Value;

/// Maximum number of reported differences.
const TOLD: usize = 8;

/// Sentences on the differences of another plan that should do the same work. Names, creation of
/// files and observation do not count as work.
pub(super) fn differences(plan: &Plan, other: &Plan) -> Vec<String> {
    let [one, two] = [plan, other].map(|plan| {
        let json = text::to_json(&bare(plan));
        serde_json::from_str(&json).unwrap_or(Value::Null)
    });
    let mut told = Vec::new();
    compare("", &one, &two, &mut told);
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

fn compare(place: &str, one: &Value, two: &Value, told: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let more = two.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(more) {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                let [one, two] = [one, two].map(|of| of.get(key).unwrap_or(&Value::Null));
                compare(&place, one, two, told);
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            for (nth, (one, two)) in one.iter().zip(two).enumerate() {
                compare(&format!("{place}[{nth}]"), one, two, told);
            }
        }
        _ if one == two => {}
        _ => {
            let [one, two] = [one, two].map(|of| match of {
                Value::Null => "nothing".to_owned(),
                of => of.to_string(),
            });
            told.push(format!("{place}: the plan has {one}, fio's words have {two}"));
        }
    }
}

/// The plan with nothing but its work.
fn bare(plan: &Plan) -> Plan {
    let phases = plan.phases.iter().map(|phase| bare_phase(plan, phase));
    let mut targets: Vec<Target> = plan.targets.iter().map(bare_target).collect();
    targets.sort_by(|one, two| one.path.cmp(&two.path));
    targets.dedup();
    let phases = phases.collect();
    Plan { name: String::new(), seed: 1, targets, phases, ..plan.clone() }
}

fn bare_target(target: &Target) -> Target {
    Target {
        name: path(target),
        kind: match target.kind {
            TargetKind::Device => TargetKind::File,
            kind => kind,
        },
        layout: Layout::default(),
        create: Create::default(),
        keep: false,
        remove: false,
        overwrite: false,
        ..target.clone()
    }
}

fn path(target: &Target) -> String {
    target.path.text()
}

fn bare_phase(plan: &Plan, phase: &Phase) -> Phase {
    let jobs = phase.jobs.iter().flat_map(|job| {
        let bare = bare_job(plan, phase, job);
        // Workers that share all but the rate, and as many jobs, do the same.
        let pace = bare.blocks().filter(|_| job.sharing == Sharing::Shared);
        let pace = pace.and_then(|blocks| super::pace_of_each(&blocks.pace, job.workers));
        match pace {
            None => std::iter::repeat_n(bare, 1),
            Some(pace) => {
                let mut each = Job { workers: 1, ..bare };
                if let Some(blocks) = each.blocks_mut() {
                    blocks.pace = pace;
                }
                std::iter::repeat_n(each, job.workers as usize)
            }
        }
    });
    Phase {
        name: String::new(),
        interval: Phase::default().interval,
        on_failure: OnFailure::default(),
        stop: Stop::default(),
        jobs: jobs.collect(),
        ..phase.clone()
    }
}

fn bare_job(plan: &Plan, phase: &Phase, job: &Job) -> Job {
    let targets = job.targets.iter().filter_map(|name| plan.target(name));
    let targets: Vec<&Target> = targets.collect();
    let mut bare = Job {
        name: String::new(),
        targets: targets.iter().map(|target| path(target)).collect(),
        stop: Some(job.stop.clone().unwrap_or_else(|| phase.stop.clone())),
        ..job.clone()
    };
    let size = if let [target] = targets[..] { size_of(target) } else { None };
    if let Some(blocks) = bare.blocks_mut() {
        blocks.measure = Measure::default();
        // A range that goes to the end of the file needs no length.
        let start = super::start(blocks);
        blocks.range.length = blocks.range.length.filter(|length| match (length, size) {
            (Extent::Bytes(length), Some(size)) => start.saturating_add(length.0) != size.0,
            _ => true,
        });
        // To hand over, and to take, as many as the depth is to do so with all there are.
        let all = if blocks.engine.takes_many() { blocks.depth } else { 1 };
        for batch in [&mut blocks.batch_submit, &mut blocks.batch_reap_max] {
            *batch = Some(batch.map_or(all, |batch| batch.min(all)));
        }
        match blocks.content.fill {
            _ if blocks.mix.write == 0 => blocks.content = Content::default(),
            // Either way the bytes are random, and no two blocks of them alike.
            Fill::Fresh => blocks.content.fill = Fill::Pool,
            _ => {}
        }
        let pace = &mut blocks.pace;
        if let Some(only) = super::one_direction(blocks.mix) {
            let ops = pace.per_direction.take().map(|rates| *rates.of(only));
            pace.ops = pace.ops.or(ops).filter(|rate| rate.0 > 0);
            let bytes = pace.bytes_per_direction.take().map(|rates| *rates.of(only));
            pace.bytes = pace.bytes.or(bytes).filter(|rate| rate.0 > 0);
        }
    }
    bare
}

/// The size of a target, as the plan or the file itself has it.
fn size_of(target: &Target) -> Option<Bytes> {
    let found = |path: &Path| std::fs::metadata(path).ok().map(|of| Bytes(of.len()));
    target.size.or_else(|| found(&target.path))
}
