//! Activity of devices: the screen and the lines of `candor watch`.

use candor_record::fmt::column::{iops, mb_per_s, rate, share, size, time};
use candor_record::requests::{Requests, latency_percentile};
use candor_record::{Activity, Ceiling, Traffic, Watched};

use crate::layout::{Align, Cell, Page, Table};
use crate::requests;
use crate::style::{Style, Tone};

/// One look. `title` stands above it; devices that did nothing are left out unless `idle`.
pub fn text(watched: &Watched, title: &str, idle: bool, style: &Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.paint(Tone::Strong, title));
    let shown: Vec<&Activity> =
        watched.devices.iter().filter(|device| idle || !device.is_idle()).collect();
    if shown.is_empty() {
        page.line("nothing reached any device");
    } else {
        table(&shown, watched.elapsed_s).lines(style).iter().for_each(|line| page.line(line));
        page.blank();
    }
    for device in shown {
        for (lead, text) in details(device) {
            page.paragraph(&lead, &text);
        }
    }
    requests::untraced(&mut page, watched.untraced.as_ref());
    page.finish()
}

/// The text in the room of a terminal: what does not fit is left out, and that it is.
pub fn fitted(text: &str, rows: usize, columns: usize) -> String {
    let rows = rows.max(2) - 1;
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len() > rows;
    let shown = if left_out { rows - 1 } else { lines.len() };
    let mut fitted: Vec<String> = lines[..shown].iter().map(|line| cut(line, columns)).collect();
    if left_out {
        fitted.push(format!("… {} more lines", lines.len() - shown));
    }
    fitted.join("\n") + "\n"
}

/// The line in at most so many columns; what dresses it takes none.
fn cut(line: &str, columns: usize) -> String {
    let (mut cut, mut used, mut dressing) = (String::new(), 0, false);
    for c in line.chars() {
        dressing |= c == '\x1b';
        if dressing {
            cut.push(c);
            dressing = c != 'm';
        } else if used < columns {
            cut.push(c);
            used += 1;
        }
    }
    cut
}

