//! The tables of options.

use candor_front::{Group, Plain, Refused, Row, Table, bare, choose, store};

use super::{Checksum, Command, HostSelect, Lookup, Options, Secret, SyncStart};
use crate::values::{
    count, duration, hosts, number, object_size, positive, size, some_text, switch, text, time,
};

/// Values of options.
pub type Value = Plain<Options>;

type OptionRow = Row<Value>;

/// A setter: parser, then field.
macro_rules! set {
    ($parse:path, $($field:ident).+) => {
        |options, text| store(&mut options.$($field).+, $parse(text)?)
    };
}

/// A switch, false by default.
macro_rules! on_off {
    ($name:literal, $($field:ident).+, $help:literal) => {
        OptionRow::flag($name, "BOOL", set!(switch, $($field).+), $help)
            .default("false")
            .exact("", "true")
    };
}

/// An option whose text is a value of an enum with choices.
macro_rules! chosen {
    ($name:literal, $form:literal, $of:ident, $($field:ident).+, $help:literal) => {
        OptionRow::value(
            $name,
            $form,
            |options, text| {
                store(&mut options.$($field).+, $of::ALL[choose(text, $of::CHOICES)?])
            },
            $help,
        )
    };
}

/// A table of a benchmark: its own rows first, then the shared groups.
macro_rules! benchmark {
    ($title:literal, $own:expr) => {
        Table(&[
            Group { title: $title, rows: $own },
            SERVER,
            LOAD,
            UPLOAD,
            ENDING,
            FLEET,
            FILES,
            OUTPUT,
            ANALYSIS,
        ])
    };
}

/// Environment variables of options.
pub const VARIABLES: &[Variable] = &[
    Variable { option: "host", name: "WARP_HOST" },
    Variable { option: "access-key", name: "WARP_ACCESS_KEY" },
    Variable { option: "secret-key", name: "WARP_SECRET_KEY" },
    Variable { option: "session-token", name: "WARP_SESSION_TOKEN" },
    Variable { option: "tls", name: "WARP_TLS" },
    Variable { option: "ktls", name: "WARP_KTLS" },
    Variable { option: "rdma", name: "WARP_RDMA" },
    Variable { option: "region", name: "WARP_REGION" },
    Variable { option: "sts-web-token", name: "WARP_STS_WEB_TOKEN" },
    Variable { option: "influxdb", name: "WARP_INFLUXDB_CONNECT" },
];

/// An option, and the environment variable that is its default.
pub struct Variable {
    /// The option.
    pub option: &'static str,
    /// The variable.
    pub name: &'static str,
}

/// Options whose values no output shows.
pub const SECRETS: &[&str] =
    &["access-key", "secret-key", "session-token", "sts-web-token", "influxdb"];

/// The table of a command.
pub const fn table(command: Command) -> Table<Value> {
    match command {
        Command::Get => GET,
        Command::Put => PUT,
        Command::Delete => DELETE,
        Command::List => LIST,
        Command::Stat => STAT,
        Command::Mixed => MIXED,
        Command::Multipart => MULTIPART,
        Command::MultipartPut => MULTIPART_PUT,
        Command::Analyze => Table(&[ANALYSIS, OUTPUT]),
        Command::Compare => Table(&[SELECTION, OUTPUT]),
        Command::Merge => Table(&[MERGED, OUTPUT]),
    }
}

const GET: Table<Value> = benchmark!(
    "get",
    &[
        objects("2500"),
        object_bytes("10MiB"),
        part_bytes("0"),
        on_off!("range", work.range, "Read ranges at random offsets"),
        OptionRow::value(
            "range-size",
            "SIZE",
            set!(size, work.range_bytes),
            "Size of ranges, which --range needs"
        )
        .default("0")
        .exact("", "1MiB"),
        VERSIONS,
        LIST_EXISTING,
        LIST_FLAT,
    ]
);

const PUT: Table<Value> = benchmark!(
    "put",
    &[
        object_bytes("10MiB"),
        part_bytes("0"),
        bare("post", Value::maybe("BOOL"), "Upload as forms of a browser")
            .default("false")
            .refused("true", "candor uploads with PUT requests"),
    ]
);

