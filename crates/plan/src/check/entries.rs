//! Trees, and operations on named things.

use super::content::{check_content, check_journal, verify_header};
use super::sizes::{at_most, check_spec};
use super::timing::check_pace;
use super::whole::time_limit;
use super::{
    DEPTH_MAX, DIRECTORIES_MAX, FILE_MAX, Found, OPERATION_MAX, PARTS_MAX, TREE_DEPTH_MAX,
};
use crate::Tree;
use crate::access::Access;
use crate::blocks::{Fill, Format, OpenSync};
use crate::engine::Lock;
use crate::entries::{
    Division, Entries, EntriesEngine, HostPart, Over, Select, Step, Take, VerifyItems, Visit,
};
use crate::tree::EntryName;
use crate::units::SizeSpec;
use crate::{Bytes, PlanPath};

pub(super) fn check_tree(tree: &Tree, at: &PlanPath, out: &mut Found) {
    if tree.width == 0 && tree.depth > 0 {
        let message = format!("a tree {} deep has width 0", tree.depth);
        out.error("tree-width", at.key("width"), message, "set width to 1 or more");
    }
    if tree.depth > TREE_DEPTH_MAX {
        let message = format!("depth is {}, more than {TREE_DEPTH_MAX}", tree.depth);
        let remedy = format!("set depth to at most {TREE_DEPTH_MAX}");
        out.error("tree-limit", at.key("depth"), message, remedy);
    } else if tree.directories() > DIRECTORIES_MAX {
        let message = format!(
            "depth {} and width {} make more than {DIRECTORIES_MAX} directories",
            tree.depth, tree.width
        );
        out.error("tree-limit", at.clone(), message, "make it less deep or less wide");
    } else if tree.item_directories().checked_mul(tree.items).is_none() {
        let message = format!("{} items per directory are too many to count", tree.items);
        out.error("tree-limit", at.key("items"), message, "use fewer items");
    }
    if tree.tree_shift > 0 && !tree.per_rank {
        let message = "items cannot be in another rank's tree: one tree serves all ranks";
        out.error("tree-shift", at.key("tree_shift"), message, "set per_rank, or remove it");
    }
    let bare = tree.depth > 0 && (tree.leaves_only || tree.root_is_bare);
    if tree.shared_root && !(tree.per_rank && bare) {
        let message = "a shared root holds the directories of each rank, and no items";
        let remedy =
            "set per_rank, a depth, and leaves_only or root_is_bare; or remove shared_root";
        out.error("tree-root", at.key("shared_root"), message, remedy);
    }
    names(tree, at, out);
    // A file may be empty; an empty range or weight is still a mistake.
    if tree.file_size != SizeSpec::Fixed(Bytes(0)) {
        check_spec(&tree.file_size, &at.key("file_size"), None, out);
        at_most(&tree.file_size, FILE_MAX, &at.key("file_size"), out);
    }
}

/// Names lie where the tree puts them, and none is given twice.
fn names(tree: &Tree, at: &PlanPath, out: &mut Found) {
    let given = [
        (
            "root_name",
            &tree.root_name,
            tree.has_own_root(),
            EntryName::tells_ranks as fn(&_) -> _,
            "{rank}",
        ),
        (
            "directory_name",
            &tree.directory_name,
            tree.shared_root,
            EntryName::tells_ranks,
            "{rank}",
        ),
        (
            "directory_name",
            &tree.directory_name,
            tree.width > 1,
            EntryName::tells_directories,
            "{child}",
        ),
        ("item_name", &tree.item_name, tree.items > 1, EntryName::tells_items, "{number}"),
        (
            "item_name",
            &tree.item_name,
            tree.items_per_rank && !tree.per_rank,
            EntryName::tells_ranks,
            "{rank}",
        ),
    ];
    for (key, name, must_tell, tells, field) in given {
        let Some(name) = name else { continue };
        let place = at.key(key);
        if !name.is_single() {
            let message = format!("`{name}` is not the name of one file or directory");
            out.error("tree-name", place, message, "use a name without a slash");
        } else if must_tell && !tells(name) {
            let message = format!("`{name}` names several things alike");
            out.error("tree-name", place, message, format!("use `{field}` in it"));
        }
    }
}

