//! Which processes map a file: their pages cannot be dropped from the page cache.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use candor_plan::{PathText, path_text::text_of};
use candor_record::Mapper;

use crate::source::Roots;
use crate::source::attributes::{names, text};

/// Who maps what, as far as this user may see.
#[derive(Debug, Default)]
pub struct Mapped {
    /// By inode: the device as `maps` writes it, the path, the process.
    by_inode: HashMap<u64, Vec<(String, String, u32)>>,
    commands: HashMap<u32, String>,
    /// Processes whose mappings this user may not see.
    pub processes_unseen: u64,
}

/// All file mappings of all processes but this one, from `/proc/PID/maps`. Processes that end
/// meanwhile are left out.
pub fn mappings(roots: &Roots) -> Mapped {
    let mut mapped = Mapped::default();
    let pids = names(&roots.proc).into_iter().filter_map(|name| name.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != std::process::id()) {
        let dir = roots.proc.join(pid.to_string());
        match fs::read(dir.join("maps")) {
            Ok(maps) => mapped.add(pid, &text_of(&maps), &dir),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                mapped.processes_unseen += 1;
            }
            Err(_) => {}
        }
    }
    mapped
}

impl Mapped {
    fn add(&mut self, pid: u32, maps: &str, dir: &Path) {
        for line in maps.lines() {
            // start-end rights offset device inode path
            let mut words = line.split_whitespace();
            let (Some(device), Some(inode)) = (words.nth(3), words.next()) else { continue };
            let Some(inode) = inode.parse().ok().filter(|inode| *inode != 0) else { continue };
            let path = line.find('/').map_or("", |at| &line[at..]);
            let of = self.by_inode.entry(inode).or_default();
            if !of.iter().any(|(d, p, by)| (d.as_str(), p.as_str(), *by) == (device, path, pid)) {
                of.push((device.to_owned(), path.to_owned(), pid));
                self.commands
                    .entry(pid)
                    .or_insert_with(|| text(&dir.join("comm")).unwrap_or_else(|| "?".to_owned()));
            }
        }
    }

    /// The processes that map a file. A filesystem may show another device there than `stat`
    /// does (btrfs); then the path decides.
    pub fn mappers(&self, path: &Path, about: &Metadata) -> Vec<Mapper> {
        let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
        let device = format!("{major:02x}:{minor:02x}");
        let name = path.text();
        let of = self.by_inode.get(&about.ino()).into_iter().flatten();
        let its = of.filter(|(on, path, _)| *on == device || *path == name);
        let mut pids: Vec<u32> = its.map(|(_, _, pid)| *pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids.into_iter()
            .map(|pid| {
                let command = self.commands.get(&pid).cloned().unwrap_or_default();
                Mapper { pid, command }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn mappings_are_found_by_device_or_by_path() {
        let fake = Fake::new();
        let file = tempfile::NamedTempFile::new().expect("a file");
        let about = file.as_file().metadata().expect("it is there");
        let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
        let (inode, path) = (about.ino(), file.path().display());
        let line = |device: &str, path: &str| {
            format!("7f00-7f10 r--s 00000000 {device} {inode}    {path}\n")
        };
        let nothing = "7ffd-7ffe rw-p 00000000 00:00 0   [stack]\nnonsense\n";
        let same = line(&format!("{major:02x}:{minor:02x}"), "/elsewhere/a b");
        fake.write("proc/4711/maps", &format!("{nothing}{same}{same}"));
        fake.write("proc/4711/comm", "postgres\n");
        fake.write("proc/4712/maps", &line("00:2f", &path.to_string()));
        fake.write("proc/4713/maps", &line("00:2f", "/another/file"));
        fake.write("proc/uptime", "1 1");
        let mapped = mappings(&fake.roots);
        let found = mapped.mappers(file.path(), &about);
        let found: Vec<_> = found.iter().map(|m| (m.pid, m.command.as_str())).collect();
        assert_eq!(found, [(4711, "postgres"), (4712, "?")]);
        assert_eq!(mapped.processes_unseen, 0);
    }
}
