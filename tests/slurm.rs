//! IOR's command line, and `candor run`, under a real Slurm of two nodes.

use crate::support::fleet::check_sums;
use crate::support::launched::LaunchedIor;
use crate::support::network::Network;
use crate::support::slurm::Slurm;
use crate::support::{Report, alone, root, skip};

const NODES: usize = 2;
const RANKS_MAX: u32 = 4;

#[test]
fn srun_runs_iors_command_line_and_plans_on_one_node_and_on_two() {
    if !root() {
        return;
    }
    let _alone = alone();
    let network = match Network::new(NODES) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    let slurm = match Slurm::start(&network, RANKS_MAX) {
        Ok(slurm) => slurm,
        Err(why) => return skip(&why),
    };
    one_node(&slurm);
    two_nodes(&slurm, "none");
    two_nodes(&slurm, "pmi2");
    match slurm.has_pmix() {
        true => two_nodes(&slurm, "pmix"),
        false => skip("--mpi=pmix needs libpmix2"),
    }
    plan(&slurm);
    unlike_nodes(&slurm);
}

fn ior(slurm: &Slurm<'_>, srun: &str, ior: &LaunchedIor) -> crate::support::Ran {
    let words: Vec<&str> = srun.split(' ').chain(ior.words.iter().map(String::as_str)).collect();
    slurm.srun(&words, &[("CANDOR_JSON", &ior.json)], &ior.scratch.dir())
}

/// The first rank has all as threads, and the others end without a word.
fn one_node(slurm: &Slurm<'_>) {
    let of = LaunchedIor::new(1, 4);
    for mpi in ["none", "pmi2"] {
        let ran = ior(slurm, &format!("--nodes=1 --ntasks=4 --label --mpi={mpi}"), &of);
        assert_eq!(ran.code, Some(0), "{}{}{}", ran.out, ran.err, slurm.said());
        assert!(ran.out.lines().all(|line| line.starts_with("0:")), "{}", ran.out);
        assert_eq!(ran.err, "");
        of.check(&ran);
    }
}

/// Ranks of two nodes meet in the way that `--mpi` names.
fn two_nodes(slurm: &Slurm<'_>, mpi: &str) {
    let of = LaunchedIor::new(NODES as u64, 2);
    let ran = ior(slurm, &format!("--nodes=2 --ntasks=4 --mpi={mpi}"), &of);
    assert_eq!(ran.code, Some(0), "{mpi}: {}{}{}", ran.out, ran.err, slurm.said());
    of.check(&ran);
}

/// A plan of candor's own on all nodes.
fn plan(slurm: &Slurm<'_>) {
    let scratch = crate::support::Scratch::new();
    let json = scratch.outside("report.json");
    let plan = scratch.file(
        "plan.toml",
        &format!(
            "[[target]]\nname = \"t\"\npath = \"{}\"\nsize = \"256k\"\n\n\
             [[phase]]\nname = \"read\"\n[[phase.job]]\nworkers = 2\ntargets = [\"t\"]\n",
            scratch.path("f")
        ),
    );
    let candor = env!("CARGO_BIN_EXE_candor");
    let words = [
        "--nodes=2",
        "--ntasks-per-node=1",
        candor,
        "run",
        "--launched",
        "--no-live",
        "--json",
        &json,
        &plan,
    ];
    let ran = slurm.srun(&words, &[], &scratch.dir());
    assert_eq!(ran.code, Some(0), "{}{}{}", ran.out, ran.err, slurm.said());
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.list("/phases/0/hosts").len(), NODES);
    assert!(check_sums(&report) > 0);
    assert_eq!(scratch.entries(), [""; 0]);
}

/// Three ranks on one node and one on the other are refused by all of them, in one sentence.
fn unlike_nodes(slurm: &Slurm<'_>) {
    let of = LaunchedIor::new(NODES as u64, 2);
    let words = "--nodes=2 --ntasks=4 --distribution=plane=3 --mpi=pmi2";
    let ran = ior(slurm, words, &of);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("has not started the same number on each of the 2 hosts"),
        "{}",
        ran.err
    );
    assert_eq!(of.scratch.entries(), [""; 0]);
}
