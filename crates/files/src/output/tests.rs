use std::os::unix::fs::symlink;

use super::*;
use crate::in_use::{Refusal, Use, claim, claim_onto, refusal_of, uses, uses_tree};

fn scratch() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
    let top = tempfile::tempdir().expect("a directory");
    let path = top.path().to_owned();
    (top, move |name: &str| path.join(name))
}

fn names(top: &tempfile::TempDir) -> usize {
    fs::read_dir(top.path()).expect("listed").count()
}

fn refused(result: io::Result<()>) -> Refusal {
    let error = result.expect_err("refused");
    refusal_of(&error).unwrap_or_else(|| panic!("{error}")).clone()
}

#[test]
fn a_new_file_takes_the_old_name_mode_and_links_at_the_end() {
    let (top, at) = scratch();
    fs::write(at("r"), "old").expect("written");
    fs::set_permissions(at("r"), fs::Permissions::from_mode(0o640)).expect("set");
    symlink("r", at("link")).expect("linked");
    let mut file = create(&at("link")).expect("begun");
    file.write_all(b"new").expect("written");
    file.flush().expect("flushed");
    assert_eq!(fs::read_to_string(at("r")).expect("read"), "old", "until the end");
    file.commit().expect("committed");
    assert_eq!(fs::read_to_string(at("r")).expect("read"), "new");
    assert!(at("link").is_symlink());
    assert_eq!(fs::metadata(at("r")).expect("there").mode() & 0o777, 0o640);
    assert_eq!(names(&top), 2, "nothing else stays");
    drop(create(&at("r")).expect("begun"));
    assert_eq!(fs::read_to_string(at("r")).expect("read"), "new", "a write that was given up");
    assert_eq!(names(&top), 2);
}

#[test]
fn files_in_use_are_refused_by_every_name_and_at_every_time() {
    let (top, at) = scratch();
    fs::write(at("data"), "data").expect("written");
    fs::hard_link(at("data"), at("hard")).expect("linked");
    symlink("data", at("link")).expect("linked");
    fs::create_dir(at("d")).expect("made");
    uses(&at("data"), Use::Target).expect("noted");
    for name in ["data", "hard", "link", "d/../data"] {
        assert_eq!(claim(&at(name)), Err(Refusal::InUse(Use::Target)), "{name}");
        assert_eq!(refused(replace(&at(name), "x")), Refusal::InUse(Use::Target), "{name}");
        assert_eq!(refused(append(&at(name)).map(drop)), Refusal::InUse(Use::Target), "{name}");
        assert_eq!(refused(stream(&at(name)).map(drop)), Refusal::InUse(Use::Target), "{name}");
    }
    // A link that comes during the run.
    let late = create(&at("late")).expect("begun");
    symlink("data", at("late")).expect("linked");
    assert_eq!(refused(late.commit()), Refusal::InUse(Use::Target));
    // The output is named first, and its file does not exist yet.
    claim(&at("free")).expect("free");
    assert_eq!(uses(&at("d/../free"), Use::Trace), Err(Refusal::InUse(Use::Trace)));
    assert_eq!(fs::read_to_string(at("data")).expect("read"), "data");
    assert_eq!(names(&top), 5);
}

#[test]
fn names_in_a_tree_take_no_results() {
    let (_top, at) = scratch();
    fs::create_dir_all(at("tree/d")).expect("made");
    symlink("tree", at("link")).expect("linked");
    let in_tree = |tree: &str| Err(Refusal::InTree(at(tree)));
    uses_tree(&at("tree"), false).expect("noted");
    claim(&at("tree/own")).expect("the tree has no names there");
    for name in ["tree/d/r", "link/d/r", "tree/d/../d/r"] {
        assert_eq!(claim(&at(name)), in_tree("tree"), "{name}");
        assert_eq!(refused(replace(&at(name), "x")), Refusal::InTree(at("tree")), "{name}");
    }
    // The output is named first.
    assert_eq!(uses_tree(&at("link"), true), in_tree("link"));
    fs::create_dir(at("other")).expect("made");
    claim(&at("other-results")).expect("free");
    uses_tree(&at("other"), true).expect("noted");
    assert_eq!(claim(&at("other/r")), in_tree("other"));
    claim(&at("others")).expect("another name");
}

#[test]
fn an_input_may_be_replaced_only_where_the_output_says_the_same() {
    let (_top, at) = scratch();
    fs::write(at("r"), "1").expect("written");
    claim_onto(&at("r"), Use::Input).expect("may");
    uses(&at("r"), Use::Input).expect("may");
    replace(&at("r"), "2").expect("written");
    assert_eq!(uses(&at("r"), Use::Target), Err(Refusal::InUse(Use::Target)));
    fs::write(at("s"), "1").expect("written");
    uses(&at("s"), Use::Input).expect("noted");
    assert_eq!(refused(replace(&at("s"), "2")), Refusal::InUse(Use::Input));
    assert_eq!(claim_onto(&at("s"), Use::State), Err(Refusal::InUse(Use::Input)));
}

#[test]
fn streams_and_files_that_are_added_to_are_not_replaced() {
    let (top, at) = scratch();
    replace(Path::new("/dev/null"), "x").expect("a stream");
    let out = File::create(at("out")).expect("made");
    (&out).write_all(b"head ").expect("written");
    use std::os::fd::AsRawFd;
    let descriptor = PathBuf::from(format!("/proc/self/fd/{}", out.as_raw_fd()));
    replace(&descriptor, "tail").expect("a stream");
    assert_eq!(fs::read_to_string(at("out")).expect("read"), "head tail");
    append(&at("log")).and_then(|mut file| file.write_all(b"a")).expect("added");
    append(&at("log")).and_then(|mut file| file.write_all(b"b")).expect("added");
    assert_eq!(fs::read_to_string(at("log")).expect("read"), "ab");
    stream(&at("log")).and_then(|mut file| file.write_all(b"c")).expect("emptied");
    assert_eq!(fs::read_to_string(at("log")).expect("read"), "c");
    let missing = replace(&at("none/file"), "x").expect_err("no directory");
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    assert!(replace(top.path(), "x").is_err(), "a directory");
}
