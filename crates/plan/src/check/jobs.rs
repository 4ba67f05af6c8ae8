//! Jobs: their targets, workers and placement.

use std::collections::HashSet;

use super::whole::time_limit;
use super::{CPU_MAX, FILES_MAX, Found, Known, PARTS_MAX, WORKERS_MAX};
use super::{listing, threads};
use crate::blocks::{Flow, Share};
use crate::{
    Job, Phase, Plan, PlanPath, RankOrder, Sharing, Target, TargetKind, Work, nearest, rank,
};

pub(super) fn check(known: &Known<'_>, job: &Job, at: &PlanPath, out: &mut Found) {
    out.count("workers", at.key("workers"), job.workers.into(), WORKERS_MAX.into());
    time_limit(job.delay, at.key("delay"), out);
    check_targets(known, job, at, out);
    placement(job, &at.key("placement"), out);
    threads::check(&job.threads, &at.key("threads"), out);
    let ranks = known.plan.ranks(job);
    rank_shift(job, ranks, at.key("rank_shift"), out);
    rank_order(job, ranks, &at.key("rank_order"), out);
    part(known.plan, job, at.key("part"), out);
    wants_cache(job, at.key("wants_cache"), out);
    hooks(job, &at.key("hooks"), out);
    operations_log(known, job, &at.key("operations_log"), out);
}

/// A job waits only for earlier jobs, so that no two wait for each other.
pub(super) fn check_after(phase: &Phase, index: usize, at: &PlanPath, out: &mut Found) {
    let earlier = &phase.jobs[..index];
    for (i, name) in phase.jobs[index].after.iter().enumerate() {
        if !earlier.iter().any(|job| job.name == *name) {
            let message = format!("no earlier job of this phase is named {name}");
            out.error("after", at.index(i), message, "name an earlier job of the same phase");
        }
    }
}

/// Jobs of one flow share the same thing.
pub(super) fn check_flow(phase: &Phase, index: usize, at: &PlanPath, out: &mut Found) {
    let job = &phase.jobs[index];
    let Some(own) = flow_of(job) else { return };
    let mut earlier = phase.jobs[..index].iter();
    let other = earlier
        .find(|job| flow_of(job).is_some_and(|flow| flow.id == own.id && flow.bytes != own.bytes));
    if let Some(other) = other {
        let kind = job.work.name();
        let at = at.key("work").key(kind).key("pace").key("flow").key("bytes");
        let message = format!("{} shares another amount in flow {}", other.name, own.id);
        out.error("flow", at, message, "let both share bytes, or both operations");
    }
}

fn flow_of(job: &Job) -> Option<Flow> {
    match &job.work {
        Work::Blocks(blocks) => blocks.pace.flow,
        Work::Entries(entries) => entries.pace.flow,
        Work::Objects(objects) => objects.pace.flow,
        _ => None,
    }
}

/// The ranks of a part are some of all, on one host.
fn part(plan: &Plan, job: &Job, at: PlanPath, out: &mut Found) {
    let Some(part) = job.part else { return };
    let last = part.first.checked_add(u64::from(job.workers));
    if last.is_none_or(|last| last > part.of) || part.of > WORKERS_MAX.into() {
        let message = format!(
            "{} workers from rank {} on are no part of {} ranks",
            job.workers, part.first, part.of
        );
        out.error("part", at, message, "give as many ranks as all jobs have workers");
    } else if plan.hosts > 1 {
        let message = "the ranks of a part count within one host, and the plan has several";
        out.error("part", at, message, "remove part, or use one host");
    }
}

fn hooks(job: &Job, at: &PlanPath, out: &mut Found) {
    let hooks = [("before", &job.hooks.before), ("after", &job.hooks.after)];
    for (key, hook) in hooks.into_iter().filter_map(|(key, hook)| Some((key, hook.as_ref()?))) {
        if hook.command.trim().is_empty() {
            let message = format!("the command {key} the job is empty");
            let remedy = format!("give a command, or remove hooks.{key}");
            out.error("hook", at.key(key).key("command"), message, remedy);
        }
    }
}

