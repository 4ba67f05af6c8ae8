//! Buckets of a plan.

use candor_plan::bucket::{
    Addressing, Connections, CredentialSource, Existing, KeyPrefix, Keys, Members,
};
use candor_plan::units::SizeSpec;
use candor_plan::{Bucket, Bytes, Member, Tree};

use super::{Scale, Start};
use crate::options::{Command, Connection, Lookup, Options};
use crate::values::{HostEntry, ObjectSize, WeightedSize};

/// Name of the bucket in the plan.
pub(super) const BUCKET: &str = "bucket";

/// Name of the bucket whose object belongs to each worker as a whole.
pub(super) const WHOLE: &str = "whole object";

/// Key of the object of `multipart`.
const OBJECT: &str = "parts";

/// Domains of servers that have the bucket in the host's name.
const VIRTUAL_HOSTS: [&str; 3] = [".amazonaws.com", ".googleapis.com", ".aliyuncs.com"];

/// The bucket; for `multipart` a second time, as its workers share the upload, and not the reads.
pub(super) fn buckets(
    options: &Options,
    scale: &Scale,
    start: Start,
) -> Result<Vec<Bucket>, String> {
    let connection = &options.connection;
    let bucket = Bucket {
        name: BUCKET.to_owned(),
        bucket: connection.bucket.clone(),
        endpoints: endpoints(connection),
        region: Some(connection.region.clone()).filter(|region| !region.is_empty()),
        addressing: addressing(connection),
        credentials: credentials(connection)?,
        insecure: connection.insecure,
        connections: Connections {
            close_each: connection.disable_keepalive,
            ..Connections::default()
        },
        create: true,
        keep: options.ending.no_clear || options.ending.keep_data,
        prefix: KeyPrefix::literal(&prefix(connection, start)),
        ..Bucket::default()
    };
    if options.work.list_existing {
        let existing = Existing { flat: options.work.list_flat, ..Existing::default() };
        return Ok(vec![Bucket {
            keys: Keys::Existing(existing),
            prefix: KeyPrefix::literal(&connection.prefix),
            create: false,
            ..bucket
        }]);
    }
    if options.command == Command::Multipart {
        let whole = Bucket {
            name: WHOLE.to_owned(),
            keys: Keys::Members(object(options, None)),
            create: false,
            ..bucket.clone()
        };
        let keys = Keys::Members(object(options, Some(Bytes(1))));
        return Ok(vec![Bucket { keys, ..bucket }, whole]);
    }
    let keys = Keys::Tree(Box::new(tree(options, scale)?));
    Ok(vec![Bucket { keys, ..bucket }])
}

fn endpoints(connection: &Connection) -> Vec<String> {
    let scheme = if connection.tls { "https" } else { "http" };
    connection.hosts.iter().map(|entry| format!("{scheme}://{}", name(entry))).collect()
}

fn name(entry: &HostEntry) -> &str {
    match entry {
        HostEntry::Host(name) | HostEntry::File(name) => name,
    }
}

fn addressing(connection: &Connection) -> Addressing {
    let is_virtual = connection.hosts.iter().all(|entry| has_virtual_hosts(name(entry)));
    match connection.lookup {
        Lookup::Host => Addressing::VirtualHost,
        Lookup::Automatic if is_virtual => Addressing::VirtualHost,
        Lookup::Automatic | Lookup::Path => Addressing::Path,
    }
}

fn has_virtual_hosts(host: &str) -> bool {
    let name = host.split(':').next().unwrap_or_default();
    VIRTUAL_HOSTS.iter().any(|domain| name.ends_with(domain))
}

fn credentials(connection: &Connection) -> Result<CredentialSource, String> {
    let Connection { access_key, secret_key, .. } = connection;
    match (access_key.0.is_empty(), secret_key.0.is_empty()) {
        (true, true) => Ok(CredentialSource::Anonymous),
        (false, false) => Ok(CredentialSource::Given(vec![access_key.0.clone()])),
        _ => Err("one of --access-key and --secret-key is missing; give both, or neither".into()),
    }
}

/// Begin of all keys of a run: no other run has it.
fn prefix(connection: &Connection, start: Start) -> String {
    let mut prefix = connection.prefix.clone();
    if !prefix.is_empty() && !prefix.ends_with('/') {
        prefix.push('/');
    }
    prefix + &format!("warp-candor-{:08x}/", start.run)
}

/// The one object of `multipart`.
fn object(options: &Options, share_above: Option<Bytes>) -> Members {
    let work = &options.work;
    let name = Some(work.object_name.clone()).filter(|name| !name.is_empty());
    let size = Some(Bytes(work.parts.saturating_mul(work.part_bytes)));
    let object = Member { name: name.unwrap_or_else(|| OBJECT.to_owned()), size };
    Members { objects: vec![object], share_above, ..Members::default() }
}

/// A directory of objects for each worker, or all objects below the prefix.
fn tree(options: &Options, scale: &Scale) -> Result<Tree, String> {
    let work = &options.work;
    let puts = match options.command {
        Command::Put | Command::MultipartPut => true,
        Command::Mixed => work.put_share > 0.0,
        _ => false,
    };
    let items = if puts { scale.most() } else { scale.each };
    let file_size = match options.command {
        Command::MultipartPut => SizeSpec::Fixed(Bytes(work.parts.saturating_mul(work.part_bytes))),
        _ => sizes(&options.load.object_size)?,
    };
    let tree = Tree { items, file_size, ..Tree::default() };
    Ok(if options.connection.no_prefix {
        Tree { items_per_rank: true, ..tree }
    } else {
        Tree { depth: 1, width: scale.ranks, leaves_only: true, ..tree }
    })
}

fn sizes(size: &ObjectSize) -> Result<SizeSpec, String> {
    match size {
        ObjectSize::Fixed(bytes) => Ok(SizeSpec::Fixed(Bytes(*bytes))),
        ObjectSize::Range { min, max } => Ok(SizeSpec::Stepped(Bytes(*min), Bytes(*max), Bytes(1))),
        ObjectSize::Weighted(sizes) => weighted(sizes).map(SizeSpec::Weighted),
    }
}

/// Sizes with weights in percent.
fn weighted(sizes: &[WeightedSize]) -> Result<Vec<(Bytes, u8)>, String> {
    let sum: f64 = sizes.iter().map(|size| size.weight).sum();
    let percents = sizes.iter().map(|size| {
        let percent = size.weight * 100.0 / sum;
        let is_whole = (percent - percent.round()).abs() < 1e-6;
        is_whole.then_some((Bytes(size.bytes), percent.round() as u8))
    });
    percents.collect::<Option<_>>().ok_or_else(|| {
        "weights of --obj.size are not whole percents of their sum; use weights such as 60 and 40"
            .to_owned()
    })
}