/// Steps that can be done to such things, and not for both files and directories.
pub(super) fn check_steps(entries: &Entries, steps: &[Step], at: &PlanPath, out: &mut Found) {
    if steps.is_empty() {
        let message = "entries have no steps: nothing is done to the items";
        out.error("no-steps", at.clone(), message, "name steps, such as [\"stat\"]");
    }
    for (index, step) in steps.iter().enumerate() {
        let of_directory = step.suits(Over::Directories) && !step.suits(Over::TargetFiles);
        if !step.suits(entries.over) {
            let things = match entries.over {
                Over::Items => "items",
                Over::Directories | Over::TargetDirectories => "directories",
                Over::TargetFiles => "files",
            };
            let message = format!("{} cannot be done to {things}", step.name());
            let remedy = "files: create, mknod, open, read, write, fsync, close, truncate, link, \
                          unlink; directories: mkdir, list, rmdir; both: stat, lstat, statx, rename, \
                          symlink, readlink, setxattr, getxattr, removexattr, syncfs";
            out.error("entries-step", at.index(index), message, remedy);
        } else if entries.is_of_directories() && !of_directory && !step.suits(Over::Directories) {
            let message =
                format!("{} is of files, and other steps are of directories", step.name());
            out.error("entries-step", at.index(index), message, "use a job for each");
        }
    }
    check_open(steps, at, out);
}

/// Lists of steps: one, or a mix; and those by what is there.
fn check_lists(entries: &Entries, at: &PlanPath, out: &mut Found) {
    match &entries.take {
        Some(take) => check_take(entries, take, &at.key("take"), out),
        None => {
            if let Some(index) = entries.steps.iter().position(|step| *step == Step::Copy) {
                let message = "copy has no tree to copy to";
                let at = at.key("steps").index(index);
                out.error("take-to", at, message, "set take.to to the target of another tree");
            }
        }
    }
    if entries.mix.is_empty() {
        let takes = entries.take.as_ref().is_some_and(|take| take.lists().next().is_some());
        if !(entries.steps.is_empty() && takes) {
            check_steps(entries, &entries.steps, &at.key("steps"), out);
        }
        return;
    }
    let at_mix = at.key("mix");
    if !entries.steps.is_empty() {
        let message = "there are steps and a mix of steps: each item gets one list";
        out.error("entries-mix", at.key("steps"), message, "remove steps");
    }
    if entries.mix.len() > PARTS_MAX {
        let message = format!("{} lists of steps are more than {PARTS_MAX}", entries.mix.len());
        return out.error("parts-limit", at_mix, message, "use fewer");
    }
    for (index, weighted) in entries.mix.iter().enumerate() {
        let at = at_mix.index(index);
        out.count("entries-mix", at.key("weight"), weighted.weight.into(), 1 << 24);
        check_steps(entries, &weighted.steps, &at.key("steps"), out);
    }
    if entries.makes_or_removes_directories() {
        let message = "directories are made and removed in order: parents are before children";
        out.error("entries-order", at_mix, message, "use a job for each step");
    }
}

