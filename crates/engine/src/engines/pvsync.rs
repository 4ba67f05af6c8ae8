//! `preadv2` and `pwritev2` with per-call flags: one operation at a time.

use std::sync::Arc;

use candor_plan::blocks::Rwf;

use super::{Call, Context, answer, blocking_call};
use crate::files::Files;
use crate::slots::{Kind, Slot};

const RWF_HIPRI: libc::c_int = 0x01;
const RWF_DSYNC: libc::c_int = 0x02;
const RWF_NOWAIT: libc::c_int = 0x08;
const RWF_DONTCACHE: libc::c_int = 0x80;

/// The engine.
pub struct Pvsync {
    files: Arc<Files>,
    read_flags: libc::c_int,
    write_flags: libc::c_int,
    names: Vec<String>,
}

impl Pvsync {
    /// With these flags on every call; `dsync` only on writes.
    pub fn new(context: &Context<'_>, rwf: Rwf) -> Pvsync {
        let both = [
            (rwf.hipri, RWF_HIPRI, "rwf-hipri"),
            (rwf.nowait, RWF_NOWAIT, "rwf-nowait"),
            (rwf.dontcache, RWF_DONTCACHE, "rwf-dontcache"),
        ];
        let on = both.iter().filter(|(on, ..)| *on);
        let read_flags = on.clone().fold(0, |flags, (_, flag, _)| flags | flag);
        let mut names: Vec<String> = on.map(|(.., name)| (*name).to_owned()).collect();
        if rwf.dsync {
            names.push("rwf-dsync".into());
        }
        let write_flags = read_flags | if rwf.dsync { RWF_DSYNC } else { 0 };
        Pvsync { files: context.files.clone(), read_flags, write_flags, names }
    }
}

impl Call for Pvsync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> i32 {
        let fd = self.files.get(slot.file).raw();
        let vector = libc::iovec { iov_base: slot.buffer.cast(), iov_len: slot.length as usize };
        let offset = slot.offset as i64;
        let vector = &raw const vector;
        match slot.kind {
            Kind::Read => {
                // SAFETY: the vector describes the slot's buffer, which has room for its length.
                answer(unsafe { libc::preadv2(fd, vector, 1, offset, self.read_flags) })
            }
            Kind::Write => {
                // SAFETY: as above.
                answer(unsafe { libc::pwritev2(fd, vector, 1, offset, self.write_flags) })
            }
            _ => blocking_call(&self.files, slot),
        }
    }

    fn features(&self) -> Vec<String> {
        self.names.clone()
    }
}
