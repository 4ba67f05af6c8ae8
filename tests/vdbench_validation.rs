//! candor called as vdbench: data validation, corruptions as vdbench tells them, journals.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Output;
use std::time::Duration;

use crate::support::shared_host;
use crate::support::vdbench::Vdbench;

const BLOCK: usize = 4096;

/// Writes all of a lun once, in sequence.
fn writes(mib: u64) -> String {
    format!(
        "data_errors=100000\nsd=sd1,lun=lun,size={mib}m\n\
         wd=wd1,sd=sd1,xfersize=64k,rdpct=0,seekpct=eof\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=30,interval=1\n"
    )
}

fn block(lun: &File, number: u64) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    lun.read_exact_at(&mut block, number * BLOCK as u64).expect("a block is readable");
    block
}

fn put(lun: &File, number: u64, block: &[u8]) {
    lun.write_all_at(block, number * BLOCK as u64).expect("a block is writable");
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_thousand_corruptions_of_each_kind_are_told_as_vdbench_tells_them() {
    const EACH: u64 = 1000;
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let ran = vdbench.of_file(&writes(64), "-jn");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
    let path = vdbench.scratch.path("lun");
    let lun = File::options().read(true).write(true).open(path).expect("the lun is there");
    let older: Vec<Vec<u8>> = (0..16 * EACH).map(|number| block(&lun, number)).collect();
    let ran = vdbench.of_file(&writes(64), "-jrn");
    assert_eq!(ran.status.code(), Some(0), "nothing is accused: {}", text(&ran));
    assert!(text(&ran).contains("Starting RD=journal_recovery"), "{}", text(&ran));
    for i in 0..EACH {
        let [flip, tear, stale, one, other] = [0, 3, 6, 9, 12].map(|kind| i * 16 + kind);
        let mut flipped = block(&lun, flip);
        flipped[512 + (i as usize * 7) % (BLOCK - 512)] ^= 1 << (i % 8);
        put(&lun, flip, &flipped);
        let mut torn = block(&lun, tear);
        let at = 512 * (1 + i as usize % 7);
        torn[at..].copy_from_slice(&older[tear as usize][at..]);
        put(&lun, tear, &torn);
        put(&lun, stale, &older[stale as usize]);
        if i % 2 == 0 {
            let blocks = [block(&lun, one), block(&lun, other)];
            put(&lun, one, &blocks[1]);
            put(&lun, other, &blocks[0]);
        }
    }
    let ran = vdbench.of_file(&writes(64), "-jro");
    let told = text(&ran);
    assert_eq!(ran.status.code(), Some(157), "{told}");
    assert!(
        told.contains(
            "Corrupted key blocks: 4,000: 1,000 with flipped bits, 1,000 with parts of several \
             writes, 1,000 with another block, 1,000 with an older write; the first 1024 are shown"
        ),
        "{told}"
    );
    assert!(told.contains("errno: 60003: 'A Data Validation error was discovered'"), "{told}");
    let log = vdbench.page("errorlog");
    for said in [
        "At least one Data Validation error has been detected.",
        "Corrupted data block for sd=sd1,lun=",
        "Data Validation error for sd=sd1,lun=",
        "Data Corruption beyond fixed sector header.",
        "Logical byte address miscompare. Expecting 0x",
        "Data Validation Key miscompare. Expecting key=0x02 received key=0x01 (2/1)",
    ] {
        assert!(log.contains(said), "no {said} in {}", &log[..log.len().min(6000)]);
    }
}

#[test]
fn a_corruption_is_found_before_its_block_is_written_again() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    // The command between the runs damages one block of 4 KiB.
    let damage = "dd if=/dev/zero of=lun bs=4096 count=1 seek=77 conv=notrunc";
    let file = format!(
        "data_errors=50\nsd=sd1,lun=lun,size=2m\nwd=wd1,sd=sd1,xfersize=64k,rdpct=0,seekpct=eof\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=30,interval=1,endcmd=\"{damage}\"\n\
         rd=rd2,wd=wd1,iorate=max,elapsed=30,interval=1\n\
         rd=rd3,wd=wd1,iorate=max,elapsed=30,interval=1\n"
    );
    let ran = vdbench.of_file(&file, "-vt");
    let told = text(&ran);
    assert_eq!(ran.status.code(), Some(157), "{told}");
    assert!(told.contains("Corrupted key blocks: 1: 1 with no data of this run"), "{told}");
    let log = vdbench.page("errorlog");
    assert!(log.contains("first found to be corrupted during a read-before-write."), "{log}");
    assert!(log.contains("Key block was last written."), "{log}");
    assert!(log.contains(&format!("Key block lba: 0x{:08x}", 77 * BLOCK)), "{log}");
    let stop = vdbench.of_file(&file.replace("data_errors=50", "data_errors=1"), "-v");
    assert!(
        text(&stop).contains("'data_errors=1' requested. Abort rd=rd2 after last error."),
        "{}",
        text(&stop)
    );
    // The last run begins below the limit only, which counts the errors of each run anew.
    let told = text(&stop);
    assert!(told.contains("Starting RD=rd2") && !told.contains("Starting RD=rd3"), "{told}");
    let again = format!("rd=rd2,endcmd=\"{}\",", damage.replace("=77", "=5"));
    let each = file.replace("data_errors=50", "data_errors=2").replace("rd=rd2,", &again);
    let each = text(&vdbench.of_file(&each, "-v"));
    assert_eq!(each.matches("Corrupted key blocks: 1:").count(), 2, "{each}");
    assert!(each.contains("Starting RD=rd3") && !each.contains("requested. Abort"), "{each}");
}

