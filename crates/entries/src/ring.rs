//! Operations on names by io_uring, up to the depth in flight.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use candor_bytes::ring::Ring;
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::issue::{Call, Io};
use candor_engine::operation::{Done, Outcome, Slot};
use candor_plan::blocks::Uring;
use candor_plan::entries::{Entries, Step};
use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};

use crate::calls::{ATTRIBUTE, ATTRIBUTE_BYTES, Calls};
use crate::items::step_of;
use crate::modes::{DIRECTORY_MODE, FILE_MODE};
use crate::roots::NameAt;

/// Engine of a ring on names.
pub struct RingCalls {
    ring: Ring<squeue::Entry, cqueue::Entry>,
    /// Open files and names; system calls for operations that the ring does not queue.
    calls: Calls,
    /// Results of the kernel, one per slot.
    answers: Box<[Answer]>,
    /// Operations for the worker's thread, for example on files that could not be opened.
    aside: Vec<u32>,
}

/// Buffers for the kernel's results about a name.
struct Answer {
    look: libc::statx,
    attribute: [u8; ATTRIBUTE_BYTES],
}

/// The ring's opcode for a step; none if the ring does not support the step.
fn opcode_of(step: Step) -> Option<u8> {
    Some(match step {
        Step::Create | Step::Open => opcode::OpenAt::CODE,
        Step::Close => opcode::Close::CODE,
        Step::Read => opcode::Read::CODE,
        Step::Write => opcode::Write::CODE,
        Step::Fsync => opcode::Fsync::CODE,
        Step::Fallocate => opcode::Fallocate::CODE,
        Step::Stat | Step::Lstat | Step::Statx => opcode::Statx::CODE,
        Step::Unlink | Step::Rmdir => opcode::UnlinkAt::CODE,
        Step::Mkdir => opcode::MkDirAt::CODE,
        Step::Rename => opcode::RenameAt::CODE,
        Step::Link => opcode::LinkAt::CODE,
        Step::Symlink => opcode::SymlinkAt::CODE,
        Step::Setxattr => opcode::SetXattr::CODE,
        Step::Getxattr => opcode::GetXattr::CODE,
        Step::List
        | Step::Truncate
        | Step::Ftruncate
        | Step::Readlink
        | Step::Removexattr
        | Step::Mknod
        | Step::Access
        | Step::Utimens
        | Step::Copy
        | Step::Syncfs => return None,
    })
}

impl RingCalls {
    /// Sets up a ring in the thread that will use it.
    ///
    /// # Errors
    /// The kernel's, with the likely cause, or the first step that this kernel's rings do not
    /// support.
    pub fn new(depth: usize, entries: &Entries, calls: Calls) -> Result<RingCalls, EngineError> {
        let mut ring = Ring::new(depth, None, &Uring::default().ring())?;
        let mut probe = io_uring::Probe::new();
        let mut submitter = ring.inner.submitter();
        let knows = submitter.register_probe(&mut probe).is_ok();
        let missing = entries.all_steps().find(|step| {
            knows && opcode_of(*step).is_none_or(|opcode| !probe.is_supported(opcode))
        });
        if let Some(step) = missing {
            let what = format!("queue {} with io_uring: this kernel has no such one", step.name());
            let cause = std::io::Error::from_raw_os_error(libc::ENOSYS);
            return Err(EngineError::system(what)(cause));
        }
        if submitter.register_ring_fd().is_ok() {
            ring.features.push("fixed-ring".into());
        }
        // SAFETY: all-zero bytes are a valid statx.
        let look = unsafe { std::mem::zeroed() };
        let answers =
            (0..depth).map(|_| Answer { look, attribute: [0x5a; ATTRIBUTE_BYTES] }).collect();
        Ok(RingCalls { ring, calls, answers, aside: Vec::with_capacity(depth) })
    }

