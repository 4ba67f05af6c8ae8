use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<List, String> {
    List::read(text.as_bytes()).map_err(|error| {
        let line = error.line.map(|line| format!("{line}: ")).unwrap_or_default();
        line + &error.message
    })
}

fn directories(list: &List) -> Vec<String> {
    let names = (0..list.directories()).map(|nth| list.directory(nth as usize));
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

fn files(list: &List) -> Vec<(String, u64)> {
    let files = (0..list.files() as usize).map(|nth| (list.file(nth), list.size(nth)));
    files.map(|(name, bytes)| (String::from_utf8_lossy(name).into_owned(), bytes)).collect()
}

#[test]
fn lines_are_directories_and_files_in_any_order() {
    let text = "# made by hand\nf 7 b/a c \nd b\nd\nd ./x//y/\n\nd .\nf 0 ./b/ä\nf 3 n/o/p\nd b\n";
    let list = read(text).expect("a list");
    assert_eq!(directories(&list), ["b", "n", "n/o", "x", "x/y"]);
    let named = [("b/a c ", 7), ("b/ä", 0), ("n/o/p", 3)];
    assert_eq!(files(&list), named.map(|(name, bytes)| (name.to_owned(), bytes)));
    assert_eq!((list.bytes(), list.files_above(3)), (10, 1));
    assert_eq!(files(&read("").expect("nothing")), []);
}

#[test]
fn names_with_line_ends_are_base64() {
    let text = "# Encoding=Base64\nd ZGly\nf 12 ZGlyL2EKYg==\n";
    let list = read(text).expect("a list");
    assert_eq!(files(&list), [("dir/a\nb".to_owned(), 12)]);
    let mut written = Vec::new();
    list.write(&mut written).expect("written");
    assert_eq!(String::from_utf8_lossy(&written).to_lowercase(), text.to_lowercase());
    let plain = read("d ZGly\n").expect("a list");
    written.clear();
    plain.write_base64(&mut written).expect("written");
    assert_eq!(String::from_utf8_lossy(&written), "# encoding=base64\nd WkdseQ==\n");
    assert_eq!(directories(&plain), ["ZGly"]);
}

#[test]
fn lines_that_are_none_are_refused_by_their_number() {
    for (text, wanted) in [
        ("d a\nf 1 ../b\n", "2: `../b` leads out of the tree"),
        ("d a/../b\n", "1: `a/../b` leads out of the tree"),
        ("f 1 /etc/passwd\n", "1: `/etc/passwd` is absolute"),
        ("f 1 a\0b\n", "1: `a\\x00b` holds a zero byte"),
        ("f 1\n", "1: `f 1` is no line of a list"),
        ("f +1 a\n", "1: `f +1 a` is no line of a list"),
        ("f 1k a\n", "1: `f 1k a` is no line of a list"),
        ("f 9223372036854775808 a\n", "1: `f 9223372036854775808 a` is no line of a list"),
        ("f 1 .\n", "1: `f 1 .` is no line of a list"),
        ("l a\n", "1: `l a` is no line of a list"),
        ("#encoding=base64\nd a/b\n", "2: `a/b` is no base64"),
        ("f 1 a\nf 2 ./a\n", "`a` is listed twice"),
        ("f 1 a\nd a\n", "`a` is listed twice"),
        ("f 1 a\nf 1 a!\nd a/b\n", "the file `a` has names below it"),
    ] {
        assert_eq!(read(text).map(|_| ()), Err(wanted.to_owned()), "{text:?}");
    }
    let long = format!("f 1 {}\n", "a/".repeat(2100));
    assert!(read(&long).expect_err("too long").ends_with("is longer than a path may be"));
    assert!(read(&"x".repeat(1 << 20)).expect_err("no lines").starts_with("1: `xxx"));
}

#[test]
fn a_walk_finds_files_and_directories_and_follows_no_links() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("b/deep")).expect("made");
    std::fs::create_dir(at("empty")).expect("made");
    for (name, bytes) in [("b/deep/x", 3), ("b!", 1), ("a", 0), ("b/y z", 2)] {
        std::fs::write(at(name), vec![0; bytes]).expect("written");
    }
    std::os::unix::fs::symlink(at("b"), at("link")).expect("linked");
    let list = List::of(dir.path(), &Listing::default()).expect("walked over");
    assert_eq!(directories(&list), ["b", "b/deep", "empty"]);
    let named = [("a", 0), ("b/deep/x", 3), ("b/y z", 2), ("b!", 1)];
    assert_eq!(files(&list), named.map(|(name, bytes)| (name.to_owned(), bytes)));
    let mut text = Vec::new();
    list.write(&mut text).expect("written");
    std::fs::write(at("list"), &text).expect("written");
    let listing = Listing { file: Some(at("list")), round_up: Bytes(2), ..Listing::default() };
    let again = List::of(dir.path(), &listing).expect("read");
    assert_eq!(directories(&again), directories(&list));
    assert_eq!(files(&again).iter().map(|of| of.1).collect::<Vec<_>>(), [0, 4, 2, 2]);
    std::fs::write(at("list"), format!("f {0} a\nf {0} b\nf {0} c\n", i64::MAX)).expect("written");
    let why = List::of(dir.path(), &listing).expect_err("too much").to_string();
    assert!(why.contains("list: the files have more bytes than 64 bits count"), "{why}");
    let missing = Listing { file: Some(at("none")), ..listing };
    let why = List::of(dir.path(), &missing).expect_err("nothing there").to_string();
    assert!(why.contains("none: it could not be read: No such file"), "{why}");
    let why = List::of(&at("none"), &Listing::default()).expect_err("nothing there").to_string();
    assert!(why.contains("none could not be listed: No such file"), "{why}");
}

proptest! {
    /// Whatever is read is read again as it was written, with parents before their children.
    #[test]
    fn lists_are_written_as_they_are_read(
        names in proptest::collection::btree_map("[a-c]{1,2}(/[a-c]{1,2}){0,3}", 0..9_u64, 0..20),
        newline: bool,
    ) {
        let mut text = String::new();
        for (name, bytes) in &names {
            let mut others = names.keys().filter(|other| *other != name);
            text += &if others.any(|other| is_in(other.as_bytes(), name.as_bytes())) {
                format!("d {name}\n")
            } else {
                format!("f {bytes} {name}\n")
            };
        }
        let mut list = read(&text).expect("a list");
        if newline && list.files.bytes.last() == Some(&b'a') {
            *list.files.bytes.last_mut().expect("there is one") = b'\n';
        }
        let mut made = BTreeSet::from([String::new()]);
        for name in directories(&list) {
            let parent = name.rsplit_once('/').map_or("", |(parent, _)| parent);
            prop_assert!(made.contains(parent), "{name}");
            prop_assert!(made.insert(name));
        }
        for (name, _) in files(&list) {
            prop_assert!(made.contains(name.rsplit_once('/').map_or("", |(parent, _)| parent)));
        }
        let mut written = Vec::new();
        list.write(&mut written).expect("written");
        let again = List::read(&written[..]).expect("what was written");
        prop_assert_eq!(directories(&again), directories(&list));
        prop_assert_eq!(files(&again), files(&list));
    }

    /// No text makes the reader panic, and base64 is undone.
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = List::read(&bytes[..]);
        let mut letters = Vec::new();
        base64::encode(&bytes, &mut letters);
        prop_assert_eq!(base64::decode(&letters), Some(bytes.clone()));
        base64::decode(&bytes);
    }
}
