//! `hd=`: hosts, and the clients that a host represents.

use super::{Defined, put, put_some};
use crate::kind::{Parameter, known, parameter};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Table};

/// A host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// Name or address; without one, the name of the definition.
    pub system: Option<String>,
    /// Number of clients on the host.
    pub clients: Option<u64>,
    /// Number of JVMs.
    pub jvms: Option<u64>,
    /// Command that mounts a file system.
    pub mount: Option<Vec<String>>,
}

/// Maximum of clients per host; each gets a share of its threads.
const CLIENTS_MAX: u64 = 1024;

/// Reason to ignore options that start vdbench on other hosts.
const STARTS: &str = "nothing is started: another system has an agent of candor";

type Row = candor_front::Row<Parameter<Host>>;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    parameter("system", "NAME",
        |host: &mut Host, text| put_some(&mut host.system, values::word(text)),
        "name or address of the host, with :PORT of its agent if not 4730")
        .exact("", "localhost"),
    known("vdbench", "DIRECTORY", "directory of vdbench on that host").idle("/opt/vdbench", STARTS),
    known("shell", "rsh|ssh|vdbench", "program that starts vdbench on that host")
        .idle("ssh", STARTS),
    known("user", "NAME", "user on that host").idle("root", STARTS),
    parameter("jvms", "N",
        |host: &mut Host, text| put_some(&mut host.jvms, number(text, 1 << 16)),
        "number of JVMs")
        .idle("4", "there are no JVMs: the threads of a lun are operations in flight"),
    parameter("clients", "N",
        |host: &mut Host, text| put_some(&mut host.clients, number(text, CLIENTS_MAX)),
        "number of clients on this host").exact("job", "4"),
    parameter("mount", "COMMAND", mount, "command that mounts a filesystem")
        .refused("\"mount -t nfs x:/y\"",
            "candor mounts nothing by itself; mount it before the run, or by startcmd="),
];

fn number(text: &str, max: u64) -> Result<u64, Refused> {
    values::whole(text, Unit::Size, 1..=max)
}

fn mount(host: &mut Host, text: &str) -> Result<(), Refused> {
    put(&mut host.mount, values::words(text).map(Some))
}

impl Defined for Host {
    const WORD: &'static str = "hd";
    const WHAT: &'static str = "host";
    const TABLE: Table<Parameter<Host>> = Table(&[Group { title: "Hosts (hd=)", rows: ROWS }]);
}
