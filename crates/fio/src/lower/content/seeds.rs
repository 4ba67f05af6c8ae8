//! Seeds of random choices.

use candor_plan::Plan;

use crate::ast::Section;
use crate::options;
use crate::options::JobOptions;
use candor_front::Texts;
use candor_front::{Diagnostics, Host};

/// The plan's seed: the first section's, or a random one if no section repeats.
pub(in crate::lower) fn lower(
    sections: &[(&Section, JobOptions)],
    texts: &Texts,
    host: &dyn Host,
    plan: &mut Plan,
    diagnostics: &mut Diagnostics,
) {
    let Some((_, first)) = sections.first() else { return };
    plan.seed = if repeats(first) { first.random.seed } else { host.entropy() };
    for (_, options) in &sections[1..] {
        let same = repeats(options) == repeats(first)
            && (!repeats(first) || options.random.seed == first.random.seed);
        if !same {
            let option = if options.given.has("randseed") { "randseed" } else { "randrepeat" };
            let did = "its offsets come from the seed of the first job";
            let why = "a run has one seed, from which each job draws its own";
            diagnostics.add_note(options::TABLE.note(&options.given, texts, option, did, why));
        }
    }
}

/// A run draws the same offsets as the one before.
fn repeats(options: &JobOptions) -> bool {
    options.random.repeat || options.given.has("randseed")
}
