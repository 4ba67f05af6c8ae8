//! Everything that must hold before a change goes in, with one count at the end.
//!
//! Each gate (format, lints, licences, house rules) counts as one test.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{setup, tidy};

/// How long the advisory database may take to arrive before that gate is skipped.
const FETCH_LIMIT: Duration = Duration::from_secs(60);

/// Tests that may be skipped: advisories without a network, two of the block tracer where the
/// kernel is locked down, and four more on a busy host. Above that, a run has shown too little to
/// pass.
const SKIPPED_MAX: u64 = 7;

/// Further tests that may be skipped where an S3 server could not be installed.
const SKIPPED_WITHOUT_SERVERS: u64 = 60;

/// Sum of the tests' results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn one(passed: bool) -> Count {
        Count { passed: u64::from(passed), failed: u64::from(!passed), skipped: 0 }
    }

    /// A sentence where more was skipped than may be.
    fn too_many_skipped(&self, most: u64) -> Option<String> {
        let skipped = self.skipped;
        (skipped > most).then(|| {
            format!("{skipped} tests were skipped, at most {most} may be; this counts as failed")
        })
    }

    const SKIPPED: Count = Count { passed: 0, failed: 0, skipped: 1 };
}

/// Runs all of it; true if nothing failed and no more was skipped than may be.
pub fn command(root: &Path) -> bool {
    // The one waits for downloads, the other compiles.
    let deny = std::thread::scope(|scope| {
        let deny = scope.spawn(|| cargo_deny(root));
        if !setup::command(root) {
            println!("tests that need what is missing will be skipped");
        }
        deny.join().unwrap_or_default()
    });
    let mut total = Count::default();
    gate(&mut total, "format", || Count::one(cargo(root, &["fmt", "--all", "--check"])));
    let lints =
        ["clippy", "--workspace", "--all-targets", "--quiet", "--locked", "--", "-D", "warnings"];
    gate(&mut total, "lints", || Count::one(cargo(root, &lints)));
    gate(&mut total, "house rules", || Count::one(tidy::command(root)));
    dependencies(&mut total, root, deny.as_deref());
    gate(&mut total, "tests", || tests(root));
    let without_servers = if setup::has_servers(root) { 0 } else { SKIPPED_WITHOUT_SERVERS };
    if let Some(breach) = total.too_many_skipped(SKIPPED_MAX + without_servers) {
        println!("{breach}");
        total.failed += 1;
    }
    println!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
    total.failed == 0
}

/// Runs the gates that need no root and few minutes: format and house rules of everything, lints
/// and unit tests of the packages that differ from `base`.
pub fn quick(root: &Path, base: Option<&str>) -> bool {
    let mut total = Count::default();
    gate(&mut total, "format", || Count::one(cargo(root, &["fmt", "--all", "--check"])));
    gate(&mut total, "house rules", || Count::one(tidy::command(root)));
    let Some(packages) = changed_packages(root, base) else {
        eprintln!("git cannot name the files that changed since {}", base.unwrap_or(LAST_COMMIT));
        return false;
    };
    println!("changed packages: {}", packages.join(" "));
    if !packages.is_empty() {
        let of = |words: &[&'static str]| {
            let flags = packages.iter().flat_map(|name| ["--package", name]);
            words.iter().copied().chain(flags).map(str::to_owned).collect::<Vec<String>>()
        };
        let lints = of(&["clippy", "--all-targets", "--quiet", "--locked"]);
        let deny = ["--", "-D", "warnings"].map(str::to_owned);
        gate(&mut total, "lints", || Count::one(cargo(root, &[lints, deny.into()].concat())));
        let mut unit_tests = of(&["test", "--bins", "--no-fail-fast", "--locked"]);
        // Cargo refuses `--lib` where none of the packages is a library.
        if packages.iter().any(|name| name.starts_with("candor-")) {
            unit_tests.push("--lib".to_owned());
        }
        gate(&mut total, "unit tests", || Count::one(cargo(root, &unit_tests)));
    }
    println!("{} gates passed, {} failed", total.passed, total.failed);
    total.failed == 0
}

/// The commit that `quick` compares with unless another one is named.
const LAST_COMMIT: &str = "HEAD~1";