#[test]
fn a_run_that_was_killed_goes_on_from_its_journal() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "sd=sd1,lun=lun,size=2m,threads=3\nwd=wd1,sd=sd1,xfersize=(4k,50,16k,50),rdpct=20\n\
        rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=1\n";
    vdbench.scratch.file("parm", file);
    let journal = vdbench.scratch.path("sd1.jnl");
    for (round, options) in ["-j", "-jr", "-jr"].into_iter().enumerate() {
        let mut command = vdbench.command(&format!("-f ../parm {options}"));
        let mut running = command.stdout(std::process::Stdio::null()).spawn().expect("it starts");
        while fs::read_dir(&journal).map_or(0, Iterator::count) < 4 {
            assert_eq!(running.try_wait().expect("waited for"), None, "round {round}");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(40 + 37 * round as u64));
        running.kill().expect("it runs");
        running.wait().expect("it ends");
    }
    let ran = vdbench.run("-f ../parm -jro");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
    assert!(text(&ran).contains("Starting RD=journal_recovery"), "{}", text(&ran));
}

/// A tree that is formatted before runs of workloads, which a line adds.
fn trees(fsd: &str, rest: &str) -> String {
    format!(
        "create_anchors=yes\nfsd=fsd1,anchor=tree,depth=1,width=2,files=4,{fsd}\n\
         fwd=default,fsd=fsd1,xfersize=4k,threads=2\n{rest}\n"
    )
}

#[test]
fn files_of_trees_are_never_accused_by_mistake() {
    let _host = shared_host();
    for (fsd, fwds) in [
        ("sizes=64k", "fwd=fwd1,rdpct=50,fileio=random,fileselect=random"),
        (
            "sizes=(4k,50,30000,50)",
            "fwd=fwd1,operation=write,stopafter=30%\nfwd=fwd2,operation=read",
        ),
        ("sizes=(16k,0)", "fwd=fwd1,operation=write,fileio=(sequential,delete)"),
        (
            "sizes=100k",
            "fwd=fwd1,operation=write,xfersize=(4k,50,64k,50),fileio=random,stopafter=20\n\
             fwd=fwd2,operation=delete,skew=10\nfwd=fwd3,operation=create,skew=10\n\
             fwd=fwd4,operation=write,skew=20\nfwd=fwd5,operation=read,xfersize=64k,skew=30",
        ),
    ] {
        let vdbench = Vdbench::new();
        let rd = "rd=rd1,fwd=fwd*,fwdrate=max,format=yes,elapsed=2,interval=1";
        for options in ["-vt", "-vr"] {
            let ran = vdbench.of_file(&trees(fsd, &format!("{fwds}\n{rd}")), options);
            assert_eq!(ran.status.code(), Some(0), "{fwds} {options}: {}", text(&ran));
            assert!(!text(&ran).contains("Corrupted"), "{fwds} {options}: {}", text(&ran));
        }
    }
}

