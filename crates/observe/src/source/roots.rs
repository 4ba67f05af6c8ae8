//! Where the kernel's file trees are, and who answers for them: the running kernel, or what another
//! one once said, so that tests and people replay it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::bundle::{Answer, Ask, Bundle};
use crate::source::redact::redacted;

/// The roots of the kernel's file trees, through which everything that [`crate::inspect`] wants to
/// know is asked.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Instead of `/sys`.
    pub sys: PathBuf,
    /// Instead of `/proc`.
    pub proc: PathBuf,
    /// Instead of `/dev`.
    pub dev: PathBuf,
    answers: Answers,
}

/// Who answers.
#[derive(Clone, Debug, Default)]
enum Answers {
    /// The running kernel.
    #[default]
    Kernel,
    /// The running kernel, and each answer is written down. What was asked before is answered as
    /// before, so that numbers that move on by themselves do not contradict each other.
    Recorded(Arc<Mutex<Bundle>>),
    /// Answers from a recording. Questions that were not asked then have no answer.
    Replayed(Arc<Bundle>),
}

impl Default for Roots {
    fn default() -> Self {
        Roots {
            sys: "/sys".into(),
            proc: "/proc".into(),
            dev: "/dev".into(),
            answers: Answers::Kernel,
        }
    }
}

impl Roots {
    /// The running kernel's trees in other places.
    #[cfg(test)]
    pub(crate) fn at(sys: PathBuf, proc: PathBuf, dev: PathBuf) -> Roots {
        Roots { sys, proc, dev, answers: Answers::Kernel }
    }

    /// This host, with every answer written down for [`Roots::recorded`].
    pub fn recording() -> Roots {
        Roots { answers: Answers::Recorded(Arc::default()), ..Roots::default() }
    }

    /// The host that a bundle was recorded on.
    pub fn replay(bundle: Bundle) -> Roots {
        Roots { answers: Answers::Replayed(Arc::new(bundle)), ..Roots::default() }
    }

    /// The questions and answers so far; empty unless they were to be noted.
    pub fn recorded(&self) -> Bundle {
        match &self.answers {
            Answers::Recorded(notes) => {
                notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
            }
            Answers::Kernel | Answers::Replayed(_) => Bundle::default(),
        }
    }

    /// The answer to a question: the kernel's by `live`, or the one that was written down.
    pub(crate) fn ask(
        &self,
        ask: Ask,
        about: &Path,
        live: impl FnOnce() -> Option<Answer>,
    ) -> Option<Answer> {
        match &self.answers {
            Answers::Kernel => live(),
            Answers::Replayed(bundle) => bundle.answer(ask, about).flatten(),
            Answers::Recorded(notes) => {
                let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(known) = notes.answer(ask, about) {
                    return known;
                }
                let answer = live().map(|answer| redacted(about, answer));
                notes.record(ask, about, answer.clone());
                answer
            }
        }
    }

    /// Whether the running kernel answers, and nobody writes.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.answers, Answers::Kernel)
    }

    /// Where an absolute path that the kernel named is found: the same place, or the same place
    /// in the recorded tree.
    pub(crate) fn place(&self, path: &Path) -> PathBuf {
        let trees = [("/sys", &self.sys), ("/proc", &self.proc), ("/dev", &self.dev)];
        for (prefix, root) in trees {
            if let Ok(rest) = path.strip_prefix(prefix) {
                return root.join(rest);
            }
        }
        path.to_path_buf()
    }

    /// The directory of a block device, partitions included.
    pub(crate) fn block(&self, name: &str) -> PathBuf {
        self.sys.join("class/block").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernel_trees_move() {
        let roots = Roots::at("/t/sys".into(), "/t/proc".into(), "/t/dev".into());
        assert_eq!(roots.place(Path::new("/sys/fs/cgroup")), Path::new("/t/sys/fs/cgroup"));
        assert_eq!(roots.place(Path::new("/dev/sda")), Path::new("/t/dev/sda"));
        assert_eq!(roots.place(Path::new("/system/x")), Path::new("/system/x"));
        assert_eq!(roots.place(Path::new("/home")), Path::new("/home"));
    }

    #[test]
    fn what_was_answered_once_is_answered_so_again() {
        let (roots, path) = (Roots::recording(), Path::new("/x"));
        assert_eq!(roots.ask(Ask::Text, path, || Some("1".into())), Some("1".into()));
        assert_eq!(roots.ask(Ask::Text, path, || Some("2".into())), Some("1".into()));
        assert_eq!(roots.ask(Ask::Names, path, || None), None);
        let again = Roots::replay(roots.recorded());
        assert_eq!(again.ask(Ask::Text, path, || unreachable!()), Some("1".into()));
        assert_eq!(again.ask(Ask::Link, path, || unreachable!()), None);
    }
}
