//! fio's engine `http` against servers of S3, WebDAV and Swift: objects by fio's names, checked
//! reads, real depth, failures with the server's words, and no secret in any output.

mod webdav;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::s3::{Fault, FaultProxy, Options, Server, boto};
use crate::support::{Ran, Report, Running, Scratch, skip};
use webdav::Webdav;

const BUCKET: &str = "jobs";

/// A server with an empty bucket; a skip with the reason where a program is missing.
fn server(scratch: &Scratch) -> Option<Server> {
    let made = Server::versitygw(scratch, &Options::default()).and_then(|server| {
        let script = format!("s3.create_bucket(Bucket='{BUCKET}')");
        boto(&server, &server.endpoint(), &script, &[]).map(|_| server)
    });
    made.map_err(|reason| skip(&reason)).ok()
}

/// Words of all jobs on S3 at an address.
fn access(address: &str, secret: &str) -> String {
    let user = Server::ACCESS_KEY;
    format!(
        "ioengine=http\nhttp_mode=s3\nhttp_host={address}\nhttp_s3_keyid={user}\n\
         http_s3_key={secret}\n"
    )
}

/// A run of fio, with its report.
struct Outcome {
    ran: Ran,
    report: Option<Report>,
    /// Output and report.
    texts: Vec<String>,
}

impl Outcome {
    /// A number of the requests of a phase's only job.
    fn http(&self, phase: usize, pointer: &str) -> f64 {
        let report = self.report.as_ref().expect("a report");
        report.number(&format!("/phases/{phase}/measurements/0/http/{pointer}"))
    }
}

