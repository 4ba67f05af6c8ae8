//! Options of several hosts, and of areas that candor does not support: networks and GPUs.

use super::{Row, Value, bare, put, put_number, put_some_number, refused, refused_switch, switch};
use crate::grammar;
use candor_front::{store, store_text};

const OWN_DATA: &str = "the first column counts each host until its first worker ends";
const ROUND_TRIP: &str = "each result has the round trips; no live screen shows them";
const ONE_PROTOCOL: &str = "candor's agents send samples immediately";
const NO_NETWORK: &str = "candor does not measure networks yet";
const FOR_NETBENCH: &str = "only --netbench, which is refused, uses it";
const NO_GPU: &str = "candor does not move bytes to GPUs yet";

#[rustfmt::skip]
pub(super) const HOSTS: &[Row] = &[
    switch("service", |o, t| put(&mut o.hosts.service, t),
        "Run as a service in the background, with a log").exact("", "true"),
    switch("foreground", |o, t| put(&mut o.hosts.foreground, t),
        "Keep the service in the foreground").exact("", "true"),
    Row::value("port", "N", |o, t| put_number(&mut o.hosts.port, t, 1..=65535),
        "Set the port of services").default("1611").exact("", "1612"),
    Row::value("hosts", "LIST", |o, t| store(&mut o.hosts.list, grammar::hosts(t)?),
        "Use services on these hosts, in rank order").exact("hosts", "a,b[1-2]:1612"),
    Row::value("hostsfile", "FILE", |o, t| store_text(&mut o.hosts.file, t), "Read hosts from FILE")
        .exact("hosts", "f"),
    Row::value("numhosts", "N", |o, t| put_some_number(&mut o.hosts.count, t, 0..=1 << 20),
        "Use the first N hosts").exact("hosts", "0"),
    switch("nosvcshare", |o, t| put(&mut o.hosts.own_data, t), "Give each service its own data set")
        .near("hosts_apart", "true", OWN_DATA),
    switch("quit", |o, t| put(&mut o.hosts.quit, t), "End services").exact("", "true"),
    switch("interrupt", |o, t| put(&mut o.hosts.interrupt, t), "Interrupt the run of services")
        .exact("", "true"),
    Row::value("svcpwfile", "FILE", |o, t| store_text(&mut o.hosts.secret_file, t),
        "Read the services' shared secret from FILE, at least 16 bytes").exact("", "f"),
    Row::value("rotatehosts", "N", |o, t| put_number(&mut o.hosts.rotate, t, 0..=1 << 20),
        "Shift hosts by N between phases").exact("job.rank_shift", "1"),
    bare("svcupint", Value::value("MS"), "Set the interval of service samples")
        .idle("500", ONE_PROTOCOL),
    Row::value("svcwait", "SECONDS", |o, t| put_number(&mut o.hosts.wait_s, t, 0..=1 << 20),
        "Wait up to SECONDS for services to come up").default("5").exact("", "6"),
    refused_switch("althttpsvc", "Use another library for services",
        "candor has one way to its agents"),
    switch("svcelapsed", |o, t| put(&mut o.output.hosts_elapsed, t),
        "Print the time of each service").exact("", "true"),
    switch("svcping", |o, t| put(&mut o.output.hosts_round_trip, t),
        "Print the round trip to each service").near("", "true", ROUND_TRIP),
];

#[rustfmt::skip]
pub(super) const NETWORK: &[Row] = &[
    refused_switch("netbench", "Measure a network", NO_NETWORK),
    bare("servers", Value::value("LIST"), "Receive on these hosts").idle("a", FOR_NETBENCH),
    bare("serversfile", Value::value("FILE"), "Read receiving hosts from FILE")
        .idle("f", FOR_NETBENCH),
    bare("clients", Value::value("LIST"), "Send from these hosts").idle("a", FOR_NETBENCH),
    bare("clientsfile", Value::value("FILE"), "Read sending hosts from FILE")
        .idle("f", FOR_NETBENCH),
    bare("respsize", Value::value("SIZE"), "Answer with SIZE bytes").idle("1", FOR_NETBENCH),
    bare("sendbuf", Value::value("SIZE"), "Set the buffer of a sender").idle("64k", FOR_NETBENCH),
    bare("recvbuf", Value::value("SIZE"), "Set the buffer of a receiver").idle("64k", FOR_NETBENCH),
    bare("netdevs", Value::value("LIST"), "Use these interfaces").idle("eth0", FOR_NETBENCH),
];

#[rustfmt::skip]
pub(super) const GPU: &[Row] = &[
    refused("gpuids", "LIST|all", "Use these GPUs", NO_GPU),
    refused_switch("gpuperservice", "Use one GPU per service", NO_GPU),
    refused_switch("cuhostbufreg", "Lock host buffers", NO_GPU),
    refused_switch("cufile", "Use cuFile", NO_GPU),
    refused_switch("gdsbufreg", "Register device buffers", NO_GPU),
    refused_switch("cufiledriveropen", "Open the driver first", NO_GPU),
    refused_switch("gds", "Use GPUDirect Storage", NO_GPU),
];