    /// Entry of an operation; none if the worker's thread executes the operation.
    fn entry(&mut self, slot: &Slot, index: u32) -> Option<squeue::Entry> {
        let step = step_of(slot)?;
        let paths = self.calls.paths.clone();
        let paths = &paths.borrow()[slot.tag as usize];
        let (NameAt { directory: at, name: path }, other) = (paths.name(), paths.other_name().name);
        // Links hold whole paths, and calls on attributes take no directory.
        let (here, whole) = (Fd(at), paths.path.as_ptr().cast());
        let Answer { look, attribute } = &mut self.answers[index as usize];
        let value = attribute.as_mut_ptr().cast();
        let flags = self.calls.flags;
        let open = |flags| opcode::OpenAt::new(here, path).flags(flags).mode(FILE_MODE).build();
        let look: *mut libc::statx = look;
        let looks = |flags| {
            let statx = opcode::Statx::new(here, path, look.cast());
            statx.flags(flags).mask(libc::STATX_BASIC_STATS).build()
        };
        let (buffer, length) = (slot.buffer.host(), slot.length as u32);
        let open_file = |calls: &Calls| calls.file(slot).map(|file| Fd(file.as_raw_fd()));
        Some(match step {
            Step::Create => open(Calls::creating(flags)),
            Step::Open => open(flags),
            Step::Close => {
                let file = self.calls.take_file(slot)?;
                opcode::Close::new(Fd(file.into_raw_fd())).build()
            }
            Step::Read => {
                let read = opcode::Read::new(open_file(&self.calls)?, buffer, length);
                read.offset(slot.offset).build()
            }
            Step::Write => {
                let write = opcode::Write::new(open_file(&self.calls)?, buffer, length);
                write.offset(slot.offset).build()
            }
            Step::Fsync => opcode::Fsync::new(open_file(&self.calls)?).build(),
            Step::Fallocate if paths.size == 0 => return None,
            Step::Fallocate => opcode::Fallocate::new(open_file(&self.calls)?, paths.size).build(),
            Step::Stat | Step::Statx => looks(0),
            Step::Lstat => looks(libc::AT_SYMLINK_NOFOLLOW),
            Step::Unlink => opcode::UnlinkAt::new(here, path).build(),
            Step::Rmdir => opcode::UnlinkAt::new(here, path).flags(libc::AT_REMOVEDIR).build(),
            Step::Mkdir => opcode::MkDirAt::new(here, path).mode(DIRECTORY_MODE).build(),
            Step::Rename => opcode::RenameAt::new(here, path, here, other).build(),
            Step::Link => opcode::LinkAt::new(here, path, here, other).build(),
            Step::Symlink => opcode::SymlinkAt::new(here, whole, other).build(),
            Step::Setxattr => {
                let bytes = ATTRIBUTE_BYTES as u32;
                opcode::SetXattr::new(ATTRIBUTE.as_ptr(), value, whole, bytes).build()
            }
            Step::Getxattr => {
                let bytes = ATTRIBUTE_BYTES as u32;
                opcode::GetXattr::new(ATTRIBUTE.as_ptr(), value, whole, bytes).build()
            }
            Step::List
            | Step::Truncate
            | Step::Ftruncate
            | Step::Readlink
            | Step::Removexattr
            | Step::Mknod
            | Step::Access
            | Step::Utimens
            | Step::Copy
            | Step::Syncfs => return None,
        })
    }

    /// Outcome of an operation in the ring.
    fn outcome(&mut self, slot: &Slot, result: i32) -> Outcome {
        let step = step_of(slot);
        if matches!(step, Some(Step::Create | Step::Open)) {
            return match result {
                0.. => {
                    // SAFETY: the descriptor was just opened, and has no other owner.
                    self.calls.opened(slot, Ok(unsafe { OwnedFd::from_raw_fd(result) }))
                }
                _ => self.calls.opened(slot, Err(-result)),
            };
        }
        match (Outcome::of_kernel(result.into()), step) {
            (Outcome::Done(count), Some(Step::Read | Step::Write)) => Outcome::Done(count),
            (Outcome::Done(_), _) => Outcome::Done(0),
            (failed, Some(step)) => self.calls.settled(step, failed),
            (failed, None) => failed,
        }
    }

    /// Executes in the worker's thread all operations that the ring does not queue.
    #[cold]
    fn call_aside(&mut self, slots: &[Slot], done: &mut Done) {
        while let Some(index) = self.aside.pop() {
            done.push(index, self.calls.call(&slots[index as usize]));
        }
    }
}

impl Io for RingCalls {
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            let slot = &slots[index as usize];
            self.calls.enter(slot);
            let entry = self.entry(slot, index).map(|entry| entry.user_data(index.into()));
            // SAFETY: names, buffers and answers of a slot live until its completion is taken.
            let is_queued = entry
                .is_some_and(|entry| unsafe { self.ring.inner.submission().push(&entry).is_ok() });
            if !is_queued {
                self.aside.push(index);
            }
        }
    }

    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        if !self.aside.is_empty() {
            self.call_aside(slots, done);
        }
        self.ring.turn(min.saturating_sub(done.len()), wait_ns);
        for _ in 0..done.wanted() {
            let Some(completion) = self.ring.inner.completion().next() else { break };
            let index = completion.user_data() as u32;
            let outcome = self.outcome(&slots[index as usize], completion.result());
            done.push(index, outcome);
        }
        None
    }

    fn features(&self) -> Vec<String> {
        self.ring.features.clone()
    }
}
