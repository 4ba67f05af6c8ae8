//! Keys by name, and values as a command line gives them.

use proptest::prelude::*;

use super::*;
use crate::tests::arbitrary::values;
use crate::text::{short_name, to_json};

const PLAN: &str = r#"
[[target]]
name = "data"
path = "/srv/data"
size = "1g"

[[phase]]
name = "fill"
[[phase.job]]
targets = ["data"]
work.blocks = { mix = "write", size = "1m" }

[[phase]]
name = "serve"
stop = { time = "1m30s" }
[[phase.job]]
name = "readers"
targets = ["data"]
work.blocks = { engine = "io_uring", depth = 8 }
[[phase.job]]
name = "writers"
targets = ["data"]
work.blocks = { mix = "write" }
"#;

fn plan() -> Plan {
    read("plan.toml", PLAN).unwrap().0
}

/// The place that was set, and its value now; or what is wrong, and the remedy.
fn outcome(plan: &Plan, name: &str, value: &str) -> String {
    match set(plan, name, value) {
        Ok((changed, place)) => {
            let now = write::tree(&changed);
            let pointer = format!("/{place}").replace(['.', '['], "/").replace(']', "");
            format!("{place} = {}", now.pointer(&pointer).unwrap_or(&Value::Null))
        }
        Err(problem) => {
            format!("{}: {} -> {}", problem.rule, problem.message, problem.remedy)
        }
    }
}

#[test]
fn keys_go_by_as_much_of_their_path_as_is_needed() {
    let plan = plan();
    for (name, value, wanted) in [
        ("seed", "7", "seed = 7"),
        ("path", "/data/x", "target[0].path = \"/data/x\""),
        ("target.size", "2g", "target[0].size = \"2GiB\""),
        ("phase[1].stop.time", "30s", "phase[1].stop.time = \"30s\""),
        ("job[1].depth", "4", "phase[1].job[1].work.blocks.depth = 4"),
        ("phase[0].depth", "4", "phase[0].job[0].work.blocks.depth = 4"),
        (
            "phase[0].job.work.blocks.verify.interval",
            "8k",
            "phase[0].job[0].work.blocks.verify.interval = \"8KiB\"",
        ),
        (
            "phase[1].job[0].engine",
            "{ io_uring = { iopoll = true } }",
            "phase[1].job[0].work.blocks.engine = {\"io_uring\":{\"iopoll\":true}}",
        ),
        (
            "phase[1].job[0].work.blocks.engine.io_uring.iopoll",
            "true",
            "phase[1].job[0].work.blocks.engine.io_uring.iopoll = true",
        ),
        (
            "phase[0].job[0].work.blocks.size.read",
            "8k",
            "phase[0].job[0].work.blocks.size.read = \"8KiB\"",
        ),
        ("phase[0].job[0].name", "12", "phase[0].job[0].name = \"12\""),
        ("phase[0].cpus", "[0, 2]", "phase[0].job[0].placement.cpus = [0,2]"),
    ] {
        assert_eq!(outcome(&plan, name, value), wanted);
    }
}

#[test]
fn one_direction_of_a_value_for_all_leaves_the_others() {
    let (changed, _) = set(&plan(), "phase[0].job[0].work.blocks.size.read", "8k").unwrap();
    let size = &changed.phases[0].jobs[0].blocks().unwrap().size;
    assert_eq!((size.read.min().0, size.write.min().0), (8 << 10, 1 << 20));
}