/// The log is a separate file, of a job with operations.
fn operations_log(known: &Known<'_>, job: &Job, at: &PlanPath, out: &mut Found) {
    let Some(log) = &job.operations_log else { return };
    let place = at.key("file");
    if log.file.as_os_str().is_empty() {
        let message = "the log of operations has no file";
        out.error("operations-log", place.clone(), message, "name a file");
    } else if let Some(target) = known.plan.targets.iter().find(|target| target.path == log.file) {
        let message = format!("the log of operations is the target {}", target.name);
        out.error("operations-log", place.clone(), message, "name a file that no job works on");
    }
    if matches!(job.work, Work::Program(_) | Work::Burn(_)) {
        let message = format!("job {} has no operations to log", job.name);
        out.error("operations-log", place, message, "remove operations_log");
    }
}

fn check_targets(known: &Known<'_>, job: &Job, at: &PlanPath, out: &mut Found) {
    let at = at.key("targets");
    let needs_none = !matches!(job.work, Work::Blocks(_) | Work::Entries(_));
    if job.targets.is_empty() && !needs_none {
        let message = format!("job {} names no target", job.name);
        let known: Vec<_> = known.plan.targets.iter().map(|t| format!("\"{}\"", t.name)).collect();
        let remedy = if known.is_empty() {
            "add a [[target]] section and name it here".to_owned()
        } else {
            format!("set targets = [{}]", known.join(", "))
        };
        out.error("no-target", at.clone(), message, remedy);
    }
    if job.targets.len() > PARTS_MAX {
        let message = format!("{} targets are more than {PARTS_MAX}", job.targets.len());
        out.error("parts-limit", at, message, "use a file set");
        return;
    }
    let mut seen = HashSet::new();
    for (i, name) in job.targets.iter().enumerate() {
        let place = at.index(i);
        if !seen.insert(name) {
            let message = format!("target {name} is named twice, so it is used twice as often");
            out.warning("duplicate-target", place.clone(), message, "name it once");
        }
        let in_tree = job.entries().is_some_and(|entries| !entries.over.is_of_targets());
        match known.targets.get(name.as_str()).copied() {
            Some(target) if in_tree && i > 0 && !is_dealt(job, target, known) => {
                let message = "names are dealt among trees of one shape, and this is another one";
                let remedy = "give all trees of the job one shape, or use a job for each";
                out.error("entries-target", place, message, remedy);
            }
            Some(target) => suits(job, target, place, out),
            None => unknown(known.plan, name, place, out),
        }
    }
    taken(known, job, &at, out);
    let targets = job.targets.iter().filter_map(|name| known.targets.get(name.as_str()));
    let files: u64 = targets.map(|target| target.files_named()).sum();
    if files > u64::from(u32::MAX) {
        let message = format!("the targets of job {} have {files} files", job.name);
        out.error("files", at, message, format!("use at most {}", u32::MAX));
    }
}

/// Items are taken from one tree with a shape, and go to a tree of the same shape.
fn taken(known: &Known<'_>, job: &Job, at: &PlanPath, out: &mut Found) {
    let take = job.entries().and_then(|entries| entries.take.as_ref());
    let (Some(take), [first, more @ ..]) = (take, &job.targets[..]) else { return };
    let Some(tree) = known.tree(first) else { return };
    if !more.is_empty() {
        let message = "items are taken from the table of one tree";
        out.error("take-tree", at.index(1), message, "use a job for each target");
    }
    if tree.has_own_items() {
        let message = format!("target {first} has items of each rank, and none are shared");
        out.error("take-tree", at.index(0), message, "remove per_rank and items_per_rank");
    }
    let Some(to) = &take.to else { return };
    if to == first || known.tree(to) != Some(tree) {
        let message = format!("{to} is not another target with a tree of the same shape");
        out.error("take-to", at.index(0), message, "give both trees one shape");
    }
}

