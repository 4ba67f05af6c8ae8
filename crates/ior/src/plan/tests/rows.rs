//! Tests each row of the table against its support.

use super::*;
use crate::options::TABLE;
use candor_front::evidence::{self, Examples, Outcome, Partners};

const BOTH: &str = "--ranks 4 --writeFile=1 --readFile=1 --blockSize=1m --transferSize=64k \
                    --testFile=/d/f";

/// Pauses of the back end without files.
const DUMMY_DELAYS: &[&str] = &["dummy.delay-xfer", "dummy.delay-create", "dummy.delay-close"];

/// Words that examples need in addition to [`BOTH`].
const PARTNERS: &Partners = &[
    ("--ranks 4 --api=AIO --testFile=/d/f", &["aio.max-pending", "aio.granularity"]),
    ("--ranks 4 --api=MMAP --testFile=/d/f", &["mmap.madv_dont_need", "mmap.madv_pattern"]),
    ("--ranks 4 --api=DUMMY --testFile=/d/f", DUMMY_DELAYS),
    ("--ranks 4 --randomOffset=1 --testFile=/d/f", &["random-offset-seed", "randomPrefill"]),
    ("--ranks 4 --filePerProc=1 --testFile=/d/f", &["uniqueDir"]),
    ("--ranks 4 --repetitions=2 --testFile=/d/f", &["interTestDelay", "multiFile"]),
    ("--ranks 4 --reorderTasksRandom=1 --testFile=/d/f", &["reorderTasksRandomSeed"]),
    ("--ranks 4 --writeFile=1 --testFile=/d/f", &["reorderTasks"]),
    (
        "--ranks 4 --reorderTasksConstant=1 --testFile=/d/f",
        &["taskPerNodeOffset", "numTasksOnNode0"],
    ),
    ("--ranks 4 --deadlineForStonewalling=5 --testFile=/d/f", &["stoneWallingWearOut"]),
    (
        "--ranks 4 --deadlineForStonewalling=5 --stoneWallingWearOut=1 --keepFile=1 \
         --testFile=/d/f",
        &["stoneWallingStatusFile"],
    ),
    (
        "--ranks 4 --writeFile=1 --checkRead=1 --testFile=/d/f",
        &["keepFileWithError", "quitOnError"],
    ),
];

fn outcome(words: &[String]) -> Result<Outcome, String> {
    let files = [("script", "IOR START\nRUN\nRUN\nIOR STOP\n"), ("status", "5\n")];
    let reading = reading_in(&words.join(" "), &files);
    evidence::outcome(&reading.errors, &reading.texts, reading.instead, || {
        let mut lowered = lower(&reading, &things())?;
        lowered.setup.command.clear();
        let settings = (lowered.plan, lowered.phases, lowered.setup);
        Ok(Outcome::planned(lowered.notes, &settings))
    })
}

#[test]
fn rows_match_their_support() {
    let examples = Examples {
        usual: BOTH,
        partners: PARTNERS,
        readers: &[
            "ior/src/session.rs",
            "ior/src/schedule.rs",
            "ior/src/output",
            "ior/src/output.rs",
        ],
    };
    let broken = evidence::broken_rows(&TABLE, &examples, outcome);
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(evidence::wrong_defaults(&TABLE), Vec::<String>::new());
}
