//! candor called as vdbench: file systems, their formats and workloads, and what is left on disk.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::Scratch;

/// candor under the name of vdbench, with a directory for its anchors.
struct Vdbench {
    link: String,
    scratch: Scratch,
}

/// A run of vdbench: its exit code, and its texts.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
    output: PathBuf,
}

impl Vdbench {
    fn new() -> Vdbench {
        let scratch = Scratch::new();
        let link = scratch.outside("vdbench");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        fs::create_dir(scratch.path("a")).expect("an anchor");
        fs::create_dir(scratch.path("b")).expect("an anchor");
        Vdbench { link, scratch }
    }

    /// Runs a parameter file, in which `A` and `B` are the anchors, with more words.
    fn run_with(&self, parameters: &str, words: &[&str]) -> Ran {
        let [a, b] = ["a", "b"].map(|name| self.scratch.path(name));
        let text = parameters.replace("anchor=A", &format!("anchor={a}"));
        let text = text.replace("anchor=B", &format!("anchor={b}"));
        let (file, output) = (self.scratch.path("parameters"), self.scratch.path("output"));
        fs::write(&file, text).expect("a parameter file");
        let mut command = Command::new(&self.link);
        command.args(["-f", &file, "-o", &output]).args(words).stdin(Stdio::null());
        command.env_remove("CANDOR_VERDICT").env_remove("CANDOR_FORCE");
        let ran = command.output().expect("vdbench starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran {
            code: ran.status.code(),
            out: text(ran.stdout),
            err: text(ran.stderr),
            output: output.into(),
        }
    }

    fn run(&self, parameters: &str) -> Ran {
        self.run_with(parameters, &[])
    }

    /// The same, which goes well.
    fn well(&self, parameters: &str) -> Ran {
        let ran = self.run(parameters);
        assert_eq!(ran.code, Some(0), "{parameters}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// The same, which is refused with that part of a sentence.
    fn refused(&self, parameters: &str, part: &str) {
        let ran = self.run(parameters);
        assert_eq!(ran.code, Some(157), "{parameters}\n{}\n{}", ran.out, ran.err);
        assert!(ran.err.contains(part), "{parameters}\n{}", ran.err);
    }

    fn anchor(&self, name: &str) -> PathBuf {
        self.scratch.path(name).into()
    }

    /// Names of vdbench's files below an anchor, with their lengths.
    fn files(&self, name: &str) -> BTreeMap<String, u64> {
        let (mut files, mut left) = (BTreeMap::new(), vec![self.anchor(name)]);
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(&directory).expect("a directory").map(Result::unwrap) {
                let path = entry.path();
                let below = path.strip_prefix(self.anchor(name)).expect("below");
                let shown = below.display().to_string();
                match path.is_dir() {
                    true => left.push(path),
                    false if shown == "vdb_control.file" => {}
                    false => drop(files.insert(shown, path.metadata().expect("there").len())),
                }
            }
        }
        files
    }
}

impl Ran {
    /// Rows of the flat file as columns by name: those of the run, intervals or averages alone.
    fn flat(&self, run: &str, averages: bool) -> Vec<BTreeMap<String, f64>> {
        let text = fs::read_to_string(self.output.join("flatfile.html")).expect("a flat file");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(['*', '<'])).collect();
        let at = lines.iter().position(|line| line.trim_start().starts_with("tod "));
        let names: Vec<&str> = lines[at.expect("headings")].split_whitespace().collect();
        let rows = lines[at.unwrap() + 1..].iter().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words.len(), names.len(), "{line}\n{names:?}");
            (words[2].to_owned(), words[3].to_owned(), names.iter().zip(words).collect::<Vec<_>>())
        });
        rows.filter(|(of, interval, _)| of == run && interval.starts_with("avg") == averages)
            .map(|(_, _, row)| {
                let numbers = row
                    .into_iter()
                    .filter_map(|(name, word)| Some(((*name).to_owned(), word.parse().ok()?)));
                numbers.collect()
            })
            .collect()
    }

    /// A column of the averages of a run.
    fn average(&self, run: &str, column: &str) -> f64 {
        let rows = self.flat(run, true);
        assert_eq!(rows.len(), 1, "{run} has one row of averages: {}", self.out);
        rows[0][column]
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.output.join(name)).unwrap_or_else(|_| panic!("{name} is there"))
    }
}

