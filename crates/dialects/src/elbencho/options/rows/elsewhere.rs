//! Options of what candor does not do under this name: hosts, networks, GPUs, object stores.

use super::{Value, refused, refused_switch};
use crate::kit::Row;

const NO_HOSTS: &str = "candor does not drive other hosts yet; start it on each of them, with \
                        --rankoffset and --start";
const NO_NETWORK: &str = "candor does not measure networks yet";
const NO_GPU: &str = "candor does not move bytes to GPUs yet";
const NO_S3: &str = "candor does not measure object stores yet";

#[rustfmt::skip]
pub(super) const HOSTS: &[Row<Value>] = &[
    refused_switch("service", "wait for a master", NO_HOSTS),
    refused_switch("foreground", "a service stays in the foreground", NO_HOSTS),
    refused("port", "N", "port of services", NO_HOSTS),
    refused("hosts", "LIST", "hosts with services", NO_HOSTS),
    refused("hostsfile", "FILE", "file of hosts", NO_HOSTS),
    refused("numhosts", "N", "hosts to use of the list", NO_HOSTS),
    refused_switch("nosvcshare", "each service has files of its own", NO_HOSTS),
    refused_switch("quit", "end services", NO_HOSTS),
    refused_switch("interrupt", "end the phase of services", NO_HOSTS),
    refused("svcpwfile", "FILE", "shared secret of services", NO_HOSTS),
    refused("rotatehosts", "N", "shift hosts between phases", NO_HOSTS),
    refused("svcupint", "MS", "interval of looks at services", NO_HOSTS),
    refused("svcwait", "SECONDS", "wait for services", NO_HOSTS),
    refused_switch("althttpsvc", "another library for services", NO_HOSTS),
    refused_switch("svcelapsed", "time of each service", NO_HOSTS),
    refused_switch("svcping", "round trip to each service", NO_HOSTS),
];

#[rustfmt::skip]
pub(super) const NETWORK: &[Row<Value>] = &[
    refused_switch("netbench", "measure a network", NO_NETWORK),
    refused("servers", "LIST", "hosts that receive", NO_NETWORK),
    refused("serversfile", "FILE", "file of them", NO_NETWORK),
    refused("clients", "LIST", "hosts that send", NO_NETWORK),
    refused("clientsfile", "FILE", "file of them", NO_NETWORK),
    refused("respsize", "SIZE", "bytes of an answer", NO_NETWORK),
    refused("sendbuf", "SIZE", "buffer of a sender", NO_NETWORK),
    refused("recvbuf", "SIZE", "buffer of a receiver", NO_NETWORK),
    refused("netdevs", "LIST", "interfaces to use", NO_NETWORK),
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
