//! The files of a release: the binary, without paths of its builder and hardened, in an archive and
//! in packages.
//!
//! Cargo's own `trim-paths` is not stable, and flags in its configuration cannot name the folder of
//! a checkout. So the flags are computed here.

mod notices;
mod package;

use std::ffi::OsString;
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

/// Newest C library that the binary may need: of RHEL 8 and SLES 15.
const GLIBC_MAX: Version = Version { major: 2, minor: 28 };
/// Target of cargo-zigbuild with the same version.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Version of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
}

/// Builds the binary, or takes a built one, checks it, and makes archive and packages of it; true
/// if it names none of the builder's folders, is hardened, and all files are made.
pub fn command(root: &Path, built: Option<&str>) -> bool {
    let remaps = remaps(root, |name| std::env::var_os(name));
    let binary = match built {
        Some(path) => Some(PathBuf::from(path)),
        None => build(root, &remaps),
    };
    let Some(binary) = binary else { return false };
    let is_good = check(&binary, &remaps);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let made = package::Release { root, binary: &binary, version }.make();
    if let Err(error) = &made {
        eprintln!("{error}");
    }
    is_good && made.is_ok()
}

/// The binary, for the C library of [`GLIBC_MAX`] where cargo-zigbuild is here.
fn build(root: &Path, remaps: &[Remap]) -> Option<PathBuf> {
    let flags = |option: &str| remaps.iter().map(|remap| flag(option, remap)).collect::<Vec<_>>();
    let hardening = "-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2";
    let mut cargo = cargo_command(root);
    let folder = if setup::find("cargo-zigbuild") {
        let Version { major, minor } = GLIBC_MAX;
        cargo.args(["zigbuild", "--target", &format!("{TARGET}.{major}.{minor}")]);
        format!("target/{TARGET}/dist")
    } else {
        println!("cargo-zigbuild is not here (pip install cargo-zigbuild ziglang):");
        println!("the binary will need the C library of this host");
        cargo.arg("build");
        "target/dist".to_owned()
    };
    cargo.args(["--profile", "dist", "--locked", "-p", "candor"]);
    cargo.env("CANDOR_LICENSES", licenses(root)?);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags("--remap-path-prefix").join(SEPARATOR));
    cargo.env("CFLAGS", format!("{hardening} {}", flags("-ffile-prefix-map").join(" ")));
    let success = cargo.status().is_ok_and(|status| status.success());
    success.then(|| root.join(folder).join("candor"))
}

/// The file of licences that the binary includes; none, with the reason printed, where it cannot be
/// written.
fn licenses(root: &Path) -> Option<PathBuf> {
    let file = root.join("target/dist/licenses");
    let folder = fs::create_dir_all(root.join("target/dist"));
    let written = folder.and_then(|()| notices::text(root)).and_then(|text| fs::write(&file, text));
    written.inspect_err(|error| eprintln!("{}: {error}", file.display())).ok()?;
    Some(file)
}

/// True if the binary names none of the builder's folders and is hardened; says what it is.
fn check(binary: &Path, remaps: &[Remap]) -> bool {
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
    let missing = if text.is_empty() { Vec::new() } else { missing_in(&text) };
    for protection in &missing {
        eprintln!("{} has no {protection}", binary.display());
    }
    let bytes = bytes.len();
    match glibc(&text) {
        Some(Version { major, minor }) => {
            println!("{}: {bytes} bytes, needs glibc {major}.{minor}", binary.display());
        }
        None => println!("{}: {bytes} bytes", binary.display()),
    }
    named.is_empty() && missing.is_empty()
}

/// The newest version of the C library that an imported symbol names.
fn glibc(text: &str) -> Option<Version> {
    let version = |word: &str| {
        let (_, version) = word.split_once("@GLIBC_")?;
        let mut numbers = version.split('.').map_while(|part| part.parse().ok());
        Some(Version { major: numbers.next()?, minor: numbers.next()? })
    };
    text.split_whitespace().filter_map(version).max()
}

/// Headers, segments, dynamic section and imported symbols of a binary, as readelf prints them.
fn elf_text(binary: &Path) -> std::io::Result<String> {
    let mut readelf = Command::new("readelf");
    readelf.args(["--wide", "--file-header", "--segments", "--dynamic", "--dyn-syms"]).arg(binary);
    Ok(String::from_utf8_lossy(&readelf.env("LC_ALL", "C").output()?.stdout).into_owned())
}

/// Protections that a binary does not have.
fn missing_in(text: &str) -> Vec<&'static str> {
    let line = |parts: &[&str]| {
        text.lines()
            .any(|line| parts.iter().all(|part| line.split_whitespace().any(|w| w == *part)))
    };
    let symbol = |is_so: &dyn Fn(&str) -> bool| {
        let mut words = text.split_whitespace();
        words.any(|word| is_so(word.split('@').next().unwrap_or_default()))
    };
    let protections = [
        ("random load address (PIE)", line(&["Type:", "DYN"])),
        ("read-only relocations (RELRO)", line(&["GNU_RELRO"])),
        ("binding of all symbols at its start (BIND_NOW)", line(&["Flags:", "NOW"])),
        ("stack that is not executable", line(&["GNU_STACK", "RW"])),
        ("search path of the system alone (it has RPATH or RUNPATH)", !text.contains("PATH)")),
        ("stack protector in its C parts", symbol(&|name| name == "__stack_chk_fail")),
        (
            "checks of buffer lengths in its C parts (_FORTIFY_SOURCE)",
            symbol(&|name| name.starts_with("__") && name.ends_with("_chk")),
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
        let variable = |name: &str| match name {
            "HOME" => Some("/home/me".into()),
            "CARGO_HOME" => Some("/opt/cargo".into()),
            _ => None,
        };
        let remaps = remaps(Path::new("/src/candor"), variable);
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
        assert_eq!(missing_in(hardened), [""; 0]);
        for (now, then, part) in [
            ("DYN", "EXEC", "PIE"),
            ("GNU_RELRO", "NOTE", "RELRO"),
            ("NOW PIE", "PIE", "BIND_NOW"),
            ("RW  0x0", "RWE 0x0", "not executable"),
            ("__stack_chk_fail", "memcpy", "stack protector"),
            ("__memcpy_chk", "memcpy", "_FORTIFY_SOURCE"),
        ] {
            let missing = missing_in(&hardened.replace(now, then));
            assert!(missing.len() == 1 && missing[0].contains(part), "{part}: {missing:?}");
        }
        let with_path = format!("{hardened} 0x1d (RUNPATH)  Library runpath: [/home/me/lib]\n");
        assert_eq!(missing_in(&with_path).len(), 1);
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