/// A small tree, formatted before a short run of one workload.
fn with(fsd: &str, fwd: &str, rd: &str) -> String {
    format!(
        "fsd=fsd1,anchor=A,{fsd}\nfwd=fwd1,fsd=fsd1,{fwd}\n\
         rd=rd1,fwd=fwd1,format=yes,elapsed=2,interval=1,{rd}\n"
    )
}

/// The tree of most tests: two levels of two directories, three files in each of the last ones.
const TREE: &str = "depth=2,width=2,files=3,size=16k";

#[test]
fn a_format_makes_every_file_once_by_the_tools_names() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(TREE, "operation=read,xfersize=4k", "fwdrate=100"));
    let files = vdbench.files("a");
    let expected: Vec<String> = [1, 2]
        .iter()
        .flat_map(|top| [1, 2].map(|below| format!("vdb.1_{top}.dir/vdb.2_{below}.dir")))
        .flat_map(|directory| [1, 2, 3].map(|n| format!("{directory}/vdb_f000{n}.file")))
        .collect();
    assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);
    assert!(files.values().all(|bytes| *bytes == 16 << 10), "{files:?}");
    assert!(ran.out.contains("Starting RD=format_for_rd1"), "{}", ran.out);
    assert!(ran.out.contains("Starting RD=rd1; elapsed=2; fwdrate=100;"), "{}", ran.out);
    assert!(vdbench.anchor("a").join("vdb_control.file").exists());
}

#[test]
fn files_stand_in_all_directories_where_the_distribution_says_so() {
    let vdbench = Vdbench::new();
    vdbench.well(&with(
        "depth=2,width=3,files=2,size=1k,distribution=all",
        "operation=getattr",
        "fwdrate=50",
    ));
    let files = vdbench.files("a");
    assert_eq!(files.len(), (3 + 9) * 2);
    assert!(files.contains_key("vdb.1_3.dir/vdb_f0002.file"));
    assert!(files.contains_key("vdb.1_3.dir/vdb.2_1.dir/vdb_f0001.file"));
    assert!(!files.contains_key("vdb_f0001.file"), "none stand in the anchor");
}

#[test]
fn sizes_are_drawn_from_a_mix_or_around_a_mean() {
    let vdbench = Vdbench::new();
    let of = |sizes: &str| {
        vdbench.well(&with(
            &format!("depth=1,width=1,files=60,{sizes}"),
            "operation=getattr",
            "fwdrate=50",
        ));
        vdbench.files("a").into_values().collect::<Vec<u64>>()
    };
    let mixed = of("sizes=(4k,50,16k,50)");
    let small = mixed.iter().filter(|bytes| **bytes == 4096).count();
    assert!(mixed.iter().all(|bytes| [4096, 16_384].contains(bytes)), "{mixed:?}");
    assert!((15..=45).contains(&small), "{small} of 60");
    let around = of("sizes=(32k,0)");
    assert!(around.iter().all(|bytes| (16 << 10..=48 << 10).contains(bytes)), "{around:?}");
    assert!(around.iter().any(|bytes| *bytes != around[0]));
}

#[test]
fn a_rate_is_kept_and_counts_what_was_asked_for() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        TREE,
        "operation=read,xfersize=4k,fileio=random,fileselect=random,threads=2",
        "fwdrate=200,elapsed=3",
    ));
    let rate = ran.average("rd1", "rate");
    assert!((170.0..230.0).contains(&rate), "{rate}");
    assert_eq!(ran.average("rd1", "Read_rate"), rate);
    // Four reads of 4k are a file of 16k: it is opened and closed for each four.
    let opens = ran.average("rd1", "Open_rate");
    assert!((rate / opens - 4.0).abs() < 0.5, "{rate} {opens}");
    assert_eq!(ran.average("rd1", "Xfersize"), 4096.0);
    assert!(ran.average("rd1", "MB_read") > 0.0 && ran.average("rd1", "MB_write") == 0.0);
}

