//! candor next to a bare `hyper` loop and `boto3`: `objects CANDOR URL BUCKET [ROUNDS] [SECONDS]`.
//!
//! All three put and get the same objects of the same server in turn, in each round. The bucket
//! must exist and be empty. `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` name the user;
//! `PYTHON` names a Python with `boto3`, which is left out if the variable is not set. A table on
//! stdout.

use std::path::{Path, PathBuf};
use std::process::Command;

use candor_bench::stats::Spread;
use serde_json::Value;

/// One kind of work.
struct Row {
    op: &'static str,
    bytes: u64,
    depth: u32,
    keys: u64,
}

const ROWS: [Row; 6] = [
    Row { op: "put", bytes: 4096, depth: 1, keys: 500 },
    Row { op: "get", bytes: 4096, depth: 1, keys: 500 },
    Row { op: "put", bytes: 4096, depth: 16, keys: 500 },
    Row { op: "get", bytes: 4096, depth: 16, keys: 500 },
    Row { op: "put", bytes: 8 << 20, depth: 4, keys: 32 },
    Row { op: "get", bytes: 8 << 20, depth: 4, keys: 32 },
];

/// Result of one run.
#[derive(Clone, Copy, Default)]
struct Figures {
    ops_per_s: f64,
    user_us: f64,
}

const BOTO: &str = "
import boto3, os, resource, sys, threading, time
from botocore.config import Config
url, bucket, op, size, depth, seconds, keys = sys.argv[1:8]
size, depth, seconds, keys = int(size), int(depth), float(seconds), int(keys)
config = Config(retries={'max_attempts': 0}, max_pool_connections=depth,
                request_checksum_calculation='when_required')
s3 = boto3.client('s3', endpoint_url=url, region_name='us-east-1', config=config)
data, counts, until = b'7' * size, [0] * depth, time.monotonic() + seconds
def work(n):
    at = n
    while time.monotonic() < until:
        key = f'f{at % keys}'
        if op == 'put':
            s3.put_object(Bucket=bucket, Key=key, Body=data)
        else:
            s3.get_object(Bucket=bucket, Key=key)['Body'].read()
        counts[n] += 1
        at += 1
began, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
threads = [threading.Thread(target=work, args=(n,)) for n in range(depth)]
[t.start() for t in threads]; [t.join() for t in threads]
ops, user = sum(counts), resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu
print('{\"iops\": %f, \"user_us_per_op\": %f}' % (ops / (time.monotonic() - began), user * 1e6 / ops))
";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, url, bucket, rest @ ..] = &words[..] else {
        eprintln!("usage: objects CANDOR URL BUCKET [ROUNDS] [SECONDS]");
        std::process::exit(2);
    };
    let number = |at: usize, default: f64| {
        rest.get(at).map_or(default, |word| word.parse().expect("a number"))
    };
    let (rounds, seconds) = (number(0, 11.0) as usize, number(1, 2.0));
    let place = Place { url, bucket, seconds };
    println!("| work | candor | bare hyper loop | ratio | boto3 | user CPU, candor | bare |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for row in &ROWS {
        let mut all: [Vec<Figures>; 3] = Default::default();
        for _ in 0..rounds {
            all[0].push(place.candor(candor, row));
            all[1].push(place.bare(row));
            all[2].extend(place.boto(row));
        }
        print(row, &all);
    }
}

/// Server of a comparison.
struct Place<'a> {
    url: &'a str,
    bucket: &'a str,
    seconds: f64,
}

