//! Windows that move on.

use super::{are_among, found};

/// A plan with a window; nothing in it is wrong but what is put into it.
fn plan(tree: &str, job: &str, entries: &str) -> String {
    format!(
        "[[target]]\nname = \"t\"\npath = \"/t\"\nkind = \"tree\"\n\
         [target.tree]\nitems = 9\ndepth = 1\nleaves_only = true\nper_rank = true\n{tree}\n\
         [[phase]]\n[[phase.job]]\nworkers = 4\ntargets = [\"t\"]\n{job}\n\
         [phase.job.work.entries]\n{entries}\n"
    )
}

const TREE: &str = "shared_root = true\nitems_across = true";
const MOVING: &str = "steps = [\"stat\", \"unlink\"]\n\
                      window = { start = 2, enter = [\"create\", \"close\"], rank_step = 1 }";

#[test]
fn windows_that_run() {
    for (job, entries) in [
        ("", MOVING.to_owned()),
        ("stop.passes = 1", format!("first = 100\n{MOVING}")),
        ("stop = { time = \"1s\", passes = 1, stonewall = \"wear_out\" }", MOVING.to_owned()),
        ("stop.time = \"1s\"", "steps = [\"stat\"]\nwindow = {}".to_owned()),
        ("", "steps = [\"unlink\"]\nselect = \"shuffled\"\nwindow.start = 3".to_owned()),
    ] {
        assert_eq!(found(&plan(TREE, job, &entries)), [], "{job} {entries}");
    }
}

/// The plan with a line about entries.
fn with(line: &str) -> String {
    plan(TREE, "", &format!("{line}\n{MOVING}"))
}

/// The plan with a line about the job.
fn job(line: &str) -> String {
    plan(TREE, line, MOVING)
}

fn entered(steps: &str, enter: &str) -> String {
    plan(TREE, "", &format!("steps = [{steps}]\nwindow.enter = [{enter}]"))
}

#[test]
fn windows_that_do_not() {
    let at = "phase[0].job[0].work.entries";
    let cases = [
        ("window-tree", format!("{at}.window"), plan("", "", MOVING)),
        ("window-stop", format!("{at}.window"), job("stop.time = \"1s\"")),
        ("window-stop", format!("{at}.window"), job("stop.passes = 2")),
        ("window-stop", format!("{at}.window"), job("stop.ops = 2")),
        (
            "window-stop",
            format!("{at}.window"),
            job("stop = { time = \"1s\", stonewall = \"wear_out\" }"),
        ),
        ("window", format!("{at}.select"), with("select = \"random\"")),
        ("window", format!("{at}.division"), with("division = \"first\"")),
        ("window", format!("{at}.depth"), with("depth = 2\nengine = \"io_uring\"")),
        ("window", format!("{at}.window.start"), with("first = 2305843009213693952")),
        ("window", format!("{at}.window.enter"), entered("\"unlink\"", "\"stat\"")),
        ("window", format!("{at}.steps"), entered("\"stat\"", "\"mknod\"")),
        (
            "entries-open",
            format!("{at}.window.enter[1]"),
            entered("\"unlink\"", "\"mknod\", \"write\""),
        ),
    ];
    for (rule, place, text) in &cases {
        are_among(&[(rule, place, text)]);
    }
}

#[test]
fn roots_that_all_share() {
    let stat = "steps = [\"stat\"]";
    for (tree, rule, key) in [
        ("shared_root = true\nroot_is_bare = true", "", ""),
        ("shared_root = true\ndirectory_name = \"{child}\"", "tree-name", "directory_name"),
    ] {
        let text = plan(tree, "", stat);
        match rule {
            "" => assert_eq!(found(&text), [], "{text}"),
            rule => are_among(&[(rule, &format!("target[0].tree.{key}"), &text)]),
        }
    }
    let deep = plan("shared_root = true", "", stat).replace("depth = 1\n", "");
    are_among(&[("tree-root", "target[0].tree.shared_root", &deep)]);
}
