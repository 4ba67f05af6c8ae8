//! Packages that the binary contains: their licences, as they require of those who hand it out, and
//! the list that scanners of vulnerabilities read (SBOM, CycloneDX).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::suite::cargo_command;

/// A package of the binary.
struct Package {
    name: String,
    version: String,
    licence: String,
    /// Texts of its licence files.
    texts: Vec<String>,
}

impl Package {
    fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// Name, version, licence and licence texts of all packages. Texts that differ in their copyright
/// lines alone are printed once, below the lines of each package.
///
/// # Errors
/// Cargo cannot list the packages, or a folder cannot be read.
pub fn notices(root: &Path) -> io::Result<String> {
    let packages = packages(root)?;
    let mut text = String::from("candor contains the following packages.\n\n");
    for package in &packages {
        text.push_str(&format!("  {}: {}\n", package.title(), package.licence));
    }
    for Shared { holders, licence } in shared(&packages) {
        let line = "-".repeat(80);
        text.push_str(&format!("\n{line}\n{}\n{line}\n\n{licence}\n", holders.join("\n")));
    }
    Ok(text)
}

/// A text that packages have in common.
struct Shared {
    /// Each package with its copyright lines.
    holders: Vec<String>,
    licence: String,
}

/// The licence texts of packages, each once.
fn shared(packages: &[Package]) -> Vec<Shared> {
    // Equal words are equal texts, however their lines are broken.
    let mut texts: BTreeMap<String, Shared> = BTreeMap::new();
    for package in packages {
        for text in &package.texts {
            let (copyrights, rest): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| is_copyright(line));
            let words = rest.iter().flat_map(|line| line.split_whitespace());
            let words = words.collect::<Vec<_>>().join(" ");
            let new = || Shared { holders: Vec::new(), licence: rest.join("\n").trim().to_owned() };
            let lines = copyrights.iter().map(|line| format!("\n    {}", line.trim()));
            let holder = package.title() + &lines.collect::<String>();
            texts.entry(words).or_insert_with(new).holders.push(holder);
        }
    }
    texts.into_values().collect()
}

/// True for a line such as `Copyright (c) 2015 The authors`, which no sentence of a licence is.
fn is_copyright(line: &str) -> bool {
    let rest = line.trim().strip_prefix("Copyright").map(str::trim_start);
    rest.is_some_and(|rest| {
        rest.starts_with("(c)")
            || rest.starts_with("(C)")
            || rest.starts_with('©')
            || rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// All packages as a CycloneDX document, without a time or a random number: equal sources give
/// equal documents.
///
/// # Errors
/// The same as for [`notices`].
pub fn sbom(root: &Path, version: &str) -> io::Result<String> {
    fn component(package: &Package) -> Value {
        let Package { name, version, licence, .. } = package;
        json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "licenses": [{ "expression": licence.replace('/', " OR ") }],
        })
    }
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": { "type": "application", "name": "candor", "version": version },
        },
        "components": packages(root)?.iter().map(component).collect::<Vec<_>>(),
    });
    Ok(format!("{document:#}\n"))
}

fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let words = ["tree", "-p", "candor", "-e", "normal", "--prefix", "none", "--locked"];
    let tree = output(root, &[&words[..], &["--format", "{p}"]].concat())?;
    let metadata = output(root, &["metadata", "--format-version", "1", "--locked"])?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let field = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
        let (name, version) = (field("name"), field("version"));
        let line = format!("{name} v{version}");
        let is_linked = tree.lines().any(|of| of == line || of.starts_with(&format!("{line} ")));
        // Packages of the workspace have no source.
        if is_linked && !package["source"].is_null() {
            let manifest = field("manifest_path");
            let folder = Path::new(&manifest).parent().unwrap_or(root);
            packages.push(Package {
                name,
                version,
                texts: texts(folder, &field("license"))?,
                licence: field("license"),
            });
        }
    }
    packages.sort_by_key(Package::title);
    Ok(packages)
}

/// Texts of the licence files of a folder, in the order of their names. Where MIT and Apache are
/// offered, MIT is taken, whose text is short.
fn texts(folder: &Path, licence: &str) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let is_licence =
            ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|of| name.starts_with(of));
        if is_licence && entry.path().is_file() {
            files.push((name, entry.path()));
        }
    }
    files.sort();
    let is_offered = licence.contains(" OR ") || licence.contains('/');
    if is_offered && files.iter().any(|(name, _)| name.contains("MIT")) {
        files.retain(|(name, _)| !name.contains("APACHE"));
    }
    let text = |path: &Path| fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned());
    files.iter().map(|(_, path)| Ok(text(path)?.trim().to_owned())).collect()
}

fn output(root: &Path, words: &[&str]) -> io::Result<String> {
    let run = cargo_command(root).args(words).output()?;
    if !run.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_other_holders_are_printed_once() {
        let package = |name: &str, text: &str| Package {
            name: name.into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            texts: vec![text.into()],
        };
        let packages = [
            package(
                "a",
                "Copyright (c) 2015 A\n\nPermission is granted: keep the\ncopyright notice.",
            ),
            package("b", "Copyright 2020 B\n\nPermission is granted:\nkeep the copyright notice."),
            package("c", "Public domain."),
        ];
        let shared = shared(&packages);
        let holders: Vec<_> = shared.iter().map(|text| text.holders.join("; ")).collect();
        assert_eq!(
            holders,
            ["a 1.0.0\n    Copyright (c) 2015 A; b 1.0.0\n    Copyright 2020 B", "c 1.0.0"]
        );
        assert_eq!(shared[0].licence, "Permission is granted: keep the\ncopyright notice.");
    }
}
