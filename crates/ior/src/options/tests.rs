use std::ffi::OsString;

use super::*;
use candor_front::evidence::{Surroundings, sentences};

fn reading(words: &[&str], files: &[(&str, &str)]) -> Reading {
    let argv: Vec<OsString> = ["ior"].iter().chain(words).map(OsString::from).collect();
    read(&argv, &mut Surroundings { files, variables: &[] })
}

fn good(line: &str) -> Options {
    let reading = reading(&line.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(sentences(&reading.errors, &reading.texts), Vec::<String>::new(), "{line}");
    reading.tests[0].options.clone()
}

fn first_error(line: &str) -> String {
    let reading = reading(&line.split(' ').collect::<Vec<_>>(), &[]);
    let error = reading.errors.first().unwrap_or_else(|| panic!("{line} is accepted"));
    error.describe(&reading.texts)
}

#[test]
fn the_spellings_of_a_value_are_one() {
    for line in ["-t 64k", "-t64k", "-t=64k", "-O transferSize=64k", "-O=TRANSFERSIZE=65536"] {
        assert_eq!(good(line).layout.transfer_bytes, 65536, "{line}");
    }
    for line in ["-wkF", "-w -k -F", "-wk -F=1", "-O writeFile=1,keepFile=1,filePerProc=1"] {
        let options = good(line);
        let all = options.run.write && options.run.keep && options.layout.file_per_process;
        assert!(all && !options.run.read, "{line}");
    }
    let joined = reading(&["-w", "-b64k", "-v2"], &[]);
    assert!(joined.errors.is_empty() && joined.tests[0].options.run.keep);
    let notes: Vec<_> = joined.notes.iter().map(|note| (&note.asked[..], &note.did[..])).collect();
    assert_eq!(notes, [("64k", "files stay at the end"), ("2", "nothing")]);
    assert!(!good("-b 64k").run.keep && !good("-b65536").run.keep && !good("-b=64k").run.keep);
    let glued = good("-wkt64k");
    assert!(glued.run.keep && glued.layout.transfer_bytes == 65536);
    assert!(!good("-k -k=0").run.keep && !good("-O keepFile=0 -k=0").run.keep);
    assert_eq!(good("-X -5").order.seed, -5, "a value may begin with a dash");
}

#[test]
fn some_flags_are_counted() {
    assert_eq!(good("-v -v").output.verbose, 2);
    assert_eq!(good("-vvv").output.verbose, 3);
    assert_eq!((good("-z -z").layout.random, good("-Z -Z").order.random), (2, 2));
    assert_eq!(good("-O verbose=4").output.verbose, 4);
}

#[test]
fn former_options_are_refused_by_a_sentence() {
    for (line, part) in [
        ("-p", "preallocate is not done: IOR does so by MPI-IO only"),
        ("-n", "noFill is not done: it is an option of HDF5"),
        ("-y", "dualMount is not done: name the mount points in -o"),
        ("-a HDF5", "HDF5 is not done"),
        ("-a dfs", "dfs is not done: it needs the libraries of DAOS"),
        ("-a S3-libs3", "candor does not measure object stores yet"),
        ("-a POSIXX", "did you mean POSIX?"),
        ("--posix.lustre.stripecount=4", "candor leaves striping to the directory"),
        ("-O lustreStripeCount=32", "lustreStripeCount=32 is not done"),
    ] {
        let error = first_error(line);
        assert!(error.contains(part), "{line}: {error}");
    }
    let former = reading(&["-B"], &[]);
    assert!(former.errors.is_empty() && former.tests[0].options.io.direct);
}

#[test]
fn mistakes_are_sentences() {
    for (line, part) in [
        ("-t 1.5g", "command line:1:8: transferSize: `1.5g` is no whole number"),
        ("-s 0", "0 is out of range; give 1 to"),
        ("-b", "blockSize needs a value"),
        ("-J 4", "setAlignment=4 is not done"),
        ("-?q", "`?` is no option"),
        ("--blockSise=4", "did you mean `blockSize`?"),
        ("-O blokSize=4", "did you mean `blockSize`?"),
        ("-O nonsense=1", "(IOR: Unrecognized parameter \"nonsense\")"),
        ("-O keepFile", "keepFile has no value; write keepFile=VALUE"),
        ("-O scriptFile=f", "`scriptFile` is no option"),
        ("testFile", "`testFile` is no option, and IOR takes no operands; name the file with -o"),
        ("-l x", "`x` is not one of its values"),
        ("-k=2x", "`2x` is neither 0 nor 1"),
        ("-M 120%", "is no share of memory"),
        ("-o a@@b", "`a@@b` has an empty name"),
        ("-f none", "none cannot be read"),
        ("--ranks 0", "--ranks is `0`"),
    ] {
        let error = first_error(line);
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn scripts_are_tests_that_inherit() {
    let script = "no part of it\nIOR START\n# a comment\n  api=POSIX, testFile=/d/f # another\n\
                  blockSize=2m,transferSize = 1m\nRUN\nreadFile=1\nwriteFile=0\nrun\nRUN\n\
                  --posix.odirect=1\nIOR STOP\nnonsense=1\n";
    let of = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let read = reading(&words, &[("s", script)]);
        assert_eq!(sentences(&read.errors, &read.texts), Vec::<String>::new());
        read
    };
    let read = of("-k -f s -t 4k -w");
    assert_eq!(read.tests.len(), 4, "two, one as it was, and one that no RUN follows");
    let options = |nth: usize| &read.tests[nth].options;
    assert!(options(0).run.keep && options(0).run.write && !options(0).run.read);
    assert_eq!((options(0).layout.transfer_bytes, &*options(0).layout.test_file), {
        (1 << 20, "/d/f")
    });
    assert!(options(1).run.read && !options(1).run.write && options(1).run.keep);
    assert_eq!(options(1), options(2));
    assert!(options(3).io.direct && !options(2).io.direct);
    assert_eq!(read.texts.location(read.tests[1].at), "s:7:1");
    for (script, part) in [
        ("IOR STOP\n", "s has no line IOR START"),
        ("IOR START\nblockSize=x\nRUN\nIOR STOP", "s:2:11: blockSize: `x` is no number"),
        ("IOR START\n  blokSize=1\n", "s:2:3: `blokSize` is no option; did you mean `blockSize`?"),
        ("IOR START\nrun 2\n", "s:2:1: `run 2` is no option"),
    ] {
        let read = reading(&["-f", "s"], &[("s", script)]);
        let error = read.errors[0].describe(&read.texts);
        assert!(error.starts_with(part) || error.contains(part), "{error}");
    }
    assert_eq!(reading(&["-f", "s"], &[("s", "ior start\nior stop")]).tests.len(), 1);
}

#[test]
fn ranks_and_nodes_come_from_words_and_the_environment() {
    let words: Vec<OsString> = ["ior", "--ranks", "6", "-w"].iter().map(OsString::from).collect();
    let of = |variables| read(&words, &mut Surroundings { files: &[], variables });
    let read = of(&[("IOR_FAKE_NODES", "3"), ("IOR_FAKE_TASK_PER_NODES", "2")]);
    assert_eq!((read.ranks, &read.command[..]), (6, &["ior".to_owned(), "-w".to_owned()][..]));
    assert_eq!(read.fake, FakeNodes { nodes: Some(3), tasks_per_node: Some(2) });
    let odd = of(&[("IOR_FAKE_NODES", "x")]);
    assert!(odd.errors[0].message.contains("IOR_FAKE_NODES is `x`"), "{:?}", odd.errors);
}

#[test]
fn help_names_every_option() {
    assert_eq!(reading(&["-h"], &[]).instead, Some(Instead::Help));
    assert_eq!(reading(&["--help"], &[]).instead, Some(Instead::Help));
    let help = help();
    assert!(TABLE.rows().all(|row| help.contains(row.name)));
    assert!(help.contains("CANDOR_RANKS"));
}

/// The letters of IOR's help, in current and older versions.
#[test]
fn every_letter_of_ior_is_known() {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let missing: String = letters.chars().filter(|l| TABLE.by_letter(*l).is_none()).collect();
    assert_eq!(missing, "L", "which IOR never had");
    let mut seen = std::collections::HashSet::new();
    assert!(TABLE.rows().filter_map(|row| row.letter).all(|letter| seen.insert(letter)));
    let mut names = std::collections::HashSet::new();
    assert!(TABLE.names().all(|name| names.insert(name.to_ascii_lowercase())));
}
