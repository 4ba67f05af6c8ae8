//! Where random choices come from.

use candor_plan::Plan;

use super::Host;
use crate::fio::settings::Settings;
use crate::fio::words::Section;

/// The plan's seed: the first section's, or one of this run only where nothing is to repeat.
pub(super) fn lower(sections: &[(&Section, Settings)], host: &dyn Host, plan: &mut Plan) {
    let Some((_, first)) = sections.first() else { return };
    let random = &first.random;
    plan.seed = match random.repeat || first.given.has("randseed") {
        true => random.seed,
        false => host.entropy(),
    };
}