#[test]
fn each_operation_is_counted_in_its_column() {
    for (operation, column) in [
        ("getattr", "Getattr_rate"),
        ("setattr", "Setattr_rate"),
        ("access", "Access_rate"),
        ("open", "Open_rate"),
        ("close", "Close_rate"),
        ("write", "Write_rate"),
    ] {
        let vdbench = Vdbench::new();
        let fwd = format!("operation={operation},xfersize=4k");
        let ran = vdbench.well(&with(TREE, &fwd, "fwdrate=100"));
        let rate = ran.average("rd1", column);
        assert!((70.0..130.0).contains(&rate), "{operation}: {rate}");
        assert_eq!(rate, ran.average("rd1", "rate"), "{operation}");
    }
}

#[test]
fn a_mix_of_reads_and_writes_has_its_share() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        TREE,
        "rdpct=75,xfersize=4k,fileio=random,fileselect=random,threads=2",
        "fwdrate=1000,elapsed=3",
    ));
    let [reads, writes] = ["Read_rate", "Write_rate"].map(|column| ran.average("rd1", column));
    let share = reads / (reads + writes);
    assert!((0.68..0.82).contains(&share), "{reads} {writes}");
}

#[test]
fn several_workloads_share_the_rate_by_their_skew() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&format!(
        "fsd=fsd1,anchor=A,{TREE}\n\
         fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,skew=80\n\
         fwd=fwd2,fsd=fsd1,operation=getattr\n\
         rd=rd1,fwd=fwd*,fwdrate=500,format=yes,elapsed=3,interval=1\n"
    ));
    let [reads, looks] = ["Read_rate", "Getattr_rate"].map(|column| ran.average("rd1", column));
    assert!((350.0..450.0).contains(&reads) && (80.0..120.0).contains(&looks), "{reads} {looks}");
    assert!((reads + looks - ran.average("rd1", "rate")).abs() < 0.01);
}

#[test]
fn workloads_at_full_speed_keep_their_skew_too() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&format!(
        "fsd=fsd1,anchor=A,{TREE}\n\
         fwd=fwd1,fsd=fsd1,operation=getattr,skew=75\n\
         fwd=fwd2,fsd=fsd1,operation=access,skew=25\n\
         rd=rd1,fwd=fwd*,fwdrate=max,format=yes,elapsed=2,interval=1\n"
    ));
    let [looks, checks] = ["Getattr_rate", "Access_rate"].map(|column| ran.average("rd1", column));
    assert!((looks / checks - 3.0).abs() < 0.3, "{looks} {checks}");
}

#[test]
fn threads_are_shared_among_file_systems() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(
        "fsd=default,depth=1,width=1,files=4,size=8k\nfsd=fsd1,anchor=A\nfsd=fsd2,anchor=B\n\
         fwd=fwd1,fsd=fsd*,operation=read,xfersize=4k,threads=4\n\
         rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=2,interval=1\n",
    );
    assert_eq!((vdbench.files("a").len(), vdbench.files("b").len()), (4, 4));
    assert!(ran.average("rd1", "Read_rate") > 0.0);
    for name in ["fsd1.html", "fsd2.html", "fwd1.html"] {
        assert!(ran.file(name).contains("avg_2-2"), "{name}: {}", ran.file(name));
    }
}

#[test]
fn a_loop_over_files_formats_each_time() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        "depth=1,width=2,files=3,size=4k",
        "operation=read,xfersize=4k",
        "fwdrate=100,forfiles=(2,5)",
    ));
    assert_eq!(ran.out.matches("Starting RD=format_for_rd1").count(), 2);
    for part in ["files=2", "files=5"] {
        assert!(ran.out.contains(&format!("For loops: {part}")), "{}", ran.out);
    }
    assert_eq!(vdbench.files("a").len(), 10, "those of the last loop");
    assert_eq!(ran.flat("rd1", true).len(), 2);
}

