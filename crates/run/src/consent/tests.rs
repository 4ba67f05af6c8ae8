//! Guards against real files and, as root, loop devices.

use std::path::PathBuf;
use std::process::Command;

use candor_entries::Lists;
use candor_plan::entries::{Entries, Step};
use candor_plan::units::Mix;
use candor_plan::{Blocks, Bytes, Engine};
use tempfile::TempDir;

use super::*;

const MIB: u64 = 1 << 20;

/// One job on that target.
fn plan(target: Target, mix: Mix) -> Plan {
    doing(target, Blocks { mix, ..Blocks::default() }.into())
}

/// One job that does that work to that target.
fn doing(target: Target, work: Work) -> Plan {
    let targets = vec![target.name.clone()];
    let jobs = vec![Job { targets, work, ..Job::default() }];
    Plan {
        targets: vec![target],
        phases: vec![Phase { jobs, ..Phase::default() }],
        ..Plan::default()
    }
}

fn target(path: &Path) -> Target {
    Target { path: path.into(), size: Some(Bytes(4096)), ..Target::default() }
}

/// Rules that refuse the plan.
fn refused(guard: &mut Guard, plan: &Plan) -> Vec<&'static str> {
    rules(guard.admit(&Upcoming::all(plan, &Lists::default())))
}

fn rules(result: Result<(), RunError>) -> Vec<&'static str> {
    match result {
        Ok(()) => Vec::new(),
        Err(RunError::Unsafe(problems)) => problems.iter().map(|problem| problem.rule).collect(),
        Err(error) => panic!("{error}"),
    }
}

fn guard(force: Option<&str>) -> Guard {
    let force: Vec<String> = force.map(str::to_owned).into_iter().collect();
    Guard::new(&force, &Roots::default())
}

/// A loop device, detached when dropped.
struct Loop {
    node: PathBuf,
    backing: TempDir,
}

impl Loop {
    fn new(test: &str) -> Option<Loop> {
        let backing = tempfile::tempdir().expect("a scratch directory");
        let file = backing.path().join("backing");
        let sized = std::fs::File::create(&file).and_then(|file| file.set_len(16 * MIB));
        sized.expect("a backing file");
        let losetup = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
        let node = losetup.ok().filter(|output| output.status.success());
        let Some(node) = node.and_then(|output| String::from_utf8(output.stdout).ok()) else {
            println!("skipped: {test}: it needs root and loop devices");
            return None;
        };
        Some(Loop { node: node.trim().into(), backing })
    }

    fn name(&self) -> String {
        self.node.file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// Writes a partition table with one entry, and tells the kernel.
    fn partition(&self) -> bool {
        let mut table = [0; 512];
        table[446 + 4] = 0x83;
        table[446 + 8..446 + 12].copy_from_slice(&2048u32.to_le_bytes());
        table[446 + 12..446 + 16].copy_from_slice(&20000u32.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        std::fs::write(&self.node, table).expect("written");
        Command::new("partx").arg("--add").arg(&self.node).status().is_ok_and(|s| s.success())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for (tool, option) in [("partx", "--delete"), ("losetup", "--detach")] {
            let _ = Command::new(tool).arg(option).arg(&self.node).output();
        }
    }
}

#[test]
fn a_file_that_appears_later_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("thesis");
    let (plan, mut guard) = (plan(target(&path), Mix::WRITE), guard(None));
    assert!(refused(&mut guard, &plan).is_empty());
    std::fs::write(&path, "words").expect("written");
    assert_eq!(
        rules(guard.create(&plan.targets[0], 0, &path, destroys(&plan.phases, &plan.targets[0]))),
        ["consent-file"]
    );
    assert_eq!(refused(&mut guard, &plan), ["consent-file"]);
    drop(guard);
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "words");
}

#[test]
fn an_own_file_is_used_again_and_removed() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("own");
    let (plan, mut guard) = (plan(target(&path), Mix::WRITE), guard(None));
    for _ in 0..2 {
        assert!(refused(&mut guard, &plan).is_empty());
        assert!(
            rules(guard.create(
                &plan.targets[0],
                0,
                &path,
                destroys(&plan.phases, &plan.targets[0])
            ))
            .is_empty()
        );
    }
    guard.remove_files();
    assert!(!path.exists());
}