#[test]
fn corruptions_of_files_are_told_as_those_of_luns() {
    let _host = shared_host();
    let file = "tree/vdb.1_1.dir/vdb_f0002.file";
    let flip = format!("printf x | dd of={file} bs=1 seek=5000 conv=notrunc");
    for (fwd, seen) in [
        ("fwd=fwd1,operation=read", "workload requested read"),
        ("fwd=fwd1,operation=write,fileio=random,fileselect=random", "read-before-write"),
    ] {
        let vdbench = Vdbench::new();
        let rds = format!(
            "{fwd}\nrd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=2,interval=1,endcmd=\"{flip}\"\n\
             rd=rd2,fwd=fwd1,fwdrate=2000,elapsed=3,interval=1"
        );
        let ran = vdbench.of_file(&trees("sizes=16k", &rds), "-vt");
        let told = text(&ran);
        assert_eq!(ran.status.code(), Some(157), "{told}");
        assert!(told.contains("Corrupted key blocks: 1: 1 with flipped bits"), "{told}");
        let log = vdbench.page("errorlog");
        for said in [
            format!("Corrupted data block for fsd=fsd1,file={file}; file lba: 4,096"),
            format!("first found to be corrupted during a {seen}."),
            "Key block was last".to_owned(),
        ] {
            assert!(log.contains(&said), "{fwd}: no {said} in {log}");
        }
        let bytes = fs::read(vdbench.scratch.path(file)).expect("the file");
        assert_eq!(bytes[5000], b'x', "a block that does not match is left alone");
    }
}

#[test]
fn a_lost_write_to_a_file_is_found() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "tree/vdb.1_2.dir/vdb_f0003.file";
    // The file gets the bytes again that it had before the last run wrote it.
    let rds = format!(
        "fwd=fwd1,operation=write,fileselect=once\nfwd=fwd2,operation=read,fileselect=once\n\
         rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=10,interval=1,endcmd=\"cp {file} old\"\n\
         rd=rd2,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,endcmd=\"cp old {file}\"\n\
         rd=rd3,fwd=fwd2,fwdrate=max,elapsed=10,interval=1"
    );
    let ran = vdbench.of_file(&trees("sizes=12k", &rds), "-v");
    let told = text(&ran);
    assert_eq!(ran.status.code(), Some(157), "{told}");
    assert!(told.contains("Corrupted key blocks: 3: 3 with an older write"), "{told}");
    let log = vdbench.page("errorlog");
    assert!(log.contains("Expecting key=0x03 received key=0x02 (3/2)"), "{log}");
}

/// Two trees with work that makes, writes, removes and moves files.
fn lively(format: &str) -> String {
    let fsd = "depth=1,width=2,files=6,sizes=(24k,50,30000,50)";
    let fwds = [
        "operation=write,fileio=random,fileselect=random",
        "operation=write,fileio=(sequential,delete),fileselect=random",
        "operation=delete",
        "operation=create",
        "operation=read,fileselect=random",
        "operation=move,target=fsd2,fileselect=random",
    ];
    let fwds = fwds.iter().enumerate().map(|(at, fwd)| format!("fwd=fwd{at},{fwd}\n"));
    format!(
        "create_anchors=yes\nfsd=fsd1,anchor=tree,{fsd},journal=journals\n\
         fsd=fsd2,anchor=other,{fsd}\nfwd=default,fsd=fsd1,xfersize=4k,threads=2\n{}\
         fwd=back,fsd=fsd2,operation=move,target=fsd1,fileselect=random\n\
         fwd=more,fsd=fsd2,operation=write\n\
         rd=rd1,fwd=*,fwdrate=max,format={format},elapsed=60,interval=1\n",
        fwds.collect::<String>()
    )
}

/// Starts runs on trees again and again, each of which is killed some time after its journal has
/// its logs and its tree has a file.
fn killed(vdbench: &Vdbench, rounds: &[(&str, &str)]) {
    let _ = fs::create_dir(vdbench.scratch.path("journals"));
    for (round, (options, format)) in rounds.iter().enumerate() {
        vdbench.scratch.file("parm", &lively(format));
        let mut command = vdbench.command(&format!("-f ../parm {options}"));
        let mut running = command.stdout(std::process::Stdio::null()).spawn().expect("it starts");
        let journal = vdbench.scratch.path("journals/fsd1.jnl");
        let entries = |path: &str| fs::read_dir(path).map_or(0, Iterator::count);
        let leaf = |number: u32| vdbench.scratch.path(&format!("tree/vdb.1_{number}.dir"));
        while entries(&journal) < 4 || entries(&leaf(1)) + entries(&leaf(2)) == 0 {
            assert_eq!(running.try_wait().expect("waited for"), None, "round {round}");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(60 + 97 * round as u64));
        assert_eq!(running.try_wait().expect("waited for"), None, "round {round}");
        running.kill().expect("it runs");
        running.wait().expect("it ends");
    }
}

