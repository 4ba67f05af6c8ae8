//! The table of options that describe a job: one row each.

mod cache;
mod engine;
pub mod objects;
mod pattern;
mod target;
mod timing;

pub use self::pattern::RW_WORDS;

use super::draft::Draft;
use crate::flag::Group;

/// All of them, in the order of the help. Rows are applied in this order, so that `--mix` and
/// `--access` refine what `--rw` says, in whatever order they are written.
pub const GROUPS: &[Group<Draft>] = &[
    Group { title: "Target", flags: target::FLAGS },
    Group { title: "Pattern", flags: pattern::FLAGS },
    Group { title: "Engine", flags: engine::FLAGS },
    Group { title: "Workers", flags: engine::WORKERS },
    Group { title: "Time and rate", flags: timing::FLAGS },
    Group { title: "Durability and cache", flags: cache::FLAGS },
    Group { title: "Content and verification", flags: cache::CONTENT },
    Group { title: "S3", flags: objects::FLAGS },
];

#[cfg(test)]
mod tests {
    use candor_plan::blocks::{Engine, Uring};

    use super::*;
    use crate::commands::bucket::Url;
    use crate::commands::run::s3::S3Job;
    use crate::flag::Takes;

    /// The places that rows claim to set are places of a plan.
    #[test]
    fn fields_are_keys_of_the_plan() {
        let ring = Uring { sqpoll: true, iopoll: true, nop: true, ..Uring::DEFAULT };
        let (engine, uring) = (Some(Engine::IO_URING), Some((ring, "sqpoll")));
        let draft = Draft { engine, uring, ..Draft::default() };
        let url = Url { bucket: "data".into(), prefix: String::new() };
        let s3 = S3Job { urls: vec![url], ..S3Job::default() };
        let of_bucket = Draft { s3, ..Draft::default() }.plan();
        let texts = [draft.plan(), of_bucket].map(|plan| candor_plan::text::to_json(&plan));
        let text = texts.concat();
        for flag in GROUPS.iter().flat_map(|group| group.flags) {
            assert!(!flag.fields.is_empty(), "{} sets nothing", flag.long);
            for field in flag.fields {
                let key = field.rsplit('.').next().unwrap_or_default();
                let known = text.contains(&format!("\"{key}\":"));
                // Absent keys are not written where they hold nothing.
                let optional = [
                    "align",
                    "batch_reap_max",
                    "batch_submit",
                    "bytes",
                    "fixed_buffers",
                    "fixed_files",
                    "huge_pages",
                    "numa_node",
                    "ops",
                    "passes",
                    "size_percent",
                    "sqpoll_cpu",
                    "think",
                    "time",
                    "verify",
                    "read_back",
                    "unknown",
                    "interval",
                    "continue_on_mismatch",
                    "length",
                    "wants_cache",
                    "part",
                    "checksum",
                    "payload",
                    "attempts",
                    "prefix",
                    "expect_continue",
                    "quick_ack",
                ];
                assert!(known || optional.contains(&key), "{}: no key {key}", flag.long);
            }
        }
    }

    #[test]
    fn help_is_short_and_without_a_full_stop() {
        for flag in GROUPS.iter().flat_map(|group| group.flags) {
            assert!(flag.help.len() <= 100 && !flag.help.ends_with('.'), "{}", flag.long);
            let named = match flag.takes {
                Takes::Nothing => true,
                Takes::One(name) | Takes::Maybe(name) | Takes::Many(name) => !name.is_empty(),
            };
            assert!(named, "{}", flag.long);
        }
    }
}
