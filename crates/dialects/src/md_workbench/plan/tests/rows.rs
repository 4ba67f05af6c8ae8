//! Each row of the table does what its support says.

use super::*;
use crate::kit::evidence::{self, Outcome, Partners, Sources};
use crate::md_workbench::options::TABLE;

const USUAL: &str = "--ranks 2 --precreate-per-set=30 --obj-per-proc=20 -o=/a";

/// Words that examples need beside them, other than the usual ones.
const PARTNERS: &Partners = &[
    ("--ranks 2 --stonewall-timer=5 -o=/a", &["stonewall-wear-out"]),
    ("--ranks 2 --stonewall-wear-out=1 -o=/a", &["stonewall-timer"]),
    ("--ranks 2 --start-item=5 -o=/a", &["run-benchmark", "run-cleanup"]),
    ("--ranks 1 -o=/a", &["offset"]),
    ("--ranks 2 --run-benchmark=1 --run-info-file=known -o=/a", &["start-item"]),
    ("--ranks 2 --object-size=4096 -o=/a", &["posix.odirect"]),
    ("--ranks 2 --run-precreate=1 -o=/a", &["ignore-precreate-errors"]),
    ("--ranks 2 --latency=p -o=/a", &["latency-all"]),
];

fn outcome(words: &[String]) -> Result<Outcome, String> {
    let argv = ["md-workbench".to_owned()].into_iter().chain(words.iter().cloned());
    let argv: Vec<OsString> = argv.map(OsString::from).collect();
    let reading = read(&argv, &mut Nothing);
    if reading.errors.is_empty()
        && let Some(instead) = reading.instead
    {
        return Ok(Outcome { effects: format!("{instead:?}"), ..Outcome::default() });
    }
    let mut lowered = lowered(&words.join(" ")).map_err(|errors| errors.join("\n"))?;
    lowered.setup.asked.command.clear();
    Ok(Outcome {
        effects: String::new(),
        notes: lowered.notes,
        settings: format!("{:#?}", (lowered.plan, lowered.phases, lowered.setup)),
    })
}

/// Sources that run a plan, and those that act on other options or print.
const READERS: &[&str] = &[
    "candor/src/commands/md_workbench.rs",
    "candor/src/commands/md_workbench",
    "candor/src/commands/foreign",
    "dialects/src/md_workbench/output",
    "dialects/src/md_workbench/output.rs",
    "dialects/src/ior_family",
    "engine/src",
    "entries/src",
    "plan/src/entries.rs",
    "plan/src/rank.rs",
    "plan/src/tree.rs",
    "run/src",
];

#[test]
fn every_row_does_what_its_support_says() {
    let sources = Sources::of(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), READERS);
    let partners = |option: &str| match evidence::partners(PARTNERS, option) {
        "" => USUAL,
        words => words,
    };
    let broken = evidence::broken_rows(&TABLE, &sources, partners, outcome);
    assert!(broken.is_empty(), "{broken:#?}");
}
