//! Workloads of a run: definitions with the values that its loops give them.

use candor_plan::units::Mix;

use crate::definitions::Definition;
use crate::definitions::open_flags::OpenFlags;
use crate::definitions::rd::LoopKind;
use crate::definitions::sd::Sd;
use crate::definitions::transfer::{Seek, TransferSize};
use crate::definitions::wd::Wd;
use crate::lower::Request;
use crate::runs::Run;
use crate::values;
use candor_front::Diagnostics;

/// Label of the host without definitions of hosts.
pub(super) const LOCAL: &str = "localhost";

/// A workload of a run.
pub(super) struct Workload<'a> {
    /// The definition.
    pub wd: Definition<Wd>,
    /// The storage definitions.
    pub sds: Vec<&'a Definition<Sd>>,
    /// The hosts that it runs on.
    pub hosts: Vec<String>,
    /// The luns.
    pub luns: Vec<Used<'a>>,
    /// Values of parameters, including loops.
    pub values: Values,
}

impl Workload<'_> {
    /// True for sequential operations; strides are sequential with gaps, at any percentage of
    /// random offsets.
    pub(super) fn is_sequential(&self) -> bool {
        self.values.seek.is_sequential() || self.wd.options.stride.is_some()
    }
}

/// A lun that a workload uses.
pub(super) struct Used<'a> {
    /// The storage definition.
    pub sd: &'a Definition<Sd>,
    /// The path.
    pub path: &'a str,
    /// Number of the first system that uses the lun; `None` if this host runs all jobs.
    pub system: Option<u32>,
}

/// Values of parameters that loops may change.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// Bytes per operation.
    pub transfer: TransferSize,
    /// Share of reads.
    pub read_percent: f64,
    /// Order of offsets.
    pub seek: Seek,
    /// Share of reads in the hit area.
    pub read_hit_percent: f64,
    /// Share of writes in the hit area.
    pub write_hit_percent: f64,
    /// Bytes of the hit area, overriding the lun's.
    pub hit_area: Option<u64>,
    /// Bytes written per byte that a compressor leaves.
    pub compression_ratio: f64,
    /// Open flags of the run or the workload, overriding the lun's.
    pub open_flags: Option<OpenFlags>,
}

impl Values {
    fn of(request: &Request<'_>, run: &Run, wd: &Wd) -> Values {
        let rd = &request.file.rds.all[run.rd].options;
        let number = |kind| run.number(kind);
        let seek = number(LoopKind::SeekPercent).map(|percent| wd.seek.with_percent(percent));
        let size = number(LoopKind::TransferSize).map(|size| TransferSize::Fixed(size as u64));
        let general = request.file.general().options.compression_ratio;
        Values {
            transfer: size.unwrap_or_else(|| wd.transfer_size.clone()),
            read_percent: number(LoopKind::ReadPercent).unwrap_or(wd.read_percent),
            seek: seek.unwrap_or(wd.seek),
            read_hit_percent: number(LoopKind::ReadHitPercent).unwrap_or(wd.read_hit_percent),
            write_hit_percent: number(LoopKind::WriteHitPercent).unwrap_or(wd.write_hit_percent),
            hit_area: number(LoopKind::HitArea).map(|bytes| bytes as u64),
            compression_ratio: number(LoopKind::CompressionRatio).unwrap_or(general),
            open_flags: rd.open_flags.or(wd.open_flags),
        }
    }

    /// Reads and writes, in whole percent.
    pub(super) fn mix(&self) -> Mix {
        let read = self.read_percent.round().clamp(0.0, 100.0) as u8;
        Mix { read, write: 100 - read, trim: 0 }
    }
}

/// The lun of a storage definition that a host uses.
pub(super) fn path_of<'s>(sd: &'s Definition<Sd>, host: &str) -> Option<&'s str> {
    let nth = (0..sd.options.luns.len()).find(|nth| {
        let hosts = sd.options.hosts.get(*nth);
        hosts.is_none_or(|all| {
            all.is_empty() || all.iter().any(|known| values::matches(known, host))
        })
    })?;
    sd.options.luns.get(nth).map(String::as_str)
}

