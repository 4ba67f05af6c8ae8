//! The files of a release: binaries, without paths of their builder and hardened, in archives,
//! packages and a container image.
//!
//! Cargo's own `trim-paths` is not stable, and flags in its configuration cannot name the folder of
//! a checkout. So the flags are computed here.

mod contents;
mod package;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::setup;
use crate::suite::cargo_command;

/// Separates the words of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// A folder of the builder, and its name in the binary.
struct Remap {
    from: PathBuf,
    to: &'static str,
}

/// Newest C library that a binary may need: of RHEL 8 and SLES 15.
const GLIBC_MAX: Version = Version { major: 2, minor: 28 };

/// Version of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// C library of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Libc {
    /// Shared, of the host.
    Glibc,
    /// Part of the binary, which runs on any host.
    Musl,
}

/// A machine that a binary is for.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Rust's name of the architecture.
    arch: &'static str,
    /// The name that Debian and container images have for it.
    debian_arch: &'static str,
    libc: Libc,
}

const TARGETS: [Target; 4] = [
    Target { arch: "x86_64", debian_arch: "amd64", libc: Libc::Glibc },
    Target { arch: "x86_64", debian_arch: "amd64", libc: Libc::Musl },
    Target { arch: "aarch64", debian_arch: "arm64", libc: Libc::Glibc },
    Target { arch: "aarch64", debian_arch: "arm64", libc: Libc::Musl },
];

impl Target {
    /// Rust's name of the target.
    fn triple(&self) -> String {
        let libc = match self.libc {
            Libc::Glibc => "gnu",
            Libc::Musl => "musl",
        };
        format!("{}-unknown-linux-{libc}", self.arch)
    }

    /// The name in files of a release.
    fn label(&self) -> String {
        match self.libc {
            Libc::Glibc => format!("{}-linux", self.arch),
            Libc::Musl => format!("{}-linux-musl", self.arch),
        }
    }

    fn is_native(&self) -> bool {
        self.arch == std::env::consts::ARCH && self.libc == Libc::Glibc
    }

    /// True if the toolchain has the standard library of the target, or cargo is set to build it.
    fn is_installed(&self) -> bool {
        if std::env::var_os("CARGO_UNSTABLE_BUILD_STD").is_some() {
            return true;
        }
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--print", "target-libdir", "--target", &self.triple()]);
        let folder = rustc.output().map(|run| String::from_utf8_lossy(&run.stdout).into_owned());
        folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
    }
}

/// Builds the binaries of all targets that the toolchain has, or takes a built one of this host,
/// checks them, and makes archives and packages of them; true if they name none of the builder's
/// folders, are hardened, and all files are made.
pub fn command(root: &Path, built: Option<&str>) -> bool {
    let remaps = remaps(root, |name| std::env::var_os(name));
    let release = package::Release { root, version: env!("CARGO_PKG_VERSION").to_owned() };
    let made = match built {
        Some(path) => vec![(native(), PathBuf::from(path))],
        None => match build_all(root, &remaps) {
            Some(made) => made,
            None => return false,
        },
    };
    let checked: Vec<bool> =
        made.iter().map(|(target, path)| check(*target, path, &remaps)).collect();
    let files = release.make(&made);
    if let Err(error) = &files {
        eprintln!("{error}");
    }
    checked.into_iter().all(|is_good| is_good) && files.is_ok()
}

/// The target of this host.
fn native() -> Target {
    let is_native = |target: &Target| target.is_native();
    TARGETS.into_iter().find(is_native).expect("releases are made on a machine that has one")
}

/// A binary for each target that the toolchain has; none where a build failed.
fn build_all(root: &Path, remaps: &[Remap]) -> Option<Vec<(Target, PathBuf)>> {
    let has_zig = setup::find("cargo-zigbuild");
    if !has_zig {
        println!("cargo-zigbuild is not here (pip install cargo-zigbuild ziglang):");
        println!("only a binary for this host is built, and it needs the C library of this host");
        return Some(vec![(native(), build(root, remaps, None)?)]);
    }
    let mut made = Vec::new();
    for target in TARGETS {
        if target.is_installed() {
            made.push((target, build(root, remaps, Some(target))?));
        } else {
            let triple = target.triple();
            println!("skipped: the toolchain has no {triple} (rustup target add {triple})");
        }
    }
    Some(made)
}

