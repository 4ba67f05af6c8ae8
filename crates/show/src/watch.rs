//! What goes on on devices: the screen and the lines of `candor watch`.

use candor_record::requests::{Direction, Requests, percentile, share_of};
use candor_record::{Activity, Ceiling, Traffic, Watched};

use crate::layout::{Align, Cell, Page, Table};
use crate::number::{iops, mb_per_s, rate, share, size, time_ns};
use crate::style::{Style, Tone};

/// Processes that are told by name.
const ISSUERS_MAX: usize = 3;
/// Sizes of requests that are told by themselves.
const SIZES_MAX: usize = 3;

/// One look. `title` stands above it; devices that did nothing are left out unless `idle`.
pub fn text(watched: &Watched, title: &str, idle: bool, style: &Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.paint(Tone::Strong, title));
    let shown: Vec<&Activity> =
        watched.devices.iter().filter(|device| idle || !device.is_idle()).collect();
    if shown.is_empty() {
        page.line("nothing reached any device");
    } else {
        table(&shown).lines(style).iter().for_each(|line| page.line(line));
        page.blank();
    }
    for device in shown {
        for (lead, text) in details(device) {
            page.paragraph(&lead, &text);
        }
    }
    if let Some(blind) = &watched.blind {
        let told = format!("Not seen: {}: {}; it takes {}.", blind.what, blind.why, blind.enable);
        page.aside("", &told);
    }
    page.finish()
}

/// The text in the room of a terminal: what does not fit is left out, and that it is.
pub fn fitted(text: &str, rows: usize, columns: usize) -> String {
    let rows = rows.max(2) - 1;
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len() > rows;
    let told = if left_out { rows - 1 } else { lines.len() };
    let mut fitted: Vec<String> = lines[..told].iter().map(|line| cut(line, columns)).collect();
    if left_out {
        fitted.push(format!("… {} more lines", lines.len() - told));
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

fn table(devices: &[&Activity]) -> Table {
    let mut columns = vec![("device", Align::Left)];
    for way in [READS, WRITES] {
        columns.extend(way.map(|name| (name, Align::Right)));
    }
    columns.extend(["flush/s", "await", "queue", "busy"].map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for device in devices {
        let mut cells: Vec<Cell> = vec![Cell::toned(&device.device, Tone::Strong)];
        cells.extend(traffic(&device.read).map(Cell::from));
        cells.extend(traffic(&device.write).map(Cell::from));
        cells.push(number(device.flush.per_s).into());
        cells.push(wait(&device.flush).into());
        cells.push(format!("{:.1}", device.queue_mean).into());
        cells.push(share(device.busy).into());
        table.row(cells);
    }
    table
}

const READS: [&str; 4] = ["read/s", "MB/s", "size", "await"];
const WRITES: [&str; 4] = ["write/s", "MB/s", "size", "await"];

fn traffic(way: &Traffic) -> [String; 4] {
    if way.per_s == 0.0 {
        return ["-"; 4].map(str::to_owned);
    }
    [iops(way.per_s), mb_per_s(way.bytes_per_s), size(way.size_mean_bytes), wait(way)]
}

fn number(per_s: f64) -> String {
    if per_s == 0.0 { "-".to_owned() } else { iops(per_s) }
}

fn wait(way: &Traffic) -> String {
    if way.per_s == 0.0 { "-".to_owned() } else { time_ns(way.wait_mean_ns) }
}

/// What the table has no room for, each with what stands before it.
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
    if device.discard.per_s > 0.0 {
        let (of, way) = (rate(device.discard.bytes_per_s), &device.discard);
        add("discard", format!("{}/s, {of}, await {}", iops(way.per_s), wait(way)));
    }
    let merged = [("reads", device.read.merged), ("writes", device.write.merged)];
    let merged = merged.iter().filter(|(_, part)| *part >= 0.01);
    let merged: Vec<String> =
        merged.map(|(way, part)| format!("{} of the {way}", share(*part))).collect();
    add("merged", merged.join(", "));
    for of in device.requests.iter().filter(|of| of.count > 0) {
        add(of.direction.name(), requests(of));
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

/// Percentiles, sizes, alignment, order and whose they were, in a line.
fn requests(of: &Requests) -> String {
    let mut parts = Vec::new();
    let at = |share: f64| percentile(&of.latency_ns, share).map(time_ns);
    if let (Some(half), Some(most), Some(nearly_all)) = (at(0.5), at(0.99), at(0.999)) {
        parts.push(format!("p50 {half}, p99 {most}, p99.9 {nearly_all}"));
    }
    if of.bytes > 0 {
        let mut sizes = of.sizes();
        sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let told = sizes.iter().take(SIZES_MAX);
        let told: Vec<String> = told
            .map(|(bytes, n)| format!("{} {}", size(*bytes), share(share_of(*n, of.count))))
            .collect();
        parts.push(told.join(", "));
        let aligned = of.starts_in_4k.iter().find(|(at, _)| *at == 0).map_or(0, |(_, n)| *n);
        parts.push(format!("{} on 4 KiB", share(share_of(aligned, of.count))));
    }
    if of.placed > 0 && of.direction != Direction::Flush {
        parts.push(format!("{} sequential", share(share_of(of.sequential, of.placed))));
    }
    let all: u64 = of.issuers.iter().map(|issuer| issuer.count).sum();
    let issuers = of.issuers.iter().take(ISSUERS_MAX).map(|issuer| {
        format!("{} ({}) {}", issuer.command, issuer.pid, share(share_of(issuer.count, all)))
    });
    let issuers: Vec<String> = issuers.collect();
    if !issuers.is_empty() {
        parts.push(format!("by {}", issuers.join(", ")));
    }
    if let Some(part) = of.looked_at() {
        parts.push(format!("{} of them looked at", share(part)));
    }
    parts.join("; ")
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
            sentence: "never idle, which is not full, 1.3 of 32 places in its queue taken".into(),
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
        let idle =
            Activity { device: "sda".into(), sentence: "idle".into(), ..Activity::default() };
        Watched { elapsed_s: 1.0, devices: vec![idle, busy], ..Watched::default() }
    }

    #[test]
    fn a_look_has_a_line_for_each_device_and_what_lies_behind_it() {
        insta::assert_snapshot!(text(&watched(), "12:00:00", false, &Style::default()), @r"
        12:00:00
        device  read/s  MB/s   size   await  write/s  MB/s  size  await  flush/s    await  queue   busy
        sdb      12.3k  50.6  4 KiB  105 µs        -     -     -      -        2  2.10 ms    1.3  100 %

        sdb: never idle, which is not full, 1.3 of 32 places in its queue taken
          ceiling  SATA link 600 MB/s, 8.4 % of it used (6 Gbit/s × 8/10)
          merged   25 % of the reads
          read     p50 81.9 µs, p99 164 µs, p99.9 164 µs; 4 KiB 100 %; 100 % on 4 KiB; 1.0 % sequential; by
                   candor (4711) 100 %; 10 % of them looked at
          flush    p50 2.10 ms, p99 2.10 ms, p99.9 2.10 ms
        ");
    }

    #[test]
    fn idle_devices_are_shown_where_they_were_named() {
        let told = text(&watched(), "12:00:00", true, &Style::default());
        assert!(told.contains("sda: idle"), "{told}");
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