const DELETE: Table<Value> = benchmark!(
    "delete",
    &[
        objects("25000"),
        object_bytes("1KiB"),
        OptionRow::value("batch", "N", set!(positive, work.batch), "Delete N objects per request")
            .default("100")
            .exact("", "10"),
        LIST_EXISTING,
        LIST_FLAT,
    ]
);

const LIST: Table<Value> = benchmark!(
    "list",
    &[
        objects("10000"),
        object_bytes("1KB"),
        VERSIONS,
        bare("metadata", Value::maybe("BOOL"), "List metadata")
            .default("false")
            .refused("true", "only MinIO lists metadata"),
        OptionRow::value("max-keys", "N", set!(positive, work.max_keys), "List N keys per page")
            .default("100")
            .exact("", "1000"),
    ]
);

const STAT: Table<Value> =
    benchmark!("stat", &[objects("10000"), object_bytes("1KB"), VERSIONS, LIST_EXISTING]);

const MIXED: Table<Value> = benchmark!(
    "mixed",
    &[objects("2500"), object_bytes("10MiB"), GET_SHARE, STAT_SHARE, PUT_SHARE, DELETE_SHARE,]
);

const MULTIPART: Table<Value> = benchmark!(
    "multipart",
    &[
        parts("200"),
        part_bytes("5MiB"),
        OptionRow::value("obj.name", "KEY", set!(text, work.object_name), "Key of the object")
            .exact("", "key"),
    ]
);

const MULTIPART_PUT: Table<Value> = benchmark!(
    "multipart-put",
    &[
        parts("100"),
        part_bytes("5MiB"),
        OptionRow::value(
            "part.concurrent",
            "N",
            set!(positive, work.part_concurrent),
            "Parts of an object in flight"
        )
        .default("20")
        .exact("", "4"),
    ]
);

const fn objects(default: &'static str) -> OptionRow {
    OptionRow::value(
        "objects",
        "N",
        set!(positive, work.objects),
        "Upload N objects before the run",
    )
    .default(default)
    .exact("", "10")
}

const fn object_bytes(default: &'static str) -> OptionRow {
    let help = "SIZE, MIN,MAX or SIZE:WEIGHT,…";
    OptionRow::value("obj.size", "SIZE", set!(object_size, load.object_size), help)
        .default(default)
        .exact("", "1MiB,2MiB")
}

const fn part_bytes(default: &'static str) -> OptionRow {
    let help = "Size of parts; 0 for one request";
    OptionRow::value("part.size", "SIZE", set!(size, work.part_bytes), help)
        .default(default)
        .exact("", "16MiB")
}

const fn parts(default: &'static str) -> OptionRow {
    OptionRow::value("parts", "N", set!(positive, work.parts), "Parts of an object")
        .default(default)
        .exact("", "10")
}

const VERSIONS: OptionRow = bare("versions", Value::value("N"), "Versions of each object")
    .default("1")
    .refused("2", "candor requests the current version of an object only");

const LIST_EXISTING: OptionRow =
    on_off!("list-existing", work.list_existing, "Use objects of the bucket; never delete them");
const LIST_FLAT: OptionRow =
    on_off!("list-flat", work.list_flat, "List them without a hierarchy of prefixes");
const GET_SHARE: OptionRow =
    OptionRow::value("get-distrib", "N", set!(number, work.get_share), "Weight of downloads")
        .default("45")
        .exact("", "50");
const STAT_SHARE: OptionRow =
    OptionRow::value("stat-distrib", "N", set!(number, work.stat_share), "Weight of stat requests")
        .default("30")
        .exact("", "50");
const PUT_SHARE: OptionRow =
    OptionRow::value("put-distrib", "N", set!(number, work.put_share), "Weight of uploads")
        .default("15")
        .exact("", "50");
const DELETE_SHARE: OptionRow =
    OptionRow::value("delete-distrib", "N", set!(number, work.delete_share), "Weight of deletes")
        .default("10")
        .exact("", "5");