#[test]
fn errors_name_the_key_the_rule_and_the_remedy() {
    let told = [
        ("depth", "4"),
        ("dept", "4"),
        ("size", "4k"),
        ("phase[7].ramp", "1s"),
        ("phase.job.stop.ops", "4"),
        ("phase[0].job.verify.interva", "4k"),
        ("phase[0].depth", "many"),
        ("phase[0].depth", "-1"),
        ("phase[0].mix", "raed"),
        ("phase[0].work.blocks.engine.mmap.x", "1"),
        ("phase[1].job[0].work.blocks.engine.mmap", "{}"),
        ("version", "99"),
        ("", "1"),
        ("a b", "1"),
    ]
    .map(|(name, value)| format!("{name}={value}\n  {}", outcome(&plan(), name, value)));
    insta::assert_snapshot!(told.join("\n"), @r#"
    depth=4
      ambiguous-key: `depth` can be phase[0].job[0].work.blocks.depth, phase[1].job[0].work.blocks.depth, phase[1].job[1].work.blocks.depth -> write as much of the path as only one of them has
    dept=4
      unknown-key: no key of this plan is called `dept`; did you mean `depth`? -> write depth
    size=4k
      ambiguous-key: `size` can be phase[0].job[0].work.blocks.size, phase[1].job[0].work.blocks.size, phase[1].job[1].work.blocks.size, target[0].size -> write as much of the path as only one of them has
    phase[7].ramp=1s
      unknown-key: `phase` has 2 entries -> write one of phase[0] to phase[1]
    phase.job.stop.ops=4
      unknown-key: `phase` has 2 entries -> write one of phase[0] to phase[1]
    phase[0].job.verify.interva=4k
      unknown-key: unknown key `verify` -> known here: name, workers, targets, sharing, rank_shift, rank_order, wants_cache, allows_cache, placement, threads, delay, after, prepare_only, only_on, part, background, on_done, hooks, operations_log, stop, work
    phase[0].depth=many
      type: `depth` is a whole number from 0 to 4294967295, not "many" -> write a value of that kind
    phase[0].depth=-1
      type: `depth` is a whole number from 0 to 4294967295, not -1 -> write 0 or more
    phase[0].mix=raed
      value: mix: `raed` is not read, write or trim -> write read, write or trim, or shares that add up to 100, such as read:70,write:30
    phase[0].work.blocks.engine.mmap.x=1
      unknown-key: unknown key `work` -> known here: name, stop, ramp, ramp_amount, delay, interval, repeats, on_failure, job
    phase[1].job[0].work.blocks.engine.mmap={}
      phase[1].job[0].work.blocks.engine.mmap = null
    version=99
      version: the plan is of version 99, and this candor reads versions up to 2 -> run it with the candor that wrote it, or a newer one
    =1
      unknown-key: no key of this plan is called `` -> give a key as candor run --dry-run prints it, or its whole path, such as phase.job.work.blocks.depth
    a b=1
      unknown-key: no key of this plan is called `a b` -> give a key as candor run --dry-run prints it, or its whole path, such as phase.job.work.blocks.depth
    "#);
}

proptest! {
    /// Every key of every plan goes by its short name, and setting it to its value changes nothing.
    #[test]
    fn keys_that_are_set_to_their_values_change_nothing(
        plan in values::<Plan>(2000), nth in any::<prop::sample::Index>()
    ) {
        let tree = write::tree(&plan);
        let mut leaves = Vec::new();
        list(&tree, &PlanPath::root(), &mut leaves);
        let (place, value) = nth.get(&leaves);
        let name = short_name(&plan, place);
        let (same, found) = set(&plan, &name, value).unwrap();
        prop_assert_eq!(&found, place, "{}", name);
        prop_assert_eq!(to_json(&same), to_json(&plan), "{} = {}", name, value);
    }
}

/// Keys with numbers, words and texts, and their values as TOML.
fn list(node: &Value, place: &PlanPath, leaves: &mut Vec<(PlanPath, String)>) {
    match node {
        Value::Object(entries) => {
            entries.iter().for_each(|(key, value)| list(value, &place.key(key), leaves));
        }
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            let each = elements.iter().enumerate();
            each.for_each(|(nth, value)| list(value, &place.index(nth), leaves));
        }
        Value::Null | Value::Array(_) => {}
        Value::String(text) => {
            leaves.push((place.clone(), toml::Value::from(text.as_str()).to_string()));
        }
        value => leaves.push((place.clone(), value.to_string())),
    }
}