/// A row for each way that anything went.
fn table(devices: &[&Activity], elapsed_s: f64) -> Table {
    let seen =
        devices.iter().any(|device| device.requests.iter().any(|of| !of.latency_ns.is_empty()));
    let mut columns = vec![("device", Align::Left), ("op", Align::Left)];
    columns.extend(["per s", "MB/s", "size", "await"].map(|name| (name, Align::Right)));
    columns.extend(seen.then_some(("p99", Align::Right)));
    columns.extend(["queue", "busy"].map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for device in devices {
        let mut ways = device.ways().filter(|(_, way)| way.per_s > 0.0).peekable();
        let mut lead = vec![Cell::toned(&device.device, Tone::Strong)];
        let mut tail = vec![format!("{:.1}", device.queue_mean).into(), share(device.busy).into()];
        if ways.peek().is_none() {
            let nothing = if seen { 6 } else { 5 };
            lead.extend(vec![Cell::from("-"); nothing]);
            lead.append(&mut tail);
            table.row(lead);
            continue;
        }
        for (direction, way) in ways {
            let mut cells: Vec<Cell> = vec![lead.pop().unwrap_or_default()];
            cells.push(direction.name().into());
            cells.extend(traffic(way, elapsed_s).map(Cell::from));
            let of = device.requests.iter().find(|of| of.direction == direction);
            cells.extend(seen.then(|| of.and_then(p99).unwrap_or("-".into()).into()));
            cells.append(&mut tail);
            table.row(cells);
        }
    }
    table
}

fn p99(of: &Requests) -> Option<String> {
    latency_percentile(&of.latency_ns, 0.99).map(|step| format!("≈{}", time(step.middle_ns())))
}

fn traffic(way: &Traffic, elapsed_s: f64) -> [String; 4] {
    let [bytes, mean] = match way.size_mean_bytes {
        0 => ["-"; 2].map(str::to_owned),
        mean => [mb_per_s(way.bytes_per_s), size(mean)],
    };
    [iops(way.per_s), bytes, mean, wait(way, elapsed_s)]
}

/// The mean wait. The kernel adds up milliseconds: where all together took less than one, a mean of
/// nothing would be too good.
fn wait(way: &Traffic, elapsed_s: f64) -> String {
    let count = way.per_s * elapsed_s;
    match way.wait_mean_ns {
        0 if count > 0.0 => format!("<{}", time((1e6 / count).ceil() as u64)),
        ns => time(ns),
    }
}

/// Details that the table has no room for, each with what stands before it.
fn details(device: &Activity) -> Vec<(String, String)> {
    let mut lines = vec![(format!("{}: ", device.device), device.sentence.clone())];
    let mut add = |label: &str, text: String| {
        if !text.is_empty() {
            lines.push((format!("  {label:<9}"), text));
        }
    };
    for ceiling in &device.ceilings {
        add("ceiling", self::ceiling(ceiling));
    }
    let merged = [("reads", device.read.merged), ("writes", device.write.merged)];
    let merged = merged.iter().filter(|(_, part)| *part >= 0.01);
    let merged: Vec<String> =
        merged.map(|(way, part)| format!("{} of the {way}", share(*part))).collect();
    add("merged", merged.join(", "));
    for of in device.requests.iter().filter(|of| of.count > 0) {
        add(of.direction.name(), requests::in_words(of));
    }
    lines
}

fn ceiling(ceiling: &Ceiling) -> String {
    let most = match (ceiling.bytes_per_s, ceiling.ops_per_s) {
        (Some(bytes), _) => rate(bytes),
        (None, Some(ops)) => format!("{} per second", iops(ops)),
        _ => return String::new(),
    };
    let used = ceiling.used.map_or(String::new(), |used| format!(", {} of it used", share(used)));
    format!("{} {most}{used} ({})", ceiling.element, ceiling.arithmetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn watched() -> Watched {
        let read = Traffic {
            per_s: 12_345.0,
            bytes_per_s: 50_565_120.0,
            size_mean_bytes: 4096,
            merged: 0.25,
            wait_mean_ns: 105_000,
        };
        let flush = Traffic { per_s: 2.0, wait_mean_ns: 2_100_000, ..Traffic::default() };
        let busy = Activity {
            device: "sdb".into(),
            read,
            flush,
            queue_mean: 1.3,
            queue_max: Some(32),
            busy: 1.0,
            sentence: "never idle, but not necessarily full, 1.3 of 32 queue slots used".into(),
            ceilings: vec![Ceiling {
                element: "SATA link".into(),
                bytes_per_s: Some(600e6),
                ops_per_s: None,
                arithmetic: "6 Gbit/s × 8/10".into(),
                used: Some(0.084),
            }],
            requests: sample::requests().requests,
            ..Activity::default()
        };
        let fast = Traffic { wait_mean_ns: 0, per_s: 500.0, ..read };
        let memory = Activity { device: "zram0".into(), write: fast, ..Activity::default() };
        let idle =
            Activity { device: "sda".into(), sentence: "idle".into(), ..Activity::default() };
        Watched { elapsed_s: 1.0, devices: vec![idle, busy, memory], ..Watched::default() }
    }

    #[test]
    fn a_look_has_a_line_for_each_device_and_what_lies_behind_it() {
        insta::assert_snapshot!(text(&watched(), "12:00:00", false, &Style::default()), @r"
        12:00:00
        device  op     per s  MB/s   size     await      p99  queue   busy
        sdb     read   12.3k  50.6  4 KiB    105 µs  ≈180 µs    1.3  100 %
                flush      2     -      -   2.10 ms        -
        zram0   write    500  50.6  4 KiB  <2.00 µs        -    0.0    0 %

        sdb: never idle, but not necessarily full, 1.3 of 32 queue slots used
          ceiling  SATA link 600 MB/s, 8.4 % of it used (6 Gbit/s × 8/10)
          merged   25 % of the reads
          read     p50 81.9–98.3 µs, p99 164–197 µs, p99.9 164–197 µs; 4 KiB 100 %; on 4 KiB 100 %, 512 B
                   after a 4 KiB boundary <0.1 %; 5 of 20,000 off a physical sector; 4 of 20,000 off the
                   device's optimal size; 3 of 20,000 with a length that is not a multiple of 4 KiB; 1.0 %
                   sequential; by candor (4711) 100 %; 10 % of requests traced
          flush    p50 2.10–2.62 ms
        zram0:
          merged   25 % of the writes
        ");
    }

    #[test]
    fn idle_devices_are_shown_where_they_were_named() {
        let shown = text(&watched(), "12:00:00", true, &Style::default());
        assert!(shown.contains("sda: idle"), "{shown}");
        let nothing = text(&Watched::default(), "12:00:00", false, &Style::default());
        assert_eq!(nothing, "12:00:00\nnothing reached any device\n");
    }

    #[test]
    fn a_screen_has_only_so_much_room() {
        assert_eq!(fitted("a\nb\nc\n", 10, 80), "a\nb\nc\n");
        assert_eq!(fitted("a\nb\nc\nd\n", 4, 80), "a\nb\n… 2 more lines\n");
        assert_eq!(fitted("\x1b[1mab\x1b[0mcdef\n", 0, 3), "\x1b[1mab\x1b[0mc\n");
    }
}
