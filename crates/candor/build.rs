//! Tells the program from which commit it is built, where its sources are a tree of git.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The text of a build that is not to be handed out.
const NO_LICENSES: &str = "This build does not contain the licences of its packages. \
                           `cargo run -p xtask -- dist` makes a binary that does.\n";

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or(root);
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=CANDOR_TARGET={target}");
    let commit = commit(&root).or_else(|| released(&root)).unwrap_or_default();
    println!("cargo:rustc-env=CANDOR_COMMIT={commit}");
    licenses()?;
    for source in ["crates", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={}", root.join(source).display());
    }
    // These change with each commit and each change of branch.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&root, &["rev-parse", "--git-path", file]);
        if let Some(path) = path.map(|path| root.join(path)).filter(|path| path.exists()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    Ok(())
}

/// The commit of the tree, with `-changed` where sources differ from it; none where the sources
/// are no tree of git, or only a part of another one.
fn commit(root: &Path) -> Option<String> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(root, &["status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock"]);
    Some(if changes?.is_empty() { commit } else { format!("{commit}-changed") })
}

/// The commit of an archive of sources, which `xtask dist` writes to a file.
fn released(root: &Path) -> Option<String> {
    let commit = std::fs::read_to_string(root.join("COMMIT")).ok()?;
    commit.get(..12).map(str::to_owned)
}

/// Puts the text of `--licenses` where the program includes it: `xtask dist` names a file of it.
fn licenses() -> std::io::Result<()> {
    println!("cargo:rerun-if-env-changed=CANDOR_LICENSES");
    let file = std::env::var_os("CANDOR_LICENSES");
    let text = file.map_or_else(|| Ok(NO_LICENSES.to_owned()), std::fs::read_to_string);
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    std::fs::write(out.join("licenses"), text?)
}

/// The first words that git answers; none where it fails or is not there.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