impl Place<'_> {
    fn words(&self, row: &Row) -> [String; 7] {
        let Place { url, bucket, seconds } = self;
        let (bytes, depth, keys) =
            (row.bytes.to_string(), row.depth.to_string(), row.keys.to_string());
        let (url, bucket) = ((*url).to_owned(), (*bucket).to_owned());
        [url, bucket, row.op.to_owned(), bytes, depth, seconds.to_string(), keys]
    }

    fn bare(&self, row: &Row) -> Figures {
        let own = std::env::current_exe().expect("a path of this program");
        let mut command = Command::new(own.with_file_name("bare_http"));
        line(command.args(self.words(row)))
    }

    fn boto(&self, row: &Row) -> Option<Figures> {
        let python = std::env::var_os("PYTHON")?;
        let mut command = Command::new(python);
        Some(line(command.arg("-c").arg(BOTO).args(self.words(row))))
    }

    /// Puts or gets with the keys that the others use, by a plan.
    fn candor(&self, candor: &str, row: &Row) -> Figures {
        let Place { url, bucket, seconds } = self;
        let Row { op, bytes, depth, keys } = row;
        let folder = std::env::temp_dir();
        let [plan, report] = ["plan.toml", "report.json"]
            .map(|end| folder.join(format!("candor-objects-{}-{end}", std::process::id())));
        let text = format!(
            "version = 2\n[[bucket]]\nname = \"b\"\nbucket = \"{bucket}\"\n\
             endpoints = [\"{url}\"]\nkeep = true\noverwrite = true\n\
             keys.tree = {{ items = {keys}, file_size = {bytes} }}\n\
             [[phase]]\nstop.time = \"{seconds}s\"\n[[phase.job]]\n\
             work.objects = {{ buckets = [\"b\"], op = \"{op}\", depth = {depth}, \
             payload = \"unsigned\" }}\n"
        );
        std::fs::write(&plan, text).expect("a plan that can be written");
        let run = Command::new(candor)
            .args(["run".as_ref(), plan.as_os_str(), "--json".as_ref(), report.as_os_str()])
            .env("CANDOR_HISTORY", "off")
            .output()
            .expect("candor starts");
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{errors}");
        let figures = of_report(&report, op);
        for path in [&plan, &report] {
            std::fs::remove_file(path).expect("a file of this program");
        }
        figures
    }
}

/// Rate and user CPU in a report of candor.
fn of_report(path: &PathBuf, op: &str) -> Figures {
    let text = std::fs::read_to_string(Path::new(path)).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let measurement = &report["phases"][0]["measurements"][0];
    let done = &measurement["operations"][op];
    let ops = done["ops"].as_f64().unwrap_or(0.0);
    let workers = measurement["per_worker"].as_array().into_iter().flatten();
    let user_ns: f64 = workers.filter_map(|worker| worker["cpu_user_ns"].as_f64()).sum();
    let ops_per_s = done["ops_per_s"].as_f64().unwrap_or(0.0);
    Figures { ops_per_s, user_us: user_ns / 1e3 / ops }
}

/// Rate and user CPU in the line of another program.
fn line(command: &mut Command) -> Figures {
    let run = command.output().expect("a program that starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let value: Value = serde_json::from_slice(&run.stdout).expect("a line of JSON");
    let of = |key: &str| value[key].as_f64().unwrap_or(0.0);
    Figures { ops_per_s: of("iops"), user_us: of("user_us_per_op") }
}

fn print(row: &Row, all: &[Vec<Figures>; 3]) {
    let [candor, bare, boto] = all;
    let text = |values: Option<Spread>, decimals| {
        values.map_or("-".to_owned(), |spread| spread.text(decimals))
    };
    let rate = |figures: &[Figures]| text(Spread::of(figures.iter().map(|f| f.ops_per_s)), 0);
    let user = |figures: &[Figures]| text(Spread::of(figures.iter().map(|f| f.user_us)), 1);
    let ratios = candor.iter().zip(bare).map(|(a, b)| a.ops_per_s / b.ops_per_s);
    let size = if row.bytes < 1 << 20 { "4 KiB" } else { "8 MiB" };
    println!(
        "| {} {size}, depth {} | {} | {} | {} | {} | {} µs | {} µs |",
        row.op,
        row.depth,
        rate(candor),
        rate(bare),
        text(Spread::of(ratios), 2),
        rate(boto),
        user(candor),
        user(bare),
    );
}
