//! vdbench's `hd=` with several systems: each host has the work that is its own.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::vdbench::Vdbench;
use crate::support::{Running, shared_host};

const TOKEN: (&str, &str) =
    ("CANDOR_TOKEN", "candor-1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");

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
    let _host = shared_host();
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
}

#[test]
fn hosts_share_a_file_system_and_one_has_another() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let directory = vdbench.scratch.dir();
    let agents = [agent(&directory), agent(&directory)];
    for name in ["shared", "own"] {
        fs::create_dir(vdbench.scratch.path(name)).expect("an anchor");
    }
    let parameters = format!(
        "hd=one,system={}\nhd=two,system={}\n\
         fsd=f,anchor={directory}/shared,depth=2,width=2,files=5,size=4k,shared=yes\n\
         fsd=g,anchor={directory}/own,depth=1,width=1,files=6,size=8k\n\
         fwd=r,fsd=f,operation=read,threads=4\nfwd=c,fsd=g,host=two,operation=getattr\n\
         fwd=d,fsd=f,operation=delete,fileselect=once\n\
         rd=a,fwd=(r,c),fwdrate=400,format=yes,elapsed=2,interval=1\n\
         rd=b,fwd=d,fwdrate=max,format=no,elapsed=4,interval=1\n\
         rd=z,fwd=r,fwdrate=max,format=(clean,only),elapsed=2,interval=1\n",
        agents[0].1, agents[1].1,
    );
    fs::write(vdbench.scratch.path("parm"), &parameters).expect("a parameter file");
    let json = vdbench.scratch.path("report.json");
    let mut command = vdbench.command("-f parm");
    let ran = command.env(TOKEN.0, TOKEN.1).env("CANDOR_JSON", &json).output().expect("vdbench");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), said.as_str()), (Some(0), ""));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&json).expect("a report")).expect("JSON");
    let phase = |name: &str| {
        let phases = report["phases"].as_array().expect("phases");
        phases.iter().find(|phase| phase["name"] == name).expect(name).clone()
    };
    // Operations of each job of a phase, by the name of the job.
    let done = |phase: &str, operation: &str| -> Vec<(String, u64)> {
        let of = |job: &Value| {
            let ops = job["operations"][operation]["ops"].as_u64().unwrap_or(0);
            (job["job"].as_str().expect("a name").to_owned(), ops)
        };
        phase_jobs(&report, phase).iter().map(of).collect()
    };
    let of = |all: &[(&str, u64)]| -> Vec<(String, u64)> {
        all.iter().map(|(name, ops)| ((*name).to_owned(), *ops)).collect()
    };
    let formatted = [("format f from one", 10), ("format f from two", 10), ("format g", 6)];
    assert_eq!(done("format_for_a: create", "create"), of(&formatted));
    let directories = [("format f from one", 6), ("format g", 1)];
    assert_eq!(done("format_for_a: mkdir", "mkdir"), of(&directories));
    assert_eq!(
        done("b", "unlink"),
        of(&[("d f delete from one", 10), ("d f delete from two", 10)])
    );
    let read = done("a", "read");
    assert!(read[..2].iter().all(|(_, ops)| *ops > 20), "{read:?}");
    let hosts = phase("a")["hosts"].as_array().expect("hosts").clone();
    let stats = |host: &Value| host["measurements"][2]["operations"]["stat"]["ops"].as_u64();
    assert_eq!(stats(&hosts[0]).unwrap_or(0), 0, "the other host's own file system");
    assert!(stats(&hosts[1]).is_some_and(|ops| ops > 20), "{hosts:?}");
    assert_eq!(fs::read_dir(vdbench.scratch.path("shared")).expect("the anchor").count(), 0);
    assert_eq!(fs::read_dir(vdbench.scratch.path("own/vdb.1_1.dir")).expect("files").count(), 6);
    for page in ["one", "two", "f", "g", "r", "c"] {
        assert!(vdbench.page(page).contains("avg_"), "{page}");
    }
}

/// Jobs of a phase.
fn phase_jobs(report: &Value, name: &str) -> Vec<Value> {
    let phases = report["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|phase| phase["name"] == name).expect(name);
    phase["measurements"].as_array().expect("jobs").clone()
}