#[test]
fn loops_over_the_shape_and_the_work_nest_as_they_are_written() {
    let vdbench = Vdbench::new();
    let ran = vdbench.run_with(
        &with(
            TREE,
            "operation=read",
            "fwdrate=100,fordepth=(1,2),foroperations=(read,getattr),forxfersize=(1k,4k)",
        ),
        &["-s"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let loops: Vec<&str> =
        ran.out.lines().filter_map(|l| l.split_once("For loops: ")).map(|(_, l)| l).collect();
    assert_eq!(loops.len(), 8, "{}", ran.out);
    assert_eq!(loops[0], "depth=1 operation=read xfersize=1k");
    assert_eq!(loops[1], "depth=1 operation=read xfersize=4k");
    assert_eq!(loops[7], "depth=2 operation=getattr xfersize=4k");
    assert!(vdbench.files("a").is_empty(), "nothing ran");
}

#[test]
fn format_once_is_before_the_first_run_of_a_loop_alone() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=read,xfersize=4k", "fwdrate=100,forthreads=(1,2)");
    let ran = vdbench.well(&text.replace("format=yes", "format=once"));
    assert_eq!(ran.out.matches("Starting RD=format_for_rd1").count(), 1);
    assert_eq!(ran.flat("rd1", true).len(), 2);
}

#[test]
fn format_only_makes_the_tree_and_runs_nothing() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=read", "fwdrate=100");
    let ran = vdbench.well(&text.replace("format=yes", "format=only"));
    assert_eq!(vdbench.files("a").len(), 12);
    assert!(!ran.out.contains("Starting RD=rd1;"), "{}", ran.out);
    let created = ran.average("format_for_rd1", "Write_rate");
    assert!(created > 0.0, "{}", ran.out);
}

#[test]
fn format_clean_removes_the_tree_and_what_else_is_there_stays() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=read", "fwdrate=100");
    vdbench.well(&text.replace("format=yes", "format=only"));
    let other = vdbench.anchor("a").join("notes.txt");
    fs::write(&other, "mine").expect("written");
    vdbench.well(&text.replace("format=yes", "format=clean"));
    assert_eq!(vdbench.files("a").into_keys().collect::<Vec<_>>(), ["notes.txt"]);
    assert!(!vdbench.anchor("a").join("vdb_control.file").exists());
}

#[test]
fn format_restart_fills_what_is_missing_and_short() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=read", "fwdrate=100");
    vdbench.well(&text.replace("format=yes", "format=only"));
    let of = |name: &str| vdbench.anchor("a").join("vdb.1_1.dir/vdb.2_1.dir").join(name);
    let inode = |name: &str| of(name).metadata().expect("there").ino();
    let kept = inode("vdb_f0001.file");
    fs::remove_file(of("vdb_f0002.file")).expect("removed");
    fs::File::options()
        .write(true)
        .open(of("vdb_f0003.file"))
        .expect("there")
        .set_len(100)
        .expect("cut");
    fs::remove_dir_all(vdbench.anchor("a").join("vdb.1_2.dir")).expect("removed");
    vdbench.well(&text.replace("format=yes", "format=(restart,only)"));
    let files = vdbench.files("a");
    assert_eq!((files.len(), files.values().all(|bytes| *bytes == 16 << 10)), (12, true));
    assert_eq!(inode("vdb_f0001.file"), kept, "a whole file was left alone");
}

#[test]
fn format_directories_makes_no_files() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=create", "fwdrate=max");
    let ran = vdbench.well(&text.replace("format=yes", "format=(dir,only)"));
    assert!(vdbench.files("a").is_empty());
    assert!(vdbench.anchor("a").join("vdb.1_2.dir/vdb.2_2.dir").is_dir());
    assert_eq!(ran.average("format_for_rd1", "Create_rate"), 0.0);
}

