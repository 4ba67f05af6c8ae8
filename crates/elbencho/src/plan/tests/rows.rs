//! Each row of the table does what its support says.

use super::*;
use crate::options::{Reading, TABLE};
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

/// A file of options, or of hosts.
struct OneFile(&'static str);

impl candor_front::Environment for OneFile {
    fn file(&mut self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.as_bytes().to_vec())
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

fn reading(words: &[String]) -> Reading {
    let is_of_hosts = words.iter().any(|word| word.starts_with("--hostsfile"));
    let argv: Vec<_> = std::iter::once("elbencho")
        .chain(words.iter().map(String::as_str))
        .map(Into::into)
        .collect();
    read(&argv, &mut OneFile(if is_of_hosts { "a b" } else { "iterations=2" }))
}

fn outcome(words: &[String]) -> Result<Outcome, String> {
    // The host of these tests has one list.
    let words: Vec<_> =
        words.iter().map(|word| word.replace("treefile=f", "treefile=/list")).collect();
    let reading = reading(&words);
    let told = |errors: &[Diagnostic]| {
        errors.iter().map(|error| error.describe(&reading.texts)).collect::<Vec<_>>().join("\n")
    };
    if !reading.errors.is_empty() {
        return Err(told(&reading.errors));
    }
    if let Some(instead) = reading.instead {
        return Ok(Outcome::instead(&instead));
    }
    let mut lowered = lower(&reading, &host()).map_err(|errors| told(&errors))?;
    lowered.setup.asked.command.clear();
    let settings = (lowered.plan, lowered.phases, lowered.setup);
    Ok(Outcome::planned(lowered.notes, &settings))
}

#[test]
fn every_row_does_what_its_support_says() {
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
}