#[test]
fn trees_whose_runs_were_killed_go_on_from_their_journals() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let rounds = [
        ("-j", "yes"),
        ("-jr", "restart"),
        ("-jr", "restart"),
        ("-jr", "no"),
        ("-jr", "yes"),
        ("-jr", "restart"),
        ("-jr", "no"),
        ("-jr", "no"),
    ];
    killed(&vdbench, &rounds);
    let ran = vdbench.of_file(&lively("no"), "-jro");
    let told = text(&ran);
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert!(told.contains("Starting RD=journal_recovery"), "{told}");
    assert!(!told.contains("Corrupted") && !told.contains("Starting RD=rd1"), "{told}");
}

#[test]
fn corruptions_of_trees_are_found_after_a_kill() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    // Read and written all the time: files that are not removed, and whose blocks have many keys.
    fn file(format: &str) -> String {
        format!(
            "create_anchors=yes\nfsd=fsd1,anchor=tree,depth=1,width=2,files=8,\
             sizes=(24k,50,30000,50),journal=journals\nfwd=fwd1,fsd=fsd1,xfersize=4k,threads=4,operation=write,\
             fileio=random,fileselect=random\n\
             rd=rd1,fwd=fwd1,fwdrate=max,format={format},elapsed=60,interval=1\n"
        )
    }
    fs::create_dir(vdbench.scratch.path("journals")).expect("a directory");
    let path = |name: &str| vdbench.scratch.path(&format!("tree/{name}"));
    let parm = |format| drop(vdbench.scratch.file("parm", &file(format)));
    parm("yes");
    let formatted = vdbench.of_file(&file("yes").replace("elapsed=60", "elapsed=2"), "-jn");
    assert_eq!(formatted.status.code(), Some(0), "{}", text(&formatted));
    let [stale, flipped, torn] = [1, 2, 3].map(|file| format!("vdb.1_1.dir/vdb_f000{file}.file"));
    let [gone, short] = [4, 5].map(|file| format!("vdb.1_2.dir/vdb_f000{file}.file"));
    let older = [&stale, &torn].map(|name| fs::read(path(name)).expect("a file"));
    // Without a format, until each block has been written again.
    let mut command = vdbench.command("-f ../parm -jrn");
    parm("no");
    let mut running = command.stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let is_newer = |name: &str, older: &[u8]| {
        fs::read(path(name)).is_ok_and(|now| {
            now.chunks(BLOCK).zip(older.chunks(BLOCK)).all(|(now, then)| now != then)
        })
    };
    while !(is_newer(&stale, &older[0]) && is_newer(&torn, &older[1])) {
        assert_eq!(running.try_wait().expect("waited for"), None);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    running.kill().expect("it runs");
    running.wait().expect("it ends");

    let open = |name: &str| File::options().read(true).write(true).open(path(name)).expect("open");
    put(&open(&stale), 1, &older[0][BLOCK..][..BLOCK]);
    let (of, mut mixed) = (open(&torn), block(&open(&torn), 2));
    mixed[2048..].copy_from_slice(&older[1][2 * BLOCK + 2048..][..2048]);
    put(&of, 2, &mixed);
    let mut bits = block(&open(&flipped), 0);
    bits[777] ^= 4;
    put(&open(&flipped), 0, &bits);
    fs::remove_file(path(&gone)).expect("removed");
    let length = open(&short).metadata().expect("a file").len();
    open(&short).set_len(length - 5).expect("cut");

    let ran = vdbench.of_file(&file("no"), "-jro");
    let told = text(&ran);
    assert_eq!(ran.status.code(), Some(157), "{told}");
    assert!(told.contains("1 with flipped bits, 1 with parts of several writes,"), "{told}");
    assert!(told.contains("1 with an older write"), "{told}");
    let log = vdbench.page("errorlog");
    let lost = format!("file=tree/{gone}; file lba: 4,096");
    for said in [
        lost.as_str(),
        "candor: the file is not there, and the journal knows write",
        &format!("candor: the file has {} bytes, and the journal knows write", length - 5),
    ] {
        assert!(log.contains(said), "no {said} in {}", &log[..log.len().min(9000)]);
    }
    // What is bad, or not there, stays known as that: it is not found again, and nothing else is.
    let ran = vdbench.of_file(&file("no"), "-jro");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
}