#[test]
fn a_tree_is_kept_between_runs_and_must_match_its_definition() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=read,xfersize=4k", "fwdrate=100");
    vdbench.well(&text.replace("format=yes", "format=only"));
    let again = text.replace("format=yes", "format=no");
    let ran = vdbench.well(&again);
    assert!(!ran.out.contains("format_for") && ran.average("rd1", "Read_rate") > 50.0);
    let other = again.replace("files=3", "files=4");
    vdbench.refused(&other, "old files=3; new files=4");
    // A format makes it anew, whatever stood there.
    vdbench.well(&other.replace("format=no", "format=only"));
    assert_eq!(vdbench.files("a").len(), 16);
}

#[test]
fn words_of_the_command_line_overrule_formats() {
    let vdbench = Vdbench::new();
    let text = with(TREE, "operation=getattr", "fwdrate=100").replace("format=yes", "format=no");
    let only = vdbench.run_with(&text, &["-co"]);
    assert_eq!((only.code, vdbench.files("a").len()), (Some(0), 12), "{}", only.err);
    assert!(!only.out.contains("Starting RD=rd1;"));
    let never = vdbench.run_with(&text.replace("format=no", "format=yes"), &["-cn"]);
    assert!(never.code == Some(0) && !never.out.contains("format_for"), "{}", never.out);
    let always = vdbench.run_with(&text, &["-cy"]);
    assert!(always.code == Some(0) && always.out.contains("format_for"), "{}", always.out);
}

#[test]
fn a_total_and_a_working_set_are_parts_of_the_files() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        "depth=1,width=1,files=40,size=4k,totalsize=80k,workingsetsize=20k",
        "operation=setattr,fileselect=random",
        "fwdrate=max",
    ));
    assert_eq!(vdbench.files("a").len(), 20, "as many as make up the total");
    assert!(ran.average("rd1", "Setattr_rate") > 0.0);
    // All files have the time of their format, but for the working set.
    let times: Vec<i64> = vdbench
        .files("a")
        .keys()
        .map(|name| vdbench.anchor("a").join(name).metadata().expect("there"))
        .map(|of| of.mtime() * 1_000_000_000 + of.mtime_nsec())
        .collect();
    let last = *times.iter().max().expect("files");
    let touched = times.iter().filter(|time| last - **time < 500_000_000).count();
    assert_eq!(touched, 5, "{times:?}");
}

#[test]
fn stopafter_sets_how_many_operations_a_file_gets() {
    let vdbench = Vdbench::new();
    let of = |fwd: &str| {
        let ran = vdbench.well(&with("depth=1,width=1,files=8,size=64k", fwd, "fwdrate=600"));
        ran.average("rd1", "Read_rate") / ran.average("rd1", "Open_rate")
    };
    let eight = of("operation=read,xfersize=4k,fileio=random,fileselect=random,stopafter=8");
    assert!((7.0..9.5).contains(&eight), "{eight}");
    let half = of("operation=read,xfersize=4k,fileio=random,fileselect=random,stopafter=50%");
    assert!((7.0..9.5).contains(&half), "{half}");
    let whole = of("operation=read,xfersize=4k,fileio=random,fileselect=random");
    assert!((14.0..18.5).contains(&whole), "{whole}");
}

#[test]
fn once_ends_with_the_last_file() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        "depth=1,width=1,files=30,size=4k",
        "operation=read,xfersize=4k,fileselect=once,threads=3",
        "fwdrate=max,elapsed=30",
    ));
    let rows = ran.flat("rd1", true);
    assert_eq!(rows.len(), 1);
    assert!(ran.flat("rd1", false).len() < 5, "it ended long before its time");
}

#[test]
fn files_are_created_deleted_and_written_by_workloads() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(
        &format!(
            "fsd=fsd1,anchor=A,{TREE}\n\
         fwd=create,fsd=fsd1,operation=create\nfwd=delete,fsd=fsd1,operation=delete\n\
         rd=rd1,fwd=(create),fwdrate=max,format=(dir),elapsed=2,interval=1\n\
         rd=rd2,fwd=delete,fwdrate=max,elapsed=2,interval=1\n"
        )
        .replace("fwd=create,", "fwd=made,")
        .replace("fwd=delete,fsd", "fwd=gone,fsd")
        .replace("fwd=(create)", "fwd=made")
        .replace("fwd=delete,fwdrate", "fwd=gone,fwdrate"),
    );
    assert!(vdbench.files("a").is_empty(), "all that were made were removed: {}", ran.out);
    assert_eq!(ran.flat("rd2", true).len(), 1);
}

