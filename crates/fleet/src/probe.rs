//! Which hosts see the same files: each puts a probe where the targets are and looks for others'.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Beginning of the name of each probe.
pub const PREFIX: &str = "candor-probe-";

/// Probes of this host, removed when this is dropped.
#[derive(Debug, Default)]
pub struct Probes {
    /// Name that all probes of the run begin with.
    name: String,
    host: u32,
    /// Directory of each path; none where a path has no files of its own, such as a device.
    directories: Vec<Option<PathBuf>>,
    made: Vec<PathBuf>,
}

impl Probes {
    /// Puts a probe into the directory of each path.
    ///
    /// # Errors
    /// A directory in which nothing can be made, or a name that leads elsewhere.
    pub fn put(paths: &[PathBuf], name: &str, host: u32) -> Result<Probes, String> {
        if name.contains('/') || !name.starts_with(PREFIX) {
            return Err(format!("`{name}` is no name of a probe: {PREFIX} and no slash"));
        }
        let directories = paths.iter().map(|path| directory(path)).collect();
        let mut probes = Probes { name: name.into(), host, directories, made: Vec::new() };
        for directory in probes.directories.iter().flatten() {
            let path = directory.join(format!(".{name}-{host}"));
            if probes.made.contains(&path) {
                continue;
            }
            let mut options = File::options();
            let made = options.write(true).create_new(true).mode(0o600).open(&path);
            match made {
                Ok(_) => probes.made.push(path),
                // Work that only reads may be on a filesystem that only can be read: nobody sees
                // anybody there, and nobody makes anything.
                Err(error) if is_closed(&error) => {}
                Err(error) => return Err(format!("cannot create `{}`: {error}", path.display())),
            }
        }
        Ok(probes)
    }

    /// For each path the lowest number of a host whose probe stands there; this host's own where
    /// there is none.
    pub fn seen(&self) -> Vec<u32> {
        let lowest = |directory: &Path| {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            let hosts = entries.filter_map(|entry| {
                let name = entry.file_name();
                let number = name.to_str()?.strip_prefix('.')?.strip_prefix(&self.name)?;
                number.strip_prefix('-')?.parse().ok()
            });
            hosts.min().unwrap_or(self.host).min(self.host)
        };
        let directories: BTreeSet<&PathBuf> = self.directories.iter().flatten().collect();
        let known: BTreeMap<&PathBuf, u32> =
            directories.into_iter().map(|directory| (directory, lowest(directory))).collect();
        let of = |directory: &Option<PathBuf>| match directory {
            None => self.host,
            Some(at) => known.get(at).copied().unwrap_or(self.host),
        };
        self.directories.iter().map(of).collect()
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        for path in &self.made {
            // One that somebody else has removed is gone either way.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The directory in which a path stands or would be made; the path itself where it is one. None for
/// devices: what is below `/dev` is each host's own.
fn directory(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return None;
    }
    // One that is not there on this host is another's.
    if path.parent() == Some(Path::new("/dev")) {
        return None;
    }
    path.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_see_each_other_where_they_share_a_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let (shared, own) = (folder.path().join("shared"), folder.path().join("own"));
        std::fs::create_dir(&shared).expect("made");
        std::fs::create_dir(&own).expect("made");
        let paths = [shared.join("file"), own.join("a/b"), PathBuf::from("/dev/null")];
        let put = |paths: &[PathBuf], host| Probes::put(paths, "candor-probe-x", host);
        let put_as = |name| Probes::put(&paths, name, 1);
        let first = put(&paths[..1], 3).expect("put");
        let second = put(&paths, 7).expect("put");
        std::fs::write(shared.join(".candor-probe-y-1"), "").expect("another run's");
        assert!(put_as("candor-probe-/../x").is_err() && put_as("x").is_err());
        assert_eq!(first.seen(), [3]);
        assert_eq!(second.seen(), [3, 7, 7]);
        drop((first, second));
        assert_eq!(std::fs::read_dir(&own).expect("listed").count(), 0);
        assert_eq!(std::fs::read_dir(&shared).expect("listed").count(), 1);
    }
}
