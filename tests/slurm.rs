//! IOR's command line, and `candor run`, under a real Slurm of two nodes.

use std::path::Path;

use crate::support::launched::LaunchedIor;
use crate::support::network::Network;
use crate::support::slurm::Slurm;
use crate::support::{Ran, Report, Scratch, check_sums, root, shared_host, skip};

const NODES: usize = 2;
const RANKS_MAX: u32 = 4;

#[test]
fn srun_runs_iors_command_line_and_plans_on_one_node_and_on_two() {
    if !root() {
        return;
    }
    let _host = shared_host();
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
    if slurm.has_pmix() {
        two_nodes(&slurm, "pmix");
    } else {
        skip("--mpi=pmix needs libpmix2");
    }
    plan(&slurm);
    unlike_nodes(&slurm);
    within_an_allocation(&slurm);
}

/// Runs IOR's command line behind words of srun. Ranks that meet by files do so where they work,
/// or where the variables say.
fn launched(slurm: &Slurm<'_>, line: &str, ior: &LaunchedIor, variables: &[(&str, &str)]) -> Ran {
    let words: Vec<&str> = line.split(' ').chain(ior.words.iter().map(String::as_str)).collect();
    let variables = [variables, &[("CANDOR_JSON", &ior.json)]].concat();
    slurm.run(&words, &variables, &ior.scratch.dir())
}

/// The first rank has all as threads, and the others end without a word.
fn one_node(slurm: &Slurm<'_>) {
    let ior = LaunchedIor::new(1, RANKS_MAX.into(), "");
    for mpi in ["none", "pmi2"] {
        let words = format!("srun --nodes=1 --ntasks={RANKS_MAX} --label --mpi={mpi}");
        let ran = launched(slurm, &words, &ior, &[]);
        assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)), "{mpi}: {}", slurm.errors());
        assert!(ran.out.lines().all(|line| line.starts_with("0:")), "{mpi}: {}", ran.out);
        ior.check(&ran);
    }
}

/// Ranks of two nodes meet in the way that `--mpi` names.
fn two_nodes(slurm: &Slurm<'_>, mpi: &str) {
    let ior = LaunchedIor::new(NODES as u64, 2, "-C");
    let files = match mpi {
        "none" => ".",
        // It is Slurm that carries their words.
        _ => "/nonexistent",
    };
    let words = format!("srun --nodes={NODES} --ntasks=4 --mpi={mpi}");
    let ran = launched(slurm, &words, &ior, &[("CANDOR_RENDEZVOUS", files)]);
    assert_eq!(ran.code, Some(0), "{mpi}: {}{}{}", ran.out, ran.err, slurm.errors());
    ior.check(&ran);
}

/// A plan of candor's own on all nodes.
fn plan(slurm: &Slurm<'_>) {
    let scratch = Scratch::new();
    let (file, json) = (scratch.path("f"), scratch.outside("report.json"));
    let text = format!(
        "[[target]]\nname = \"t\"\npath = \"{file}\"\nsize = \"256k\"\n\n\
         [[phase]]\nname = \"read\"\nstop = {{ ops = 64 }}\n\
         job = [{{ workers = 2, targets = [\"t\"], work.blocks = {{ mix = \"read\" }} }}]\n"
    );
    let plan = scratch.file("plan.toml", &text);
    let words = format!(
        "srun --nodes={NODES} --ntasks-per-node=1 {} run --launched --no-live --json {json} {plan}",
        env!("CARGO_BIN_EXE_candor")
    );
    let ran = slurm.run(&words.split(' ').collect::<Vec<_>>(), &[], &scratch.dir());
    assert_eq!(ran.code, Some(0), "{}{}{}", ran.out, ran.err, slurm.errors());
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.list("/phases/0/hosts").len(), NODES);
    assert_eq!(check_sums(&report), NODES as u64 * 2 * 64);
    assert_eq!(scratch.entries(), [""; 0]);
}

/// Three ranks on one node and one on the other are refused in a sentence.
fn unlike_nodes(slurm: &Slurm<'_>) {
    let ior = LaunchedIor::new(NODES as u64, 2, "-C");
    let words = format!("srun --nodes={NODES} --ntasks=4 --distribution=plane=3 --mpi=pmi2");
    let ran = launched(slurm, &words, &ior, &[]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let sentence = "it has started 1 on one and 3 on another of the 2 hosts; give each as many";
    assert!(ran.err.contains(sentence), "{}", ran.err);
    assert_eq!(ior.scratch.entries(), [""; 0]);
}

/// Launchers of MPI in an allocation of Slurm, whose nodes they find and reach by themselves.
fn within_an_allocation(slurm: &Slurm<'_>) {
    let ior = LaunchedIor::new(NODES as u64, 2, "-C");
    for launcher in
        ["/usr/bin/mpirun.openmpi --allow-run-as-root", "/usr/bin/mpiexec.hydra -iface bridge"]
    {
        let program = launcher.split(' ').next().unwrap_or_default();
        if !Path::new(program).exists() {
            skip(&format!("it needs {program}"));
            continue;
        }
        let line = format!("salloc --nodes={NODES} --ntasks-per-node=2 {launcher}");
        let ran = launched(slurm, &line, &ior, &[("CANDOR_RENDEZVOUS", "/nonexistent")]);
        assert_eq!(ran.code, Some(0), "{launcher}: {}{}{}", ran.out, ran.err, slurm.errors());
        ior.check(&ran);
    }
}