#[test]
fn a_sequential_write_deletes_first_where_it_says_so() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(
        TREE,
        "operation=write,xfersize=8k,fileio=(sequential,delete)",
        "fwdrate=100",
    ));
    assert!(ran.average("rd1", "Delete_rate") > 10.0, "{}", ran.out);
    assert!(ran.average("rd1", "Create_rate") > 10.0);
}

#[test]
fn files_are_copied_and_moved_to_a_target() {
    let vdbench = Vdbench::new();
    vdbench.well(&format!(
        "fsd=default,{TREE}\nfsd=fsd1,anchor=A\nfsd=fsd2,anchor=B\n\
         fwd=cp,fsd=fsd1,target=fsd2,operation=copy,xfersize=8k\n\
         rd=rd1,fwd=cp,fwdrate=max,format=yes,elapsed=4,interval=1\n"
    ));
    assert_eq!(vdbench.files("b"), vdbench.files("a"));
    vdbench.well(&format!(
        "fsd=default,{TREE}\nfsd=fsd1,anchor=A\nfsd=fsd2,anchor=B\n\
         fwd=mv,fsd=fsd1,target=fsd2,operation=move\n\
         rd=rd1,fwd=mv,fwdrate=max,elapsed=4,interval=1\n"
    ));
    assert_eq!((vdbench.files("a").len(), vdbench.files("b").len()), (0, 12));
}

#[test]
fn directories_are_made_and_removed_by_workloads() {
    let vdbench = Vdbench::new();
    let fsd = "fsd=fsd1,anchor=A,depth=2,width=3,files=1,size=1k\n";
    vdbench.well(&format!(
        "{fsd}fwd=make,fsd=fsd1,operation=mkdir,threads=2\n\
         rd=rd1,fwd=make,fwdrate=max,elapsed=2,interval=1\n"
    ));
    fn below(path: &Path) -> usize {
        fs::read_dir(path)
            .expect("there")
            .filter(|e| e.as_ref().is_ok_and(|e| e.path().is_dir()))
            .count()
    }
    assert_eq!(below(&vdbench.anchor("a")), 3);
    assert_eq!(below(&vdbench.anchor("a").join("vdb.1_2.dir")), 3);
    vdbench.well(&format!(
        "{fsd}fwd=remove,fsd=fsd1,operation=rmdir,threads=2\n\
         rd=rd1,fwd=remove,fwdrate=max,elapsed=2,interval=1\n"
    ));
    assert_eq!(below(&vdbench.anchor("a")), 0);
}

#[test]
fn anchors_are_made_where_that_is_asked_for() {
    let vdbench = Vdbench::new();
    let text = with("depth=1,width=1,files=1,size=1k", "operation=getattr", "fwdrate=10");
    let missing = text.replace("anchor=A", &format!("anchor={}", vdbench.scratch.path("new/one")));
    vdbench.refused(&missing, "new/one");
    vdbench.well(&format!("create_anchors=yes\n{missing}"));
    assert!(vdbench.anchor("new/one").join("vdb.1_1.dir/vdb_f0001.file").exists());
}

#[test]
fn a_curve_runs_its_points_after_its_maximum() {
    let vdbench = Vdbench::new();
    let ran = vdbench.well(&with(TREE, "operation=getattr", "fwdrate=curve,curve=(20,50)"));
    assert_eq!(ran.out.matches("Starting RD=format_for").count(), 1, "{}", ran.out);
    let [max, fifth] = ["rd1", "rd1_(20%)"].map(|run| ran.average(run, "rate"));
    assert!((fifth / max - 0.2).abs() < 0.06, "{max} {fifth}");
}