/// Packages with a file that differs from `base`, or that git does not know yet.
fn changed_packages(root: &Path, base: Option<&str>) -> Option<Vec<String>> {
    let lines = |words: &[&str]| {
        let out = Command::new("git").current_dir(root).args(words).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        out.status.success().then(|| text.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let mut files = lines(&["diff", "--name-only", base.unwrap_or(LAST_COMMIT)])?;
    files.extend(lines(&["ls-files", "--others", "--exclude-standard"])?);
    // The other version may have packages that are gone.
    let files = files.iter().filter(|file| {
        let folder = file.split('/').take(2).collect::<PathBuf>();
        !file.starts_with("crates/") || root.join(folder).join("Cargo.toml").is_file()
    });
    let packages: BTreeSet<String> = files.filter_map(|file| package_of(file)).collect();
    Some(packages.into_iter().collect())
}

/// The package that a file of the repository belongs to.
fn package_of(file: &str) -> Option<String> {
    let mut folders = file.split('/');
    match (folders.next()?, folders.next()?) {
        // Whole-program tests are targets of the program's package.
        ("tests", _) | ("crates", "candor") => Some("candor".to_owned()),
        ("crates", name) => Some(format!("candor-{name}")),
        ("xtask", _) => Some("xtask".to_owned()),
        (folder @ ("bench" | "lab"), _) => Some(format!("candor-{folder}")),
        _ => None,
    }
}

/// Runs one gate, saying which and how long it took.
fn gate(total: &mut Count, name: &str, run: impl FnOnce() -> Count) {
    println!("== {name}");
    let began = Instant::now();
    let count = run();
    let word = match count {
        Count { failed: 1.., .. } => "failed",
        Count { passed: 0, .. } => "skipped",
        _ => "passed",
    };
    println!("== {name}: {word} in {:.1} s", began.elapsed().as_secs_f64());
    total.add(count);
}

fn cargo(root: &Path, words: &[impl AsRef<OsStr>]) -> bool {
    let status = cargo_command(root).args(words).status();
    status.is_ok_and(|status| status.success())
}

/// Cargo in the repository.
pub fn cargo_command(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// Licences, sources and duplicates of dependencies; known vulnerabilities where the network is.
fn dependencies(total: &mut Count, root: &Path, deny: Option<&Path>) {
    let check = |words: &[&str]| match deny {
        Some(deny) => {
            let mut check = Command::new(deny);
            check.current_dir(root).args(["--locked", "check", "--hide-inclusion-graph"]);
            Count::one(check.args(words).status().is_ok_and(|status| status.success()))
        }
        None => Count::SKIPPED,
    };
    gate(total, "dependencies", || check(&["bans", "licenses", "sources"]));
    gate(total, "advisories", || match deny {
        Some(deny) if fetched(root, deny) => check(&["--disable-fetch", "advisories"]),
        _ => Count::SKIPPED,
    });
}

/// True if the advisory database could be fetched in time.
fn fetched(root: &Path, deny: &Path) -> bool {
    let mut fetch = Command::new(deny);
    fetch.current_dir(root).args(["fetch", "db"]).env("GIT_TERMINAL_PROMPT", "0");
    let Ok(mut child) = fetch.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let began = Instant::now();
    while began.elapsed() < FETCH_LIMIT {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(100)),
            Err(_) => break,
        }
    }
    // Failing to end it, or to collect it, changes nothing for the gate: it is skipped.
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// cargo-deny: the one on PATH, else our own below `target`, built if need be (some minutes).
fn cargo_deny(root: &Path) -> Option<PathBuf> {
    if setup::find("cargo-deny") {
        return Some("cargo-deny".into());
    }
    let tools = setup::tools(root);
    let deny = tools.join("bin/cargo-deny");
    if !deny.is_file() {
        println!("building cargo-deny into {}: this takes some minutes, once", tools.display());
        let mut install = cargo_command(root);
        // Not optimised: its build takes minutes, its checks a second.
        install.args(["install", "cargo-deny", "--locked", "--quiet", "--version", "^0.20"]);
        install.arg("--debug").env("CARGO_PROFILE_DEV_DEBUG", "0");
        // Nothing else of that build is of use here, so its own folder goes with it.
        if !install.arg("--root").arg(&tools).status().is_ok_and(|status| status.success()) {
            println!("skipped: cargo-deny is not here and could not be built");
            return None;
        }
    }
    Some(deny)
}

/// All tests of the workspace, counted over all test binaries.
fn tests(root: &Path) -> Count {
    let mut command = cargo_command(root);
    command.args(["test", "--workspace", "--tests", "--no-fail-fast", "--locked"]);
    command.args(["--", "--show-output"]);
    // Most whole-program tests wait for a time, a process or their turn alone on the host: three
    // threads for each CPU take a quarter less time than three threads for two CPUs.
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    command.env("RUST_TEST_THREADS", (3 * cpus).to_string());
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        eprintln!("cargo could not be started");
        return Count::one(false);
    };
    let path = root.join("target/tests.log");
    let mut log = std::fs::File::create(&path).ok();
    let mut tally = Tally::default();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
            if let Some(file) = &mut log {
                // The screen has what counts, so a log that cannot be written fails nothing.
                let _ = file.write_all(&line).and_then(|()| file.write_all(b"\n"));
            }
            if let Some(line) = tally.line(&String::from_utf8_lossy(&line)) {
                println!("{line}");
            }
        }
    }
    let success = child.wait().is_ok_and(|status| status.success());
    for line in &tally.failures {
        println!("{line}");
    }
    println!("each test by name, with its output: {}", path.display());
    tally.count(success)
}

