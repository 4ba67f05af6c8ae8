//! candor called as warp: result files analyzed, compared and merged, and nothing else yet.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::support::Scratch;

struct Warp {
    link: String,
    scratch: Scratch,
}

impl Warp {
    fn new() -> Warp {
        let scratch = Scratch::new();
        let link = scratch.outside("warp");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Warp { link, scratch }
    }

    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(&self.link);
        command.args(words.split_whitespace()).current_dir(self.scratch.dir());
        command.output().expect("warp starts")
    }

    /// The text of a command line that succeeds.
    fn text(&self, words: &str) -> String {
        let ran = self.run(words);
        assert!(ran.status.success(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text")
    }

    /// The sentence of a command line that fails.
    fn refused(&self, words: &str) -> String {
        let ran = self.run(words);
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0), "{words}");
        String::from_utf8(ran.stderr).expect("text")
    }

    /// Writes 5 s of requests of 2 threads, each of that time.
    fn requests(&self, name: &str, millis: u64) {
        let mut text = "thread\top\tbytes\tendpoint\tstart\tend\n".to_owned();
        for nth in 0..5000 / millis {
            let [start, end] = [nth, nth + 1].map(|nth| nth * millis);
            let [start, end] = [start, end]
                .map(|at| format!("2026-01-02T03:04:{:02}.{:03}Z", at / 1000, at % 1000));
            for thread in 0..2 {
                text.push_str(&format!("{thread}\tGET\t1048576\thttp://a\t{start}\t{end}\n"));
            }
        }
        fs::write(self.scratch.path(name), text).expect("a file");
    }
}

#[test]
fn files_are_analyzed_compared_and_merged() {
    let warp = Warp::new();
    warp.requests("one", 100);
    warp.requests("two", 200);
    let text = warp.text("analyze one --analyze.out=segments");
    assert!(text.starts_with("Report: GET. Concurrency: 2. Ran: 5s\n"), "{text}");
    assert!(text.contains(" * Average: 20.00 MiB/s, 20.00 obj/s\n"), "{text}");
    let segments = fs::read_to_string(warp.scratch.path("segments")).expect("a table");
    assert_eq!(segments.lines().count(), 6);
    let text = warp.text("cmp one two");
    assert!(text.contains(" * Average: -50.0% (-10.00 MiB/s) throughput"), "{text}");
    let text = warp.text("merge one two --benchdata both --quiet");
    assert!(text.starts_with("Report: GET. Concurrency: 4. Ran: 5s\n"), "{text}");
    assert_eq!(warp.text("-json=false analyze both.csv.zst"), text);
    let json = warp.text("analyze --json both.csv.zst");
    fs::write(warp.scratch.path("json"), json).expect("a file");
    assert_eq!(warp.text("analyze json"), text);
}

#[test]
fn mistakes_are_sentences_and_change_nothing() {
    let warp = Warp::new();
    warp.requests("one", 100);
    let before = fs::read(warp.scratch.path("one")).expect("a file");
    for (words, sentence) in [
        ("analyze one --analyze.out=one", "it is an input of this command"),
        ("analyze none", "name a file that can be read"),
        ("analyze .", "name a file that can be read"),
        ("cmp one", "write warp cmp BEFORE AFTER"),
        ("merge one one --benchdata=none/x", "name a file that can be written"),
        ("client", "start `candor agent` on the host"),
        ("get --objects=x", "write digits"),
        ("get --host=127.0.0.1:1", "does not run in this version"),
    ] {
        let error = warp.refused(words);
        assert!(error.starts_with("warp: ") && error.contains(sentence), "{words}: {error}");
    }
    assert_eq!(fs::read(warp.scratch.path("one")).expect("a file"), before);
    assert!(warp.text("--help").contains("multipart-put"));
}
