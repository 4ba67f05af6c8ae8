//! Loads and stores on a mapping, `msync` for durability: one operation at a time.

use std::sync::Arc;

use candor_bytes::mapped::Mapped;
use candor_engine::EngineError;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::Blocks;
use candor_plan::blocks::MapAdvice;
use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};

/// Engine of loads and stores on mapped files.
pub struct Mmap {
    files: Arc<Files>,
    /// Mappings of the files; none of one that is not open yet.
    mapped: Vec<Option<Mapped>>,
    writes: bool,
    advice: Vec<MapAdvice>,
    drops: bool,
}

impl Mmap {
    /// Maps every file of the worker that is open.
    ///
    /// # Errors
    /// The kernel's, for a file that cannot be mapped.
    pub fn new(context: &Context<'_>, blocks: &Blocks) -> Result<Mmap, EngineError> {
        let (writes, advice) = (blocks.mix.write > 0, blocks.hints.of_maps());
        let map = |file: &OpenFile| {
            let mapped = Mapped::new(file.raw(), file.size, writes, &advice);
            mapped.map(Some).map_err(EngineError::file("map", &file.path))
        };
        let files = context.files.all().iter();
        let mapped = if context.opens {
            files.map(|_| None).collect()
        } else {
            files.map(map).collect::<Result<_, _>>()?
        };
        Ok(Mmap {
            files: context.files.clone(),
            mapped,
            writes,
            advice,
            drops: matches!(blocks.engine, candor_plan::Engine::Mmap(options) if options.drop),
        })
    }
}

impl Mmap {
    /// Opens a file and maps it; one that is written is first made as long as its mapping, behind
    /// which no byte could be stored.
    #[cold]
    fn open(&mut self, slot: &Slot) -> Outcome {
        let file = self.files.get(slot.handle);
        let failed =
            |error: std::io::Error| Outcome::error(error.raw_os_error().unwrap_or(libc::EIO));
        let opened = file.open_in_phase();
        if !matches!(opened, Outcome::Done(_)) {
            return opened;
        }
        if let Err(error) = if self.writes { file.reach_size() } else { Ok(()) } {
            return failed(error);
        }
        match Mapped::new(file.raw(), file.size, self.writes, &self.advice) {
            Ok(mapped) => {
                self.mapped[slot.handle as usize] = Some(mapped);
                opened
            }
            Err(error) => failed(error),
        }
    }
}

impl Call for Mmap {
    fn call(&mut self, slot: &Slot) -> Outcome {
        match slot.issued() {
            BlocksOp::Open => return self.open(slot),
            BlocksOp::Close => {
                self.mapped[slot.handle as usize] = None;
                return blocking_call(&self.files, slot);
            }
            _ => {}
        }
        let Some(mapped) = &self.mapped[slot.handle as usize] else {
            return Outcome::error(libc::EBADF);
        };
        match slot.issued() {
            op @ (BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write) => {
                match mapped.copy(slot, op == BlocksOp::Write) {
                    Outcome::Done(_) if self.drops => mapped.drop_pages(slot),
                    outcome => outcome,
                }
            }
            BlocksOp::Fsync | BlocksOp::Fdatasync => mapped.flush(),
            _ => blocking_call(&self.files, slot),
        }
    }

    fn features(&self) -> Vec<String> {
        if self.drops { vec!["drops-pages".into()] } else { Vec::new() }
    }
}
