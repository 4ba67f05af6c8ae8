//! The binary to hand out, without paths of its builder.
//!
//! Cargo's own `trim-paths` is not stable, and flags in its configuration cannot name the folder of
//! a checkout. So the flags are computed here.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::suite::cargo_command;

/// Separates the words of `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// A folder of the builder, and its name in the binary.
struct Remap {
    from: PathBuf,
    to: &'static str,
}

/// Builds the binary and searches it; true if it names none of the builder's folders.
pub fn command(root: &Path) -> bool {
    let remaps = remaps(root, |name| std::env::var_os(name));
    let flags = |option: &str| remaps.iter().map(|remap| flag(option, remap)).collect::<Vec<_>>();
    let hardening = "-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2";
    let mut cargo = cargo_command(root);
    cargo.args(["build", "--profile", "dist", "--locked", "-p", "candor"]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags("--remap-path-prefix").join(SEPARATOR));
    cargo.env("CFLAGS", format!("{hardening} {}", flags("-ffile-prefix-map").join(" ")));
    if !cargo.status().is_ok_and(|status| status.success()) {
        return false;
    }
    let binary = root.join("target/dist/candor");
    let bytes = match fs::read(&binary) {
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
    println!("{}: {} bytes", binary.display(), bytes.len());
    named.is_empty()
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
    fn names_are_found_anywhere() {
        assert!(names(b"\0/home/me/.cargo/registry\0", Path::new("/home/me/.cargo")));
        assert!(!names(b"\0/cargo/registry\0", Path::new("/home/me/.cargo")));
    }
}
