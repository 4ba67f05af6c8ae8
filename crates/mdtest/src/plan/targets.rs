//! Trees of the test directories in each phase.

use candor_plan::tree::{EntryName, Spread};
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Create, Target, TargetKind, Tree, path_of};

use super::BenchPhase;
use crate::options::BackEnd;
use crate::setup::{Setup, Test};

/// View of a test directory in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// The tree to create.
    Made,
    /// The tree to remove.
    There,
    /// Items that are directories.
    Dirs,
    /// Items that are files, with their written size.
    Files,
    /// Items that are files, with their read size.
    Read,
}

impl View {
    const ALL: [View; 5] = [View::Made, View::There, View::Dirs, View::Files, View::Read];

    fn of(test: Test) -> View {
        match test {
            Test::TreeCreate => View::Made,
            Test::TreeRemove => View::There,
            Test::FileRead => View::Read,
            test if test.is_of_dirs() => View::Dirs,
            _ => View::Files,
        }
    }

    /// Prefix of the names of its targets.
    fn word(self) -> &'static str {
        match self {
            View::Made => "tree",
            View::There => "tree to remove",
            View::Dirs => "directories",
            View::Files => "files",
            View::Read => "files to read",
        }
    }
}

/// Names of the targets of a phase.
pub(super) fn names(setup: &Setup, bench: &BenchPhase) -> Vec<String> {
    let word = View::of(bench.test).word();
    setup.test_dirs(bench.iteration).map(|dir| format!("{word} in {dir}")).collect()
}

/// Name of DUMMY's only target.
pub(super) const NOTHING: &str = "nothing";

/// The targets of all phases.
pub(super) fn all(setup: &Setup, phases: &[BenchPhase]) -> Vec<Target> {
    if setup.asked.data.back_end == BackEnd::Dummy {
        let (name, size) = (NOTHING.to_owned(), Some(Bytes(1 << 20)));
        return vec![Target { name, kind: TargetKind::Null, size, ..Target::default() }];
    }
    let mut targets = Vec::new();
    for iteration in 0..setup.asked.run.iterations {
        for view in View::ALL {
            if phases
                .iter()
                .any(|bench| bench.iteration == iteration && View::of(bench.test) == view)
            {
                targets.extend(setup.test_dirs(iteration).map(|dir| target(setup, view, &dir)));
            }
        }
    }
    targets
}

fn target(setup: &Setup, view: View, dir: &str) -> Target {
    // Only the creation of the tree creates its parent directory.
    let create = if view == View::Made { Create::Parents } else { Create::Nothing };
    Target {
        name: format!("{} in {dir}", view.word()),
        path: path_of(dir),
        kind: TargetKind::Tree,
        create,
        keep: !setup.asked.phases.remove,
        overwrite: true,
        tree: Some(tree(setup, view)),
        ..Target::default()
    }
}

/// `mdtest_tree[.<rank>].0/mdtest_tree[.<rank>].<directory>/…/file.mdtest.<rank>.<slot>`: item
/// numbers follow from the directory's number, even if directories above it hold no items.
fn tree(setup: &Setup, view: View) -> Tree {
    let asked = &setup.asked;
    let (unique, shared) = (asked.tree.unique, asked.making.shared);
    let name = |text: &str| -> Option<EntryName> { text.parse().ok() };
    let of_tree = |end: &str| {
        if unique {
            name(&format!("mdtest_tree.{{rank}}.{end}"))
        } else {
            name(&format!("mdtest_tree.{end}"))
        }
    };
    let noun = if view == View::Dirs { "dir" } else { "file" };
    let owner = if shared { "shared" } else { "{rank}" };
    let bytes = match view {
        View::Files => asked.data.write_bytes,
        View::Read => asked.data.read_bytes,
        View::Made | View::There | View::Dirs => 0,
    };
    Tree {
        depth: asked.tree.depth,
        width: asked.tree.branch.max(1),
        items: setup.items_per_dir,
        items_per_rank: !unique && !shared,
        leaves_only: asked.tree.leaf_only,
        per_rank: unique,
        tree_shift: if unique && !asked.making.collective { asked.run.shift } else { 0 },
        spread: if unique { Spread::Ranks } else { Spread::Copies },
        file_size: SizeSpec::Fixed(Bytes(bytes)),
        root_name: of_tree("0"),
        directory_name: of_tree("{directory}"),
        item_name: name(&format!("{noun}.mdtest.{owner}.{{slot}}")),
        ..Tree::default()
    }
}