/// Runs a job file, with more words.
fn fio(scratch: &Scratch, text: &str, words: &[&str]) -> Outcome {
    let file = scratch.file("job.fio", text);
    let report = scratch.outside("report.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.arg("fio").arg(file).args(words).current_dir(scratch.dir());
    command.env("CANDOR_JSON", &report);
    let ran = Running::start(&mut command, Stdio::null()).wait();
    let stored = fs::read_to_string(&report).ok();
    let texts = vec![ran.out.clone(), ran.err.clone(), stored.clone().unwrap_or_default()];
    let report = stored.map(|text| Report::of(&text));
    Outcome { ran, report, texts }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Names and sizes of the objects in a bucket's folder.
fn objects(server: &Server) -> BTreeMap<String, u64> {
    let bucket = server.data().join(BUCKET);
    let found = files(&bucket).into_iter().map(|path| {
        let name = path.strip_prefix(&bucket).expect("below the bucket");
        let bytes = path.metadata().expect("a file").len();
        (name.to_string_lossy().into_owned(), bytes)
    });
    found.collect()
}

#[test]
fn blocks_are_written_verified_read_and_trimmed() {
    let scratch = Scratch::new();
    let Some(server) = server(&scratch) else { return };
    let given = access(&server.address().to_string(), Server::SECRET_KEY);
    let global = format!("[global]\n{given}filename=/{BUCKET}/dir/file\nsize=256k\nbs=64k\n");
    let written = fio(
        &scratch,
        &format!("{global}[w]\nrw=randwrite\niodepth=4\nverify=crc32c\nverify_state_save=0\n"),
        &[],
    );
    assert_eq!(written.ran.code, Some(0), "{}\n{}", written.ran.out, written.ran.err);
    let names = [0, 65536, 131_072, 196_608].map(|at| format!("dir/file_{at}_65536"));
    let expected: BTreeMap<_, _> = names.iter().map(|name| (name.clone(), 65536)).collect();
    assert_eq!(objects(&server), expected);
    for op in ["write", "read_back"] {
        assert_eq!(written.http(0, &format!("operations/{op}/attempts")), 4.0, "{op}");
    }

    let read = fio(&scratch, &format!("{global}[r]\nrw=read\nverify=crc32c\n"), &[]);
    assert_eq!(read.ran.code, Some(0), "{}\n{}", read.ran.out, read.ran.err);
    // A changed object is found.
    let path = server.data().join(BUCKET).join(&names[2]);
    let mut bytes = fs::read(&path).expect("an object");
    bytes[5000] ^= 1;
    fs::write(&path, bytes).expect("an object can be written");
    let changed = fio(&scratch, &format!("{global}[r]\nrw=read\nverify=crc32c\n"), &[]);
    assert_ne!(changed.ran.code, Some(0), "{}", changed.ran.out);

    // A trim of a missing object is done, as in fio.
    for _ in 0..2 {
        let trimmed = fio(&scratch, &format!("{global}[t]\nrw=trim\niodepth=2\n"), &[]);
        assert_eq!(trimmed.ran.code, Some(0), "{}\n{}", trimmed.ran.out, trimmed.ran.err);
        assert_eq!(objects(&server), BTreeMap::new());
    }
    assert_eq!(scratch.entries(), [""; 0], "nothing is made on this host");
}

#[test]
fn depth_is_requests_in_flight() {
    let scratch = Scratch::new();
    let Some(server) = server(&scratch) else { return };
    let delay = Duration::from_millis(20);
    let proxy = FaultProxy::start(server.address(), move |request| {
        if request.method == "GET" { Fault::LateFirstByte { delay } } else { Fault::Pass }
    });
    let given = access(&proxy.address().to_string(), Server::SECRET_KEY);
    let global = format!("[global]\n{given}filename=/{BUCKET}/o\nsize=256k\nbs=8k\n");
    let jobs = "[w]\nrw=write\n[r]\nstonewall\nrw=randread\niodepth=8\n";
    let ran = fio(&scratch, &format!("{global}{jobs}"), &["--output-format=json"]);
    assert_eq!(ran.ran.code, Some(0), "{}\n{}", ran.ran.out, ran.ran.err);
    let gets = proxy.requests().into_iter().filter(|request| request.method == "GET");
    let gets: Vec<_> = gets.filter(|request| request.target.contains("_8192")).collect();
    let connections: BTreeSet<_> = gets.iter().map(|request| request.connection).collect();
    assert_eq!((gets.len(), connections.len()), (32, 8));
    assert_eq!(ran.http(1, "in_flight_seen"), 8.0);
}

#[test]
fn ranges_of_one_object() {
    let scratch = Scratch::new();
    let Some(server) = server(&scratch) else { return };
    fs::write(server.data().join(BUCKET).join("one"), vec![7; 65536]).expect("an object");
    let given = access(&server.address().to_string(), Server::SECRET_KEY);
    let job = format!(
        "[r]\n{given}http_object_mode=range\nfilename=/{BUCKET}/one\nsize=64k\nbs=4k\n\
         rw=randread\niodepth=4\n"
    );
    let ran = fio(&scratch, &job, &[]);
    assert_eq!(ran.ran.code, Some(0), "{}\n{}", ran.ran.out, ran.ran.err);
    assert_eq!(ran.http(0, "operations/read/statuses/0/status"), 206.0);
}

/// A job on an object that does not exist.
fn on_missing(given: &str, rw: &str) -> String {
    format!("[j]\n{given}filename=/{BUCKET}/missing\nsize=16k\nbs=4k\nrw={rw}\n")
}

#[test]
fn failures_have_the_words_of_the_server() {
    let scratch = Scratch::new();
    let Some(server) = server(&scratch) else { return };
    let address = server.address().to_string();
    let missing = fio(&scratch, &on_missing(&access(&address, Server::SECRET_KEY), "read"), &[]);
    assert_eq!(missing.ran.code, Some(1), "{}", missing.ran.out);
    let said = missing.texts.join("\n");
    assert!(said.contains("NoSuchKey") && said.contains("fio reads zeros"), "{said}");
    let denied = fio(&scratch, &on_missing(&access(&address, "wrong-secret"), "write"), &[]);
    assert_ne!(denied.ran.code, Some(0), "{}", denied.ran.out);
    let said = denied.texts.join("\n");
    assert!(said.contains("SignatureDoesNotMatch") || said.contains("403"), "{said}");
    assert!(!said.contains("wrong-secret"), "{said}");
    let relative = on_missing(&access(&address, Server::SECRET_KEY), "read")
        .replace("filename=/", "filename=");
    let refused = fio(&scratch, &relative, &[]);
    assert!(refused.ran.err.contains("begins with `/`"), "{}", refused.ran.err);
}

#[test]
fn no_output_has_a_secret() {
    let scratch = Scratch::new();
    let Some(server) = server(&scratch) else { return };
    let key = "0123456789hush67890123456789hush";
    let words = [
        "--output-format=json+,normal",
        "--name=w",
        "--ioengine=http",
        "--http_mode=s3",
        &format!("--http_host={}", server.address()),
        &format!("--http_s3_keyid={}", Server::ACCESS_KEY),
        &format!("--http_s3_key={}", Server::SECRET_KEY),
        "--http_s3_storage_class=STANDARD",
        &format!("--filename=/{BUCKET}/o"),
        "--size=16k",
        "--rw=write",
        &format!("--http_s3_sse_customer_key={key}"),
    ];
    let ran = fio(&scratch, "", &words);
    assert!(ran.report.is_some(), "{}\n{}", ran.ran.out, ran.ran.err);
    for text in &ran.texts {
        for secret in [Server::SECRET_KEY, key] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(ran.ran.out.contains("\"http_s3_key\" : \"***\""), "{}", ran.ran.out);
    let shown = fio(&scratch, "", &[&["--showcmd"], &words[1..]].concat());
    assert!(!shown.ran.out.contains(Server::SECRET_KEY), "{}", shown.ran.out);
    let plan = Command::new(env!("CARGO_BIN_EXE_candor"))
        .args(["convert", "fio"])
        .args(&words[1..])
        .output()
        .expect("candor starts");
    let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(plan.contains("[[bucket]]") && !plan.contains(Server::SECRET_KEY), "{plan}");
}

#[test]
fn webdav_and_swift_have_their_logins() {
    let scratch = Scratch::new();
    // base64 of user:word.
    for (mode, login, given) in [
        ("webdav", "authorization: Basic dXNlcjp3b3Jk", "http_user=user\nhttp_pass=word\n"),
        ("swift", "x-auth-token: word", "http_swift_auth_token=word\n"),
    ] {
        let server = Webdav::start(login);
        let job = format!(
            "[j]\nioengine=http\nhttp_mode={mode}\nhttp_host={}\n{given}filename=/a/b/c d\n\
             size=32k\nbs=8k\nrw=randrw\nrwmixread=0\nverify=md5\niodepth=2\n",
            server.address()
        );
        let ran = fio(&scratch, &job, &[]);
        assert_eq!(ran.ran.code, Some(0), "{mode}: {}\n{}", ran.ran.out, ran.ran.err);
        let names = server.names();
        let expected = [0, 16384, 24576, 8192].map(|at| format!("/a/b/c%20d_{at}_8192"));
        assert_eq!(names, BTreeSet::from(expected), "{mode}");
        let wrong = fio(&scratch, &job.replace("word", "hush"), &[]);
        assert_ne!(wrong.ran.code, Some(0), "{mode}: {}", wrong.ran.out);
        assert!(wrong.texts.iter().all(|text| !text.contains("hush")), "{mode}");
    }
}
