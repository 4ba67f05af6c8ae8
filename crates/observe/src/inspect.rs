//! Everything that is true for the length of a run.

use std::path::{Path, PathBuf};

use candor_plan::{PathText, path_of};
use candor_record::Facts;
use candor_record::facts::{DeviceSearch, Fact, Filesystem, Missing, PathKind, TargetFacts};

use crate::accounting_probe::NotFound;
use crate::path::layers::{self, Access, mount_of, nearest_existing};
use crate::path::mounts::{self, Mount};
use crate::path::resolve::{device_fact, device_of_held, device_of_node};
use crate::path::{files, generic};
use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::source::stat::FileType;
use crate::stack::{self, holders};
use crate::{cache, host};

/// The facts about the host, the targets (name in the plan, path) and what lies under them. Never
/// fails: what cannot be read is absent, and stands once in [`Facts::missing`]. A target that is a
/// file or device comes with its facts; those of files made later are the caller's to add
/// ([`crate::file_facts`]).
pub fn inspect(targets: &[(String, PathBuf)], roots: &Roots) -> Facts {
    let mut missing_facts = MissingFacts::default();
    let host = host::facts(roots, &mut missing_facts);
    let mounts = mounts::read(roots);
    let targets: Vec<TargetFacts> = targets
        .iter()
        .map(|(name, path)| target(name, path, &mounts, roots, &mut missing_facts))
        .collect();
    let tops: Vec<String> =
        targets.iter().flat_map(TargetFacts::devices).map(str::to_owned).collect();
    let devices = stack::collect(&tops, roots, &mut missing_facts);
    note_counters(roots, &mut missing_facts);
    Facts { host, targets, devices, missing: missing_facts.into_list() }
}

fn target(
    name: &str,
    path: &Path,
    mounts: &[Mount],
    roots: &Roots,
    missing_facts: &mut MissingFacts,
) -> TargetFacts {
    let kind = kind(path, roots);
    let existing = nearest_existing(path, roots).map(|(path, _)| path);
    let mount = existing.as_deref().and_then(|path| mount_of(path, mounts, roots));
    let mount = mount.filter(|_| kind != PathKind::Device);
    let device = device_fact(path, roots);
    let held = layers::holding(path, Access::Read, mounts, roots);
    let holder = held.as_ref().and_then(|held| held.mount).filter(|_| kind != PathKind::Device);
    let other_devices = match &device {
        Some(device) => other_devices(&device.value, holder.or(mount), roots),
        None => {
            note_no_device(name, holder.or(mount), missing_facts);
            Vec::new()
        }
    };
    let has_facts = matches!(kind, PathKind::File | PathKind::Device);
    let facts = has_facts.then(|| files::facts(path, roots)).flatten();
    TargetFacts {
        target: name.to_owned(),
        path: path.text(),
        kind,
        filesystem: mount.zip(existing.as_deref()).map(|(mount, path)| mount.facts(path, roots)),
        held_on: held.and_then(|held| held.beneath(mount, roots)),
        device,
        other_devices,
        device_search: None,
        remote: mount.and_then(|mount| mount.remote(roots)),
        files: facts.into_iter().collect(),
        files_in_all: None,
        shared_bytes: None,
        accounting_probe: None,
        names_in_directory: None,
    }
}

/// Finds again what holds a target's bytes, which on a filesystem that stacks on others depends on
/// what is there by now, and on what is done to it. True where they are on another device than
/// before.
pub fn inspect_again(
    facts: &mut Facts,
    index: usize,
    path: &Path,
    access: Access,
    roots: &Roots,
) -> bool {
    let mounts = mounts::read(roots);
    let existing = nearest_existing(path, roots).map(|(path, _)| path);
    let mount = existing.as_deref().and_then(|path| mount_of(path, &mounts, roots));
    let (Some(target), true) = (facts.targets.get_mut(index), mount.is_some_and(Mount::is_stacked))
    else {
        return false;
    };
    let held = layers::holding(path, access, &mounts, roots);
    let device = held.as_ref().and_then(|held| device_of_held(held, roots));
    let holder = held.as_ref().and_then(|held| held.mount);
    target.held_on = held.and_then(|held| held.beneath(mount, roots));
    if device == target.device {
        return false;
    }
    target.other_devices =
        device.as_ref().map_or_else(Vec::new, |name| other_devices(&name.value, holder, roots));
    (target.device, target.device_search) = (device, None);
    let tops: Vec<String> = target.devices().map(str::to_owned).collect();
    add_stacks(facts, &tops, roots);
    true
}