/// Items that are taken by what is there.
fn check_take(entries: &Entries, take: &Take, at: &PlanPath, out: &mut Found) {
    if !take.absent.is_empty() {
        check_steps(entries, &take.absent, &at.key("absent"), out);
    }
    if let Some(short) = take.short.as_ref().filter(|steps| !steps.is_empty()) {
        check_steps(entries, short, &at.key("short"), out);
    }
    if entries.over.is_of_targets() {
        let message = "only a tree has a table of what is there";
        out.error("take-tree", at.clone(), message, "use over = \"items\" or \"directories\"");
    }
    if !entries.mix.is_empty() {
        let message = "an item's list of steps follows from its state, not from chance";
        out.error("take-mix", at.clone(), message, "remove mix, or take");
    }
    if entries.depth > 1 {
        let message = "a worker takes one item at a time, by its state at that moment";
        out.error("take-depth", at.clone(), message, "remove depth, or use more workers");
    }
    for (index, bytes) in take.parts.iter().enumerate().filter(|(_, bytes)| bytes.0 == 0) {
        let message = format!("a part of {bytes} has no items");
        out.error("take-parts", at.key("parts").index(index), message, "give a size");
    }
    if let Some(HostPart { number, of }) = take.host_part.filter(|part| part.number >= part.of) {
        let message = format!("there is no part {number} of {of}");
        out.error("take-parts", at.key("host_part"), message, "count parts from 0");
    }
    let places = entries.has(Step::Copy) || entries.has(Step::Rename);
    match (&take.to, places) {
        (Some(_), false) => {
            let message = "to is set, but no step copies or renames";
            out.error("take-to", at.key("to"), message, "remove to");
        }
        (None, true) if entries.has(Step::Copy) => {
            let message = "copy has no tree to copy to";
            out.error("take-to", at.key("to"), message, "name the target of another tree");
        }
        _ => {}
    }
}

/// Reads and writes of a file before the next one follows.
fn check_visit(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let Some(visit) = entries.visit else { return };
    let at = at.key("visit");
    let (Visit::Operations(amount) | Visit::Percent(amount)) = visit;
    out.count("visit", at.clone(), amount, 1 << 40);
    if entries.take.is_none() {
        let message = "how far a file was read is noted in the table from which items are taken";
        out.error("visit-take", at.clone(), message, "set take as well");
    }
    if !matches!(entries.access, Access::Sequential | Access::Random) {
        let message = "a visit continues where the last one ended, or anywhere";
        out.error("visit-access", at, message, "use sequential or random");
    }
}

/// Operations in flight, and the way in which they are issued.
fn check_depth(entries: &Entries, at: &PlanPath, out: &mut Found) {
    out.count("depth", at.key("depth"), entries.depth.into(), DEPTH_MAX.into());
    if let Some(items) = entries.items_at_once {
        out.count("depth", at.key("items_at_once"), items.into(), entries.depth.into());
    }
    let one = entries.engine.filter(|engine| !engine.takes_many());
    if let Some(engine) = one.filter(|_| entries.depth > 1) {
        let (name, depth) = (engine.name(), entries.depth);
        let message = format!("{name} keeps one operation in flight; depth is {depth}");
        out.error("depth-sync", at.key("depth"), message, "use io_uring, or more workers");
    }
    if entries.depth > 1 && entries.makes_or_removes_directories() {
        let message = "directories are made and removed in order: parents are before children";
        out.error("entries-order", at.key("depth"), message, "remove depth");
    }
    let blocking = entries.all_steps().find(|step| !step.is_queued());
    let queues = may_queue(entries);
    if let Some(step) = blocking.filter(|_| queues) {
        let message = format!("io_uring has no operation for {}", step.name());
        out.error("depth-sync", at.key("depth"), message, "remove depth and engine");
    }
}

/// True where the engine is io_uring, or a probe may choose it.
fn may_queue(entries: &Entries) -> bool {
    let is_open = entries.engine.is_none() && entries.depth > 1;
    is_open || entries.engine == Some(EntriesEngine::IoUring)
}