#[rustfmt::skip]
const SERVER: Group<Value> = Group { title: "Server", rows: &[
    OptionRow::value("host", "LIST", set!(hosts, connection.hosts),
        "HOST:PORT,… or file:NAME")
        .default("127.0.0.1:9000").exact("", "a:9000,b:9000"),
    OptionRow::value("access-key", "KEY", set!(secret, connection.access_key), "Access key")
        .exact("", "key"),
    OptionRow::value("secret-key", "KEY", set!(secret, connection.secret_key), "Secret key")
        .exact("", "key"),
    OptionRow::value("session-token", "TOKEN", set!(secret, connection.session_token),
        "Session token").exact("", "token"),
    on_off!("tls", connection.tls, "Use TLS"),
    on_off!("insecure", connection.insecure, "Do not verify certificates"),
    OptionRow::value("region", "NAME", set!(text, connection.region), "Region of the bucket")
        .exact("", "eu-west-1"),
    chosen!("lookup", "NAME", Lookup, connection.lookup, "Bucket in the host or the path")
        .default("auto").exact("", "path"),
    chosen!("host-select", "NAME", HostSelect, connection.host_select,
        "Host by load, or roundrobin").default("weighed")
        .near("", "roundrobin", "each host gets the same number of connections"),
    on_off!("disable-http-keepalive", connection.disable_keepalive,
        "Close each connection after its request"),
    OptionRow::value("bucket", "NAME", set!(text, connection.bucket), "Bucket")
        .default("warp-benchmark-bucket").exact("", "data"),
    OptionRow::value("prefix", "KEY", set!(text, connection.prefix), "Prefix of all keys")
        .exact("", "test"),
    on_off!("noprefix", connection.no_prefix, "Do not add a prefix for each thread"),
    bare("force-empty", Value::maybe("BOOL"), "Empty the bucket first").default("false")
        .refused("true", "candor deletes its own objects only; empty the bucket with its tools"),
    OptionRow::value("signature", "S3V4", signature, "Signature of requests").default("S3V4")
        .idle("S3V4", "S3V4 is the only signature"),
    bare("resolve-host", Value::maybe("BOOL"), "Use all addresses of a host's name")
        .default("false").idle("true", "candor always uses all addresses of a name"),
    bare("sts-web-token", Value::value("TOKEN"), "Web token for temporary keys")
        .refused("token", "candor requests no temporary keys; give them with --session-token"),
    bare("ktls", Value::maybe("BOOL"), "TLS in the kernel").default("false")
        .refused("true", "TLS runs in candor"),
    bare("rdma", Value::value("cpu|gpu"), "Transfer by RDMA")
        .refused("cpu", "candor transfers by TCP only"),
    bare("rdma.window", Value::value("N"), "RDMA transfers in flight")
        .refused("4", "candor transfers by TCP only"),
    bare("http2", Value::maybe("BOOL"), "Use HTTP/2").default("false")
        .refused("true", "candor uses HTTP/1.1, with one request per connection"),
    bare("sndbuf", Value::value("BYTES"), "Send buffer of sockets").default("32768")
        .refused("65536", "the kernel sizes the buffers of sockets"),
    bare("rcvbuf", Value::value("BYTES"), "Receive buffer of sockets").default("32768")
        .refused("65536", "the kernel sizes the buffers of sockets"),
] };

#[rustfmt::skip]
const LOAD: Group<Value> = Group { title: "Load", rows: &[
    OptionRow::value("concurrent", "N", set!(positive, load.concurrent),
        "Requests in flight per client").default("20").exact("", "8"),
    OptionRow::value("duration", "TIME", set!(time, load.duration_ns), "Time of the run")
        .default("5m").exact("", "10s"),
    OptionRow::value("rps-limit", "N", set!(number, load.requests_per_s),
        "Requests/s per client; 0: no limit").default("0").exact("", "100"),
    bare("obj.randsize", Value::maybe("BOOL"), "Draw sizes up to --obj.size").default("false")
        .refused("true", "candor draws sizes evenly or by weight; use --obj.size=MIN,MAX"),
    OptionRow::value("obj.generator", "random", generator, "Content of objects").default("random")
        .idle("random", "random content is the only one"),
    OptionRow::value("syncstart", "HH:MM", sync_start, "Start at this time of day")
        .exact("", "12:30"),
    bare("stress", Value::maybe("BOOL"), "Send requests without results").default("false")
        .refused("true", "a run without results measures nothing"),
] };

