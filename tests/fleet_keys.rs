//! Services and clients without set-up: the key of a user, and those who have none or another.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::support::fleet::Agent;
use crate::support::network::Network;
use crate::support::{NOBODY, Ran, Running, Scratch, root, skip};

/// Sentence for a client that has another key.
const OTHER_KEY: &str = "it does not have your key: another user started it";
/// Variables that would name keys or paths.
const VARIABLES: [&str; 5] =
    ["CANDOR_TOKEN", "CANDOR_KEYS", "CANDOR_ALLOW", "CANDOR_FORCE", "CANDOR_VERDICT"];

/// A port that no process listens on.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// A user with a home directory.
struct User {
    home: String,
    id: Option<u32>,
}

impl User {
    /// The current user, with another home.
    fn own(scratch: &Scratch, name: &str) -> User {
        let home = scratch.outside(name);
        fs::create_dir(&home).expect("a home");
        User { home, id: None }
    }

    /// Another user.
    fn nobody(scratch: &Scratch, name: &str) -> User {
        let User { home, .. } = User::own(scratch, name);
        chown(&home, Some(NOBODY), Some(NOBODY)).expect("root may");
        User { home, id: Some(NOBODY) }
    }

    /// Gives a command this user and the home, and no variable that names keys.
    fn of(&self, command: &mut Command) {
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.env("HOME", &self.home).env_remove("XDG_CONFIG_HOME");
        if let Some(id) = self.id {
            command.uid(id).gid(id);
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(line.split(' '));
        self.of(&mut command);
        command
    }

    /// Starts a line.
    fn start(&self, line: &str) -> Running {
        Running::start(&mut self.command(line), Stdio::null())
    }

    /// Runs a line to its end.
    fn run(&self, line: &str) -> Ran {
        self.start(line).wait()
    }

    /// Starts a line that serves.
    fn serve(&self, line: &str) -> Running {
        let mut running = self.start(line);
        running.wait_for("listens on");
        running
    }

    fn key(&self) -> String {
        format!("{}/.config/candor/fleet.key", self.home)
    }
}

fn is_well(line: &str, ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
}

/// A way to serve and a way to lead it, as the tool's own documentation has them.
struct Documented {
    serves: String,
    leads: String,
    /// Ends it, where the tool has a word for it.
    quits: Option<String>,
    /// The file that the client's line writes.
    writes: String,
}

fn documented(scratch: &Scratch) -> [Documented; 3] {
    let ports = [port(), port(), port()];
    let file = |name: &str| scratch.path(name);
    let [one, two, three] = ports;
    let jobs = format!("[w]\nrw=write\nsize=1m\nbs=64k\nfilename={}\n", file("by-fio"));
    let jobs = scratch.file("job.fio", &jobs);
    let elbencho = format!("elbencho --hosts localhost:{one}");
    [
        Documented {
            serves: format!("elbencho --service --port {one} --foreground"),
            leads: format!("{elbencho} -w -t 2 -s 8M -b 1M --nolive {}", file("by-elbencho")),
            quits: Some(format!("{elbencho} --quit")),
            writes: file("by-elbencho"),
        },
        Documented {
            serves: format!("fio --server=127.0.0.1,{two}"),
            leads: format!("fio --client=127.0.0.1,{two} {jobs}"),
            quits: None,
            writes: file("by-fio"),
        },
        Documented {
            serves: format!("agent --listen 127.0.0.1:{three}"),
            leads: format!(
                "run --no-live --hosts 127.0.0.1:{three} --size 1m --rw write --keep --target {}",
                file("by-candor")
            ),
            quits: None,
            writes: file("by-candor"),
        },
    ]
}

#[test]
fn services_and_clients_of_one_user_find_each_other_by_the_tools_own_words() {
    let scratch = Scratch::new();
    let user = User::own(&scratch, "home");
    for Documented { serves, leads, quits, writes } in documented(&scratch) {
        let service = user.serve(&serves);
        let ran = user.run(&leads);
        is_well(&leads, &ran);
        assert!(fs::metadata(&writes).is_ok_and(|file| file.len() >= 1 << 20), "{leads}");
        if let Some(quits) = quits {
            let total = ran.out.lines().find(|line| line.contains("Total MiB"));
            assert!(total.is_some_and(|line| line.trim_end().ends_with(" 8")), "{}", ran.out);
            let says = |line: &str, end: &str| {
                let ran = user.run(line);
                is_well(line, &ran);
                let words = ran.out.trim_end().rsplit_once(':').map(|(_, words)| words);
                assert_eq!(words, Some(end), "{}", ran.out);
            };
            says(&quits.replace("--quit", "--interrupt"), " OK");
            says(&quits, " OK");
            assert_eq!(service.wait().code, Some(0));
            says(&quits, " Service unreachable");
        }
    }
    let mode = fs::metadata(user.key()).expect("a key").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn a_password_of_any_length_is_a_key() {
    let scratch = Scratch::new();
    let user = User::own(&scratch, "home");
    let (port, file) = (port(), scratch.path("f"));
    let [short, other, empty] = [("short", "x\n"), ("other", "y\n"), ("empty", "\n")]
        .map(|(name, text)| scratch.file(name, text));
    let words = |password: &str| format!("--svcpwfile {password}");
    let service =
        user.serve(&format!("elbencho --service --port {port} --foreground {}", words(&short)));
    let lead = |more: &str| {
        user.run(&format!("elbencho --hosts localhost:{port} -w -s 1M -b 1M {more} {file}"))
    };
    for wrong in [String::new(), words(&other)] {
        let ran = lead(format!("--nolive {wrong}").trim_end());
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        assert!(ran.err.contains("key"), "{}", ran.err);
    }
    assert!(!fs::exists(&file).expect("seen"));
    let ran = lead(&format!("--nolive {}", words(&empty)));
    assert!(ran.err.contains("the first line of the password file is empty"), "{}", ran.err);
    is_well("with the password", &lead(&format!("--nolive {}", words(&short))));
    drop(service);
    let weak = user.run(&format!(
        "run --no-live --hosts 127.0.0.1:{port} --token-file {short} --size 4k --target {file}"
    ));
    assert!(weak.err.contains("not one that `candor fleet token` prints"), "{}", weak.err);
}

#[test]
fn another_user_on_the_same_host_is_refused_with_the_way_to_a_key() {
    if !root() {
        return;
    }
    let scratch = Scratch::new();
    let (own, nobody) = (User::own(&scratch, "home"), User::nobody(&scratch, "other"));
    let mut trial = nobody.command("--version");
    if trial.stdout(Stdio::null()).spawn().map(|mut child| child.wait()).is_err() {
        return skip("another user cannot run candor");
    }
    for Documented { serves, leads, quits, writes } in documented(&scratch) {
        let service = own.serve(&serves);
        for line in [Some(leads), quits].into_iter().flatten() {
            let ran = nobody.run(&line);
            assert_ne!(ran.code, Some(0), "{line}: {}", ran.out);
            assert!(ran.err.contains(OTHER_KEY), "{line}: {}", ran.err);
            assert!(ran.err.contains("`candor fleet keys --to "), "{line}: {}", ran.err);
        }
        assert!(!fs::exists(&writes).expect("seen"), "{writes}");
        drop(service);
    }
    // The other way round, root has no power over the service of a user.
    let Documented { serves, leads, .. } = documented(&scratch).into_iter().next().expect("one");
    let service = nobody.serve(&serves);
    let ran = own.run(&leads);
    assert!(ran.code != Some(0) && ran.err.contains(OTHER_KEY), "{}", ran.err);
    drop(service);
    // A key that is another user's is no key of this one.
    let mut stolen = nobody.command("fleet keys --to nowhere");
    let ran = Running::start(stolen.env("HOME", &own.home), Stdio::null()).wait();
    assert!(ran.err.contains("cannot be read: Permission denied"), "{}", ran.err);
}

/// A program in place of ssh: it starts a command on a node with that node's home.
fn remote_shell(scratch: &Scratch, network: &Network, homes: &[&User; 2]) -> String {
    let [one, two] = homes.map(|user| &user.home);
    let script = format!(
        "#!/bin/sh\ncase $1 in {0}) n={1} h={2};; *) n={3} h={4};; esac\nshift\n\
         exec ip netns exec $n env -i PATH=\"$PATH\" HOME=$h sh -c \"$*\"\n",
        Network::address(0),
        network.name(0),
        one,
        network.name(1),
        two,
    );
    let path = scratch.file("rsh", &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a program");
    path
}

#[test]
fn hosts_that_share_a_home_need_nothing_and_others_one_command() {
    if !root() {
        return;
    }
    let network = match Network::new(2) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    let scratch = Scratch::new();
    let (shared, apart) = (User::own(&scratch, "home"), User::own(&scratch, "apart"));
    let on = |node: usize, user: &User, line: &str| {
        let mut command = network.on_node(node, env!("CARGO_BIN_EXE_candor"));
        command.args(line.split(' '));
        user.of(&mut command);
        command
    };
    let hosts = network.hosts();
    let leads = |name: &str| {
        let line = format!("elbencho --hosts {hosts} -w -s 1M -b 64k {}", scratch.path(name));
        let mut command = network.on_hub(env!("CARGO_BIN_EXE_candor"));
        command.args(line.split(' '));
        shared.of(&mut command);
        Running::start(&mut command, Stdio::null()).wait()
    };
    let serves = "elbencho --service --foreground";
    let _one = Agent::of(&mut on(0, &shared, serves));
    let two = Agent::of(&mut on(1, &shared, serves));
    is_well("a shared home", &leads("shared"));
    drop(two);
    let _two = Agent::of(&mut on(1, &apart, serves));
    let ran = leads("apart");
    assert_ne!(ran.code, Some(0), "{}", ran.out);
    let remedy = format!("`candor fleet keys --to {}`", Network::address(1));
    assert!(ran.err.contains(OTHER_KEY) && ran.err.contains(&remedy), "{}", ran.err);
    assert!(!fs::exists(scratch.path("apart")).expect("seen"));
    let shell = remote_shell(&scratch, &network, &[&shared, &apart]);
    let line = format!("fleet keys --to {} --ssh {shell}", Network::address(1));
    let copied = shared.run(&line);
    is_well(&line, &copied);
    assert!(
        copied.out.contains("has it; the earlier key there is fleet.key.old"),
        "{}",
        copied.out
    );
    // The service that runs takes the key from then on.
    is_well("after the one command", &leads("apart"));
    vdbench(&network, &scratch, &shared);
}

/// `hd=` finds the agents of this user.
fn vdbench(network: &Network, scratch: &Scratch, user: &User) {
    let _agents = [0, 1].map(|node| {
        let mut command = network.on_node(node, env!("CARGO_BIN_EXE_candor"));
        user.of(command.arg("agent"));
        Agent::of(&mut command)
    });
    let parameters = format!(
        "hd=one,system={}\nhd=two,system={}\nsd=sd1,lun={},size=1m\n\
         wd=w,sd=sd1,xfersize=4k,rdpct=50\nrd=r,wd=w,iorate=100,elapsed=2,interval=1\n",
        Network::address(0),
        Network::address(1),
        scratch.path("lun"),
    );
    let file = scratch.file("parameters", &parameters);
    let mut command = network.on_hub(env!("CARGO_BIN_EXE_candor"));
    command.args(["vdbench", "-f", &file, "-o", &scratch.outside("output")]);
    user.of(&mut command);
    is_well("vdbench", &Running::start(&mut command, Stdio::null()).wait());
}

#[test]
fn a_stranger_on_another_host_gets_nothing() {
    if !root() {
        return;
    }
    let network = match Network::new(2) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    let scratch = Scratch::new();
    let (own, stranger) = (User::own(&scratch, "home"), User::nobody(&scratch, "other"));
    let mut service = network.on_node(0, env!("CARGO_BIN_EXE_candor"));
    own.of(service.args(["elbencho", "--service", "--foreground"]));
    let mut service = Agent::of(&mut service);
    let address = Network::address(0);
    let file = scratch.path("f");
    for line in [
        format!("elbencho --hosts {address} -w -s 1M {file}"),
        format!("elbencho --hosts {address} --quit"),
        format!("elbencho --hosts {address} --interrupt"),
        format!("fio --client={address},1611 {}", scratch.file("j", "[a]\nsize=4k\nrw=write\n")),
        format!("run --no-live --hosts {address}:1611 --size 4k --rw write --target {file}"),
    ] {
        // The namespace takes root; the user changes inside.
        let mut command = network.on_node(1, "setpriv");
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_candor")).args(line.split(' '));
        User { home: stranger.home.clone(), id: None }.of(&mut command);
        let ran = Running::start(&mut command, Stdio::null()).wait();
        assert_ne!(ran.code, Some(0), "{line}: {}", ran.out);
        assert!(ran.err.contains(OTHER_KEY), "{line}: {}", ran.err);
    }
    assert!(!fs::exists(&file).expect("seen"));
    assert!(!service.running.has_ended());
    let log = service.log();
    assert!(log.iter().any(|line| line.contains("refused 10.77.0.2")), "{log:?}");
    assert!(!log.iter().any(|line| line.contains("run begun")), "{log:?}");
}