/// Engines and words about bytes within files fit together.
fn check_engine(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let is_mmap = entries.engine == Some(EntriesEngine::Mmap);
    let is_libaio = entries.engine == Some(EntriesEngine::Libaio);
    if is_mmap && entries.direct {
        let message = "mmap works on the page cache and cannot be direct";
        out.error("mmap-direct", at.key("direct"), message, "remove direct, or use another engine");
    }
    let of_bytes = entries.engine.filter(|engine| engine.is_of_bytes());
    if let Some(engine) = of_bytes.filter(|_| !entries.moves_bytes()) {
        let message = format!("{} reads and writes files, and no step does", engine.name());
        out.error("engine-unused", at.key("engine"), message, "remove engine");
    }
    if is_libaio && !entries.direct && entries.moves_bytes() {
        let message = "libaio without direct I/O works synchronously: submitting waits for the I/O";
        out.warning("libaio-buffered", at.key("direct"), message, "set direct = true");
    }
    let by_calls = [
        ("advice", !entries.advice.is_none(), "use calls, libaio or mmap"),
        ("lock", entries.lock != Lock::None, "use calls or mmap"),
    ];
    for (key, _, remedy) in
        by_calls.into_iter().filter(|(_, is_set, _)| *is_set && may_queue(entries))
    {
        let message = format!("io_uring, which may be chosen, has no operation for {key}");
        out.error("entries-by-call", at.key(key), message, remedy);
    }
    if is_libaio && entries.lock != Lock::None {
        let message = "libaio has more in flight than it waits for";
        out.error("lock", at.key("lock"), message, "use calls or mmap, or remove lock");
    }
    if entries.lock != Lock::None && !entries.lock.is_posix() {
        let message = "locks of candor's own are for large files, which workers share";
        out.error("lock", at.key("lock"), message, "use posix_range or posix_file");
    }
    if entries.map_advice.is_some() && !is_mmap {
        let message = "no engine but mmap maps files";
        out.error("map-advice", at.key("map_advice"), message, "use advice, or mmap");
    }
}

/// Words that need a step that they are about.
fn check_words(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let opens = entries.has(Step::Open) || entries.has(Step::Create);
    let (moves, writes) = (entries.moves_bytes(), entries.has(Step::Write));
    let has_names = [Step::Mkdir, Step::Rmdir, Step::Unlink].into_iter().any(|s| entries.has(s));
    let needs = [
        ("access", entries.access != Access::Sequential, moves, "reads or writes"),
        ("read_percent", entries.read_percent > 0, writes, "writes"),
        ("read_by_chance", entries.read_by_chance, writes, "writes"),
        ("size_mix", entries.size_mix.is_some(), moves, "reads or writes"),
        ("visit", entries.visit.is_some(), moves, "reads or writes"),
        ("open_sync", entries.open_sync != OpenSync::None, writes, "writes"),
        ("truncate_at_open", entries.truncate_at_open, opens, "opens files"),
        ("lock", entries.lock != Lock::None, moves, "reads or writes"),
        ("idempotent", entries.idempotent, has_names, "makes directories or removes names"),
        ("advice", !entries.advice.is_none(), opens, "opens files"),
    ];
    for (key, _, _, does) in needs.into_iter().filter(|(_, is_set, has, _)| *is_set && !*has) {
        let message = format!("{key} is set, but no step {does}");
        out.error("word-unused", at.key(key), message, format!("remove {key}"));
    }
    if entries.truncate_at_open && opens && entries.has(Step::Read) && !writes {
        let message = "files are emptied as they are opened, and then read";
        out.error("truncate", at.key("truncate_at_open"), message, "remove it, or write");
    }
    out.percent("read-percent", at.key("read_percent"), entries.read_percent.into(), 0.0);
    use Access::*;
    if !matches!(entries.access, Sequential | Backward | Random | Permutation) {
        let message = "this order is for large files";
        let remedy = "use sequential, backward, random or permutation";
        out.error("entries-access", at.key("access"), message, remedy);
    }
}

/// The rate: of all operations together.
fn check_rate(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let (pace, at) = (&entries.pace, at.key("pace"));
    let of_blocks = [
        ("per_direction", pace.per_direction.is_some()),
        ("bytes_per_direction", pace.bytes_per_direction.is_some()),
        ("floor", pace.floor.is_some()),
        ("goal", pace.goal.is_some()),
    ];
    for (key, _) in of_blocks.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("{key} is for work on blocks alone");
        out.error("entries-pace", at.key(key), message, "use ops, bytes, arrival, think or flow");
    }
    check_pace(pace, &at, out);
}

