//! versitygw, a strict server that can throttle.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rcgen::CertifiedKey;

use super::server::{Start, directory, tool, unique};
use super::{Fault, FaultProxy, Server};
use crate::support::Scratch;

/// Options of versitygw.
pub struct Options {
    /// Keeps connections after an answer.
    pub keep_alive: bool,
    /// Keeps earlier versions of objects in buckets with versioning.
    pub versioning: bool,
    /// Limits, above which requests are refused.
    pub limits: Option<Limits>,
    /// Serves TLS with a certificate of its own for `127.0.0.1` and `localhost`.
    pub tls: bool,
    /// Number of ports.
    pub ports: usize,
    /// Domain of which buckets are subdomains.
    pub domain: Option<&'static str>,
}

/// Limits of versitygw.
pub struct Limits {
    /// Requests in flight; others are answered by 503 SlowDown.
    pub requests: u32,
    /// Connections; others are answered by 503 in plain text, and closed.
    pub connections: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            keep_alive: true,
            versioning: false,
            limits: None,
            tls: false,
            ports: 1,
            domain: None,
        }
    }
}

impl Server {
    /// Starts versitygw over an empty directory; a sentence where it is missing.
    pub fn versitygw(scratch: &Scratch, options: &Options) -> Result<Server, String> {
        Server::versitygw_over(scratch, options, &directory(scratch, "versitygw"))
    }

    pub(super) fn versitygw_with_defaults(scratch: &Scratch) -> Result<Server, String> {
        Server::versitygw(scratch, &Options::default())
    }

    fn versitygw_over(scratch: &Scratch, options: &Options, data: &Path) -> Result<Server, String> {
        let mut command = Command::new(tool("versitygw-1.8.0/versitygw")?);
        command.env("ROOT_ACCESS_KEY", Server::ACCESS_KEY);
        command.env("ROOT_SECRET_KEY", Server::SECRET_KEY);
        for _ in 0..options.ports {
            command.args(["--port", "127.0.0.1:0"]);
        }
        if options.keep_alive {
            command.arg("--keep-alive");
        }
        if let Some(Limits { requests, connections }) = options.limits {
            command.args(["--max-requests", &requests.to_string()]);
            command.args(["--max-connections", &connections.to_string()]);
        }
        if let Some(domain) = options.domain {
            command.args(["--virtual-domain", domain]);
        }
        let certificate = options.tls.then(|| certificate(scratch, &mut command));
        command.arg("posix");
        if options.versioning {
            command.arg("--versioning-dir").arg(directory(scratch, "versions"));
        }
        command.arg(data);
        let (ports, data) = (options.ports, data.to_path_buf());
        let start = Start { name: "versitygw", command, ports, data, certificate };
        Ok(Server::start(scratch, start))
    }
}

/// Makes a certificate and its key, and adds both to the command; gives the certificate's file.
fn certificate(scratch: &Scratch, command: &mut Command) -> String {
    let names = ["127.0.0.1", "localhost"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let CertifiedKey { cert, signing_key } = made;
    let certificate = scratch.file(&unique("certificate"), &cert.pem());
    let key = scratch.file(&unique("key"), &signing_key.serialize_pem());
    command.args(["--cert", &certificate, "--key", &key]);
    certificate
}

/// Three processes of versitygw over one directory, as nodes of one service.
pub struct Fleet {
    /// Nodes.
    pub nodes: Vec<Server>,
}

impl Fleet {
    /// Starts three nodes; a sentence where versitygw is missing.
    pub fn of_three(scratch: &Scratch) -> Result<Fleet, String> {
        let data = directory(scratch, "fleet");
        let options = Options::default();
        let nodes = (0..3).map(|_| Server::versitygw_over(scratch, &options, &data));
        Ok(Fleet { nodes: nodes.collect::<Result<_, _>>()? })
    }

    /// A proxy in front of each node. The first byte of one node is late by `delay`.
    pub fn with_slow_node(&self, slow: usize, delay: Duration) -> Vec<FaultProxy> {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .map(|(node, server)| {
                FaultProxy::start(server.address(), move |_| {
                    if node == slow { Fault::LateFirstByte { delay } } else { Fault::Pass }
                })
            })
            .collect()
    }
}
