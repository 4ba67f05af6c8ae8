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
    ("--write --size=64k b", &["s3endpoints"]),
    (
        "--write --read --delfiles --size=64k s3://b",
        &[
            "s3key",
            "s3secret",
            "s3credfile",
            "s3credlist",
            "s3region",
            "s3virtaddr",
            "s3targetgbps",
            "s3log",
            "s3logprefix",
            "s3objprefix",
            "s3fastget",
            "s3fastput",
            "s3sign",
            "s3nocompress",
            "s3chksumalgo",
            "s3multiignore404",
            "s3ignoreerrors",
            "s3sse",
            "s3sseckey",
            "s3ssekmskey",
            "s3nompcheck",
            "s3mpusizevar",
            "s3mpusplit",
            "s3listobjpar",
            "s3multidel",
            "s3statdirs",
            "s3otag",
            "s3aclget",
            "s3baclget",
        ],
    ),
    ("--write --s3key=k --s3secret=s --size=64k s3://b", &["s3sessiontoken"]),
    ("--write --s3endpoints=https://h[1-2] --size=64k b", &["s3single", "s3insecure"]),
    ("--write --size=64k --block=16k --iodepth=4 s3://b", &["s3maxconns", "s3nompucompl"]),
    ("--write --hosts=x,y --nosvcshare --size=64m s3://b/o", &["s3mpusharing"]),
    ("--read --threads=2 --size=64k --block=16k s3://b", &["s3randobj"]),
    ("--s3endpoints=http://h b", &["s3listobj"]),
    ("--s3listobjpar s3://b", &["s3listverify"]),
    ("--write --s3otag --size=64k s3://b", &["s3otagverify"]),
    ("--mkdirs s3://b", &["s3btag", "s3bversion", "s3olockcfg"]),
    (
        "--s3btag --s3bversion --s3olockcfg s3://b",
        &["s3btagverify", "s3bversionverify", "s3olockcfgverify"],
    ),
    ("--write --s3aclgrantee=private --size=64k s3://b", &["s3aclput", "s3aclputinl", "s3baclput"]),
    (
        "--s3aclget --s3aclgrantee=a --s3aclgtype=id --s3aclgrants=read s3://b",
        &["s3aclgrantee", "s3aclgtype", "s3aclgrants", "s3aclverify"],
    ),
];

/// Users of the environment, for halves of a user on the command line.
const VARIABLES: &[(&str, &str)] = &[("AWS_ACCESS_KEY_ID", "e"), ("AWS_SECRET_ACCESS_KEY", "e")];

fn outcome(words: &[String]) -> Result<Outcome, String> {
    // The host of these tests has one list.
    let words = words.iter().map(|word| word.replace("treefile=f", "treefile=/list"));
    let argv: Vec<OsString> =
        ["elbencho".to_owned()].into_iter().chain(words).map(Into::into).collect();
    // A file of options or of hosts.
    let is_of_hosts = argv.iter().any(|word| word.to_string_lossy().starts_with("--hostsfile"));
    let files = [("f", if is_of_hosts { "a b" } else { "iterations=2" }), ("users", "a:b")];
    let reading = read(&argv, &mut Surroundings { files: &files, variables: VARIABLES });
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
