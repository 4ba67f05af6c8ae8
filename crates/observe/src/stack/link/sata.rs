//! SATA: the cable between a port and its drive.

use std::path::PathBuf;

use candor_record::facts::Link;

use super::{line, megabytes, name_of};
use crate::source::node::{Node, is_numbered};
use crate::source::parse::{quantity, words};

/// The SATA link of a drive: its place contains `ataN`, and the link is `linkN` under that.
pub(super) fn of(node: &Node) -> Option<Link> {
    let directory = directory(node)?;
    let negotiated = node.roots.fact(&directory.join("sata_spd"), words)?;
    let line = line(quantity(&negotiated.value)?)?;
    // The limit is known only where something set one; else the kernel calls it unknown.
    let possible = node.roots.fact(&directory.join("hw_sata_spd_limit"), known);
    let most = possible.as_ref().and_then(|possible| super::line(quantity(&possible.value)?));
    Some(Link {
        kind: "SATA".into(),
        at: name_of(&directory),
        negotiated,
        possible_bytes_per_s: most.map(|line| megabytes(line.mb_per_s)),
        possible,
        ceiling_bytes_per_s: megabytes(line.mb_per_s),
        arithmetic: format!("{} = {} MB/s", line.arithmetic, line.mb_per_s),
        ..Link::default()
    })
}

fn known(text: &str) -> Option<String> {
    quantity(text).map(|_| text.to_owned())
}

/// Where the link's attributes are. Behind a port multiplier each drive has a link `linkN.M`, and
/// M is the channel in its SCSI address.
fn directory(node: &Node) -> Option<PathBuf> {
    let port = node.above().find(|path| {
        path.file_name().is_some_and(|name| is_numbered(&name.to_string_lossy(), "ata"))
    })?;
    let name = port.file_name()?.to_string_lossy().replace("ata", "link");
    let channel = node.named_above(|name| name.split(':').count() == 4).and_then(|address| {
        let channel = address.split(':').nth(1)?;
        Some(format!("{name}.{channel}"))
    });
    let candidates = channel.into_iter().chain([name]);
    candidates
        .map(|link| port.join(&link).join("ata_link").join(&link))
        .find(|directory| node.roots.text(&directory.join("sata_spd")).is_some())
}