#[test]
fn a_link_to_nothing_is_refused() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (path, aim) = (dir.path().join("link"), dir.path().join("aim"));
    std::os::unix::fs::symlink(&aim, &path).expect("linked");
    let (plan, mut guard) = (plan(target(&path), Mix::WRITE), guard(None));
    assert_eq!(refused(&mut guard, &plan), ["target-kind"]);
    assert_eq!(
        rules(guard.create(&plan.targets[0], 0, &path, destroys(&plan.phases, &plan.targets[0]))),
        ["target-kind"]
    );
    assert!(!aim.exists());
}

#[test]
fn a_path_must_be_of_its_kind() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let file = dir.path().join("file");
    std::fs::write(&file, [0; 4096]).expect("written");
    let wrong = [
        (file.clone(), TargetKind::Device),
        (dir.path().join("absent"), TargetKind::Device),
        (dir.path().into(), TargetKind::File),
        ("/dev/null".into(), TargetKind::Auto),
        ("/dev/candor-absent".into(), TargetKind::Auto),
    ];
    for (path, kind) in wrong {
        let plan = plan(Target { kind, ..target(&path) }, Mix::READ);
        assert_eq!(refused(&mut guard(None), &plan), ["target-kind"], "{}", path.display());
    }
    let node = Path::new("/dev/candor-absent");
    let plan = plan(target(node), Mix::WRITE);
    assert_eq!(
        rules(guard(None).create(
            &plan.targets[0],
            0,
            node,
            destroys(&plan.phases, &plan.targets[0])
        )),
        ["target-kind"]
    );
    assert!(!node.exists());
}

#[test]
fn a_file_behind_a_loop_device_needs_force() {
    let Some(device) = Loop::new("a_file_behind_a_loop_device_needs_force") else { return };
    let backing = device.backing.path().join("backing");
    let agreed = Target { overwrite: true, ..target(&backing) };
    let writes = plan(agreed.clone(), Mix::WRITE);
    assert_eq!(refused(&mut guard(None), &writes), ["held-device"]);
    assert_eq!(refused(&mut guard(None), &plan(agreed, Mix::READ)), [""; 0]);
    assert_eq!(refused(&mut guard(Some(&device.name())), &writes), [""; 0]);
}

#[test]
fn a_held_device_needs_force() {
    let Some(device) = Loop::new("a_held_device_needs_force") else { return };
    let plan = plan(Target { overwrite: true, ..target(&device.node) }, Mix::WRITE);
    let holder = Claims::default();
    let mut first = Guard { claims: holder, ..guard(None) };
    assert!(refused(&mut first, &plan).is_empty());
    assert!(refused(&mut first, &plan).is_empty(), "its own claim is in nobody's way");
    assert_eq!(refused(&mut guard(None), &plan), ["held-device"]);
    assert_eq!(refused(&mut guard(Some("loop999")), &plan), ["held-device"]);
    assert!(refused(&mut guard(Some(&device.name())), &plan).is_empty());
    drop(first);
    // A child that another test starts has all open files for a moment, the claim among them.
    while !refused(&mut guard(None), &plan).is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn a_device_of_two_names_is_claimed_once() {
    let Some(device) = Loop::new("a_device_of_two_names_is_claimed_once") else { return };
    let dir = tempfile::tempdir().expect("a scratch directory");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&device.node, &link).expect("linked");
    let mut guard = guard(None);
    for path in [&device.node, &link] {
        let target = Target { overwrite: true, kind: TargetKind::Device, ..target(path) };
        assert!(refused(&mut guard, &plan(target, Mix::WRITE)).is_empty());
    }
}

#[test]
fn a_member_of_an_array_needs_force() {
    let Some(device) = Loop::new("a_member_of_an_array_needs_force") else { return };
    let mut start = vec![0; 8192];
    start[4096..4100].copy_from_slice(&0xa92b_4efc_u32.to_le_bytes());
    std::fs::write(&device.node, &start).expect("written");
    let plan = plan(Target { overwrite: true, ..target(&device.node) }, Mix::WRITE);
    assert_eq!(refused(&mut guard(None), &plan), ["held-device"]);
    assert!(refused(&mut guard(Some(&device.name())), &plan).is_empty());
}

