//! IOR and mdtest as MPI's launchers start them.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{Scratch, shared_host, skip};

/// Variables of four processes, as each launcher sets them.
const LAUNCHERS: &[(&str, &[(&str, &str)])] = &[
    (
        "mpirun",
        &[
            ("OMPI_COMM_WORLD_RANK", "{rank}"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ],
    ),
    ("mpiexec", &[("PMI_RANK", "{rank}"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "4")]),
    (
        "srun",
        &[
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "{rank}"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_NNODES", "1"),
        ],
    ),
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The processes of a job, one of each rank, all at once.
fn launched(variables: &[(&str, &str)], words: &[&str]) -> Vec<Output> {
    let all: Vec<_> = (0..4)
        .map(|rank| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
            for (name, value) in variables {
                command.env(name, value.replace("{rank}", &rank.to_string()));
            }
            command.args(words).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("candor")
        })
        .collect();
    all.into_iter().map(|process| process.wait_with_output().expect("its output")).collect()
}

#[test]
fn the_first_process_has_all_ranks_and_the_others_end() {
    for (name, variables) in LAUNCHERS {
        let scratch = Scratch::new();
        let file = scratch.path("f");
        let words = ["ior", "-w", "-k", "-F", "-b", "64k", "-t", "16k", "-o", &file];
        let all = launched(variables, &words);
        for (rank, output) in all.iter().enumerate() {
            assert!(output.status.success(), "{name} {rank}: {}", text(&output.stderr));
            assert_eq!(output.stdout.is_empty(), rank > 0, "{name} {rank}");
        }
        let told = text(&all[0].stdout);
        assert!(told.contains("tasks               : 4"), "{name}: {told}");
        assert!(
            !told.contains("\ncandor: "),
            "{name}: results of a launcher have no verdict: {told}"
        );
        let mut files = scratch.entries();
        files.sort();
        let expected: Vec<String> = (0..4).map(|rank| format!("f.{rank:08}")).collect();
        assert_eq!(files, expected, "{name}");
    }
}

#[test]
fn one_rank_is_told_and_ranks_of_several_hosts_are_refused() {
    let scratch = Scratch::new();
    let directory = scratch.path("d");
    let one = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
    let words = ["mdtest", "-F", "-C", "-n", "3", "-d", &directory];
    let all = launched(&one, &words);
    assert!(text(&all[0].stderr).contains("mpirun has started 1 rank; --ranks N"), "{all:?}");
    // Two nodes of Slurm without PMI, and no directory in which they could meet.
    let hosts = [
        ("SLURM_STEP_ID", "0"),
        ("SLURM_PROCID", "{rank}"),
        ("SLURM_LOCALID", "0"),
        ("SLURM_STEP_NUM_TASKS", "4"),
        ("SLURM_NNODES", "2"),
        ("SLURM_JOB_ID", "7"),
        ("CANDOR_RENDEZVOUS", "/nonexistent"),
    ];
    let all = launched(&hosts, &words);
    assert!(all.iter().all(|output| output.status.code() == Some(1)), "{all:?}");
    assert!(
        text(&all[0].stderr).contains("rank 0 of srun on several hosts: cannot write"),
        "{all:?}"
    );
}

#[test]
fn words_that_the_hosts_of_a_launcher_contradict_are_refused() {
    let scratch = Scratch::new();
    let file = scratch.path("f");
    let (_, variables) = LAUNCHERS[0];
    let ior = ["-w", "-k", "-b", "64k", "-t", "16k", "-o", &file];
    let here = ["--target", &file, "--size", "64k", "--seconds", "1", "--no-live"];
    for (words, why) in [
        (&["--hosts", "a,b"][..], "host a is named as well"),
        (&["--ssh"], "--ssh would start others"),
        (&["--keys", "k"], "get keys of this run alone"),
    ] {
        for (command, rest, code) in [("ior", &ior[..], 1), ("run", &here[..], 2)] {
            let all = launched(variables, &[&[command, "--launched"][..], words, rest].concat());
            for output in all {
                let told = text(&output.stderr);
                assert_eq!(
                    (output.status.code(), told.contains(why)),
                    (Some(code), true),
                    "{told}"
                );
            }
        }
    }
    assert_eq!(scratch.entries(), Vec::<String>::new());
}

/// Ranks 0 and 1 stand for one node, 2 and 3 for another one: they meet by files.
#[test]
fn ranks_of_several_hosts_meet_and_do_the_work_of_one() {
    let scratch = Scratch::new();
    let (file, meeting) = (scratch.path("f"), Scratch::new());
    let directory = meeting.dir();
    let words = ["ior", "-w", "-k", "-F", "-b", "64k", "-t", "16k", "-o", &file];
    let of_rank = |rank: u32| {
        let (node, local) = (rank / 2, (rank % 2).to_string());
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(words).env("CANDOR_HISTORY", "off");
        command.env("SLURM_STEP_ID", "0").env("SLURM_JOB_ID", "7").env("SLURM_NNODES", "2");
        command.env("SLURM_PROCID", rank.to_string()).env("SLURM_LOCALID", &local);
        command.env("SLURM_STEP_NUM_TASKS", "4").env("SLURM_NODEID", node.to_string());
        command.env("CANDOR_RENDEZVOUS", &directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("candor is started")
    };
    let all: Vec<_> = (0..4).map(of_rank).collect();
    let all: Vec<_> = all.into_iter().map(|one| one.wait_with_output().expect("it ends")).collect();
    for (rank, output) in all.iter().enumerate() {
        assert!(output.status.success(), "{rank}: {}", text(&output.stderr));
        assert_eq!(output.stdout.is_empty(), rank > 0, "{rank}");
    }
    let told = text(&all[0].stdout);
    assert!(told.contains("tasks               : 4"), "{told}");
    assert!(told.contains("nodes               : 2"), "{told}");
    let mut files = scratch.entries();
    files.sort();
    let expected: Vec<String> = (0..4).map(|rank| format!("f.{rank:08}")).collect();
    assert_eq!(files, expected);
    assert_eq!(meeting.entries(), Vec::<String>::new(), "the meeting leaves nothing");
}

#[test]
fn launch_lines_run_unchanged_under_real_launchers() {
    let _host = shared_host();
    for launcher in ["mpirun.openmpi", "mpiexec.hydra"] {
        let path = Path::new("/usr/bin").join(launcher);
        if !path.exists() {
            return skip(&format!("it needs {}", path.display()));
        }
        let scratch = Scratch::new();
        let link = scratch.outside("ior");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        let file = scratch.path("f");
        let mut command = Command::new(&path);
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        command.args(["-n", "4", &link, "-w", "-r", "-t", "16k", "-b", "64k", "-o", &file]);
        let output = command.stdin(Stdio::null()).output().expect("the launcher");
        let told = text(&output.stdout);
        assert!(output.status.success(), "{launcher}: {told}{}", text(&output.stderr));
        assert!(told.contains("tasks               : 4"), "{launcher}: {told}");
        assert_eq!(told.matches("TestID").count(), 1, "{launcher}: {told}");
    }
}
