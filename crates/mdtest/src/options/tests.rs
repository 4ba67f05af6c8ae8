use std::ffi::OsString;

use super::*;
use candor_front::evidence::{Surroundings, sentences};

fn reading(words: &[&str]) -> Reading {
    let argv: Vec<OsString> = ["mdtest"].iter().chain(words).map(OsString::from).collect();
    read(&argv, &mut Surroundings::default())
}

fn good(line: &str) -> Options {
    let reading = reading(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(sentences(&reading.errors, &reading.texts), Vec::<String>::new(), "{line}");
    reading.options
}

fn first_error(line: &str) -> String {
    let reading = reading(&line.split_whitespace().collect::<Vec<_>>());
    let error = reading.errors.first().unwrap_or_else(|| panic!("{line} is accepted"));
    error.describe(&reading.texts)
}

#[test]
fn values_stand_behind_their_letter_or_an_equals_sign() {
    for line in ["-n 10", "-n10", "-n=10"] {
        assert_eq!(good(line).tree.items, 10, "{line}");
    }
    assert_eq!(good("-w 4k -e=1k").data.write_bytes, 4096);
    let flags = good("-FCTuL -n 100k");
    let (phases, tree) = (flags.phases, flags.tree);
    assert!(phases.files && phases.create && phases.stat && tree.unique && tree.leaf_only);
    assert_eq!(tree.items, 100 << 10);
    assert!(!good("-F=0 -D").phases.files && good("-F=1").phases.files);
    let glued = good("-Fn 10");
    assert!(glued.phases.files && glued.tree.items == 10);
    assert_eq!((good("-v -v").run.verbosity, good("-vv").run.verbosity), (2, 2));
    assert_eq!(good("-V=3").run.verbosity, 3);
    let long = good("--random-seed=7 --run-cmd-before-phase true --dataPacketType random");
    assert_eq!((long.run.random_seed, long.data.packet), (7, Packet::Random));
    assert_eq!(long.run.before.as_deref(), Some("true"));
}

#[test]
fn paths_and_ranks() {
    let options = good("--ranks 4 -d /a@/b");
    assert_eq!((options.ranks, options.tree.paths), (4, vec!["/a".into(), "/b".into()]));
    assert_eq!(good("").tree.paths, ["./out"]);
    let argv: Vec<OsString> = ["mdtest", "-F"].map(OsString::from).into();
    let variables = &[("CANDOR_RANKS", "8")];
    let mut surroundings = Surroundings { variables, ..Surroundings::default() };
    assert_eq!(read(&argv, &mut surroundings).options.ranks, 8);
    assert_eq!(reading(&["--ranks=0"]).errors.len(), 1);
}

#[test]
fn mistakes_are_sentences_with_places() {
    for (line, part) in [
        ("-n x", "command line:1:11: n: `x` is no whole number"),
        ("-n 1.5k", "`1.5k` is no whole number"),
        ("-n", "n needs a value"),
        ("-i 0", "0 is out of range; give 1 to"),
        ("-n -5", "`-5` is no whole number"),
        ("--ranodm-seed 4", "did you mean `random-seed`?"),
        ("-Q", "there is no option `Q`"),
        ("--n 10", "there is no option `n`"),
        ("out", "`out` is no option"),
        ("-a HDF5", "the back end HDF5 is not done"),
        ("-a HTTP", "there is no back end `HTTP`"),
        ("--posix.lustre.stripecount 4", "lfs setstripe"),
        ("--gpuDirect", "GPU"),
        ("--dataPacketType x", "give o, i, t or r"),
        ("-d @", "no directory is named"),
        ("--summary-format xml", "give default, JSON or CSV"),
        ("-F=x", "`x` is no number"),
    ] {
        let error = first_error(line);
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn help_has_every_option() {
    let help = help();
    for row in TABLE.rows() {
        let name = match row.name.len() {
            1 => format!("  -{}", row.name),
            _ => format!("--{}", row.name),
        };
        assert!(help.contains(&name), "{name}: {help}");
    }
    assert_eq!(reading(&["--help"]).instead, Some(Instead::Help));
}