#[test]
fn a_partitioned_device_needs_force() {
    let test = "a_partitioned_device_needs_force";
    let Some(device) = Loop::new(test) else { return };
    if !device.partition() {
        println!("skipped: {test}: the kernel shows no partitions of loop devices");
        return;
    }
    let whole = plan(Target { overwrite: true, ..target(&device.node) }, Mix::WRITE);
    let refusal = guard(None)
        .admit(&Upcoming::all(&whole, &Lists::default()))
        .expect_err("it is partitioned")
        .to_string();
    assert!(refusal.contains(&format!("is partitioned: {}p1", device.name())), "{refusal}");
    assert!(refused(&mut guard(Some(&device.name())), &whole).is_empty());
    assert!(refused(&mut guard(None), &plan(whole.targets[0].clone(), Mix::READ)).is_empty());
}

/// Every operation of every kind of work that destroys, with the table's name for it.
fn destroying() -> Vec<(&'static str, Work)> {
    let blocks = |mix, engine| Work::from(Blocks { mix, engine, ..Blocks::default() });
    let mut all = vec![
        ("write", blocks(Mix::WRITE, Engine::Psync)),
        ("trim", blocks(Mix::TRIM, Engine::IO_URING)),
        ("read", blocks(Mix::READ, Engine::Fallocate)),
    ];
    for step in Step::ALL.into_iter().filter(|step| step.operation().destroys) {
        let over = Over::TargetFiles;
        let entries = Entries { over, steps: vec![step], ..Entries::default() };
        all.push((step.name(), entries.into()));
    }
    all
}

#[test]
fn nothing_that_destroys_touches_what_others_made() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (file, directory) = (dir.path().join("thesis"), dir.path().join("empty"));
    std::fs::write(&file, [7; 4096]).expect("written");
    std::fs::create_dir(&directory).expect("made");
    for (name, work) in destroying() {
        for create in [Create::Nothing, Create::Files] {
            let foreign = Target { create, keep: true, ..target(&file) };
            let plan = doing(foreign.clone(), work.clone());
            assert_eq!(refused(&mut guard(None), &plan), ["consent-file"], "{name} {create:?}");
            let agreed = doing(Target { overwrite: true, ..foreign }, work.clone());
            assert_eq!(refused(&mut guard(None), &agreed), [""; 0], "{name} {create:?}");
        }
        if let Work::Entries(entries) = &work {
            let over = Over::TargetDirectories;
            let work = Work::from(Entries { over, ..(**entries).clone() });
            let kind = TargetKind::File;
            let create = Create::Nothing;
            let foreign = Target { create, kind, keep: true, ..target(&directory) };
            let plan = doing(foreign.clone(), work.clone());
            assert_eq!(refused(&mut guard(None), &plan), ["consent-directory"], "{name}");
            let agreed = doing(Target { overwrite: true, ..foreign }, work);
            assert_eq!(refused(&mut guard(None), &agreed), [""; 0], "{name}");
        }
    }
}

#[test]
fn nothing_that_destroys_touches_a_device_without_consent() {
    let Some(device) = Loop::new("nothing_that_destroys_touches_a_device_without_consent") else {
        return;
    };
    for (name, work) in destroying() {
        let plan = doing(target(&device.node), work);
        assert_eq!(refused(&mut guard(None), &plan), ["consent-device"], "{name}");
    }
}

#[test]
fn names_that_a_run_made_are_its_own() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("made");
    let over = Over::TargetDirectories;
    let step = |step| Work::from(Entries { over, steps: vec![step], ..Entries::default() });
    let target = Target { keep: true, kind: TargetKind::File, ..target(&path) };
    let (makes, removes) =
        (doing(target.clone(), step(Step::Mkdir)), doing(target, step(Step::Rmdir)));
    let mut guard = guard(None);
    assert_eq!(refused(&mut guard, &makes), [""; 0]);
    let absent = guard.absent_names(&makes, &makes.phases[0]);
    std::fs::create_dir(&path).expect("made");
    assert_eq!(refused(&mut guard, &removes), ["consent-directory"]);
    guard.adopt(&absent);
    assert_eq!(refused(&mut guard, &removes), [""; 0]);
    // Another one that takes its name is somebody else's.
    std::fs::create_dir(dir.path().join("other")).expect("made");
    std::fs::rename(dir.path().join("other"), &path).expect("renamed");
    assert_eq!(refused(&mut guard, &removes), ["consent-directory"]);
}
