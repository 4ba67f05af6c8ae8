//! `mdtest -z 2 -b 3 -I 10 -N 1 -w 3901 -e 3901 -d /scratch/md` on 4 ranks: a tree 2 deep and 3
//! wide; in each of its directories each rank makes 10 directories and 10 files, looks at those
//! of its neighbour, and removes its own.

use crate::Tree;
use crate::entries::{Over, Step};
use crate::rank::data_rank;
use crate::units::SizeSpec;
use crate::*;

const RANKS: u32 = 4;

/// Phases in mdtest's order: name, ranks that work, what on, the steps, and whose things.
const PHASES: [(&str, u32, Over, &[Step], i64); 9] = [
    ("tree creation", 1, Over::Directories, &[Step::Mkdir], 0),
    ("directory creation", RANKS, Over::Items, &[Step::Mkdir], 0),
    ("directory stat", RANKS, Over::Items, &[Step::Stat], 1),
    ("directory removal", RANKS, Over::Items, &[Step::Rmdir], 0),
    ("file creation", RANKS, Over::Items, &[Step::Create, Step::Write, Step::Close], 0),
    ("file stat", RANKS, Over::Items, &[Step::Stat], 1),
    ("file read", RANKS, Over::Items, &[Step::Open, Step::Read, Step::Close], 1),
    ("file removal", RANKS, Over::Items, &[Step::Unlink], 0),
    ("tree removal", 1, Over::Directories, &[Step::Rmdir], 0),
];

fn toml() -> String {
    let mut text = "[[target]]\nname = \"tree\"\npath = \"/scratch/md\"\nkind = \"tree\"\n\
                    [target.tree]\ndepth = 2\nwidth = 3\nitems = 10\nitems_per_rank = true\n\
                    file_size = 3901\n"
        .to_owned();
    for (name, workers, over, steps, shift) in PHASES {
        let over = if over == Over::Items { "items" } else { "directories" };
        let steps: Vec<_> = steps.iter().map(|s| format!("{s:?}").to_lowercase()).collect();
        text += &format!(
            "[[phase]]\nname = \"{name}\"\n[[phase.job]]\nworkers = {workers}\n\
             targets = [\"tree\"]\nrank_shift = {shift}\n\
             work.entries = {{ over = \"{over}\", steps = {steps:?} }}\n"
        );
    }
    text
}

fn tree() -> Tree {
    Tree {
        depth: 2,
        width: 3,
        items: 10,
        items_per_rank: true,
        file_size: SizeSpec::Fixed(Bytes(3901)),
        ..Tree::default()
    }
}

#[test]
fn a_tree_is_made_seen_and_removed() {
    let target = Target {
        name: "tree".into(),
        path: "/scratch/md".into(),
        kind: TargetKind::Tree,
        tree: Some(tree()),
        ..Target::default()
    };
    let phases = PHASES.map(|(name, workers, over, steps, shift)| {
        let mut phase = super::entries_phase(name, workers, over, steps);
        phase.jobs[0].rank_shift = shift;
        phase
    });
    let plan = Plan { targets: vec![target], phases: phases.to_vec(), ..Plan::default() };
    super::walk(&plan, &toml(), &[]);
}

#[test]
fn numbers_are_mdtests() {
    assert_eq!(tree().directories(), 13, "1 + 3 + 9");
    let leaves = Tree { leaves_only: true, ..tree() };
    assert_eq!(leaves.item_directories(), 9);
    // With -N 1 rank 3 looks at what rank 0 made.
    let seen: Vec<_> = (0..4).map(|rank| data_rank(rank, 4, 1)).collect();
    assert_eq!(seen, [1, 2, 3, 0]);
}
