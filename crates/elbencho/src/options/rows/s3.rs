//! Options of object stores.

use super::{Options, Row, Value, put, put_number, put_size, refused_switch};
use crate::grammar;
use crate::options::s3::{Grant, Grantee, Hidden, Sign};
use candor_front::{Choice, Refused, Set, bare, choose, store, store_text};
use candor_plan::objects::ChecksumAlgorithm;

const DEALT: &str = "connections are dealt over all servers and their addresses; elbencho binds \
                     each worker to one server";
const ONE_SERVER: &str = "workers share no client; of several servers, the first one is used";
const SIGNED: &str = "current versions of elbencho's SDK sign the bytes, too";
const IN_HEAD: &str = "the checksum is in a header, before the body; SDKs send it after the body";
const POOL: &str = "each request in flight has a connection, so the limit is one of requests in \
                    flight of each worker";
const LEFT_OPEN: &str = "parts of open uploads use space until a request aborts the upload";
const DIGITS: &str = "digits follow from a hash of the rest of the key, so they differ from \
                      elbencho's";
const LIST_TIMES: &str = "each list is a request in IOPS and IO latency, and its keys are objects; \
                          elbencho counts its time as the latency of an object";
const LISTED_BEFORE: &str = "keys are listed before the phase, so the time has no lists; only keys \
                             with the prefix are deleted";
const TAGS: &str = "names and values of tags differ from elbencho's";
const VERSIONS: &str = "versioning is enabled before the writes and suspended before buckets are \
                        removed; elbencho does the reverse";
const LOCKS: &str = "the lock has the mode COMPLIANCE: no user can delete objects of these buckets \
                     for one day after their upload";
const FAILED: &str = "failed requests are counted as errors, not as work";

const fn s3_switch(name: &'static str, set: Set<Options>, help: &'static str) -> Row {
    super::switch(name, set, help).when(is_on)
}

const fn s3(name: &'static str, form: &'static str, set: Set<Options>, help: &'static str) -> Row {
    Row::value(name, form, set, help).when(is_on)
}

fn is_on(options: &Options) -> bool {
    options.s3.is_on
}

fn hide(place: &mut Option<Hidden>, text: &str) -> Result<(), Refused> {
    store(place, Some(Hidden(text.to_owned())))
}

#[rustfmt::skip]
pub(super) const ACCESS: &[Row] = &[
    s3("s3endpoints", "LIST", endpoints, "Use these servers; paths are then buckets")
        .near("bucket.endpoints", "http://h[1-2]:9000", DEALT)
        .differing(|options| options.s3.access.endpoints.len() > 1),
    s3("s3key", "KEY", |o, t| store_text(&mut o.s3.access.key, t), "Set the access key")
        .exact("bucket.credentials", "k"),
    s3("s3secret", "SECRET", |o, t| hide(&mut o.s3.access.secret, t), "Set the secret key")
        .exact("bucket.credentials", "s"),
    s3("s3sessiontoken", "TOKEN", |o, t| hide(&mut o.s3.access.token, t),
        "Set the token of temporary credentials").exact("bucket.credentials", "t"),
    s3("s3credfile", "FILE", |o, t| store_text(&mut o.s3.access.users_file, t),
        "Read users from lines KEY:SECRET of FILE; workers take turns")
        .exact("bucket.credentials", "users"),
    s3("s3credlist", "LIST", |o, t| hide(&mut o.s3.access.users_list, t),
        "Use users KEY:SECRET of LIST; workers take turns").exact("bucket.credentials", "a:b,c:d"),
    s3("s3region", "NAME", |o, t| store_text(&mut o.s3.access.region, t),
        "Set the region [default: AWS_REGION, or us-east-1]").exact("bucket.region", "eu-west-1"),
    s3_switch("s3virtaddr", |o, t| put(&mut o.s3.access.virtual_host, t),
        "Put the bucket's name into the host's name").exact("bucket.addressing", "true"),
    s3_switch("s3single", |o, t| put(&mut o.s3.access.single, t), "Use one client for all workers")
        .near("bucket.endpoints", "true", ONE_SERVER),
    s3_switch("s3insecure", |o, t| put(&mut o.s3.access.insecure, t),
        "Accept any certificate, like elbencho (candor's addition)")
        .exact("bucket.insecure", "true"),
    s3("s3maxconns", "N", |o, t| put_number(&mut o.s3.requests.connections, t, 0..=1 << 20),
        "Limit connections to N").default("0").near("objects.depth", "2", POOL),
    bare("s3targetgbps", Value::value("N"), "Set the throughput target of the CRT client")
        .default("100").when(is_on)
        .idle("10", "only elbencho's CRT build uses it; --limitread and --limitwrite limit rates"),
    bare("s3log", Value::value("N"), "Set the SDK's log level").default("0").when(is_on)
        .idle("1", "candor uses no SDK; --opslog FILE logs each request"),
    bare("s3logprefix", Value::value("PATH"), "Set the begin of the SDK's log files").when(is_on)
        .idle("x", "candor uses no SDK; --opslog FILE logs each request"),
];

