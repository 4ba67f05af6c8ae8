//! Host of the measurements.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines that describe machine, kernel and tools: (what, value).
pub fn describe(fio: &Path, candor: Option<&Path>) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("date", today()),
        ("processor", first_value("/proc/cpuinfo", "model name")),
        ("processors", std::thread::available_parallelism().map_or(0, usize::from).to_string()),
        ("memory", first_value("/proc/meminfo", "MemTotal")),
        ("virtual machine", yes_no(text("/proc/cpuinfo").contains(" hypervisor"))),
        ("kernel", kernel()),
        ("clock source", text("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        (
            "load average at the start",
            text("/proc/loadavg").chars().take_while(|c| *c != ' ').collect(),
        ),
        ("fio", version(fio)),
    ];
    if let Some(candor) = candor {
        lines.push(("candor", version(candor)));
    }
    lines
}

/// Load average of the last minute; above a few tenths the numbers are of little use.
pub fn load() -> f64 {
    text("/proc/loadavg").split(' ').next().and_then(|w| w.parse().ok()).unwrap_or(0.0)
}

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn first_value(path: &str, key: &str) -> String {
    let all = text(path);
    let line = all.lines().find(|l| l.starts_with(key)).and_then(|l| l.split_once(':'));
    line.map_or("unknown", |(_, value)| value.trim()).to_owned()
}

/// The kernel's version, without what its builder appended.
fn kernel() -> String {
    let release = text("/proc/sys/kernel/osrelease");
    format!("Linux {}", release.split('-').next().unwrap_or("unknown"))
}

fn version(program: &Path) -> String {
    let said = Command::new(program).arg("--version").output();
    let first = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
    let said = said.map(|output| first(&String::from_utf8_lossy(&output.stdout)));
    said.unwrap_or_else(|e| format!("unknown ({e})"))
}

/// Today in UTC, `2026-01-31`.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil((since.as_secs() / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a day counted from 1970, for the Gregorian calendar: years are taken to
/// begin in March, so that the leap day comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
