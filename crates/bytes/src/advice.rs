//! Advice for the kernel about a file.

use std::os::fd::AsFd;

use candor_plan::blocks::Advice;
use rustix::fs::Advice as Fadvise;

/// Gives the kernel the pieces of advice, in order.
pub fn advise(file: impl AsFd, advice: &[Advice]) {
    for piece in advice {
        let piece = match piece {
            Advice::Sequential => Fadvise::Sequential,
            Advice::Random => Fadvise::Random,
            Advice::Noreuse => Fadvise::NoReuse,
            Advice::Willneed => Fadvise::WillNeed,
            Advice::Dontneed => Fadvise::DontNeed,
        };
        // Advice is a hint: a filesystem that ignores it stays correct.
        let _ = rustix::fs::fadvise(&file, 0, None, piece);
    }
}
