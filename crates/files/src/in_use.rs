//! Files that a command uses, and files that it is to write: never the same ones.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::identity::{Identity, loop_device_of, without_links};

/// Purpose of a file that a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Target of the load.
    Target,
    /// Plan, job file, report or result that the command reads.
    Input,
    /// List of files.
    List,
    /// Trace that is replayed.
    Trace,
    /// File of a journal.
    Journal,
    /// State of a verification.
    State,
}

impl Use {
    fn text(self) -> &'static str {
        match self {
            Use::Target => "a target",
            Use::Input => "an input",
            Use::List => "a list of files",
            Use::Trace => "a trace",
            Use::Journal => "a journal",
            Use::State => "a verification state",
        }
    }
}

/// Remedy of every refusal.
pub const REMEDY: &str = "name another file for the results";

/// Reason why a file takes no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A block device.
    Device,
    /// The bytes of a loop device.
    BackingFile(String),
    /// A file that the same command uses.
    InUse(Use),
    /// A name in a tree of the same command.
    InTree(PathBuf),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Device => write!(f, "it is a block device, whose data would be lost")?,
            Refusal::BackingFile(device) => {
                write!(f, "it is in use as the loop device {device}")?;
            }
            Refusal::InUse(of) => write!(f, "it is {} of this command", of.text())?,
            Refusal::InTree(tree) => {
                write!(f, "it is in the tree `{}` of this command", tree.display())?;
            }
        }
        write!(f, "; {REMEDY}")
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, refusal)
    }
}

/// The refusal that an error of a write contains.
pub fn refusal_of(error: &io::Error) -> Option<&Refusal> {
    error.get_ref()?.downcast_ref()
}

struct Output {
    path: PathBuf,
    /// Use of the files that it may replace, because it holds the same kind of content.
    onto: Option<Use>,
}

/// Directory of a tree of the command.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Tree {
    path: PathBuf,
    /// Names directly in the directory are part of the tree, too.
    is_whole: bool,
}

impl Tree {
    /// True for a name in the tree.
    fn has(&self, path: &Path) -> bool {
        let (path, tree) = (without_links(path), without_links(&self.path));
        let below = path.strip_prefix(tree).map_or(0, |below| below.components().count());
        below > usize::from(!self.is_whole)
    }
}

/// Files of this process.
struct Known {
    used: BTreeSet<(PathBuf, Use)>,
    trees: BTreeSet<Tree>,
    outputs: Vec<Output>,
}

static KNOWN: Mutex<Known> =
    Mutex::new(Known { used: BTreeSet::new(), trees: BTreeSet::new(), outputs: Vec::new() });
static HAS_REFUSED: AtomicBool = AtomicBool::new(false);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True after a refusal, which decides the exit code of a command.
pub fn has_refused() -> bool {
    HAS_REFUSED.load(Relaxed)
}

fn refused(refusal: Refusal) -> Result<(), Refusal> {
    HAS_REFUSED.store(true, Relaxed);
    Err(refusal)
}

/// Notes a file that the command uses.
///
/// # Errors
/// The file is one that the command is to write.
pub fn uses(path: &Path, of: Use) -> Result<(), Refusal> {
    let mut known = known();
    let outputs_are_named = !known.outputs.is_empty() && holds_data(path.metadata().ok().as_ref());
    if let Some(identity) = Identity::of(path).filter(|_| outputs_are_named) {
        let may = |output: &Output| output.onto == Some(of);
        let mut outputs = known.outputs.iter().filter(|output| !may(output));
        if outputs.any(|output| Identity::of(&output.path).as_ref() == Some(&identity)) {
            return refused(Refusal::InUse(of));
        }
    }
    known.used.insert((path.to_owned(), of));
    Ok(())
}

/// Notes the directory of a tree that the command makes, lists or removes. Unless `is_whole`, names
/// directly in the directory are not part of the tree.
///
/// # Errors
/// A file that the command is to write is in the tree.
pub fn uses_tree(path: &Path, is_whole: bool) -> Result<(), Refusal> {
    let mut known = known();
    let tree = Tree { path: path.to_owned(), is_whole };
    if known.outputs.iter().any(|output| tree.has(&output.path)) {
        return refused(Refusal::InTree(tree.path));
    }
    known.trees.insert(tree);
    Ok(())
}

/// Checks a file that the command uses without noting it, for sets of very many files. A name that
/// no file to write has passes at once.
///
/// # Errors
/// As [`uses`].
pub fn passes(path: &Path, of: Use) -> Result<(), Refusal> {
    let may_be_one = {
        let known = known();
        known.outputs.iter().any(|output| {
            let is_linked = || output.path.metadata().is_ok_and(|file| file.nlink() > 1);
            output.path.file_name() == path.file_name() || output.path.is_symlink() || is_linked()
        })
    };
    if may_be_one { uses(path, of) } else { Ok(()) }
}

/// Notes a file that the command is to write.
///
/// # Errors
/// The file is a block device, backs a loop device, or is in use by the command.
pub fn claim(path: &Path) -> Result<(), Refusal> {
    claim_as(path, None)
}

/// Like [`claim`]; the file may replace one with this use.
///
/// # Errors
/// As [`claim`].
pub fn claim_onto(path: &Path, of: Use) -> Result<(), Refusal> {
    claim_as(path, Some(of))
}

fn claim_as(path: &Path, onto: Option<Use>) -> Result<(), Refusal> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut known = known();
    if !known.outputs.iter().any(|output| output.path == path) {
        known.outputs.push(Output { path: path.clone(), onto });
    }
    drop(known);
    check(&path)
}

/// Checks the file at a path as it is now.
pub fn check(path: &Path) -> Result<(), Refusal> {
    let metadata = path.metadata().ok();
    let identity = match &metadata {
        Some(metadata) => Some(Identity::of_open(metadata)),
        None => Identity::of(path),
    };
    identity.map_or(Ok(()), |identity| check_identity(path, &identity, metadata.as_ref()))
}

/// Checks an open file that was found at a path.
pub fn check_open(path: &Path, metadata: &Metadata) -> Result<(), Refusal> {
    check_identity(path, &Identity::of_open(metadata), Some(metadata))
}

/// False for streams, which many use at once: character devices and pipes.
fn holds_data(metadata: Option<&Metadata>) -> bool {
    metadata.is_none_or(|file| file.is_file() || file.file_type().is_block_device())
}

fn check_identity(
    path: &Path,
    identity: &Identity,
    metadata: Option<&Metadata>,
) -> Result<(), Refusal> {
    if matches!(identity, Identity::Device(_)) {
        return refused(Refusal::Device);
    }
    let known = known();
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let may = |of: Use| known.outputs.iter().any(|to| to.onto == Some(of) && to.path == path);
    let used = known.used.iter().filter(|(_, of)| !may(*of));
    let mut same = used.filter(|(used, _)| Identity::of(used).as_ref() == Some(identity));
    if let Some((_, of)) = same.next().filter(|_| holds_data(metadata)) {
        return refused(Refusal::InUse(*of));
    }
    if let Some(tree) = known.trees.iter().find(|tree| tree.has(&path)) {
        return refused(Refusal::InTree(tree.path.clone()));
    }
    let device = metadata.filter(|of| of.is_file() && of.len() > 0).and_then(loop_device_of);
    device.map_or(Ok(()), |device| refused(Refusal::BackingFile(device)))
}