/// The devices of a filesystem besides the one that its mount names: the members of a btrfs or
/// bcachefs, the log and the real-time device of an XFS.
fn other_devices(device: &str, mount: Option<&Mount>, roots: &Roots) -> Vec<String> {
    let Some(mount) = mount else { return Vec::new() };
    let of_nodes = |nodes: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        nodes.filter_map(|node| device_of_node(&path_of(node), roots)).collect()
    };
    let mut all = match mount.kind.as_str() {
        "btrfs" => holders::btrfs_members(device, roots),
        "bcachefs" => of_nodes(&mut mount.source.split(':')),
        "xfs" => of_nodes(&mut ["logdev", "rtdev"].iter().filter_map(|key| mount.option(key))),
        _ => Vec::new(),
    };
    all.retain(|name| name != device);
    all
}

/// Adds devices, and all that lies below them, to those that are known.
fn add_stacks(facts: &mut Facts, tops: &[String], roots: &Roots) {
    let mut missing_facts = MissingFacts::default();
    for device in stack::collect(tops, roots, &mut missing_facts) {
        if facts.device(&device.name).is_none() {
            facts.devices.push(device);
        }
    }
    facts.missing.extend(missing_facts.into_list());
}

/// True where a target lies on a filesystem of this host that names no device below it, so that
/// only a search by reads can ([`crate::accounting_probe::device_behind`]).
pub fn names_no_device(target: &TargetFacts) -> bool {
    let may_have_one = |on: &Filesystem| !on.in_memory && !on.remote && !on.is_served_by_process();
    target.device.is_none() && target.holding().is_some_and(may_have_one)
}

/// Takes the result of a search into the facts of a target: the device and what lies below it, or
/// the reason why there is none.
pub fn take_search(
    facts: &mut Facts,
    index: usize,
    result: Result<(String, DeviceSearch), NotFound>,
    roots: &Roots,
) {
    let Some(target) = facts.targets.get_mut(index) else { return };
    let what = device_note(&target.target);
    facts.missing.retain(|missing| missing.what != what);
    match result {
        Ok((device, search)) => {
            let from = roots.proc.join("diskstats").text();
            target.device = Some(Fact::new(device.clone(), from));
            target.device_search = Some(search);
            add_stacks(facts, std::slice::from_ref(&device), roots);
            // Where /sys is hidden, the name is all that is known; its counters are in /proc.
            if facts.device(&device).is_none() {
                facts.devices.push(stack::by_name_alone(device));
            }
        }
        Err(NotFound { why, .. }) => {
            let on = target.holding().map_or("the filesystem", |on| on.kind.as_str());
            facts.missing.push(Missing {
                why: format!("{on} names no block device of this host, and {why}"),
                enable: "the device or directory below it as the target".into(),
                what,
            });
        }
    }
}

fn kind(path: &Path, roots: &Roots) -> PathKind {
    match roots.stat(path).map(|stat| stat.file_type) {
        None => PathKind::Missing,
        Some(FileType::File) => PathKind::File,
        Some(FileType::Directory) => PathKind::Directory,
        Some(FileType::Device) => PathKind::Device,
        Some(FileType::Other) => match generic::fact(path, roots) {
            Some(_) => PathKind::Device,
            None => PathKind::Other,
        },
    }
}

fn note_no_device(target: &str, mount: Option<&Mount>, missing_facts: &mut MissingFacts) {
    let (why, enable) = match mount {
        Some(mount) if mount.is_in_memory() => {
            (format!("{} keeps its files in memory", mount.kind), "a path on a disk")
        }
        Some(mount) if mount.is_remote() => {
            (format!("{} keeps its files on another host", mount.kind), "candor on that host")
        }
        Some(mount) => {
            let (kind, source) = (&mount.kind, &mount.source);
            (format!("{kind} from `{source}` names no block device of this host"), "")
        }
        None => ("no mount covers the path".to_owned(), ""),
    };
    missing_facts.note(device_note(target), why, enable);
}

/// The missing fact where no block device is known under a target of that name.
pub fn device_note(target: &str) -> String {
    format!("block device under target `{target}`")
}

