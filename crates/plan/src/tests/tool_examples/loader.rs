//! A training job's data loader: 8 workers read 50 000 images of about 110 KiB, shuffled anew in
//! each of 3 epochs, in batches of 256 with 2 ready ahead, for an accelerator that needs 300 ms
//! per batch.

use crate::Tree;
use crate::entries::{Entries, Loader, Select, Step};
use crate::rank::Seat;
use crate::units::SizeSpec;
use crate::*;

const TOML: &str = r#"
seed = 42

[[target]]
name = "tree"
path = "/data/train"
kind = "tree"
[target.tree]
depth = 1
width = 100
items = 500
leaves_only = true
file_size = "80k-160k"

[[phase]]
name = "train"
stop = { passes = 3 }

[[phase.job]]
name = "loader"
workers = 8
targets = ["tree"]
[phase.job.work.entries]
steps = ["open", "read", "close"]
select = "shuffled"
loader = { batch = 256, prefetch = 2, compute = "300ms" }
"#;

fn plan() -> Plan {
    let tree = Tree {
        depth: 1,
        width: 100,
        items: 500,
        leaves_only: true,
        file_size: SizeSpec::Range(Bytes(80 << 10), Bytes(160 << 10)),
        ..Tree::default()
    };
    let target = Target {
        name: "tree".into(),
        path: "/data/train".into(),
        kind: TargetKind::Tree,
        tree: Some(tree),
        ..Target::default()
    };
    let loader = Loader { batch: 256, prefetch: 2, compute: Nanos(300_000_000) };
    let entries = Entries {
        steps: vec![Step::Open, Step::Read, Step::Close],
        select: Select::Shuffled,
        loader: Some(loader),
        ..Entries::default()
    };
    let job = Job {
        name: "loader".into(),
        workers: 8,
        targets: vec!["tree".into()],
        work: entries.into(),
        ..Job::default()
    };
    let stop = Stop { passes: Some(3), ..Stop::default() };
    let phase = Phase { name: "train".into(), stop, jobs: vec![job], ..Phase::default() };
    Plan { seed: 42, targets: vec![target], phases: vec![phase], ..Plan::default() }
}

#[test]
fn epochs_of_shuffled_small_files() {
    let plan = plan();
    super::walk(&plan, TOML, &["not-yet-loader"]);
    let items = plan.targets[0].tree.as_ref().map(|tree| tree.item_directories() * tree.items);
    assert_eq!(items, Some(50_000));
    // All share the items, so each worker takes an eighth of every epoch's order.
    let shares = (0..8).map(|rank| Seat::of(Sharing::Shared, rank, 8, 1).slice(50_000, 1).1);
    assert_eq!(shares.collect::<Vec<_>>(), [6250; 8]);
}