/// Words tell the owner and the number of a file, which is written, read and checked as a whole.
fn check_words_of_files(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let writes = entries.content.fill == Fill::Words && entries.has(Step::Write);
    let format = entries.verify.as_ref().map(|verify| verify.format);
    let checks = format == Some(Format::Words);
    if !writes && !checks {
        return;
    }
    let content = at.key("content");
    if entries.over != Over::Items || entries.size.is_some() {
        let message = "words contain the owner and the number of a tree's whole file";
        let remedy = "work on items of a tree, without size; or set another content";
        out.error("words", content.key("fill"), message, remedy);
    }
    if entries.content.words.is_none() && checks && !writes {
        let message = "files contain words, but their kind is not set";
        let remedy = "add content.words = { kind = \"offset\", seed = 1 }";
        out.error("no-words", at.key("verify").key("format"), message, remedy);
    }
    if entries.content.words.is_some_and(|words| words.rank_block.is_some()) {
        let message = "the writer of an item's bytes is its owner";
        out.error("words", content.key("words").key("rank_block"), message, "remove it");
    }
    let others = [Some(Format::Words), Some(Format::Nothing), None];
    if writes && !others.contains(&format) || checks && !writes && entries.has(Step::Write) {
        let message = "what is written is not what is checked";
        let remedy = "set fill and format to words, or neither";
        out.error("words", at.key("verify").key("format"), message, remedy);
    }
}

/// Content of files, and data by which it is checked.
fn check_bytes(entries: &Entries, at: &PlanPath, out: &mut Found) {
    if entries.has(Step::Write) {
        check_content(&entries.content, &at.key("content"), out);
    }
    check_words_of_files(entries, at, out);
    let Some(verify) = &entries.verify else { return };
    let place = at.key("verify");
    // A journal also records files that are made or removed.
    if !entries.moves_bytes() && verify.journals().next().is_none() {
        let message = "nothing is written or read that could be verified";
        return out.error("verify-unused", place, message, "remove verify");
    }
    verify_header(&entries.content, &place, &verify.as_of_blocks(0), out);
    if verify.read_back && !entries.has(Step::Write) {
        let message = "nothing is written that could be read back";
        out.error("verify-unused", place.key("read_back"), message, "remove read_back");
    }
    check_generations(entries, verify, &place, out);
    let (reads_early, is_partial) =
        (entries.read_percent > 0, entries.access == Access::Random && entries.has(Step::Write));
    let compares = verify.format != Format::Nothing;
    if (reads_early || is_partial) && !verify.generations && compares {
        let message = "reads may find blocks that were not written";
        out.error("verify-unwritten", place.clone(), message, "verify in a separate phase");
    }
    let interval = verify.interval.0.max(1);
    let checks_parts = verify.format.checks_parts(entries.content.pattern.as_ref());
    let odd_align = entries.align.filter(|align| !align.0.is_multiple_of(interval));
    if let Some(align) = odd_align.filter(|_| !checks_parts) {
        let message =
            format!("the interval of {} does not divide the alignment {align}", verify.interval);
        out.error("verify-interval", place.key("interval"), message, "use a smaller interval");
    }
    if let Some(size) = entries.size.filter(|size| !size.0.is_multiple_of(interval)) {
        let message = format!("size {size} is no multiple of the {} verified", verify.interval);
        out.error("verify-interval", at.key("size"), message, "use whole verified blocks");
    }
}

/// Generations need files that one worker at a time writes, one block after another.
fn check_generations(entries: &Entries, verify: &VerifyItems, place: &PlanPath, out: &mut Found) {
    let needs = [
        ("read_before_write", verify.read_before_write),
        ("mismatches_max", verify.mismatches_max.is_some()),
        ("times", verify.times),
        ("journal", verify.journal.is_some()),
        ("journal_to", verify.journal_to.is_some()),
    ];
    if !verify.generations {
        for (key, _) in needs.into_iter().filter(|(_, is_set)| *is_set) {
            let message = format!("{key} goes by the generations of blocks");
            out.error("verify-generations", place.key(key), message, "set generations");
        }
        return;
    }
    let take = entries.take.as_ref();
    for (key, journal) in verify.journals() {
        check_journal(journal, &place.key(key), out);
    }
    if verify.journal_to.is_some() && take.is_none_or(|take| take.to.is_none()) {
        let message = "no item goes to another tree";
        out.error("verify-generations", place.key("journal_to"), message, "remove it");
    }
    let shared = take.is_some_and(|take| take.concurrent) && entries.has(Step::Write);
    let wrong = match (take, verify.format) {
        (None, _) => "generations need items that are taken by state; set take",
        _ if entries.over != Over::Items => "only files have generations; remove verify",
        _ if shared => "several workers write one file; remove concurrent",
        _ if entries.depth > 1 => "generations are counted one write after another; remove depth",
        (_, Format::Own) => return,
        _ => "only candor's own headers have generations; remove format",
    };
    let (message, remedy) = wrong.split_once("; ").unwrap_or((wrong, ""));
    out.error("verify-generations", place.key("generations"), message, remedy);
}