#[rustfmt::skip]
pub(super) const REQUESTS: &[Row] = &[
    s3("s3objprefix", "TEXT", prefix, "Begin keys with TEXT; %%% becomes random digits")
        .near("bucket.prefix", "x%%%/", DIGITS)
        .differing(|options| options.s3.requests.prefix.contains("%%%")),
    s3_switch("s3fastget", |o, t| put(&mut o.s3.requests.fast_get, t), "Discard downloaded bytes")
        .exact("objects.discard", "true"),
    s3_switch("s3fastput", |o, t| put(&mut o.s3.requests.fast_put, t),
        "Do not sign bytes of uploads").exact("objects.payload", "true"),
    s3("s3sign", "N", sign, "Sign bytes of uploads: 0 without TLS, 1 always, 2 never").default("0")
        .near("objects.payload", "2", SIGNED)
        .differing(|options| options.s3.requests.sign == Sign::Never),
    bare("s3nocompress", Value::maybe("BOOL"), "Do not compress requests").default("false")
        .when(is_on).idle("true", "candor compresses no request"),
    s3("s3chksumalgo", "WORD", checksum, "Send checksums: CRC32, CRC32C, SHA1, SHA256, CRC64NVME")
        .alias(&["s3checksumalgo"]).near("objects.checksum", "CRC32C", IN_HEAD),
    s3_switch("s3mpusharing", |o, t| put(&mut o.s3.requests.shares_uploads, t),
        "Let several hosts upload parts of one object").exact("objects.uploads", "true"),
    s3_switch("s3nompucompl", |o, t| put(&mut o.s3.requests.leaves_uploads, t),
        "Leave uploads of parts open").near("objects.uploads", "true", LEFT_OPEN),
    s3_switch("s3multiignore404", |o, t| put(&mut o.s3.requests.completion_404_ok, t),
        "Accept 404 in answer to the completion of an upload")
        .exact("objects.missing_ok", "true"),
    s3_switch("s3randobj", |o, t| put(&mut o.s3.requests.random_object, t),
        "Read each block from an object drawn for it").exact("objects.select", "true"),
    s3_switch("s3ignoreerrors", |o, t| put(&mut o.s3.requests.ignore_errors, t),
        "Continue after failed requests").near("stop.continue_on_error", "true", FAILED),
    s3_switch("s3sse", |o, t| put(&mut o.s3.requests.sse, t), "Encrypt with the server's keys")
        .exact("objects.headers.encryption", "true"),
    s3("s3sseckey", "BASE64", |o, t| hide(&mut o.s3.requests.customer_key, t),
        "Encrypt with this key of 32 bytes, which each request sends")
        .exact("objects.headers.encryption", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="),
    s3("s3ssekmskey", "ID", |o, t| store_text(&mut o.s3.requests.kms_key, t),
        "Encrypt with this key of the key service").exact("objects.headers.encryption", "k"),
    bare("s3nompcheck", Value::maybe("BOOL"), "Allow more than 10000 parts").default("false")
        .when(is_on).refused("true", "S3 accepts 10000 parts; give larger ones with --block"),
    bare("s3mpusizevar", Value::value("SIZE"), "Shorten parts by random amounts").default("0")
        .when(is_on).refused("1k", "all parts have the size of --block"),
    bare("s3mpusplit", Value::value("SIZE"), "Let the CRT client cut uploads").default("0")
        .when(is_on).refused("5m", "give the size of parts with --block, and how many are in \
                                    flight with --iodepth"),
];

#[rustfmt::skip]
pub(super) const PHASES: &[Row] = &[
    s3("s3listobj", "N", |o, t| put_size(&mut o.s3.phases.list, t),
        "List up to N objects of each bucket").default("0").near("phase", "1000", LIST_TIMES),
    s3_switch("s3listobjpar", |o, t| put(&mut o.s3.phases.list_parallel, t),
        "Let each worker list its directories").near("phase", "true", LIST_TIMES),
    s3_switch("s3listverify", |o, t| put(&mut o.s3.phases.list_verify, t),
        "Check number and order of listed keys").exact("objects.check_list", "true"),
    s3("s3multidel", "N", |o, t| put_number(&mut o.s3.phases.delete_many, t, 0..=1000),
        "Delete all objects, N per request, whichever tool made them").default("0")
        .near("phase", "100", LISTED_BEFORE),
    s3_switch("s3statdirs", |o, t| put(&mut o.s3.phases.stat_buckets, t),
        "Request attributes of buckets").exact("phase", "true"),
    s3_switch("s3otag", |o, t| put(&mut o.s3.phases.object_tags.wanted, t),
        "Put, get and delete tags of objects").near("phase", "true", TAGS),
    s3_switch("s3otagverify", |o, t| put(&mut o.s3.phases.object_tags.verify, t),
        "Compare tags of objects").exact("objects.check_settings", "true"),
    s3_switch("s3btag", |o, t| put(&mut o.s3.phases.bucket_tags.wanted, t),
        "Put, get and delete tags of buckets").near("phase", "true", TAGS),
    s3_switch("s3btagverify", |o, t| put(&mut o.s3.phases.bucket_tags.verify, t),
        "Compare tags of buckets").exact("objects.check_settings", "true"),
    s3_switch("s3bversion", |o, t| put(&mut o.s3.phases.versioning.wanted, t),
        "Enable, get and suspend versioning of buckets").near("phase", "true", VERSIONS),
    s3_switch("s3bversionverify", |o, t| put(&mut o.s3.phases.versioning.verify, t),
        "Compare versioning of buckets").exact("objects.check_settings", "true"),
    s3_switch("s3olockcfg", |o, t| put(&mut o.s3.phases.locks.wanted, t),
        "Lock new objects of buckets for a day, without a way back").near("phase", "true", LOCKS),
    s3_switch("s3olockcfgverify", |o, t| put(&mut o.s3.phases.locks.verify, t),
        "Compare locks of buckets").exact("objects.check_settings", "true"),
    s3_switch("s3aclput", |o, t| put(&mut o.s3.acl.put, t), "Put ACLs of objects")
        .exact("phase", "true"),
    s3_switch("s3aclget", |o, t| put(&mut o.s3.acl.get, t), "Get ACLs of objects")
        .exact("phase", "true"),
    s3_switch("s3aclputinl", |o, t| put(&mut o.s3.acl.inline, t), "Send ACLs with uploads")
        .exact("objects.headers.acl", "true"),
    s3_switch("s3aclverify", |o, t| put(&mut o.s3.acl.verify, t), "Compare ACLs")
        .exact("objects.check_settings", "true"),
    s3_switch("s3baclput", |o, t| put(&mut o.s3.acl.put_bucket, t), "Put ACLs of buckets")
        .exact("phase", "true"),
    s3_switch("s3baclget", |o, t| put(&mut o.s3.acl.get_bucket, t), "Get ACLs of buckets")
        .exact("phase", "true"),
    s3("s3aclgrantee", "NAME", |o, t| store(&mut o.s3.acl.grantee, t.to_owned()),
        "Set the grantee, or a canned ACL such as public-read").exact("objects.headers.acl", "x"),
    s3("s3aclgtype", "WORD", grantee, "Set the kind of grantee: id, email, uri, group")
        .exact("objects.headers.acl", "email"),
    s3("s3aclgrants", "LIST", grants, "Grant none, full, read, write, racp, wacp")
        .exact("objects.headers.acl", "write"),
    refused_switch("hdfs", "Use HDFS", "candor has no client of HDFS"),
];

/// Reads servers; a server without a scheme speaks https.
pub(in crate::options) fn endpoints(options: &mut Options, text: &str) -> Result<(), Refused> {
    let all = grammar::hosts(text)?.into_iter();
    let all =
        all.map(|server| if server.contains("://") { server } else { format!("https://{server}") });
    store(&mut options.s3.access.endpoints, all.collect())
}

/// Most digits of a prefix.
const DIGITS_MAX: usize = 16;

fn prefix(options: &mut Options, text: &str) -> Result<(), Refused> {
    let longest = text.split(|letter| letter != '%').map(str::len).max().unwrap_or(0);
    if longest > DIGITS_MAX || text.matches("%%%").count() > longest / 3 {
        let message = format!("`{text}` has more than one run of 3 to {DIGITS_MAX} `%`");
        return Err(Refused::whole(text, message, "write one run, such as %%%%"));
    }
    store(&mut options.s3.requests.prefix, text.to_owned())
}

const fn word(word: &'static str, help: &'static str) -> Choice {
    Choice { word, help }
}

const SIGNS: &[Choice] = &[word("0", "without TLS"), word("1", "always"), word("2", "never")];

fn sign(options: &mut Options, text: &str) -> Result<(), Refused> {
    let sign = match choose(text, SIGNS)? {
        0 => Sign::Auto,
        1 => Sign::Always,
        _ => Sign::Never,
    };
    store(&mut options.s3.requests.sign, sign)
}

const CHECKSUMS: &[Choice] = &[
    word("crc32", "CRC-32"),
    word("crc32c", "CRC-32C"),
    word("sha1", "SHA-1"),
    word("sha256", "SHA-256"),
    word("crc64nvme", "CRC-64/NVME"),
];

fn checksum(options: &mut Options, text: &str) -> Result<(), Refused> {
    let algorithm = match choose(&text.to_ascii_lowercase(), CHECKSUMS)? {
        0 => ChecksumAlgorithm::Crc32,
        1 => ChecksumAlgorithm::Crc32c,
        2 => ChecksumAlgorithm::Sha1,
        3 => ChecksumAlgorithm::Sha256,
        _ => ChecksumAlgorithm::Crc64nvme,
    };
    store(&mut options.s3.requests.checksum, Some(algorithm))
}

const GRANTEES: &[Choice] = &[
    word("id", "an account by its id"),
    word("email", "an account by its address"),
    word("uri", "a group by its URI"),
    word("group", "a group by its URI"),
];

fn grantee(options: &mut Options, text: &str) -> Result<(), Refused> {
    let kind = match choose(text, GRANTEES)? {
        0 => Grantee::Id,
        1 => Grantee::Email,
        _ => Grantee::Uri,
    };
    store(&mut options.s3.acl.grantee_kind, Some(kind))
}

const GRANTS: &[Choice] = &[
    word("none", "nothing"),
    word("full", "everything"),
    word("read", "read"),
    word("write", "write"),
    word("racp", "read the ACL"),
    word("wacp", "write the ACL"),
];

fn grants(options: &mut Options, text: &str) -> Result<(), Refused> {
    const HEADERS: [Grant; 6] = ["", "full-control", "read", "write", "read-acp", "write-acp"];
    let chosen: Result<Vec<usize>, Refused> =
        grammar::split(text, &[',']).into_iter().map(|word| choose(word, GRANTS)).collect();
    let headers = chosen?.into_iter().map(|nth| HEADERS[nth]).filter(|name| !name.is_empty());
    store(&mut options.s3.acl.grants, headers.collect())
}
