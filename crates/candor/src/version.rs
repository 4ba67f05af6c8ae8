//! `candor --version`: version, commit, and features of this build.

use candor_plan::Engine;

/// The commit of the sources; empty where they were no tree of git.
const COMMIT: &str = env!("CANDOR_COMMIT");

/// Version and commit: `0.1.0 (0123456789ab)`.
pub fn short() -> String {
    numbered(env!("CARGO_PKG_VERSION"), COMMIT)
}

/// The same, and the target and features of this build, a line each.
pub fn long(tools: &[&str]) -> String {
    let engines = Engine::ALL.map(|engine| engine.name());
    format!(
        "{}\nbuilt for {}, {}\nfeatures:\n  engines: {}\n  tools:   {}\n  agents:  \
         protocol {}",
        short(),
        env!("CANDOR_TARGET"),
        if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" },
        engines.join(" "),
        tools.join(" "),
        candor_fleet::PROTOCOL
    )
}

fn numbered(version: &str, commit: &str) -> String {
    match commit {
        "" => version.to_owned(),
        commit => format!("{version} ({commit})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_a_commit_has_its_version_only() {
        assert_eq!(numbered("1.2.3", ""), "1.2.3");
        assert_eq!(numbered("1.2.3", "0123-changed"), "1.2.3 (0123-changed)");
    }

    #[test]
    fn the_long_version_names_what_the_build_can_do() {
        let long = long(&["fio", "iostat"]);
        for word in ["io_uring", "fio", "iostat", candor_fleet::PROTOCOL, env!("CARGO_PKG_VERSION")]
        {
            assert!(long.contains(word), "no {word}: {long}");
        }
    }
}
