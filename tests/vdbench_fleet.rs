//! vdbench's `hd=` with several systems: each host has the work that is its own.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::vdbench::Vdbench;
use crate::support::{Running, alone};

const TOKEN: (&str, &str) = ("CANDOR_TOKEN", "0123456789abcdef0123");

/// An agent on a free port, which ends with the test.
fn agent(allowed: &str) -> (Running, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(["agent", "--listen", &address, "--allow", allowed]).env(TOKEN.0, TOKEN.1);
    let mut running = Running::start(&mut command, Stdio::null());
    running.wait_for("listens on");
    (running, address)
}

#[test]
fn hosts_share_a_lun_have_luns_of_their_own_and_one_has_the_sequential_stream() {
    let _alone = alone();
    let vdbench = Vdbench::new();
    let directory = vdbench.scratch.dir();
    let agents = [agent(&directory), agent(&directory)];
    for name in ["a", "b"] {
        fs::create_dir(vdbench.scratch.path(name)).expect("a directory");
    }
    let parameters = format!(
        "hd=default,shell=ssh,user=root\nhd=one,system={}\nhd=two,system={}\n\
         sd=sd1,lun={directory}/shared,size=2m,threads=4\n\
         sd=sd2,lun={directory}/a/own,host=one,lun={directory}/b/own,host=two,size=1m\n\
         wd=w,sd=sd*,xfersize=4k,rdpct=50\nwd=s,sd=sd1,xfersize=64k,seekpct=0,rdpct=100\n\
         rd=r,wd=w,iorate=200,elapsed=2,interval=1\nrd=q,wd=s,iorate=max,elapsed=2,interval=1\n",
        agents[0].1, agents[1].1,
    );
    fs::write(vdbench.scratch.path("parm"), &parameters).expect("a parameter file");
    let json = vdbench.scratch.path("report.json");
    let mut command = vdbench.command("-f parm");
    let ran = command.env(TOKEN.0, TOKEN.1).env("CANDOR_JSON", &json).output().expect("vdbench");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&json).expect("a report")).expect("JSON");
    let phase = |name: &str| {
        let phases = report["phases"].as_array().expect("phases");
        phases.iter().find(|phase| phase["name"] == name).expect("the run").clone()
    };
    // Workers of each job on each host.
    let workers = |phase: &Value| -> Vec<Vec<u64>> {
        let of_host = |host: &Value| {
            let jobs = host["measurements"].as_array().expect("measurements");
            jobs.iter().map(|job| job["workers"].as_u64().unwrap_or(0).min(1)).collect()
        };
        phase["hosts"].as_array().expect("hosts").iter().map(of_host).collect()
    };
    let run = phase("r");
    assert_eq!(run["measurements"].as_array().map(Vec::len), Some(4), "two luns from two hosts");
    assert_eq!(workers(&run), [[1, 0, 1, 0], [0, 1, 0, 1]]);
    assert_eq!(workers(&phase("q")), [[1], [0]], "one stream");
    for name in ["shared", "a/own", "b/own"] {
        let length = if name == "shared" { 2 << 20 } else { 1 << 20 };
        let found = fs::metadata(vdbench.scratch.path(name)).map(|file| file.len());
        assert_eq!(found.ok(), Some(length), "{name}");
    }
    let files = "fsd=f,anchor=x,depth=1,width=1,files=1,size=4k\nfwd=w,fsd=f\n\
                 rd=r,fwd=w,fwdrate=9,format=yes\n";
    let text = format!("hd=one,system={}\n{files}", agents[0].1);
    fs::write(vdbench.scratch.path("parm"), text).expect("a parameter file");
    let ran = vdbench.command("-f parm").env(TOKEN.0, TOKEN.1).output().expect("vdbench");
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.code() == Some(157) && told.contains("fsd= is for this host"), "{told}");
}