/// The order of names and a loader's pace.
fn check_order(entries: &Entries, at: &PlanPath, out: &mut Found) {
    if entries.loader.is_some() {
        let message = "a loader's pace is not kept yet";
        out.error("not-yet-loader", at.key("loader"), message, "remove loader");
    }
    if let Select::Exponential { midpoint } = entries.select
        && !(midpoint.is_finite() && midpoint > 0.0)
    {
        let message = format!("midpoint is {midpoint}, not a number above 0");
        out.error("select", at.key("select"), message, "set it to 1 or more");
    }
    // A table of what is there makes sure of parents and children.
    let is_free = entries.select != Select::Sequential && entries.take.is_none();
    if is_free && entries.makes_or_removes_directories() {
        let message = "directories are made and removed in order: parents are before children";
        out.error("entries-order", at.key("select"), message, "remove select");
    }
}

/// Words about whose things are worked on, and about which of them.
fn check_division(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let of_tree = [
        ("division", entries.division == Division::First),
        ("first", entries.first.is_some()),
        ("as_reached", entries.as_reached),
    ];
    let of_targets = entries.over.is_of_targets();
    for (key, _) in of_tree.into_iter().filter(|(_, is_set)| *is_set && of_targets) {
        let message = format!("{key} is about the things of a tree");
        out.error("entries-division", at.key(key), message, "work on a tree, or remove it");
    }
    let once = entries.makes_or_removes_directories() && !entries.idempotent;
    if entries.division == Division::Every && once {
        let message = "every rank would make or remove the same directories";
        let remedy = "use own or first, or set idempotent";
        out.error("entries-division", at.key("division"), message, remedy);
    }
    if entries.with_roots && !entries.makes_or_removes_directories() {
        let message = "with_roots is set, but no directories of a tree are made or removed";
        out.error("word-unused", at.key("with_roots"), message, "remove with_roots");
    }
    if entries.roots_apart && !entries.with_roots {
        let message = "roots_apart is set, but no roots are made or removed as part of the work";
        out.error("word-unused", at.key("roots_apart"), message, "set with_roots, or remove it");
    }
    let chains = entries.single() == Some(Step::Rename)
        && entries.select == Select::Sequential
        && entries.depth == 1
        && !entries.on_alias
        && !entries.over.is_of_targets();
    if entries.rename_chain && !chains {
        let message = "a chain of names is made by renames alone, one after another";
        let remedy = "use the one step rename on a tree, in order, at depth 1";
        out.error("entries-chain", at.key("rename_chain"), message, remedy);
    }
}

/// Files are open where steps need them so, and closed in the end: else another step's time would
/// hold the close.
fn check_open(steps: &[Step], at: &PlanPath, out: &mut Found) {
    let (is_kept, mut is_open) = (steps.iter().any(|step| step.needs_open()), false);
    for (index, step) in steps.iter().enumerate().filter(|_| is_kept) {
        let opens = matches!(step, Step::Create | Step::Open);
        let (is_wrong, state, remedy) = if opens {
            (is_open, "open already", "close it before")
        } else {
            (step.needs_open() && !is_open, "not open", "create or open it before")
        };
        if is_wrong {
            let message = format!("at {} the file is {state}", step.name());
            return out.error("entries-open", at.index(index), message, remedy);
        }
        is_open = (is_open || opens) && *step != Step::Close;
    }
    if is_open {
        let message = "the file is open after the last step";
        out.error("entries-open", at.clone(), message, "add close");
    }
}

