//! Tests each row of the table against its support.

use super::*;
use crate::options::TABLE;
use candor_front::evidence::{self, Examples, Outcome, Partners};

const USUAL: &str = "--ranks 2 -n=10 -w=100 -e=100 -d=/a";

/// Additional words for examples.
const PARTNERS: &Partners = &[
    ("--ranks 2 -z=2 -b=2 -n=28 -d=/a", &["L", "u"]),
    ("--ranks 2 -z=1 -b=2 -d=/a", &["I"]),
    ("--ranks 2 -n=10 -u=1 -d=/a", &["d"]),
    ("--ranks 4 -n=10 -f=1 -d=/a", &["l"]),
    ("--ranks 4 -n=10 -l=4 -d=/a", &["f"]),
    ("--ranks 4 -n=10 -f=1 -l=4 -d=/a", &["s"]),
    ("--ranks 2 -n=10 -R=1 -d=/a", &["random-seed"]),
    ("--ranks 2 -n=10 -W=5 -d=/a", &["x"]),
    ("--ranks 2 -n=10 -F=1 -w=100 -d=/a", &["S", "y", "verify-write"]),
    ("--ranks 2 -n=10 -F=1 -d=/a", &["k", "w"]),
    ("--ranks 2 -n=10 -F=1 -w=4096 -d=/a", &["e", "posix.odirect"]),
    ("--ranks 2 -n=10 -F=1 -w=100 -e=100 -d=/a", &["verify-read"]),
    ("--ranks 2 -n=10 -D=1 -d=/a", &["U"]),
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
            "mdtest/src/session.rs",
            "mdtest/src/output",
            "mdtest/src/output.rs",
            "ior-family/src",
        ],
    };
    let broken = evidence::broken_rows(&TABLE, &examples, outcome);
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(evidence::wrong_defaults(&TABLE), Vec::<String>::new());
}