fn unknown(plan: &Plan, name: &str, place: PlanPath, out: &mut Found) {
    // A few dozen names are compared and shown; more would not help.
    let names = plan.targets.iter().map(|target| target.name.as_str());
    let names: Vec<&str> = names.take(50).collect();
    let (message, remedy) = match nearest(name, names.iter().copied()) {
        Some(meant) => {
            (format!("there is no target {name}; did you mean {meant}?"), format!("write {meant}"))
        }
        None if plan.targets.is_empty() => {
            (format!("there is no target {name}"), "add a [[target]] section".to_owned())
        }
        None => (format!("there is no target {name}"), format!("known: {}", names.join(", "))),
    };
    out.error("unknown-target", place, message, remedy);
}

/// The kind of work suits the kind of target.
fn suits(job: &Job, target: &Target, place: PlanPath, out: &mut Found) {
    let name = &target.name;
    let uses = job.blocks().is_some_and(crate::Blocks::uses_targets);
    if job.blocks().is_some() && target.files_named() > FILES_MAX.into() {
        let message = format!("target {name} has {} files, and all are open", target.files);
        out.error("files", place.clone(), message, format!("use at most {FILES_MAX}"));
    }
    if job.entries().is_some_and(|entries| entries.over.is_of_targets()) {
        if !matches!(target.kind, TargetKind::File | TargetKind::FileSet) {
            let message = format!("steps over names of targets need to know what {name} names");
            let remedy = "set its kind to \"file\" or \"file_set\"";
            out.error("entries-target", place.clone(), message, remedy);
        }
        if !target.keep && job.work.destroys().is_none() {
            let message = format!("steps over names leave the files of {name} where they are");
            out.error("entries-keep", place, message, "set keep = true at the target");
        }
        return;
    }
    match target.kind {
        TargetKind::Tree if job.blocks().is_some() => {
            let message = format!("target {name} is a tree, and blocks need files or devices");
            out.error("blocks-on-tree", place, message, "use a file set");
        }
        TargetKind::Null if uses => {
            let message = format!("target {name} is null and can neither be read nor written");
            out.error("null-target", place, message, "set engine = \"null\"");
        }
        TargetKind::Tree => {
            if let (Some(entries), Some(listed)) = (job.entries(), &target.listing) {
                listing::check_job(job, entries, listed, place, out);
            }
        }
        _ if job.entries().is_some() => {
            let message = format!("target {name} is not a tree, and entries need one");
            out.error("entries-target", place, message, "set its kind to \"tree\"");
        }
        _ => {}
    }
}

fn placement(job: &Job, at: &PlanPath, out: &mut Found) {
    let placement = &job.placement;
    if placement.split && placement.cpus.is_empty() {
        let message = "split is set, but no cpus are named";
        out.error("split", at.key("split"), message, "set cpus, or remove split");
    }
    let mut seen = HashSet::new();
    for (i, cpu) in placement.cpus.iter().enumerate() {
        let place = at.key("cpus").index(i);
        if *cpu > CPU_MAX {
            let message = format!("there is no CPU {cpu}");
            out.error("cpu", place, message, format!("use 0 to {CPU_MAX}"));
        } else if !seen.insert(cpu) {
            let message = format!("CPU {cpu} is named twice");
            out.warning("duplicate-cpu", place, message, "name it once");
        }
    }
    if let Some(node) = placement.numa_node.filter(|node| *node > CPU_MAX) {
        let message = format!("there is no NUMA node {node}");
        out.error("numa-node", at.key("numa_node"), message, format!("use 0 to {CPU_MAX}"));
    }
}

