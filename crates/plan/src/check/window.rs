//! Items that leave a window as others enter it.

use super::entries::check_steps;
use super::{Found, Known};
use crate::entries::{Division, Entries, Over, Select, Step, Window};
use crate::{Phase, PlanPath, Stonewall};

pub(super) fn check(
    known: &Known<'_>,
    phase: &Phase,
    index: usize,
    at: &PlanPath,
    out: &mut Found,
) {
    let job = &phase.jobs[index];
    let Some(entries) = job.entries() else { return };
    let Some(window) = &entries.window else { return };
    let at = at.key("work").key("entries");
    let place = at.key("window");
    check_entries(entries, window, &at, out);
    let tree = job.targets.first().and_then(|name| known.tree(name));
    let suits = tree.is_some_and(|tree| tree.items_across && tree.has_own_items());
    if job.targets.len() > 1 || !suits {
        let message = "a window is over the items of each rank, numbered across directories";
        let remedy =
            "use one target, with items_across, and per_rank or items_per_rank, in its tree";
        out.error("window-tree", place.clone(), message, remedy);
    }
    let stop = job.stop.as_ref().unwrap_or(&phase.stop);
    let timed = stop.time.is_some() || stop.steady.is_some();
    let is_cut = timed && stop.stonewall != Stonewall::WearOut;
    let several = if timed { stop.passes != Some(1) } else { stop.passes.unwrap_or(1) > 1 };
    let is_bounded = stop.bytes.is_some() || stop.ops.is_some();
    if window.moves() && (is_cut || several || is_bounded || phase.has_ramp()) {
        let message = "a window moves on once, as far for every rank";
        let remedy = "set `first` to how far, with stop.passes = 1 and no ramp; with stop.time, \
                      add stonewall = \"wear_out\"";
        out.error("window-stop", place, message, remedy);
    }
}

/// Settings of entries that exclude a window.
fn check_entries(entries: &Entries, window: &Window, at: &PlanPath, out: &mut Found) {
    let place = at.key("window");
    let others = [
        ("over", entries.over != Over::Items),
        ("select", window.moves() && entries.select != Select::Sequential),
        ("division", entries.division != Division::Own),
        ("take", entries.take.is_some()),
        ("mix", window.moves() && !entries.mix.is_empty()),
        ("rename_chain", entries.rename_chain),
        ("on_alias", entries.on_alias),
        ("depth", window.moves() && entries.depth > 1),
    ];
    for (key, _) in others.into_iter().filter(|(_, is_set)| *is_set) {
        let message = format!("{key} does not go with a window, whose items come one by one");
        out.error("window", at.key(key), message, format!("remove {key}, or window"));
    }
    if window.start > 1 << 60 || entries.first.is_some_and(|first| first > 1 << 60) {
        let message = "the window begins or ends further on than items are counted";
        out.error("window", place.key("start"), message, "use numbers below 2^60");
    }
    if !window.moves() {
        return;
    }
    check_steps(entries, &window.enter, &place.key("enter"), out);
    if !matches!(window.enter[0], Step::Create | Step::Mknod) {
        let message = "an item enters the window as it is made";
        out.error("window", place.key("enter"), message, "begin with create or mknod");
    }
    if !entries.has(Step::Unlink) {
        let message = "items enter the window, and none leaves it";
        out.error("window", at.key("steps"), message, "add unlink to steps, or remove enter");
    }
}
