//! Requests of the phases.

use candor_plan::blocks::{Access, Pace};
use candor_plan::entries::Select;
use candor_plan::objects::{
    ChecksumAlgorithm, Encryption, ObjectOp, Objects, Payload, UploadChecksum, UploadHeaders,
    WeightedOp,
};

use candor_plan::{Bytes, OpsPerSec};

use super::Scale;
use super::bucket::{BUCKET, WHOLE};
use crate::options::{Checksum, Command, Options, Upload};

/// Sum of the weights of a mix.
const DECK: f64 = 1000.0;

/// Uploads before the benchmark; none if it needs no objects.
pub(super) fn prepare(options: &Options, scale: &Scale) -> Result<Option<Objects>, String> {
    let needs_none = matches!(options.command, Command::Put | Command::MultipartPut);
    if needs_none || options.work.list_existing {
        return Ok(None);
    }
    let uploads = uploads(options)?;
    let first = (options.command == Command::Mixed).then_some(scale.each);
    Ok(Some(Objects { first, ..uploads }))
}

/// Requests of the benchmark.
pub(super) fn benchmark(options: &Options, scale: &Scale) -> Result<Objects, String> {
    let pace = pace(options.load.requests_per_s)?;
    let base = Objects {
        buckets: vec![BUCKET.to_owned()],
        headers: UploadHeaders { encryption: encryption(&options.upload)?, ..<_>::default() },
        pace: pace.clone(),
        ..Objects::default()
    };
    let drawn = Objects { select: Select::Random, all_ranks: true, ..base.clone() };
    let (work, uploads) = (&options.work, uploads(options)?);
    Ok(match options.command {
        Command::Get if work.range_bytes > 0 => Objects {
            op: ObjectOp::Get,
            range: Some(Bytes(work.range_bytes)),
            ranges: Some(1),
            access: Access::Random,
            ..drawn
        },
        Command::Get => Objects { op: ObjectOp::Get, ..drawn },
        Command::Stat => Objects { op: ObjectOp::Head, ..drawn },
        Command::Put => Objects { pace, ..uploads },
        Command::MultipartPut => Objects {
            depth: u32::try_from(work.part_concurrent).unwrap_or(u32::MAX),
            objects_at_once: Some(1),
            pace,
            ..uploads
        },
        Command::Delete => Objects { op: ObjectOp::DeleteMany, batch: work.batch as u32, ..base },
        Command::List => Objects {
            op: ObjectOp::List,
            page: work.max_keys as u32,
            list_directories: true,
            ..base
        },
        Command::Mixed => {
            let first = (work.put_share == 0.0).then_some(scale.each);
            Objects { mix: mix(options), first, pace, ..uploads }
        }
        Command::Multipart => Objects {
            op: ObjectOp::Get,
            buckets: vec![WHOLE.to_owned()],
            part: Some(Bytes(work.part_bytes)),
            by_part_number: true,
            access: Access::Random,
            ranges: Some(u32::MAX),
            all_ranks: true,
            ..base
        },
        Command::Analyze | Command::Compare | Command::Merge => unreachable!("no benchmark"),
    })
}

fn uploads(options: &Options) -> Result<Objects, String> {
    let upload = &options.upload;
    let part = Some(Bytes(options.work.part_bytes));
    Ok(Objects {
        buckets: vec![BUCKET.to_owned()],
        op: ObjectOp::Put,
        part: part.filter(|part| part.0 > 0 && !upload.disable_multipart),
        payload: if upload.disable_sha256 { Payload::Unsigned } else { Payload::Auto },
        checksum: checksum(upload)?.map(|algorithm| UploadChecksum { algorithm, trailer: false }),
        headers: UploadHeaders {
            storage_class: upload.storage_class.clone(),
            encryption: encryption(upload)?,
            metadata: u32::try_from(upload.metadata_entries).unwrap_or(u32::MAX),
            tags: u32::try_from(upload.tags).unwrap_or(u32::MAX),
            ..UploadHeaders::default()
        },
        ..Objects::default()
    })
}

fn encryption(upload: &Upload) -> Result<Option<Encryption>, String> {
    match (upload.encrypt, upload.encrypt_on_server) {
        (true, true) => {
            Err("--encrypt and --sse-s3-encrypt exclude each other; remove one of both".to_owned())
        }
        (true, false) => Ok(Some(Encryption::Customer)),
        (false, true) => Ok(Some(Encryption::S3)),
        (false, false) => Ok(None),
    }
}

fn checksum(upload: &Upload) -> Result<Option<ChecksumAlgorithm>, String> {
    let algorithm = match upload.checksum {
        Checksum::None => None,
        Checksum::Crc64Nvme => Some(ChecksumAlgorithm::Crc64nvme),
        Checksum::Crc32 | Checksum::Crc32Full => Some(ChecksumAlgorithm::Crc32),
        Checksum::Crc32c | Checksum::Crc32cFull => Some(ChecksumAlgorithm::Crc32c),
        Checksum::Sha1 => Some(ChecksumAlgorithm::Sha1),
        Checksum::Sha256 => Some(ChecksumAlgorithm::Sha256),
        Checksum::Md5 => Some(ChecksumAlgorithm::Md5),
    };
    match algorithm {
        None if upload.md5 => Ok(Some(ChecksumAlgorithm::Md5)),
        Some(other) if upload.md5 && other != ChecksumAlgorithm::Md5 => {
            Err("--md5 and --checksum name two checksums; remove one of both".to_owned())
        }
        algorithm => Ok(algorithm),
    }
}

fn pace(requests_per_s: f64) -> Result<Pace, String> {
    if requests_per_s == 0.0 {
        return Ok(Pace::default());
    }
    if requests_per_s.fract() > 0.0 {
        let message = format!("--rps-limit {requests_per_s} is not a whole number");
        return Err(message + "; write requests per second, such as 100");
    }
    // Larger numbers are no limit.
    Ok(Pace { ops: Some(OpsPerSec(requests_per_s as u64)), ..Pace::default() })
}

/// Operations by weight; each with a share has a weight of 1 or more.
fn mix(options: &Options) -> Vec<WeightedOp> {
    let work = &options.work;
    let shares = [
        (work.get_share, ObjectOp::Get),
        (work.stat_share, ObjectOp::Head),
        (work.put_share, ObjectOp::Put),
        (work.delete_share, ObjectOp::Delete),
    ];
    let sum: f64 = shares.iter().map(|(share, _)| share).sum();
    let wanted = shares.into_iter().filter(|(share, _)| *share > 0.0);
    let weighted = wanted.map(|(share, op)| {
        let weight = (share * DECK / sum).round().max(1.0) as u32;
        WeightedOp { weight, op }
    });
    weighted.collect()
}
