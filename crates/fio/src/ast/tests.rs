use std::collections::BTreeMap;
use std::io;

use proptest::prelude::*;

use super::*;
use crate::flags;
use candor_front::Takes;

/// Files, two variables, and a host of 4 KiB pages, 8000 MiB and 2 CPUs.
#[derive(Default)]
struct Pretend {
    files: BTreeMap<String, Vec<u8>>,
}

impl Environment for Pretend {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn variable(&self, name: &str) -> Option<String> {
        [("SIZE", "64m"), ("DIR", "/data")]
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    }
}

impl FioEnvironment for Pretend {
    fn keyword(&self, keyword: Keyword) -> u64 {
        match keyword {
            Keyword::PageSize => 4096,
            Keyword::MemoryMib => 8000,
            Keyword::Cpus => 2,
        }
    }
}

fn names() -> Names {
    let plain = ["name", "rw", "readwrite", "bs", "size", "numjobs", "filename", "ioengine"];
    let plain = plain.map(|name| (name, Takes::One("VALUE")));
    let other =
        [("time_based", Takes::Maybe("VALUE")), ("write_bw_log", Takes::MaybeNext("VALUE"))];
    let options = plain.into_iter().chain(other);
    Names {
        flags: flags::TABLE.spellings().collect(),
        options: options.map(|(name, takes)| Spelling { name, letter: None, takes }).collect(),
    }
}

fn given(files: &[(&str, &str)], words: &[&str]) -> (Ast, Vec<Diagnostic>) {
    let mut environment = Pretend {
        files: files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
            .collect(),
    };
    let argv: Vec<OsString> = ["/usr/bin/fio"].iter().chain(words).map(OsString::from).collect();
    read(&argv, &names(), &mut environment)
}

