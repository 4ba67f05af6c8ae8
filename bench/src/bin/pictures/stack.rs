//! A filesystem in an image upon another filesystem.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, text};

const IMAGE_BYTES: u64 = 700 << 20;

/// ext4 on a loop device over a file; dropped, all of it is removed.
pub struct Stack {
    image: PathBuf,
    device: String,
    mount: PathBuf,
}

impl Stack {
    /// Mounted at `loop` below the directory.
    pub fn below(dir: &Path) -> Outcome<Stack> {
        let mut stack =
            Stack { image: dir.join("image"), device: String::new(), mount: dir.join("loop") };
        File::create_new(&stack.image)?.set_len(IMAGE_BYTES)?;
        fs::create_dir(&stack.mount)?;
        let attach = ["--find", "--show", "--direct-io=on", &text(&stack.image)];
        stack.device = output("losetup", &attach)?;
        output("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0", &stack.device])?;
        output("mount", &[&stack.device, &text(&stack.mount)])?;
        Ok(stack)
    }

    /// The directory of the mount.
    pub fn path(&self) -> &Path {
        &self.mount
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Each of them may not have been made; the last says what could not be removed.
        let _ = output("umount", &[&text(&self.mount)]);
        let _ = output("losetup", &["--detach", &self.device]);
        let removed = fs::remove_dir(&self.mount).and_then(|()| fs::remove_file(&self.image));
        if let Err(error) = removed {
            eprintln!("{} could not be removed: {error}", self.image.display());
        }
    }
}

/// Text that a program prints; it has to succeed.
fn output(program: &str, words: &[&str]) -> Outcome<String> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{program} {}: {}", words.join(" "), said.trim()).into())
    }
}
