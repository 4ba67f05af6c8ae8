//! A process that serves S3 from a directory.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::support::{Scratch, skip, tools_folder};

/// Time until a server listens.
const READY_MAX: Duration = Duration::from_secs(30);

/// A number for names that must not meet.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A running server. Killed when dropped; after a failed test, prints its log.
pub struct Server {
    name: &'static str,
    child: Child,
    ports: Vec<u16>,
    data: PathBuf,
    log: String,
    certificate: Option<String>,
}

/// A server that has yet to start.
pub(super) struct Start {
    /// Name for messages.
    pub name: &'static str,
    /// Command that listens on ports that the kernel picks.
    pub command: Command,
    /// Number of ports.
    pub ports: usize,
    /// Directory of the objects.
    pub data: PathBuf,
    /// File with the server's certificate, if it serves TLS.
    pub certificate: Option<String>,
}

impl Server {
    /// Access key of the server's owner.
    pub const ACCESS_KEY: &str = "candor-test";
    /// Secret key of the server's owner.
    pub const SECRET_KEY: &str = "candor-secret";

    /// Each server that is installed, one after the other. Skips the test for others.
    pub fn candidates(scratch: &Scratch) -> impl Iterator<Item = Server> + '_ {
        let starts = [Server::versitygw_with_defaults, Server::s3proxy];
        starts.into_iter().filter_map(|start| match start(scratch) {
            Ok(server) => Some(server),
            Err(reason) => {
                skip(&reason);
                None
            }
        })
    }

    /// Starts a server and waits until it listens.
    pub(super) fn start(scratch: &Scratch, mut start: Start) -> Server {
        let log = scratch.outside(&unique(&format!("{}.log", start.name)));
        let file = File::create(&log).expect("a log");
        let streams = [file.try_clone().expect("a second handle"), file].map(Stdio::from);
        let [out, err] = streams;
        start.command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let child = start.command.spawn().expect("the server starts");
        let Start { name, ports, data, certificate, .. } = start;
        let mut server = Server { name, child, ports: Vec::new(), data, log, certificate };
        server.wait_for_ports(ports);
        server
    }

    fn wait_for_ports(&mut self, count: usize) {
        let began = Instant::now();
        while self.ports.len() < count {
            let ended = self.child.try_wait().expect("the server can be waited for").is_some();
            assert!(!ended, "{} ended early", self.name);
            assert!(began.elapsed() < READY_MAX, "{} never listened", self.name);
            std::thread::sleep(Duration::from_millis(10));
            self.ports = listening_ports(self.child.id());
        }
    }

    /// Name of the program.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Address of the first port.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports[0]))
    }

    /// URL of the first port.
    pub fn endpoint(&self) -> String {
        self.endpoints().remove(0)
    }

    /// URLs of all ports.
    pub fn endpoints(&self) -> Vec<String> {
        let scheme = self.certificate.as_ref().map_or("http", |_| "https");
        self.ports.iter().map(|port| format!("{scheme}://127.0.0.1:{port}")).collect()
    }

    /// Directory with a directory for each bucket, and a file for each object in it.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// True while the server has a file of a bucket open, as during an upload.
    pub fn has_open(&self, bucket: &str) -> bool {
        let bucket = self.data.join(bucket);
        handles(self.child.id()).any(|file| file.starts_with(&bucket))
    }

    /// File with the server's certificate, if it serves TLS.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended needs no signal.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            println!("log of {}:\n{log}", self.name);
        }
    }
}

/// The name with a number, so that several servers share a scratch directory.
pub(super) fn unique(name: &str) -> String {
    format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An empty directory of the scratch.
pub(super) fn directory(scratch: &Scratch, name: &str) -> PathBuf {
    let path = PathBuf::from(scratch.outside(&unique(name)));
    fs::create_dir(&path).expect("a directory");
    path
}

/// Path of a program below the tools' folder; a sentence where it is missing.
pub(super) fn tool(name: &str) -> Result<PathBuf, String> {
    let path = tools_folder().join(name);
    if path.is_file() { Ok(path) } else { Err(missing(name)) }
}

/// The reason for a skip.
pub(super) fn missing(name: &str) -> String {
    format!("it needs {name}: cargo run -p xtask -- setup")
}

/// Names of all that a process has open.
fn handles(process: u32) -> impl Iterator<Item = PathBuf> {
    let handles = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    handles.filter_map(|handle| fs::read_link(handle.path()).ok())
}

/// Ports on which a process accepts connections, in ascending order.
fn listening_ports(process: u32) -> Vec<u16> {
    let inodes: Vec<String> = handles(process)
        .filter_map(|name| {
            Some(name.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{process}/net/{table}")));
    let rows = tables.iter().flatten().flat_map(|table| table.lines());
    let mut ports: Vec<u16> = rows.filter_map(|row| listening_port(row, &inodes)).collect();
    ports.sort_unstable();
    ports
}

/// Port of a row of `/proc/net/tcp`, if its socket listens and is one of these.
fn listening_port(row: &str, inodes: &[String]) -> Option<u16> {
    const LISTEN: &str = "0A";
    let fields: Vec<&str> = row.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let ours = *state == LISTEN && inodes.iter().any(|own| own == inode);
    let (_, port) = local.rsplit_once(':')?;
    u16::from_str_radix(port, 16).ok().filter(|_| ours)
}
