//! Shares of long lists of cases, by day.

use std::time::{SystemTime, UNIX_EPOCH};

/// True for cases of today's share. Lists that take too long alone on the host are dealt over some
/// days; with `CANDOR_CASES=` in the environment, every case runs.
pub fn is_of_today(case: &str, days: u64) -> bool {
    if std::env::var_os("CANDOR_CASES").is_some() {
        return true;
    }
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let sum: u64 = case.bytes().map(u64::from).sum();
    (sum + seconds / (24 * 60 * 60)).is_multiple_of(days)
}