#[rustfmt::skip]
const UPLOAD: Group<Value> = Group { title: "Uploads", rows: &[
    on_off!("disable-multipart", upload.disable_multipart, "Upload each object in one request"),
    on_off!("disable-sha256-payload", upload.disable_sha256, "Do not sign content"),
    on_off!("md5", upload.md5, "Send an MD5 of each body"),
    OptionRow::value("storage-class", "NAME", set!(some_text, upload.storage_class),
        "Storage class").exact("", "STANDARD"),
    OptionRow::value("checksum", "NAME", checksum, "Checksum, such as CRC32C or CRC64NVME")
        .exact("", "CRC32C"),
    on_off!("encrypt", upload.encrypt, "Encrypt with a random key of the client (SSE-C)"),
    on_off!("sse-s3-encrypt", upload.encrypt_on_server, "Encrypt with the server's key (SSE-S3)"),
    OptionRow::value("add-metadata", "N", set!(count, upload.metadata_entries),
        "Add N random metadata entries").default("0").exact("", "2"),
    OptionRow::value("tag", "N", set!(count, upload.tags), "Add N random tags").default("0")
        .exact("", "2"),
] };

#[rustfmt::skip]
const ENDING: Group<Value> = Group { title: "End", rows: &[
    on_off!("autoterm", ending.autoterm, "Stop when the rate is stable"),
    OptionRow::value("autoterm.dur", "TIME", set!(time, ending.autoterm_ns),
        "Shortest run before that").default("15s").exact("", "5s"),
    OptionRow::value("autoterm.pct", "PERCENT", set!(number, ending.autoterm_percent),
        "Largest change of a stable rate").default("7.5").exact("", "5"),
    on_off!("noclear", ending.no_clear, "Keep the objects, as --keep-data does"),
    on_off!("keep-data", ending.keep_data, "Keep the objects after the run"),
] };

#[rustfmt::skip]
const FLEET: Group<Value> = Group { title: "Clients", rows: &[
    OptionRow::value("warp-client", "LIST", set!(hosts, connection.clients),
        "Agents that send the requests")
        .near("connection.clients", "a,b", "the hosts run `candor agent`, not agents of warp"),
    bare("influxdb", Value::value("URL"), "Send metrics to InfluxDB")
        .refused("http://a", "candor serves metrics for Prometheus; set CANDOR_METRICS"),
    bare("web", Value::maybe("BOOL"), "Open a page with the results").default("false")
        .refused("true", "candor writes a page; set CANDOR_HTML"),
    bare("serve", Value::value("ADDRESS"), "Serve results")
        .refused(":1", "candor serves metrics for Prometheus; set CANDOR_METRICS"),
] };

const BENCHDATA: OptionRow = OptionRow::value(
    "benchdata",
    "NAME",
    set!(some_text, output.benchdata),
    "Write NAME.json.zst; merge may write .csv.zst",
)
.exact("", "run");

const MERGED: Group<Value> = Group { title: "Result file", rows: &[BENCHDATA] };

#[rustfmt::skip]
const FILES: Group<Value> = Group { title: "Result file", rows: &[
    BENCHDATA,
    bare("full", Value::maybe("BOOL"), "Store each request").default("false")
        .refused("true", "candor stores counts and times by segment, not each request"),
    bare("serverprof", Value::value("TYPES"), "Profile the server")
        .refused("cpu", "only MinIO has such profiles"),
    bare("stdout", Value::maybe("BOOL"), "Write results to stdout").default("false")
        .refused("true", "result files are binary; name a file with --benchdata"),
] };

