//! Where random choices come from.

use candor_plan::Plan;

use super::{Host, Told};
use crate::fio::options;
use crate::fio::settings::Settings;
use crate::fio::words::{Section, Texts};

/// The plan's seed: the first section's, or one of this run only where nothing is to repeat.
pub(super) fn lower(
    sections: &[(&Section, Settings)],
    texts: &Texts,
    host: &dyn Host,
    plan: &mut Plan,
    told: &mut Told,
) {
    let Some((_, first)) = sections.first() else { return };
    plan.seed = match repeats(first) {
        true => first.random.seed,
        false => host.entropy(),
    };
    for (_, settings) in &sections[1..] {
        let same = repeats(settings) == repeats(first)
            && (!repeats(first) || settings.random.seed == first.random.seed);
        if !same {
            let option = if settings.given.has("randseed") { "randseed" } else { "randrepeat" };
            let did = "its offsets come from the seed of the first job";
            let why = "a run has one seed, from which each job draws its own";
            told.add_note(options::note(settings, texts, option, did, why));
        }
    }
}

/// A run draws the same offsets as the one before.
fn repeats(settings: &Settings) -> bool {
    settings.random.repeat || settings.given.has("randseed")
}
