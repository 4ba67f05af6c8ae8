//! Conditions of the work: the keys of the plan, each with its value.

use candor_plan::{Phase, Plan};
use candor_record::results::{Area, Condition};
use serde_json::Value;

/// Keys of a phase or a job that do not change the question that results answer: names, lengths,
/// and additional records. A key includes all keys below.
const ALIKE_OF_JOBS: [&str; 15] = [
    "name",
    "targets",
    "buckets",
    "stop",
    "job.stop",
    "job.name",
    "ramp",
    "ramp_amount",
    "delay",
    "job.delay",
    "interval",
    "repeats",
    "on_failure",
    "operations_log",
    "measure",
];

/// The same for a target: facts of the storage describe the location of its files.
const ALIKE_OF_TARGETS: [&str; 10] = [
    "name",
    "path",
    "kind",
    "first_file",
    "file_name",
    "layout",
    "create",
    "keep",
    "remove",
    "overwrite",
];

/// The same for a bucket: its name and servers are conditions of the storage.
const ALIKE_OF_BUCKETS: [&str; 9] = [
    "name",
    "bucket",
    "prefix",
    "endpoints",
    "credentials",
    "ca_file",
    "create",
    "keep",
    "overwrite",
];

/// Conditions of the targets and buckets of a plan, and the seed of its random choices.
pub fn of_targets(plan: &Plan) -> Vec<Condition> {
    let Value::Object(keys) = tree(plan) else { return Vec::new() };
    let mut all = Vec::new();
    let targets: Vec<&str> = plan.targets.iter().map(|target| target.name.as_str()).collect();
    let buckets: Vec<&str> = plan.buckets.iter().map(|bucket| bucket.name.as_str()).collect();
    all.extend(of_each(keys.get("target"), "target", &targets, &ALIKE_OF_TARGETS));
    all.extend(of_each(keys.get("bucket"), "bucket", &buckets, &ALIKE_OF_BUCKETS));
    let seed = ("seed".to_owned(), plan.seed.to_string());
    all.push(Condition { area: Area::Plan, name: seed.0, value: seed.1, matters: false });
    all
}

/// Conditions of each table of a list; `names` are the names of the tables.
fn of_each(list: Option<&Value>, kind: &str, names: &[&str], alike: &[&str]) -> Vec<Condition> {
    let mut all = Vec::new();
    let tables = list.and_then(Value::as_array).into_iter().flatten();
    for (table, name) in tables.zip(names) {
        let of = if names.len() == 1 { kind.into() } else { format!("{kind} {name}") };
        let mut found = Vec::new();
        flatten(table, "", &mut found);
        all.extend(found.into_iter().map(|(key, value)| Condition {
            area: Area::Plan,
            matters: !is_alike(&key, alike),
            name: format!("{key} of {of}"),
            value,
        }));
    }
    all
}

/// Conditions of a job and its phase.
pub fn of_job(phase: &Phase, job: &str, features: &[String]) -> Vec<Condition> {
    let tree = tree(&Plan { phases: vec![phase.clone()], ..Plan::default() });
    let mut keys = Vec::new();
    let Some(Value::Object(of_phase)) = tree.get("phase").and_then(|phases| phases.get(0)) else {
        return Vec::new();
    };
    for (key, value) in of_phase.iter().filter(|(key, _)| *key != "job") {
        flatten(value, key, &mut keys);
    }
    let jobs = of_phase.get("job").and_then(Value::as_array).into_iter().flatten();
    let mut named = jobs.filter(|of| of.get("name").and_then(Value::as_str) == Some(job));
    for (key, value) in named.next().and_then(Value::as_object).into_iter().flatten() {
        match key.as_str() {
            // A job has one kind of work, which its keys identify.
            "work" => value.as_object().into_iter().flatten().for_each(|(kind, work)| {
                keys.push(("work".into(), kind.clone()));
                flatten(work, "", &mut keys);
            }),
            // Phases have keys of the same names.
            "name" | "stop" | "delay" => flatten(value, &format!("job.{key}"), &mut keys),
            _ => flatten(value, key, &mut keys),
        }
    }
    keys.push(("features of the engine".into(), features.join(", ")));
    keys.into_iter()
        .map(|(key, value)| Condition {
            area: Area::Plan,
            matters: !is_alike(&key, &ALIKE_OF_JOBS),
            name: key,
            value: if value.is_empty() { "none".into() } else { value },
        })
        .collect()
}

