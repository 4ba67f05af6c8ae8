mod s3;

use std::ffi::OsString;

use super::*;
use candor_front::evidence::{Surroundings, sentences};

fn reading(words: &[&str], files: &[(&str, &str)]) -> Reading {
    let argv: Vec<OsString> = ["elbencho"].iter().chain(words).map(OsString::from).collect();
    read(&argv, &mut Surroundings { files, ..Surroundings::default() })
}

fn good(words: &[&str]) -> Options {
    let reading = reading(words, &[]);
    assert_eq!(sentences(&reading.errors, &reading.texts), Vec::<String>::new(), "{words:?}");
    reading.options
}

fn first_error(words: &[&str]) -> String {
    let reading = reading(words, &[]);
    let error = reading.errors.first().unwrap_or_else(|| panic!("{words:?} is accepted"));
    error.describe(&reading.texts)
}

#[test]
fn the_founding_command_is_read() {
    let words = "-d -w --stat -r -F -D -t16 -n 10 -N 30 -s 128k -b 128k /mnt/eb";
    let options = good(&words.split(' ').collect::<Vec<_>>());
    let phases = options.phases;
    assert!(phases.make_dirs && phases.write && phases.stat && phases.read);
    assert!(phases.remove_files && phases.remove_dirs);
    assert_eq!((options.run.threads, options.tree.dirs, options.tree.files), (16, 10, 30));
    assert_eq!(options.access.file_bytes, Some(128 << 10));
    assert_eq!((options.access.block_bytes, options.paths), (128 << 10, vec!["/mnt/eb".into()]));
}

#[test]
fn names_may_be_short_while_they_mean_one_option() {
    assert_eq!(good(&["--zone", "0", "--core=1,[3-4]"]).run.zones, Bind::Listed(vec![0]));
    assert_eq!(good(&["--thr", "4"]).run.threads, 4);
    let error = first_error(&["--blo", "4k"]);
    assert!(error.contains("block, blockvarpct, blockvaralgo"), "{error}");
    assert_eq!(good(&["--block", "4k"]).access.block_bytes, 4096, "a whole name is no beginning");
}

#[test]
fn switches_have_values_and_numbers_may_stand_close() {
    for (words, direct) in [
        (&["--direct"][..], true),
        (&["--direct=false"], false),
        (&["--direct=0"], false),
        (&["--direct=off"], false),
        (&["--direct=yes"], true),
    ] {
        assert_eq!(good(words).io.direct, direct, "{words:?}");
    }
    for words in ["-w --write=false", "--write=false -w", "--write=0 --write=true --write=no"] {
        assert!(good(&words.split(' ').collect::<Vec<_>>()).phases.write, "{words}: on wins");
    }
    assert!(!good(&["--direct=false", "--direct=off"]).io.direct);
    for twice in [["--direct", "--direct"], ["--direct=true", "--direct"]] {
        assert!(first_error(&twice).contains("given more than once"));
    }
    assert!(!good(&["-r=0"]).phases.read && good(&["-r"]).phases.read);
    assert_eq!((good(&["-t4"]).run.threads, good(&["-t=4"]).run.threads), (4, 4));
    assert_eq!(good(&["--size="]).access.file_bytes, Some(0));
    assert_eq!(good(&["-s", ""]).access.file_bytes, Some(0));
}

#[test]
fn mistakes_are_sentences() {
    for (words, part) in [
        (&["-t", "4", "-t", "5"][..], "given more than once"),
        (&["-w", "--write"], "--write is given more than once"),
        (&["-s", "4KiB"], "`4KiB` is no size"),
        (&["-s", "4k-8k"], "`4k-8k` is no size"),
        (&["-s", "-1"], "`-1` is no size"),
        (&["-t", "0"], "0 is out of range; give 1 to"),
        (&["-wr"], "`r` is neither true nor false"),
        (&["--direct=maybe"], "neither true nor false"),
        (&["--treads", "4"], "did you mean `threads`?"),
        (&["--gpuids=all"], "candor does not move bytes to GPUs yet"),
        (&["hdfs://a"], "no path of this host"),
        (&["--datasetthreads", "4"], "`datasetthreads` is no option"),
        (&["--livejson", "f"], "`livejson` is no option"),
        (&["-b"], "needs a value"),
        (&["/a[1"], "a bracket without its other half"),
    ] {
        let error = first_error(words);
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(reading(&["--netbench=false", "/a"], &[]).errors, []);
}

#[test]
fn a_file_of_options_gives_way_to_words() {
    let file = "# defaults\nthreads=8\n  block = 64k # each\ndirect=1\n\nwrite=true\n";
    let of = |words: &[&str]| reading(words, &[("f", file)]);
    let read = of(&["-c", "f", "-t", "2", "--direct=false", "/d"]);
    assert_eq!(read.errors, []);
    assert_eq!((read.options.run.threads, read.options.access.block_bytes), (2, 64 << 10));
    assert!(read.options.phases.write && !read.options.io.direct);
    assert!(reading(&["-c", "f"], &[("f", "write=")]).options.phases.write, "no value is on");
    let long = "x".repeat(1 << 20);
    let read = reading(&["-c", "f"], &[("f", &long)]);
    let long = read.errors[0].describe(&read.texts);
    assert!(long.contains("xxx…` is no line") && long.len() < 300, "{long:.500}");
    for (text, part) in [
        ("threads", "f:1:1: `threads` is no line of long-option=value"),
        ("\nthreads=x", "f:2:9: threads: `x` is not a whole number"),
        ("thr=4", "f:1:1: there is no option `thr`"),
        ("threads=1\nthreads=2", "f:2:1: --threads is given more than once"),
        ("write=false\nwrite=true", "f:2:1: --write is given more than once"),
    ] {
        let read = reading(&["-c", "f"], &[("f", text)]);
        let error = read.errors[0].describe(&read.texts);
        assert!(error.starts_with(part), "{error}");
    }
    assert!(first_error(&["-c", "none"]).contains("none cannot be read"));
}

#[test]
fn a_list_without_hosts_is_refused() {
    let of = |words: &[&str]| {
        let reading = reading(words, &[("none", "# a,b\n\n"), ("two", "a # b\nc")]);
        let hosts = reading.options.hosts.list.len();
        (hosts, reading.errors.first().map(|error| error.describe(&reading.texts)))
    };
    assert_eq!(of(&["--hostsfile", "two"]), (2, None));
    assert_eq!(of(&["--hostsfile", "none", "--hosts", "a"]), (1, None));
    assert_eq!(of(&["--hostsfile", ""]), (0, None));
    for (words, part) in [
        (&["--hostsfile", "none"][..], "none names no host"),
        (&["--hosts", ", "], "the list names no host"),
        (&["--hostsfile", "none", "--quit"], "none names no host"),
    ] {
        assert!(of(words).1.is_some_and(|error| error.contains(part)), "{words:?}");
    }
}

#[test]
fn help_has_parts() {
    assert_eq!(reading(&["-h"], &[]).instead, Some(Instead::Help(HelpPart::Overview)));
    assert_eq!(reading(&["--help-all"], &[]).instead, Some(Instead::Help(HelpPart::All)));
    assert_eq!(reading(&["--version"], &[]).instead, Some(Instead::Version));
    let (all, large) = (rows::help(HelpPart::All), rows::help(HelpPart::Large));
    assert!(TABLE.names().all(|name| name == "s3checksumalgo" || all.contains(name)));
    assert!(large.contains("--randamount") && !large.contains("--dirsharing"));
    assert!(rows::help(HelpPart::Multi).contains("--dirsharing"));
}
