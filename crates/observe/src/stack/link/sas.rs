//! SAS: the lines between a host adapter, its expanders and a drive.

use std::path::Path;

use candor_record::facts::{Fact, Link};

use super::{line, megabytes, name_of};
use crate::source::Roots;
use crate::source::node::Node;
use crate::source::parse::quantity;

/// The SAS ports on the way, the drive's own first: that has one line, one to an expander several.
pub(super) fn of(node: &Node) -> Vec<Link> {
    let is_port = |path: &&Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("port-"))
    };
    node.above().filter(is_port).filter_map(|path| port(path, &node.roots)).collect()
}

/// A port: the lines that are up, at the rate of the slowest.
fn port(directory: &Path, roots: &Roots) -> Option<Link> {
    let phys = roots.names(directory).into_iter().filter(|name| name.starts_with("phy-"));
    let files: Vec<_> = phys
        .map(|phy| directory.join(&phy).join("sas_phy").join(&phy))
        .map(|phy| (phy.join("negotiated_linkrate"), phy.join("maximum_linkrate")))
        .collect();
    let rates: Vec<(f64, String, &Path)> = files
        .iter()
        .filter_map(|(file, _)| {
            let text = roots.text(file)?;
            Some((quantity(&text)?, text, file.as_path()))
        })
        .collect();
    let (rate, words, from) = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let carried = line(*rate)?;
    let lines = rates.len() as u64;
    let mb_per_s = carried.mb_per_s.saturating_mul(lines);
    let width = if lines > 1 { format!("{lines} lines × ") } else { String::new() };
    let maximum = slowest(files.iter().map(|(_, file)| file.as_path()), roots);
    let most = maximum.as_ref().and_then(|fact| line(quantity(&fact.value)?));
    Some(Link {
        kind: "SAS".into(),
        at: name_of(directory),
        negotiated: Fact::new(format!("{width}{words}"), from.display().to_string()),
        possible: maximum.map(|fact| Fact { value: width.clone() + &fact.value, ..fact }),
        possible_bytes_per_s: most.map(|line| megabytes(line.mb_per_s.saturating_mul(lines))),
        ceiling_bytes_per_s: megabytes(mb_per_s),
        arithmetic: format!("{width}{} = {mb_per_s} MB/s", carried.arithmetic),
        ..Link::default()
    })
}

/// The slowest rate that any of the files names.
fn slowest<'a>(files: impl Iterator<Item = &'a Path>, roots: &Roots) -> Option<Fact<String>> {
    let rates = files.filter_map(|file| {
        let text = roots.text(file)?;
        Some((quantity(&text)?, Fact::new(text, file.display().to_string())))
    });
    rates.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, fact)| fact)
}
