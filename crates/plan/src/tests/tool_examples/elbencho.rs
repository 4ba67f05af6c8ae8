//! `elbencho -d -w --stat -r -F -t 4 -n 10 -N 30 -s 128k -b 128k /mnt/eb`: each of 4 threads has
//! 10 directories of 30 files of 128 KiB; the phases come in elbencho's fixed order.

use crate::Tree;
use crate::entries::{Over, Step};
use crate::units::SizeSpec;
use crate::*;

const TOML: &str = r#"
name = "elbencho"

[[target]]
name = "tree"
path = "/mnt/eb"
kind = "tree"
keep = true
[target.tree]
depth = 1
width = 10
items = 30
leaves_only = true
per_rank = true
file_size = "128k"

[[phase]]
name = "MKDIRS"
job = [{ workers = 4, targets = ["tree"], work.entries = { over = "directories", steps = ["mkdir"] } }]

[[phase]]
name = "WRITE"
[[phase.job]]
workers = 4
targets = ["tree"]
work.entries = { steps = ["create", "write", "close"], size = "128k" }

[[phase]]
name = "STAT"
[[phase.job]]
workers = 4
targets = ["tree"]
work.entries = { steps = ["stat"] }

[[phase]]
name = "READ"
[[phase.job]]
workers = 4
targets = ["tree"]
work.entries = { steps = ["open", "read", "close"], size = "128k" }

[[phase]]
name = "RMFILES"
[[phase.job]]
workers = 4
targets = ["tree"]
work.entries = { steps = ["unlink"] }
"#;

fn phase(name: &str, over: Over, steps: &[Step], size: Option<Bytes>) -> Phase {
    let mut phase = super::entries_phase(name, 4, over, steps);
    if let Work::Entries(entries) = &mut phase.jobs[0].work {
        entries.size = size;
    }
    phase
}

#[test]
fn directories_of_small_files() {
    let tree = Tree {
        depth: 1,
        width: 10,
        items: 30,
        leaves_only: true,
        per_rank: true,
        file_size: SizeSpec::Fixed(Bytes(128 << 10)),
        ..Tree::default()
    };
    assert_eq!(tree.item_directories(), 10);
    let target = Target {
        name: "tree".into(),
        path: "/mnt/eb".into(),
        kind: TargetKind::Tree,
        keep: true,
        tree: Some(tree),
        ..Target::default()
    };
    let (items, block) = (Over::Items, Some(Bytes(128 << 10)));
    let phases = vec![
        phase("MKDIRS", Over::Directories, &[Step::Mkdir], None),
        phase("WRITE", items, &[Step::Create, Step::Write, Step::Close], block),
        phase("STAT", items, &[Step::Stat], None),
        phase("READ", items, &[Step::Open, Step::Read, Step::Close], block),
        phase("RMFILES", items, &[Step::Unlink], None),
    ];
    let plan = Plan { name: "elbencho".into(), targets: vec![target], phases, ..Plan::default() };
    super::walk(&plan, TOML, &[]);
}
