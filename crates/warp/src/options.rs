//! Command lines of warp: commands, options with their defaults, and their tables.

mod help;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use candor_record::Note;

use super::values::{HostEntry, ObjectSize};

pub use help::{coverage, help, help_of, page};
pub use read::read;

candor_front::choices! {
    /// A command that candor runs.
    pub enum Command {
        #[default]
        Get = "Download objects": "get",
        Put = "Upload objects": "put",
        Delete = "Delete objects": "delete",
        List = "List objects": "list",
        Stat = "Request the properties of objects": "stat",
        Mixed = "Download, stat, upload and delete objects by weight": "mixed",
        Multipart = "Download single parts of one object": "multipart",
        MultipartPut = "Upload objects in parts": "multipart-put",
        Analyze = "Analyze a result file": "analyze",
        Compare = "Compare two result files": "cmp",
        Merge = "Merge result files of clients that ran together": "merge",
    }
}

impl Command {
    /// True for a command that sends requests to a server.
    pub fn is_benchmark(self) -> bool {
        !matches!(self, Command::Analyze | Command::Compare | Command::Merge)
    }
}

/// A text that no output shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The length is enough to see that a value is set.
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

/// A command with its options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The command.
    pub command: Command,
    /// Files to analyze, compare or merge.
    pub files: Vec<String>,
    /// The command line without secrets, for result files.
    pub command_line: String,
    /// Differences between request and run.
    pub notes: Vec<Note>,
    /// The server and the bucket.
    pub connection: Connection,
    /// Objects and requests of the command.
    pub work: Work,
    /// Rate, time and sizes.
    pub load: Load,
    /// Details of uploads.
    pub upload: Upload,
    /// The end of the run, and the objects after it.
    pub ending: Ending,
    /// Output.
    pub output: Output,
    /// Analysis of results.
    pub analysis: Analysis,
}

candor_front::choices! {
    /// Position of the bucket's name in requests.
    pub enum Lookup {
        #[default]
        Automatic = "Chosen by the host's name": "auto",
        Host = "Before the host's name": "host"|"dns",
        Path = "In the path": "path",
    }
}

candor_front::choices! {
    /// Selection of the host of a request.
    pub enum HostSelect {
        #[default]
        Weighed = "The host with the fewest open requests": "weighed",
        RoundRobin = "One host after the other": "roundrobin",
    }
}

/// The server and the bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// The servers, as given; `file:` entries are read into it.
    pub hosts: Vec<HostEntry>,
    /// Access key.
    pub access_key: Secret,
    /// Secret key.
    pub secret_key: Secret,
    /// Session token.
    pub session_token: Secret,
    /// Use TLS.
    pub tls: bool,
    /// Do not verify certificates.
    pub insecure: bool,
    /// Region of the signature; empty for the server's default.
    pub region: String,
    /// Position of the bucket's name.
    pub lookup: Lookup,
    /// Selection of hosts.
    pub host_select: HostSelect,
    /// Close each connection after its request.
    pub disable_keepalive: bool,
    /// Bucket.
    pub bucket: String,
    /// Prefix of all keys; empty for none.
    pub prefix: String,
    /// Do not add a prefix for each thread.
    pub no_prefix: bool,
    /// Agents that send the requests; empty for this host.
    pub clients: Vec<HostEntry>,
}

/// Objects and requests of a command. A field that the command does not have is 0 or false.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Objects before the run.
    pub objects: u64,
    /// Bytes of a part; 0 for no parts.
    pub part_bytes: u64,
    /// Parts of an object.
    pub parts: u64,
    /// Parts of an object that are sent at a time.
    pub part_concurrent: u64,
    /// Key of the object of `multipart`; empty for a random one.
    pub object_name: String,
    /// Read ranges at random offsets.
    pub range: bool,
    /// Bytes of a range; 0 for random lengths.
    pub range_bytes: u64,
    /// Use objects of the bucket, and upload none.
    pub list_existing: bool,
    /// List them without a hierarchy of prefixes.
    pub list_flat: bool,
    /// Objects of a delete request.
    pub batch: u64,
    /// Keys of a page of a listing.
    pub max_keys: u64,
    /// Weight of downloads.
    pub get_share: f64,
    /// Weight of stat requests.
    pub stat_share: f64,
    /// Weight of uploads.
    pub put_share: f64,
    /// Weight of deletes.
    pub delete_share: f64,
}

/// Rate, time and sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Requests in flight on each client.
    pub concurrent: u64,
    /// Time of the run in ns.
    pub duration_ns: u64,
    /// Requests per second of each client; 0 for no limit.
    pub requests_per_s: f64,
    /// Sizes of objects.
    pub object_size: ObjectSize,
    /// Time of day to start at.
    pub sync_start: Option<SyncStart>,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncStart {
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
}

candor_front::choices! {
    /// Checksum of uploads.
    pub enum Checksum {
        #[default]
        None = "No checksum": "none",
        Crc64Nvme = "CRC64NVME of the object": "CRC64NVME",
        Crc32 = "CRC32 of each part": "CRC32",
        Crc32Full = "CRC32 of the object": "CRC32-FO",
        Crc32c = "CRC32C of each part": "CRC32C",
        Crc32cFull = "CRC32C of the object": "CRC32C-FO",
        Sha1 = "SHA-1 of each part": "SHA1",
        Sha256 = "SHA-256 of each part": "SHA256",
        Md5 = "MD5 of the body": "MD5",
    }
}

/// Details of uploads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upload {
    /// Upload objects of any size in one request.
    pub disable_multipart: bool,
    /// Do not sign the content.
    pub disable_sha256: bool,
    /// Send an MD5 of each body.
    pub md5: bool,
    /// Storage class; absent for the bucket's default.
    pub storage_class: Option<String>,
    /// Checksum.
    pub checksum: Checksum,
    /// Encrypt with a random key of this client (SSE-C).
    pub encrypt: bool,
    /// Encrypt with the server's key (SSE-S3).
    pub encrypt_on_server: bool,
    /// Random metadata entries of each object.
    pub metadata_entries: u64,
    /// Random tags of each object.
    pub tags: u64,
}

/// The end of the run, and the objects after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// Stop as soon as the rate is stable.
    pub autoterm: bool,
    /// Shortest run before that, in ns.
    pub autoterm_ns: u64,
    /// Largest difference between stable rates in percent.
    pub autoterm_percent: f64,
    /// Keep the objects, in a bucket that others use, too.
    pub no_clear: bool,
    /// Do not delete objects after the run.
    pub keep_data: bool,
}

/// Output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Name of the result file without its ending; absent for a name with the time.
    pub benchdata: Option<String>,
    /// Print JSON.
    pub json: bool,
    /// Print results only.
    pub quiet: bool,
}

/// Analysis of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Length of a segment in ns.
    pub segment_ns: u64,
    /// File for the segments as CSV.
    pub out: Option<String>,
    /// Operation to analyze; absent for all.
    pub op: Option<String>,
    /// Host to analyze; absent for all.
    pub host: Option<String>,
    /// Time at the start to skip, in ns.
    pub skip_ns: u64,
    /// Print requests by host in addition.
    pub verbose: bool,
    /// Most requests to read; 0 for all.
    pub limit: u64,
    /// Requests at the start of the file to skip.
    pub offset: u64,
}
