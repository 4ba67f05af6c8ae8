//! Files that candor made: removed at the end of a run, whatever ends it.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// All files to remove, for the handler of the second interrupt.
static TO_REMOVE: Mutex<Vec<CString>> = Mutex::new(Vec::new());

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// The files made by one run.
#[derive(Debug, Default)]
pub struct Made {
    paths: Vec<(PathBuf, bool)>,
}

impl Made {
    /// A file is about to be made; it is kept or removed at the end.
    pub fn add(&mut self, path: &Path, keep: bool) {
        self.paths.push((path.to_owned(), keep));
        if let (false, Some(path)) = (keep, c_path(path)) {
            TO_REMOVE.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        }
    }

    /// True for a file that this run made.
    pub fn contains(&self, path: &Path) -> bool {
        self.paths.iter().any(|(made, _)| made == path)
    }

    /// Removes what is not kept.
    pub fn remove(&mut self) {
        for (path, _) in self.paths.drain(..).filter(|(_, keep)| !keep) {
            // A file that was never made, or that someone else removed, is gone either way.
            let _ = std::fs::remove_file(&path);
            let gone = c_path(&path);
            let mut list = TO_REMOVE.lock().unwrap_or_else(PoisonError::into_inner);
            list.retain(|path| Some(path) != gone.as_ref());
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes everything on the list, with calls that a signal handler may make.
///
/// If the list is locked at that moment the interrupted thread is changing it; then nothing is
/// removed rather than waiting for ever.
pub fn remove_from_signal_handler() {
    if let Ok(list) = TO_REMOVE.try_lock() {
        for path in list.iter() {
            // SAFETY: the path is a valid C string; unlink may be called from a handler.
            unsafe { libc::unlink(path.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_what_is_not_kept() {
        let dir = std::env::temp_dir().join(format!("candor-made-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("made");
        let (kept, gone) = (dir.join("kept"), dir.join("gone"));
        let mut made = Made::default();
        for (path, keep) in [(&kept, true), (&gone, false)] {
            std::fs::write(path, "x").expect("written");
            made.add(path, keep);
        }
        assert!(made.contains(&gone));
        drop(made);
        assert!(kept.exists() && !gone.exists());
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
