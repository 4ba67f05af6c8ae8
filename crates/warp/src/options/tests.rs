use std::ffi::OsString;

use candor_front::evidence::{Surroundings, sentences};
use candor_front::{Answer, Support};
use proptest::prelude::*;

use super::help::{REFUSED, help_all_of};
use super::rows::table;
use super::*;

fn read_in(words: &[&str], surroundings: Surroundings<'_>) -> Result<Options, String> {
    let argv: Vec<OsString> = ["warp"].iter().chain(words).map(OsString::from).collect();
    read(&argv, &mut { surroundings }).map_err(|answer| match answer {
        Answer::Text(text) => text,
        Answer::Refused(errors, texts) => sentences(&errors, &texts).join("\n"),
    })
}

fn read_words(words: &[&str]) -> Result<Options, String> {
    read_in(words, Surroundings::default())
}

fn refused(words: &[&str]) -> String {
    read_words(words).expect_err("a mistake")
}

/// The words that a command needs in addition to its options.
fn operands(command: Command) -> &'static [&'static str] {
    match command {
        Command::Analyze => &["a"],
        Command::Compare | Command::Merge => &["a", "b"],
        _ => &[],
    }
}

#[test]
fn each_row_keeps_its_promise() {
    for command in Command::ALL {
        let words = [&[command.word()][..], operands(*command)].concat();
        let usual = read_words(&words).expect("a command line");
        for row in table(*command).rows() {
            let option = format!("--{}={}", row.name, row.example);
            let read = read_words(&[&words[..], &[&option]].concat());
            match (row.support, read) {
                (Support::Refused(why), Err(error)) => assert!(error.contains(why), "{error}"),
                (Support::Idle(_), Ok(options)) => {
                    let changed = Options { command_line: usual.command_line.clone(), ..options };
                    assert_eq!(changed, usual, "{option}");
                }
                (Support::Exact, Ok(options)) => {
                    let same = Options { command_line: usual.command_line.clone(), ..options };
                    assert_ne!(same, usual, "{option}");
                    assert!(same.notes.is_empty(), "{option}");
                }
                (Support::Approximate(_), Ok(options)) => assert_eq!(options.notes.len(), 1),
                (support, read) => panic!("{option}: {support:?}: {read:?}"),
            }
        }
    }
}

#[test]
fn defaults_depend_on_the_command() {
    for (command, objects) in [(Command::Get, 2500), (Command::Delete, 25000), (Command::Put, 0)] {
        assert_eq!(Options::defaults(command).work.objects, objects);
    }
    let list = Options::defaults(Command::List);
    assert_eq!(list.load.object_size, ObjectSize::Fixed(1000));
    assert_eq!((list.load.concurrent, list.load.duration_ns), (20, 300_000_000_000));
    assert_eq!((list.ending.autoterm_ns, list.ending.autoterm_percent), (15_000_000_000, 7.5));
    assert_eq!(list.connection.hosts, [HostEntry::Host("127.0.0.1:9000".to_owned())]);
}

#[test]
fn options_may_be_anywhere_and_have_all_spellings() {
    let options = read_words(&[
        "--quiet",
        "get",
        "-obj.size",
        "1MiB",
        "--duration=10s",
        "-tls",
        "--insecure=false",
        "-noclear=1",
        "--host",
        "a:1,b{1...2}:1",
    ]);
    let options = options.expect("a command line");
    assert!(options.output.quiet && options.connection.tls && !options.connection.insecure);
    assert!(options.ending.no_clear);
    assert_eq!(options.load.object_size, ObjectSize::Fixed(1 << 20));
    assert_eq!((options.load.duration_ns, options.connection.hosts.len()), (10_000_000_000, 3));
}

#[test]
fn variables_are_defaults_and_secrets_are_hidden() {
    let variables = &[
        ("WARP_HOST", "file:list"),
        ("WARP_ACCESS_KEY", "minio"),
        ("WARP_SECRET_KEY", "wrong"),
        ("WARP_TLS", "true"),
    ][..];
    let files = &[("list", "# servers\na:9000\n\nb{1...2}:9000\n")][..];
    let surroundings = Surroundings { files, variables };
    let options = read_in(&["put", "--secret-key=hush"], surroundings).expect("a command line");
    assert_eq!(options.connection.secret_key, Secret("hush".to_owned()));
    assert_eq!((options.connection.hosts.len(), options.connection.tls), (3, true));
    assert_eq!(options.command_line, "warp put --secret-key=*REDACTED*");
    assert!(!format!("{options:?}").contains("hush"));
    let wrong = read_in(&["get", "--sts-web-token=hush"], surroundings).expect_err("refused");
    assert!(wrong.contains("is not done") && !wrong.contains("hush"), "{wrong}");
    let analyzed = read_in(&["analyze", "f"], surroundings).expect("no servers");
    assert!(analyzed.connection.hosts.is_empty());
}

#[test]
fn refused_commands_have_a_sentence() {
    for command in REFUSED {
        let sentence = refused(&[command.name, "--objects", "5"]);
        assert!(sentence.contains(command.why), "{sentence}");
    }
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let all = [
        &["gett"][..],
        &["get", "--objets=1"],
        &["get", "--objects=x"],
        &["get", "--batch=5"],
        &["get", "file"],
        &["get", "--range-size=11MiB", "--obj.size=10MiB"],
        &["mixed", "--delete-distrib=20"],
        &["delete", "--batch=1001"],
        &["put", "--obj.size=1,2,3"],
        &["put", "--obj.randsize"],
        &["put", "--force-empty"],
        &["get", "--full"],
        &["put", "--checksum=XXH3"],
        &["put", "--host=file:none"],
        &["analyze"],
        &["cmp", "a"],
        &["merge", "a"],
        &["--objects"],
    ];
    let text: String = all.iter().map(|words| refused(words) + "\n").collect();
    insta::assert_snapshot!(text);
}

#[test]
fn help_lists_commands_and_options() {
    insta::assert_snapshot!(refused(&["--help"]));
    insta::assert_snapshot!(refused(&["get", "-h"]));
    assert_eq!(refused(&[]), help());
    assert_eq!(refused(&["help", "merge"]), help_of(Command::Merge));
    assert!(refused(&["get", "--version"]).starts_with("candor "));
    assert!(refused(&["put", "--help-all"]).contains("--storage-class=NAME"));
    for command in Command::ALL {
        let (short, all) = (help_of(*command), help_all_of(*command));
        assert!(short.lines().count() <= 48, "{command:?}: {} lines", short.lines().count());
        for line in all.lines().chain(help().lines().take(24)) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

proptest! {
    #[test]
    fn no_command_line_panics(
        command in prop::sample::select(vec!["get", "put", "mixed", "analyze", "merge", "x", "-h"]),
        words in prop::collection::vec("\\PC*|--?[a-z.]*(=[0-9a-zA-Z:,{}.]*)?", 0..6),
        row in any::<prop::sample::Index>(),
        value in "\\PC*|[0-9]*[a-zA-Z]*",
    ) {
        let rows: Vec<_> = table(Command::Get).names().collect();
        let odd = format!("--{}={value}", row.get(&rows));
        let mut argv: Vec<OsString> = vec!["warp".into(), command.into(), odd.into()];
        argv.extend(words.iter().map(OsString::from));
        let _ = read(&argv, &mut Surroundings::default());
        let _ = read(&argv[..1], &mut Surroundings::default());
        let _ = read(&[], &mut Surroundings::default());
    }
}
