//! Names of files.

use std::path::PathBuf;

use crate::fio::job_options::FORMAT;
use crate::fio::lower::host::Found;
use crate::fio::lower::instance::Instance;

/// The paths of a clone's files.
pub(in crate::fio::lower) fn paths(from: &Instance<'_>, number: u64) -> Vec<PathBuf> {
    let files = &from.options.files;
    // Clones go to one directory after the other, unless the files are named.
    let directory = match files.directories.len() {
        _ if !files.names.is_empty() => files.beneath.as_ref(),
        0 => None,
        many => files.directories.get((from.job_number() % many as u64) as usize),
    };
    let within = |name: &str| match directory {
        Some(directory) => PathBuf::from(format!("{}/{name}", directory.trim_end_matches('/'))),
        None => PathBuf::from(name),
    };
    if !files.names.is_empty() {
        return files.names.iter().map(|name| within(name)).collect();
    }
    // A section that is called like a device means it.
    let own = PathBuf::from(from.section);
    if matches!(from.host.found(&own), Found::Device(_) | Found::Character | Found::Other) {
        return vec![own];
    }
    (0..number).map(|file| within(&made_up(from, file))).collect()
}

/// The name of a file that is named after its job.
fn made_up(from: &Instance<'_>, file: u64) -> String {
    let format = match from.options.files.format.as_str() {
        "" => FORMAT,
        format => format,
    };
    let (job, file) = (from.job_number().to_string(), file.to_string());
    let words =
        [("$jobname", from.section), ("$jobnum", &job), ("$filenum", &file), ("$clientuid", "")];
    let mut name = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        name.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = words.iter().find(|(word, _)| rest.starts_with(word));
        match known {
            Some((word, value)) => {
                name.push_str(value);
                rest = &rest[word.len()..];
            }
            None => {
                name.push('$');
                rest = &rest[1..];
            }
        }
    }
    name.push_str(rest);
    name
}
