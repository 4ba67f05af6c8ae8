//! Phases of a format: remove the old tree, create directories, create and write files.

use candor_plan::Tree;
use candor_plan::blocks::{Access, Content, OpenSync};
use candor_plan::entries::{Entries, Over, Step, Take};

use super::shape::Shape;
use super::steps::{open_sync, sync_before_close};
use crate::definitions::fwd::Fwd;
use crate::definitions::open_flags::OpenFlags;
use crate::definitions::rd::Format;
use crate::definitions::transfer::TransferSize;

/// Threads and bytes per write of a format without `fwd=format`.
const THREADS: u32 = 8;
const TRANSFER_BYTES: u64 = 128 << 10;

/// One part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormatStep {
    /// Files of the old tree are removed.
    DeleteFiles,
    /// Directories are removed.
    RemoveDirectories,
    /// Create directories.
    MakeDirectories,
    /// Create and write files.
    MakeFiles,
}

impl FormatStep {
    /// Name of the step's phase.
    pub fn name(self) -> &'static str {
        match self {
            FormatStep::DeleteFiles => "delete",
            FormatStep::RemoveDirectories => "rmdir",
            FormatStep::MakeDirectories => "mkdir",
            FormatStep::MakeFiles => "create",
        }
    }

    /// True if the step creates or removes directories.
    pub fn is_of_directories(self) -> bool {
        matches!(self, FormatStep::RemoveDirectories | FormatStep::MakeDirectories)
    }

    /// True if the step uses an existing tree.
    pub fn is_of_old_tree(self) -> bool {
        matches!(self, FormatStep::DeleteFiles | FormatStep::RemoveDirectories)
    }
}

/// Steps of a format.
pub fn steps_of(format: Format) -> Vec<FormatStep> {
    use FormatStep::{DeleteFiles, MakeDirectories, MakeFiles, RemoveDirectories};
    let old =
        if format.restart && !format.clean { vec![] } else { vec![DeleteFiles, RemoveDirectories] };
    let new = match (format.clean, format.directories) {
        (true, _) => vec![],
        (false, true) => vec![MakeDirectories],
        (false, false) => vec![MakeDirectories, MakeFiles],
    };
    [old, new].concat()
}

/// How a format works: `fwd=format`, or the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Formatter {
    /// Threads for each file system.
    pub threads: u32,
    /// Bytes per write.
    pub transfer_bytes: u64,
    /// Open flags of files.
    pub open_flags: Option<OpenFlags>,
}

impl Formatter {
    /// The definition `fwd=format` and its given parameters.
    pub fn of(fwd: Option<(&Fwd, bool, bool)>) -> Formatter {
        let Some((fwd, has_threads, has_size)) = fwd else {
            return Formatter {
                threads: THREADS,
                transfer_bytes: TRANSFER_BYTES,
                open_flags: None,
            };
        };
        let first = match &fwd.transfer_size {
            TransferSize::Fixed(size) => *size,
            other => other.first(),
        };
        Formatter {
            threads: if has_threads { fwd.threads } else { THREADS },
            transfer_bytes: if has_size { first } else { TRANSFER_BYTES },
            open_flags: fwd.open_flags,
        }
    }

    /// Work of one part on a tree of that shape.
    pub fn entries(
        &self,
        step: FormatStep,
        shape: &Shape,
        flags: OpenFlags,
        restart: bool,
        content: &Content,
    ) -> Entries {
        let once = |over, present: &[Step], absent: &[Step]| Entries {
            over,
            steps: present.into(),
            take: Some(Take { absent: absent.into(), once: true, ..Take::default() }),
            ..Entries::default()
        };
        match step {
            FormatStep::DeleteFiles => once(Over::Items, &[Step::Unlink], &[]),
            FormatStep::RemoveDirectories => once(Over::Directories, &[Step::Rmdir], &[]),
            FormatStep::MakeDirectories => once(Over::Directories, &[], &[Step::Mkdir]),
            FormatStep::MakeFiles => {
                let list = |open| {
                    let mut steps = vec![open, Step::Write, Step::Close];
                    sync_before_close(&mut steps, flags);
                    steps
                };
                let take = Take {
                    absent: list(Step::Create),
                    short: restart.then(|| list(Step::Open)),
                    once: true,
                    parts: shape.parts(true),
                    ..Take::default()
                };
                Entries {
                    take: Some(take),
                    size: Some(candor_plan::Bytes(self.transfer_bytes)),
                    access: Access::Sequential,
                    direct: flags.direct,
                    open_sync: if flags == OpenFlags::default() {
                        OpenSync::None
                    } else {
                        open_sync(flags)
                    },
                    content: content.clone(),
                    ..Entries::default()
                }
            }
        }
    }
}

/// The tree of names that a clean-up removes, at any level.
pub fn old_tree(depth: u32, width: u32, files: u64) -> Tree {
    Tree { depth, width: width.max(1), items: files.max(1), ..super::shape::named() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_has_its_steps_by_its_words() {
        use FormatStep::{DeleteFiles, MakeDirectories, MakeFiles, RemoveDirectories};
        let yes = Format { is_wanted: true, ..Format::default() };
        let cases = [
            (yes, vec![DeleteFiles, RemoveDirectories, MakeDirectories, MakeFiles]),
            (Format { restart: true, ..yes }, vec![MakeDirectories, MakeFiles]),
            (Format { clean: true, only: true, ..yes }, vec![DeleteFiles, RemoveDirectories]),
            (
                Format { directories: true, ..yes },
                vec![DeleteFiles, RemoveDirectories, MakeDirectories],
            ),
            (Format { directories: true, restart: true, ..yes }, vec![MakeDirectories]),
        ];
        for (format, expected) in cases {
            assert_eq!(steps_of(format), expected, "{format:?}");
        }
    }

    #[test]
    fn a_format_has_eight_threads_and_128k_unless_told_otherwise() {
        let default = Formatter::of(None);
        assert_eq!((default.threads, default.transfer_bytes), (8, 131_072));
        let fwd = Fwd { threads: 2, transfer_size: TransferSize::Fixed(65_536), ..Fwd::default() };
        let given = Formatter::of(Some((&fwd, true, true)));
        assert_eq!((given.threads, given.transfer_bytes), (2, 65_536));
        let neither = Formatter::of(Some((&fwd, false, false)));
        assert_eq!((neither.threads, neither.transfer_bytes), (8, 131_072));
    }
}
