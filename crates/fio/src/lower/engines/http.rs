//! Objects of the engine `http`: bucket, user and headers.

use candor_plan::blocks::{Engine, Http, ObjectMode as PlanMode, OpenSync, Opening};
use candor_plan::bucket::{CredentialSource, Protocol};
use candor_plan::objects::Encryption;
use candor_plan::{Blocks, Bucket, Bytes, Plan, Target};
use candor_s3::planned::CUSTOMER_KEY;
use candor_s3::{Credentials, Secret};

use crate::lower::instance::Instance;
use crate::options::{HttpMode, Https, ObjectMode};
use candor_front::Diagnostics;

/// Name of the token of Swift among the secrets.
const SWIFT: &str = "swift";
/// Bytes of a key of the client.
const KEY_BYTES: usize = 32;
const PATH: &str = "filename must be a path of bucket and object, which begins with `/`";

/// Moves the files of a job into a bucket: sets the bucket and the engine's options.
pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    blocks: &mut Blocks,
    targets: &[Target],
    plan: &mut Plan,
    secrets: &mut Vec<Credentials>,
    diagnostics: &mut Diagnostics,
) {
    let Engine::Http(options) = &mut blocks.engine else { return };
    let given = &from.options.http;
    *options = Http {
        object_mode: match given.object_mode {
            ObjectMode::Block => PlanMode::Block,
            ObjectMode::Range => PlanMode::Range,
        },
        ..Http::default()
    };
    blocks.durability.open = OpenSync::None;
    blocks.opening = Opening::default();
    blocks.hints.invalidate = false;
    let Some(name) = bucket_of(from, targets, diagnostics) else { return };
    headers(from, blocks, secrets, diagnostics);
    let credentials = credentials(from, secrets, diagnostics);
    let bucket = bucket(from, name, credentials, diagnostics);
    blocks.bucket = Some(enter(bucket, plan));
    notes(from, blocks, targets, diagnostics);
}

/// Name of the bucket of all targets; none after an error.
fn bucket_of(
    from: &Instance<'_>,
    targets: &[Target],
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut bucket: Option<String> = None;
    for target in targets {
        let name = target.file_name.as_ref().map_or(target.name.clone(), |name| name.name(0));
        let path = name.strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((first, _)) = path.filter(|(first, rest)| !first.is_empty() && !rest.is_empty())
        else {
            let message = format!("`{name}` names no object: {PATH}");
            diagnostics.wrong(from, "filename", message, "write filename=/BUCKET/OBJECT");
            return None;
        };
        let known = bucket.get_or_insert(first.to_owned());
        if known != first {
            let message = format!("`{name}` is not in bucket {known}, as the job's other objects");
            diagnostics.wrong(from, "filename", message, "use a job for each bucket");
            return None;
        }
    }
    bucket
}

fn headers(
    from: &Instance<'_>,
    blocks: &mut Blocks,
    secrets: &mut Vec<Credentials>,
    diagnostics: &mut Diagnostics,
) {
    let given = &from.options.http;
    if given.mode != HttpMode::S3 {
        return;
    }
    let class = given.storage_class.trim();
    blocks.headers.storage_class = (class != "STANDARD").then(|| class.to_owned());
    if given.customer_key.is_empty() {
        return;
    }
    if given.customer_key.len() != KEY_BYTES {
        let message = format!("a key of {} bytes is not of 32 bytes", given.customer_key.len());
        let remedy = "give 32 characters";
        diagnostics.wrong(from, "http_s3_sse_customer_key", message, remedy);
        return;
    }
    blocks.headers.encryption = Some(Encryption::Customer);
    let secret = Secret::of_bytes(given.customer_key.as_bytes());
    let key = Credentials::with_secret(CUSTOMER_KEY, secret);
    keep(from, "http_s3_sse_customer_key", key, secrets, diagnostics);
}

