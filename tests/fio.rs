//! candor called as `fio`: the contract that scripts rely on.

mod contract;
mod flags;
mod interim;
mod mistakes;
mod priorities;
mod walkthrough;

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::support::{Ran, Running, Scratch};

/// The program, as others call it: a link by the name of `fio`.
fn link(scratch: &Scratch) -> String {
    let link = scratch.outside("fio");
    if !std::path::Path::new(&link).exists() {
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
    }
    link
}

/// A command that runs candor as fio in the scratch directory.
fn command(scratch: &Scratch, words: &[&str]) -> Command {
    let mut command = Command::new(link(scratch));
    command.args(words).current_dir(scratch.dir()).env_remove("CANDOR_VERDICT");
    command
}

/// Runs candor as fio in the scratch directory.
fn fio(scratch: &Scratch, words: &[&str]) -> Ran {
    Running::start(&mut command(scratch, words), Stdio::null()).wait()
}
