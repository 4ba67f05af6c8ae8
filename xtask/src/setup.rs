//! Installs what tests need beyond Rust.

mod servers;

use std::path::{Path, PathBuf};
use std::process::Command;

/// (program, package of Debian and Ubuntu, what tests use it for)
const NEEDS: &[(&str, &str, &str)] = &[
    ("fio", "fio", "its job files and its figures"),
    ("iostat", "sysstat", "a second opinion on device counters"),
    ("mkfs.ext4", "e2fsprogs", "file systems on scratch devices"),
    ("mkfs.xfs", "xfsprogs", "file systems on scratch devices"),
    ("mkfs.btrfs", "btrfs-progs", "file systems on scratch devices"),
    ("losetup", "mount", "scratch devices"),
    ("lsblk", "util-linux", "a second opinion on the block devices"),
    ("ip", "iproute2", "hosts in network namespaces, here and in the lab"),
    ("jq", "jq", "recipes that read JSON"),
    ("zsh", "zsh", "its completions"),
    ("fish", "fish", "its completions"),
    ("python3", "python3-venv", "programs that read results"),
    ("chromium", "chromium", "pages that candor writes"),
    ("chromedriver", "chromium-driver", "pages that candor writes"),
    ("qemu-system-x86_64", "qemu-system-x86", "the lab's machine"),
    ("busybox", "busybox-static", "the lab's guest"),
    ("depmod", "kmod", "the lab's modules"),
    ("xz", "xz-utils", "the lab's modules"),
    ("strip", "binutils", "a small program for the lab's guest"),
    ("mdadm", "mdadm", "arrays in the lab"),
    ("dmsetup", "dmsetup", "mapped devices in the lab"),
    ("lvm", "lvm2", "volumes in the lab"),
    ("make-bcache", "bcache-tools", "tiered devices in the lab"),
    ("blktrace", "blktrace", "a second opinion on single requests"),
    ("promtool", "prometheus", "a real reader of metrics"),
    ("mpirun.openmpi", "openmpi-bin", "launch lines of IOR and mdtest"),
    ("mpiexec.hydra", "mpich", "launch lines of IOR and mdtest"),
    ("slurmctld", "slurmctld", "launch lines of IOR by srun"),
    ("slurmd", "slurmd", "launch lines of IOR by srun"),
    ("srun", "slurm-client", "launch lines of IOR by srun"),
    ("munged", "munge", "keys of Slurm"),
    ("java", "default-jre-headless", "s3proxy, an S3 server"),
    ("mvn", "maven", "fetching s3proxy"),
];

/// Services that packages start, and that no test needs: tests start their own.
const SERVICES: &[&str] = &["munge", "slurmctld", "slurmd"];

/// Programs and libraries of the Python package index: (name, package).
const PYTHON_NEEDS: &[(&str, &str)] = &[
    ("fio-plot", "fio-plot==1.1.21"),
    ("hwbench", "hwbench==0.8.0"),
    ("prometheus_client", "prometheus-client==0.26.0"),
    ("boto3", "boto3==1.44.8"),
];

/// Where programs are, beside `PATH`: a user's may lack the administrator's folders.
const ADMIN_FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// Installs what is missing where that is possible; true if nothing is missing afterwards.
pub fn command(root: &Path) -> bool {
    let (system, python, servers) = (system(), python(root), servers::command(&tools(root)));
    system && python && servers
}

/// True if the S3 servers of the tests are there.
pub fn has_servers(root: &Path) -> bool {
    servers::are_there(&tools(root))
}

/// Below the target folder, for programs that only tests need.
pub fn tools(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("tools")
}

/// Python programs in an environment of their own.
fn python(root: &Path) -> bool {
    let environment = tools(root).join("python");
    let missing = || {
        PYTHON_NEEDS.iter().filter(|(name, _)| !has_python(&environment, name)).collect::<Vec<_>>()
    };
    if missing().is_empty() {
        return true;
    }
    let make = || run(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    if make() || (is_root() && find("apt-get") && install(&["python3-venv"]) && make()) {
        for (_, package) in missing() {
            let words = ["install", "--quiet", "--disable-pip-version-check", package];
            // One that cannot be installed is told below.
            let _ = run(Command::new(environment.join("bin/pip")).args(words));
        }
    }
    for (name, package) in missing() {
        eprintln!("missing: {name} (Python package {package}), for tests");
    }
    missing().is_empty()
}

/// Whether an environment has a program or a library of that name.
fn has_python(environment: &Path, name: &str) -> bool {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let mut libraries = versions.map(|version| version.path().join("site-packages").join(name));
    environment.join("bin").join(name).is_file() || libraries.any(|library| library.is_dir())
}

fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

/// Packages of the system.
fn system() -> bool {
    let missing = missing(NEEDS, find);
    if missing.is_empty() {
        println!("everything that the tests need is there");
        return true;
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    if is_root() && find("apt-get") {
        let installed = install(&packages) || (update() && install(&packages));
        if !installed {
            eprintln!("apt-get could not install: {}", packages.join(" "));
        }
        SERVICES.iter().filter(|service| packages.contains(service)).for_each(end_service);
    }
    let missing = self::missing(NEEDS, find);
    for (program, package, purpose) in &missing {
        eprintln!("missing: {program} (package {package}), for {purpose}");
    }
    missing.is_empty()
}

type Need = (&'static str, &'static str, &'static str);

fn missing(needs: &[Need], there: impl Fn(&str) -> bool) -> Vec<Need> {
    needs.iter().filter(|(program, _, _)| !there(program)).copied().collect()
}

/// True if a program of this name can be started.
pub fn find(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut folders = path.split(':').chain(ADMIN_FOLDERS.split(':'));
    folders.any(|folder| Path::new(folder).join(program).is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim() == "0")
}

fn install(packages: &[&str]) -> bool {
    let mut apt = apt();
    apt.args(["install", "--yes", "--quiet", "--no-install-recommends"]);
    run(apt.args(packages))
}

/// Ends a service that a package has just brought, now and for good.
fn end_service(service: &&str) {
    for (program, word) in [("invoke-rc.d", "stop"), ("update-rc.d", "disable")] {
        // Where nothing starts services there is none to end.
        let _ = run(Command::new(program).args([service, word]));
    }
}

fn update() -> bool {
    run(apt().args(["update", "--quiet"]))
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_is_missing() {
        assert!(missing(NEEDS, |_| true).is_empty());
        let missing = missing(NEEDS, |program| program != "fio");
        assert_eq!(missing.iter().map(|need| need.0).collect::<Vec<_>>(), ["fio"]);
        assert!(find("sh") && !find("no program has this name"));
    }
}