/// A binary for a target, or for this host where none is given.
fn build(root: &Path, remaps: &[Remap], target: Option<Target>) -> Option<PathBuf> {
    let flags = |option: &str| remaps.iter().map(|remap| flag(option, remap)).collect::<Vec<_>>();
    let hardening = "-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2";
    let mut rustflags = flags("--remap-path-prefix");
    let mut cargo = cargo_command(root);
    let folder = match target {
        Some(target) => {
            let triple = target.triple();
            let suffix = match target.libc {
                Libc::Glibc => format!(".{GLIBC_MAX}"),
                Libc::Musl => {
                    // zig does not know rustc's `-static-pie`.
                    rustflags.push("-Clink-arg=-pie".to_owned());
                    String::new()
                }
            };
            cargo.args(["zigbuild", "--target", &format!("{triple}{suffix}")]);
            format!("target/{triple}/dist")
        }
        None => {
            cargo.arg("build");
            "target/dist".to_owned()
        }
    };
    cargo.args(["--profile", "dist", "--locked", "-p", "candor"]);
    cargo.env("CANDOR_LICENSES", licenses(root)?);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags.join(SEPARATOR));
    cargo.env("CFLAGS", format!("{hardening} {}", flags("-ffile-prefix-map").join(" ")));
    let success = cargo.status().is_ok_and(|status| status.success());
    success.then(|| root.join(folder).join("candor"))
}

/// The file of licences that the binary includes; none, with the reason printed, where it cannot be
/// written.
fn licenses(root: &Path) -> Option<PathBuf> {
    let file = root.join("target/dist/licenses");
    let folder = fs::create_dir_all(root.join("target/dist"));
    let written =
        folder.and_then(|()| contents::notices(root)).and_then(|text| fs::write(&file, text));
    written.inspect_err(|error| eprintln!("{}: {error}", file.display())).ok()?;
    Some(file)
}

/// True if the binary names none of the builder's folders and is hardened; prints its size and the
/// C library that it needs.
fn check(target: Target, binary: &Path, remaps: &[Remap]) -> bool {
    let bytes = match fs::read(binary) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", binary.display());
            return false;
        }
    };
    let named: Vec<&Remap> = remaps.iter().filter(|remap| names(&bytes, &remap.from)).collect();
    for remap in &named {
        eprintln!("{} names {}", binary.display(), remap.from.display());
    }
    let text = elf_text(binary).unwrap_or_else(|error| {
        eprintln!("readelf: {error}; the hardening of the binary is not checked");
        String::new()
    });
    let missing = if text.is_empty() { Vec::new() } else { missing_in(&text, target.libc) };
    for protection in &missing {
        eprintln!("{} has no {protection}", binary.display());
    }
    let bytes = bytes.len();
    match glibc(&text) {
        Some(version) => println!("{}: {bytes} bytes, needs glibc {version}", binary.display()),
        None => println!("{}: {bytes} bytes, static", binary.display()),
    }
    named.is_empty() && missing.is_empty()
}

/// The newest version of the C library that an imported symbol names.
fn glibc(text: &str) -> Option<Version> {
    text.split_whitespace()
        .filter_map(|word| {
            let (_, version) = word.split_once("@GLIBC_")?;
            let mut numbers = version.split('.').map_while(|part| part.parse().ok());
            Some(Version { major: numbers.next()?, minor: numbers.next()? })
        })
        .max()
}

/// Headers, segments, dynamic section and imported symbols of a binary, as readelf prints them.
fn elf_text(binary: &Path) -> std::io::Result<String> {
    let mut readelf = Command::new("readelf");
    readelf.args(["--wide", "--file-header", "--segments", "--dynamic", "--dyn-syms"]).arg(binary);
    Ok(String::from_utf8_lossy(&readelf.env("LC_ALL", "C").output()?.stdout).into_owned())
}

/// Protections that a binary does not have. Symbols of a static one are not in its headers.
fn missing_in(text: &str, libc: Libc) -> Vec<&'static str> {
    let line = |parts: &[&str]| {
        text.lines()
            .any(|line| parts.iter().all(|part| line.split_whitespace().any(|w| w == *part)))
    };
    let symbol = |is_so: &dyn Fn(&str) -> bool| {
        let mut words = text.split_whitespace();
        words.any(|word| is_so(word.split('@').next().unwrap_or_default()))
    };
    let is_static = libc == Libc::Musl;
    let protections = [
        ("random load address (PIE)", line(&["Type:", "DYN"])),
        ("read-only relocations (RELRO)", line(&["GNU_RELRO"])),
        ("binding of all symbols at its start (BIND_NOW)", line(&["Flags:", "NOW"])),
        ("stack that is not executable", line(&["GNU_STACK", "RW"])),
        ("search path of the system alone (it has RPATH or RUNPATH)", !text.contains("PATH)")),
        ("stack protector in its C parts", is_static || symbol(&|name| name == "__stack_chk_fail")),
        (
            "checks of buffer lengths in its C parts (_FORTIFY_SOURCE)",
            is_static || symbol(&|name| name.starts_with("__") && name.ends_with("_chk")),
        ),
    ];
    protections.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
}