/// Notes the counters of every second that this kernel does not have.
fn note_counters(roots: &Roots, missing_facts: &mut MissingFacts) {
    let read = |path: &str| roots.reads(&roots.proc.join(path)).then_some(());
    missing_facts.unless(
        read("pressure/io"),
        "pressure",
        "/proc/pressure cannot be read",
        "a kernel with CONFIG_PSI, booted with psi=1",
    );
    missing_facts.unless(
        read("self/io"),
        "I/O of this process",
        "/proc/self/io cannot be read",
        "a kernel with CONFIG_TASK_IO_ACCOUNTING, and a process that may be dumped",
    );
    missing_facts.unless(
        read("vmstat"),
        "dirty pages",
        "/proc/vmstat cannot be read",
        "a mounted /proc",
    );
    missing_facts.unless(
        roots.own("cachestat", || Some(cache::has_cachestat())).filter(|&has| has),
        "dirty pages of single files",
        "the kernel has no cachestat, or a filter forbids it; mincore reports residency only",
        "Linux 6.5 or newer",
    );
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fake::Fake;

    fn inspect_one(fake: &Fake, path: &Path) -> Facts {
        inspect(&[("t".to_owned(), path.to_path_buf())], &fake.roots)
    }

    #[test]
    fn a_directory_on_a_disk() {
        let fake = Fake::new();
        fake.disk("sdq", "8:160", "pci0000:00/block/sdq");
        let data = fake.data_on("sdq");
        fake.mount("8:160", &data, "ext4", "/dev/sdq", "rw,discard");
        let facts = inspect_one(&fake, &data.join("not-yet"));
        let target = &facts.targets[0];
        assert_eq!((target.target.as_str(), target.kind), ("t", PathKind::Missing));
        assert_eq!(target.device.as_ref().map(|fact| fact.value.as_str()), Some("sdq"));
        let filesystem = target.filesystem.as_ref().expect("it is mounted");
        assert_eq!((filesystem.kind.as_str(), filesystem.source.as_str()), ("ext4", "/dev/sdq"));
        assert_eq!(filesystem.options, "rw,discard");
        assert!(filesystem.size_bytes > 0 && filesystem.block_bytes > 0);
        assert_eq!(facts.devices.len(), 1);
        assert_eq!(facts.devices[0].held_by, [data.display().to_string()]);
    }

    #[test]
    fn memory_and_network_say_so_once() {
        let fake = Fake::new();
        let (memory, network) = (fake.path("shm"), fake.path("net"));
        fake.mount("0:9", &memory, "tmpfs", "tmpfs", "rw");
        fake.mount("0:10", &network, "nfs4", "server:/x", "rw");
        let targets = [("m".to_owned(), memory), ("n".to_owned(), network)];
        let facts = inspect(&targets, &fake.roots);
        let about = |what: &str| facts.missing.iter().filter(|m| m.what.contains(what)).count();
        assert_eq!((about("target `m`"), about("target `n`")), (1, 1));
        assert!(facts.targets[0].filesystem.as_ref().is_some_and(|fs| fs.in_memory));
        assert!(facts.targets[1].filesystem.as_ref().is_some_and(|fs| fs.remote));
        let mut whats: Vec<&String> = facts.missing.iter().map(|missing| &missing.what).collect();
        whats.sort();
        whats.dedup();
        assert_eq!(whats.len(), facts.missing.len());
    }

    #[test]
    fn a_share_leads_to_an_interface() {
        let fake = Fake::new();
        let (nfs, smb) = (fake.path("nfs"), fake.path("smb"));
        fake.mount("0:10", &nfs, "nfs4", "server:/x", "rw,proto=tcp,nconnect=4,addr=10.0.0.9");
        fake.mount("0:11", &smb, "cifs", "//server/x", "rw,addr=10.1.0.9");
        fake.write("proc/net/route", "eth1 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0\n");
        fake.write_all("sys/class/net/eth1", &[("speed", "10000\n"), ("mtu", "1500\n")]);
        let targets = [("n".to_owned(), nfs), ("s".to_owned(), smb)];
        let facts = inspect(&targets, &fake.roots);
        let remote = facts.targets[0].remote.as_ref().expect("a server");
        assert_eq!((remote.protocol.as_str(), remote.connections), ("NFS", Some(4)));
        assert_eq!(remote.link.as_ref().map(|l| l.ceiling_bytes_per_s), Some(1_176_853_055));
        let remote = facts.targets[1].remote.as_ref().expect("a server");
        assert_eq!((remote.protocol.as_str(), &remote.interface), ("SMB", &None));
    }

    #[test]
    fn a_file_comes_with_its_facts() {
        let fake = Fake::new();
        let file = fake.path("data").join("f");
        fs::write(&file, "hello").expect("written");
        let facts = inspect_one(&fake, &file);
        assert_eq!(facts.targets[0].kind, PathKind::File);
        assert_eq!(facts.targets[0].files[0].size_bytes, 5);
    }

    #[test]
    fn a_device_that_was_found_is_known_where_sysfs_is_hidden() {
        let fake = Fake::new();
        let mut facts = Facts { targets: vec![TargetFacts::default()], ..Facts::default() };
        let found = |name: &str| Ok((name.to_owned(), DeviceSearch::default()));
        take_search(&mut facts, 0, found("vda"), &fake.roots);
        take_search(&mut facts, 0, found("loop3"), &fake.roots);
        let kinds: Vec<_> = facts.devices.iter().map(|d| (d.name.as_str(), d.kind)).collect();
        use candor_record::facts::DeviceKind::{Loop, Other};
        assert_eq!(kinds, [("vda", Other), ("loop3", Loop)]);
    }

    #[test]
    fn nothing_at_all_is_survived() {
        let fake = Fake::new();
        fs::remove_dir_all(&fake.roots.sys).expect("removed");
        fs::remove_dir_all(&fake.roots.proc).expect("removed");
        let facts = inspect_one(&fake, Path::new("relative/nowhere"));
        assert!(facts.devices.is_empty() && !facts.missing.is_empty());
    }
}
