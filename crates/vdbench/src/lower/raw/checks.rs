//! Parameters of luns and workloads that do not go together.

use super::workloads::Workload;
use crate::definitions::rd::LoopKind;
use crate::definitions::transfer::TransferSize;
use crate::lower::Request;
use crate::runs::Run;
use candor_front::Diagnostics;

/// Bytes of which transfers are multiples.
const SECTOR: u64 = 512;

/// Checks definitions, whatever runs.
pub(super) fn definitions(request: &Request<'_>, out: &mut Diagnostics) {
    let file = request.file;
    let default = &file.sds.default;
    if default.given.has("lun") {
        let message = "lun= of sd=default would be the same lun for all".to_owned();
        out.wrong(&default.in_texts(request.texts), "lun", message, "give each sd its own lun=");
    }
    for wd in &file.wds.all {
        let scope = wd.in_texts(request.texts);
        let of = &wd.options;
        if of.skew.is_some_and(|skew| skew > 0.0) && of.rate.is_some() {
            let message = format!("wd={} has a skew and its own rate", wd.name.text);
            out.wrong(&scope, "skew", message, "remove skew= or iorate=");
        }
        if of.rate.is_some() && of.priority.is_none() {
            let message = format!("iorate= of wd={} needs a priority=", wd.name.text);
            out.wrong(&scope, "iorate", message, "add priority=1");
        }
        let alone = [("threads", of.threads.is_some()), ("streams", of.streams.is_some())];
        for (parameter, _) in alone.into_iter().filter(|(_, is_given)| *is_given) {
            if !file.general().options.concatenate {
                let message = format!("{parameter}= of a workload needs concatenatesds=yes");
                let remedy = "add concatenatesds=yes at the top, or give threads= to the sd";
                out.wrong(&scope, parameter, message, remedy);
            }
        }
    }
}

/// Checks a workload with the values of a run.
pub(super) fn workload(
    request: &Request<'_>,
    run: &Run,
    workload: &Workload<'_>,
    out: &mut Diagnostics,
) {
    let transfer = &workload.values.transfer;
    let sizes: Vec<u64> = match transfer {
        TransferSize::Fixed(size) => vec![*size],
        TransferSize::Mixed(sizes) => sizes.iter().map(|(size, _)| *size).collect(),
        TransferSize::Ranged { min, max, .. } => vec![*min, *max],
    };
    if let Some(size) = sizes.iter().find(|size| !size.is_multiple_of(SECTOR)) {
        let message = format!("an xfersize of {size} bytes is no multiple of {SECTOR}");
        let remedy = "use a multiple, such as 4k";
        if run.number(LoopKind::TransferSize).is_some() {
            let rd = request.file.rds.all[run.rd].in_texts(request.texts);
            out.wrong(&rd, "forxfersize", message, remedy);
        } else {
            out.wrong(&workload.wd.in_texts(request.texts), "xfersize", message, remedy);
        }
    }
    if matches!(transfer, TransferSize::Ranged { .. })
        && let Some(sd) = workload.sds.iter().find(|sd| sd.options.align.is_none())
    {
        let message = format!("xfersize=(min,max,step) needs align= of sd={}", sd.name.text);
        out.wrong(&workload.wd.in_texts(request.texts), "xfersize", message, "add align= to it");
    }
}
