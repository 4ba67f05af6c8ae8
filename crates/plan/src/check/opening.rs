//! Files that workers open within the phase.

use super::{Found, View};
use crate::blocks::{Access, Engine, Lock, Opening};
use crate::units::Direction;
use crate::{Nanos, Phase, PlanPath};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let blocks = view.blocks;
    if !blocks.opening.is_in_phase() {
        return;
    }
    let name = blocks.engine.name();
    let is_able = match blocks.engine {
        Engine::Psync | Engine::Libaio(_) | Engine::Mmap(_) | Engine::Null => true,
        Engine::IoUring(options) => !options.nop,
        _ => false,
    };
    let registers = blocks.engine.uring().is_some_and(|options| options.fixed_files == Some(true));
    let read_back = blocks.verify.as_ref().is_some_and(|verify| verify.read_back.is_some());
    let reasons = [
        (!is_able, format!("{name} opens its files before the clock"), "set engine = \"psync\""),
        (registers, "only files that are open can be registered".into(), "remove fixed_files"),
        (blocks.lock != Lock::None, "locks need files that are open before".into(), "remove lock"),
        (blocks.zones.is_some(), "zones are looked up before the clock".into(), "remove zones"),
        (read_back, "what is read back is flushed before it is closed".into(), "remove read_back"),
        (
            matches!(blocks.access, Access::Trace(_)),
            "the files of a trace are open from its start".into(),
            "give another access",
        ),
        (
            blocks.hints.invalidate,
            "pages are dropped where files are opened before the clock".into(),
            "use hints.evict, or remove invalidate",
        ),
        (
            blocks.mix.of(Direction::Trim) > 0,
            "files are opened for reads and writes".into(),
            "remove trims from the mix",
        ),
        (
            blocks.durability.syncfs_at_end,
            "syncfs follows the phase, in which files are closed".into(),
            "use fsync_at_end, or remove syncfs_at_end",
        ),
    ];
    let word = word(blocks.opening);
    for (_, reason, remedy) in reasons.into_iter().filter(|(applies, ..)| *applies) {
        let message = format!("opening is {word}, but {reason}");
        let remedy = format!("{remedy}, or set opening = \"before\"");
        out.error("opening", view.key("opening"), message, remedy);
    }
}

fn word(opening: Opening) -> &'static str {
    match opening {
        Opening::Before => "before",
        Opening::InPhase => "in_phase",
        Opening::InStages => "in_stages",
    }
}

/// Opening counts from the start of a phase, which a ramp leaves out.
pub(super) fn check_phase(phase: &Phase, at: &PlanPath, out: &mut Found) {
    if phase.ramp == Nanos(0) && phase.ramp_amount.is_none() {
        return;
    }
    for (i, job) in phase.jobs.iter().enumerate() {
        if job.blocks().is_some_and(|blocks| blocks.opening.is_in_phase()) {
            let at = at.key("job").index(i).key("work").key(job.work.name()).key("opening");
            let message = "files are opened in the phase, and its ramp does not count";
            out.error("opening", at, message, "remove the ramp, or set opening = \"before\"");
        }
    }
}
