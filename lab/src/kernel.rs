//! A kernel of Debian: fetched with the host's own package tools and unpacked, not installed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{LabError, absolute, failed, host};

/// The package that names the kernel of the day. Its modules drive SATA, SAS and USB, which those
/// of the flavour for clouds do not.
const KERNEL_OF_THE_DAY: &str = "linux-image-amd64";

/// Modules that the guest loads when it starts, dependencies apart.
const MODULES: &[&str] = &[
    // Others look for a way to compute this when they load.
    "crc32c_generic",
    "xor",
    "configfs",
    "virtio_pci",
    "virtio_blk",
    "9pnet_virtio",
    "9p",
    "nvme",
    "ahci",
    "sd_mod",
    "sg",
    "mptsas",
    "xhci_pci",
    "usb_storage",
    "null_blk",
    "scsi_debug",
    "brd",
    "loop",
    "raid0",
    "raid1",
    "raid456",
    "dm_mod",
    "dm_delay",
    "dm_cache",
    "dm_cache_smq",
    "dm_multipath",
    "dm_round_robin",
    "bcache",
    "nvmet",
    "nvmet_tcp",
    "nvme_tcp",
    "ext4",
    "veth",
    "bridge",
    "sch_netem",
    "sch_tbf",
];

/// An unpacked kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Release, as `uname -r` says.
    pub release: String,
    /// The image to boot.
    pub image: PathBuf,
    /// The folder of its modules.
    modules: PathBuf,
}

impl Kernel {
    /// Unpacks this package, or the kernel of the day, unless the cache has it.
    pub fn find(package: Option<&Path>, cache: &Path) -> Result<Kernel, LabError> {
        let package = match package {
            Some(package) => absolute(package)?,
            None => fetch(cache)?,
        };
        let stem = package.file_stem().unwrap_or(OsStr::new("kernel"));
        let folder = cache.join(stem);
        if !folder.is_dir() {
            unpack(&package, &folder)?;
        }
        Kernel::of(&folder)
    }

    fn of(folder: &Path) -> Result<Kernel, LabError> {
        let images = names(&folder.join("boot"))?;
        let found = images.iter().find_map(|name| name.strip_prefix("vmlinuz-"));
        let release = found.ok_or_else(|| failed(folder, &"no kernel image is in it"))?;
        let roots = [folder.join("lib/modules"), folder.join("usr/lib/modules")];
        let modules = roots.into_iter().map(|root| root.join(release)).find(|root| root.is_dir());
        Ok(Kernel {
            release: release.to_owned(),
            image: folder.join("boot").join(format!("vmlinuz-{release}")),
            modules: modules.ok_or_else(|| failed(folder, &"no modules are in it"))?,
        })
    }

    /// Copies the modules of the guest, and what they depend on, into the root of a guest. Returns
    /// the names of those that this kernel has as modules.
    pub fn install(&self, root: &Path) -> Result<Vec<String>, LabError> {
        let files = module_files(&self.modules)?;
        let mut wanted: Vec<String> = MODULES.iter().map(|name| (*name).to_owned()).collect();
        let there = wanted.iter().filter(|name| files.iter().any(|(file, _)| file == *name));
        let top: Vec<String> = there.cloned().collect();
        let target = root.join("lib/modules").join(&self.release);
        let mut next = 0;
        while let Some(name) = wanted.get(next).cloned() {
            next += 1;
            let Some((_, file)) = files.iter().find(|(file, _)| *file == name) else { continue };
            let plain = copy_plain(file, &target)?;
            let said = host("modinfo", &["-F".as_ref(), "depends".as_ref(), plain.as_ref()], root)?;
            let said = String::from_utf8_lossy(&said).replace('-', "_");
            for needed in said.trim().split(',').filter(|needed| !needed.is_empty()) {
                if !wanted.iter().any(|name| name == needed) {
                    wanted.push(needed.to_owned());
                }
            }
        }
        for list in ["modules.order", "modules.builtin"] {
            let _ = fs::copy(self.modules.join(list), target.join(list));
        }
        host("depmod", &["-b".as_ref(), root.as_ref(), self.release.as_ref()], root)?;
        Ok(top)
    }
}

/// The file of the kernel of the day, fetched if it is not there yet.
fn fetch(cache: &Path) -> Result<PathBuf, LabError> {
    let offline = |e: LabError| LabError::Missing(format!("a Debian kernel package ({e})"));
    let depends = host("apt-cache", &["depends".as_ref(), KERNEL_OF_THE_DAY.as_ref()], cache);
    let depends = String::from_utf8_lossy(&depends.map_err(offline)?).into_owned();
    let named = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    let named = named.ok_or_else(|| {
        LabError::Missing(format!("{KERNEL_OF_THE_DAY} in the host's package lists"))
    })?;
    let there = |cache: &Path| -> Result<Option<PathBuf>, LabError> {
        let prefix = format!("{named}_");
        let fits = |name: &&String| name.starts_with(&prefix) && name.ends_with(".deb");
        Ok(names(cache)?.iter().find(fits).map(|name| cache.join(name)))
    };
    if let Some(package) = there(cache)? {
        return Ok(package);
    }
    host("apt-get", &["download".as_ref(), "-q".as_ref(), named.as_ref()], cache)
        .map_err(offline)?;
    there(cache)?.ok_or_else(|| LabError::Missing(format!("the package {named}")))
}

/// Unpacks beside, then renames, so that a half-unpacked kernel is never taken for one.
fn unpack(package: &Path, folder: &Path) -> Result<(), LabError> {
    let parts = folder.with_extension("parts");
    let _ = fs::remove_dir_all(&parts);
    let words: [&OsStr; 3] = ["-x".as_ref(), package.as_ref(), parts.as_ref()];
    host("dpkg-deb", &words, folder.parent().unwrap_or(folder))?;
    fs::rename(&parts, folder).map_err(|e| failed(folder, &e))
}

/// Every module below this folder: (name as the kernel says it, file).
fn module_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, LabError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join("kernel")];
    while let Some(folder) = folders.pop() {
        for name in names(&folder)? {
            let path = folder.join(&name);
            if path.is_dir() {
                folders.push(path);
            } else if let Some((stem, _)) = name.split_once(".ko") {
                found.push((stem.replace('-', "_"), path));
            }
        }
    }
    Ok(found)
}

/// Copies a module uncompressed: the guest's small shell cannot unpack it.
fn copy_plain(file: &Path, target: &Path) -> Result<PathBuf, LabError> {
    fs::create_dir_all(target).map_err(|e| failed(target, &e))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(stem) = name.strip_suffix(".xz") else {
        let plain = target.join(&name);
        fs::copy(file, &plain).map_err(|e| failed(file, &e))?;
        return Ok(plain);
    };
    let plain = target.join(stem);
    let bytes = host("xz", &["-dc".as_ref(), file.as_ref()], target)?;
    fs::write(&plain, bytes).map_err(|e| failed(&plain, &e))?;
    Ok(plain)
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, LabError> {
    let entries = fs::read_dir(folder).map_err(|e| failed(folder, &e))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}