/// Files that are refused, and a part of the sentence about each.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("fsd=fsd1,depth=1,width=1,files=1\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n", "anchor"),
    ("fsd=fsd1,anchor=A\nfwd=fwd1,fsd=fsd2\nrd=rd1,fwd=fwd1,fwdrate=max\n", "fsd=fsd2"),
    ("fsd=fsd1,anchor=A\nfwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd2,fwdrate=max\n", "fwd=fwd2"),
    ("fsd=fsd1,anchor=A\nfwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1\n", "fwdrate"),
    ("fsd=fsd1,anchor=A\nfwd=fwd1,fsd=fsd1,operation=reed\nrd=rd1,fwd=fwd1,fwdrate=max\n", "read"),
    ("fsd=fsd1,anchor=A\n\
      fwd=fwd1,fsd=fsd1,rdpct=50\nrd=rd1,fwd=fwd1,fwdrate=max\n", "fileio=random"),
    ("fsd=fsd1,anchor=A\n\
      fwd=fwd1,fsd=fsd1,operation=copy\nrd=rd1,fwd=fwd1,fwdrate=max\n", "target="),
    ("fsd=fsd1,anchor=A,sizes=(4k,50,8k,40)\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n", "100 %"),
    ("fsd=fsd1,anchor=A,files=0\nfwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n", "files"),
    ("fsd=fsd1,anchor=A,totalsize=1g\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n", "totalsize"),
    ("fsd=fsd1,anchor=A\n\
      fwd=a,fsd=fsd1,skew=60\nfwd=b,fsd=fsd1,skew=60\nrd=rd1,fwd=(a,b),fwdrate=max\n", "skew"),
    ("fsd=fsd1,anchor=A\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max,format=sometimes\n", "sometimes"),
    ("fsd=fsd1,anchor=A\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max,format=limited\n", "limited"),
    ("fsd=fsd1,anchor=A,distribution=top\n\
      fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n", "bottom"),
    ("fsd=fsd1,anchor=A\n\
      fwd=fwd1,fsd=fsd1,fileio=(random,shared),fileselect=random\n\
      rd=rd1,fwd=fwd1,fwdrate=max\n", "exclude"),
];

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let vdbench = Vdbench::new();
    for (text, part) in REFUSED {
        vdbench.refused(text, part);
    }
    assert!(vdbench.files("a").is_empty());
}

/// Files that are simulated, and the runs that they stand for.
#[rustfmt::skip]
const SIMULATED: &[(&str, &[&str])] = &[
    ("rd=rd1,fwd=fwd1,fwdrate=max", &["rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=max,format=yes", &["format_for_rd1", "rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=max,format=only", &["format_for_rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=100,forthreads=(1,2)", &["rd1", "rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=(100,200)", &["rd1", "rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=100,forsizes=(4k,8k),format=yes",
     &["format_for_rd1", "rd1", "format_for_rd1", "rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=100,forwidth=(1,2),format=once", &["format_for_rd1", "rd1", "rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=100,format=(no,complete)", &["rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=100,operations=(read,getattr)", &["rd1"]),
    ("rd=rd1,fwd=fwd1,fwdrate=curve,curve=(50,100)", &["rd1", "rd1_(50%)", "rd1_(100%)"]),
];

#[test]
fn simulated_runs_are_told_and_nothing_is_made() {
    let vdbench = Vdbench::new();
    for (rd, expected) in SIMULATED {
        let text = format!("fsd=fsd1,anchor=A,{TREE}\nfwd=fwd1,fsd=fsd1,operation=read\n{rd}\n");
        let ran = vdbench.run_with(&text, &["-s"]);
        assert_eq!(ran.code, Some(0), "{rd}: {}", ran.err);
        let names: Vec<&str> = ran
            .out
            .lines()
            .filter_map(|line| line.split_once("Simulating RD="))
            .map(|(_, rest)| rest.split([';', ' ']).next().unwrap_or_default())
            .collect();
        assert_eq!(names, *expected, "{rd}: {}", ran.out);
    }
    assert!(vdbench.files("a").is_empty());
}
