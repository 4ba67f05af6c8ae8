//! The guest's whole world, one archive that the kernel unpacks into memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::Kernel;
use crate::{Lab, LabError, absolute, failed, host};

/// Programs of the guest beside its shell: what makes devices, and the peer of the block tracer.
const PROGRAMS: &[&str] = &["mdadm", "dmsetup", "blktrace", "blkparse", "make-bcache"];
/// Programs that single cases need, which say so where these are missing.
const OF_SINGLE_CASES: &[&str] = &["lvm", "ip", "tc"];
/// The guest's shell and all its small programs.
const SHELL: &str = "busybox";
/// Where programs are looked for.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Builds the archive below a folder; its path.
pub fn build(lab: &Lab, kernel: &Kernel, work: &Path) -> Result<PathBuf, LabError> {
    let root = work.join("root");
    for folder in ["bin", "dev", "lab", "lib/modules", "out", "proc", "share", "sys", "tmp", "etc"]
    {
        fs::create_dir_all(root.join(folder)).map_err(|e| failed(&root, &e))?;
    }
    for program in [SHELL].iter().chain(PROGRAMS) {
        program_with_libraries(&find(program)?, program, &root)?;
    }
    for program in OF_SINGLE_CASES {
        // One that is not on this host is not in the guest either.
        if let Ok(found) = find(program) {
            program_with_libraries(&found, program, &root)?;
        }
    }
    let bare = work.join("candor");
    host(
        "strip",
        &["-s".as_ref(), "-o".as_ref(), bare.as_ref(), absolute(&lab.candor)?.as_ref()],
        work,
    )?;
    program_with_libraries(&bare, "candor", &root)?;
    let modules = kernel.install(&root)?;
    write(&root.join("lab/modules"), &(modules.join("\n") + "\n"))?;
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest");
    place(&guest.join("init"), &root.join("init"))?;
    place(&guest.join("with"), &root.join("lab/with"))?;
    cases(lab, &guest.join("cases"), &root.join("lab/cases"))?;
    pack(&root, work)
}

/// Copies the scripts of the cases that were asked for.
fn cases(lab: &Lab, from: &Path, to: &Path) -> Result<(), LabError> {
    fs::create_dir_all(to).map_err(|e| failed(to, &e))?;
    let entries = fs::read_dir(from).map_err(|e| failed(from, &e))?;
    let mut left = lab.cases.clone();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(case) = name.strip_suffix(".sh") else { continue };
        if lab.cases.is_empty() || lab.cases.iter().any(|wanted| wanted == case) {
            place(&entry.path(), &to.join(&name))?;
            left.retain(|wanted| wanted != case);
        }
    }
    match left.first() {
        None => Ok(()),
        Some(unknown) => Err(LabError::Failed(format!("no case is called {unknown}"))),
    }
}

fn find(program: &str) -> Result<PathBuf, LabError> {
    let places = FOLDERS.iter().map(|folder| Path::new(folder).join(program));
    places.into_iter().find(|path| path.is_file()).ok_or_else(|| LabError::Missing(program.into()))
}

/// Copies a program to the guest's `/bin`, and what it is linked against to where it looks.
fn program_with_libraries(from: &Path, name: &str, root: &Path) -> Result<(), LabError> {
    place(from, &root.join("bin").join(name))?;
    // What is linked statically has none.
    let said = host("ldd", &[from.as_ref()], root).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    for library in said.split_whitespace().filter(|word| word.starts_with('/')) {
        place(Path::new(library), &root.join(library.trim_start_matches('/')))?;
    }
    Ok(())
}

fn place(from: &Path, to: &Path) -> Result<(), LabError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    }
    fs::copy(from, to).map(drop).map_err(|e| failed(from, &e))
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(|e| failed(path, &e))
}

/// Packs a folder as the kernel wants it.
fn pack(root: &Path, work: &Path) -> Result<PathBuf, LabError> {
    let archive = work.join("archive");
    let pack = format!("find . | {SHELL} cpio -o -H newc > '{}'", archive.display());
    host("sh", &["-c".as_ref(), pack.as_ref()], root)?;
    fs::remove_dir_all(root).map_err(|e| failed(root, &e))?;
    Ok(archive)
}
