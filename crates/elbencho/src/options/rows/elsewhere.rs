//! Options of several hosts, and of what candor does not do under this name: networks, GPUs, object
//! stores.

use super::{Value, bare, put, put_number, refused, refused_switch, switch, value};
use crate::grammar;
use candor_front::{Row, store};

const OWN_DATA: &str = "the first column counts each host up to the end of its first worker";
const ROUND_TRIP: &str = "round trips are in each result, not on a live screen";
const ONE_PROTOCOL: &str = "agents of candor send their figures as they arise";
const NO_NETWORK: &str = "candor does not measure networks yet";
const FOR_NETBENCH: &str = "only --netbench, which is refused, uses it";
const NO_GPU: &str = "candor does not move bytes to GPUs yet";
const NO_S3: &str = "candor does not measure object stores yet";

#[rustfmt::skip]
pub(super) const HOSTS: &[Row<Value>] = &[
    switch("service", |d, t| put(&mut d.options.hosts.service, t),
        "serve the paths that follow to a master; in the background, with a log").exact("", "true"),
    switch("foreground", |d, t| put(&mut d.options.hosts.foreground, t),
        "a service stays in the foreground").exact("", "true"),
    value("port", "N", |d, t| put_number(&mut d.options.hosts.port, t, [1, 65535]),
        "port of services").default("1611").exact("", "1612"),
    value("hosts", "LIST", |d, t| store(&mut d.options.hosts.list, grammar::hosts(t)?),
        "hosts with services, in the order of their ranks").exact("hosts", "a,b[1-2]:1612"),
    value("hostsfile", "FILE", |d, t| store(&mut d.options.hosts.file, Some(t.into())),
        "file of hosts").exact("hosts", "f"),
    value("numhosts", "N",
        |d, t| {
            let mut count = 0;
            put_number(&mut count, t, [0, 1 << 20])?;
            store(&mut d.options.hosts.count, Some(count))
        },
        "hosts to use of the list").exact("hosts", "0"),
    switch("nosvcshare", |d, t| put(&mut d.options.hosts.own_data, t),
        "each service has its own data set").near("hosts_apart", "true", OWN_DATA),
    switch("quit", |d, t| put(&mut d.options.hosts.quit, t), "end services").exact("", "true"),
    switch("interrupt", |d, t| put(&mut d.options.hosts.interrupt, t),
        "end the run of services").exact("", "true"),
    value("svcpwfile", "FILE", |d, t| store(&mut d.options.hosts.secret_file, Some(t.into())),
        "secret that services share, of 16 bytes or more").exact("", "f"),
    value("rotatehosts", "N", |d, t| put_number(&mut d.options.hosts.rotate, t, [0, 1 << 20]),
        "shift hosts between phases").exact("job.rank_shift", "1"),
    bare("svcupint", Value::value("MS"), "interval of service samples").idle("500", ONE_PROTOCOL),
    value("svcwait", "SECONDS", |d, t| put_number(&mut d.options.hosts.wait_s, t, [0, 1 << 20]),
        "time to wait for services that are not there yet").default("5").exact("", "6"),
    refused_switch("althttpsvc", "another library for services",
        "candor has one way to its agents"),
    switch("svcelapsed", |d, t| put(&mut d.options.output.hosts_elapsed, t), "time of each service")
        .exact("", "true"),
    switch("svcping", |d, t| put(&mut d.options.output.hosts_round_trip, t),
        "round trip to each service").near("", "true", ROUND_TRIP),
];

#[rustfmt::skip]
pub(super) const NETWORK: &[Row<Value>] = &[
    refused_switch("netbench", "measure a network", NO_NETWORK),
    bare("servers", Value::value("LIST"), "hosts that receive").idle("a", FOR_NETBENCH),
    bare("serversfile", Value::value("FILE"), "file of them").idle("f", FOR_NETBENCH),
    bare("clients", Value::value("LIST"), "hosts that send").idle("a", FOR_NETBENCH),
    bare("clientsfile", Value::value("FILE"), "file of them").idle("f", FOR_NETBENCH),
    bare("respsize", Value::value("SIZE"), "bytes of an answer").idle("1", FOR_NETBENCH),
    bare("sendbuf", Value::value("SIZE"), "buffer of a sender").idle("64k", FOR_NETBENCH),
    bare("recvbuf", Value::value("SIZE"), "buffer of a receiver").idle("64k", FOR_NETBENCH),
    bare("netdevs", Value::value("LIST"), "interfaces to use").idle("eth0", FOR_NETBENCH),
];

#[rustfmt::skip]
pub(super) const GPU: &[Row<Value>] = &[
    refused("gpuids", "LIST|all", "GPUs to use", NO_GPU),
    refused_switch("gpuperservice", "one GPU for each service", NO_GPU),
    refused_switch("cuhostbufreg", "lock host buffers", NO_GPU),
    refused_switch("cufile", "use cuFile", NO_GPU),
    refused_switch("gdsbufreg", "register device buffers", NO_GPU),
    refused_switch("cufiledriveropen", "open the driver before", NO_GPU),
    refused_switch("gds", "use GPUDirect Storage", NO_GPU),
];

const fn s3(name: &'static str) -> Row<Value> {
    refused(name, "VALUE", "of object stores", NO_S3)
}

const fn s3_switch(name: &'static str) -> Row<Value> {
    refused_switch(name, "of object stores", NO_S3)
}

#[rustfmt::skip]
pub(super) const S3: &[Row<Value>] = &[
    s3("s3endpoints"), s3("s3key"), s3("s3secret"), s3("s3region"), s3("s3sessiontoken"),
    s3("s3credfile"), s3("s3credlist"), s3_switch("s3single"), s3_switch("s3virtaddr"),
    s3("s3sign"), s3_switch("s3fastget"), s3_switch("s3fastput"), s3_switch("s3nocompress"),
    s3("s3chksumalgo").alias(&["s3checksumalgo"]), s3("s3maxconns"), s3("s3targetgbps"),
    s3("s3mpusplit"), s3("s3mpusizevar"), s3_switch("s3mpusharing"), s3_switch("s3nompcheck"),
    s3_switch("s3nompucompl"), s3_switch("s3multiignore404"), s3("s3listobj"),
    s3_switch("s3listobjpar"), s3_switch("s3listverify"), s3("s3multidel"),
    s3_switch("s3statdirs"), s3("s3objprefix"), s3_switch("s3randobj"), s3_switch("s3aclget"),
    s3_switch("s3aclput"), s3_switch("s3aclputinl"), s3("s3aclgrantee"), s3("s3aclgtype"),
    s3("s3aclgrants"), s3_switch("s3aclverify"), s3_switch("s3baclget"), s3_switch("s3baclput"),
    s3_switch("s3btag"), s3_switch("s3btagverify"), s3_switch("s3otag"),
    s3_switch("s3otagverify"), s3_switch("s3bversion"), s3_switch("s3bversionverify"),
    s3_switch("s3olockcfg"), s3_switch("s3olockcfgverify"), s3_switch("s3sse"), s3("s3sseckey"),
    s3("s3ssekmskey"), s3_switch("s3ignoreerrors"), s3("s3log"), s3("s3logprefix"),
    refused_switch("hdfs", "use HDFS", "candor has no client of HDFS"),
];