/// The checkout, and the folders of cargo and of the toolchain. The last one that fits is taken.
fn remaps(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<Remap> {
    let home = variable("HOME").map(PathBuf::from);
    let of = |name: &str, below: &str| {
        let folder = variable(name).map(PathBuf::from);
        folder.or_else(|| home.as_ref().map(|home| home.join(below)))
    };
    let folders = [
        (Some(root.to_owned()), "/candor"),
        (of("CARGO_HOME", ".cargo"), "/cargo"),
        (of("RUSTUP_HOME", ".rustup"), "/rustup"),
    ];
    folders.into_iter().filter_map(|(from, to)| Some(Remap { from: from?, to })).collect()
}

fn flag(option: &str, remap: &Remap) -> String {
    format!("{option}={}={}", remap.from.display(), remap.to)
}

fn names(bytes: &[u8], folder: &Path) -> bool {
    let folder = folder.as_os_str().as_encoded_bytes();
    bytes.windows(folder.len()).any(|window| window == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_builder_are_renamed() {
        let remaps = remaps(Path::new("/src/candor"), |name| match name {
            "HOME" => Some("/home/me".into()),
            "CARGO_HOME" => Some("/opt/cargo".into()),
            _ => None,
        });
        let flags: Vec<_> = remaps.iter().map(|remap| flag("--remap-path-prefix", remap)).collect();
        assert_eq!(
            flags,
            [
                "--remap-path-prefix=/src/candor=/candor",
                "--remap-path-prefix=/opt/cargo=/cargo",
                "--remap-path-prefix=/home/me/.rustup=/rustup",
            ]
        );
    }

    #[test]
    fn each_protection_that_is_missing_is_named() {
        let hardened =
            "  Type:                              DYN (Position-Independent Executable file)
  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW  0x0
  GNU_RELRO      0x2b8dd0 0x00000000002b9dd0 0x00000000002b9dd0 0x01f230 0x01f230 R   0x1
 0x000000006ffffffb (FLAGS_1)            Flags: NOW PIE
     5: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __stack_chk_fail@GLIBC_2.4 (3)
     9: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __memcpy_chk@GLIBC_2.3.4 (4)
";
        assert_eq!(missing_in(hardened, Libc::Glibc), [""; 0]);
        for (now, then, part) in [
            ("DYN", "EXEC", "PIE"),
            ("GNU_RELRO", "NOTE", "RELRO"),
            ("NOW PIE", "PIE", "BIND_NOW"),
            ("RW  0x0", "RWE 0x0", "not executable"),
            ("__stack_chk_fail", "memcpy", "stack protector"),
            ("__memcpy_chk", "memcpy", "_FORTIFY_SOURCE"),
        ] {
            let missing = missing_in(&hardened.replace(now, then), Libc::Glibc);
            assert!(missing.len() == 1 && missing[0].contains(part), "{part}: {missing:?}");
        }
        let with_path = format!("{hardened} 0x1d (RUNPATH)  Library runpath: [/home/me/lib]\n");
        assert_eq!(missing_in(&with_path, Libc::Glibc).len(), 1);
    }

    #[test]
    fn the_newest_symbol_decides() {
        let text = "1: 0 FUNC UND memcpy@GLIBC_2.14 (3)\n2: 0 FUNC UND stat@GLIBC_2.33 (4)\n\
                    3: 0 FUNC UND read@GLIBC_2.2.5 (2)";
        assert_eq!(glibc(text), Some(Version { major: 2, minor: 33 }));
        assert_eq!(glibc("static"), None);
        assert!(Version { major: 2, minor: 9 } < GLIBC_MAX);
    }

    #[test]
    fn names_are_found_anywhere() {
        assert!(names(b"\0/home/me/.cargo/registry\0", Path::new("/home/me/.cargo")));
        assert!(!names(b"\0/cargo/registry\0", Path::new("/home/me/.cargo")));
    }
}
