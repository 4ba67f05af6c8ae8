//! Luns: type, size, and the ones to fill first.

use std::path::{Path, PathBuf};

use candor_plan::{Bytes, Layout, PathText, Target, TargetKind, path_of};

use super::RESUME_UNIT;
use super::workloads::Used;
use crate::definitions::Definition;
use crate::definitions::sd::Sd;
use crate::lower::Request;
use candor_front::Diagnostics;
use candor_front::Found;

/// Size of a lun in a simulation, if the definition has none.
const SIMULATED_BYTES: u64 = 1 << 40;

/// A lun of a storage definition.
#[derive(Clone, Debug, Default)]
pub(super) struct Lun {
    /// The path.
    pub path: PathBuf,
    /// Name of the lun's target.
    pub target: String,
    /// Index of the lun's target.
    pub index: usize,
    /// Bytes used.
    pub bytes: u64,
    /// Bytes that are there.
    pub present: u64,
    /// True for a block device.
    pub is_device: bool,
    /// First system that uses the lun and fills it; `None` if this host runs all jobs.
    pub system: Option<u32>,
}

impl Lun {
    /// Position at which an interrupted format continues.
    pub(super) fn resume_at(&self, write_bytes: u64) -> u64 {
        let from = if self.present >= self.bytes { 0 } else { self.present };
        from / RESUME_UNIT * RESUME_UNIT / write_bytes.max(1) * write_bytes.max(1)
    }
}

/// All luns that runs use.
pub(super) struct Luns<'a> {
    all: Vec<(&'a Definition<Sd>, Lun)>,
}

impl<'a> Luns<'a> {
    /// Looks at the luns that workloads use, each once.
    pub(super) fn survey<'u>(
        request: &Request<'_>,
        used: impl Iterator<Item = &'u Used<'a>>,
        out: &mut Diagnostics,
    ) -> Luns<'a>
    where
        'a: 'u,
    {
        let mut luns = Luns { all: Vec::new() };
        for used in used {
            let path = path_of(used.path);
            let known = luns
                .all
                .iter()
                .any(|(sd, lun)| sd.name.text == used.sd.name.text && lun.path == path);
            if known {
                continue;
            }
            let Some(mut lun) = survey(request, used, &path, out) else { continue };
            let of_sd = luns.all.iter().filter(|(sd, _)| sd.name.text == used.sd.name.text).count();
            lun.index = luns.all.len();
            lun.target = match of_sd {
                0 => used.sd.name.text.clone(),
                _ => format!("{} at {}", used.sd.name.text, used.path),
            };
            luns.all.push((used.sd, lun));
        }
        luns
    }

    /// The lun of a storage definition that a host uses.
    pub(super) fn of(&self, sd: &Definition<Sd>, host: &str) -> Option<&Lun> {
        let path = super::workloads::path_of(sd, host)?;
        self.all
            .iter()
            .find(|(known, lun)| known.name.text == sd.name.text && lun.path == path_of(path))
            .map(|(_, lun)| lun)
    }

    /// The targets, in order.
    pub(super) fn targets(&self) -> Vec<Target> {
        let target = |(_, lun): &(&Definition<Sd>, Lun)| Target {
            name: lun.target.clone(),
            path: lun.path.clone(),
            kind: if lun.is_device { TargetKind::Device } else { TargetKind::File },
            size: Some(Bytes(lun.bytes)),
            layout: Layout::Never,
            keep: true,
            overwrite: true,
            ..Target::default()
        };
        self.all.iter().map(target).collect()
    }

    /// Luns to fill first: missing or short ones, unless a parameter requests or forbids it.
    pub(super) fn to_format(
        &self,
        asked: Option<bool>,
    ) -> impl Iterator<Item = &(&'a Definition<Sd>, Lun)> {
        self.all.iter().filter(move |(_, lun)| match asked {
            Some(always) => always,
            None => !lun.is_device && lun.present < lun.bytes,
        })
    }
}

/// Inspects a lun; `None` on errors. A simulation trusts the definition.
fn survey(
    request: &Request<'_>,
    used: &Used<'_>,
    path: &Path,
    out: &mut Diagnostics,
) -> Option<Lun> {
    let Used { sd, system, .. } = *used;
    let scope = sd.in_texts(request.texts);
    let shown = path.text();
    let mut wrong = |parameter: &str, message: String, remedy: &str| {
        out.wrong(&scope, parameter, message, remedy);
        None
    };
    if request.asked.is_simulation {
        let size = sd.options.size.filter(|size| *size > 0.0);
        let bytes = size.map_or(SIMULATED_BYTES, |size| size as u64);
        let (path, is_device) = (path.to_owned(), path.starts_with("/dev"));
        return Some(Lun { path, bytes, present: bytes, is_device, ..Lun::default() });
    }
    let (present, is_device) = match system
        .map_or_else(|| request.host.found(path), |number| request.host.found_on(number, path))
    {
        Found::File(bytes) => (bytes, false),
        Found::Device(Some(bytes)) => (bytes, true),
        Found::Nothing if path.starts_with("/dev") && path.parent() == Some(Path::new("/dev")) => {
            return wrong("lun", format!("{shown} does not exist"), "name a device that is there");
        }
        Found::Nothing => (0, false),
        Found::Directory => {
            let remedy = "name a file or a block device; file systems are fsd=,anchor=";
            return wrong("lun", format!("{shown} is a directory"), remedy);
        }
        Found::Device(None) | Found::Character | Found::Other => {
            let remedy = "name a file or a block device";
            return wrong("lun", format!("{shown} is neither a file nor a block device"), remedy);
        }
    };
    let bytes = match sd.options.size {
        Some(size) if size < 0.0 => (present as f64 * -size / 100.0) as u64,
        Some(size) => size as u64,
        None => present,
    };
    if bytes == 0 {
        let remedy = "add size=, the bytes that it is to have";
        return wrong("size", format!("{shown} has no bytes, and no size= is given"), remedy);
    }
    if is_device && bytes > present {
        let message = format!("size= asks for {bytes} bytes of {shown}, which has {present}");
        return wrong("size", message, "use a smaller one, or leave it out");
    }
    Some(Lun { path: path.to_owned(), bytes, present, is_device, system, ..Lun::default() })
}
