//! Zones on files and devices as they are there.

use candor_plan::blocks::Blocks;
use candor_plan::units::{Extent, Mix};
use candor_plan::{Bytes, PathText};

use super::{File, Files, share};
use crate::lower::instance::Instance;
use candor_front::Diagnostics;

/// Uses only whole zones of existing files; limits of a zoned device apply.
pub(super) fn fit(
    from: &Instance<'_>,
    files: &Files<'_>,
    blocks: &mut Blocks,
    diagnostics: &mut Diagnostics,
) {
    let Some(zone) = blocks.zones.as_ref().and_then(|zones| zones.length).map(|zone| zone.0) else {
        return;
    };
    let longest = blocks.size.write.max().0;
    if blocks.mix.write > 0 && longest > zone {
        let message = format!("a write of {longest} bytes does not fit into a zone of {zone}");
        let known_as = "buflen exceeds zone size";
        let remedy = "make zones longer, or blocks shorter";
        return diagnostics.wrong_known_as(from, "bs", message, known_as, remedy);
    }
    if blocks.verify.is_some()
        && let Some(size) = blocks.size.iter().find_map(|(op, size)| {
            let sizes = [size.min().0, size.max().0];
            let uneven = sizes.into_iter().find(|size| *size > 0 && !zone.is_multiple_of(*size));
            uneven.filter(|_| blocks.mix.of(op) > 0)
        })
    {
        let message = format!("blocks of {size} bytes that are verified leave a rest in a zone");
        let known_as = format!("block size {size} is not a divisor of the zone size {zone}");
        let remedy = "use sizes that divide a zone";
        return diagnostics.wrong_known_as(from, "bs", message, &known_as, remedy);
    }
    let mut present = u64::MAX;
    for file in files.iter() {
        let bytes = file.found.bytes().unwrap_or(0);
        if bytes < zone {
            let message = format!(
                "{} has {bytes} bytes, fewer than a zone of {zone}: files with zones are not made",
                file.path.text()
            );
            return diagnostics.wrong(
                from,
                "zonesize",
                message,
                "make the file first, or shorter zones",
            );
        }
        present = present.min(bytes);
        device(from, &file, blocks, diagnostics);
    }
    let percent = |percent: f64| share(present, percent as u32);
    let start = match blocks.range.start {
        Extent::Bytes(bytes) => bytes.0,
        Extent::Percent(share) => percent(share),
    };
    let length = match blocks.range.length {
        Some(Extent::Bytes(bytes)) => bytes.0,
        Some(Extent::Percent(share)) => percent(share),
        None => present,
    };
    let end = start.saturating_add(length).min(present) / zone * zone;
    let start = start.div_ceil(zone).saturating_mul(zone);
    if start >= end {
        let message = format!("no whole zone of {zone} bytes is in range");
        let known_as = "io_size must be at least one zone";
        return diagnostics.wrong_known_as(from, "size", message, known_as, "use a larger size");
    }
    blocks.range.start = Extent::Bytes(Bytes(start));
    blocks.range.length = Some(Extent::Bytes(Bytes(end - start)));
}

/// Rules and limits of a zoned device.
fn device(from: &Instance<'_>, file: &File, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let (Some(device), Some(zones)) = (from.host.zoned(&file.path), &mut blocks.zones) else {
        return;
    };
    if zones.length != Some(Bytes(device.zone_bytes)) {
        let path = file.path.text();
        let message = format!("zones of {path} have {} bytes", device.zone_bytes);
        diagnostics.wrong(from, "zonesize", message, "remove zonesize");
    }
    if blocks.mix != Mix::READ && !blocks.direct {
        let message = "zones of a device are written past the page cache only".to_owned();
        diagnostics.wrong(from, "direct", message, "set direct=1");
    }
    let Some(most) = device.open_max.filter(|_| !from.options.zones.ignore_limits) else { return };
    match zones.open_max {
        Some(open) if open > most => {
            let message = format!("{} lets {most} zones be open at most", file.path.text());
            diagnostics.wrong(
                from,
                "max_open_zones",
                message,
                "lower it, or set ignore_zone_limits=1",
            );
        }
        Some(_) => {}
        None => zones.open_max = Some(most),
    }
}
