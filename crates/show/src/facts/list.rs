//! Page of `candor devices`, and of `candor inspect` without a path: a line for each device.

use candor_record::Facts;
use candor_record::facts::{AccountingOutcome, DeviceFacts, TargetFacts, value};
use candor_record::fmt::column;

use crate::describe;
use crate::layout::{Align, Page, Table, cut};
use crate::style::{Style, Tone};

/// Room for who uses a device, and for its model.
const TEXT_COLUMNS_MAX: usize = 18;

/// Place of the column that only inspected devices have: where a narrow screen does not cut it off.
const COUNTED_AT: usize = 3;

/// A line for each device, with a column more where each was read from: whether the kernel counted
/// that.
pub fn list(facts: &Facts, style: &Style) -> String {
    let mut page = Page::new(style);
    let is_read = facts.targets.iter().any(|target| target.accounting_probe.is_some());
    let mut names = ["device", "kind", "size", "used by", "model", "link", "scheduler"].to_vec();
    if is_read {
        names.insert(COUNTED_AT, "counted");
    }
    let column = |name| match name {
        "size" | "link" => (name, Align::Right),
        _ => (name, Align::Left),
    };
    let mut table = Table::new(&names.into_iter().map(column).collect::<Vec<_>>());
    for target in &facts.targets {
        let Some(device) = value(&target.device).and_then(|name| facts.device(name)) else {
            continue;
        };
        let mut row = cells(device).to_vec();
        if is_read {
            row.insert(COUNTED_AT, counted(target).to_owned());
        }
        table.row(row.into_iter().map(Into::into).collect());
    }
    let plain = Style { color: false, ..*style };
    let mut lines = table.lines(&plain).into_iter().map(|line| cut(&line, style.columns()));
    // Colours have no width, so that lines are cut before.
    page.line(&style.paint(Tone::Dim, &lines.next().unwrap_or_default()));
    lines.for_each(|line| page.line(&line));
    if is_read {
        page.blank();
        page.aside("", "`candor inspect NAME` shows one device with all devices below.");
    }
    page.finish()
}

/// Whether the kernel counted the read of the accounting probe.
fn counted(target: &TargetFacts) -> &'static str {
    match target.accounting_probe.as_ref().map(|probe| probe.outcome) {
        Some(AccountingOutcome::Counted) => "yes",
        Some(AccountingOutcome::CountedBelow) => "below",
        Some(AccountingOutcome::NotCounted) => "no",
        Some(AccountingOutcome::NothingToRead | AccountingOutcome::NotMade) | None => "not tried",
    }
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
