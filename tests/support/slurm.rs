//! A Slurm on the nodes of a [`Network`]: its controller beside the bridge, a daemon on each node,
//! keys and directories that nobody else has.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::network::Network;
use super::{Ran, Running};

/// Programs of it.
const PROGRAMS: [&str; 5] = [
    "/usr/sbin/munged",
    "/usr/sbin/slurmctld",
    "/usr/sbin/slurmd",
    "/usr/bin/srun",
    "/usr/bin/sinfo",
];

/// Time until all nodes are there.
const READY_MAX: Duration = Duration::from_secs(20);

/// Puts a folder in another one's place, in this mount namespace alone: `sh -c … FOLDER PLACE
/// PROGRAM WORDS…`.
const IN_PLACE: &str = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";

/// The daemons. Killed when dropped; their steps end with the namespaces, which they are in.
pub struct Slurm<'a> {
    network: &'a Network,
    /// Folder of the library of PMIx, where there is one.
    pmix: Option<PathBuf>,
    // Daemons end before their directory does.
    daemons: Vec<Running>,
    directory: TempDir,
}

impl Slurm<'_> {
    /// One with each node good for so many ranks; a sentence where this host lacks a program.
    pub fn start(network: &Network, ranks: u32) -> Result<Slurm<'_>, String> {
        if let Some(program) = PROGRAMS.iter().find(|program| !Path::new(program).exists()) {
            return Err(format!("it needs {program}"));
        }
        // Paths of sockets are short.
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut slurm = Slurm { network, pmix: None, daemons: Vec::new(), directory };
        slurm.pmix = pmix().inspect(|folder| slurm.copy_pmix(folder));
        slurm.write("slurm.conf", slurm.configuration(ranks));
        // It asks for the kind of control groups, and uses none.
        slurm.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n");
        slurm.write("munge.key", [7; 128]);
        slurm.start_daemons();
        slurm.wait_until_idle();
        Ok(slurm)
    }

    /// True where `--mpi=pmix` has a library.
    pub fn has_pmix(&self) -> bool {
        self.pmix.is_some()
    }

    /// Runs a line, whose first word is a command of Slurm.
    pub fn run(&self, words: &[&str], environment: &[(&str, &str)], directory: &str) -> Ran {
        let mut command = self.command(None, words[0]);
        command.args(&words[1..]).envs(environment.iter().copied()).current_dir(directory);
        Running::start(&mut command, Stdio::null()).wait()
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("a file of ours");
    }

    /// The plugin of Debian loads a name of the library that only the package for developers has.
    fn copy_pmix(&self, folder: &Path) {
        let copy = self.path("pmix");
        let status = Command::new("cp").arg("-a").args([folder, Path::new(&copy)]).status();
        assert!(status.expect("cp").success(), "{} is copied", folder.display());
        let name = Path::new(&copy).join("libpmix.so");
        if !name.exists() {
            symlink("libpmix.so.2", name).expect("a link");
        }
    }

    /// A program of Slurm, on a node or beside the bridge.
    fn command(&self, node: Option<usize>, program: &str) -> Command {
        let on = |program: &str| match node {
            Some(node) => self.network.on_node(node, program),
            None => self.network.on_hub(program),
        };
        let mut command = match &self.pmix {
            Some(folder) => {
                let mut command = on("sh");
                command.args(["-c", IN_PLACE, &self.path("pmix")]).arg(folder).arg(program);
                command
            }
            None => on(program),
        };
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    fn configuration(&self, ranks: u32) -> String {
        let Slurm { network, .. } = self;
        let directory = self.directory.path().display();
        let mut text = format!(
            "ClusterName=candor\n\
             SlurmctldHost={hub}({address})\n\
             SlurmUser=root\n\
             AuthType=auth/munge\n\
             CredType=cred/munge\n\
             AuthInfo=socket={directory}/munge.socket\n\
             StateSaveLocation={directory}/state\n\
             SlurmdSpoolDir={directory}/%n\n\
             TmpFS={directory}/%n-tmp\n\
             SlurmctldPidFile={directory}/slurmctld.pid\n\
             SlurmdPidFile={directory}/%n.pid\n\
             SlurmctldLogFile={directory}/slurmctld.log\n\
             SlurmdLogFile={directory}/%n.log\n\
             SlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/linear\n\
             SchedulerType=sched/builtin\n\
             SwitchType=switch/none\n\
             MpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             ReturnToService=2\n\
             PartitionName=all Nodes=ALL Default=YES State=UP\n",
            hub = network.hub_name(),
            address = Network::HUB,
        );
        for (node, address) in network.addresses().iter().enumerate() {
            let name = network.name(node);
            text += &format!("NodeName={name} NodeAddr={address} CPUs={ranks} State=UNKNOWN\n");
        }
        text
    }

    fn start_daemons(&mut self) {
        let nodes = 0..self.network.addresses().len();
        let of_nodes = nodes.clone().map(|node| format!("{}-tmp", self.network.name(node)));
        for name in of_nodes.chain(["state".to_owned()]) {
            fs::create_dir(self.path(&name)).expect("a directory");
        }
        let mut munged = self.network.on_hub("/usr/sbin/munged");
        munged.args(["--foreground", "--force"]);
        for (option, file) in [
            ("socket", "munge.socket"),
            ("key-file", "munge.key"),
            ("pid-file", "munge.pid"),
            ("log-file", "munge.log"),
            ("seed-file", "munge.seed"),
        ] {
            munged.arg(format!("--{option}={}", self.path(file)));
        }
        let controller = self.command(None, "/usr/sbin/slurmctld");
        let nodes = nodes.map(|node| self.command(Some(node), "/usr/sbin/slurmd"));
        let mut commands: Vec<Command> = [controller].into_iter().chain(nodes).collect();
        self.daemons.push(Running::start(&mut munged, Stdio::null()));
        self.wait(|slurm| Path::new(&slurm.path("munge.socket")).exists());
        for command in &mut commands {
            self.daemons.push(Running::start(command.arg("-D"), Stdio::null()));
        }
    }

    fn wait_until_idle(&mut self) {
        self.wait(|slurm| {
            let mut command = slurm.command(None, "/usr/bin/sinfo");
            let output = command.args(["--noheader", "--Node", "--format=%T"]).output();
            let states = String::from_utf8_lossy(&output.expect("sinfo").stdout).into_owned();
            let idle = states.lines().filter(|state| *state == "idle").count();
            idle == slurm.network.addresses().len()
        });
    }

    /// Waits for something that the daemons do.
    fn wait(&mut self, is_there: impl Fn(&Slurm<'_>) -> bool) {
        let began = Instant::now();
        while !is_there(self) {
            let ended = self.daemons.iter_mut().any(Running::has_ended);
            assert!(!ended && began.elapsed() < READY_MAX, "Slurm is not there: {}", self.errors());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Errors of the daemons, for the message of a failing test.
    pub fn errors(&self) -> String {
        let all: String = self.daemons.iter().map(Running::err_so_far).collect();
        all.lines()
            .filter(|line| line.contains("rror"))
            .fold(String::new(), |all, line| all + "\n" + line)
    }
}

/// The folder of the library of PMIx that Slurm's plugin loads.
fn pmix() -> Option<PathBuf> {
    let mut folders = fs::read_dir("/usr/lib").ok()?.flatten();
    folders.find_map(|entry| {
        let folder = entry.path().join("pmix2/lib");
        folder.join("libpmix.so.2").exists().then_some(folder)
    })
}
