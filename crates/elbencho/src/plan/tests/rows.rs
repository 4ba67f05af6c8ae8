//! Tests each row of the table against its support.

use std::ffi::OsString;

use super::*;
use crate::options::TABLE;
use candor_front::evidence::{self, Examples, Outcome, Partners};

const FOLDER: &str = "--write --read --mkdirs --threads=4 --dirs=3 --size=64k --block=16k /d";

/// Words that examples need in addition to [`FOLDER`].
const PARTNERS: &Partners = &[
    ("--write --size=64k /d", &["mkdirs"]),
    (
        "--write --threads=4 --size=64m --block=16k /f",
        &[
            "rand",
            "backward",
            "strided",
            "nofdsharing",
            "mmap",
            "preallocfile",
            "trunctosize",
            "rwmixpct",
            "verify",
        ],
    ),
    (
        "--write --rand --threads=4 --size=64m --block=16k /f",
        &["norandalign", "randamount", "randalgo"],
    ),
    ("--read --mmap --size=64m --block=16k /f", &["madv"]),
    ("--write --verify=1 --size=64k /d", &["verifydirect"]),
    ("--write --threads=4 --infloop --timelimit=5 --rwmixthr=1 --size=64m /f", &["rwmixthrpct"]),
    (
        "--write --threads=4 --treefile=/list /d",
        &["sharesize", "treeroundup", "treerand", "treeroundrob"],
    ),
    ("--write --read --hosts=a,b --size=64k /d", &["numhosts", "nosvcshare", "rotatehosts"]),
    ("--write --size=1m /new[1-2]", &["nopathexp"]),
    ("--write --opslog=f --size=64k /d", &["opsloglock"]),
];

fn outcome(words: &[String]) -> Result<Outcome, String> {
    // The host of these tests has one list.
    let words = words.iter().map(|word| word.replace("treefile=f", "treefile=/list"));
    let argv: Vec<OsString> =
        ["elbencho".to_owned()].into_iter().chain(words).map(Into::into).collect();
    // A file of options or of hosts.
    let is_of_hosts = argv.iter().any(|word| word.to_string_lossy().starts_with("--hostsfile"));
    let files = [("f", if is_of_hosts { "a b" } else { "iterations=2" })];
    let reading = read(&argv, &mut Surroundings { files: &files, ..Surroundings::default() });
    evidence::outcome(&reading.errors, &reading.texts, reading.instead, || {
        let mut lowered = lower(&reading, &host())?;
        lowered.setup.asked.command.clear();
        let settings = (lowered.plan, lowered.phases, lowered.setup);
        Ok(Outcome::planned(lowered.notes, &settings))
    })
}

#[test]
fn rows_match_their_support() {
    let examples = Examples {
        usual: FOLDER,
        partners: PARTNERS,
        readers: &[
            "candor/src/commands/tools/elbencho.rs",
            "candor/src/commands/tools/elbencho",
            "elbencho/src/output",
            "elbencho/src/output.rs",
        ],
    };
    let broken = evidence::broken_rows(&TABLE, &examples, outcome);
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(evidence::wrong_defaults(&TABLE), Vec::<String>::new());
}