fn tree(plan: &Plan) -> Value {
    serde_json::from_str(&candor_plan::text::to_json(plan)).unwrap_or_default()
}

fn is_alike(key: &str, alike: &[&str]) -> bool {
    alike
        .iter()
        .any(|of| key.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Every value below a node by its path, tables within lists by their numbers.
fn flatten(node: &Value, path: &str, into: &mut Vec<(String, String)>) {
    match node {
        Value::Object(table) if path.is_empty() => {
            table.iter().for_each(|(key, value)| flatten(value, key, into));
        }
        Value::Object(table) => {
            table.iter().for_each(|(key, value)| flatten(value, &format!("{path}.{key}"), into));
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (nth, value) in list.iter().enumerate() {
                flatten(value, &format!("{path}[{nth}]"), into);
            }
        }
        Value::Array(list) => {
            let values: Vec<String> = list.iter().map(text).collect();
            into.push((path.to_owned(), values.join(", ")));
        }
        value => into.push((path.to_owned(), text(value))),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Null => "none".into(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::{Job, Target, Work};

    use super::*;

    fn plan(depth: u32, name: &str) -> Plan {
        let mut job = Job { name: name.into(), ..Job::default() };
        if let Work::Blocks(blocks) = &mut job.work {
            blocks.depth = depth;
        }
        let target = Target { name: name.into(), ..Target::default() };
        let phase = Phase { jobs: vec![job], ..Phase::default() };
        Plan { targets: vec![target], phases: vec![phase], ..Plan::default() }
    }

    fn differing(one: &[Condition], other: &[Condition]) -> Vec<(String, bool)> {
        one.iter()
            .filter(|of| other.iter().any(|other| other.name == of.name && other.value != of.value))
            .map(|of| (of.name.clone(), of.matters))
            .collect()
    }

    #[test]
    fn the_depth_matters_and_the_name_does_not() {
        let (one, other) = (plan(4, "a"), plan(8, "b"));
        let of = |plan: &Plan, job: &str| of_job(&plan.phases[0], job, &[]);
        let found = differing(&of(&one, "a"), &of(&other, "b"));
        assert_eq!(found, [("job.name".to_owned(), false), ("depth".to_owned(), true)]);
        let depth = of(&one, "a").into_iter().find(|of| of.name == "depth").unwrap();
        assert_eq!((depth.value.as_str(), depth.area), ("4", Area::Plan));
        let found = differing(&of_targets(&one), &of_targets(&other));
        assert_eq!(found, [("name of target".to_owned(), false)]);
    }

    fn bucket(name: &str, size: &str) -> Plan {
        let text = format!(
            "[[bucket]]\nbucket = \"{name}\"\nendpoints = [\"http://{name}:9000\"]\n\
             keys.tree = {{ items = 10, file_size = \"{size}\" }}\n"
        );
        let read = candor_plan::text::read("plan", &text);
        read.unwrap_or_else(|_| panic!("{text}")).0
    }

    #[test]
    fn the_size_of_objects_matters_and_the_place_of_their_bucket_does_not() {
        let found = differing(&of_targets(&bucket("a", "1m")), &of_targets(&bucket("b", "2m")));
        let expected = [
            ("bucket of bucket", false),
            ("keys.tree.file_size of bucket", true),
            ("endpoints of bucket", false),
        ];
        assert_eq!(found, expected.map(|(name, matters)| (name.to_owned(), matters)));
    }

    #[test]
    fn keys_that_are_alike_exist() {
        // A key that was renamed would matter from then on.
        let mut plan = plan(1, "a");
        plan.phases[0].jobs[0].stop = Some(plan.phases[0].stop.clone());
        let names: Vec<String> =
            of_job(&plan.phases[0], "a", &[]).into_iter().map(|condition| condition.name).collect();
        let optional = ["ramp_amount", "operations_log", "buckets"];
        for key in ALIKE_OF_JOBS.iter().filter(|key| !optional.contains(key)) {
            assert!(names.iter().any(|name| is_alike(name, &[key])), "{key} of {names:?}");
        }
    }
}
