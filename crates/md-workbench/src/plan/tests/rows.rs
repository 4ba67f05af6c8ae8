//! Tests each row of the table against its support.

use super::*;
use crate::options::TABLE;
use candor_front::evidence::{self, Examples, Outcome, Partners};

const USUAL: &str = "--ranks 2 --precreate-per-set=30 --obj-per-proc=20 -o=/a";

/// Additional words for examples.
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
    let reading = reading(&words.join(" "));
    evidence::outcome(&reading.errors, &reading.texts, reading.instead, || {
        let mut lowered = lower(&reading, &TestHost)?;
        lowered.setup.asked.command.clear();
        let settings = (lowered.plan, lowered.phases, lowered.setup);
        Ok(Outcome::planned(lowered.notes, &settings))
    })
}

#[test]
fn rows_match_their_support() {
    let examples = Examples {
        usual: USUAL,
        partners: PARTNERS,
        readers: &[
            "md-workbench/src/session.rs",
            "md-workbench/src/output",
            "md-workbench/src/output.rs",
            "ior-family/src",
        ],
    };
    let broken = evidence::broken_rows(&TABLE, &examples, outcome);
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(evidence::wrong_defaults(&TABLE), Vec::<String>::new());
}