/// Reads the output of test binaries, which was asked for with `--show-output`.
#[derive(Default)]
struct Tally {
    count: Count,
    /// Tests that said that they were skipped; they ended without a failure, hence as passed.
    said_skipped: u64,
    /// The test whose output is being shown.
    test: String,
    /// That test has already been counted as skipped.
    skipped: bool,
    /// The output being shown is that of tests that failed.
    failing: bool,
    /// Output of all tests that failed, told at the end: there it is found.
    failures: Vec<String>,
}

impl Tally {
    /// The line, where it is worth telling at once: sum, skip, failure, or a test that takes long.
    fn line(&mut self, line: &str) -> Option<String> {
        if let Some(figures) = line.strip_prefix("test result: ") {
            self.result(figures);
            return Some(line.to_owned());
        }
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.split(' ').next()) {
            (self.test, self.skipped) = (test.to_owned(), false);
        } else if line.starts_with("running ") || line == "successes:" {
            (self.skipped, self.failing) = (false, false);
        } else if line == "failures:" {
            self.failing = true;
        } else if line.starts_with("skipped:") && !self.skipped && !self.failing {
            self.skipped = true;
            self.said_skipped += 1;
            return Some(format!("{}: {line}", self.test));
        }
        if self.failing {
            self.failures.push(line.to_owned());
        }
        let told = line.starts_with("test ") && !line.ends_with(" ... ok");
        told.then(|| line.to_owned())
    }

    /// Adds what one test binary said at its end.
    fn result(&mut self, figures: &str) {
        let figure = |name: &str| {
            let words: Vec<&str> = figures.split([' ', ';', '.']).collect();
            let at = words.iter().position(|word| *word == name)?;
            words.get(at.checked_sub(1)?)?.parse().ok()
        };
        self.count.passed += figure("passed").unwrap_or(0);
        self.count.failed += figure("failed").unwrap_or(0);
        self.count.skipped += figure("ignored").unwrap_or(0);
        self.failing = false;
    }

    /// The count; what failed without a failing test, such as a build, counts as one.
    fn count(self, success: bool) -> Count {
        let mut count = self.count;
        count.passed = count.passed.saturating_sub(self.said_skipped);
        count.skipped += self.said_skipped;
        count.failed += u64::from(!success && count.failed == 0);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a ... ok
test b ... ok
test c ... ok

successes:

---- a stdout ----
skipped: no root
skipped: no root, said twice
---- b stdout ----
not skipped: that is only a word

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 1 test
test d ... FAILED

successes:

failures:

---- d stdout ----
skipped: no, this one failed

failures:
    d

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s";

    fn tally(output: &str) -> Tally {
        let mut tally = Tally::default();
        for line in output.lines() {
            tally.line(line);
        }
        tally
    }

    #[test]
    fn sums_skips_and_failures_are_told_and_nothing_else() {
        let mut tally = Tally::default();
        let told: Vec<String> = OUTPUT.lines().filter_map(|line| tally.line(line)).collect();
        let starts = ["a: skipped: no root", "test result: ok", "test d ... FAILED", "test result"];
        assert_eq!(told.len(), starts.len(), "{told:?}");
        assert!(told.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{told:?}");
        assert!(tally.failures.contains(&"---- d stdout ----".to_owned()), "{:?}", tally.failures);
        assert!(!tally.failures.iter().any(|line| line.contains("---- a")), "{:?}", tally.failures);
    }

    #[test]
    fn results_of_all_binaries_are_added_up() {
        let count = tally(OUTPUT).count(false);
        assert_eq!(count, Count { passed: 3, failed: 2, skipped: 2 });
    }

    #[test]
    fn a_failure_without_a_failing_test_counts() {
        assert_eq!(tally("").count(false), Count { passed: 0, failed: 1, skipped: 0 });
        assert_eq!(tally("").count(true), Count::default());
    }

    #[test]
    fn files_belong_to_packages() {
        let cases = [
            ("crates/plan/src/lib.rs", Some("candor-plan")),
            ("crates/candor/Cargo.toml", Some("candor")),
            ("tests/dd/faults.rs", Some("candor")),
            ("docs/index.md", None),
            ("xtask/src/main.rs", Some("xtask")),
            ("bench/src/lib.rs", Some("candor-bench")),
            ("README.md", None),
        ];
        for (file, package) in cases {
            assert_eq!(package_of(file).as_deref(), package, "{file}");
        }
    }

    #[test]
    fn skips_are_bounded() {
        let count = Count { skipped: 8, ..Count::default() };
        assert_eq!(count.too_many_skipped(8), None);
        assert!(count.too_many_skipped(7).is_some_and(|said| said.starts_with("8 tests")));
    }
}
