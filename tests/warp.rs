//! candor called as warp: benchmarks of servers, and result files analyzed, compared and merged.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::support::s3::{Server, boto};
use crate::support::{Scratch, skip};

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
        ("get --host=127.0.0.1:1", "bucket warp-benchmark-bucket"),
        ("get --warp-client=127.0.0.1:1 --range", "add --range-size"),
        ("put --full", "not each request"),
        ("versioned", "measure the mix with `warp mixed`"),
    ] {
        let error = warp.refused(words);
        assert!(error.starts_with("warp: ") && error.contains(sentence), "{words}: {error}");
    }
    assert_eq!(fs::read(warp.scratch.path("one")).expect("a file"), before);
    assert!(warp.text("--help").contains("multipart-put"));
}

/// Objects of others in the bucket, and the way to it.
struct Store<'a> {
    server: &'a Server,
    warp: &'a Warp,
}

/// Small objects, and few of them.
const SMALL: &str = "--concurrent=2 --duration=2s --objects=20 --obj.size=10KiB";

impl Store<'_> {
    /// Words that name the server and its owner.
    fn access(&self) -> String {
        let (host, key) = (self.server.address(), Server::ACCESS_KEY);
        let secret = Server::SECRET_KEY;
        format!("--host={host} --access-key={key} --secret-key={secret} --bucket=others")
    }

    /// Runs a benchmark, and gives its text, which the file of its results has too.
    fn benchmark(&self, command: &str, words: &str) -> String {
        let line = format!("{command} {words} {} --benchdata={command} --quiet", self.access());
        let ran = self.warp.run(&line);
        let [out, err] =
            [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).expect("text"));
        let name = self.server.name();
        assert!(ran.status.success(), "{name} {command}: {out}{err}");
        let analyzed = self.warp.text(&format!("analyze {command}.json.zst"));
        assert_eq!(analyzed, out, "{name} {command}");
        let json = self.warp.text(&format!("analyze --json {command}.json.zst"));
        for text in [&out, &err, &json] {
            assert!(!text.contains(Server::SECRET_KEY), "{name} {command}: {text}");
        }
        out
    }

    /// Keys of the bucket.
    fn keys(&self) -> Option<String> {
        const LIST: &str = "
listed = s3.list_objects_v2(Bucket='others')
print(' '.join(entry['Key'] for entry in listed.get('Contents', [])))
";
        self.script(LIST)
    }

    fn script(&self, script: &str) -> Option<String> {
        let out = boto(self.server, &self.server.endpoint(), script, &[]);
        out.map(|out| out.trim().to_owned()).map_err(|reason| skip(&reason)).ok()
    }
}

const OTHERS: &str = "
s3.create_bucket(Bucket='others')
for key in ['a', 'b/c', 'warp-candor']:
    s3.put_object(Bucket='others', Key=key, Body=b'x' * 10000)
";

#[test]
fn benchmarks_have_results_and_leave_the_objects_of_others() {
    let warp = Warp::new();
    for server in Server::candidates(&warp.scratch) {
        let store = Store { server: &server, warp: &warp };
        if store.script(OTHERS).is_none() {
            return;
        }
        let puts = "--concurrent=2 --duration=2s";
        for (command, words, op) in [
            ("get", SMALL, "GET"),
            ("put", &format!("{puts} --obj.size=10KiB"), "PUT"),
            ("delete", &format!("{SMALL} --batch=3"), "DELETE"),
            ("list", &format!("{SMALL} --max-keys=5"), "LIST"),
            ("stat", SMALL, "STAT"),
            ("mixed", SMALL, "GET"),
            ("multipart", &format!("{puts} --parts=3"), "GETPART"),
            ("multipart-put", &format!("{puts} --parts=2 --part.concurrent=2"), "PUTPART"),
        ] {
            // s3proxy does not read an object by parts.
            if command == "multipart" && server.name() == "s3proxy" {
                let line = format!("multipart {words} {} --quiet", store.access());
                let ran = warp.run(&line);
                let error = String::from_utf8_lossy(&ran.stderr);
                assert!(!ran.status.success() && error.contains("requests failed: "), "{error}");
                continue;
            }
            let text = store.benchmark(command, words);
            let report = format!("Report: {op}. Concurrency: 2. Ran: ");
            let skipped = format!("Skipping {op}: too few samples.");
            let is_short = command == "delete" && text.contains(&skipped);
            assert!(text.contains(&report) || is_short, "{} {command}: {text}", server.name());
            assert_eq!(store.keys().as_deref(), Some("a b/c warp-candor"), "{command}");
        }
    }
}

#[test]
fn existing_objects_are_read_and_own_objects_kept_on_request() {
    let warp = Warp::new();
    let Some(server) = Server::candidates(&warp.scratch).next() else { return };
    let store = Store { server: &server, warp: &warp };
    if store.script(OTHERS).is_none() {
        return;
    }
    let text = store.benchmark("get", "--duration=2s --concurrent=2 --list-existing --list-flat");
    assert!(text.contains("Report: GET. Concurrency: 2."), "{text}");
    assert_eq!(store.keys().as_deref(), Some("a b/c warp-candor"));
    store.benchmark("stat", &format!("{SMALL} --noclear --prefix=p"));
    let keys = store.keys().expect("boto3 is there");
    let own = keys.split(' ').filter(|key| key.starts_with("p/warp-candor-"));
    assert_eq!(own.count(), 20, "{keys}");
    let stable = "--autoterm --autoterm.dur=1s --autoterm.pct=1000 --duration=1m --concurrent=1 \
                  --objects=2 --obj.size=1KiB --json";
    let line = format!("stat {stable} {} --benchdata=stable", store.access());
    let ran = warp.run(&line);
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("a document");
    let ran_ms = json["total"]["throughput"]["measure_duration_millis"].as_u64();
    assert!(ran_ms.is_some_and(|ms| (7000..30_000).contains(&ms)), "{json:#}");
    assert!(json["candor"]["verdict"].is_string(), "{json:#}");
    assert!(!String::from_utf8_lossy(&ran.stdout).contains(Server::SECRET_KEY));
    assert!(!String::from_utf8_lossy(&ran.stderr).contains(Server::SECRET_KEY));
}
