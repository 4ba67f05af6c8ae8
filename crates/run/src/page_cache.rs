//! Files in the page cache: looking at them, getting them out, getting them in.

mod walk;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use candor_observe::mapped::{self, Mapped};
use candor_observe::{Roots, cache};
use candor_plan::{PathText, path_of};
use candor_record::{CacheAction, CacheState, Cached, CachedFile, Mapper, REPORT_VERSION};

use crate::control::Control;
use crate::error::RunError;

/// Does this to all files at and below the paths, and tells what came of it: after all of them
/// had their turn, each is looked at once more.
///
/// # Errors
/// A path does not exist, or is neither a file nor a directory nor a block device. What keeps
/// single files from being read stands with them.
pub fn cached(
    paths: &[PathBuf],
    action: CacheAction,
    control: &Control,
) -> Result<Cached, RunError> {
    let roots = Roots::default();
    let found = walk::walk(paths)?;
    let mut all = Cached { report_version: REPORT_VERSION, action, ..Cached::default() };
    for (path, about) in &found.files {
        if control.is_stopped() {
            all.interrupted = true;
            break;
        }
        all.files.extend(one(path, about, action, control));
    }
    // Mappings are read last: they explain what is left now.
    let mapped = mapped::mappings(&roots);
    let about = |file: &CachedFile| path_of(&file.path).metadata().ok();
    for file in &mut all.files {
        if let Some(about) = about(file) {
            file.mapped_by = mapped.mappers(&path_of(&file.path), &about);
        }
        settle(file, action, &mapped, &roots);
    }
    all.interrupted |= control.is_stopped();
    all.processes_unseen = mapped.processes_unseen;
    all.total = sum(all.files.iter().map(|file| file.state));
    all.before = sum(all.files.iter().map(|file| file.before));
    all.rest_bytes = all.files.iter().map(|file| file.rest_bytes).sum();
    all.mounts_left_out = found.mounts.iter().map(|at| at.text()).collect();
    all.files.extend(found.closed.into_iter().map(|(path, why)| CachedFile {
        path: path.text(),
        trouble: Some(format!("the directory cannot be read: {why}")),
        ..CachedFile::default()
    }));
    Ok(all)
}

/// One file; none where it is gone by now.
fn one(
    path: &Path,
    about: &Metadata,
    action: CacheAction,
    control: &Control,
) -> Option<CachedFile> {
    let mut file = CachedFile { path: path.text(), ..CachedFile::default() };
    let done = cache::look(path).and_then(|state| {
        file.before = Some(state);
        file.state = Some(state);
        match action {
            CacheAction::Status => Ok(()),
            CacheAction::Evict => cache::evict(path).map(|_| ()),
            CacheAction::Warm => cache::warm(path, &|| !control.is_stopped()),
        }
    });
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => file.trouble = Some(trouble(&error, about.uid())),
        Ok(()) => {}
    }
    Some(file)
}

fn trouble(error: &io::Error, owner: u32) -> String {
    let foreign = owner != rustix::process::geteuid().as_raw();
    match error.kind() {
        io::ErrorKind::PermissionDenied if foreign => {
            format!("{error}; it belongs to user {owner}")
        }
        _ => error.to_string(),
    }
}

/// Reads the state once more, and finds out why something is not as requested.
fn settle(file: &mut CachedFile, action: CacheAction, mapped: &Mapped, roots: &Roots) {
    let path = path_of(&file.path);
    if action == CacheAction::Status || file.state.is_none() {
        return;
    }
    match cache::look(&path) {
        Ok(state) => file.state = Some(state),
        Err(error) => {
            file.state = None;
            file.trouble.get_or_insert(error.to_string());
        }
    }
    file.rest_bytes = rest(file, action);
    if file.rest_bytes == 0 {
        return;
    }
    file.rest = Some(match action {
        CacheAction::Warm => "dropped again while others were read: more than memory, or the \
            control group's share of it, holds"
            .to_owned(),
        _ => kept(file, mapped, roots),
    });
}

/// The reasons why pages of a file stay in memory.
fn kept(file: &CachedFile, mapped: &Mapped, roots: &Roots) -> String {
    if let Some(filesystem) = candor_observe::lies_in_memory(&path_of(&file.path), roots) {
        return format!("{filesystem} has no other place for it than memory");
    }
    let state = file.state.unwrap_or_default();
    let mut causes = Vec::new();
    if !file.mapped_by.is_empty() {
        let by: Vec<String> = file.mapped_by.iter().map(called).collect();
        causes.push(format!("mapped by {}", by.join(", ")));
    }
    if state.dirty_bytes.is_some_and(|bytes| bytes > 0) {
        causes.push("written to again meanwhile".to_owned());
    }
    if state.writeback_bytes.is_some_and(|bytes| bytes > 0) {
        causes.push("being written".to_owned());
    }
    if causes.is_empty() && mapped.processes_unseen > 0 {
        causes.push("read again meanwhile, or mapped by a process that cannot be seen".to_owned());
    } else if causes.is_empty() {
        causes.push("read again meanwhile, or held by the kernel".to_owned());
    }
    causes.join("; ")
}

fn called(mapper: &Mapper) -> String {
    format!("{} ({})", mapper.command, mapper.pid)
}

/// Bytes that are not as requested, as far as anybody knows.
fn rest(file: &CachedFile, action: CacheAction) -> u64 {
    let state = file.state.unwrap_or_default();
    match action {
        CacheAction::Status => 0,
        CacheAction::Evict => state.resident_bytes,
        CacheAction::Warm => state.size_bytes.saturating_sub(state.resident_bytes),
    }
}

fn sum(states: impl Iterator<Item = Option<CacheState>>) -> CacheState {
    let add = |sum: Option<CacheState>, one: CacheState| Some(cache::add(sum, &one));
    let none = CacheState { dirty_bytes: Some(0), writeback_bytes: Some(0), ..Default::default() };
    states.flatten().fold(Some(none), add).unwrap_or_default()
}
