//! Page of `candor devices`: a line for each device.

use candor_record::Facts;
use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt::column;

use crate::describe;
use crate::layout::{Align, Page, Table, cut};
use crate::style::Style;

/// Room for who uses a device, and for its model.
const TEXT_COLUMNS_MAX: usize = 18;

/// A line for each device that was inspected.
pub fn list(facts: &Facts, style: &Style) -> String {
    let mut page = Page::new(style);
    let right = |name| (name, Align::Right);
    let left = |name| (name, Align::Left);
    let mut table = Table::new(&[
        left("device"),
        left("kind"),
        right("size"),
        left("used by"),
        left("model"),
        right("link"),
        left("scheduler"),
    ]);
    let devices = facts.targets.iter().filter_map(|target| value(&target.device));
    for device in devices.filter_map(|name| facts.device(name)) {
        table.row(cells(device).map(Into::into).to_vec());
    }
    table.lines(style).iter().for_each(|line| page.line(&cut(line, style.columns())));
    page.finish()
}

fn cells(device: &DeviceFacts) -> [String; 7] {
    // The first words tell the driver; the rest is explanation.
    let kind = describe::kind(device.kind);
    let kind = kind.split_once(',').map_or(kind, |(kind, _)| kind);
    let size = match device.size_bytes {
        0 => "-".to_owned(),
        bytes => column::device_size(bytes),
    };
    let model = value(&device.model).map(|model| model.trim()).unwrap_or_default();
    let link = device.link.as_ref().map(|link| column::rate(link.ceiling_bytes_per_s as f64));
    [
        device.name.clone(),
        kind.to_owned(),
        size,
        cut(&users(&device.held_by), TEXT_COLUMNS_MAX),
        cut(model, TEXT_COLUMNS_MAX),
        link.unwrap_or_default(),
        value(&device.queue.scheduler).cloned().unwrap_or_default(),
    ]
}

/// The first that uses a device, and how many more there are.
fn users(held_by: &[String]) -> String {
    match held_by {
        [] => String::new(),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} +{}", more.len()),
    }
}
