//! Names of files.

use std::path::PathBuf;

use candor_plan::{FileName, path_of};

use super::instance::Instance;
use crate::options::{self, FORMAT, JobOptions};
use candor_front::Found;

/// Paths of a clone's files, in order.
pub(super) enum Paths {
    /// Each by itself.
    Listed(Vec<PathBuf>),
    /// A number of files, from 0.
    Numbered(FileName, u64),
}

impl Paths {
    pub fn count(&self) -> u64 {
        match self {
            Paths::Listed(paths) => paths.len() as u64,
            Paths::Numbered(_, count) => *count,
        }
    }

    pub fn path(&self, nth: u64) -> PathBuf {
        match self {
            Paths::Listed(paths) => paths[nth as usize].clone(),
            Paths::Numbered(name, _) => path_of(&name.name(nth)),
        }
    }
}

/// The paths of a clone's files.
pub(super) fn paths(from: &Instance<'_>, number: u64) -> Paths {
    let files = &from.options.files;
    if !files.names.is_empty() {
        return Paths::Listed(
            files
                .names
                .iter()
                .map(|file| path_of(&within(from, file.beneath.as_deref(), &file.name)))
                .collect(),
        );
    }
    // A section that is called like a device means it.
    let own = path_of(from.section);
    // Only plausible client names are requested.
    let is_path = from.section.contains('/') || from.host.client().is_none();
    if is_path
        && matches!(from.host.found(&own), Found::Device(_) | Found::Character | Found::Other)
    {
        return Paths::Listed(vec![own]);
    }
    let name = made_up(from);
    let is_set = number > 1 && !is_listed(from.options) && name.split().1.is_below();
    if is_set {
        Paths::Numbered(name, number)
    } else {
        Paths::Listed((0..number).map(|nth| path_of(&name.name(nth))).collect())
    }
}

/// The path of a clone's first file.
pub(super) fn first(from: &Instance<'_>) -> Option<PathBuf> {
    let paths = paths(from, 1);
    (paths.count() > 0).then(|| paths.path(0))
}

/// True if the plan lists the job's generated file names: each file has its own size, or all have
/// one name.
pub(super) fn is_listed(options: &JobOptions) -> bool {
    let files = &options.files;
    files.size.is_some_and(|(low, high)| low != high) || !format(files).contains(NUMBER)
}

const NUMBER: &str = "$filenum";

fn format(files: &options::Files) -> &str {
    match files.format.as_str() {
        "" => FORMAT,
        format => format,
    }
}

/// Clients have names of their own in directories, unless that is not wished.
fn within(from: &Instance<'_>, directory: Option<&str>, name: &str) -> String {
    let client = from.host.client().filter(|_| from.options.files.unique);
    let client = client.map_or(String::new(), |client| format!("{client}."));
    match directory {
        Some(directory) => format!("{}/{client}{name}", directory.trim_end_matches('/')),
        None => name.to_owned(),
    }
}

/// The paths of files that are named after their job.
fn made_up(from: &Instance<'_>) -> FileName {
    let files = &from.options.files;
    // Clones go to one directory after the other.
    let directory = match files.directories.len() {
        0 => None,
        many => Some(files.directories[(from.job_number() % many as u64) as usize].as_str()),
    };
    let pieces = format(files).split(NUMBER).enumerate();
    FileName::joined(pieces.map(|(nth, piece)| match nth {
        0 => within(from, directory, &worded(from, piece)),
        _ => worded(from, piece),
    }))
}

/// A piece of a format with its keywords replaced.
fn worded(from: &Instance<'_>, piece: &str) -> String {
    let job = from.job_number().to_string();
    let client = from.host.client().unwrap_or_default();
    let words = [("$jobname", from.section), ("$jobnum", &job), ("$clientuid", &client)];
    let (mut name, mut rest) = (String::new(), piece);
    while let Some(at) = rest.find('$') {
        let (before, word) = rest.split_at(at);
        let known = words.iter().find(|(known, _)| word.starts_with(known));
        let (known, value) = known.unwrap_or(&("$", "$"));
        name.push_str(before);
        name.push_str(value);
        rest = &word[known.len()..];
    }
    name.push_str(rest);
    name
}