/// The tree in short: globals in braces, sections in brackets, `|` where a file begins.
fn shown(ast: &Ast) -> String {
    let block = |block: &Block| {
        block
            .assignments
            .iter()
            .map(|assignment| match &assignment.value {
                Some(value) => format!("{}={}", assignment.name.text, value.text),
                None => assignment.name.text.clone(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    ast.sections
        .iter()
        .map(|section| {
            let globals: Vec<_> = ast.globals_of(section).iter().map(block).collect();
            let begins = if section.begins_file { "|" } else { "" };
            format!(
                "{begins}[{}]{{{}}}{}",
                section.name.text,
                globals.join("/"),
                block(&section.own)
            )
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The tree of words that are read without a diagnostic.
fn fine(files: &[(&str, &str)], words: &[&str]) -> String {
    let (ast, diagnostics) = given(files, words);
    let message: Vec<_> = diagnostics.iter().map(|m| m.describe(&ast.texts)).collect();
    assert_eq!(message, Vec::<String>::new());
    shown(&ast)
}

fn fine_file(text: &str) -> String {
    fine(&[("a.fio", text)], &["a.fio"])
}

#[test]
fn sections_and_their_globals() {
    let text = "[global]\nrw=read\n[one]\nbs=4k\n[global-more]\nsize=1m\n[two]\n[GLOBAL]\n";
    assert_eq!(
        fine_file(text),
        "[one]{rw=read}bs=4k [two]{rw=read/size=1m} [GLOBAL]{rw=read/size=1m}"
    );
}

#[test]
fn blanks_comments_and_line_ends() {
    let text = "; one\n# two\n  [a]  ; three\r\n\tbs =\t4k \r\n\n rw = randread # four\n\
                time_based   \nsize=1m;five";
    assert_eq!(fine_file(text), "[a]{}bs=4k rw=randread time_based size=1m");
    assert_eq!(fine_file("\u{feff}[ b ]\nfilename=a=b\nbs=\n"), "[ b ]{}filename=a=b bs=");
    assert_eq!(fine_file("[b]]\n[]\n"), "[b]]{} []{}");
    assert_eq!(fine_file(""), "");
}

#[test]
fn variables_and_keywords() {
    let text = "[a]\nsize=${SIZE}\nfilename=$DIR/${DIR}x${NONE}\nnumjobs=$ncpus*2\n\
                bs=$pagesize+512*2\nio_size=8*$mb_memory\nx=$mb_memorym\ny=2*($ncpus+1)\n\
                z=($pagesize)k\nf=/tmp/$ncpus-x\ng=$jobname.$filenum\nh=${unclosed\ni=10*2\n";
    assert_eq!(
        fine_file(text),
        "[a]{}size=64m filename=$DIR//datax numjobs=4 bs=5120 io_size=64000 x=8000m y=6 \
         z=(4096)k f=/tmp/2-x g=$jobname.$filenum h=${unclosed i=10*2"
    );
    // As the manual says, also on the command line; variables are the shell's there.
    assert_eq!(
        fine(&[], &["--name=a", "--size=2*$ncpus", "--bs=${SIZE}"]),
        "[a]{}size=4 bs=${SIZE}"
    );
}

#[test]
fn includes_are_found_as_written_or_beside_the_including_file() {
    let files = [
        ("a.fio", "[a]\nrw=read\ninclude sub/b.fio ; b\nnumjobs=2\n[c]\ninclude=sub/c.fio"),
        ("sub/b.fio", "bs=8k\ninclude c.fio\n"),
        ("sub/c.fio", "size=4k\n"),
    ];
    assert_eq!(fine(&files, &["a.fio"]), "[a]{}rw=read bs=8k size=4k numjobs=2 [c]{}size=4k");
    let (ast, _) = given(&files, &["a.fio"]);
    let place = ast.texts.location(ast.sections[0].own.assignments[2].value_at());
    assert_eq!(place, "sub/c.fio:1:6");
}

#[test]
fn the_command_line_is_read_as_getopt_does() {
    for words in [
        &["--name=a", "--rw=read", "--time_based"][..],
        &["-name=a", "-rw=read", "-time_based"],
        &["--name", "a", "--rw", "read", "--time_based"],
        &["--nam=a", "--rw", "read", "--time"],
    ] {
        assert_eq!(fine(&[], words), "[a]{}rw=read time_based", "{words:?}");
    }
    // A name that begins others is itself; one that several tables have is one name.
    assert_eq!(fine(&[], &["--name=a", "--siz=1m", "--time_based=0"]), "[a]{}size=1m time_based=0");
    let (ast, diagnostics) = given(&[], &["-moout.json", "-F", "json", "-d", "all", "--minimal"]);
    assert_eq!(diagnostics, []);
    let flags: Vec<_> = ast.flags.iter().map(|flag| flag.name).collect();
    assert_eq!(flags, ["minimal", "output", "output-format", "debug", "minimal"]);
    assert_eq!(ast.values("output").collect::<Vec<_>>(), ["out.json"]);
    // An option that needs a value takes the next word, whatever that is.
    assert_eq!(fine(&[], &["--name", "--rw"]), "[--rw]{}");
}

#[test]
fn jobs_of_the_command_line_and_of_files_mix() {
    let files = [
        ("1", "[j1]\nbs=8k\n"),
        ("2", "[global]\nsize=1m\n[j2]\n[j3]\n"),
        ("-", "[j4]\n"),
        ("--odd", "[j5]\n"),
    ];
    let words = ["--rw=read", "1", "--name=c1", "2", "--size=2m", "-", "--name=global", "--bs=1k"];
    assert_eq!(
        fine(&files, &words),
        "[c1]{rw=read}size=2m [j1]{rw=read/name=global bs=1k}bs=8k \
         |[j2]{size=1m} [j3]{size=1m} |[j4]{}"
    );
    assert_eq!(
        fine(&files, &["--section=j3", "--section", "j1", "1", "2"]),
        "[j1]{}bs=8k |[j3]{size=1m}"
    );
    assert_eq!(fine(&files, &["--", "--odd"]), "[j5]{}");
}

#[test]
fn a_section_that_is_left_out_does_not_join_the_files() {
    // One runs after the other even if the first of the second file is not wanted. What is
    // wrong with it does not matter then.
    let files = [("1", "[a]\n"), ("2", "[x]\nsize 5\ninclude none\n[b]\n")];
    assert_eq!(fine(&files, &["--section=a", "--section=b", "1", "2"]), "[a]{} |[b]{}");
}

#[test]
fn every_word_knows_its_place() {
    let (ast, _) = given(&[("a.fio", "[µ]\n  bs = 4k ;\n")], &["--size=1m", "a.fio"]);
    let (texts, section) = (&ast.texts, &ast.sections[0]);
    assert_eq!(texts.all[0].text, "fio --size=1m a.fio");
    let own = &section.own.assignments[0];
    assert_eq!(
        (texts.location(section.name.at), texts.snippet(section.name.at)),
        ("a.fio:1:2".into(), "µ")
    );
    assert_eq!(
        (texts.location(own.name.at), texts.snippet(own.name.at)),
        ("a.fio:2:3".into(), "bs")
    );
    assert_eq!(
        (texts.location(own.value_at()), texts.snippet(own.value_at())),
        ("a.fio:2:8".into(), "4k")
    );
    let global = &ast.globals_of(section)[0].assignments[0];
    assert_eq!(texts.snippet(global.name.at), "--size");
    assert_eq!(texts.location(global.value_at()), "command line:1:12");
}

#[test]
fn mistakes_name_place_word_and_remedy() {
    for (text, message) in [
        ("bs=4k\n[a]\n", "1:1: `bs=4k` is before the first [section]"),
        ("[a\n", "1:1: `[a` does not end with a closing bracket"),
        ("[a] bs=4k\n", "1:1: `[a] bs=4k` does not end with"),
        ("[j#1]\n", "1:1: `[j` has no closing bracket before the comment"),
        ("[a]\n=5\n", "2:1: `=5` has no option before the equals sign"),
        ("[a]\n size 5\n", "2:2: `size 5` has no equals sign; write size=5"),
        ("[a]\ninclude b\n", "2:9: `b` cannot be read: entity not found"),
        ("[a]\nincludes\n", "2:1: `includes` names no file"),
        ("[a]\ninclude\n", "2:1: `include` names no file"),
        ("[a]\ninclude a.fio\n", "1:1: `[a]` opens a section in an included file"),
        ("[a]\nsize=2*$ncpus*\n", "2:6: `2*$ncpus*`: `2*2*` cannot be worked out"),
    ] {
        let (ast, diagnostics) = given(&[("a.fio", text)], &["a.fio"]);
        is_reported(&ast, &diagnostics, &format!("a.fio:{message}"));
    }
    for (words, message) in [
        (&["none"][..], "5: `none` cannot be read: entity not found"),
        (&["rw=read"], "5: `rw=read` cannot be read: entity not found; an option is written with"),
        (&["--nmae=a"], "5: `nmae` is no option; did you mean `name`?"),
        (&["--out=x"], "5: `out` is short for output, output-format; write more of the name"),
        (&["--name"], "5: --name needs a value; write --name=VALUE"),
        (&["--name="], "5: --name needs a value"),
        (&["--minimal=1"], "15: --minimal takes no value; leave it out"),
        (&["-mQ"], "7: `Q` is no option"),
        (&["---"], "5: `-` is no option"),
        (&["--=5"], "5: there is no option after the dashes"),
    ] {
        let (ast, diagnostics) = given(&[], words);
        is_reported(&ast, &diagnostics, &format!("command line:1:{message}"));
    }
}

/// The first diagnostic is told like this, with the word in it.
fn is_reported(ast: &Ast, diagnostics: &[Diagnostic], message: &str) {
    let first = diagnostics.first().unwrap_or_else(|| panic!("no mistake: {message}"));
    let line = first.describe(&ast.texts);
    assert!(line.starts_with(message), "\n{line}\n{message}");
    assert!(line.contains(&first.word), "{line}");
}

#[test]
fn files_that_include_themselves_end() {
    let (_, diagnostics) = given(&[("a", "[a]\ninclude b\n"), ("b", "include b\n")], &["a"]);
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].rule, "include-depth");
    let twice = "include b\ninclude b\n";
    let (ast, diagnostics) = given(&[("a", "[a]\ninclude b\n"), ("b", twice)], &["a"]);
    assert!(ast.texts.all.len() <= 1000 && !diagnostics.is_empty());
}

#[test]
fn each_byte_of_another_encoding_is_kept() {
    let mut environment = Pretend::default();
    environment.files.insert("a".into(), b"; caf\xe9\n[a]\nbs=4k # \xe9\n".to_vec());
    let (ast, diagnostics) = read(&["fio".into(), "a".into()], &names(), &mut environment);
    assert_eq!((shown(&ast).as_str(), diagnostics), ("[a]{}bs=4k", Vec::new()));
    environment.files.insert("a".into(), b"[a]\nfilename=/caf\xe9\n[\xe9]\n\xe9\n".to_vec());
    let (ast, diagnostics) = read(&["fio".into(), "a".into()], &names(), &mut environment);
    let kept = "[a]{}filename=/caf\u{efe9} [\u{efe9}]{}\u{efe9}";
    assert_eq!((shown(&ast).as_str(), diagnostics), (kept, Vec::new()));
    let (_, diagnostics) = given(&[("a", "[a]\nname=x\0y\n")], &["a"]);
    assert_eq!(diagnostics[0].rule, "zero-byte");
}

#[test]
fn a_log_takes_the_next_word_as_its_name_unless_that_is_an_option() {
    let read = |words: &[&str]| fine(&[], &[&["--name=a"], words].concat());
    assert_eq!(read(&["--write_bw_log", "log", "--rw=read"]), "[a]{}write_bw_log=log rw=read");
    assert_eq!(read(&["--write_bw_log", "--rw=read"]), "[a]{}write_bw_log rw=read");
    assert_eq!(read(&["--write_bw_log"]), "[a]{}write_bw_log");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(file in proptest::collection::vec(any::<u8>(), 0..200)) {
        anything(file, &[])?;
    }

    #[test]
    fn anything_like_a_job_file_is_read_or_refused(
        file in "(\\[?[a-z$ {}]{0,8}[]=;#]?[0-9a-z$ {}*+()%./-]{0,12}\r?\n){0,12}",
        words in proptest::collection::vec("-{0,3}[a-z$]{0,6}=?[a-z0-9*$-]{0,6}", 0..6),
    ) {
        anything(file.into_bytes(), &words)?;
    }
}

/// No panic, and every place lies within its text.
fn anything(file: Vec<u8>, words: &[String]) -> Result<(), TestCaseError> {
    let mut environment = Pretend::default();
    environment.files.insert("a".into(), file);
    let argv = ["fio", "a"].into_iter().map(OsString::from);
    let argv: Vec<OsString> = argv.chain(words.iter().map(OsString::from)).collect();
    let (ast, diagnostics) = read(&argv, &names(), &mut environment);
    let texts = &ast.texts;
    for diagnostic in &diagnostics {
        let at = diagnostic.at.expect("every mistake here has a place");
        prop_assert!(texts.all[at.text].text.get(at.range()).is_some(), "{diagnostic:?}");
        prop_assert!(!diagnostic.describe(texts).contains('\n'));
    }
    let own = ast.sections.iter().map(|section| &section.own);
    for assignment in own.chain(&ast.globals).flat_map(|block| &block.assignments) {
        for at in [assignment.name.at, assignment.value_at()] {
            prop_assert!(texts.all[at.text].text.get(at.range()).is_some(), "{assignment:?}");
        }
    }
    Ok(())
}

#[test]
fn clients_have_the_job_files_that_follow_them() {
    let files = [
        ("a.fio", "[a]\nrw=read\n"),
        ("b.fio", "[b]\nrw=read\n"),
        ("hosts", "node1\nnode2,99\n"),
        ("none", "\n"),
    ];
    let of = |words: &str| {
        let (ast, diagnostics) = given(&files, &words.split(' ').collect::<Vec<_>>());
        let hosts: Vec<String> = ast.clients.iter().map(|c| c.address.text()).collect();
        let wrong = diagnostics.first().map(|diagnostic| diagnostic.message.clone());
        (hosts.join(" "), shown(&ast), wrong)
    };
    let same = of("--client=x a.fio b.fio --client y,7 a.fio b.fio");
    assert_eq!((same.0.as_str(), same.2), ("x:8765 y:7", None));
    let listed = of("--client=hosts a.fio b.fio");
    assert_eq!((listed.0.as_str(), &listed.1, listed.2), ("node1:8765 node2:99", &same.1, None));
    let behind = of("--client=x --output=f a.fio b.fio");
    assert_eq!((behind.0.as_str(), behind.1, behind.2), ("x:8765", same.1, None));
    for (words, message) in [
        ("--client=x a.fio --client=y b.fio", "client y has other job files than the client"),
        ("--client=x --client=y a.fio", "client x has no job file"),
        ("--client=hosts", "client hosts has no job file"),
        ("--client=none a.fio", "`none` names no host"),
        ("--client=hosts a.fio --client=node1 a.fio", "client node1:8765 is named twice"),
        ("--client=sock:/x a.fio", "`sock:/x` is a socket"),
        ("--client=x a.fio --bs=4k", "--bs is an option of jobs"),
        ("--client=x a.fio --name=b", "--name is an option of jobs"),
    ] {
        let (_, _, wrong) = of(words);
        assert!(wrong.as_ref().is_some_and(|wrong| wrong.contains(message)), "{words}: {wrong:?}");
    }
}
