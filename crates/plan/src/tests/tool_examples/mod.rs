//! Walks: foreign command lines, built as plans by hand, as the tools build them.
//!
//! Walks prove that the model can express the commands of other tools. Each walk builds its plan in
//! Rust and reads it from TOML, compares, sends it through both texts, checks it, and states what
//! single ranks do.

mod elbencho;
mod fio;
mod ior;
mod loader;
mod mdtest;
mod vdbench;

use std::collections::BTreeSet;

use crate::entries::{Entries, Over, Step};
use crate::{Job, Phase, Plan, check, text};

fn read(text: &str) -> Plan {
    match text::read("walk", text) {
        Ok((plan, _)) => plan,
        Err((problems, source)) => {
            panic!("{:#?}", problems.iter().map(|p| source.describe(p)).collect::<Vec<_>>())
        }
    }
}

/// Both forms of the plan are the same, survive both texts, and break just these rules.
fn walk(built: &Plan, toml: &str, rules: &[&str]) {
    assert_eq!(read(toml), *built);
    assert_eq!(read(&text::write(built)), *built);
    assert_eq!(serde_json::from_str::<Plan>(&text::to_json(built)).as_ref().ok(), Some(built));
    let problems = check::check(built);
    let broken: BTreeSet<_> = problems.iter().map(|p| p.rule).collect();
    assert_eq!(broken.into_iter().collect::<Vec<_>>(), rules, "{problems:#?}");
}

/// A phase of one job on the target `tree`.
fn entries_phase(name: &str, workers: u32, over: Over, steps: &[Step]) -> Phase {
    let entries = Entries { over, steps: steps.to_vec(), ..Entries::default() };
    let job = Job { workers, targets: vec!["tree".into()], work: entries.into(), ..Job::default() };
    Phase { name: name.into(), jobs: vec![job], ..Phase::default() }
}
