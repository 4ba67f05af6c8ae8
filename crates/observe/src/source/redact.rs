//! Answers in a bundle that may be handed on, reduced to what facts are made of.

use std::path::Path;

use crate::source::parse::keyed;

/// Files of many lines of which only some are looked at, by the ends of their paths.
const OF_INTEREST: [(&str, &[&str]); 2] =
    [("proc/cpuinfo", &["model name", "flags"]), ("proc/meminfo", &["MemTotal", "MemAvailable"])];

/// An answer without what is nobody's business: it is given to whoever asked, too, so that a
/// replay comes to the same.
pub(crate) fn redacted(about: &Path, answer: String) -> String {
    if let Some((_, keys)) = OF_INTEREST.iter().find(|(file, _)| about.ends_with(file)) {
        let line = |key: &&str| Some(format!("{key}: {}", keyed(&answer, key)?));
        return keys.iter().filter_map(line).collect::<Vec<_>>().join("\n");
    }
    // `CRYPT-LUKS2-…`: behind the name of its maker stands what tells this volume from all others.
    match answer.split_once('-') {
        Some((maker, _)) if about.ends_with("dm/uuid") => format!("{maker}-masked"),
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_looked_at_stays() {
        let cpu = "processor: 0\nmodel name: A\nserial: 7\n\nprocessor: 1\nmodel name: A\n";
        assert_eq!(redacted(Path::new("/proc/cpuinfo"), cpu.into()), "model name: A");
        let uuid = Path::new("/sys/class/block/dm-0/dm/uuid");
        assert_eq!(redacted(uuid, "LVM-abcdef".into()), "LVM-masked");
        assert_eq!(redacted(Path::new("/x"), "LVM-abcdef".into()), "LVM-abcdef");
    }
}
