//! S3 servers that tests start, below the tools' folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{find, install, is_root};

/// Module of versitygw, without its version.
const VERSITYGW_MODULE: &str = "github.com/versity/versitygw/cmd/versitygw";
/// Version of versitygw; `tests/support/s3` has the same one.
const VERSITYGW_VERSION: &str = "1.8.0";

/// File of s3proxy with all that it needs; `tests/support/s3` has the same one.
const S3PROXY_JAR: &str = "s3proxy-4.1.0-jar-with-dependencies.jar";
/// Artefact of that file.
const S3PROXY_ARTEFACT: &str = "org.gaul:s3proxy:4.1.0:jar:jar-with-dependencies";
/// Maven's goal that copies an artefact.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// First minor version of Go 1 that fetches the compiler that a module requires.
const GO_MINOR_MIN: u32 = 21;

/// Installs missing servers; true if none is missing afterwards.
pub fn command(tools: &Path) -> bool {
    let mut complete = true;
    for (name, result) in [("versitygw", versitygw(tools)), ("s3proxy", s3proxy(tools))] {
        if let Err(reason) = result {
            eprintln!("missing: {name}, an S3 server for tests: {reason}");
            complete = false;
        }
    }
    complete
}

/// True if no server is missing.
pub fn are_there(tools: &Path) -> bool {
    versitygw_folder(tools).join("versitygw").is_file() && tools.join(S3PROXY_JAR).is_file()
}

fn versitygw_folder(tools: &Path) -> PathBuf {
    tools.join(format!("versitygw-{VERSITYGW_VERSION}"))
}

/// Builds versitygw; the reason on failure.
fn versitygw(tools: &Path) -> Result<(), String> {
    let folder = versitygw_folder(tools);
    if folder.join("versitygw").is_file() {
        return Ok(());
    }
    go()?;
    println!("building versitygw into {}: this takes some minutes, once", folder.display());
    let module = format!("{VERSITYGW_MODULE}@v{VERSITYGW_VERSION}");
    run(Command::new("go").args(["install", &module]).env("GOBIN", &folder))
}

/// Fetches s3proxy; the reason on failure.
fn s3proxy(tools: &Path) -> Result<(), String> {
    if tools.join(S3PROXY_JAR).is_file() {
        return Ok(());
    }
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", COPY]);
    maven.arg(format!("-Dartifact={S3PROXY_ARTEFACT}"));
    run(maven.arg(format!("-DoutputDirectory={}", tools.display())))
}

/// Go, installed if the system's package is new enough; the reason on failure.
fn go() -> Result<(), String> {
    if find("go") {
        return Ok(());
    }
    if !is_root() || !find("apt-get") {
        return Err("it needs the program go".to_owned());
    }
    let shown = Command::new("apt-cache").args(["show", "--no-all-versions", "golang-go"]).output();
    let shown = shown.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let shown = shown.unwrap_or_default();
    let version = shown.lines().find_map(|line| line.strip_prefix("Version: "));
    match version.and_then(go_minor) {
        Some(GO_MINOR_MIN..) if install(&["golang-go"]) => Ok(()),
        Some(GO_MINOR_MIN..) => Err("apt-get could not install golang-go".to_owned()),
        Some(minor) => {
            let needs = format!("it needs the program go, 1.{GO_MINOR_MIN} or later");
            Err(format!("{needs}; the package golang-go has 1.{minor}"))
        }
        None => Err("it needs the program go, and no package golang-go is known".to_owned()),
    }
}

/// Minor version of Go 1 in the version of its package.
fn go_minor(version: &str) -> Option<u32> {
    let version = version.split_once(':').map_or(version, |(_, version)| version);
    let minor = version.strip_prefix("1.")?;
    minor.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Runs a program. On failure: its first line with an error, else its last line.
fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let error = text.lines().find(|line| line.to_ascii_lowercase().contains("error"));
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    Err(format!("{program}: {}", error.or(last).unwrap_or("no reason given")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_go_are_read_from_versions_of_the_package() {
        assert_eq!(go_minor("2:1.19~1"), Some(19));
        assert_eq!(go_minor("1.24.4-1"), Some(24));
        assert_eq!(go_minor("2:2.0~1"), None);
        assert_eq!(go_minor(""), None);
    }

    #[test]
    fn a_failure_ends_with_the_words_of_the_program() {
        for (script, reason) in [
            ("echo first; echo last >&2; exit 1", "sh: last"),
            (
                "echo first; echo '[ERROR] no such file'; echo last; exit 1",
                "sh: [ERROR] no such file",
            ),
            ("exit 1", "sh: no reason given"),
        ] {
            assert_eq!(run(Command::new("sh").args(["-c", script])), Err(reason.to_owned()));
        }
        assert_eq!(run(&mut Command::new("true")), Ok(()));
        assert!(run(&mut Command::new("no program has this name")).is_err());
    }
}