#[rustfmt::skip]
const OUTPUT: Group<Value> = Group { title: "Output", rows: &[
    on_off!("json", output.json, "Print JSON"),
    on_off!("quiet", output.quiet, "Print results only"),
    bare("no-color", Value::maybe("BOOL"), "Print without colours").default("false")
        .idle("true", "the text has no colours"),
    bare("debug", Value::maybe("BOOL"), "Print debug output").default("false")
        .idle("true", "each error is printed in any case"),
] };

const SEGMENT: OptionRow =
    OptionRow::value("analyze.dur", "TIME", set!(time, analysis.segment_ns), "Length of segments")
        .default("1s")
        .exact("", "5s");
const OPERATION: OptionRow =
    OptionRow::value("analyze.op", "NAME", operation, "One operation, such as GET")
        .exact("", "GET");
const HOST: OptionRow =
    OptionRow::value("analyze.host", "NAME", set!(some_text, analysis.host), "One host")
        .exact("", "http://a:9000");
const SKIP: OptionRow =
    OptionRow::value("analyze.skip", "TIME", set!(duration, analysis.skip_ns), "Skip TIME first")
        .default("0s")
        .exact("", "5s");
const LIMIT: OptionRow =
    OptionRow::value("analyze.limit", "N", set!(count, analysis.limit), "Read N requests; 0: all")
        .default("0")
        .exact("", "10");
const OFFSET: OptionRow =
    OptionRow::value("analyze.offset", "N", set!(count, analysis.offset), "Skip N requests")
        .default("0")
        .exact("", "10");

const SELECTION: Group<Value> =
    Group { title: "Analysis", rows: &[SEGMENT, OPERATION, HOST, SKIP, LIMIT, OFFSET] };

#[rustfmt::skip]
const ANALYSIS: Group<Value> = Group { title: "Analysis", rows: &[
    SEGMENT, OPERATION, HOST, SKIP, LIMIT, OFFSET,
    OptionRow::value("analyze.out", "FILE", set!(some_text, analysis.out),
        "Write the segments as CSV").exact("", "a.csv"),
    on_off!("analyze.v", analysis.verbose, "Print requests by host, too"),
] };

fn secret(text: &str) -> Result<Secret, Refused> {
    Ok(Secret(text.to_owned()))
}

fn signature(_: &mut Options, text: &str) -> Result<(), Refused> {
    match text {
        "S3V4" => Ok(()),
        _ => {
            let message = format!("candor does not sign with `{text}`");
            Err(Refused::whole(text, message, "S3V4 is the only signature"))
        }
    }
}

fn generator(_: &mut Options, text: &str) -> Result<(), Refused> {
    match text {
        "random" => Ok(()),
        _ => {
            let message = format!("candor does not generate `{text}`");
            Err(Refused::whole(text, message, "random is the only content"))
        }
    }
}

fn operation(options: &mut Options, text: &str) -> Result<(), Refused> {
    store(&mut options.analysis.op, some_text(&text.to_ascii_uppercase())?)
}

fn sync_start(options: &mut Options, text: &str) -> Result<(), Refused> {
    let parts = text.split_once(':');
    let parts = parts.and_then(|(hour, minute)| {
        Some(SyncStart { hour: hour.parse().ok()?, minute: minute.parse().ok()? })
    });
    let start = parts.filter(|start| start.hour < 24 && start.minute < 60);
    let start = start.ok_or_else(|| {
        Refused::whole(text, format!("`{text}` is not a time of day"), "write HH:MM")
    })?;
    store(&mut options.load.sync_start, Some(start))
}

/// Checksums that candor does not compute.
const OTHER_CHECKSUMS: &[&str] = &["MD5CS", "SHA512", "XXH64", "XXH3", "XXH128"];

fn checksum(options: &mut Options, text: &str) -> Result<(), Refused> {
    let name = text.to_ascii_uppercase();
    if OTHER_CHECKSUMS.contains(&name.as_str()) {
        let message = format!("candor does not compute `{text}`");
        return Err(Refused::whole(text, message, "use CRC32C, CRC64NVME or SHA256"));
    }
    let choice = choose(&name, &Checksum::CHOICES[1..])?;
    store(&mut options.upload.checksum, Checksum::ALL[choice + 1])
}
