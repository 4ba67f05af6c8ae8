//! `preadv2` and `pwritev2` with per-call flags: one operation at a time.

use std::sync::Arc;

use super::{Context, blocking_call};
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks;
use candor_plan::work::BlocksOp;

use super::flags::{CallFlags, HIPRI};

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::random::Random;

/// Engine of `preadv2` and `pwritev2`.
pub struct Pvsync {
    files: Arc<Files>,
    flags: CallFlags,
    /// Share of calls that poll for completion, in percent, where not all of them do.
    polled: Option<(u8, Random)>,
}

impl Pvsync {
    /// Engine with these flags on every call, or on a share of them.
    pub fn new(context: &Context<'_>, plan: blocks::Pvsync) -> Pvsync {
        let polled = plan.hipri_percent.filter(|percent| plan.hipri && *percent < 100);
        let polled = polled.map(|percent| (percent, Random::new(context.seed, 0x6869_7072)));
        let flags = CallFlags::polled(plan.flags, plan.hipri);
        Pvsync { files: context.files.clone(), flags, polled }
    }

    /// Flag to omit from the next call.
    #[inline(always)]
    fn left_out(&mut self) -> i32 {
        let polled = self.polled.as_mut().is_none_or(|(percent, random)| random.percent(*percent));
        if polled { 0 } else { HIPRI }
    }
}

impl Call for Pvsync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> Outcome {
        let left_out = self.left_out();
        let fd = self.files.get(slot.handle).raw();
        let vector =
            libc::iovec { iov_base: slot.buffer.host().cast(), iov_len: slot.length as usize };
        let offset = slot.offset as i64;
        let vector = &raw const vector;
        match slot.issued() {
            BlocksOp::Read => {
                let flags = self.flags.read & !left_out;
                // SAFETY: the vector describes the slot's buffer, which has room for its length.
                Outcome::of_call(unsafe { libc::preadv2(fd, vector, 1, offset, flags) })
            }
            BlocksOp::Write => {
                let flags = self.flags.write & !left_out;
                // SAFETY: as above.
                Outcome::of_call(unsafe { libc::pwritev2(fd, vector, 1, offset, flags) })
            }
            _ => blocking_call(&self.files, slot),
        }
    }

    fn features(&self) -> Vec<String> {
        self.flags.names.clone()
    }
}