/// A shift that leaves every worker with its own data defeats its purpose, silently.
fn rank_shift(job: &Job, ranks: u64, place: PlanPath, out: &mut Found) {
    if job.rank_shift == 0 || job.workers == 0 {
        return;
    }
    if job.rank_shift.unsigned_abs() > u64::from(u32::MAX) {
        let message = format!("rank_shift is {}, more than there can be ranks", job.rank_shift);
        out.error("rank-shift", place, message, "shift by less than the number of ranks");
        return;
    }
    if all_use_all(job) {
        let message = format!("rank_shift is {}, but all workers use all data", job.rank_shift);
        out.warning("rank-shift", place, message, "set sharing = \"own\", or share the range");
    } else if rank::data_rank(0, ranks, job.rank_shift) == 0 {
        let on = if ranks > job.workers.into() { "on all hosts" } else { "on one host" };
        let shift = job.rank_shift;
        let message =
            format!("rank_shift is {shift} with {ranks} workers {on}: each works on its own data");
        out.warning("rank-shift", place, message, "use a shift that their number does not divide");
    }
}

/// True where it makes no difference on whose data a worker works.
fn all_use_all(job: &Job) -> bool {
    let whole = job.blocks().is_some_and(|blocks| blocks.share == Share::Whole);
    job.sharing == Sharing::Shared && whole
}

/// A random order is instead of a shift, and of data that belongs to ranks.
fn rank_order(job: &Job, ranks: u64, at: &PlanPath, out: &mut Found) {
    let RankOrder::Random { distance, repeats, .. } = job.rank_order else { return };
    if job.rank_shift != 0 {
        let message = "rank_shift and rank_order both select the data of workers";
        out.error("rank-order", at.clone(), message, "remove one of them");
    } else if job.blocks().is_none() {
        let message = "only blocks work with a random order of ranks";
        out.error("rank-order", at.clone(), message, "use rank_shift, or remove rank_order");
    } else if distance > 0 && !repeats {
        let message = "where each rank is taken once, none can be kept away";
        out.error(
            "rank-order",
            distance_key(at),
            message,
            "set repeats = true, or remove distance",
        );
    } else if distance >= ranks && ranks > 0 {
        let message = format!("no rank of {ranks} is {distance} further on");
        out.error("rank-order", distance_key(at), message, "set it below the number of workers");
    } else if all_use_all(job) {
        let message = "the order of ranks is random, but all workers use all data";
        let remedy = "set sharing = \"own\", or share the range";
        out.warning("rank-order", at.clone(), message, remedy);
    }
}

fn distance_key(at: &PlanPath) -> PlanPath {
    at.key("random").key("distance")
}

/// A cache that is wanted must be there, and neither passed by nor emptied.
fn wants_cache(job: &Job, place: PlanPath, out: &mut Found) {
    if !job.wants_cache {
        return;
    }
    let [direct, evicts, cached] = match &job.work {
        Work::Blocks(blocks) => {
            let engine = &blocks.engine;
            let cached = engine.uses_targets() && !engine.is_passthrough();
            [blocks.direct, blocks.hints.evict, cached]
        }
        Work::Entries(entries) => [entries.direct, entries.evict, true],
        Work::Objects(_) | Work::Memory(_) | Work::Program(_) | Work::Burn(_) => {
            [false, false, false]
        }
    };
    let (message, remedy) = match (cached, direct, evicts) {
        (false, ..) => ("a cache is wanted, and this work meets none", "remove wants_cache"),
        (_, true, _) => {
            ("a cache is wanted, and direct I/O goes past it", "remove direct, or wants_cache")
        }
        (.., true) => ("a cache is wanted, and evict empties it", "remove evict, or wants_cache"),
        _ => return,
    };
    out.error("wants-cache", place, message, remedy);
}

/// True for a tree of the same shape as the job's first.
fn is_dealt(job: &Job, target: &Target, known: &Known<'_>) -> bool {
    let first = job.targets.first().and_then(|name| known.targets.get(name.as_str()));
    first.is_some_and(|first| (&first.tree, &first.listing) == (&target.tree, &target.listing))
}