/// Origin of the login, whose secret goes to `secrets`.
fn credentials(
    from: &Instance<'_>,
    secrets: &mut Vec<Credentials>,
    diagnostics: &mut Diagnostics,
) -> CredentialSource {
    let given = &from.options.http;
    let token = Some(given.session_token.as_str()).filter(|token| !token.is_empty());
    let (option, user, secret, token) = match given.mode {
        HttpMode::Webdav => ("http_user", &*given.user, &given.password, None),
        HttpMode::S3 => ("http_s3_keyid", &*given.access_key, &given.secret_key, token),
        HttpMode::Swift => ("http_swift_auth_token", SWIFT, &given.swift_token, None),
    };
    if user.is_empty() || secret.is_empty() {
        let did = "requests without a login";
        diagnostics.note(from, "ioengine", did, "user and secret are not both given");
        return CredentialSource::Anonymous;
    }
    match Credentials::new(option, user, secret, token) {
        Ok(credentials) => {
            keep(from, option, credentials, secrets, diagnostics);
            CredentialSource::Given(vec![user.to_owned()])
        }
        Err(error) => {
            diagnostics.wrong(from, option, error.to_string(), "correct it");
            CredentialSource::Anonymous
        }
    }
}

/// Keeps a secret. A name has one secret in a run.
fn keep(
    from: &Instance<'_>,
    option: &str,
    credentials: Credentials,
    secrets: &mut Vec<Credentials>,
    diagnostics: &mut Diagnostics,
) {
    let name = credentials.access_key();
    match secrets.iter().find(|known| known.access_key() == name) {
        Some(known) if *known == credentials => {}
        Some(_) => {
            let message = format!("another job has another secret for {name}");
            diagnostics.wrong(from, option, message, "use one secret, or a run for each");
        }
        None => secrets.push(credentials),
    }
}

fn bucket(
    from: &Instance<'_>,
    name: String,
    credentials: CredentialSource,
    diagnostics: &mut Diagnostics,
) -> Bucket {
    let given = &from.options.http;
    if given.host.is_empty() || given.host.contains('/') {
        let message = format!("`{}` is not a host, or a host and a port", given.host);
        diagnostics.wrong(from, "http_host", message, "write http_host=HOST:PORT");
    }
    let scheme = if given.tls == Https::Off { "http" } else { "https" };
    Bucket {
        name: name.clone(),
        bucket: name,
        endpoints: vec![format!("{scheme}://{}", given.host)],
        protocol: match given.mode {
            HttpMode::Webdav => Protocol::Webdav,
            HttpMode::Swift => Protocol::Swift,
            HttpMode::S3 => Protocol::S3,
        },
        region: (given.mode == HttpMode::S3).then(|| given.region.clone()),
        credentials,
        insecure: given.tls == Https::Insecure,
        keep: true,
        overwrite: true,
        ..Bucket::default()
    }
}

/// The name of a bucket in the plan: of an equal one, or its own.
fn enter(mut bucket: Bucket, plan: &mut Plan) -> String {
    let mut nth = 1_u64;
    while let Some(known) = plan.bucket(&bucket.name) {
        if *known == bucket {
            return bucket.name;
        }
        nth += 1;
        bucket.name = format!("{}-{nth}", bucket.bucket);
    }
    let name = bucket.name.clone();
    plan.buckets.push(bucket);
    name
}

/// Differences from fio.
fn notes(from: &Instance<'_>, blocks: &Blocks, targets: &[Target], diagnostics: &mut Diagnostics) {
    if blocks.mix.read > 0 {
        let did = "a read of a missing object fails";
        diagnostics.note(from, "ioengine", did, "fio reads zeros and counts the read as done");
    }
    if blocks.depth > 1 {
        let did = "as many requests in flight, each on its own connection";
        diagnostics.note(from, "iodepth", did, "fio sends one request at a time");
    }
    let writes = (blocks.mix.write > 0).then(|| blocks.size.write.min());
    let longest = targets.iter().filter_map(|target| target.size).max().unwrap_or(Bytes(0));
    let is_range = from.options.http.object_mode == ObjectMode::Range;
    if writes.is_some_and(|write| is_range && write < longest) {
        let did = "each write replaces the whole object";
        diagnostics.note(from, "http_object_mode", did, "S3 writes no ranges; fio does the same");
    }
}