/// The workloads of a run.
pub(super) fn of_run<'a>(
    request: &Request<'a>,
    run: &Run,
    out: &mut Diagnostics,
) -> Vec<Workload<'a>> {
    let rd = &request.file.rds.all[run.rd];
    let scope = rd.in_texts(request.texts);
    let mut wds: Vec<Definition<Wd>> = Vec::new();
    for name in &rd.options.wds {
        let found: Vec<_> =
            request.file.wds.all.iter().filter(|wd| values::matches(name, &wd.name.text)).collect();
        if found.is_empty() {
            let message = format!("rd={} names no workload with wd={name}", rd.name.text);
            let remedy = "define it with wd= before that; the order is sd=, wd=, rd=";
            out.wrong(&scope, "wd", message, remedy);
        }
        for wd in found {
            if !wds.iter().any(|known| known.name.text == wd.name.text) {
                wds.push(wd.clone());
            }
        }
    }
    if rd.options.wds.is_empty() && run.sds.is_empty() {
        let message = format!("rd={} has no workload", rd.name.text);
        out.wrong(&scope, "wd", message, "add wd=, or sd= for the workload of wd=default");
    } else if rd.options.wds.is_empty() {
        // Defaults of `wd=default`.
        let mut wd = request.file.wds.default.clone();
        wd.name.text = format!("rd={}", rd.name.text);
        wd.name.at = rd.name.at;
        wds.push(wd);
    }
    let of_wd = |wd: Definition<Wd>| {
        let names = if run.sds.is_empty() { wd.options.sds.clone() } else { run.sds.clone() };
        let sds = sds(request, &wd, &names, out);
        let hosts = hosts(request, &wd, out);
        let mut luns = Vec::new();
        for sd in &sds {
            let paths = hosts.iter().filter_map(|host| Some((host, path_of(sd, host)?)));
            let before = luns.len();
            luns.extend(paths.map(|(host, path)| Used { sd, path, system: request.system(host) }));
            if luns.len() == before {
                let message =
                    format!("sd={} has no lun of host {}", sd.name.text, hosts.join(", "));
                out.wrong(&sd.in_texts(request.texts), "lun", message, "add lun=");
            }
        }
        let values = Values::of(request, run, &wd.options);
        Workload { wd, sds, hosts, luns, values }
    };
    let workloads: Vec<Workload<'a>> = wds.into_iter().map(of_wd).collect();
    workloads.into_iter().filter(|workload| !workload.sds.is_empty()).collect()
}

/// The storage definitions of a workload.
fn sds<'a>(
    request: &Request<'a>,
    wd: &Definition<Wd>,
    names: &[String],
    out: &mut Diagnostics,
) -> Vec<&'a Definition<Sd>> {
    let scope = wd.in_texts(request.texts);
    let mut found: Vec<&'a Definition<Sd>> = Vec::new();
    if names.is_empty() {
        let message = format!("wd={} names no storage", wd.name.text);
        out.wrong(&scope, "sd", message, "add sd=");
    }
    for name in names {
        let before = found.len();
        let mut fits = false;
        for sd in request.file.sds.all.iter().filter(|sd| values::matches(name, &sd.name.text)) {
            fits = true;
            if !found.iter().any(|known| known.name.text == sd.name.text) {
                found.push(sd);
            }
        }
        if found.len() == before && !fits {
            let message = format!("wd={} uses sd={name}, which is not defined", wd.name.text);
            out.wrong(&scope, "sd", message, "define it with sd=");
        }
    }
    found
}

/// The hosts of a workload.
fn hosts(request: &Request<'_>, wd: &Definition<Wd>, out: &mut Diagnostics) -> Vec<String> {
    let all = request.file.hosts.iter().map(|host| host.label.clone());
    let wanted = &wd.options.hosts;
    let hosts: Vec<String> = all
        .filter(|label| wanted.is_empty() || wanted.iter().any(|name| values::matches(name, label)))
        .collect();
    if !hosts.is_empty() {
        return hosts;
    }
    if !wanted.is_empty() && !wanted.iter().any(|name| values::matches(name, LOCAL)) {
        let message =
            format!("wd={} runs on host {}, which is not defined", wd.name.text, wanted.join(", "));
        out.wrong(&wd.in_texts(request.texts), "host", message, "define it with hd=");
    }
    vec![LOCAL.to_owned()]
}