/// Sizes of reads and writes that are drawn.
fn check_size_mix(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let Some(sizes) = &entries.size_mix else { return };
    let place = at.key("size_mix");
    check_spec(sizes, &place, None, out);
    at_most(sizes, OPERATION_MAX, &place, out);
    if entries.size.is_some() {
        let message = "size and size_mix are both set";
        out.error("size-mix", place.clone(), message, "remove one of them");
    }
    if entries.direct && !sizes.unit().0.is_multiple_of(super::SECTOR.0) {
        let message = format!("{sizes} has sizes that are no multiple of 512 bytes");
        out.error("direct-alignment", place.clone(), message, "use multiples of 512");
    }
    if !matches!(entries.access, Access::Sequential | Access::Random) {
        let message = "this order within a file has blocks of one size";
        out.error("size-mix", place.clone(), message, "use sequential or random");
    }
    if let Some(verify) = &entries.verify
        && !(verify.generations && sizes.unit().0.is_multiple_of(verify.interval.0.max(1)))
    {
        let message = "blocks of several sizes are not verified";
        out.error("size-mix", place.clone(), message, "use size, or generations of whole blocks");
    }
    if entries.depth > 1 {
        let message = "sizes are drawn one after another";
        out.error("size-mix", place, message, "remove depth, or use more workers");
    }
}

/// Distance of random offsets.
fn check_align(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let Some(align) = entries.align else { return };
    let place = at.key("align");
    if entries.access != Access::Random {
        let message = "align is set, and access is not random";
        return out.error("word-unused", place, message, "remove align");
    }
    if align.0 == 0 {
        out.error("align", place, "align is 0", "use 1 or more, or remove align");
    } else if entries.direct && !align.0.is_multiple_of(super::SECTOR.0) {
        let message = format!("{align} is no multiple of 512 bytes");
        out.error("direct-alignment", place, message, "use a multiple of 512");
    } else if entries.size.is_none() {
        let message = "reads and writes of whole files begin at 0";
        out.error("align", place, message, "add size, or remove align");
    }
}

/// Steps that the pace counts occur.
fn check_paced(entries: &Entries, at: &PlanPath, out: &mut Found) {
    let mut unused = entries.paced_steps.iter().filter(|step| !entries.has(**step));
    if let Some(step) = unused.find(|step| **step != Step::Read || !entries.reads()) {
        let message = format!("the pace counts {}, but no list of steps has it", step.name());
        out.error("paced-steps", at.key("paced_steps"), message, "name steps that occur");
    }
}

pub(super) fn check_job(entries: &Entries, at: &PlanPath, out: &mut Found) {
    check_lists(entries, at, out);
    check_visit(entries, at, out);
    check_size_mix(entries, at, out);
    check_align(entries, at, out);
    check_paced(entries, at, out);
    check_order(entries, at, out);
    check_division(entries, at, out);
    check_depth(entries, at, out);
    check_engine(entries, at, out);
    check_words(entries, at, out);
    check_rate(entries, at, out);
    check_bytes(entries, at, out);
    match entries.size {
        Some(Bytes(0)) => out.error("size", at.key("size"), "size is 0", "give a size"),
        Some(size) if entries.direct && !size.0.is_multiple_of(super::SECTOR.0) => {
            let message = format!("size is {size}, not a multiple of 512 bytes");
            out.error("direct-alignment", at.key("size"), message, "use a multiple of 512");
        }
        Some(size) if !entries.moves_bytes() => {
            let message = format!("size is {size}, but no step reads or writes");
            out.warning("size-unused", at.key("size"), message, "remove size");
        }
        _ => {}
    }
    if entries.syncfs_at_end && !entries.changes() {
        let message = "no step changes anything that a final syncfs could write out";
        out.error("syncfs-unused", at.key("syncfs_at_end"), message, "remove syncfs_at_end");
    }
    if let Some(loader) = &entries.loader {
        let at = at.key("loader");
        out.count("loader", at.key("batch"), loader.batch.into(), 1 << 24);
        out.count("loader", at.key("prefetch"), loader.prefetch.into(), 1 << 16);
        time_limit(loader.compute, at.key("compute"), out);
    }
}
